-- The protections, as PostgreSQL has them: row security, and grants of columns.
-- It has no masks: `cy` has views of her own with the expressions typed in, which come before the tables in her path.

CREATE ROLE ana LOGIN;
CREATE ROLE bo LOGIN;
CREATE ROLE cy LOGIN;
CREATE ROLE dee LOGIN;
CREATE ROLE eve LOGIN;
CREATE ROLE reader;
GRANT reader TO bo, cy;
CREATE SCHEMA as_cy;
GRANT USAGE ON SCHEMA shop TO ana, reader, dee, eve;
GRANT USAGE ON SCHEMA as_cy TO cy;
ALTER ROLE ana SET search_path = shop;
ALTER ROLE bo SET search_path = shop;
ALTER ROLE cy SET search_path = as_cy, shop;
ALTER ROLE dee SET search_path = shop;
ALTER ROLE eve SET search_path = shop;

-- Whoever owns the views that read with their owner's rights; row security holds for her as for whoever looks.
CREATE ROLE keeper;
GRANT USAGE ON SCHEMA shop, as_cy TO keeper;
GRANT CREATE ON SCHEMA shop, as_cy TO keeper;
GRANT SELECT ON shop.payroll TO keeper;

CREATE VIEW shop.open_orders WITH (security_invoker) AS SELECT id, customer, amount FROM shop.orders WHERE status = 'open';
CREATE VIEW shop.cards WITH (security_invoker) AS
  SELECT o.id, c.name, o.card FROM shop.orders o JOIN shop.customers c ON o.customer = c.id;
CREATE VIEW shop.pay_by_team AS SELECT team, count(*) AS n, sum(pay) AS pay FROM shop.payroll GROUP BY team;
CREATE VIEW shop.pay_below AS SELECT id, team, pay FROM shop.payroll WHERE pay < 600;
ALTER VIEW shop.pay_by_team OWNER TO keeper;
ALTER VIEW shop.pay_below OWNER TO keeper;

GRANT SELECT ON shop.regions, shop.items, shop.changes TO ana, reader, dee;
GRANT SELECT ON shop.customers, shop.orders, shop.staff, shop.visits, shop.memos, shop.ledger TO ana, reader;
GRANT SELECT ON shop.open_orders, shop.cards, shop.pay_by_team, shop.pay_below TO ana, reader, dee;
GRANT SELECT (id, name, region) ON shop.customers TO dee;
GRANT SELECT (id, customer, region, amount) ON shop.orders TO dee;
GRANT SELECT (id, region) ON shop.visits TO dee;
GRANT INSERT, UPDATE, DELETE ON shop.ledger TO ana, reader;
-- A policy's sub-query is read with its reader's rights here.
GRANT SELECT ON shop.acl TO reader, dee;

ALTER TABLE shop.customers ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.staff ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.visits ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.memos ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.payroll ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.ledger ENABLE ROW LEVEL SECURITY;

-- Without a policy no row is shown here; with one that says TRUE all are.
CREATE POLICY whole ON shop.customers TO ana, dee USING (TRUE);
CREATE POLICY whole ON shop.orders TO ana USING (TRUE);
CREATE POLICY whole ON shop.staff TO ana USING (TRUE);
CREATE POLICY whole ON shop.visits TO ana USING (TRUE);
CREATE POLICY whole ON shop.memos TO ana USING (TRUE);
CREATE POLICY whole ON shop.ledger TO ana USING (TRUE);

CREATE POLICY customers_rows ON shop.customers TO reader USING (region = 'EU');
CREATE POLICY orders_rows ON shop.orders TO reader USING (amount < 500 AND region <> 'US');
CREATE POLICY orders_not_void ON shop.orders TO dee USING (status <> 'void');
CREATE POLICY staff_rows ON shop.staff TO reader USING (team <> 'board' OR id = 1);
CREATE POLICY visits_rows ON shop.visits TO reader, dee USING (region IN (SELECT region FROM shop.acl WHERE who = current_user));
CREATE POLICY memos_rows ON shop.memos TO reader USING (owner = current_user);
CREATE POLICY payroll_rows ON shop.payroll TO keeper USING (team <> 'board' OR NOT pg_has_role(session_user, 'reader', 'MEMBER'));
CREATE POLICY ledger_rows ON shop.ledger TO reader USING (region = 'EU') WITH CHECK (region = 'EU');

CREATE FUNCTION as_cy.covered(value VARCHAR) RETURNS VARCHAR IMMUTABLE LANGUAGE SQL AS
  $$ SELECT regexp_replace(regexp_replace(regexp_replace(value, '[A-Z]', 'X', 'g'), '[a-z]', 'x', 'g'), '[0-9]', 'n', 'g') $$;
CREATE VIEW as_cy.customers WITH (security_invoker) AS
  SELECT id, as_cy.covered(name) AS name, region, regexp_replace(left(ssn, -4), '[0-9]', 'x', 'g') || right(ssn, 4) AS ssn,
    CAST(date_trunc('year', born) AS DATE) AS born, CAST(floor(credit / 100) * 100 AS DECIMAL(10, 2)) AS credit, referrer
  FROM shop.customers;
CREATE VIEW as_cy.orders WITH (security_invoker) AS
  SELECT id, customer, region, placed, amount, CAST(NULL AS VARCHAR) AS status, substr(card, 1, 1) || '***' AS card FROM shop.orders;
CREATE VIEW as_cy.staff WITH (security_invoker) AS
  SELECT id, name, boss, team, CASE WHEN pay > 400 THEN 1000 ELSE 0 END AS pay FROM shop.staff;
CREATE VIEW as_cy.visits WITH (security_invoker) AS
  SELECT id, region, visited_at, CASE WHEN is_first THEN score END AS score, is_first FROM shop.visits;
CREATE VIEW as_cy.ledger WITH (security_invoker) AS
  SELECT id, region, amount, as_cy.covered(note) AS note, booked FROM shop.ledger;
CREATE VIEW as_cy.open_orders WITH (security_invoker) AS SELECT id, customer, amount FROM as_cy.orders WHERE status = 'open';
CREATE VIEW as_cy.cards WITH (security_invoker) AS
  SELECT o.id, c.name, o.card FROM as_cy.orders o JOIN as_cy.customers c ON o.customer = c.id;
CREATE VIEW as_cy.payroll AS SELECT id, team, pay / 200 * 200 AS pay FROM shop.payroll;
ALTER VIEW as_cy.payroll OWNER TO keeper;
CREATE VIEW as_cy.pay_by_team AS SELECT team, count(*) AS n, sum(pay) AS pay FROM as_cy.payroll GROUP BY team;
CREATE VIEW as_cy.pay_below AS SELECT id, team, pay FROM as_cy.payroll WHERE pay < 600;
ALTER VIEW as_cy.pay_by_team OWNER TO keeper;
ALTER VIEW as_cy.pay_below OWNER TO keeper;
GRANT SELECT ON as_cy.customers, as_cy.orders, as_cy.staff, as_cy.visits, as_cy.ledger, as_cy.open_orders, as_cy.cards,
  as_cy.pay_by_team, as_cy.pay_below TO cy;
GRANT INSERT, UPDATE, DELETE ON as_cy.ledger TO cy;
