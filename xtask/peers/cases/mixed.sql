-- Several clauses in one statement.

-- case: a condition that cannot hold
-- users: ana bo cy eve
SELECT id FROM orders WHERE status = 'open' AND status = 'paid';

-- case: a condition that cannot hold, on a column that is not granted
-- users: dee
-- differs: no rows instead of an error, as the column is not read
SELECT id FROM orders WHERE status = 'open' AND status = 'paid';

-- case: a condition that is always true
SELECT id FROM customers WHERE id > 0 OR id <= 0 ORDER BY id;

-- case: a condition that is NULL
SELECT id FROM customers WHERE NULL;

-- case: comparison with NULL
SELECT id FROM customers WHERE region = NULL OR id = 1;

-- case: OR over masked and stored columns
SELECT id FROM customers WHERE ssn LIKE '%1111' OR (credit > 300 AND name LIKE '%Egger') ORDER BY id;

-- case: a mask's result as a join key into a table of its own
SELECT c.id, v.t FROM customers c JOIN (VALUES ('xxx-xx-1111', 'masked'), ('111-22-1111', 'stored')) AS v(k, t) ON v.k = c.ssn ORDER BY c.id, v.t;

-- case: aggregates over a window over a join
SELECT region, max(n) FROM (SELECT c.region, count(*) OVER (PARTITION BY c.id) AS n FROM customers c JOIN orders o ON o.customer = c.id) s
GROUP BY region ORDER BY region;

-- case: an outer join of sub-queries with aggregates
SELECT a.region, a.n, b.total FROM (SELECT region, count(*) AS n FROM customers GROUP BY region) a
FULL JOIN (SELECT region, sum(amount) AS total FROM orders GROUP BY region) b ON a.region = b.region ORDER BY a.region, b.total;

-- case: an outer join whose right side is filtered away
SELECT c.id, o.id FROM customers c LEFT JOIN (SELECT * FROM (SELECT id, customer, region FROM orders) x WHERE x.region = 'US') o ON o.customer = c.id
ORDER BY c.id, o.id;

-- case: a join with a condition in WHERE that turns it inner
SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.amount > 0 ORDER BY c.id, o.id;

-- case: semi and anti at once
SELECT c.id FROM customers c WHERE c.id IN (SELECT customer FROM orders WHERE amount > 50)
AND c.id NOT IN (SELECT customer FROM orders WHERE region = 'US' AND customer IS NOT NULL) ORDER BY c.id;

-- case: NOT IN over an empty list
SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE id < 0) ORDER BY id;

-- case: NOT IN of a value that is NULL
SELECT id FROM customers WHERE referrer NOT IN (SELECT id FROM customers WHERE id IN (2, 3)) ORDER BY id;

-- case: NOT IN, correlated
SELECT c.id FROM customers c WHERE c.id NOT IN (SELECT o.customer FROM orders o WHERE o.region = c.region AND o.customer IS NOT NULL) ORDER BY c.id;

-- case: EXISTS with OR
SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) OR c.referrer IS NULL ORDER BY c.id;

-- case: a scalar sub-query that finds nothing
SELECT c.id, (SELECT o.amount FROM orders o WHERE o.id = -c.id) FROM customers c ORDER BY c.id;

-- case: sums that need coalesce
SELECT c.id, coalesce((SELECT sum(o.amount) FROM orders o WHERE o.customer = c.id), 0) AS s FROM customers c ORDER BY s DESC, c.id;

-- case: the top of each group by a count below it
-- refused: 0A000 a sub-query of one value that is joined by anything but =
SELECT c.id, c.region FROM customers c WHERE (SELECT count(*) FROM customers d WHERE d.region = c.region AND d.id < c.id) < 2 ORDER BY c.id;

-- case: WITH in a sub-query
SELECT id FROM customers WHERE id IN (WITH o AS (SELECT customer FROM orders WHERE amount > 20) SELECT customer FROM o) ORDER BY id;

-- case: a set operation of aggregates
SELECT 'customers' AS t, count(*) AS n FROM customers UNION ALL SELECT 'orders', count(*) FROM orders UNION ALL SELECT 'visits', count(*) FROM visits
ORDER BY t;

-- case: UNION below an aggregate, a join above
SELECT r.title, u.n FROM (SELECT region, count(*) AS n FROM (SELECT region FROM customers UNION ALL SELECT region FROM orders) a GROUP BY region) u
JOIN regions r ON r.code = u.region ORDER BY r.title;

-- case: DISTINCT aggregates with FILTER
SELECT region, count(DISTINCT customer) FILTER (WHERE amount > 20), sum(DISTINCT amount) FROM orders GROUP BY region ORDER BY region;

-- case: HAVING without GROUP BY
SELECT count(*) FROM customers HAVING count(*) > 5;

-- case: ORDER BY what is not selected
SELECT name FROM customers ORDER BY id DESC LIMIT 4;

-- case: ORDER BY an alias and an expression
SELECT id, amount * 2 AS twice FROM orders ORDER BY twice DESC, id % 3, id;

-- case: ORDER BY a number of a column
SELECT region, id FROM customers ORDER BY 1 DESC, 2 DESC;

-- case: OFFSET beyond the visible rows
SELECT id FROM customers ORDER BY id OFFSET 5;

-- case: LIMIT over a filter
SELECT id FROM orders WHERE region = 'EU' ORDER BY id LIMIT 2;

-- case: min and max without a condition
SELECT min(id), max(id), min(placed), max(placed), min(card), max(region) FROM orders;

-- case: variance and deviation
SELECT CAST(var_pop(amount) AS DECIMAL(12, 2)), CAST(stddev_samp(amount) AS DECIMAL(12, 2)), CAST(corr(id, customer) AS DECIMAL(8, 4)) FROM orders;

-- case: a median
-- in duckdb: SELECT quantile_cont(CAST(amount AS DOUBLE), 0.5) FROM orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(amount AS DOUBLE PRECISION)) FROM orders;

-- case: ranks within groups of masked values
SELECT id, born, row_number() OVER (PARTITION BY born ORDER BY id), count(*) OVER (PARTITION BY born) FROM customers ORDER BY id;

-- case: a window over RANGE
SELECT id, count(*) OVER (ORDER BY credit RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM customers ORDER BY id;

-- case: percent_rank and cume_dist
SELECT id, CAST(percent_rank() OVER (ORDER BY id) AS DECIMAL(6, 4)), CAST(cume_dist() OVER (ORDER BY id) AS DECIMAL(6, 4)) FROM orders ORDER BY id;

-- case: recursion with a limit of depth and a join
WITH RECURSIVE chain(id, name, depth) AS
(SELECT id, name, 1 FROM customers WHERE referrer IS NULL UNION ALL SELECT c.id, c.name, chain.depth + 1 FROM customers c JOIN chain ON c.referrer = chain.id WHERE chain.depth < 4)
SELECT id, name, depth FROM chain ORDER BY id, depth;

-- case: two recursive tables in one
WITH RECURSIVE a(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM a WHERE i < 3), b(i) AS (SELECT 10 UNION ALL SELECT i + 10 FROM b WHERE i < 30)
SELECT a.i, b.i FROM a CROSS JOIN b ORDER BY a.i, b.i;

-- case: CASE in GROUP BY
SELECT CASE WHEN amount IS NULL THEN 'none' WHEN amount < 100 THEN 'small' ELSE 'large' END AS size, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- case: CASE that guards a division
SELECT id, CASE WHEN amount > 0 THEN CAST(1000 / amount AS DECIMAL(10, 2)) END FROM orders ORDER BY id;

-- case: a timestamp compared with a date
SELECT id FROM visits WHERE visited_at >= DATE '2024-01-02' ORDER BY id;

-- case: a timestamp and an interval
SELECT id, visited_at + INTERVAL '90 minutes' FROM visits ORDER BY id;

-- case: weeks and quarters
SELECT id, extract(week FROM placed), extract(quarter FROM placed), extract(doy FROM placed) FROM orders ORDER BY id;

-- case: regular expressions
-- in duckdb: SELECT id FROM customers WHERE regexp_matches(name, '^[A-C]') ORDER BY id
SELECT id FROM customers WHERE name ~ '^[A-C]' ORDER BY id;

-- case: a table function beside tables
SELECT c.id, g.i FROM customers c JOIN generate_series(1, 2) AS g(i) ON g.i = c.id ORDER BY c.id;
