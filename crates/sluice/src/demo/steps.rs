//! The tutorial as data: who runs what, and what must come of it.

/// One statement of the tutorial.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Told before the statement where a new thought begins.
    pub note: Option<&'static str>,
    pub user: &'static str,
    pub sql: &'static str,
    pub expect: Expect,
}

/// What must come of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    /// No error; rows, if any, are not looked at.
    Done,
    /// Exactly these rows, in this order; values stand between `|`.
    ///
    /// `NULL` is a NULL and `<hex64>` is any text of 64 lower-case hexadecimal digits. Numbers are equal by value.
    Rows(&'static [&'static str]),
    /// Among the rows, in any order, are these; a row may have further values after them.
    Has(&'static [&'static str]),
    /// No row begins with these values.
    HasNot(&'static [&'static str]),
    /// As if the thing did not exist.
    NotFound,
    /// An error with this SQLSTATE.
    Fails(&'static str),
    /// Not delivered yet, and therefore refused.
    NotYet,
}

const fn step(user: &'static str, sql: &'static str, expect: Expect) -> Step {
    Step { note: None, user, sql, expect }
}

const fn noted(note: &'static str, user: &'static str, sql: &'static str, expect: Expect) -> Step {
    Step { note: Some(note), user, sql, expect }
}

use Expect::{Done, Fails, Has, HasNot, NotFound, NotYet, Rows};

/// The catalog that the tutorial's names begin with.
pub const CATALOG: &str = "sales_wh";

/// The four users of the tutorial.
pub const USERS: [&str; 4] = ["carol", "bob", "alice", "dave"];

/// What the first administrator does before the tutorial: users, and which roles they hold.
pub fn identities(password: &str) -> Vec<String> {
    let literal = password.replace('\'', "''");
    let mut statements: Vec<String> =
        USERS.iter().map(|user| format!("CREATE USER {user} PASSWORD '{literal}'")).collect();
    statements.extend(["CREATE ROLE engineer", "CREATE ROLE analyst"].map(str::to_owned));
    for (role, user) in [
        ("admin", "carol"),
        ("engineer", "carol"),
        ("analyst", "carol"),
        ("engineer", "bob"),
        ("analyst", "bob"),
        ("analyst", "alice"),
    ] {
        statements.push(format!("GRANT ROLE {role} TO USER {user}"));
    }
    statements
}

/// The table of the tutorial and its three rows, and one with a date for the mask that only dates have.
pub const TABLES: &[Step] = &[
    noted("The tables.", "carol", "CREATE SCHEMA sales_wh.acdemo", Done),
    step(
        "carol",
        "CREATE TABLE sales_wh.acdemo.orders (id BIGINT, region VARCHAR, amount DOUBLE, ssn VARCHAR, email VARCHAR)",
        Done,
    ),
    step(
        "carol",
        "INSERT INTO sales_wh.acdemo.orders VALUES \
         (1, 'EU', 100.0, '111-11-1111', 'ann@example.com'), \
         (2, 'US', 200.0, '222-22-2222', 'ben@example.com'), \
         (3, 'EU', 300.0, '333-33-3333', 'cy@example.com')",
        Done,
    ),
    step("carol", "CREATE TABLE sales_wh.acdemo.people (id BIGINT, born DATE)", Done),
    step("carol", "INSERT INTO sales_wh.acdemo.people VALUES (1, DATE '2021-05-04')", Done),
];

/// Part one: who may open the table at all.
pub const GATE_ONE: &[Step] = &[
    noted(
        "Gate one. The table is there for carol, an admin; for alice it does not exist.",
        "carol",
        "SELECT id FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1", "2", "3"]),
    ),
    step("alice", "SELECT id FROM sales_wh.acdemo.orders", NotFound),
    step("alice", "SELECT id FROM sales_wh.acdemo.no_such_table", NotFound),
    noted(
        "A grant to a role reaches its members.",
        "carol",
        "GRANT SELECT ON sales_wh.acdemo.orders TO ROLE \"analyst\"",
        Done,
    ),
    step(
        "alice",
        "SELECT id, region FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1|EU", "2|US", "3|EU"]),
    ),
    noted("dave is in no role.", "dave", "SELECT id FROM sales_wh.acdemo.orders", NotFound),
    noted(
        "REVOKE puts it back.",
        "carol",
        "REVOKE SELECT ON sales_wh.acdemo.orders FROM ROLE \"analyst\"",
        Done,
    ),
    step("alice", "SELECT id FROM sales_wh.acdemo.orders", NotFound),
    noted(
        "Discovery stays until it is taken back too.",
        "alice",
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'acdemo'",
        Rows(&["acdemo"]),
    ),
    step("carol", "REVOKE USAGE ON DATABASE sales_wh FROM ROLE \"analyst\"", Done),
    step("carol", "REVOKE USAGE ON SCHEMA sales_wh.acdemo FROM ROLE \"analyst\"", Done),
    step(
        "alice",
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'acdemo'",
        Rows(&[]),
    ),
    noted(
        "Read does not imply write.",
        "carol",
        "GRANT SELECT ON sales_wh.acdemo.orders TO ROLE \"analyst\"",
        Done,
    ),
    step(
        "alice",
        "INSERT INTO sales_wh.acdemo.orders VALUES (4, 'US', 400.0, '444-44-4444', 'di@example.com')",
        Fails("42501"),
    ),
    step("carol", "CREATE TABLE sales_wh.acdemo.inbox (id BIGINT)", Done),
    step("carol", "GRANT SELECT ON sales_wh.acdemo.inbox TO ROLE \"analyst\"", Done),
    step("carol", "GRANT INSERT ON sales_wh.acdemo.inbox TO ROLE \"analyst\"", Done),
    step("alice", "INSERT INTO sales_wh.acdemo.inbox VALUES (7)", Done),
    noted(
        "Narrowing from read-write to read leaves the read.",
        "carol",
        "REVOKE INSERT ON sales_wh.acdemo.inbox FROM ROLE \"analyst\"",
        Done,
    ),
    step("alice", "INSERT INTO sales_wh.acdemo.inbox VALUES (8)", Fails("42501")),
    step("alice", "SELECT id FROM sales_wh.acdemo.inbox", Rows(&["7"])),
    noted(
        "A grant wider than the object it names is refused.",
        "carol",
        "GRANT ALL ON sales_wh.acdemo.orders TO ROLE \"analyst\"",
        Fails("22023"),
    ),
    step("carol", "GRANT USAGE ON TABLE sales_wh.acdemo.orders TO ROLE \"analyst\"", Fails("22023")),
    step("carol", "GRANT CREATE SCHEMA ON SCHEMA sales_wh.acdemo TO ROLE \"analyst\"", Fails("22023")),
    noted(
        "All tables of a schema, those to come included.",
        "carol",
        "GRANT SELECT ON ALL TABLES IN SCHEMA sales_wh.acdemo TO ROLE \"analyst\"",
        Done,
    ),
    step("carol", "GRANT SELECT ON FUTURE TABLES IN SCHEMA sales_wh.acdemo TO ROLE \"analyst\"", Done),
    step("carol", "CREATE TABLE sales_wh.acdemo.later (id BIGINT)", Done),
    step("alice", "SELECT count(*) FROM sales_wh.acdemo.later", Rows(&["0"])),
    step("carol", "REVOKE SELECT ON ALL TABLES IN SCHEMA sales_wh.acdemo FROM ROLE \"analyst\"", Done),
    step("alice", "SELECT count(*) FROM sales_wh.acdemo.later", NotFound),
    noted(
        "A view is granted by itself, and is no way around its tables.",
        "carol",
        "CREATE OR REPLACE VIEW sales_wh.acdemo.orders_eu AS \
         SELECT id, region FROM sales_wh.acdemo.orders WHERE region = 'EU'",
        Done,
    ),
    step("carol", "GRANT SELECT ON VIEW sales_wh.acdemo.orders_eu TO ROLE \"analyst\"", Done),
    step(
        "carol",
        "SHOW GRANTS ON VIEW sales_wh.acdemo.orders_eu",
        Has(&[
            "view-properties-read|sales_wh.acdemo.orders_eu|ROLE|analyst|ALLOW",
            "view-list|sales_wh.acdemo.orders_eu|ROLE|analyst|ALLOW",
        ]),
    ),
    step(
        "carol",
        "SHOW GRANTS ON VIEW sales_wh.acdemo.orders_eu",
        HasNot(&["table-data-read|sales_wh.acdemo.orders_eu"]),
    ),
    step("alice", "SELECT id, region FROM sales_wh.acdemo.orders_eu ORDER BY id", Rows(&["1|EU", "3|EU"])),
    step("carol", "REVOKE SELECT ON sales_wh.acdemo.orders FROM ROLE \"analyst\"", Done),
    step("alice", "SELECT id, region FROM sales_wh.acdemo.orders_eu ORDER BY id", NotFound),
    step("carol", "GRANT SELECT ON sales_wh.acdemo.orders TO ROLE \"analyst\"", Done),
    noted("DENY beats every grant.", "carol", "GRANT ROLE analyst TO USER dave", Done),
    step("dave", "SELECT count(*) FROM sales_wh.acdemo.orders", Rows(&["3"])),
    step("carol", "DENY SELECT ON sales_wh.acdemo.orders TO USER dave", Done),
    step("carol", "DENY SELECT ON sales_wh.acdemo.orders TO USER dave", Done),
    step("dave", "SELECT count(*) FROM sales_wh.acdemo.orders", NotFound),
    step("alice", "DENY SELECT ON sales_wh.acdemo.orders TO USER dave", Fails("42501")),
    step("carol", "REVOKE SELECT ON sales_wh.acdemo.orders FROM USER dave", Done),
    step("dave", "SELECT count(*) FROM sales_wh.acdemo.orders", Rows(&["3"])),
    step("carol", "REVOKE ROLE analyst FROM USER dave", Done),
    step("dave", "SELECT count(*) FROM sales_wh.acdemo.orders", NotFound),
    noted(
        "Granting can be handed on, table by table.",
        "carol",
        "GRANT SELECT ON sales_wh.acdemo.orders TO USER dave WITH GRANT OPTION",
        Done,
    ),
    step("carol", "GRANT USAGE ON DATABASE sales_wh TO USER bob", Done),
    step("carol", "GRANT USAGE ON SCHEMA sales_wh.acdemo TO USER bob", Done),
    step("dave", "GRANT SELECT ON sales_wh.acdemo.orders TO USER bob", Done),
    step("alice", "GRANT SELECT ON sales_wh.acdemo.orders TO USER bob", Fails("42501")),
    noted(
        "Who holds what, and why.",
        "carol",
        "SHOW GRANTS ON sales_wh.acdemo.orders",
        Has(&[
            "table-data-read|sales_wh.acdemo.orders|ROLE|analyst|ALLOW",
            "table-data-read|sales_wh.acdemo.orders|USER|bob|ALLOW",
        ]),
    ),
    step("carol", "REVOKE SELECT ON sales_wh.acdemo.orders FROM USER bob", Done),
    step("carol", "REVOKE SELECT ON sales_wh.acdemo.orders FROM USER dave", Done),
    step(
        "carol",
        "CHECK ACCESS SELECT ON sales_wh.acdemo.orders FOR USER \"alice\"",
        Has(&["true|Allowed via ROLE 'analyst'"]),
    ),
    step("carol", "CHECK ACCESS SELECT ON sales_wh.acdemo.orders FOR USER \"dave\"", Has(&["false"])),
];

/// Part two: what flows out of the table.
pub const GATE_TWO: &[Step] = &[
    noted(
        "Gate two. A mask is per principal: bob is an engineer, alice is not.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_SHOW_LAST_4 TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step(
        "bob",
        "SELECT id, ssn FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1|xxx-xx-1111", "2|xxx-xx-2222", "3|xxx-xx-3333"]),
    ),
    step(
        "alice",
        "SELECT id, ssn FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1|111-11-1111", "2|222-22-2222", "3|333-33-3333"]),
    ),
    noted(
        "A predicate sees the masked value, so a mask cannot be peeled off with a filter.",
        "bob",
        "SELECT count(*) FROM sales_wh.acdemo.orders WHERE ssn = '111-11-1111'",
        Rows(&["0"]),
    ),
    step("bob", "SELECT count(*) FROM sales_wh.acdemo.orders WHERE ssn = 'xxx-xx-1111'", Rows(&["1"])),
    step("alice", "SELECT count(*) FROM sales_wh.acdemo.orders WHERE ssn = '111-11-1111'", Rows(&["1"])),
    step(
        "bob",
        "SELECT (SELECT max(ssn) FROM sales_wh.acdemo.orders) AS in_a_subquery, \
         count(*) FILTER (WHERE ssn LIKE '111%') AS in_a_filter FROM sales_wh.acdemo.orders",
        Rows(&["xxx-xx-3333|0"]),
    ),
    noted(
        "The whole vocabulary of masks.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_NULL TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step("bob", "SELECT ssn, count(*) OVER () FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["NULL|1"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_SHOW_FIRST_4 TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step("bob", "SELECT ssn FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["111-xx-xxxx"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step("bob", "SELECT ssn FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["nnn-nn-nnnn"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_HASH TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step("bob", "SELECT ssn FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["<hex64>"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_born ON TABLE sales_wh.acdemo.people \
         COLUMN MASK MASK_DATE_SHOW_YEAR TO ROLE engineer ON COLUMN born",
        Done,
    ),
    step("carol", "GRANT SELECT ON sales_wh.acdemo.people TO ROLE \"analyst\"", Done),
    step("bob", "SELECT born FROM sales_wh.acdemo.people", Rows(&["2021-01-01"])),
    step("alice", "SELECT born FROM sales_wh.acdemo.people", Rows(&["2021-05-04"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK CUSTOM TO ROLE engineer ON COLUMN ssn USING (concat('id-', right({col}, 4)))",
        Done,
    ),
    step("bob", "SELECT ssn FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["id-1111"])),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_NONE TO ROLE engineer ON COLUMN ssn",
        Done,
    ),
    step("bob", "SELECT ssn FROM sales_wh.acdemo.orders WHERE id = 1", Rows(&["111-11-1111"])),
    noted(
        "A mask that could not be built is refused where it is written.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK CUSTOM TO ROLE engineer ON COLUMN ssn",
        Fails("22023"),
    ),
    step("carol", "DROP POLICY acdemo_mask_ssn", Done),
    step("carol", "DROP POLICY acdemo_mask_born", Done),
    noted(
        "A row filter is ordinary SQL.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_rowfilter_eu ON TABLE sales_wh.acdemo.orders \
         ROW FILTER TO ROLE engineer USING (region = 'EU')",
        Done,
    ),
    step("bob", "SELECT id, region FROM sales_wh.acdemo.orders ORDER BY id", Rows(&["1|EU", "3|EU"])),
    step("bob", "SELECT count(*) FROM sales_wh.acdemo.orders WHERE region = 'US'", Rows(&["0"])),
    step(
        "alice",
        "SELECT id, region FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1|EU", "2|US", "3|EU"]),
    ),
    noted(
        "Row filters of several policies hold together.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_rowfilter_small ON TABLE sales_wh.acdemo.orders \
         ROW FILTER TO ROLE engineer USING (amount < 250)",
        Done,
    ),
    step("bob", "SELECT id, region FROM sales_wh.acdemo.orders ORDER BY id", Rows(&["1|EU"])),
    noted(
        "A filter on a column that a view leaves out holds through the view.",
        "bob",
        "SELECT id, region FROM sales_wh.acdemo.orders_eu ORDER BY id",
        Rows(&["1|EU"]),
    ),
    step("carol", "DROP POLICY acdemo_rowfilter_small", Done),
    noted(
        "A mask on the filtered column does not change which rows survive: filters read stored values.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_mask_region ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK TO ROLE engineer ON COLUMN region",
        Done,
    ),
    step("bob", "SELECT id, region FROM sales_wh.acdemo.orders ORDER BY id", Rows(&["1|XX", "3|XX"])),
    step("carol", "DROP POLICY acdemo_mask_region", Done),
    noted(
        "One policy serves many principals.",
        "carol",
        "CREATE OR REPLACE POLICY acdemo_rowfilter_eu ON TABLE sales_wh.acdemo.orders \
         ROW FILTER TO ROLE engineer USING (region = current_user() OR is_role_in_session('analyst'))",
        Done,
    ),
    step("bob", "SELECT count(*) FROM sales_wh.acdemo.orders", Rows(&["3"])),
    step("carol", "DROP POLICY acdemo_rowfilter_eu", Done),
    noted(
        "Gate one comes first: with no grant there is nothing to mask.",
        "dave",
        "SELECT ssn FROM sales_wh.acdemo.orders",
        NotFound,
    ),
];

/// One rule for a column wherever it appears; what bears no rule of its own is read as before.
pub const TAGS: &[Step] = &[
    noted(
        "Tags.",
        "carol",
        "ALTER TABLE sales_wh.acdemo.orders SET TAGS (ssn = ('PII'), region = ('GEO'))",
        Done,
    ),
    step("carol", "SHOW TAGS ON sales_wh.acdemo.orders", Rows(&["region|GEO", "ssn|PII"])),
    step("carol", "ALTER TABLE sales_wh.acdemo.orders UNSET TAGS (region)", Done),
    step("carol", "SHOW TAGS ON sales_wh.acdemo.orders", Rows(&["ssn|PII"])),
    step(
        "carol",
        "CALL system.reproject_column_tags(table => 'sales_wh.acdemo.orders')",
        Rows(&["sales_wh.acdemo.orders|projected|1|NULL"]),
    ),
    step(
        "carol",
        "CREATE OR REPLACE POLICY acdemo_tag_pii ON TAG PII COLUMN MASK MASK_SHOW_LAST_4 TO ROLE engineer",
        Done,
    ),
];

/// What the tutorial's page goes on with and this version does not do.
pub const NOT_YET: &[Step] = &[
    noted(
        "Functions as policies.",
        "carol",
        "CREATE FUNCTION sales_wh.acdemo.protect(s VARCHAR) RETURNS VARCHAR RETURN SELECT 'hidden'",
        NotYet,
    ),
    step(
        "carol",
        "ALTER TABLE sales_wh.acdemo.orders ADD ROW ACCESS POLICY sales_wh.acdemo.f(region)",
        NotYet,
    ),
    step(
        "carol",
        "ALTER TABLE sales_wh.acdemo.orders MODIFY COLUMN ssn SET MASKING POLICY sales_wh.acdemo.f(ssn)",
        NotYet,
    ),
    noted(
        "Reflections.",
        "carol",
        "ALTER TABLE sales_wh.acdemo.orders CREATE RAW REFLECTION r USING DISPLAY (id, region)",
        NotYet,
    ),
];

/// The page's example from end to end: an analyst who may read European orders without ever seeing an SSN.
pub const COMPLETE_EXAMPLE: &[Step] = &[
    noted(
        "The complete example. First back to nothing.",
        "carol",
        "REVOKE SELECT ON sales_wh.acdemo.orders FROM ROLE \"analyst\"",
        Done,
    ),
    step("carol", "REVOKE USAGE ON DATABASE sales_wh FROM ROLE \"analyst\"", Done),
    step("carol", "REVOKE USAGE ON SCHEMA sales_wh.acdemo FROM ROLE \"analyst\"", Done),
    step("alice", "SELECT id, region, ssn FROM sales_wh.acdemo.orders ORDER BY id", NotFound),
    noted(
        "Gate one: may they open it.",
        "carol",
        "GRANT USAGE ON DATABASE sales_wh TO ROLE \"analyst\"",
        Done,
    ),
    step("carol", "GRANT USAGE ON SCHEMA sales_wh.acdemo TO ROLE \"analyst\"", Done),
    step("carol", "GRANT SELECT ON sales_wh.acdemo.orders TO ROLE \"analyst\"", Done),
    noted(
        "Gate two: what they see.",
        "carol",
        "CREATE OR REPLACE POLICY analyst_eu ON TABLE sales_wh.acdemo.orders \
         ROW FILTER TO ROLE analyst USING (region = 'EU')",
        Done,
    ),
    step(
        "carol",
        "CREATE OR REPLACE POLICY analyst_ssn ON TABLE sales_wh.acdemo.orders \
         COLUMN MASK MASK_SHOW_LAST_4 TO ROLE analyst ON COLUMN ssn",
        Done,
    ),
    noted(
        "Verify gate one, then gate two by reading as alice.",
        "carol",
        "CHECK ACCESS SELECT ON sales_wh.acdemo.orders FOR USER \"alice\"",
        Has(&["true|Allowed via ROLE 'analyst'"]),
    ),
    step(
        "alice",
        "SELECT id, region, ssn FROM sales_wh.acdemo.orders ORDER BY id",
        Rows(&["1|EU|xxx-xx-1111", "3|EU|xxx-xx-3333"]),
    ),
];

/// TPC-H beside it, for queries of one's own.
pub const TPCH: &[Step] = &[
    noted(
        "TPC-H, governed like any other table.",
        "alice",
        "SELECT count(*) FROM sales_wh.tpch.nation",
        NotFound,
    ),
    step("carol", "GRANT SELECT ON ALL TABLES IN SCHEMA sales_wh.tpch TO ROLE \"analyst\"", Done),
    step(
        "alice",
        "SELECT r_name, count(*) FROM sales_wh.tpch.nation JOIN sales_wh.tpch.region ON n_regionkey = r_regionkey \
         GROUP BY r_name ORDER BY r_name",
        Rows(&["AFRICA|5", "AMERICA|5", "ASIA|5", "EUROPE|5", "MIDDLE EAST|5"]),
    ),
];

/// Every step, in the order in which they build on each other.
pub fn tutorial() -> impl Iterator<Item = &'static Step> {
    [TABLES, GATE_ONE, GATE_TWO, TAGS, NOT_YET, COMPLETE_EXAMPLE].into_iter().flatten()
}
