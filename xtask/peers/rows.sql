-- The same rows for everybody: said to Sluice, PostgreSQL and DuckDB as they stand here.

CREATE SCHEMA shop;

CREATE TABLE shop.customers (id INT, name VARCHAR, region VARCHAR, ssn VARCHAR, born DATE, credit DECIMAL(10, 2), referrer INT);
INSERT INTO shop.customers VALUES
  (1, 'Ann Archer', 'EU', '111-22-1111', DATE '1980-02-29', 1250.00, NULL),
  (2, 'Ben Baker', 'EU', '222-33-2222', DATE '1991-12-31', 99.99, 1),
  (3, 'Cleo Cook', 'US', '333-44-3333', DATE '1975-07-04', 500.00, 1),
  (4, 'Dan Draper', 'APAC', '444-55-4444', DATE '2000-01-01', 0.00, 3),
  (5, 'Eva Egger', 'EU', NULL, NULL, 310.50, 2),
  (6, 'Finn Fisher', NULL, '666-77-6666', DATE '1966-06-06', 75.25, NULL),
  (7, 'Gus Glover', 'US', '777-88-1111', DATE '1980-03-01', -20.00, 7),
  (8, 'Hal Hunter', 'EU', '888-99-1111', DATE '1980-11-30', 1250.00, 4),
  (9, 'Ida Iron', 'APAC', NULL, DATE '1999-09-09', NULL, 8),
  (10, 'Ann Archer', 'EU', '101-10-1010', DATE '1991-01-01', 640.10, 5);

CREATE TABLE shop.orders (id INT, customer INT, region VARCHAR, placed DATE, amount DECIMAL(10, 2), status VARCHAR, card VARCHAR);
INSERT INTO shop.orders VALUES
  (100, 1, 'EU', DATE '2024-01-05', 120.50, 'open', '4000-0000-0000-1234'),
  (101, 1, 'EU', DATE '2024-01-31', 80.00, 'paid', '4000-0000-0000-1234'),
  (102, 2, 'EU', DATE '2024-02-29', 19.99, 'open', '4111-1111-1111-1111'),
  (103, 3, 'US', DATE '2024-02-01', 700.00, 'paid', '5500-0000-0000-0004'),
  (104, 3, 'US', DATE '2023-12-31', 45.45, 'void', '5500-0000-0000-0004'),
  (105, 4, 'APAC', DATE '2024-03-15', 0.00, 'open', NULL),
  (106, 5, 'EU', DATE '2024-03-15', 999.99, 'paid', '4000-1234-5678-9010'),
  (107, 8, 'EU', NULL, 250.00, 'open', '4222-2222-2222-2222'),
  (108, NULL, 'EU', DATE '2024-04-01', 33.33, 'void', NULL),
  (109, 9, NULL, DATE '2024-04-02', 66.60, 'open', '4999-9999-9999-9999'),
  (110, 10, 'EU', DATE '2024-05-05', NULL, 'paid', '4111-1111-1111-1111'),
  (111, 42, 'EU', DATE '2024-05-06', 10.00, 'open', '4242-4242-4242-4242'),
  (112, 2, 'US', DATE '2024-05-07', 500.00, NULL, '4000-0000-0000-0002');

CREATE TABLE shop.items (purchase INT, line INT, product VARCHAR, qty INT, price DECIMAL(8, 2));
INSERT INTO shop.items VALUES
  (100, 1, 'nail', 100, 0.05), (100, 2, 'saw', 1, 115.50), (101, 1, 'saw', 1, 80.00), (102, 1, 'nail', 200, 0.05),
  (102, 2, 'glue_2', 1, 9.99), (103, 1, 'drill', 2, 350.00), (104, 1, 'glue%', 9, 5.05), (105, 1, 'gift', 1, 0.00),
  (106, 1, 'drill', 2, 400.00), (106, 2, 'saw', 2, 99.99), (107, 1, 'vice', 1, 250.00), (108, 1, 'glue_2', 3, 11.11),
  (109, 1, NULL, 6, 11.10), (999, 1, 'lost', 1, 1.00);

CREATE TABLE shop.regions (code VARCHAR, title VARCHAR);
INSERT INTO shop.regions VALUES ('EU', 'Europe'), ('US', 'United States'), ('APAC', 'Asia and Pacific'), ('ANT', 'Antarctica');

CREATE TABLE shop.staff (id INT, name VARCHAR, boss INT, team VARCHAR, pay INT);
INSERT INTO shop.staff VALUES
  (1, 'Root', NULL, 'board', 900), (2, 'Left', 1, 'sales', 500), (3, 'Right', 1, 'tech', 510), (4, 'Leaf', 2, 'sales', 300),
  (5, 'Twig', 2, 'sales', 300), (6, 'Bud', 3, 'tech', 280), (7, 'Seed', 6, 'tech', NULL), (8, 'Stray', 99, NULL, 100);

-- Whose row filter is a sub-query over `acl`.
CREATE TABLE shop.visits (id INT, region VARCHAR, visited_at TIMESTAMP, score DOUBLE PRECISION, is_first BOOLEAN);
INSERT INTO shop.visits VALUES
  (1, 'EU', TIMESTAMP '2024-01-01 10:00:00', 0.5, TRUE), (2, 'EU', TIMESTAMP '2024-01-01 10:30:00', 1.25, FALSE),
  (3, 'US', TIMESTAMP '2024-01-02 00:00:00', 2.0, TRUE), (4, 'APAC', TIMESTAMP '2024-02-10 23:59:59', -1.5, NULL),
  (5, NULL, TIMESTAMP '2024-02-11 08:00:00', 3.75, FALSE), (6, 'US', NULL, NULL, TRUE),
  (7, 'ANT', TIMESTAMP '2023-12-31 23:59:59', 100.0, FALSE);

CREATE TABLE shop.acl (who VARCHAR, region VARCHAR);
INSERT INTO shop.acl VALUES ('bo', 'EU'), ('bo', 'US'), ('cy', 'APAC'), ('cy', NULL), ('dee', 'EU');

-- Each reader's own rows.
CREATE TABLE shop.memos (id INT, owner VARCHAR, body VARCHAR);
INSERT INTO shop.memos VALUES
  (1, 'ana', 'buy nails'), (2, 'bo', 'call Ann'), (3, 'cy', 'sell saws'), (4, 'bo', NULL), (5, NULL, 'nobody''s'), (6, 'dee', 'count'),
  (7, 'cy', 'call Ben');

-- Nobody may read it but through a view that reads with its owner's rights.
CREATE TABLE shop.payroll (id INT, team VARCHAR, pay INT);
INSERT INTO shop.payroll VALUES (1, 'board', 900), (2, 'sales', 500), (3, 'tech', 510), (4, 'sales', 300), (5, NULL, 100), (6, 'tech', 280);

-- What the cases of writes change, and the rows to which it is put back.
CREATE TABLE shop.ledger (id INT, region VARCHAR, amount DECIMAL(10, 2), note VARCHAR, booked DATE);
CREATE TABLE shop.ledger_rows (id INT, region VARCHAR, amount DECIMAL(10, 2), note VARCHAR, booked DATE);
INSERT INTO shop.ledger_rows VALUES
  (1, 'EU', 10.00, 'Rent', DATE '2024-01-01'), (2, 'EU', 20.50, 'Food', DATE '2024-01-02'), (3, 'US', 30.00, 'Rent', DATE '2024-01-03'),
  (4, 'US', NULL, 'Fuel', NULL), (5, NULL, 50.00, 'Gift', DATE '2024-01-05'), (6, 'EU', NULL, NULL, DATE '2024-01-06'),
  (7, 'EU', 70.70, 'Food', NULL), (8, 'APAC', 80.00, 'Food', DATE '2024-01-08');
INSERT INTO shop.ledger SELECT * FROM shop.ledger_rows;

CREATE TABLE shop.changes (id INT, region VARCHAR, amount DECIMAL(10, 2));
INSERT INTO shop.changes VALUES (1, 'EU', 11.00), (3, 'EU', 33.00), (6, 'EU', 66.00), (20, 'EU', 200.00), (21, 'US', 210.00);
