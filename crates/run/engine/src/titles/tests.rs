//! What a select list is called, and that each of its items is planned under a name of its own.

use super::*;

/// The names that a client sees, and what the list is planned as.
fn check(sql: &str, names: &str) {
    let dialect::ast::Statement::Sql(mut statement) = dialect::parse(sql).unwrap() else { panic!("{sql}") };
    give(&mut statement);
    let ast::Statement::Query(query) = *statement else { panic!("{sql}") };
    let SetExpr::Select(select) = *query.body else { panic!("{sql}") };
    let planned: Vec<String> = select
        .projection
        .iter()
        .map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => alias.value.clone(),
            other => other.to_string(),
        })
        .collect();
    let unique: BTreeSet<&String> = planned.iter().collect();
    assert_eq!(unique.len(), planned.len(), "{sql}: {planned:?}");
    let seen: Vec<&str> = planned.iter().map(|name| shown(name)).collect();
    assert_eq!(seen.join("|"), names, "{sql}");
}

#[test]
fn what_has_no_name_is_called_as_in_postgresql() {
    check("SELECT 1", "?column?");
    check("SELECT 1, 1, 'a', NULL", "?column?|?column?|?column?|?column?");
    check("SELECT true, DATE '2024-01-01', INTERVAL '1 day'", "bool|date|interval");
    check("SELECT count(*), pg_catalog.max(a), a + 1, -a", "count|max|?column?|?column?");
    check("SELECT a::int, '1'::bigint, now()::date, CAST(1 AS DOUBLE PRECISION)", "a|int8|now|float8");
    check("SELECT CASE WHEN a THEN 1 END, CASE WHEN a THEN 1 ELSE b END", "case|b");
    check("SELECT EXISTS (SELECT 1), (SELECT max(x) FROM t), ARRAY[1], (a)", "exists|max|array|a");
    check("SELECT extract(year FROM a), trim(a), coalesce(a, b)", "extract|btrim|coalesce");
}

#[test]
fn one_name_can_stand_in_a_list_as_often_as_one_likes() {
    check("SELECT a, a, A, \"A\" FROM t", "a|a|a|\"A\"");
    check("SELECT a AS b, c AS b, b FROM t", "b|b|b");
    check("SELECT count(*), count(*) AS count FROM t", "count|count");
}

#[test]
fn columns_of_two_tables_keep_their_names() {
    check("SELECT t.a, u.a FROM t, u", "t.a|u.a");
    check("SELECT t.a, t.a FROM t", "t.a|a");
}

#[test]
fn a_mark_is_in_no_message() {
    assert_eq!(unmarked("no such column `count\u{FDD0}12`, or a"), "no such column `count`, or a");
    assert_eq!(unmarked("plain"), "plain");
}
