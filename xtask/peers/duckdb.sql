-- The protections by hand: DuckDB has no users, so that each has a schema of views with filters and masks typed in.
-- What somebody may not read is not there.

-- NULL stands where PostgreSQL puts it, and whole numbers are divided as there.
SET default_null_order = 'nulls_last_on_asc_first_on_desc';
SET integer_division = true;

CREATE SCHEMA as_ana;
CREATE VIEW as_ana.regions AS SELECT * FROM shop.regions;
CREATE VIEW as_ana.items AS SELECT * FROM shop.items;
CREATE VIEW as_ana.changes AS SELECT * FROM shop.changes;
CREATE VIEW as_ana.customers AS SELECT * FROM shop.customers;
CREATE VIEW as_ana.orders AS SELECT * FROM shop.orders;
CREATE VIEW as_ana.staff AS SELECT * FROM shop.staff;
CREATE VIEW as_ana.visits AS SELECT * FROM shop.visits;
CREATE VIEW as_ana.memos AS SELECT * FROM shop.memos;
CREATE VIEW as_ana.open_orders AS SELECT id, customer, amount FROM as_ana.orders WHERE status = 'open';
CREATE VIEW as_ana.cards AS SELECT o.id, c.name, o.card FROM as_ana.orders o JOIN as_ana.customers c ON o.customer = c.id;
CREATE VIEW as_ana.pay_by_team AS SELECT team, count(*) AS n, sum(pay) AS pay FROM shop.payroll GROUP BY team;
CREATE VIEW as_ana.pay_below AS SELECT id, team, pay FROM shop.payroll WHERE pay < 600;

CREATE SCHEMA as_bo;
CREATE VIEW as_bo.regions AS SELECT * FROM shop.regions;
CREATE VIEW as_bo.items AS SELECT * FROM shop.items;
CREATE VIEW as_bo.changes AS SELECT * FROM shop.changes;
CREATE VIEW as_bo.customers AS SELECT * FROM shop.customers WHERE region = 'EU';
CREATE VIEW as_bo.orders AS SELECT * FROM shop.orders WHERE amount < 500 AND region <> 'US';
CREATE VIEW as_bo.staff AS SELECT * FROM shop.staff WHERE team <> 'board' OR id = 1;
CREATE VIEW as_bo.visits AS SELECT * FROM shop.visits WHERE region IN ('EU', 'US');
CREATE VIEW as_bo.memos AS SELECT * FROM shop.memos WHERE owner = 'bo';
CREATE VIEW as_bo.open_orders AS SELECT id, customer, amount FROM as_bo.orders WHERE status = 'open';
CREATE VIEW as_bo.cards AS SELECT o.id, c.name, o.card FROM as_bo.orders o JOIN as_bo.customers c ON o.customer = c.id;
CREATE VIEW as_bo.pay_by_team AS SELECT team, count(*) AS n, sum(pay) AS pay FROM shop.payroll WHERE team <> 'board' GROUP BY team;
CREATE VIEW as_bo.pay_below AS SELECT id, team, pay FROM shop.payroll WHERE team <> 'board' AND pay < 600;

CREATE SCHEMA as_cy;
CREATE VIEW as_cy.regions AS SELECT * FROM shop.regions;
CREATE VIEW as_cy.items AS SELECT * FROM shop.items;
CREATE VIEW as_cy.changes AS SELECT * FROM shop.changes;
CREATE VIEW as_cy.customers AS
  SELECT id, regexp_replace(regexp_replace(regexp_replace(name, '[A-Z]', 'X', 'g'), '[a-z]', 'x', 'g'), '[0-9]', 'n', 'g') AS name, region,
    regexp_replace(left(ssn, -4), '[0-9]', 'x', 'g') || right(ssn, 4) AS ssn, CAST(date_trunc('year', born) AS DATE) AS born,
    CAST(floor(credit / 100) * 100 AS DECIMAL(10, 2)) AS credit, referrer
  FROM shop.customers WHERE region = 'EU';
CREATE VIEW as_cy.orders AS
  SELECT id, customer, region, placed, amount, CAST(NULL AS VARCHAR) AS status, substr(card, 1, 1) || '***' AS card
  FROM shop.orders WHERE amount < 500 AND region <> 'US';
CREATE VIEW as_cy.staff AS
  SELECT id, name, boss, team, CASE WHEN pay > 400 THEN 1000 ELSE 0 END AS pay FROM shop.staff WHERE team <> 'board' OR id = 1;
CREATE VIEW as_cy.visits AS
  SELECT id, region, visited_at, CASE WHEN is_first THEN score END AS score, is_first FROM shop.visits WHERE region = 'APAC';
CREATE VIEW as_cy.memos AS SELECT * FROM shop.memos WHERE owner = 'cy';
CREATE VIEW as_cy.open_orders AS SELECT id, customer, amount FROM as_cy.orders WHERE status = 'open';
CREATE VIEW as_cy.cards AS SELECT o.id, c.name, o.card FROM as_cy.orders o JOIN as_cy.customers c ON o.customer = c.id;
CREATE VIEW as_cy.pay_by_team AS
  SELECT team, count(*) AS n, sum(pay // 200 * 200) AS pay FROM shop.payroll WHERE team <> 'board' GROUP BY team;
CREATE VIEW as_cy.pay_below AS
  SELECT id, team, pay // 200 * 200 AS pay FROM shop.payroll WHERE team <> 'board' AND pay // 200 * 200 < 600;

CREATE SCHEMA as_dee;
CREATE VIEW as_dee.regions AS SELECT * FROM shop.regions;
CREATE VIEW as_dee.items AS SELECT * FROM shop.items;
CREATE VIEW as_dee.changes AS SELECT * FROM shop.changes;
CREATE VIEW as_dee.customers AS SELECT id, name, region FROM shop.customers;
CREATE VIEW as_dee.orders AS SELECT id, customer, region, amount FROM shop.orders WHERE status <> 'void';
CREATE VIEW as_dee.visits AS SELECT id, region FROM shop.visits WHERE region = 'EU';
CREATE VIEW as_dee.pay_by_team AS SELECT team, count(*) AS n, sum(pay) AS pay FROM shop.payroll GROUP BY team;
CREATE VIEW as_dee.pay_below AS SELECT id, team, pay FROM shop.payroll WHERE pay < 600;

CREATE SCHEMA as_eve;
