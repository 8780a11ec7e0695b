-- Set operations, of which each branch is filtered and masked by itself.

-- case: UNION
SELECT region FROM customers UNION SELECT region FROM orders;

-- case: UNION ALL
SELECT id, region FROM customers UNION ALL SELECT id, region FROM orders ORDER BY id;

-- case: INTERSECT
SELECT id FROM customers INTERSECT SELECT customer FROM orders;

-- case: EXCEPT
SELECT id FROM customers EXCEPT SELECT customer FROM orders;

-- case: EXCEPT the other way
SELECT customer FROM orders EXCEPT SELECT id FROM customers;

-- case: EXCEPT ALL
-- refused: 0A000 equal rows would not be counted
SELECT region FROM orders EXCEPT ALL SELECT region FROM customers;

-- case: INTERSECT ALL
-- refused: 0A000 equal rows would not be counted
SELECT region FROM orders INTERSECT ALL SELECT region FROM customers;

-- case: a masked and a stored column in one
SELECT name FROM customers UNION SELECT name FROM staff;

-- case: in brackets, with limits
(SELECT id FROM customers ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM orders ORDER BY id DESC LIMIT 2);

-- case: in a sub-query
SELECT count(*) FROM (SELECT id FROM customers UNION SELECT referrer FROM customers) s;

-- case: a hidden branch
SELECT id FROM regions JOIN staff ON code = 'EU' UNION SELECT id FROM memos;
