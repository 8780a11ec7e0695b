//! Laws of the parser, statement by statement.

mod corpus;
mod errors;
mod other_sql;
mod properties;
mod shapes;
mod versions;

use super::parse;
use crate::ast::{Governance, Statement};

fn governance(statement: &str) -> Governance {
    match parse(statement) {
        Ok(Statement::Governance(governance)) => governance,
        Ok(Statement::Sql(sql)) => panic!("taken for other SQL: {statement}\n  {sql}"),
        Ok(other) => panic!("taken for something else: {statement}\n  {other:?}"),
        Err(error) => panic!("{error} at {}: {statement}", error.position),
    }
}

fn sql(statement: &str) -> sqlparser::ast::Statement {
    match parse(statement) {
        Ok(Statement::Sql(sql)) => *sql,
        Ok(Statement::Governance(governance)) => panic!("taken for ours: {statement}\n  {governance:?}"),
        Ok(other) => panic!("taken for something else: {statement}\n  {other:?}"),
        Err(error) => panic!("{error} at {}: {statement}", error.position),
    }
}

/// The name of the variant.
fn variant(governance: &Governance) -> String {
    let debug = format!("{governance:?}");
    debug.chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn every_statement_of_the_surface_is_recognized() {
    for (name, statement) in corpus::OURS {
        assert_eq!(&variant(&governance(statement)), name, "{statement}");
    }
}

#[test]
fn a_semicolon_and_comments_may_stand_around_every_statement() {
    for (name, statement) in corpus::OURS {
        let dressed = format!("-- a\n /* b /* c */ */ {statement} -- d\n ; ; /* e */");
        assert_eq!(&variant(&governance(&dressed)), name, "{dressed}");
    }
}

/// The statement with every space a comment or line break, and every unquoted letter in the other case.
fn respelled(statement: &str) -> String {
    let mut respelled = String::new();
    let (mut quote, mut n_spaces) = (None, 0);
    for ch in statement.chars() {
        match quote {
            Some(open) => {
                respelled.push(ch);
                if ch == open {
                    quote = None;
                }
            }
            None if ch == '\'' || ch == '"' => {
                respelled.push(ch);
                quote = Some(ch);
            }
            None if ch == ' ' => {
                n_spaces += 1;
                respelled.push_str(match n_spaces % 3 {
                    0 => "\n",
                    1 => "/*x*/",
                    _ => "\t -- y'\n ",
                });
            }
            None if ch.is_uppercase() => respelled.extend(ch.to_lowercase()),
            None => respelled.extend(ch.to_uppercase()),
        }
    }
    respelled
}

#[test]
fn space_comments_and_case_change_nothing() {
    for (name, statement) in corpus::OURS {
        // `{col}` is a placeholder and not a word of SQL.
        let respelled = respelled(statement).replace("{COL}", "{col}");
        assert_eq!(&variant(&governance(&respelled)), name, "{respelled}");
    }
}

#[test]
fn every_statement_parses_alone_as_the_piece_of_a_script() {
    let script: String = corpus::OURS.iter().map(|(_, statement)| format!("{statement} ;\n")).collect();
    let pieces = crate::split(&script).unwrap();
    assert_eq!(pieces.len(), corpus::OURS.len());
    for (piece, (name, statement)) in pieces.iter().zip(corpus::OURS) {
        assert_eq!(piece.text, *statement);
        assert!(script[piece.offset..].starts_with(&piece.text));
        assert_eq!(&variant(&governance(&piece.text)), name);
    }
}

#[test]
fn a_statement_cut_short_is_an_error_or_another_statement_but_never_a_panic() {
    for (_, statement) in corpus::OURS {
        for (end, _) in statement.char_indices() {
            let _ = parse(&statement[..end]);
        }
    }
}
