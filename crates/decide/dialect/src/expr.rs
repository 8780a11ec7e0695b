//! Checks the expression of a policy for syntax, and reads it again when it is used.

use sqlparser::ast::Expr;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::ast::{ExprText, Span};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;
use crate::lex::{Lexeme, lex_significant};
use crate::parse::{expected_at, sql_error};
use crate::sql::with_parser;

/// What may stand in an expression besides SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholders {
    /// `${{USER.x}}` and its like.
    Macros,
    /// These and `{col}`, the masked column.
    MacrosAndColumn,
    /// `{col}` alone: the macros have been bound.
    Column,
}

/// What stands for a placeholder while only the syntax is checked.
const STAND_IN: &str = "placeholder";

/// Parses one expression of plain SQL in the dialect that statements are read in.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxError> {
    let lexemes = lex_significant(text)?;
    let tokens = lexemes.iter().map(|lexeme| lexeme.token.clone()).collect();
    parse_tokens(text, &lexemes, tokens, &Token::EOF)
}

/// The same of a mask's expression, in which `{col}` is the masked column.
///
/// The column enters as a token of its own, whatever its name holds; in strings, quoted names and comments `{col}` is
/// text like any other.
pub fn parse_mask_expression(text: &str, column: &str) -> Result<Expr, SyntaxError> {
    let lexemes = lex_significant(text)?;
    let tokens = fill_placeholders(&lexemes, Placeholders::Column, column);
    parse_tokens(text, &lexemes, tokens, &Token::EOF)
}

/// `(expr)` at the cursor: its source without the parentheses.
pub(crate) fn parenthesized_expr(cursor: &mut Cursor<'_>, placeholders: Placeholders) -> Parsed<ExprText> {
    cursor.expect_token(&Token::LParen)?;
    let mut n_open = 1_usize;
    let mut n_lexemes = 0_usize;
    for lexeme in cursor.rest() {
        match lexeme.token.token {
            Token::LParen => n_open += 1,
            Token::RParen => n_open -= 1,
            _ => {}
        }
        if n_open == 0 {
            break;
        }
        n_lexemes += 1;
    }
    let inner = cursor.rest().get(..n_lexemes).unwrap_or_default();
    let (Some(first), Some(last)) = (inner.first(), inner.last()) else {
        return Err(cursor.expected_a("an expression"));
    };
    // With the `)` that ends it, so that an error can point there.
    let closed = cursor.rest().get(..=n_lexemes).unwrap_or(inner);
    let end = if closed.len() > n_lexemes { Token::RParen } else { Token::EOF };
    parse_tokens(cursor.text, closed, fill_placeholders(closed, placeholders, STAND_IN), &end)?;
    let span = Span { start: first.start, end: last.end };
    cursor.skip(n_lexemes);
    cursor.expect_token(&Token::RParen)?;
    // Comments at either end stay out, since `-- x` would swallow what is put after the text.
    let text = cursor.text.get(span.start..span.end).unwrap_or_default().to_owned();
    Ok(ExprText { text, span })
}

/// One expression up to `end`, which is the last token or the end of them.
fn parse_tokens(text: &str, lexemes: &[Lexeme], tokens: Vec<TokenWithSpan>, end: &Token) -> Parsed<Expr> {
    let (result, next, is_last) = with_parser(tokens, |parser| {
        let result = parser.parse_expr();
        (result, parser.peek_token(), parser.peek_nth_token_ref(1).token == Token::EOF)
    })?;
    let expr = result.map_err(|error| sql_error(text, lexemes, &error, &next))?;
    if next.token == *end && is_last {
        return Ok(expr);
    }
    Err(expected_at(text, lexemes, "end of expression", &next))
}

/// The tokens with a name in place of every placeholder; string literals are tokens of their own and stay.
fn fill_placeholders(lexemes: &[Lexeme], placeholders: Placeholders, name: &str) -> Vec<TokenWithSpan> {
    let mut tokens = Vec::with_capacity(lexemes.len());
    let mut rest = lexemes;
    while let Some((first, others)) = rest.split_first() {
        let n_lexemes = match placeholder_len(rest, placeholders) {
            0 => {
                tokens.push(first.token.clone());
                rest = others;
                continue;
            }
            n => n,
        };
        let token = Token::make_word(name, Some('"'));
        tokens.push(TokenWithSpan { token, span: first.token.span });
        rest = rest.get(n_lexemes..).unwrap_or_default();
    }
    tokens
}

/// How many tokens the placeholder at the front takes; none for plain SQL.
fn placeholder_len(lexemes: &[Lexeme], placeholders: Placeholders) -> usize {
    let mut kinds = lexemes.iter().map(|lexeme| &lexeme.token.token);
    match (kinds.next(), kinds.next(), kinds.next()) {
        (Some(Token::Placeholder(dollar)), Some(Token::LBrace), Some(Token::LBrace))
            if placeholders != Placeholders::Column && dollar == "$" =>
        {
            let closes = lexemes.windows(2).position(|pair| {
                pair.iter().all(|lexeme| lexeme.token.token == Token::RBrace)
                    && pair.first().map(|lexeme| lexeme.end) == pair.last().map(|lexeme| lexeme.start)
            });
            closes.map_or(0, |at| at + 2)
        }
        (Some(Token::LBrace), Some(Token::Word(word)), Some(Token::RBrace))
            if placeholders != Placeholders::Macros && word.value == "col" && word.quote_style.is_none() =>
        {
            3
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_a_mask_is_a_name_of_its_own_whatever_it_holds() {
        for (text, column, expected) in [
            ("{col}", "a", "\"a\""),
            ("{ col }", "a", "\"a\""),
            ("upper({col}) || '{col}'", "a", "upper(\"a\") || '{col}'"),
            ("{col} /* it's {col} */ + 1", "a", "\"a\" + 1"),
            (r"E'\'' || {col}", "a", r#"E'\'' || "a""#),
            ("\"{col}\" || {col}", "a", "\"{col}\" || \"a\""),
            ("{col} = 1", "x OR 1", "\"x OR 1\" = 1"),
            ("f({col})", "a\") || secret || (\"", "f(\"a\"\") || secret || (\"\"\")"),
            ("f({col})", "{col}", "f(\"{col}\")"),
        ] {
            let parsed = parse_mask_expression(text, column).unwrap();
            assert_eq!(parsed.to_string(), expected, "{text} of {column}");
        }
        for text in ["{other}", "{\"col\"}", "{COL}", "${{USER.x}}", "{col", "{col}{col}"] {
            assert!(parse_mask_expression(text, "a").is_err(), "{text}");
        }
        assert!(parse_expression("{col}").is_err());
    }
}
