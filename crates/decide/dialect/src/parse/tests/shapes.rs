//! What the statements say, part by part.

use super::governance;
use crate::ast::{
    AlterPolicyAction, FunctionBody, FunctionReturns, Governance, GrantObject, Grantee, Ident, PolicyBody,
    PolicyTarget,
};

fn values(idents: &[Ident]) -> Vec<&str> {
    idents.iter().map(|ident| ident.value.as_str()).collect()
}

fn shown(grantees: &[Grantee]) -> Vec<String> {
    let shown = grantees.iter().map(|grantee| match grantee {
        Grantee::User(name) => format!("user {}", name.value),
        Grantee::Role(name) => format!("role {}", name.value),
        Grantee::Group(name) => format!("group {}", name.value),
        Grantee::Public => "public".to_owned(),
    });
    shown.collect()
}

fn grantees_of(clause: &str) -> Vec<String> {
    let Governance::Deny(deny) = governance(&format!("DENY SELECT ON t TO {clause}")) else {
        panic!("{clause}")
    };
    shown(&deny.grantees)
}

fn object_of(clause: &str) -> String {
    let Governance::ShowGrantsOn { object } = governance(&format!("SHOW GRANTS ON {clause}")) else {
        panic!("{clause}")
    };
    match object {
        GrantObject::Table(name) => format!("table {name}"),
        GrantObject::View(name) => format!("view {name}"),
        GrantObject::Schema(name) => format!("schema {name}"),
        GrantObject::Catalog(name) => format!("catalog {name}"),
        GrantObject::Function(name) => format!("function {name}"),
        GrantObject::AllTables { schema } => format!("all tables {schema}"),
        GrantObject::AllViews { schema } => format!("all views {schema}"),
        GrantObject::FutureTables { schema } => format!("future tables {schema}"),
        GrantObject::FutureViews { schema } => format!("future views {schema}"),
        GrantObject::AllDatasets { schema } => format!("all datasets {schema}"),
    }
}

#[test]
fn a_grant_keeps_every_part_of_every_list() {
    let text = "GRANT select, Insert (a, \"B\"), create  table ON t1, TABLE t2, VIEW v TO ROLE a, USER B, PUBLIC \
                WITHOUT DISCOVERY VALID FROM '2026' UNTIL '2027' WITH GRANT OPTION";
    let Governance::Grant(grant) = governance(text) else { panic!() };
    let names: Vec<&str> = grant.privileges.iter().map(|privilege| privilege.name.as_str()).collect();
    assert_eq!(names, ["SELECT", "INSERT", "CREATE TABLE"]);
    assert_eq!(values(&grant.privileges[1].columns), ["a", "B"]);
    assert_eq!(grant.objects.len(), 3);
    assert_eq!(shown(&grant.grantees), ["role a", "user b", "public"]);
    assert!(grant.with_grant_option && grant.without_discovery);
    let validity = grant.validity.unwrap();
    assert_eq!((validity.from.as_deref(), validity.until.as_deref()), (Some("2026"), Some("2027")));
    let span = grant.privileges[1].span;
    assert_eq!(&text[span.start..span.end], "Insert (a, \"B\")");
}

#[test]
fn a_bare_grantee_is_a_user() {
    assert_eq!(
        grantees_of("a, USER b, ROLE c, GROUP d, DATABASE ROLE e, PUBLIC"),
        ["user a", "user b", "role c", "group d", "role e", "public"]
    );
}

#[test]
fn everyone_is_one_under_all_names() {
    assert_eq!(grantees_of("public, ROLE PUBLIC, GROUP public"), ["public", "public", "public"]);
    assert_eq!(grantees_of("\"public\", ROLE \"public\""), ["user public", "role public"]);
}

#[test]
fn keywords_are_names_where_nothing_else_fits() {
    assert_eq!(grantees_of("role"), ["user role"]);
    assert_eq!(grantees_of("USER role, ROLE user"), ["user role", "role user"]);
    assert_eq!(object_of("policy"), "table policy");
    assert_eq!(object_of("view"), "table view");
    assert_eq!(object_of("schema.table"), "table schema.table");
    assert_eq!(object_of("TABLE table"), "table table");
    assert_eq!(object_of("\"select\".\"FROM\""), "table select.FROM");
}

#[test]
fn objects_of_every_kind_are_told_apart() {
    for (clause, expected) in [
        ("A.B.C.D", "table a.b.c.d"),
        ("VIEW v", "view v"),
        ("SCHEMA \"S\"", "schema S"),
        ("DATABASE c", "catalog c"),
        ("CATALOG c", "catalog c"),
        ("FUNCTION a.f", "function a.f"),
        ("ALL TABLES IN SCHEMA a.b", "all tables a.b"),
        ("ALL VIEWS IN SCHEMA s", "all views s"),
        ("FUTURE TABLES IN SCHEMA s", "future tables s"),
        ("FUTURE VIEWS IN SCHEMA s", "future views s"),
        ("ALL DATASETS IN SCHEMA s", "all datasets s"),
    ] {
        assert_eq!(object_of(clause), expected);
    }
}

#[test]
fn quotes_keep_case_and_doubled_quotes_are_one() {
    assert_eq!(object_of("\"A\"\"b\".Cd"), "table A\"b.cd");
    assert_eq!(grantees_of("ROLE \"Größe\", ROLE GRÖSSE"), ["role Größe", "role grösse"]);
}

#[test]
fn a_policy_keeps_its_clauses_in_any_order() {
    let text = "CREATE POLICY IF NOT EXISTS P ON VIEW a.v COLUMN MASK custom TO PUBLIC, ROLE x COMMENT 'it''s' \
                WITH PRIORITY OVERRIDE USING ( /* y */ concat({col}, '{col}') -- z\n ) ON COLUMN c, D \
                EXCEPT GROUP g VALID UNTIL '2027'";
    let Governance::CreatePolicy(policy) = governance(text) else { panic!() };
    assert!(policy.if_not_exists && !policy.or_replace && policy.is_override);
    assert_eq!(policy.name.value, "p");
    assert!(matches!(&policy.target, PolicyTarget::View(name) if name.to_string() == "a.v"));
    assert_eq!(shown(&policy.grantees), ["public", "role x"]);
    assert_eq!(shown(&policy.except), ["group g"]);
    assert_eq!(policy.comment.as_deref(), Some("it's"));
    assert_eq!(policy.validity.unwrap().until.as_deref(), Some("2027"));
    let PolicyBody::ColumnMask { mask_type, columns, using, .. } = policy.body else { panic!() };
    assert_eq!(mask_type, "CUSTOM");
    assert_eq!(values(&columns), ["c", "d"]);
    let using = using.unwrap();
    assert_eq!(using.text, "concat({col}, '{col}')");
    assert_eq!(&text[using.span.start..using.span.end], using.text);
}

#[test]
fn a_mask_type_keeps_the_prefix_of_its_component() {
    for (written, expected) in [
        ("mask_null", "MASK_NULL"),
        ("hive:mask_null", "hive:MASK_NULL"),
        ("\"hive:MASK\"", "hive:MASK"),
        ("trino : MASK_NULL", "trino:MASK_NULL"),
    ] {
        let text = format!("CREATE POLICY p ON TAG t COLUMN MASK {written} TO u");
        let Governance::CreatePolicy(policy) = governance(&text) else { panic!() };
        let PolicyBody::ColumnMask { mask_type, .. } = policy.body else { panic!() };
        assert_eq!(mask_type, expected);
    }
}

#[test]
fn tags_keep_their_case() {
    let Governance::CreatePolicy(policy) = governance("CREATE POLICY p ON TAG PII COLUMN MASK MASK TO u")
    else {
        panic!()
    };
    assert!(matches!(policy.target, PolicyTarget::Tag(tag) if tag.value == "PII"));
    let Governance::SetTags { tags, .. } = governance("ALTER TABLE t SET TAGS (Ssn = ('PII', Geo), r = 'X')")
    else {
        panic!()
    };
    let tags: Vec<_> = tags.iter().map(|(column, tags)| (column.value.as_str(), values(tags))).collect();
    assert_eq!(tags, [("ssn", vec!["PII", "Geo"]), ("r", vec!["X"])]);
}

#[test]
fn a_masking_policy_without_a_column_is_for_its_first_argument() {
    let Governance::SetMaskingPolicy { object, column, call } =
        governance("ALTER VIEW e.v SET MASKING POLICY g.protect (ssn_col, region)")
    else {
        panic!()
    };
    assert_eq!((object.to_string(), column.value.as_str()), ("e.v".to_owned(), "ssn_col"));
    assert_eq!(
        (call.function.to_string(), values(&call.columns)),
        ("g.protect".to_owned(), vec!["ssn_col", "region"])
    );
}

#[test]
fn passwords_are_secrets() {
    let user = governance("CREATE USER u PASSWORD 'hunter''2'");
    let Governance::CreateUser { password: Some(password), .. } = &user else { panic!() };
    assert_eq!(password.reveal(), "hunter'2");
    assert!(!format!("{user:?}").contains("hunter"));
}

#[test]
fn alter_policy_reads_its_actions() {
    let action = |clause: &str| match governance(&format!("ALTER POLICY p {clause}")) {
        Governance::AlterPolicy { action, .. } => action,
        other => panic!("{other:?}"),
    };
    assert_eq!(action("SET PRIORITY OVERRIDE"), AlterPolicyAction::SetPriority { is_override: true });
    assert_eq!(action("SET COMMENT 'x'"), AlterPolicyAction::SetComment("x".to_owned()));
    assert!(matches!(action("SET USING (a > 1)"), AlterPolicyAction::SetUsing(expr) if expr.text == "a > 1"));
    assert!(matches!(action("RENAME TO Q"), AlterPolicyAction::RenameTo(name) if name.value == "q"));
    assert!(
        matches!(action("FORGET NAME a.b"), AlterPolicyAction::ForgetName(name) if name.to_string() == "a.b")
    );
}

#[test]
fn a_function_is_taken_apart() {
    let text = "CREATE OR REPLACE FUNCTION S.f (a LIST<INT>, B DECIMAL(18, 2) NOT NULL) RETURNS BOOLEAN \
                RETURN /* x */ a[1] > b -- y";
    let Governance::CreateFunction { text: whole, definition, .. } = governance(text) else { panic!() };
    assert!(whole.ends_with("a[1] > b") && definition.or_replace);
    assert_eq!(definition.name.to_string(), "s.f");
    let types: Vec<String> =
        definition.parameters.iter().map(|parameter| parameter.data_type.to_string()).collect();
    assert_eq!(types, ["ARRAY<INT>", "DECIMAL(18,2)"]);
    assert!(definition.parameters[1].is_not_null);
    assert!(matches!(&definition.returns, FunctionReturns::Scalar { is_not_null: false, .. }));
    assert!(matches!(&definition.body, FunctionBody::Expression(body) if body.text == "a[1] > b"));
}

#[test]
fn inline_policies_are_taken_out_of_the_statement_and_kept() {
    let text = "CREATE TABLE t (a INT MASKING POLICY f(a, b), b LIST<INT>, ROW ACCESS POLICY g(b)) \
                ROW ACCESS POLICY h(a) AS SELECT 1";
    let Governance::InlinePolicies { span, statement, policies } = governance(text) else { panic!() };
    assert_eq!(statement.to_string(), "CREATE TABLE t (a INT, b ARRAY<INT>) AS SELECT 1");
    assert!(text[span.start..].starts_with("MASKING"));
    let [(column, call)] = policies.masks.as_slice() else { panic!("{:?}", policies.masks) };
    assert_eq!((column.value.as_str(), values(&call.columns)), ("a", vec!["a", "b"]));
    let functions: Vec<String> = policies.row_access.iter().map(|call| call.function.to_string()).collect();
    assert_eq!(functions, ["g", "h"]);
}

#[test]
fn the_types_of_a_views_columns_are_kept_apart() {
    let text = "CREATE VIEW v (a VARCHAR MASKING POLICY f(a), b LIST<INT>, c) AS SELECT 1, 2, 3";
    let Governance::InlinePolicies { statement, policies, .. } = governance(text) else { panic!() };
    assert_eq!(statement.to_string(), "CREATE VIEW v (a, b, c) AS SELECT 1, 2, 3");
    let types: Vec<String> =
        policies.view_column_types.iter().map(|(column, kind)| format!("{} {kind}", column.value)).collect();
    assert_eq!(types, ["a VARCHAR", "b ARRAY<INT>"]);
}

#[test]
fn row_access_policies_leave_no_empty_list_behind() {
    for (text, expected) in [
        ("CREATE TABLE t (ROW ACCESS POLICY g(a)) AS SELECT 1 AS a", "CREATE TABLE t AS SELECT 1 AS a"),
        ("CREATE TABLE t (ROW ACCESS POLICY g(a), a INT)", "CREATE TABLE t (a INT)"),
        ("CREATE TABLE t (a INT, ROW ACCESS POLICY g(a), b INT)", "CREATE TABLE t (a INT, b INT)"),
    ] {
        let Governance::InlinePolicies { statement, .. } = governance(text) else { panic!("{text}") };
        assert_eq!(statement.to_string(), expected);
    }
}

#[test]
fn arguments_of_a_call_are_read() {
    let text = "CALL system.f(table => 'a.b', depth := -3, TRUE, \"N\" => $$x$$)";
    let Governance::Call { name, arguments } = governance(text) else { panic!() };
    assert_eq!(name.to_string(), "system.f");
    let arguments: Vec<_> = arguments
        .iter()
        .map(|(name, value)| (name.as_ref().map(|name| name.value.as_str()), value.as_str()))
        .collect();
    assert_eq!(arguments, [(Some("table"), "a.b"), (Some("depth"), "-3"), (None, "true"), (Some("N"), "x")]);
}
