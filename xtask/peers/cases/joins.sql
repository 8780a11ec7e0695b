-- Joins of tables of which each is filtered and masked by itself.

-- case: inner
SELECT c.id, c.name, o.id, o.amount FROM customers c JOIN orders o ON o.customer = c.id ORDER BY c.id, o.id;

-- case: inner, of a granted and a protected table
SELECT o.id, i.product, i.qty * i.price AS total FROM orders o JOIN items i ON i.purchase = o.id ORDER BY o.id, i.line;

-- case: USING
SELECT region, c.id, o.id FROM customers c JOIN orders o USING (region) WHERE c.id < 3 ORDER BY c.id, o.id;

-- case: NATURAL
SELECT count(*) FROM (SELECT id AS customer, region FROM customers) c NATURAL JOIN (SELECT customer, region, amount FROM orders) o;

-- case: left
SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer = c.id ORDER BY c.id, o.id;

-- case: right
SELECT c.id, o.id FROM customers c RIGHT JOIN orders o ON o.customer = c.id ORDER BY o.id;

-- case: full
SELECT c.id, o.id FROM customers c FULL JOIN orders o ON o.customer = c.id ORDER BY c.id, o.id;

-- case: full, with a condition after it
SELECT c.id, o.id FROM customers c FULL JOIN orders o ON o.customer = c.id WHERE c.id IS NULL OR o.id IS NULL ORDER BY c.id, o.id;

-- case: left, with a condition on the right side in ON
SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.amount > 100 ORDER BY c.id, o.id;

-- case: left, with a condition on the left side in ON
SELECT c.id, o.id FROM customers c LEFT JOIN orders o ON o.customer = c.id AND c.region = 'EU' ORDER BY c.id, o.id;

-- case: cross
SELECT count(*), sum(c.id * o.id) FROM customers c CROSS JOIN orders o;

-- case: comma with a condition
SELECT c.id, r.title FROM customers c, regions r WHERE c.region = r.code ORDER BY c.id;

-- case: unequal
SELECT a.id, b.id FROM orders a JOIN orders b ON a.amount < b.amount AND a.region = b.region ORDER BY a.id, b.id;

-- case: self join on a masked key
SELECT a.id, b.id FROM customers a JOIN customers b ON a.ssn = b.ssn AND a.id < b.id ORDER BY a.id, b.id;

-- case: self join on a masked date
SELECT a.id, b.id FROM customers a JOIN customers b ON a.born = b.born AND a.id < b.id ORDER BY a.id, b.id;

-- case: self join of the tree
SELECT s.id, b.id, b.name FROM staff s LEFT JOIN staff b ON s.boss = b.id ORDER BY s.id;

-- case: three of one
SELECT a.id, b.id, c.id FROM customers a JOIN customers b ON b.referrer = a.id LEFT JOIN customers c ON c.referrer = b.id
ORDER BY a.id, b.id, c.id;

-- case: five tables
SELECT r.title, c.id, o.id, i.product FROM regions r JOIN customers c ON c.region = r.code JOIN orders o ON o.customer = c.id
JOIN items i ON i.purchase = o.id LEFT JOIN memos m ON m.id = c.id ORDER BY r.title, c.id, o.id, i.line;

-- case: on a condition that is NULL
SELECT a.id, b.id FROM customers a JOIN customers b ON a.region = b.region AND a.referrer = b.id ORDER BY a.id, b.id;

-- case: IS NOT DISTINCT FROM
SELECT a.id, b.id FROM orders a JOIN customers b ON a.region IS NOT DISTINCT FROM b.region WHERE b.id > 5 ORDER BY a.id, b.id;

-- case: semi by IN
SELECT id FROM customers WHERE id IN (SELECT customer FROM orders) ORDER BY id;

-- case: semi by EXISTS
SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.amount > 50) ORDER BY c.id;

-- case: anti by NOT EXISTS
SELECT c.id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) ORDER BY c.id;

-- case: anti by NOT IN with NULLs
SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders) ORDER BY id;

-- case: anti by NOT IN without NULLs
SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE customer IS NOT NULL) ORDER BY id;

-- case: anti by an outer join
SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL ORDER BY c.id;

-- case: LATERAL
SELECT c.id, x.total FROM customers c, LATERAL (SELECT sum(o.amount) AS total FROM orders o WHERE o.customer = c.id) x ORDER BY c.id;

-- case: LATERAL with a limit
-- refused: 0A000 a limit beside a column of the query around it
SELECT c.id, x.id FROM customers c JOIN LATERAL (SELECT o.id FROM orders o WHERE o.customer = c.id ORDER BY o.amount DESC LIMIT 1) x ON TRUE
ORDER BY c.id;

-- case: a join on masked and stored values at once
SELECT c.id, o.id FROM customers c JOIN orders o ON c.id = o.customer AND c.credit > o.amount ORDER BY c.id, o.id;

-- case: aggregates over a join
SELECT c.region, count(DISTINCT c.id), sum(i.qty * i.price) FROM customers c JOIN orders o ON o.customer = c.id
JOIN items i ON i.purchase = o.id GROUP BY c.region ORDER BY c.region;
