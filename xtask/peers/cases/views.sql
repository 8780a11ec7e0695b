-- Views that read with their reader's rights and with their owner's.

-- case: a reader's view
SELECT id, customer, amount FROM open_orders ORDER BY id;

-- case: a reader's view over a join
SELECT id, name, card FROM cards ORDER BY id;

-- case: a condition over a view
SELECT id FROM cards WHERE card LIKE '4%' ORDER BY id;

-- case: a view joined to its own table
SELECT v.id, o.region FROM open_orders v JOIN orders o ON o.id = v.id ORDER BY v.id;

-- case: a view twice
SELECT count(*) FROM open_orders a JOIN open_orders b ON a.amount <= b.amount;

-- case: an owner's view that counts
SELECT team, n, pay FROM pay_by_team ORDER BY team;

-- case: an owner's view that filters
SELECT id, team, pay FROM pay_below ORDER BY id;

-- case: a condition over an owner's view
SELECT id FROM pay_below WHERE pay >= 400 OR team IS NULL ORDER BY id;

-- case: an owner's view joined to a protected table
SELECT s.id, p.pay FROM staff s JOIN pay_by_team p ON p.team = s.team ORDER BY s.id;

-- case: an expression that fails on a row that the owner's view leaves out
-- peers: postgres
SELECT id, 1 / (pay - 900) FROM pay_below ORDER BY id;
