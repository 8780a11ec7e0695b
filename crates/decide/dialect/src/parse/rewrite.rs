//! Spellings of ours in plain SQL, put into words that sqlparser knows.

use sqlparser::ast::{CreateViewParams, CreateViewSecurity, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::lex::Lexeme;

/// What the rewritten statement has to be given after it is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extras {
    /// `CREATE VIEW v … SECURITY DEFINER`, which MySQL writes before `VIEW`.
    security: Option<CreateViewSecurityWord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CreateViewSecurityWord {
    Definer,
    Invoker,
}

impl Extras {
    pub(super) fn add_to(self, statement: &mut Statement) {
        super::versions::settle(statement);
        let Some(word) = self.security else { return };
        if let Statement::CreateView(view) = statement {
            let security = match word {
                CreateViewSecurityWord::Definer => CreateViewSecurity::Definer,
                CreateViewSecurityWord::Invoker => CreateViewSecurity::Invoker,
            };
            let params = view.params.get_or_insert(CreateViewParams {
                algorithm: None,
                definer: None,
                security: None,
            });
            params.security = Some(security);
        }
    }
}

/// The tokens of a statement for sqlparser.
pub(super) fn rewrite(lexemes: &[Lexeme]) -> (Vec<TokenWithSpan>, Extras) {
    let (tokens, extras) = by_statement(lexemes);
    (super::versions::rewrite(tokens), extras)
}

fn by_statement(lexemes: &[Lexeme]) -> (Vec<TokenWithSpan>, Extras) {
    let is_word = |n: usize, word: &str| lexemes.get(n).is_some_and(|lexeme| lexeme.is_word(word));
    let is_any_word = |n: usize| lexemes.get(n).is_some_and(Lexeme::is_any_word);
    if (is_word(0, "DESCRIBE") || is_word(0, "DESC")) && is_word(1, "TABLE") && is_any_word(2) {
        return (without(lexemes, 1, 1), Extras::default());
    }
    if is_word(0, "ALTER") && is_word(1, "VIEW") {
        return (alter_view(lexemes), Extras::default());
    }
    if is_word(0, "INSERT") {
        return (insert(lexemes), Extras::default());
    }
    if is_word(0, "CREATE") {
        // The kind stands behind `OR REPLACE`, `TEMPORARY`, `MATERIALIZED`, `IF NOT EXISTS` comes after it.
        let kind = (1..6).find(|&n| is_word(n, "TABLE") || is_word(n, "VIEW"));
        return match kind {
            Some(n) if is_word(n, "VIEW") => create_view(lexemes, n),
            Some(n) => (create_table(lexemes, n), Extras::default()),
            None => (plain(lexemes), Extras::default()),
        };
    }
    (plain(lexemes), Extras::default())
}

fn plain(lexemes: &[Lexeme]) -> Vec<TokenWithSpan> {
    lexemes.iter().map(|lexeme| lexeme.token.clone()).collect()
}

/// All but `n_left_out` tokens from `at` on.
fn without(lexemes: &[Lexeme], at: usize, n_left_out: usize) -> Vec<TokenWithSpan> {
    let before = lexemes.iter().take(at);
    before.chain(lexemes.iter().skip(at + n_left_out)).map(|lexeme| lexeme.token.clone()).collect()
}

/// `ALTER VIEW v RENAME TO w` is PostgreSQL's `ALTER TABLE v RENAME TO w`, which takes views too.
fn alter_view(lexemes: &[Lexeme]) -> Vec<TokenWithSpan> {
    let is_rename = lexemes
        .windows(2)
        .take_while(|pair| !pair.iter().any(|word| word.is_word("AS")))
        .any(|pair| matches!(pair, [rename, to] if rename.is_word("RENAME") && to.is_word("TO")));
    let mut tokens = plain(lexemes);
    if let (true, Some(view)) = (is_rename, tokens.get_mut(1)) {
        view.token = Token::make_keyword("TABLE");
    }
    tokens
}

/// Dremio's `VALUES (SELECT …)` has one row with a scalar query, which elsewhere wants parentheses of its own.
fn insert(lexemes: &[Lexeme]) -> Vec<TokenWithSpan> {
    let mut tokens = plain(lexemes);
    let open = lexemes.windows(3).position(|words| match words {
        [values, open, select] => {
            values.is_word("VALUES")
                && open.token.token == Token::LParen
                && (select.is_word("SELECT") || select.is_word("WITH"))
        }
        _ => false,
    });
    let Some(open) = open.map(|at| at + 1) else { return tokens };
    let mut depth = 0_usize;
    let length = lexemes.iter().skip(open).position(|lexeme| {
        match lexeme.token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    if let Some(close) = length.map(|length| open + length) {
        for at in [close, open] {
            let doubled = tokens.get(at).cloned();
            tokens.splice(at..at, doubled);
        }
    }
    tokens
}

/// Takes `SECURITY {DEFINER|INVOKER}` out from between the name and the query.
fn create_view(lexemes: &[Lexeme], kind: usize) -> (Vec<TokenWithSpan>, Extras) {
    let mut depth = 0_usize;
    for (n, lexeme) in lexemes.iter().enumerate().skip(kind + 2) {
        match lexeme.token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 {
            continue;
        }
        if lexeme.is_word("AS") {
            break;
        }
        let word = match lexemes.get(n + 1) {
            Some(next) if next.is_word("DEFINER") => CreateViewSecurityWord::Definer,
            Some(next) if next.is_word("INVOKER") => CreateViewSecurityWord::Invoker,
            _ => continue,
        };
        if lexeme.is_word("SECURITY") {
            return (without(lexemes, n, 2), Extras { security: Some(word) });
        }
    }
    (plain(lexemes), Extras::default())
}

/// Rewrites the types of the columns and leaves the query alone.
fn create_table(lexemes: &[Lexeme], kind: usize) -> Vec<TokenWithSpan> {
    let mut depth = 0_usize;
    let query = lexemes.iter().skip(kind).position(|lexeme| {
        match lexeme.token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && lexeme.is_word("AS")
    });
    let n_head = query.map_or(lexemes.len(), |at| at + kind);
    let (head, tail) = lexemes.split_at_checked(n_head).unwrap_or((lexemes, &[]));
    let mut tokens = types(head);
    tokens.extend(plain(tail));
    tokens
}

/// `LIST<T>` is `ARRAY<T>`, and `MAP<K, V>` is `MAP(K, V)`.
pub(super) fn types(lexemes: &[Lexeme]) -> Vec<TokenWithSpan> {
    let mut tokens = Vec::with_capacity(lexemes.len());
    // What closes each open `<`.
    let mut open: Vec<Token> = Vec::new();
    let mut rest = lexemes;
    while let Some((first, others)) = rest.split_first() {
        let span = first.token.span;
        let opens = others.first().is_some_and(|next| next.token.token == Token::Lt);
        rest = others;
        match &first.token.token {
            Token::Word(word) if opens && word.quote_style.is_none() => {
                let is_map = word.keyword == Keyword::MAP;
                let name = if first.is_word("LIST") {
                    Token::make_keyword("ARRAY")
                } else {
                    first.token.token.clone()
                };
                tokens.push(TokenWithSpan { token: name, span });
                let sign = if is_map { Token::LParen } else { Token::Lt };
                tokens.push(TokenWithSpan { token: sign, span });
                open.push(if is_map { Token::RParen } else { Token::Gt });
                rest = others.get(1..).unwrap_or_default();
            }
            Token::Gt if !open.is_empty() => {
                tokens.extend(open.pop().map(|token| TokenWithSpan { token, span }));
            }
            Token::ShiftRight if open.len() > 1 => {
                let (inner, outer) = (open.pop(), open.pop());
                if inner == Some(Token::Gt) && outer == Some(Token::Gt) {
                    tokens.push(first.token.clone());
                } else {
                    tokens.extend(inner.into_iter().chain(outer).map(|token| TokenWithSpan { token, span }));
                }
            }
            _ => tokens.push(first.token.clone()),
        }
    }
    tokens
}
