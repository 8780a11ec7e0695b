-- Writes by users with row security. DuckDB has none for writes.

-- case: INSERT of visible rows
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo eve
INSERT INTO ledger VALUES (30, 'EU', 1.50, 'New', DATE '2024-06-01'), (31, 'EU', NULL, NULL, NULL);

-- case: INSERT of a row that its writer would not see
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo eve
INSERT INTO ledger VALUES (30, 'EU', 1.50, 'New', NULL), (31, 'US', 2.50, 'New', NULL);

-- case: INSERT of a row for which the filter is NULL
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo eve
INSERT INTO ledger VALUES (30, NULL, 1.50, 'New', NULL);

-- case: INSERT of some columns
-- peers: postgres
-- changes: shop.ledger
INSERT INTO ledger (region, id) VALUES ('EU', 40);

-- case: INSERT from a query
-- peers: postgres
-- changes: shop.ledger
INSERT INTO ledger (id, region, amount) SELECT id, region, amount FROM orders WHERE region = 'EU';

-- case: INSERT from a query that gives rows out of sight
-- peers: postgres
-- changes: shop.ledger
INSERT INTO ledger (id, region, amount) SELECT id, region, amount FROM changes;

-- case: INSERT of the table's own rows
-- peers: postgres
-- changes: shop.ledger
INSERT INTO ledger (id, region, amount) SELECT id + 100, region, amount FROM ledger;

-- case: UPDATE of all
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = coalesce(amount, 0) + 1;

-- case: UPDATE by a condition
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = amount * 2, booked = DATE '2025-01-01' WHERE amount > 15;

-- case: UPDATE of hidden rows
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = 0 WHERE region = 'US';

-- case: UPDATE by a condition on a masked column
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = 5 WHERE note = 'Food';

-- case: UPDATE by what the mask shows
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = 6 WHERE note = 'Xxxx';

-- case: UPDATE out of sight
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET region = 'US' WHERE id = 1;

-- case: UPDATE into sight
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET region = 'EU' WHERE id IN (3, 5);

-- case: UPDATE with a sub-query
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = (SELECT max(amount) FROM ledger) WHERE id < 4;

-- case: UPDATE by a sub-query over another protected table
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = 1 WHERE id IN (SELECT id FROM customers WHERE credit > 100);

-- case: UPDATE FROM
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET amount = c.amount FROM changes c WHERE c.id = ledger.id;

-- case: UPDATE of a masked column
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo eve
UPDATE ledger SET note = upper(note) WHERE id < 5;

-- case: UPDATE that fails on a visible row
-- fails: 22012
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo cy
UPDATE ledger SET amount = 1 / (id - 1);

-- case: UPDATE that would fail on hidden rows alone
-- peers: postgres
-- changes: shop.ledger
-- users: bo cy
UPDATE ledger SET amount = 1 / (id - 3);

-- case: UPDATE of swapped values
-- peers: postgres
-- changes: shop.ledger
UPDATE ledger SET id = CAST(floor(amount) AS INT), amount = id WHERE amount IS NOT NULL;

-- case: DELETE of all
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger;

-- case: DELETE by a condition
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger WHERE amount IS NULL OR id = 3;

-- case: DELETE by a masked column
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger WHERE note LIKE 'F%';

-- case: DELETE with EXISTS
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger WHERE EXISTS (SELECT 1 FROM changes c WHERE c.id = ledger.id);

-- case: DELETE with NOT IN over NULLs
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger WHERE amount NOT IN (SELECT amount FROM ledger);

-- case: DELETE USING
-- peers: postgres
-- changes: shop.ledger
DELETE FROM ledger USING changes c WHERE c.id = ledger.id AND c.amount > 30;

-- case: MERGE that updates and inserts
-- peers: postgres
-- changes: shop.ledger
-- users: ana eve
MERGE INTO ledger l USING changes c ON l.id = c.id WHEN MATCHED THEN UPDATE SET amount = c.amount
WHEN NOT MATCHED THEN INSERT (id, region, amount) VALUES (c.id, c.region, c.amount);

-- case: MERGE that inserts out of sight
-- fails: 42501
-- peers: postgres
-- changes: shop.ledger
-- users: bo
MERGE INTO ledger l USING changes c ON l.id = c.id WHEN NOT MATCHED THEN INSERT (id, region, amount) VALUES (c.id, c.region, c.amount);

-- case: MERGE over rows of which some are hidden
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo
MERGE INTO ledger l USING changes c ON l.id = c.id WHEN MATCHED AND c.amount > 50 THEN DELETE
WHEN MATCHED THEN UPDATE SET amount = l.amount + c.amount
WHEN NOT MATCHED AND c.region = 'EU' THEN INSERT (id, region, amount) VALUES (c.id, c.region, c.amount);

-- case: MERGE with a source that has a row twice
-- fails: 21000
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo
MERGE INTO ledger l USING (VALUES (1, 1), (1, 2)) AS v(id, n) ON l.id = v.id WHEN MATCHED THEN UPDATE SET amount = v.n;

-- case: MERGE with a source that has a row twice, of a hidden row
-- peers: postgres
-- changes: shop.ledger
-- users: bo
MERGE INTO ledger l USING (VALUES (3, 1), (3, 2)) AS v(id, n) ON l.id = v.id WHEN MATCHED THEN UPDATE SET amount = v.n;

-- case: prepared writes
-- peers: postgres
-- changes: shop.ledger
-- users: ana bo cy
PREPARE pay AS UPDATE ledger SET amount = $2 WHERE id = $1;
EXECUTE pay(1, 99.5);
EXECUTE pay(3, 99.5);
DEALLOCATE pay;

-- case: a write into a table that may only be read
-- users: ana bo dee eve
-- peers: postgres
-- fails: 42501
UPDATE customers SET credit = 0;
