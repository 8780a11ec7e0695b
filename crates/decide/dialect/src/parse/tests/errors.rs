//! Where errors point, what they say, and what they never say.

use stdx::ErrorKind;

use super::parse;
use crate::limits::{BRACKET_DEPTH_MAX, CHAIN_LENGTH_MAX, SET_OPERATIONS_MAX, STATEMENT_BYTES_MAX};

/// The error of a text in which `¦` stands before the offending token.
fn check(marked: &str, expected: &str) {
    let position = marked.find('¦').unwrap();
    let text = marked.replace('¦', "");
    let error = parse(&text).expect_err(&text);
    assert_eq!((error.message.as_str(), error.position), (expected, position), "{text}");
}

#[test]
fn errors_point_at_the_token() {
    check("GRANT SELECT ON t ¦FOR u", "expected `TO`, found `FOR`");
    check("GRANT SELECT ON t¦", "expected `TO`, found end of statement");
    check("GRANT ¦ON t TO u", "expected a privilege, found `ON`");
    check("GRANT SELECT ¦TO bob", "expected `ON`, found `TO`");
    check("REVOKE SELECT ON t ¦TO u", "expected `FROM`, found `TO`");
    check("GRANT SELECT ON t TO ROLE ¦'analyst'", "expected a role name, found a string");
    check(
        "GRANT SELECT ON t TO u ¦CASCADE",
        "expected `,`, `WITH GRANT OPTION`, `WITHOUT DISCOVERY` or `VALID`, found `CASCADE`",
    );
    check("GRANT SELECT ON t TO u WITH GRANT OPTION ¦WITH GRANT OPTION", "`WITH GRANT OPTION` stands twice");
    check("GRANT SELECT ON t TO u VALID ¦'x'", "expected `FROM` or `UNTIL`, found a string");
    check("GRANT SELECT ON t.¦, u TO x", "expected a name after `.`, found `,`");
    check("REVOKE SELECT ON t FROM u ¦CASCADE", "expected `,` or end of statement, found `CASCADE`");
    check("CREATE POLICY p ON ¦t ROW FILTER TO u USING (a)", "expected `TABLE`, `VIEW` or `TAG`, found `t`");
    check("CREATE POLICY p ON TABLE t ROW FILTER TO u¦", "expected `USING`, found end of statement");
    check(
        "CREATE POLICY p ON TABLE t ROW FILTER TO u ¦ON COLUMN c USING (a)",
        "a row filter has no `ON COLUMN`",
    );
    check(
        "CREATE POLICY p ON TABLE t ¦FILTER TO u",
        "expected `COLUMN MASK` or `ROW FILTER`, found `FILTER`",
    );
    check(
        "CREATE OR REPLACE POLICY ¦IF NOT EXISTS p ON TABLE t ROW FILTER TO u USING (a)",
        "`OR REPLACE` and `IF NOT EXISTS` exclude each other",
    );
    check("CREATE ¦OR REPLACE ROLE r", "`OR REPLACE` is for policies and functions");
    check(
        "ALTER POLICY p ¦DROP",
        "expected `ENABLE`, `DISABLE`, `RENAME TO`, `SET`, `FORGET NAME` or `REBIND`, found `DROP`",
    );
    check("ALTER TABLE t ADD ROW ACCESS POLICY f(¦)", "expected a column name, found `)`");
    check("ALTER TABLE t ADD ROW ACCESS POLICY f¦", "expected `(`, found end of statement");
    check("ALTER TABLE t MODIFY COLUMN c SET TAG a ¦= 'v'", "expected end of statement, found `=`");
    check("ROLLBACK POLICY p TO VERSION ¦x", "expected the number of a version, found `x`");
    check("CHECK ACCESS SELECT ON t FOR ¦ROLE r", "expected `USER`, found `ROLE`");
    check("SHOW GRANTS ¦FOR u", "expected `ON` or `TO`, found `FOR`");
    check(
        "CREATE FUNCTION f(a INT) RETURNS INT RETURN a +¦",
        "expected an expression, found end of statement",
    );
    check("CREATE FUNCTION f(a INT ¦DEFAULT 1) RETURNS INT RETURN a", "a parameter has no `DEFAULT`");
    check("GRANT SELECT ON t TO u; ¦SELECT 1", "expected end of statement, found `SELECT`");
    check("¦", "statement is empty");
}

#[test]
fn errors_in_an_expression_point_into_the_statement() {
    check(
        "CREATE POLICY p ON TABLE größe ROW FILTER TO u\n USING (a =\n 'ä' AND ¦) COMMENT 'x'",
        "expected an expression, found `)`",
    );
    check("CREATE POLICY p ON TABLE t ROW FILTER TO u USING (a ¦b)", "expected end of expression, found `b`");
    check("CREATE POLICY p ON TABLE t ROW FILTER TO u USING (¦)", "expected an expression, found `)`");
    check("CREATE POLICY p ON TABLE t ROW FILTER TO u USING (a = 1¦", "expected `)`, found end of statement");
}

#[test]
fn the_column_placeholder_is_for_masks() {
    let filter = "CREATE POLICY p ON TABLE t ROW FILTER TO u USING ({col} = 1)";
    assert!(parse(filter).is_err());
    assert!(parse("CREATE POLICY p ON TABLE t COLUMN MASK CUSTOM TO u ON COLUMN c USING ({COL})").is_err());
}

#[test]
fn errors_of_sqlparser_point_at_bytes() {
    check("SELECT 'größe',\n  ä FROM t WHERE ¦)", "expected an expression, found `)`");
    check("¦SELEC a", "expected an SQL statement, found `SELEC`");
    check("SELECT a FROM t LIMIT¦", "expected an expression, found end of statement");
}

#[test]
fn what_is_not_closed_is_shown_where_it_opens() {
    check("SELECT a FROM t WHERE b = ¦'secret", "string is not closed");
    check("SELECT ¦\"a FROM t", "quoted name is not closed");
    check("SELECT 1 ¦/* x", "comment is not closed");
    check("SELECT ¦$a$ x", "string is not closed");
}

#[test]
fn a_name_without_a_kind_is_refused_where_it_could_mean_two_things() {
    check("GRANT SELECT ON t TO ROLE a, ¦b", "name without a kind after `ROLE`");
    check("GRANT USAGE ON SCHEMA a, ¦b TO u", "name without a kind after `SCHEMA`");
    assert!(parse("GRANT SELECT ON TABLE a, b TO USER a, b").is_ok());
}

#[test]
fn no_error_repeats_a_literal() {
    for text in [
        "CREATE USER u PASSWORD 'hunter2' 'hunter2'",
        "CREATE USER u PASSWORD hunter2",
        "CREATE USER u PASSWORD \"hunter2\"",
        "CREATE USER u 'hunter2'",
        "CREATE USER u hunter2",
        "CREATE USER u IDENTIFIED BY 'hunter2'",
        "CREATE USER u PASSWORD 'hunter2",
        "ALTER USER u PASSWORD 'hunter2' x",
        "ALTER USER u 'hunter2'",
        "ALTER ROLE u PASSWORD 'hunter2' 'hunter2'",
        "SELECT 'hunter2' 'hunter2' 'hunter2'",
        "SELECT CAST('hunter2' AS 'hunter2')",
        "SELECT a FROM 'hunter2' WHERE LIMIT 'hunter2'",
        "GRANT SELECT ON 'hunter2' TO u",
        "SHOW FUNCTIONS 'hunter2'",
        "COPY t FROM 'hunter2' 'hunter2'",
    ] {
        if let Err(error) = parse(text) {
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{text}: {error:?}");
        }
    }
}

fn check_limit(text: &str) {
    let error = parse(text).expect_err("within the limits");
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn every_limit_has_an_error() {
    check_limit(&format!("SELECT '{}'", "x".repeat(STATEMENT_BYTES_MAX)));
    check_limit(&format!(
        "SELECT {}1{}",
        "(".repeat(BRACKET_DEPTH_MAX + 1),
        ")".repeat(BRACKET_DEPTH_MAX + 1)
    ));
    check_limit(&format!("SELECT {}1{}", "(".repeat(150), ")".repeat(150)));
    check_limit(&format!("SELECT {}1{}", "f(".repeat(150), ")".repeat(150)));
    assert!(parse(&format!("SELECT {}a", "NOT ".repeat(500))).is_err());
    assert!(parse(&format!("SELECT {}a", "- ".repeat(500))).is_err());
    check_limit(&format!("{} SELECT 1", "EXPLAIN ".repeat(500)));
    check_limit(&format!("{}t", "DESC ".repeat(500)));
    check_limit(&format!("{}SELECT 1", "PREPARE a AS ".repeat(500)));
    check_limit(&format!("{}SELECT 1", "PREPARE a AS ".repeat(40)));
    check_limit(&format!("SELECT 1 FROM t {}t{}", "JOIN (t ".repeat(60), ") ON a".repeat(60)));
    check_limit(&format!("CREATE TABLE t (a {}INT{})", "MAP(INT, ".repeat(201), ")".repeat(201)));
    assert!(parse(&format!("SELECT 1 FROM {}t{}", "(".repeat(199), ")".repeat(199))).is_err());
    assert!(parse(&format!("CREATE TABLE t (a {}INT{})", "MAP(INT, ".repeat(190), ")".repeat(190))).is_ok());
    let _ = parse(&format!("SELECT {}1", "INTERVAL ".repeat(500)));
    check_limit(&format!("SELECT 1{}", " + 1".repeat(CHAIN_LENGTH_MAX + 1)));
    check_limit(&format!("SELECT 1{}", "::int".repeat(CHAIN_LENGTH_MAX + 1)));
    check_limit(&format!("SELECT 1, 2{}", " UNION SELECT 1, 2".repeat(SET_OPERATIONS_MAX + 1)));
    check_limit(&format!("SELECT CAST(a AS {}INT{})", "ARRAY<".repeat(100), ">".repeat(100)));
    check_limit(&format!(
        "CREATE FUNCTION f(a {}INT{}) RETURNS INT RETURN 1",
        "LIST<".repeat(100),
        ">".repeat(100)
    ));
}

#[test]
fn what_is_just_within_the_limits_parses_copies_and_drops() {
    let n = CHAIN_LENGTH_MAX;
    for text in [
        format!("SELECT 1{}", " + 1".repeat(n)),
        format!("SELECT 1{}", "::int".repeat(n)),
        format!("SELECT 1{}", " IS NULL".repeat(n)),
        format!("SELECT CAST(1 AS INT{})", "[]".repeat(n)),
        format!("SELECT a FROM t WHERE {}b", "a = 1 + 1 AND b OR ".repeat(n - 3)),
        format!("SELECT CASE {}END", "WHEN a = 1 AND b < 2 AND c < 3 THEN d + 1 ".repeat(4 * n)),
        format!("SELECT 1, 2{}", " UNION SELECT 1, 2".repeat(SET_OPERATIONS_MAX)),
        format!("SELECT a FROM t WHERE a IN (1{})", ", 1".repeat(100_000)),
        format!("INSERT INTO t VALUES (1 + 1){}", ", (-1 + 2)".repeat(10_000)),
        format!("SELECT {}1{}", "f(".repeat(40), ")".repeat(40)),
        format!("SELECT {}1{}", "(SELECT ".repeat(20), ")".repeat(20)),
        format!("SELECT 1 FROM {}t{}", "(".repeat(40), ")".repeat(40)),
        format!("SELECT 1 FROM t {}t{}", "JOIN (t ".repeat(40), ") ON a".repeat(40)),
        format!("{}SELECT 1", "PREPARE a AS ".repeat(3)),
        format!("SELECT CAST(a AS {}INT{})", "ARRAY<".repeat(30), ">".repeat(30)),
    ] {
        let statement = parse(&text).unwrap_or_else(|error| panic!("{error}: {:.60}", text));
        assert_eq!(statement.clone(), statement);
    }
}
