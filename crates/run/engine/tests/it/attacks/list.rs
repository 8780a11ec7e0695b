//! The attack list: queries that tell of hidden rows or masked values if any protection leaks.

/// How the exempt user's answer to the same text over the stored table shows that an attack has teeth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Teeth {
    /// Fails on a hidden row under at least one of the settings.
    Raises,
    /// Gives another answer.
    Differs,
    /// Gives the same answer: the attack is on the plan, not on the rows.
    Same,
}

pub(crate) type Attack = (Teeth, &'static str);

use Teeth::{Differs, Raises, Same};

/// Written down when the barrier was designed; others follow by theme.
pub(crate) const FIRST: &[Attack] = &[
    (Raises, "SELECT count(*) FROM t WHERE 1/(x-5) = 0"),
    (Raises, "SELECT count(*) FROM t WHERE CAST(s AS INT) > 0"),
    (Raises, "SELECT count(*) FROM t WHERE id > 100 AND 1/(x-5) = 0 AND CAST(s AS INT) > 0"),
    (Raises, "SELECT count(*) FROM t JOIN u ON t.id = u.id WHERE 1/(t.x-5) = 0"),
    (Raises, "SELECT count(*) FROM t JOIN u ON 1/(t.x-5) = u.x"),
    (Raises, "SELECT count(*) FROM t LEFT JOIN u ON t.id = u.id AND 1/(t.x-5) = 0"),
    (Raises, "SELECT count(*) FROM t WHERE id IN (SELECT id FROM u WHERE u.x > 1/(t.x-5))"),
    (Raises, "SELECT CAST(s AS INT) q FROM t ORDER BY q DESC LIMIT 3"),
    (Raises, "SELECT 1/(x-5) q, count(*) FROM t GROUP BY 1/(x-5) HAVING 1/(x-5) >= 0"),
    (Raises, "SELECT max(1/(x-5)), min(CAST(s AS INT)) FROM t"),
    (Raises, "SELECT count(*) FILTER (WHERE 1/(x-5) = 0) FROM t"),
    (Raises, "SELECT DISTINCT 1/(x-5) FROM t WHERE 1/(x-5) > -5"),
    (Raises, "SELECT count(*) FROM (SELECT x FROM t UNION ALL SELECT x FROM u WHERE x<>5) WHERE 1/(x-5) = 0"),
    (Raises, "SELECT count(*) FROM t WHERE 1/(x-5) = 0 OR 1/(x-5) = 1 OR 1/(x-5)=7"),
    (Raises, "SELECT count(*) FROM t WHERE region='US' AND 1/0 = 1"),
    (Raises, "SELECT min(1/(x-5)) FROM t WHERE region='US'"),
    (
        Same,
        "WITH RECURSIVE r AS (SELECT id FROM t WHERE id=1 UNION ALL SELECT r.id+1 FROM r JOIN t ON t.id=r.id WHERE r.id<5) SELECT * FROM r",
    ),
    (
        Same,
        "WITH RECURSIVE r AS (SELECT id FROM t WHERE id=1 UNION ALL SELECT r.id+1 FROM r JOIN t ON t.id=r.id WHERE r.id<5) SELECT count(*) FROM r",
    ),
    (Differs, "SELECT min(region), max(region) FROM t"),
    (Differs, "SELECT count(ssn), min(ssn) FROM t"),
    (Differs, "SELECT ssn FROM t WHERE ssn IS NOT NULL LIMIT 1"),
];

pub(crate) const ORDERS_AND_WINDOWS: &[Attack] = &[
    (Raises, "SELECT id, 1/(x-5) q FROM t ORDER BY q, id LIMIT 3"),
    (Raises, "SELECT id FROM t ORDER BY CAST(s AS INT) DESC NULLS LAST, id LIMIT 5"),
    (Raises, "SELECT id FROM t ORDER BY 10 / tags[1], id LIMIT 3"),
    (
        Raises,
        "SELECT id, sum(1/(x-5)) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t WHERE id < 30",
    ),
    (Raises, "SELECT id, lag(CAST(s AS INT)) OVER (ORDER BY id) FROM t WHERE id BETWEEN 1 AND 20"),
    (Differs, "SELECT id, row_number() OVER (PARTITION BY region ORDER BY id) FROM t WHERE id < 25"),
    (Differs, "SELECT id, ntile(4) OVER (ORDER BY id) FROM t WHERE id < 40"),
    (Differs, "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY x, id) r FROM t) WHERE r <= 3"),
    (Differs, "SELECT id FROM t QUALIFY row_number() OVER (ORDER BY x, id) = 1"),
    (Differs, "SELECT id, first_value(big) OVER (ORDER BY big DESC) FROM t WHERE id < 20"),
    (Differs, "SELECT id FROM t ORDER BY ssn, id LIMIT 2"),
    (Differs, "SELECT DISTINCT ON (region) region, id FROM t ORDER BY region, id DESC"),
    (Raises, "SELECT DISTINCT ON (1/(x-5)) id FROM t ORDER BY 1/(x-5), id"),
    (Raises, "SELECT count(q) FROM (SELECT 1/(x-5) q FROM t LIMIT 20)"),
    (Differs, "SELECT count(*) FROM (SELECT id FROM t LIMIT 7 OFFSET 2698)"),
    (Differs, "SELECT x FROM t WHERE x = 5 LIMIT 1"),
];

pub(crate) const SUBQUERIES: &[Attack] = &[
    (Raises, "SELECT count(*) FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.id = u.id AND 1/(t.x-5) = 0)"),
    (Raises, "SELECT u.id, (SELECT max(1/(t.x-5)) FROM t WHERE t.id = u.id) FROM u WHERE u.id <= 10"),
    (Differs, "SELECT count(*) FROM u WHERE u.x NOT IN (SELECT t.x - 5 FROM t)"),
    (Differs, "SELECT count(*) FROM u WHERE u.id NOT IN (SELECT id FROM t)"),
    (
        Raises,
        "SELECT count(*) FROM u CROSS JOIN LATERAL (SELECT CAST(t.s AS INT) n FROM t WHERE t.id = u.id) l WHERE l.n > 2",
    ),
    (Differs, "SELECT count(*) FROM t WHERE id = (SELECT max(id) FROM t WHERE x = 5)"),
    (Raises, "SELECT count(*) FROM u WHERE u.id > ALL (SELECT CAST(s AS INT) FROM t WHERE id < 20)"),
    (Raises, "SELECT count(*) FROM u WHERE u.id = ANY (SELECT 1/(x-5) FROM t WHERE id < 20)"),
    (Raises, "SELECT (SELECT 1/(x-5) FROM t WHERE id = 5)"),
    (
        Same,
        "SELECT count(*) FROM t WHERE EXISTS (SELECT 1/0 FROM u WHERE u.id = t.id AND u.id <> 5 AND u.id % 10 <> 5 AND t.id <> 7)",
    ),
    (Differs, "SELECT v.c FROM (VALUES ('5'), ('6')) v(c) WHERE v.c IN (SELECT ssn FROM t)"),
    (
        Raises,
        "WITH c AS (SELECT * FROM t) SELECT count(*) FROM c a JOIN c b ON a.id = b.id WHERE 1/(a.x-5) = 0",
    ),
    (
        Raises,
        "WITH RECURSIVE r AS (SELECT id FROM t WHERE id < 6 UNION ALL SELECT t.id FROM r JOIN t ON t.id = r.id + 4 WHERE r.id < 20 AND 1/(t.x-5) = 0) SELECT id FROM r",
    ),
    (Differs, "SELECT count(*) FROM v"),
    (Raises, "SELECT count(*) FROM v WHERE 1/(x-5) = 0"),
    (Raises, "SELECT count(*) FROM w WHERE 1/(q-5) = 0"),
    (Differs, "SELECT ssn, count(*) FROM v WHERE id < 4 GROUP BY ssn"),
    (Differs, "SELECT r, count(*) FROM w GROUP BY r"),
];

pub(crate) const JOINS_AND_SETS: &[Attack] = &[
    (Raises, "SELECT count(*) FROM u LEFT SEMI JOIN t ON CAST(t.s AS INT) = u.id"),
    (Differs, "SELECT count(*) FROM u LEFT ANTI JOIN t ON t.id = u.id"),
    (Raises, "SELECT count(*) FROM t LEFT ANTI JOIN u ON 1/(t.x-5) = u.x"),
    (Raises, "SELECT count(*) FROM t RIGHT SEMI JOIN u ON 10/t.tags[1] = u.x"),
    (Raises, "SELECT count(*) FROM t a JOIN t b ON a.id = b.id AND 1/(a.x-5) = 1/(b.x-5)"),
    (Differs, "SELECT count(*) FROM t FULL JOIN u ON t.id = u.id AND t.x < u.x"),
    (Differs, "SELECT count(*) FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.x = 5"),
    (Differs, "SELECT count(*) FROM t JOIN u ON t.ssn = CAST(u.id AS VARCHAR)"),
    (Differs, "SELECT u.id FROM u JOIN t ON t.id = u.id ORDER BY u.id DESC LIMIT 6"),
    (Raises, "SELECT count(*) FROM u JOIN t ON u.x > 1/(t.x-5) AND t.id < 50"),
    (Differs, "SELECT count(*) FROM (SELECT id FROM t INTERSECT SELECT id FROM u WHERE x = 0)"),
    (Differs, "SELECT count(*) FROM (SELECT id FROM u EXCEPT SELECT id FROM t)"),
    (Raises, "SELECT CAST(s AS INT) FROM t WHERE id < 20 UNION SELECT 0"),
    (Raises, "SELECT id FROM t WHERE x = 5 UNION ALL SELECT 1/0 FROM t WHERE region = 'US'"),
    (Differs, "SELECT region, x, count(*) FROM t GROUP BY GROUPING SETS ((region), (x), ())"),
    (Raises, "SELECT 1/(x-5), count(*) FROM t GROUP BY ROLLUP (1/(x-5))"),
    (Differs, "SELECT region, x, count(*) FROM t GROUP BY CUBE (region, x)"),
    (Raises, "SELECT region FROM t GROUP BY region HAVING max(CAST(s AS INT)) > 0"),
];

pub(crate) const EXPRESSIONS: &[Attack] = &[
    (Raises, "SELECT sum(CASE WHEN region = 'EU' THEN 1 ELSE 1/(x-5) END) FROM t"),
    (Raises, "SELECT count(*) FROM t WHERE CASE WHEN x = 5 THEN CAST(s AS INT) > 0 ELSE TRUE END"),
    (Raises, "SELECT count(*) FROM t WHERE coalesce(CAST(s AS INT), 1/(x-5)) > 3"),
    (Raises, "SELECT count(*) FROM t WHERE nullif(x, 5) IS NULL OR 1/(x-5) = 0"),
    (Raises, "SELECT count(*) FROM t WHERE 10 / tags[1] >= 0"),
    (Differs, "SELECT sum(tags[3]), count(tags[1]) FROM t"),
    (Differs, "SELECT count(*) FROM (SELECT unnest(tags) FROM t WHERE id < 100)"),
    (Raises, "SELECT count(n) FROM (SELECT 6/n n FROM (SELECT unnest(tags) n FROM t WHERE id < 100))"),
    (Raises, "SELECT count(*) FROM t WHERE regexp_like(s, pat)"),
    (Raises, "SELECT count(*) FROM t WHERE s ~ pat"),
    (Raises, "SELECT max(CAST(born AS DATE)) FROM t"),
    (Raises, "SELECT max(to_date(born)), max(CAST(born AS TIMESTAMP)) FROM t"),
    (
        Raises,
        "SELECT count(*) FROM t WHERE date_trunc('year', CAST(born AS TIMESTAMP)) > TIMESTAMP '2020-01-01'",
    ),
    (Raises, "SELECT max(make_date(2024, x-5, 1)) FROM t"),
    (Raises, "SELECT max(CAST(big AS INT)) FROM t"),
    (Raises, "SELECT count(*) FROM t WHERE CAST(big AS INT) % 7 = 1"),
    (Raises, "SELECT max(CAST(amount AS DECIMAL(10, 2))) FROM t"),
    (Raises, "SELECT max(chr(x-6)) FROM t"),
    (Raises, "SELECT count(*) FROM t WHERE x % (x-5) >= 0"),
    (Raises, "SELECT count(*) FROM t WHERE s::INT IN (1, 2, 3)"),
    (Raises, "SELECT count(*) FROM t WHERE x = 5 AND 1/0 = 1"),
    (Raises, "SELECT 1/0 FROM t WHERE region = 'US'"),
    (Differs, "SELECT count(*) FROM t WHERE random() < 2 AND x = 5"),
    (Raises, "SELECT count(*) FROM t WHERE region = 'US' AND random() >= 0 AND 1/(x-5) = 0"),
    (Differs, "SELECT string_agg(s, ',' ORDER BY id) FROM t WHERE id < 12"),
    (Raises, "SELECT array_agg(1/(x-5) ORDER BY id) FROM t WHERE id < 12"),
];

pub(crate) const MASKS_AND_STATISTICS: &[Attack] = &[
    (Differs, "SELECT count(*) FROM t"),
    (Differs, "SELECT count(*), min(id), max(id) FROM t WHERE TRUE"),
    (Differs, "SELECT min(x), max(x) FROM t"),
    (Differs, "SELECT max(big), max(s), max(born) FROM t"),
    (Differs, "SELECT min(x) FROM t WHERE x = 5"),
    (Differs, "SELECT approx_distinct(region) FROM t"),
    (Differs, "SELECT * FROM t WHERE id = 5"),
    (Differs, "SELECT * FROM t WHERE id IN (1, 2)"),
    (Differs, "SELECT count(*) FROM t WHERE ssn = '6'"),
    (Differs, "SELECT id FROM t WHERE ssn IN ('6', '7') OR ssn LIKE '12%'"),
    (Differs, "SELECT count(*) FROM t WHERE ssn IS NOT DISTINCT FROM '6'"),
    (Differs, "SELECT count(*) FROM t WHERE ssn IS NULL AND x > 5"),
    (Differs, "SELECT count(*) FROM t WHERE NOT (ssn < '5')"),
    (Differs, "SELECT count(*) FROM t WHERE CAST(ssn AS INT) > 0"),
    (Differs, "SELECT ssn, count(*) FROM t GROUP BY ssn HAVING count(*) > 1"),
    (Differs, "SELECT ssn FROM t WHERE id < 4"),
    (Differs, "SELECT count(*), count(ssn) FROM (SELECT ssn FROM t)"),
    (Differs, "SELECT phone FROM t WHERE phone = 'tel-00000042'"),
    (Differs, "SELECT id FROM t WHERE phone = 'xxx-xxxx0042'"),
    (Differs, "SELECT count(*) FROM t WHERE phone LIKE 'tel-0000004%'"),
    (Differs, "SELECT count(DISTINCT phone), min(phone), max(phone) FROM t"),
    (Differs, "SELECT count(*) FROM t WHERE phone BETWEEN 'tel-00000001' AND 'tel-00000009'"),
    (Differs, "SELECT who['name'], who FROM t WHERE id < 4"),
    (Differs, "SELECT count(*) FROM t WHERE who['age'] > 0"),
    (Differs, "SELECT count(*) FROM t WHERE 10 / who['age'] = 1"),
    (Differs, "SELECT a.ssn, b.phone FROM t a JOIN t b ON a.id = b.id AND a.phone = b.phone WHERE a.id < 3"),
];

/// Every list.
pub(crate) const ALL: [&[Attack]; 6] =
    [FIRST, ORDERS_AND_WINDOWS, SUBQUERIES, JOINS_AND_SETS, EXPRESSIONS, MASKS_AND_STATISTICS];
