//! `{USER}`, other tokens and `${{expressions}}` in policy values, replaced when a request is matched.

use std::collections::BTreeMap;

use crate::evaluate::AttributeValue;

/// Evaluates the expressions in policy values for one request.
pub trait Expressions {
    /// What an expression (the text between `${{` and `}}`) stands for; `None` if it stands for nothing.
    fn text(&self, expr: &str) -> Option<String>;
}

/// What tokens and expressions stand for in one request.
#[derive(Clone, Copy)]
pub struct MatchContext<'a> {
    tokens: Option<Tokens<'a>>,
    expressions: Option<&'a dyn Expressions>,
}

#[derive(Clone, Copy)]
struct Tokens<'a> {
    user: &'a str,
    owner: Option<&'a str>,
    attributes: &'a BTreeMap<String, AttributeValue>,
    /// What a token stands for that nothing else is known of.
    any_other: Option<&'a AttributeValue>,
}

static NO_ATTRIBUTES: BTreeMap<String, AttributeValue> = BTreeMap::new();

/// How the attribute that stands for a token begins.
const TOKEN_ATTRIBUTE: &str = "token:";

impl<'a> MatchContext<'a> {
    /// Nothing is replaced: every value stands as it is written.
    pub const NONE: MatchContext<'static> = MatchContext { tokens: None, expressions: None };

    /// `{USER}` and `{OWNER}` stand for these; without a user (the empty name) or owner the token stands for itself.
    pub fn new(user: &'a str, owner: Option<&'a str>) -> Self {
        let tokens = Tokens { user, owner, attributes: &NO_ATTRIBUTES, any_other: None };
        Self { tokens: Some(tokens), expressions: None }
    }

    /// Every token stands for the same.
    pub(crate) fn of_any_token(value: &'a AttributeValue) -> Self {
        let tokens = Tokens { user: "", owner: None, attributes: &NO_ATTRIBUTES, any_other: Some(value) };
        Self { tokens: Some(tokens), expressions: None }
    }

    /// An attribute `token:X` stands for `{X}`.
    #[must_use]
    pub fn with_attributes(mut self, attributes: &'a BTreeMap<String, AttributeValue>) -> Self {
        if let Some(tokens) = &mut self.tokens {
            tokens.attributes = attributes;
        }
        self
    }

    #[must_use]
    pub fn with_expressions(self, expressions: &'a dyn Expressions) -> Self {
        Self { expressions: Some(expressions), ..self }
    }

    /// The value with its expressions and tokens replaced; what stands for nothing known stays as it is written.
    pub(crate) fn fill(&self, value: &str, syntax: &Syntax) -> String {
        let text = match self.expressions.filter(|_| syntax.expressions) {
            Some(expressions) => replace_expressions(value, expressions),
            None => value.to_owned(),
        };
        match (&syntax.tokens, &self.tokens) {
            (Some(delimiters), Some(tokens)) if delimiters.are_in(&text) => delimiters.replace(&text, tokens),
            _ => text,
        }
    }
}

impl std::fmt::Debug for MatchContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MatchContext").finish_non_exhaustive()
    }
}

impl Tokens<'_> {
    fn push(&self, name: &str, into: &mut String) -> bool {
        let is_named =
            |(key, _): &(&String, &AttributeValue)| key.strip_prefix(TOKEN_ATTRIBUTE) == Some(name);
        let given = self.attributes.iter().find(is_named).map(|(_, value)| value).or(self.any_other);
        let text = match (given, name) {
            // The engine sets these two whatever the request brings along.
            (_, "USER") if !self.user.is_empty() => self.user,
            (_, "OWNER") if self.owner.is_some() => self.owner.unwrap_or_default(),
            (Some(AttributeValue::Text(text)), _) => text,
            (Some(AttributeValue::List(all)), _) => {
                into.push_str(&format!("[{}]", all.join(", ")));
                return true;
            }
            (None, _) => return false,
        };
        into.push_str(text);
        true
    }
}

/// What is replaced in the values of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    tokens: Option<Delimiters>,
    expressions: bool,
}

/// How tokens are written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Delimiters {
    start: char,
    end: char,
    escape: char,
    prefix: String,
}

impl Syntax {
    pub(crate) fn of(options: &BTreeMap<String, String>) -> Self {
        let is_on = |key: &str| {
            options.get(key).is_none_or(|text| text.is_empty() || text.eq_ignore_ascii_case("true"))
        };
        let tokens = if is_on("replaceTokens") { Delimiters::of(options) } else { None };
        Self { tokens, expressions: is_on("replaceReqExpressions") }
    }

    /// Whether anything in the value may be replaced.
    pub(crate) fn is_dynamic(&self, value: &str) -> bool {
        self.has_expression(value) || self.tokens.as_ref().is_some_and(|d| d.are_in(value))
    }

    pub(crate) fn has_expression(&self, value: &str) -> bool {
        self.expressions && next_expression(value).is_some()
    }

    /// What of the value stands before anything that may be replaced.
    pub(crate) fn literal_head<'v>(&self, value: &'v str) -> &'v str {
        let is_special = |c: char| {
            (self.expressions && c == '$')
                || self.tokens.as_ref().is_some_and(|d| c == d.start || c == d.escape)
        };
        value.find(is_special).and_then(|at| value.get(..at)).unwrap_or(value)
    }
}

impl Delimiters {
    /// `None`: they contradict each other, so that nothing is replaced.
    fn of(options: &BTreeMap<String, String>) -> Option<Self> {
        let first =
            |key: &str, default: char| options.get(key).and_then(|t| t.chars().next()).unwrap_or(default);
        let found = Self {
            start: first("tokenDelimiterStart", '{'),
            end: first("tokenDelimiterEnd", '}'),
            escape: first("tokenDelimiterEscape", '\\'),
            prefix: options.get("tokenDelimiterPrefix").cloned().unwrap_or_default(),
        };
        let clashes = found.start == found.escape
            || found.end == found.escape
            || [found.start, found.end, found.escape].iter().any(|c| found.prefix.contains(*c));
        (!clashes).then_some(found)
    }

    fn are_in(&self, text: &str) -> bool {
        text.contains(self.escape) || (text.contains(self.start) && text.contains(self.end))
    }

    fn replace(&self, text: &str, tokens: &Tokens<'_>) -> String {
        let mut whole = String::new();
        // The token that is being read.
        let mut open: Option<String> = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c == self.escape {
                let next = rest.next();
                let closes = if open.is_some() { self.end } else { self.start };
                let into = open.as_mut().unwrap_or(&mut whole);
                // Only an escape or a delimiter can be escaped.
                if next.is_none_or(|next| next != self.escape && next != closes) {
                    into.push(self.escape);
                }
                into.extend(next);
                continue;
            }
            match open.take() {
                None if c == self.start => open = Some(String::new()),
                None => whole.push(c),
                Some(name) if c == self.end => {
                    let known = name.strip_prefix(self.prefix.as_str());
                    if !known.is_some_and(|known| tokens.push(known, &mut whole)) {
                        whole.push(self.start);
                        whole.push_str(&name);
                        whole.push(self.end);
                    }
                }
                Some(mut name) => {
                    name.push(c);
                    open = Some(name);
                }
            }
        }
        if let Some(name) = open {
            whole.push(self.start);
            whole.push_str(&name);
        }
        whole
    }
}

/// Where the next `${{expression}}` stands: what is before it, itself, and what is after it.
fn next_expression(text: &str) -> Option<(&str, &str, &str)> {
    let mut searched = 0;
    loop {
        let (before, after) = text.get(searched..)?.split_once("${{")?;
        let (expression, rest) = after.split_once("}}")?;
        // An expression stands on one line.
        if !expression.contains(['\n', '\r']) {
            return Some((text.get(..searched + before.len())?, expression, rest));
        }
        searched += before.len() + 1;
    }
}

fn replace_expressions(value: &str, expressions: &dyn Expressions) -> String {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, expression, after)) = next_expression(rest) {
        text.push_str(before);
        text.push_str(&expressions.text(expression).unwrap_or_default());
        rest = after;
    }
    text.push_str(rest);
    text
}
