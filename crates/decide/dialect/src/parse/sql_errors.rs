//! Turns an error of sqlparser into one of ours, at a byte instead of a line and column.

use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use crate::error::SyntaxError;
use crate::lex::{Lexeme, is_string};
use crate::limits::RECURSION_DEPTH_MAX;

/// `next` is where sqlparser stood when it gave up, for the errors that do not say where.
pub(crate) fn sql_error(
    text: &str,
    lexemes: &[Lexeme],
    error: &ParserError,
    next: &TokenWithSpan,
) -> SyntaxError {
    let message = match error {
        ParserError::RecursionLimitExceeded => {
            let position =
                find(lexemes, next.span.start).map_or_else(|| end_of(lexemes), |lexeme| lexeme.start);
            let message = format!("statement nests deeper than the limit of {RECURSION_DEPTH_MAX}");
            return SyntaxError::limit(message, position);
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.as_str(),
    };
    let (message, location) = cut_location(message);
    let expected = message.strip_prefix("Expected: ").and_then(|rest| rest.split_once(", found: "));
    match (expected, location) {
        (Some((what, found)), location) => {
            let at = match location {
                Some(location) => find(lexemes, location),
                None if found == "EOF" => None,
                None => find(lexemes, next.span.start),
            };
            expected_error(text, lexemes, what, at)
        }
        (None, Some(location)) => plain_error(lexemes, message, find(lexemes, location)),
        (None, None) => plain_error(lexemes, message, find(lexemes, next.span.start)),
    }
}

/// `expected …, found …` at the token `next`.
pub(crate) fn expected_at(text: &str, lexemes: &[Lexeme], what: &str, next: &TokenWithSpan) -> SyntaxError {
    expected_error(text, lexemes, what, find(lexemes, next.span.start))
}

fn expected_error(text: &str, lexemes: &[Lexeme], what: &str, at: Option<&Lexeme>) -> SyntaxError {
    let what = if may_repeat(lexemes, what) { in_our_words(what) } else { "something else".to_owned() };
    match at {
        Some(lexeme) => {
            SyntaxError::new(format!("expected {what}, found {}", lexeme.describe(text)), lexeme.start)
        }
        None => SyntaxError::new(format!("expected {what}, found end of statement"), end_of(lexemes)),
    }
}

fn plain_error(lexemes: &[Lexeme], message: &str, at: Option<&Lexeme>) -> SyntaxError {
    let position = at.map_or_else(|| end_of(lexemes), |lexeme| lexeme.start);
    if !may_repeat(lexemes, message) {
        return SyntaxError::new("this part of the statement does not parse", position);
    }
    let message = message.trim_end_matches('.');
    let mut chars = message.chars();
    let message: String = match chars.next() {
        // An acronym or keyword at the front keeps its case.
        Some(first) if !chars.as_str().starts_with(|ch: char| ch.is_uppercase()) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => message.to_owned(),
    };
    SyntaxError::new(message, position)
}

/// Keywords and signs stand in backticks, descriptions as they are.
fn in_our_words(what: &str) -> String {
    let what = what.trim_end_matches('.');
    let is_keyword = |part: &str| !part.is_empty() && !part.chars().any(char::is_lowercase);
    let parts: Vec<&str> = what.split(" or ").collect();
    if parts.iter().all(|part| is_keyword(part)) {
        let quoted: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
        return quoted.join(" or ");
    }
    what.replace('\'', "`")
}

/// A message of sqlparser can quote a literal; such a message is not passed on.
fn may_repeat(lexemes: &[Lexeme], message: &str) -> bool {
    !lexemes.iter().any(|lexeme| match &lexeme.token.token {
        Token::SingleQuotedString(value) | Token::EscapedStringLiteral(value) | Token::Number(value, _) => {
            value.len() > 2 && message.contains(value.as_str())
        }
        Token::DollarQuotedString(quoted) => quoted.value.len() > 2 && message.contains(&quoted.value),
        token if is_string(token) => message.contains(&token.to_string()),
        _ => false,
    })
}

/// Splits `… at Line: 3, Column: 7` off the end.
fn cut_location(message: &str) -> (&str, Option<Location>) {
    let Some((head, tail)) = message.rsplit_once(" at Line: ") else { return (message, None) };
    let Some((line, column)) = tail.split_once(", Column: ") else { return (message, None) };
    match (line.trim().parse(), column.trim().parse()) {
        (Ok(line), Ok(column)) => (head, Some(Location { line, column })),
        _ => (message, None),
    }
}

/// The token that stands at a location or over it; none for the end of the text.
fn find(lexemes: &[Lexeme], location: Location) -> Option<&Lexeme> {
    if location.line == 0 {
        return None;
    }
    let n_before = lexemes.partition_point(|lexeme| lexeme.token.span.start <= location);
    n_before.checked_sub(1).and_then(|at| lexemes.get(at))
}

fn end_of(lexemes: &[Lexeme]) -> usize {
    lexemes.last().map_or(0, |lexeme| lexeme.end)
}
