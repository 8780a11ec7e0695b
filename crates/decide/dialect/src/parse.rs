//! Tells governance statements from other SQL by their leading tokens, and parses one of either.

mod alter;
mod clauses;
mod create;
mod cursors;
mod functions;
mod grants;
mod inline;
mod policies;
mod refs;
mod rename;
mod rewrite;
mod show;
mod sql_errors;
mod versions;

use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::ast::{Governance, Statement};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;
use crate::lex::{Lexeme, lex_significant};
use crate::limits::STATEMENT_DEPTH_MAX;
use crate::sql::with_parser;

pub(crate) use sql_errors::{expected_at, sql_error};

/// Parses one statement; a `;` may follow it, a second statement may not.
pub fn parse(statement: &str) -> Result<Statement, SyntaxError> {
    let lexemes = lex_significant(statement)?;
    let body = one_statement(statement, &lexemes)?;
    let mut cursor = Cursor::new(statement, body);
    if let Some(change) = refs::table_ref(&mut cursor)? {
        cursor.expect_end()?;
        return Ok(Statement::TableRef(change));
    }
    if let Some(rename) = rename::relation(&mut cursor)? {
        return Ok(Statement::Rename(rename));
    }
    if cursor.eat_all(&["SHOW", "STATS", "FOR"]) {
        let table = cursor.name("the name of a table")?;
        cursor.expect_end()?;
        return Ok(Statement::ShowStats(table));
    }
    if let Some(statement) = cursors::cursor(&mut cursor)? {
        cursor.expect_end()?;
        return Ok(Statement::Cursor(statement));
    }
    if let Some(governance) = governance(&mut cursor)? {
        cursor.expect_end()?;
        return Ok(Statement::Governance(governance));
    }
    sql(statement, body)
}

/// The tokens without the `;` at their end.
fn one_statement<'a>(statement: &str, lexemes: &'a [Lexeme]) -> Parsed<&'a [Lexeme]> {
    let is_semicolon = |lexeme: &Lexeme| lexeme.token.token == Token::SemiColon;
    let n_body = lexemes.iter().rposition(|lexeme| !is_semicolon(lexeme)).map_or(0, |at| at + 1);
    let body = lexemes.get(..n_body).unwrap_or_default();
    if body.is_empty() {
        return Err(SyntaxError::new("statement is empty", 0));
    }
    let mut parts =
        body.iter().skip_while(|lexeme| !is_semicolon(lexeme)).skip_while(|lexeme| is_semicolon(lexeme));
    match parts.next() {
        None => Ok(body),
        Some(second) => Err(SyntaxError::new(
            format!("expected end of statement, found {}", second.describe(statement)),
            second.start,
        )
        .with_hint("one statement at a time; `;` stands only at its end")),
    }
}

/// `None` for a statement that is not ours, with the cursor where it was.
fn governance(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    let Some(first) = cursor.peek(0) else { return Ok(None) };
    let Token::Word(word) = &first.token.token else { return Ok(None) };
    if word.quote_style.is_some() {
        return Ok(None);
    }
    match word.value.to_ascii_uppercase().as_str() {
        "GRANT" => grants::grant(cursor).map(Some),
        "REVOKE" => grants::revoke(cursor).map(Some),
        "DENY" => grants::deny(cursor).map(Some),
        "CREATE" => create::create(cursor),
        "DROP" => create::drop(cursor),
        "ALTER" => alter::alter(cursor),
        "SHOW" => show::show(cursor),
        "DESCRIBE" | "DESC" => show::describe(cursor),
        "CHECK" => show::check_access(cursor).map(Some),
        "EXPLAIN" => show::explain_policy(cursor),
        "SIMULATE" => show::simulate(cursor).map(Some),
        "ROLLBACK" => policies::rollback(cursor),
        "CALL" => show::call(cursor).map(Some),
        _ => Ok(None),
    }
}

fn sql(statement: &str, lexemes: &[Lexeme]) -> Parsed<Statement> {
    let (mut tokens, extras) = rewrite::rewrite(lexemes);
    if lexemes.first().is_some_and(|lexeme| lexeme.is_word("COPY")) {
        // `COPY … FROM STDIN` wants its `;`, which the caller has cut off.
        tokens.push(TokenWithSpan::wrap(Token::SemiColon));
    }
    let (result, next) = with_parser(tokens, |parser| {
        let result = parser.parse_statement();
        while result.is_ok() && parser.consume_token(&Token::SemiColon) {}
        (result, parser.peek_token())
    })?;
    match result {
        Err(error) => Err(sql_error(statement, lexemes, &error, &next)),
        Ok(mut parsed) if next.token == Token::EOF => {
            extras.add_to(&mut parsed);
            if statement_depth(&parsed) > STATEMENT_DEPTH_MAX {
                let message =
                    format!("statement holds more statements than the limit of {STATEMENT_DEPTH_MAX}");
                return Err(SyntaxError::limit(message, 0));
            }
            Ok(Statement::Sql(Box::new(parsed)))
        }
        Ok(_) => Err(expected_at(statement, lexemes, "end of statement", &next)),
    }
}

/// How many statements stand in each other.
fn statement_depth(statement: &sqlparser::ast::Statement) -> usize {
    let (mut depth, mut at) = (1, statement);
    while let sqlparser::ast::Statement::Prepare { statement, .. }
    | sqlparser::ast::Statement::Explain { statement, .. } = at
    {
        (depth, at) = (depth + 1, statement);
    }
    depth
}

#[cfg(test)]
mod tests;
