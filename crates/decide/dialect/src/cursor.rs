//! Reads tokens one after the other and says what was expected where.

use sqlparser::tokenizer::Token;

use crate::ast::{Ident, Name, Span};
use crate::error::SyntaxError;
use crate::lex::{Lexeme, is_string};

/// Words that end a clause, and so are names only in quotes.
const RESERVED: &[&str] = &[
    "AND", "AS", "FOR", "FROM", "GRANT", "IN", "NOT", "NULL", "ON", "OR", "SELECT", "TO", "USING", "WHERE",
    "WITH",
];

pub(crate) type Parsed<T> = Result<T, SyntaxError>;

pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    lexemes: &'a [Lexeme],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// `lexemes` hold no white space and no trailing `;`.
    pub(crate) fn new(text: &'a str, lexemes: &'a [Lexeme]) -> Self {
        Self { text, lexemes, at: 0 }
    }

    /// The token `n` places ahead.
    pub(crate) fn peek(&self, n: usize) -> Option<&'a Lexeme> {
        self.lexemes.get(self.at + n)
    }

    pub(crate) fn rest(&self) -> &'a [Lexeme] {
        self.lexemes.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn bump(&mut self) -> Option<&'a Lexeme> {
        let lexeme = self.peek(0)?;
        self.at += 1;
        Some(lexeme)
    }

    pub(crate) fn skip(&mut self, n: usize) {
        self.at = (self.at + n).min(self.lexemes.len());
    }

    pub(crate) fn skip_to_end(&mut self) {
        self.at = self.lexemes.len();
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.peek(0).is_none()
    }

    /// Where the next token starts, or the last one ended.
    pub(crate) fn position(&self) -> usize {
        self.peek(0).map_or_else(|| self.previous_end(), |lexeme| lexeme.start)
    }

    pub(crate) fn previous_end(&self) -> usize {
        match self.at.checked_sub(1).and_then(|at| self.lexemes.get(at)) {
            Some(lexeme) => lexeme.end,
            None => self.text.len(),
        }
    }

    /// From `start` to the end of the token read last.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.previous_end().max(start) }
    }

    /// From `start` to the end of the statement.
    pub(crate) fn span_to_end(&mut self, start: usize) -> Span {
        self.skip_to_end();
        self.span_from(start)
    }

    // Words.

    pub(crate) fn is_word_at(&self, n: usize, keyword: &str) -> bool {
        self.peek(n).is_some_and(|lexeme| lexeme.is_word(keyword))
    }

    pub(crate) fn are_words_at(&self, n: usize, keywords: &[&str]) -> bool {
        keywords.iter().enumerate().all(|(i, keyword)| self.is_word_at(n + i, keyword))
    }

    pub(crate) fn is_one_of_at(&self, n: usize, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is_word_at(n, keyword))
    }

    pub(crate) fn is_token_at(&self, n: usize, token: &Token) -> bool {
        self.peek(n).is_some_and(|lexeme| lexeme.token.token == *token)
    }

    /// A word follows that can be a name, so that the keyword before it is one.
    pub(crate) fn is_name_at(&self, n: usize) -> bool {
        match self.peek(n) {
            Some(lexeme) => lexeme.is_any_word() && !RESERVED.iter().any(|word| lexeme.is_word(word)),
            None => false,
        }
    }

    pub(crate) fn eat(&mut self, keyword: &str) -> bool {
        self.eat_all(&[keyword])
    }

    pub(crate) fn eat_all(&mut self, keywords: &[&str]) -> bool {
        let found = self.are_words_at(0, keywords);
        if found {
            self.skip(keywords.len());
        }
        found
    }

    pub(crate) fn eat_token(&mut self, token: &Token) -> bool {
        let found = self.is_token_at(0, token);
        if found {
            self.skip(1);
        }
        found
    }

    pub(crate) fn expect(&mut self, keyword: &str) -> Parsed<()> {
        if self.eat(keyword) { Ok(()) } else { Err(self.expected(&[keyword])) }
    }

    pub(crate) fn expect_all(&mut self, keywords: &[&str]) -> Parsed<()> {
        keywords.iter().try_for_each(|keyword| self.expect(keyword))
    }

    pub(crate) fn expect_token(&mut self, token: &Token) -> Parsed<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.expected(&[&token.to_string()])) }
    }

    pub(crate) fn expect_end(&self) -> Parsed<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected_a("end of statement")) }
    }

    // Errors.

    /// ``expected `TO` or `FROM`, found `FOR` ``.
    pub(crate) fn expected(&self, alternatives: &[&str]) -> SyntaxError {
        let quoted: Vec<String> = alternatives.iter().map(|word| format!("`{word}`")).collect();
        let list = match quoted.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => "nothing".to_owned(),
        };
        self.expected_a(&list)
    }

    /// `expected a role name, found …`.
    pub(crate) fn expected_a(&self, what: &str) -> SyntaxError {
        SyntaxError::new(format!("expected {what}, found {}", self.found()), self.position())
    }

    fn found(&self) -> String {
        self.peek(0).map_or_else(|| "end of statement".to_owned(), |lexeme| lexeme.describe(self.text))
    }

    // Names and literals.

    /// A name of one part.
    pub(crate) fn ident(&mut self, what: &str) -> Parsed<Ident> {
        if !self.is_name_at(0) {
            return Err(self.not_a_name(what));
        }
        self.any_word(what)
    }

    /// Any word, as after a dot, where nothing is reserved.
    fn any_word(&mut self, what: &str) -> Parsed<Ident> {
        let Some(lexeme) = self.peek(0) else { return Err(self.expected_a(what)) };
        let Token::Word(word) = &lexeme.token.token else { return Err(self.not_a_name(what)) };
        let is_quoted = word.quote_style.is_some();
        if is_quoted && word.value.is_empty() {
            return Err(SyntaxError::new(format!("{what} is empty"), lexeme.start));
        }
        let value = if is_quoted { word.value.clone() } else { word.value.to_lowercase() };
        self.skip(1);
        Ok(Ident { value, is_quoted, span: Span { start: lexeme.start, end: lexeme.end } })
    }

    fn not_a_name(&self, what: &str) -> SyntaxError {
        let error = self.expected_a(what);
        match self.peek(0) {
            Some(lexeme) if is_string(&lexeme.token.token) => {
                error.with_hint("a name stands in double quotes, or in none")
            }
            Some(lexeme) if lexeme.is_any_word() => {
                error.with_hint("write the word in double quotes to use it as a name")
            }
            _ => error,
        }
    }

    /// A name whose case counts even without quotes, as that of a tag.
    pub(crate) fn ident_as_written(&mut self, what: &str) -> Parsed<Ident> {
        let lexeme = self.peek(0);
        let mut ident = self.ident(what)?;
        if let Some(Token::Word(word)) = lexeme.map(|lexeme| &lexeme.token.token) {
            ident.value.clone_from(&word.value);
        }
        Ok(ident)
    }

    /// A name of one to n parts.
    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name> {
        let first = self.ident(what)?;
        let start = first.span.start;
        let mut parts = vec![first];
        while self.eat_token(&Token::Period) {
            parts.push(self.any_word("a name after `.`")?);
        }
        Ok(Name { parts, span: self.span_from(start) })
    }

    /// The value of a string literal.
    pub(crate) fn string(&mut self, what: &str) -> Parsed<String> {
        let value = match self.peek(0).map(|lexeme| &lexeme.token.token) {
            Some(
                Token::SingleQuotedString(value)
                | Token::EscapedStringLiteral(value)
                | Token::UnicodeStringLiteral(value)
                | Token::NationalStringLiteral(value),
            ) => value.clone(),
            Some(Token::DollarQuotedString(quoted)) => quoted.value.clone(),
            _ => return Err(self.expected_a(what)),
        };
        self.skip(1);
        Ok(value)
    }

    /// One or more of `item`, with commas between.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The same in parentheses.
    pub(crate) fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let items = self.list(item)?;
        if self.eat_token(&Token::RParen) { Ok(items) } else { Err(self.expected(&[",", ")"])) }
    }

    // Frequent phrases.

    pub(crate) fn if_exists(&mut self) -> bool {
        self.eat_all(&["IF", "EXISTS"])
    }

    pub(crate) fn if_not_exists(&mut self) -> bool {
        self.eat_all(&["IF", "NOT", "EXISTS"])
    }
}
