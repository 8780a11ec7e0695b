//! Every spelling of "the table as it was", put into the ones that sqlparser knows.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Statement, TableFactor, TableVersion,
    TableWithJoins, Value, VisitMut, VisitorMut,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use crate::lex::is_string;

/// Stands around a version until the statement is parsed: sqlparser takes numbers only.
const MARKER: &str = "version_as_of";

/// The tokens with these put in the place of ours:
/// - `[FOR] {VERSION|SYSTEM_VERSION} AS OF x` and `AT {BRANCH|TAG|SNAPSHOT|REFERENCE} x`: a version;
/// - `FOR TIMESTAMP AS OF x` and `AT TIMESTAMP x`: a time;
/// - `FOR INCREMENTAL BETWEEN SNAPSHOT a AND b`: what was added between.
///
/// `at`, `before` and `changes` stay names where sqlparser would take them for such a clause.
pub(super) fn rewrite(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_concerned = tokens.iter().any(|token| {
        ["AS", "AT", "BEFORE", "CHANGES", "INCREMENTAL"].iter().any(|word| is_word(token, word))
    });
    if !is_concerned {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + 8);
    let mut rest = tokens.as_slice();
    while let Some((first, others)) = rest.split_first() {
        if let Some(n_read) = clause(rest, &mut out) {
            rest = rest.get(n_read..).unwrap_or_default();
            continue;
        }
        out.push(plain(first, others));
        rest = others;
    }
    out
}

/// Writes the clause at the start of the tokens, and says how many of them it takes.
fn clause(tokens: &[TokenWithSpan], out: &mut Vec<TokenWithSpan>) -> Option<usize> {
    let says = |from: usize, words: &[&str]| {
        words.iter().enumerate().all(|(i, word)| tokens.get(from + i).is_some_and(|t| is_word(t, word)))
    };
    let span = tokens.first()?.span;
    let lead = usize::from(says(0, &["FOR"]));
    if says(lead, &["VERSION", "AS", "OF"]) || (lead == 1 && says(1, &["SYSTEM_VERSION", "AS", "OF"])) {
        version(tokens.get(lead + 3)?, span, out)?;
        return Some(lead + 4);
    }
    if lead == 1 && says(1, &["TIMESTAMP", "AS", "OF"]) {
        keywords(&["FOR", "SYSTEM_TIME", "AS", "OF"], span, out);
        return Some(4);
    }
    if says(0, &["FOR", "INCREMENTAL", "BETWEEN", "SNAPSHOT"]) && says(5, &["AND"]) {
        let (after, through) = (tokens.get(4)?, tokens.get(6)?);
        if is_value(after) && is_value(through) {
            for (words, value) in [
                (["CHANGES", "INFORMATION"], None),
                (["AT", "SNAPSHOT"], Some(after)),
                (["END", "SNAPSHOT"], Some(through)),
            ] {
                argument(words, value, span, out);
            }
            return Some(7);
        }
    }
    if says(0, &["AT"]) && !out.is_empty() {
        if says(1, &["TIMESTAMP"]) && tokens.get(2).is_some_and(is_value) {
            keywords(&["FOR", "SYSTEM_TIME", "AS", "OF"], span, out);
            return Some(1);
        }
        let is_ref = says(1, &["BRANCH"]) || says(1, &["TAG"]) || says(1, &["REFERENCE"]);
        if is_ref && let Some(name) = tokens.get(2).and_then(name) {
            let name = TokenWithSpan { token: Token::SingleQuotedString(name), span };
            version(&name, span, out)?;
            return Some(3);
        }
        if says(1, &["SNAPSHOT"]) {
            // An identifier is a number, however it is written; a name would be that of a branch or tag.
            let id = match &tokens.get(2)?.token {
                Token::SingleQuotedString(text) if is_digits(text) => Token::Number(text.clone(), false),
                Token::Number(..) => tokens.get(2)?.token.clone(),
                _ => return None,
            };
            version(&TokenWithSpan { token: id, span }, span, out)?;
            return Some(3);
        }
    }
    None
}

fn version(value: &TokenWithSpan, span: Span, out: &mut Vec<TokenWithSpan>) -> Option<()> {
    if !is_value(value) {
        return None;
    }
    keywords(&["TIMESTAMP", "AS", "OF"], span, out);
    let marker = Token::make_word(MARKER, None);
    for token in [marker, Token::LParen, value.token.clone(), Token::RParen] {
        out.push(TokenWithSpan { token, span: value.span });
    }
    Some(())
}

/// `CHANGES (INFORMATION => APPEND_ONLY)`, `AT (SNAPSHOT => 1)`.
fn argument(
    [clause, name]: [&str; 2],
    value: Option<&TokenWithSpan>,
    span: Span,
    out: &mut Vec<TokenWithSpan>,
) {
    keywords(&[clause], span, out);
    let value = value.map_or_else(|| Token::make_word("APPEND_ONLY", None), |value| value.token.clone());
    for token in [Token::LParen, Token::make_word(name, None), Token::RArrow, value, Token::RParen] {
        out.push(TokenWithSpan { token, span });
    }
}

fn keywords(words: &[&str], span: Span, out: &mut Vec<TokenWithSpan>) {
    out.extend(words.iter().map(|word| TokenWithSpan { token: Token::make_keyword(word), span }));
}

/// A token as it is, or quoted where it is a name and would be taken for the start of a clause.
fn plain(token: &TokenWithSpan, others: &[TokenWithSpan]) -> TokenWithSpan {
    let next = others.first();
    let is_clause = next
        .is_some_and(|next| next.token == Token::LParen || (is_word(token, "AT") && is_word(next, "TIME")));
    let is_name = ["AT", "BEFORE", "CHANGES"].iter().any(|word| is_word(token, word)) && !is_clause;
    match &token.token {
        Token::Word(word) if is_name => {
            let quoted = Word {
                value: word.value.to_lowercase(),
                quote_style: Some('"'),
                keyword: Keyword::NoKeyword,
            };
            TokenWithSpan { token: Token::Word(quoted), span: token.span }
        }
        _ => token.clone(),
    }
}

fn is_word(token: &TokenWithSpan, keyword: &str) -> bool {
    match &token.token {
        Token::Word(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword),
        _ => false,
    }
}

fn is_value(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Number(..) | Token::Placeholder(_)) || is_string(&token.token)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A branch or tag, as a name or as a text.
fn name(token: &TokenWithSpan) -> Option<String> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_some() => Some(word.value.clone()),
        Token::Word(word) => Some(word.value.to_lowercase()),
        Token::SingleQuotedString(text) => Some(text.clone()),
        _ => None,
    }
}

/// Puts each version in the place of its marker, so that the statement prints as it can be read again.
pub(super) fn settle(statement: &mut Statement) {
    struct Settler;
    impl VisitorMut for Settler {
        type Break = ();

        fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
            let TableFactor::Table { version: Some(version), alias, .. } = factor else {
                return ControlFlow::Continue(());
            };
            if let Some(value) = marked(version) {
                *version = TableVersion::VersionAsOf(value);
            }
            // sqlparser prints the alias before the version, where nothing reads it.
            if let Some(alias) = alias.take() {
                let relation = factor.clone();
                let table_with_joins = Box::new(TableWithJoins { relation, joins: Vec::new() });
                *factor = TableFactor::NestedJoin { table_with_joins, alias: Some(alias) };
            }
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Settler);
}

fn marked(version: &TableVersion) -> Option<Expr> {
    let TableVersion::TimestampAsOf(Expr::Function(function)) = version else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(value @ Expr::Value(inner)))]
            if function.name.to_string() == MARKER
                && matches!(
                    inner.value,
                    Value::Number(..)
                        | Value::SingleQuotedString(_)
                        | Value::Placeholder(_)
                        | Value::EscapedStringLiteral(_)
                        | Value::UnicodeStringLiteral(_)
                        | Value::NationalStringLiteral(_)
                        | Value::DollarQuotedString(_)
                ) =>
        {
            Some(value.clone())
        }
        _ => None,
    }
}
