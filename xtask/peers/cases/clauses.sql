-- Each clause of a query over tables that are filtered and masked.

-- case: all columns
-- users: ana bo cy eve
SELECT * FROM customers;

-- case: granted columns
SELECT id, name, region FROM customers ORDER BY id;

-- case: a column that is not granted
SELECT id, ssn FROM customers;

-- case: all columns where some are not granted
-- fails: 42501
-- users: dee
-- peers: postgres
SELECT * FROM customers;

-- case: a condition on a masked column
SELECT id FROM customers WHERE ssn = 'xxx-xx-1111' OR ssn = '111-22-1111';

-- case: a condition on a column that only the filter reads
SELECT id FROM orders WHERE region = 'US';

-- case: a condition that is never true beside one that would fail on hidden rows
-- peers: postgres
SELECT id, 100 / CAST(amount AS INT) AS q FROM orders WHERE amount > 10 AND amount < 500 ORDER BY id;

-- case: division by zero on a row that only some see
-- fails: 22012
-- peers: postgres
SELECT id, 10 / id FROM (SELECT id - 1 AS id FROM staff) s;

-- case: counts
SELECT count(*), count(customer), count(amount), count(DISTINCT customer) FROM orders;

-- case: counts of masked columns
SELECT count(ssn), count(DISTINCT ssn), min(born), max(born) FROM customers;

-- case: sums and averages
SELECT sum(amount), CAST(avg(amount) AS DECIMAL(10, 2)), min(amount), max(amount) FROM orders;

-- case: groups
SELECT region, count(*), sum(amount) FROM orders GROUP BY region ORDER BY region;

-- case: groups by a masked column
SELECT name, count(*) FROM customers GROUP BY name ORDER BY name;

-- case: groups by an expression, with HAVING
SELECT extract(year FROM born) AS y, count(*) FROM customers GROUP BY extract(year FROM born) HAVING count(*) > 1 ORDER BY y;

-- case: HAVING with a sub-query
SELECT region, sum(amount) FROM orders GROUP BY region HAVING sum(amount) > (SELECT avg(amount) FROM orders) ORDER BY region;

-- case: aggregates with FILTER
SELECT count(*) FILTER (WHERE status = 'open'), sum(amount) FILTER (WHERE status <> 'open'), count(*) FILTER (WHERE status IS NULL)
FROM orders;

-- case: grouping sets
SELECT region, status, count(*), sum(amount) FROM orders GROUP BY GROUPING SETS ((region, status), (region), ());

-- case: ROLLUP
SELECT region, customer, count(*) FROM orders GROUP BY ROLLUP (region, customer);

-- case: CUBE with GROUPING
SELECT region, customer, grouping(region) AS g, sum(amount) FROM orders GROUP BY CUBE (region, customer);

-- case: boolean aggregates
SELECT region, bool_and(is_first), bool_or(is_first) FROM visits GROUP BY region ORDER BY region;

-- case: aggregates in an order
SELECT string_agg(name, ',' ORDER BY id) FROM customers;

-- case: aggregate over nothing
SELECT count(*), sum(amount), max(card) FROM orders WHERE id < 0;

-- case: DISTINCT
SELECT DISTINCT region FROM customers;

-- case: DISTINCT over masked columns
SELECT DISTINCT ssn, born FROM customers;

-- case: DISTINCT ON
SELECT DISTINCT ON (customer) customer, id, amount FROM orders WHERE customer IS NOT NULL ORDER BY customer, id DESC;

-- case: order, limit, offset
SELECT id, amount FROM orders ORDER BY amount DESC, id LIMIT 3 OFFSET 1;

-- case: order by a masked column
SELECT id FROM customers ORDER BY credit, id;

-- case: order with NULLS FIRST
SELECT id, amount FROM orders ORDER BY amount NULLS FIRST, id;

-- case: order with NULLS where they stand by themselves
SELECT id, placed FROM orders ORDER BY placed DESC, id;

-- case: FETCH FIRST
-- refused: 0A000 there is LIMIT
SELECT id FROM items i JOIN orders o ON i.purchase = o.id ORDER BY id, line FETCH FIRST 4 ROWS ONLY;

-- case: LIMIT 0
SELECT id FROM customers LIMIT 0;

-- case: VALUES and no table
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(k, t) ORDER BY k;

-- case: a table that is not there
-- fails: 42P01
SELECT * FROM nothing_of_the_kind;

-- case: a table that nobody may read
-- fails: 42P01
-- peers: postgres
SELECT * FROM payroll;

-- case: an alias that names some of the columns
-- refused: 22023 an alias must name all columns
SELECT count(*) FROM customers AS c(a, b) WHERE a > 2;

-- case: constants beside hidden rows
SELECT 1 FROM orders WHERE status = 'void';
