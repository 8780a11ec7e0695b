//! `{USER}` and `{OWNER}` in policy values, replaced when a request is matched.

use std::collections::BTreeMap;

/// What tokens stand for in one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'a> {
    pub(crate) user: &'a str,
    pub(crate) owner: Option<&'a str>,
}

impl Tokens<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        match name {
            "USER" => Some(self.user),
            "OWNER" => self.owner,
            _ => None,
        }
    }
}

/// How tokens are written at one level of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenSyntax {
    start: char,
    end: char,
    escape: char,
    prefix: String,
}

impl TokenSyntax {
    /// `None`: the level's options switch tokens off, or contradict themselves.
    pub(crate) fn of(options: &BTreeMap<String, String>) -> Option<Self> {
        let text = |key: &str, default: &str| options.get(key).map_or(default, String::as_str).to_owned();
        let first =
            |key: &str, default: char| options.get(key).and_then(|t| t.chars().next()).unwrap_or(default);
        if options.get("replaceTokens").is_some_and(|t| t.eq_ignore_ascii_case("false")) {
            return None;
        }
        let syntax = Self {
            start: first("tokenDelimiterStart", '{'),
            end: first("tokenDelimiterEnd", '}'),
            escape: first("tokenDelimiterEscape", '\\'),
            prefix: text("tokenDelimiterPrefix", ""),
        };
        let clashes = syntax.start == syntax.escape
            || syntax.end == syntax.escape
            || [syntax.start, syntax.end, syntax.escape].iter().any(|c| syntax.prefix.contains(*c));
        (!clashes).then_some(syntax)
    }

    /// The parts of a value that holds tokens; `None` if it holds none.
    pub(crate) fn parse(&self, text: &str) -> Option<Template> {
        if !text.contains(self.start) {
            return None;
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c == self.escape && rest.peek().is_some_and(|next| *next == self.start || *next == self.end) {
                literal.extend(rest.next());
            } else if c == self.start {
                let mut name = String::new();
                let mut closed = false;
                for inner in rest.by_ref() {
                    if inner == self.end {
                        closed = true;
                        break;
                    }
                    name.push(inner);
                }
                match name.strip_prefix(self.prefix.as_str()) {
                    Some(key) if closed => {
                        let as_written = format!("{}{name}{}", self.start, self.end);
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                        parts.push(Part::Token { name: key.to_owned(), as_written });
                    }
                    _ => {
                        literal.push(c);
                        literal.push_str(&name);
                        if closed {
                            literal.push(self.end);
                        }
                    }
                }
            } else {
                literal.push(c);
            }
        }
        parts.push(Part::Text(literal));
        Some(Template(parts))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Token { name: String, as_written: String },
}

/// A policy value with tokens in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

impl Template {
    /// The text with every known token replaced; an unknown one stays as it is written.
    pub(crate) fn fill(&self, tokens: &Tokens<'_>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Token { name, as_written } => text.push_str(tokens.value(name).unwrap_or(as_written)),
            }
        }
        text
    }
}
