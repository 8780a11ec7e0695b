//! Takes the literals out of a statement, so that an audit record shows its shape and not its values.

use serde::Serialize;

use crate::STATEMENT_BYTES_MAX;

/// A statement without its literals and comments: each string, number and dollar-quoted body is a `?`.
///
/// Made by [`Redacted::statement`] alone, so that a record cannot hold a text that was not looked through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// Names, quoted ones included, key words, operators and `$1` stay. What does not end, such as an open quote,
    /// is taken out to the end of the text.
    pub fn statement(sql: &str) -> Self {
        let mut scan = Scan { chars: sql.chars().collect(), at: 0, out: String::new() };
        while scan.step() {}
        let mut text = scan.out.trim().to_owned();
        if text.len() > STATEMENT_BYTES_MAX {
            let cut = (0..=STATEMENT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(cut);
            text.push('…');
        }
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

struct Scan {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Scan {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.saturating_add(ahead)).copied()
    }

    fn skip(&mut self, n_chars: usize) {
        self.at = self.at.saturating_add(n_chars);
    }

    /// Takes one token; false at the end.
    fn step(&mut self) -> bool {
        let Some(next) = self.peek(0) else {
            return false;
        };
        match next {
            '\'' => self.string(false),
            '"' | '`' => self.quoted_name(next),
            '-' if self.peek(1) == Some('-') => self.line_comment(),
            '/' if self.peek(1) == Some('*') => self.block_comment(),
            '$' => self.dollar(),
            '.' if self.peek(1).is_some_and(|c| c.is_ascii_digit()) && !self.follows_name() => self.number(),
            _ if next.is_ascii_digit() => self.number(),
            _ if is_name_char(next) => self.word(),
            _ => {
                self.out.push(next);
                self.skip(1);
            }
        }
        true
    }

    /// Whether a dot here would join names, as in `t.1`, rather than begin a number.
    fn follows_name(&self) -> bool {
        self.out.chars().next_back().is_some_and(|c| is_name_char(c) || matches!(c, '"' | '`' | ')' | ']'))
    }

    /// A string; in an `E'…'` string a backslash hides the next character.
    fn string(&mut self, has_escapes: bool) {
        self.out.push('?');
        self.skip(1);
        while let Some(c) = self.peek(0) {
            self.skip(1);
            match c {
                '\\' if has_escapes => self.skip(1),
                '\'' if self.peek(0) == Some('\'') => self.skip(1),
                '\'' => return,
                _ => {}
            }
        }
    }

    fn quoted_name(&mut self, quote: char) {
        let begin = self.at;
        self.skip(1);
        while let Some(c) = self.peek(0) {
            self.skip(1);
            if c != quote {
                continue;
            }
            if self.peek(0) == Some(quote) {
                self.skip(1);
                continue;
            }
            let name = self.chars.get(begin..self.at).unwrap_or_default();
            self.out.extend(name);
            return;
        }
        // An open quote: nobody can tell what it holds.
        self.out.push('?');
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.skip(1);
        }
        self.space();
    }

    fn block_comment(&mut self) {
        self.skip(2);
        let mut depth: usize = 1;
        while depth > 0 && self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('*'), Some('/')) => {
                    depth = depth.saturating_sub(1);
                    self.skip(2);
                }
                (Some('/'), Some('*')) => {
                    depth = depth.saturating_add(1);
                    self.skip(2);
                }
                _ => self.skip(1),
            }
        }
        self.space();
    }

    fn space(&mut self) {
        if !self.out.ends_with(char::is_whitespace) {
            self.out.push(' ');
        }
    }

    /// `$1` stays, `$$…$$` and `$tag$…$tag$` are strings.
    fn dollar(&mut self) {
        let n_tag = (1..)
            .map_while(|ahead| self.peek(ahead))
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .count();
        let closes = self.peek(n_tag.saturating_add(1)) == Some('$');
        let is_tag = closes && !self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if !is_tag {
            for _ in 0..=n_tag {
                self.out.extend(self.peek(0));
                self.skip(1);
            }
            return;
        }
        let n_mark = n_tag.saturating_add(2);
        let mark: Vec<char> = (0..n_mark).filter_map(|ahead| self.peek(ahead)).collect();
        self.skip(n_mark);
        self.out.push('?');
        while self.peek(0).is_some() {
            let rest = self.chars.get(self.at..).unwrap_or_default();
            if rest.starts_with(&mark) {
                self.skip(n_mark);
                return;
            }
            self.skip(1);
        }
    }

    /// Digits, and what belongs to a number: `0x1F`, `1_000`, `1.5`, `2e-3`.
    fn number(&mut self) {
        self.out.push('?');
        let mut before = ' ';
        while let Some(c) = self.peek(0) {
            let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            if !(is_name_char(c) || c == '.' || is_sign) {
                return;
            }
            before = c;
            self.skip(1);
        }
    }

    /// A name or key word, or the prefix of a string such as `E'…'`, `X'…'` or `U&'…'`.
    fn word(&mut self) {
        let begin = self.at;
        while self.peek(0).is_some_and(is_name_char) {
            self.skip(1);
        }
        let word = self.chars.get(begin..self.at).unwrap_or_default().to_vec();
        self.out.extend(&word);
        if self.peek(0) == Some('\'') {
            let has_escapes = matches!(word.as_slice(), ['e' | 'E']);
            self.string(has_escapes);
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
