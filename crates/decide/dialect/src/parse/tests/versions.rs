//! Tables as they were, in every spelling.

use sqlparser::ast::Statement;

use super::sql;
use crate::ast::{Governance, RefAction, RefKind, RefVersion};

/// The statement prints in a spelling that reads as the same again.
fn check(statement: &str, printed: &str) {
    let parsed = sql(statement);
    assert_eq!(parsed.to_string(), printed, "{statement}");
    assert_eq!(sql(printed), parsed, "{printed}");
}

#[test]
fn versions_are_numbers_or_names() {
    check("select * from g.t FOR VERSION AS OF 12 x", "SELECT * FROM (g.t VERSION AS OF 12) x");
    check("SELECT * FROM t FOR SYSTEM_VERSION AS OF 'b' AS x", "SELECT * FROM (t VERSION AS OF 'b') AS x");
    check("SELECT * FROM t VERSION AS OF 'b'", "SELECT * FROM t VERSION AS OF 'b'");
    check(
        "SELECT * FROM t AT BRANCH Main JOIN u ON true",
        "SELECT * FROM t VERSION AS OF 'main' JOIN u ON true",
    );
    check("SELECT * FROM t AT TAG \"One\"", "SELECT * FROM t VERSION AS OF 'One'");
    check("SELECT * FROM t AT SNAPSHOT '12'", "SELECT * FROM t VERSION AS OF 12");
    check("SELECT * FROM t FOR VERSION AS OF 'it''s'", "SELECT * FROM t VERSION AS OF 'it''s'");
}

#[test]
fn times_are_expressions() {
    let printed = "SELECT * FROM (t FOR SYSTEM_TIME AS OF now() - INTERVAL '1 day') x";
    check("SELECT * FROM t FOR TIMESTAMP AS OF now() - INTERVAL '1 day' x", printed);
    check(
        "SELECT * FROM t AT TIMESTAMP '2020-01-01'",
        "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01'",
    );
    check("SELECT * FROM t TIMESTAMP AS OF '2020-01-01'", "SELECT * FROM t TIMESTAMP AS OF '2020-01-01'");
}

#[test]
fn increments_are_changes_between_snapshots() {
    let printed =
        "SELECT * FROM (t CHANGES(INFORMATION => APPEND_ONLY) AT(SNAPSHOT => 1) END(SNAPSHOT => 2)) x";
    check("SELECT * FROM t FOR INCREMENTAL BETWEEN SNAPSHOT 1 AND 2 x", printed);
}

#[test]
fn words_of_the_clauses_are_still_names() {
    check("SELECT at.x FROM t at", "SELECT \"at\".x FROM t \"at\"");
    check("SELECT changes, before FROM t AS Changes", "SELECT \"changes\", \"before\" FROM t AS \"changes\"");
    check("SELECT x AT TIME ZONE 'UTC' FROM t", "SELECT x AT TIME ZONE 'UTC' FROM t");
    check("SELECT version, timestamp FROM t version", "SELECT version, timestamp FROM t version");
    assert!(matches!(sql("ALTER TABLE t DROP tag"), Statement::AlterTable(_)));
}

#[test]
fn branches_and_tags_are_made_and_dropped() {
    let parse = |text: &str| match crate::parse(text) {
        Ok(crate::ast::Statement::TableRef(change)) => change,
        other => panic!("{text}: {other:?}"),
    };
    let tag = parse("ALTER TABLE a.t CREATE OR REPLACE TAG one AS OF VERSION 5");
    assert_eq!((tag.kind, tag.name.value.as_str()), (RefKind::Tag, "one"));
    let version = Some(RefVersion::Snapshot(5));
    assert_eq!(tag.action, RefAction::Create { or_replace: true, if_not_exists: false, version });
    let branch = parse("alter table t create branch if not exists b as of version 'one';");
    let version = Some(RefVersion::Name("one".to_owned()));
    assert_eq!(branch.action, RefAction::Create { or_replace: false, if_not_exists: true, version });
    assert_eq!(parse("ALTER TABLE t DROP BRANCH IF EXISTS b").action, RefAction::Drop { if_exists: true });
}

#[test]
fn tables_and_views_get_other_names() {
    let parse = |text: &str| match crate::parse(text) {
        Ok(crate::ast::Statement::Rename(rename)) => rename,
        other => panic!("{text}: {other:?}"),
    };
    let rename = parse("ALTER TABLE IF EXISTS A.t RENAME TO b.\"U\";");
    assert_eq!((rename.is_view, rename.if_exists), (false, true));
    assert_eq!((rename.from.to_string().as_str(), rename.to.to_string().as_str()), ("a.t", "b.U"));
    assert!(parse("alter view v rename to w").is_view);
    assert_eq!(parse("ALTER TABLE policy RENAME TO role").to.to_string(), "role");
    assert!(matches!(sql("ALTER TABLE t RENAME COLUMN a TO b"), Statement::AlterTable(_)));
    let error = crate::parse("ALTER VIEW v RENAME TO w x").unwrap_err();
    assert_eq!(error.position, 25, "{error:?}");
}

#[test]
fn questions_keep_their_query_as_it_is_written() {
    let parse = |text: &str| match crate::parse(text) {
        Ok(crate::ast::Statement::Governance(asked)) => asked,
        other => panic!("{text}: {other:?}"),
    };
    let explained = |text: &str| match parse(text) {
        Governance::ExplainPolicy { query, user } => (query.text, user.map(|user| user.value)),
        other => panic!("{text}: {other:?}"),
    };
    let own = ("SELECT a  FROM t".to_owned(), None);
    assert_eq!(explained("EXPLAIN POLICY SELECT a  FROM t ;"), own);
    assert_eq!(explained("EXPLAIN POLICY SELECT a  FROM t FOR USER Ana"), (own.0, Some("ana".to_owned())));
    let Governance::Simulate { user, roles, bundle, query } = parse(
        "SIMULATE AS USER u ROLES () WITH POLICIES 'x;' WITH policies AS (SELECT 1) SELECT * FROM policies",
    ) else {
        panic!("not a simulation")
    };
    assert_eq!((user.unwrap().value.as_str(), roles, bundle.as_deref()), ("u", Some(Vec::new()), Some("x;")));
    assert_eq!(query.text, "WITH policies AS (SELECT 1) SELECT * FROM policies");
    let Governance::Simulate { bundle: None, query, .. } =
        parse("SIMULATE WITH policies (a) AS (SELECT 1) TABLE policies")
    else {
        panic!("a bundle where there is none")
    };
    assert_eq!(query.span.start, 9);
    assert!(crate::parse("SIMULATE AS USER u").is_err());
}
