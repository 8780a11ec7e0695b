//! Tokens of sqlparser with the bytes they stand at.

use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};

use crate::error::SyntaxError;
use crate::limits::STATEMENT_BYTES_MAX;
use crate::sql::SluiceDialect;

/// A token that is not white space or a comment.
#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: TokenWithSpan,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Lexeme {
    pub(crate) fn is_space(&self) -> bool {
        matches!(
            self.token.token,
            Token::Whitespace(Whitespace::Space | Whitespace::Tab | Whitespace::Newline)
        )
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.token.token, Token::Whitespace(_)) && !self.is_space()
    }

    /// An unquoted word that says `keyword`.
    pub(crate) fn is_word(&self, keyword: &str) -> bool {
        match &self.token.token {
            Token::Word(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword),
            _ => false,
        }
    }

    pub(crate) fn is_any_word(&self) -> bool {
        matches!(self.token.token, Token::Word(_))
    }

    /// How an error names the token; literals are never repeated.
    pub(crate) fn describe(&self, text: &str) -> String {
        match &self.token.token {
            Token::Number(..) => "a number".to_owned(),
            token if is_string(token) => "a string".to_owned(),
            _ => {
                let source = text.get(self.start..self.end).unwrap_or_default();
                let short: String = source.chars().take(40).collect();
                let more = if short.len() < source.len() { "…" } else { "" };
                format!("`{short}{more}`")
            }
        }
    }
}

/// Any spelling of a text or byte literal.
pub(crate) fn is_string(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::TripleSingleQuotedString(_)
            | Token::TripleDoubleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
            | Token::TripleSingleQuotedByteStringLiteral(_)
            | Token::TripleDoubleQuotedByteStringLiteral(_)
            | Token::SingleQuotedRawStringLiteral(_)
            | Token::DoubleQuotedRawStringLiteral(_)
            | Token::TripleSingleQuotedRawStringLiteral(_)
            | Token::TripleDoubleQuotedRawStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::QuoteDelimitedStringLiteral(_)
            | Token::NationalQuoteDelimitedStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
    )
}

/// Walks a text once and says at which byte a line and column stand.
pub(crate) struct Offsets<'a> {
    chars: std::str::CharIndices<'a>,
    line: u64,
    column: u64,
    len: usize,
}

impl<'a> Offsets<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { chars: text.char_indices(), line: 1, column: 1, len: text.len() }
    }

    /// The byte of `location`, which must not be before the one asked for last.
    pub(crate) fn advance_to(&mut self, location: Location) -> usize {
        while (self.line, self.column) < (location.line, location.column) {
            match self.chars.next() {
                Some((_, '\n')) => (self.line, self.column) = (self.line + 1, 1),
                Some(_) => self.column += 1,
                None => break,
            }
        }
        self.chars.clone().next().map_or(self.len, |(offset, _)| offset)
    }
}

/// All tokens of `text`, white space and comments too, up to the first place that is no token.
pub(crate) fn lex_prefix(text: &str) -> (Vec<Lexeme>, Option<SyntaxError>) {
    let mut tokens = Vec::new();
    let result = Tokenizer::new(&SluiceDialect, text).tokenize_with_location_into_buf(&mut tokens);
    let mut offsets = Offsets::new(text);
    let mut lexemes = Vec::with_capacity(tokens.len());
    for token in tokens {
        let start = offsets.advance_to(token.span.start);
        let end = offsets.advance_to(token.span.end);
        lexemes.push(Lexeme { token, start, end });
    }
    let error = result.err().map(|fault| {
        // The tokenizer points at the end of a text that is not closed; what helps is where it opens.
        let opens = lexemes.last().map_or(0, |last: &Lexeme| last.end);
        let message = if fault.message.contains("Unterminated")
            || fault.message.contains("EOF")
            || fault.message.contains("Unexpected EOF")
        {
            match text.get(opens..).and_then(|rest| rest.chars().next()) {
                Some('/') => "comment is not closed",
                Some('"' | '`') => "quoted name is not closed",
                _ => "string is not closed",
            }
        } else {
            "not a token"
        };
        SyntaxError::new(message, opens)
    });
    (lexemes, error)
}

/// All tokens of `text`, or why there are none.
pub(crate) fn lex(text: &str) -> Result<Vec<Lexeme>, SyntaxError> {
    if text.len() > STATEMENT_BYTES_MAX {
        return Err(SyntaxError::limit(
            format!("statement has {} bytes, more than the limit of {STATEMENT_BYTES_MAX}", text.len()),
            0,
        ));
    }
    match lex_prefix(text) {
        (lexemes, None) => Ok(lexemes),
        (_, Some(error)) => Err(error),
    }
}

/// The tokens of `text` that mean something, within the limits.
pub(crate) fn lex_significant(text: &str) -> Result<Vec<Lexeme>, SyntaxError> {
    let mut lexemes = lex(text)?;
    lexemes.retain(|lexeme| !matches!(lexeme.token.token, Token::Whitespace(_)));
    crate::limits::check(&lexemes)?;
    Ok(lexemes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sqlparser::tokenizer::Token;

    use super::lex_prefix;

    fn check(text: &str) {
        let (lexemes, error) = lex_prefix(text);
        let mut end = 0;
        for lexeme in &lexemes {
            assert_eq!(lexeme.start, end, "{text:?}");
            end = lexeme.end;
            let source = &text[lexeme.start..lexeme.end];
            if let Token::Word(word) = &lexeme.token.token
                && word.quote_style.is_none()
            {
                assert_eq!(source, word.value);
            }
        }
        assert_eq!(end, error.map_or(text.len(), |error| error.position), "{text:?}");
    }

    #[test]
    fn tokens_cover_the_text_byte_for_byte() {
        check("SELECT 'ä\r\n😀', \"ß\"\"\" \r\n,\t$$x\n$$ /* é /* */ */ -- ü\r\n FROM größe;\r");
        check("größe 'x' 'unclosed ä");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn tokens_cover_any_text(text in "([a-zäß😀 \r\n'\"$`;/*(){}.,0-9<>:@#-]|e'|u&'|q'|x'){0,60}") {
            check(&text);
        }
    }
}
