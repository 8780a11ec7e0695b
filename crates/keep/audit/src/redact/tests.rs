//! No literal survives, and the shape of the statement does.

use crate::{Redacted, STATEMENT_BYTES_MAX};

fn check(sql: &str, expected: &str) {
    assert_eq!(Redacted::statement(sql).as_str(), expected);
}

#[test]
fn strings_of_every_kind_are_taken_out() {
    check("SELECT * FROM t WHERE a = 'secret'", "SELECT * FROM t WHERE a = ?");
    check("CREATE USER u PASSWORD 'it''s'", "CREATE USER u PASSWORD ?");
    check(r"SELECT E'it\'s', 'x'", "SELECT E?, ?");
    check(r"SELECT 'it\', 'x'", "SELECT ?, ?");
    check("SELECT X'1F', U&'a', DATE '2026-01-01'", "SELECT X?, U&?, DATE ?");
    check("SELECT $$secret 'x'$$, $a$ $b$ $$ $a$", "SELECT ?, ?");
    check("SELECT 'with -- no comment' -- 'comment'", "SELECT ?");
}

#[test]
fn numbers_are_taken_out_and_names_with_digits_stay() {
    check("SELECT 1, 1.5, .5, 2e-3, 0x1F, 1_000 FROM t1", "SELECT ?, ?, ?, ?, ?, ? FROM t1");
    check("SELECT a-1, a+2, t2.c3 FROM s.t2", "SELECT a-?, a+?, t2.c3 FROM s.t2");
    check("SELECT -5", "SELECT -?");
}

#[test]
fn names_and_parameters_stay() {
    check(r#"SELECT "a'b", `c d`, $1 FROM "x""y""#, r#"SELECT "a'b", `c d`, $1 FROM "x""y""#);
    check("SELECT größe FROM t", "SELECT größe FROM t");
}

#[test]
fn comments_are_taken_out() {
    check("SELECT a -- pin 1234\nFROM t", "SELECT a \nFROM t");
    check("SELECT /* 'x' /* nested */ 'y' */ a", "SELECT  a");
}

#[test]
fn what_does_not_end_is_taken_out_to_the_end() {
    check("SELECT 'open secret", "SELECT ?");
    check("SELECT \"open secret", "SELECT ?");
    check("SELECT $$open secret", "SELECT ?");
    check("SELECT /* open secret", "SELECT");
    check(r"SELECT E'open \", "SELECT E?");
}

#[test]
fn a_long_statement_is_cut_with_a_mark() {
    let long = format!("SELECT {}", "ä, ".repeat(STATEMENT_BYTES_MAX));
    let cut = Redacted::statement(&long);
    assert!(cut.as_str().len() <= STATEMENT_BYTES_MAX + '…'.len_utf8());
    assert!(cut.as_str().ends_with('…'));
}
