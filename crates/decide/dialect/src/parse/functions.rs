//! `CREATE FUNCTION`, in Dremio's grammar.

use sqlparser::ast::DataType;
use sqlparser::tokenizer::Token;

use super::rewrite::types;
use super::sql_errors::{expected_at, sql_error};
use crate::ast::{
    ExprText, FunctionBody, FunctionDefinition, FunctionParameter, FunctionReturns, Governance, Span,
};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;
use crate::lex::Lexeme;
use crate::sql::with_parser;

/// `CREATE [OR REPLACE] FUNCTION` is read; the statement starts at `start`.
pub(super) fn create_function(cursor: &mut Cursor<'_>, start: usize, or_replace: bool) -> Parsed<Governance> {
    let at = cursor.position();
    let if_not_exists = cursor.if_not_exists();
    if or_replace && if_not_exists {
        return Err(SyntaxError::new("`OR REPLACE` and `IF NOT EXISTS` exclude each other", at));
    }
    let name = cursor.name("the name of a function")?;
    let parameters = if cursor.is_token_at(0, &Token::LParen) && cursor.is_token_at(1, &Token::RParen) {
        cursor.skip(2);
        Vec::new()
    } else {
        cursor.parenthesized(parameter)?
    };
    cursor.expect("RETURNS")?;
    let returns = if cursor.is_word_at(0, "TABLE") && cursor.is_token_at(1, &Token::LParen) {
        cursor.skip(1);
        FunctionReturns::Table(cursor.parenthesized(parameter)?)
    } else {
        let (data_type, is_not_null) = data_type(cursor)?;
        FunctionReturns::Scalar { data_type, is_not_null }
    };
    cursor.expect("RETURN")?;
    let body = body(cursor, &returns)?;
    let definition =
        Box::new(FunctionDefinition { name, or_replace, if_not_exists, parameters, returns, body });
    let span = cursor.span_to_end(start);
    let text = cursor.text.get(span.start..span.end).unwrap_or_default().to_owned();
    Ok(Governance::CreateFunction { text, span, definition })
}

/// `name type [[NOT] NULL]`.
fn parameter(cursor: &mut Cursor<'_>) -> Parsed<FunctionParameter> {
    let name = cursor.ident("the name of a parameter")?;
    let (data_type, is_not_null) = data_type(cursor)?;
    Ok(FunctionParameter { name, data_type, is_not_null })
}

/// A type up to `,`, `)` or `RETURN`, and whether `NOT NULL` follows it.
pub(super) fn data_type(cursor: &mut Cursor<'_>) -> Parsed<(DataType, bool)> {
    let n_lexemes = type_len(cursor.rest());
    let all = cursor.rest().get(..n_lexemes).unwrap_or_default();
    let (of_type, is_not_null) = match all {
        [of_type @ .., not, null] if not.is_word("NOT") && null.is_word("NULL") => (of_type, true),
        [of_type @ .., null] if null.is_word("NULL") => (of_type, false),
        _ => (all, false),
    };
    if of_type.is_empty() {
        return Err(cursor.expected_a("a type"));
    }
    if let Some(default) = of_type.iter().find(|lexeme| lexeme.is_word("DEFAULT")) {
        return Err(SyntaxError::new("a parameter has no `DEFAULT`", default.start));
    }
    let (result, next) =
        with_parser(types(of_type), |parser| (parser.parse_data_type(), parser.peek_token()))?;
    let data_type = result.map_err(|error| sql_error(cursor.text, of_type, &error, &next))?;
    if next.token != Token::EOF {
        return Err(expected_at(cursor.text, of_type, "the end of the type", &next));
    }
    cursor.skip(n_lexemes);
    Ok((data_type, is_not_null))
}

fn type_len(lexemes: &[Lexeme]) -> usize {
    let mut depth = 0_usize;
    let mut n_lexemes = 0;
    for lexeme in lexemes {
        match lexeme.token.token {
            Token::Comma | Token::RParen if depth == 0 => break,
            Token::LParen | Token::Lt => depth += 1,
            Token::RParen | Token::Gt => depth = depth.saturating_sub(1),
            Token::ShiftRight => depth = depth.saturating_sub(2),
            _ if depth == 0 && (lexeme.is_word("RETURN") || lexeme.is_word("MASKING")) => break,
            _ => {}
        }
        n_lexemes += 1;
    }
    n_lexemes
}

fn body(cursor: &mut Cursor<'_>, returns: &FunctionReturns) -> Parsed<FunctionBody> {
    let lexemes = cursor.rest();
    let (Some(first), Some(last)) = (lexemes.first(), lexemes.last()) else {
        return Err(cursor.expected_a("an expression or query"));
    };
    let is_query = cursor.is_one_of_at(0, &["SELECT", "WITH", "VALUES", "FROM"])
        || matches!(returns, FunctionReturns::Table(_));
    let tokens = lexemes.iter().map(|lexeme| lexeme.token.clone()).collect();
    let (result, next) = with_parser(tokens, |parser| {
        let result = if is_query { parser.parse_query().map(drop) } else { parser.parse_expr().map(drop) };
        (result, parser.peek_token())
    })?;
    result.map_err(|error| sql_error(cursor.text, lexemes, &error, &next))?;
    if next.token != Token::EOF {
        return Err(expected_at(cursor.text, lexemes, "end of statement", &next));
    }
    let span = Span { start: first.start, end: last.end };
    let text = cursor.text.get(span.start..span.end).unwrap_or_default().to_owned();
    let source = ExprText { text, span };
    Ok(if is_query { FunctionBody::Query(source) } else { FunctionBody::Expression(source) })
}
