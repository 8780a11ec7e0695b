//! The most that a statement may be, so that no text can exhaust memory or stack.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use crate::error::SyntaxError;
use crate::lex::{Lexeme, is_string};

/// Bytes of one statement or script; room for a SIMULATE bundle and a long VALUES list.
pub const STATEMENT_BYTES_MAX: usize = 1 << 20;

/// Nested statements, queries and expressions, as in DataFusion; sqlparser gives up past it.
pub const RECURSION_DEPTH_MAX: usize = 50;

/// `PREPARE`, `EXPLAIN` and the statement in them.
pub const STATEMENT_DEPTH_MAX: usize = 4;

/// Nesting that is parsed on the caller's stack; an unoptimized build takes 200 KiB for a level of joins.
pub(crate) const NESTING_INLINE_MAX: usize = 6;

/// The stack for what nests deeper: room for both depths above and below, only touched as far as it is used.
pub(crate) const DEEP_STACK_BYTES: usize = 64 << 20;

/// Open brackets of any kind at one point, because not every function of sqlparser counts its depth.
pub const BRACKET_DEPTH_MAX: usize = 200;

/// Nested `ARRAY<…>` and `STRUCT<…>` types, whose parsing does not count its depth.
pub const TYPE_DEPTH_MAX: usize = 32;

/// Operators of one expression that are not in brackets of their own, since `a + b + c …` makes a tree as deep as
/// it is long; `IN (…)` takes any number of values. An unoptimized build copies this depth on a stack of 2 MiB.
pub const CHAIN_LENGTH_MAX: usize = 256;

/// `UNION`, `INTERSECT`, `EXCEPT` and `PIVOT` in one query, which nest the same way with larger frames.
pub const SET_OPERATIONS_MAX: usize = 64;

/// What has been counted since a bracket or `CASE` opened.
#[derive(Default)]
struct Level {
    n_or: usize,
    n_and: usize,
    n_other: usize,
    n_set_operations: usize,
    is_case: bool,
}

impl Level {
    fn start_expression(&mut self) {
        (self.n_or, self.n_and, self.n_other) = (0, 0, 0);
    }

    /// What binds tighter starts anew behind `AND` and `OR`, so the depth is the sum of the three.
    fn chain_length(&self) -> usize {
        self.n_or + self.n_and + self.n_other
    }

    fn count_word(&mut self, keyword: Keyword) {
        match keyword {
            Keyword::OR | Keyword::XOR => {
                self.n_or += 1;
                (self.n_and, self.n_other) = (0, 0);
            }
            Keyword::AND => {
                self.n_and += 1;
                self.n_other = 0;
            }
            Keyword::IS
            | Keyword::NOTNULL
            | Keyword::IN
            | Keyword::BETWEEN
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::SIMILAR
            | Keyword::COLLATE
            | Keyword::AT
            | Keyword::OPERATOR
            | Keyword::OVERLAPS
            | Keyword::DIV
            | Keyword::MEMBER => self.n_other += 1,
            // None of these can stand inside an expression without brackets.
            Keyword::SELECT
            | Keyword::WHERE
            | Keyword::HAVING
            | Keyword::QUALIFY
            | Keyword::JOIN
            | Keyword::ON => self.start_expression(),
            Keyword::WHEN | Keyword::THEN | Keyword::ELSE if self.is_case => self.start_expression(),
            Keyword::UNION
            | Keyword::INTERSECT
            | Keyword::EXCEPT
            | Keyword::MINUS
            | Keyword::PIVOT
            | Keyword::UNPIVOT => self.n_set_operations += 1,
            _ => {}
        }
    }

    fn count(&mut self, token: &Token) {
        match token {
            Token::Word(word) if word.quote_style.is_none() => self.count_word(word.keyword),
            Token::Comma => self.start_expression(),
            Token::Word(_)
            | Token::SemiColon
            | Token::Period
            | Token::Number(..)
            | Token::Placeholder(_)
            | Token::LParen
            | Token::LBrace
            | Token::RParen
            | Token::RBracket
            | Token::RBrace => {}
            token if is_string(token) => {}
            _ => self.n_other += 1,
        }
    }
}

/// Names before `<…>` that can hold each other.
const TYPES_WITH_PARAMETERS: &[&str] = &["ARRAY", "LIST", "MAP", "STRUCT"];

/// Refuses tokens that would make a tree too deep to build, copy or drop.
pub(crate) fn check(lexemes: &[Lexeme]) -> Result<(), SyntaxError> {
    let mut levels = vec![Level::default()];
    let mut type_depth = 0_usize;
    let mut is_after_type = false;
    for lexeme in lexemes {
        let token = &lexeme.token.token;
        if let Some(level) = levels.last_mut() {
            level.count(token);
            within(level.chain_length(), CHAIN_LENGTH_MAX, "operators in a row", lexeme)?;
            within(level.n_set_operations, SET_OPERATIONS_MAX, "set operations", lexeme)?;
        }
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(Level::default()),
            Token::Word(_) if lexeme.is_word("CASE") => {
                levels.push(Level { is_case: true, ..Level::default() })
            }
            Token::Word(_) if lexeme.is_word("END") => {
                levels.pop_if(|level| level.is_case);
            }
            Token::RParen | Token::RBracket | Token::RBrace => close(&mut levels),
            Token::Lt if is_after_type => type_depth += 1,
            Token::Gt => type_depth = type_depth.saturating_sub(1),
            Token::ShiftRight => type_depth = type_depth.saturating_sub(2),
            _ => {}
        }
        is_after_type = TYPES_WITH_PARAMETERS.iter().any(|name| lexeme.is_word(name));
        within(levels.len() - 1, BRACKET_DEPTH_MAX, "open brackets", lexeme)?;
        within(type_depth, TYPE_DEPTH_MAX, "nested types", lexeme)?;
    }
    Ok(())
}

/// Ends the innermost bracket, with every `CASE` in it that has no `END`.
fn close(levels: &mut Vec<Level>) {
    while levels.len() > 1 && levels.pop().is_some_and(|level| level.is_case) {}
}

fn within(n: usize, n_max: usize, what: &str, at: &Lexeme) -> Result<(), SyntaxError> {
    if n > n_max {
        return Err(SyntaxError::limit(
            format!("statement has more {what} than the limit of {n_max}"),
            at.start,
        ));
    }
    Ok(())
}
