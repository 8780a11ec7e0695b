-- The protections, as Sluice has them: policies and grants.

CREATE USER ana PASSWORD 'pw';
CREATE USER bo PASSWORD 'pw';
CREATE USER cy PASSWORD 'pw';
CREATE USER dee PASSWORD 'pw';
CREATE USER eve PASSWORD 'pw';
CREATE ROLE reader;
GRANT ROLE reader TO USER bo;
GRANT ROLE reader TO USER cy;

CREATE VIEW shop.open_orders AS SELECT id, customer, amount FROM shop.orders WHERE status = 'open';
CREATE VIEW shop.cards AS SELECT o.id, c.name, o.card FROM shop.orders o JOIN shop.customers c ON o.customer = c.id;
CREATE VIEW shop.pay_by_team SECURITY DEFINER AS SELECT team, count(*) AS n, sum(pay) AS pay FROM shop.payroll GROUP BY team;
CREATE VIEW shop.pay_below SECURITY DEFINER AS SELECT id, team, pay FROM shop.payroll WHERE pay < 600;

GRANT SELECT ON shop.regions, shop.items, shop.changes TO USER ana, ROLE reader, USER dee;
GRANT SELECT ON shop.customers, shop.orders, shop.staff, shop.visits, shop.memos, shop.ledger TO USER ana, ROLE reader;
GRANT SELECT ON VIEW shop.open_orders, VIEW shop.cards, VIEW shop.pay_by_team, VIEW shop.pay_below TO USER ana, ROLE reader, USER dee;
GRANT SELECT (id, name, region) ON shop.customers TO USER dee;
GRANT SELECT (id, customer, region, amount) ON shop.orders TO USER dee;
GRANT SELECT (id, region) ON shop.visits TO USER dee;
GRANT INSERT, UPDATE, DELETE, MERGE ON shop.ledger TO USER ana, ROLE reader;

CREATE POLICY customers_rows ON TABLE shop.customers ROW FILTER TO ROLE reader USING (region = 'EU');
CREATE POLICY orders_rows ON TABLE shop.orders ROW FILTER TO ROLE reader USING (amount < 500 AND region <> 'US');
CREATE POLICY orders_not_void ON TABLE shop.orders ROW FILTER TO USER dee USING (status <> 'void');
CREATE POLICY staff_rows ON TABLE shop.staff ROW FILTER TO ROLE reader USING (team <> 'board' OR id = 1);
CREATE POLICY visits_rows ON TABLE shop.visits ROW FILTER TO ROLE reader, USER dee
  USING (region IN (SELECT region FROM shop.acl WHERE who = current_user()));
CREATE POLICY memos_rows ON TABLE shop.memos ROW FILTER TO ROLE reader USING (owner = current_user());
CREATE POLICY payroll_rows ON TABLE shop.payroll ROW FILTER TO ROLE reader USING (team <> 'board');
CREATE POLICY ledger_rows ON TABLE shop.ledger ROW FILTER TO ROLE reader USING (region = 'EU');

CREATE POLICY hide_ssn ON TABLE shop.customers COLUMN MASK MASK_SHOW_LAST_4 TO USER cy ON COLUMN ssn;
CREATE POLICY hide_name ON TABLE shop.customers COLUMN MASK MASK TO USER cy ON COLUMN name;
CREATE POLICY hide_born ON TABLE shop.customers COLUMN MASK MASK_DATE_SHOW_YEAR TO USER cy ON COLUMN born;
CREATE POLICY hide_credit ON TABLE shop.customers COLUMN MASK MASK_BUCKET TO USER cy ON COLUMN credit USING (100);
CREATE POLICY hide_card ON TABLE shop.orders COLUMN MASK CUSTOM TO USER cy ON COLUMN card USING (substr({col}, 1, 1) || '***');
CREATE POLICY hide_status ON TABLE shop.orders COLUMN MASK MASK_NULL TO USER cy ON COLUMN status;
CREATE POLICY hide_pay ON TABLE shop.staff COLUMN MASK CUSTOM TO USER cy ON COLUMN pay USING (CASE WHEN {col} > 400 THEN 1000 ELSE 0 END);
CREATE POLICY hide_score ON TABLE shop.visits COLUMN MASK CUSTOM TO USER cy ON COLUMN score USING (CASE WHEN is_first THEN {col} END);
CREATE POLICY hide_payroll ON TABLE shop.payroll COLUMN MASK MASK_BUCKET TO USER cy ON COLUMN pay USING (200);
CREATE POLICY hide_note ON TABLE shop.ledger COLUMN MASK MASK TO USER cy ON COLUMN note;
