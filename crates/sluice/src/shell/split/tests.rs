//! A script is cut at the semicolons that end statements, and nowhere else.

use super::*;

fn statements(text: &str) -> Vec<&str> {
    let pieces = cut(text).pieces;
    pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Statement(text) | Piece::Command(text) => text,
        })
        .collect()
}

#[test]
fn statements_end_at_semicolons() {
    assert_eq!(statements("select 1; select 2 ;"), ["select 1", "select 2"]);
    assert_eq!(cut("select 1; select 2").open, " select 2");
    assert_eq!(cut("select 1;").open, "");
}

#[test]
fn empty_statements_are_passed_over() {
    assert_eq!(statements(";; -- nothing\n ; select 1;"), ["select 1"]);
    assert_eq!(cut("  -- only a comment").open, "");
}

#[test]
fn a_semicolon_in_quotes_or_comments_ends_nothing() {
    for text in [
        "select 'a;b'",
        "select 'it''s;'",
        "select \"a;b\"",
        "select $$a;b$$",
        "select $t$ $$;$$ $t$",
        "select E'a\\';b'",
        "select 1 -- ;\n + 1",
        "select /* ; /* ; */ ; */ 1",
    ] {
        assert_eq!(statements(&format!("{text};")), [text]);
        assert_eq!(cut(text).open, text);
    }
}

#[test]
fn an_unclosed_quote_or_comment_keeps_the_statement_open() {
    for text in ["select 'a;", "select \"a;", "select $$a;", "/* a;"] {
        let cut = cut(text);
        assert_eq!((cut.pieces.len(), cut.open), (0, text));
    }
}

#[test]
fn a_dollar_that_is_no_quote_is_plain() {
    assert_eq!(statements("select $1; select a$b$c;"), ["select $1", "select a$b$c"]);
}

#[test]
fn a_backslash_command_takes_its_line() {
    assert_eq!(
        cut("\\dt\nselect 1;\n  \\x \nselect 2;").pieces,
        [
            Piece::Command("\\dt"),
            Piece::Statement("select 1"),
            Piece::Command("\\x"),
            Piece::Statement("select 2"),
        ]
    );
    assert_eq!(statements("select '\\d';"), ["select '\\d'"]);
}

#[test]
fn first_words_pass_over_comments() {
    assert_eq!(
        first_words("/* a */ create -- b\n or replace view v", 4),
        ["CREATE", "OR", "REPLACE", "VIEW"]
    );
    assert_eq!(first_words("(select 1)", 2), ["SELECT", "1"]);
    assert_eq!(first_words("'x'", 2), Vec::<String>::new());
}
