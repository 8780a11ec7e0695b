-- Expressions over masked values, NULLs, dates and decimals.

-- case: LIKE
SELECT id, name FROM customers WHERE name LIKE '%n A%' ORDER BY id;

-- case: LIKE with a mask's letters
SELECT id FROM customers WHERE name LIKE 'Xxx X%' ORDER BY id;

-- case: LIKE with an escape
SELECT product FROM items WHERE product LIKE 'glue\_%' ESCAPE '\' ORDER BY purchase, line;

-- case: ILIKE
SELECT id FROM customers WHERE name ILIKE 'ann%' ORDER BY id;

-- case: NOT LIKE and NULL
SELECT id FROM orders WHERE card NOT LIKE '4%' ORDER BY id;

-- case: CASE over a masked column
SELECT id, CASE WHEN credit >= 1000 THEN 'high' WHEN credit > 0 THEN 'some' WHEN credit IS NULL THEN 'none' ELSE 'low' END FROM customers ORDER BY id;

-- case: CASE with an operand
SELECT id, CASE region WHEN 'EU' THEN 1 WHEN 'US' THEN 2 ELSE 3 END FROM customers ORDER BY id;

-- case: COALESCE and NULLIF
SELECT id, coalesce(status, 'unknown'), nullif(region, 'EU') FROM orders ORDER BY id;

-- case: IS NULL of a column masked to NULL
SELECT id FROM orders WHERE status IS NULL ORDER BY id;

-- case: three-valued logic
SELECT id, amount > 50 AND status = 'open', amount > 50 OR status = 'open', NOT (status = 'open') FROM orders ORDER BY id;

-- case: IN with NULL
SELECT id FROM orders WHERE status NOT IN ('open', NULL) ORDER BY id;

-- case: BETWEEN
SELECT id FROM customers WHERE credit BETWEEN 0 AND 400 ORDER BY id;

-- case: IS DISTINCT FROM
SELECT id FROM customers WHERE region IS DISTINCT FROM 'EU' ORDER BY id;

-- case: IS TRUE and IS NOT TRUE
SELECT id FROM visits WHERE is_first IS NOT TRUE ORDER BY id;

-- case: casts
SELECT id, CAST(id AS VARCHAR) || '!', CAST(floor(amount) AS INT), CAST('12' AS INT) + id FROM orders ORDER BY id;

-- case: a fraction cast to a whole number
-- differs: Sluice cuts it off, its peers round
SELECT id, CAST(amount AS INT) FROM orders ORDER BY id;

-- case: a cast that fails
-- fails: 22P02
-- peers: postgres
SELECT CAST(name AS INT) FROM customers;

-- case: decimals
SELECT id, amount * 3, amount + CAST(0.005 AS DECIMAL(4, 3)), amount - 1, -amount FROM orders ORDER BY id;

-- case: decimals and literals with a fraction
-- differs: such a literal is a DOUBLE in Sluice, and a decimal for its peers
SELECT id, amount + 0.005 FROM orders ORDER BY id;

-- case: decimals, divided
SELECT id, CAST(amount / 3 AS DECIMAL(10, 4)) FROM orders ORDER BY id;

-- case: rounding
SELECT id, round(amount, 1), floor(amount), ceil(amount), abs(amount - 100) FROM orders ORDER BY id;

-- case: whole numbers, divided
SELECT id, id / 3, id % 3, -id / 2 FROM staff ORDER BY id;

-- case: floats
SELECT id, score * 2, score + 0.25 FROM visits ORDER BY id;

-- case: sums of masked floats
SELECT sum(score), max(score) FROM visits;

-- case: parts of dates
SELECT id, extract(year FROM placed), extract(month FROM placed), extract(day FROM placed) FROM orders ORDER BY id;

-- case: dates compared
SELECT id FROM orders WHERE placed >= DATE '2024-02-01' AND placed < DATE '2024-04-01' ORDER BY id;

-- case: a masked date compared
SELECT id FROM customers WHERE born = DATE '1980-01-01' OR born > DATE '1991-06-01' ORDER BY id;

-- case: date and interval
SELECT id FROM orders WHERE placed + INTERVAL '1 month' > DATE '2024-04-01' ORDER BY id;

-- case: the end of February
SELECT CAST(placed + INTERVAL '1 year' AS DATE) FROM orders WHERE id = 102;

-- case: days between
SELECT id, placed - DATE '2024-01-01' FROM orders ORDER BY id;

-- case: date_trunc
SELECT id, CAST(date_trunc('month', visited_at) AS DATE), date_trunc('hour', visited_at) FROM visits ORDER BY id;

-- case: texts
SELECT id, upper(name), lower(name), length(name), substr(name, 1, 3), replace(name, 'n', '_') FROM customers ORDER BY id;

-- case: texts, trimmed and padded
SELECT id, trim('  ' || name || ' '), lpad(CAST(id AS VARCHAR), 4, '0'), left(name, 2), right(name, 2) FROM customers ORDER BY id;

-- case: concatenation with NULL
SELECT id, name || ssn, concat(name, ssn) FROM customers ORDER BY id;

-- case: position and split
SELECT id, strpos(card, '1'), split_part(card, '-', 2) FROM orders ORDER BY id;

-- case: greatest and least
SELECT id, greatest(id, 5), least(id, 5) FROM staff ORDER BY id;

-- case: the reader's own rows
SELECT id, owner, body FROM memos ORDER BY id;

-- case: another's rows
SELECT count(*) FROM memos WHERE owner = 'ana' OR owner IS NULL;

-- case: a filter with a sub-query
SELECT id, region FROM visits ORDER BY id;

-- case: a mask that reads another column
SELECT id, score FROM visits ORDER BY id;

-- case: who she is
-- peers: postgres
SELECT current_user;

-- case: row comparison
SELECT id FROM orders WHERE (region, customer) = ('EU', 2) ORDER BY id;

-- case: prepared, with a parameter
-- users: ana bo cy
PREPARE by_id AS SELECT id, name, ssn FROM customers WHERE id = $1;
EXECUTE by_id(1);
EXECUTE by_id(3);
EXECUTE by_id(NULL);
DEALLOCATE by_id;

-- case: prepared, with an aggregate
-- users: ana bo cy
PREPARE above AS SELECT count(*), sum(amount) FROM orders WHERE amount > $1 AND region = $2;
EXECUTE above(50, 'EU');
EXECUTE above(50, 'US');
DEALLOCATE above;
