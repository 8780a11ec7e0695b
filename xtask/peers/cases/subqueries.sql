-- Sub-queries in every clause.

-- case: in the select list
SELECT id, (SELECT count(*) FROM orders) AS n FROM regions, customers WHERE code = region ORDER BY id;

-- case: correlated, in the select list
SELECT c.id, (SELECT count(*) FROM orders o WHERE o.customer = c.id) AS n FROM customers c ORDER BY c.id;

-- case: correlated maximum
SELECT c.id, (SELECT max(o.amount) FROM orders o WHERE o.customer = c.id) AS m FROM customers c ORDER BY c.id;

-- case: in FROM
SELECT s.region, s.n FROM (SELECT region, count(*) AS n FROM customers GROUP BY region) s WHERE s.n > 1 ORDER BY s.region;

-- case: in WHERE with a comparison
SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders) ORDER BY id;

-- case: correlated comparison
SELECT o.id FROM orders o WHERE o.amount >= (SELECT max(p.amount) FROM orders p WHERE p.region = o.region) ORDER BY o.id;

-- case: in CASE
SELECT id, CASE WHEN id IN (SELECT customer FROM orders WHERE customer IS NOT NULL) THEN 'buys' ELSE 'looks' END FROM customers ORDER BY id;

-- case: EXISTS in the select list
SELECT c.id, EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) FROM customers c ORDER BY c.id;

-- case: EXISTS over nothing visible
SELECT EXISTS (SELECT 1 FROM orders WHERE region = 'US');

-- case: IN in the select list, with NULLs
SELECT code, code IN (SELECT region FROM customers) FROM regions ORDER BY code;

-- case: in ORDER BY
-- refused: 22023 a correlated sub-query in ORDER BY
SELECT c.id FROM customers c ORDER BY (SELECT count(*) FROM orders o WHERE o.customer = c.id) DESC, c.id;

-- case: in LIMIT of an inner query
SELECT id FROM (SELECT id FROM customers ORDER BY id LIMIT 3) s WHERE id > 1 ORDER BY id;

-- case: ANY
SELECT id FROM orders WHERE amount > ANY (SELECT credit FROM customers WHERE credit > 0) ORDER BY id;

-- case: ALL
SELECT id FROM orders WHERE amount < ALL (SELECT price FROM items WHERE price > 100) ORDER BY id;

-- case: more than one row where one must be
-- differs: the code is 22023 and not 21000
-- peers: postgres
SELECT (SELECT id FROM customers WHERE id < 3) AS one;

-- case: nested thrice
SELECT id FROM customers WHERE id IN (SELECT customer FROM orders WHERE id IN (SELECT purchase FROM items WHERE product IN
(SELECT product FROM items GROUP BY product HAVING count(*) > 1))) ORDER BY id;

-- case: correlated with a table of another level
SELECT c.id FROM customers c WHERE EXISTS
(SELECT 1 FROM orders o WHERE o.customer = c.id AND EXISTS (SELECT 1 FROM items i WHERE i.purchase = o.id AND i.qty > 1)) ORDER BY c.id;

-- case: over a masked column
SELECT id FROM customers WHERE ssn IN (SELECT ssn FROM customers WHERE id = 8) ORDER BY id;

-- case: WITH
WITH big AS (SELECT id, customer, amount FROM orders WHERE amount > 50), per AS (SELECT customer, sum(amount) AS total FROM big GROUP BY customer)
SELECT c.id, p.total FROM customers c JOIN per p ON p.customer = c.id ORDER BY c.id;

-- case: WITH, used twice
WITH o AS (SELECT id, customer, amount FROM orders) SELECT a.id, b.id FROM o a JOIN o b ON a.customer = b.customer AND a.id < b.id ORDER BY a.id, b.id;

-- case: WITH that hides a table's name
WITH customers AS (SELECT 1 AS id) SELECT id FROM customers;

-- case: recursive numbers
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n ORDER BY i;

-- case: recursive tree
WITH RECURSIVE below(id, depth) AS
(SELECT id, 0 FROM staff WHERE boss IS NULL UNION ALL SELECT s.id, b.depth + 1 FROM staff s JOIN below b ON s.boss = b.id)
SELECT id, depth FROM below ORDER BY id;

-- case: recursive, up the referrers
WITH RECURSIVE up(start, id) AS
(SELECT id, referrer FROM customers WHERE id = 10 UNION SELECT u.start, c.referrer FROM customers c JOIN up u ON c.id = u.id)
SELECT start, id FROM up ORDER BY start, id;
