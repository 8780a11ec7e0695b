//! Fills `{USER}`, `{OWNER}` and other tokens, and `${{…}}` expressions, into the values of policies.

use std::collections::BTreeMap;

use policy::model::ResourceDef;

/// What tokens stand for, and who computes expressions.
pub(crate) struct Fillings<'a> {
    pub(crate) tokens: BTreeMap<String, String>,
    /// None where there is no request: expressions stay as they are.
    pub(crate) expression: Option<&'a dyn Fn(&str) -> String>,
}

/// How a level's definition marks tokens.
pub(crate) struct TokenMarks {
    start: char,
    end: char,
    escape: char,
    prefix: String,
    are_tokens_filled: bool,
    are_expressions_filled: bool,
}

impl TokenMarks {
    pub(crate) fn of(def: &ResourceDef) -> Self {
        let text =
            |name: &str| def.matcher_options.get(name).map(String::as_str).filter(|text| !text.is_empty());
        let char_of =
            |name: &str, default: char| text(name).and_then(|text| text.chars().next()).unwrap_or(default);
        let (start, end) = (char_of("tokenDelimiterStart", '{'), char_of("tokenDelimiterEnd", '}'));
        let escape = char_of("tokenDelimiterEscape", '\\');
        let prefix = text("tokenDelimiterPrefix").unwrap_or("").to_owned();
        let is_clash = start == escape || end == escape || prefix.contains([start, end, escape]);
        Self {
            start,
            end,
            escape,
            prefix,
            are_tokens_filled: is_on(text("replaceTokens")) && !is_clash,
            are_expressions_filled: is_on(text("replaceReqExpressions")),
        }
    }

    pub(crate) fn fill(&self, value: &str, fillings: &Fillings<'_>) -> String {
        let mut filled = value.to_owned();
        if self.are_expressions_filled
            && let Some(expression) = fillings.expression
        {
            filled = fill_expressions(&filled, expression);
        }
        if self.are_tokens_filled && !fillings.tokens.is_empty() {
            filled = self.fill_tokens(&filled, &fillings.tokens);
        }
        filled
    }

    fn fill_tokens(&self, value: &str, tokens: &BTreeMap<String, String>) -> String {
        let mut filled = String::new();
        // What follows the opening mark, while a token is open.
        let mut open: Option<String> = None;
        let mut chars = value.chars().peekable();
        while let Some(c) = chars.next() {
            if c == self.escape {
                let target = open.as_mut().unwrap_or(&mut filled);
                match chars.peek().copied() {
                    Some(next) if next == self.start || next == self.end || next == self.escape => {
                        target.push(next);
                        chars.next();
                    }
                    _ => target.push(c),
                }
            } else if c == self.start && (open.is_none() || self.start != self.end) {
                if let Some(unclosed) = open.replace(String::new()) {
                    filled.push(self.start);
                    filled.push_str(&unclosed);
                }
            } else if c == self.end
                && let Some(name) = open.take()
            {
                match self.value_of(&name, tokens) {
                    Some(value) => filled.push_str(value),
                    None => {
                        filled.push(self.start);
                        filled.push_str(&name);
                        filled.push(self.end);
                    }
                }
            } else {
                open.as_mut().unwrap_or(&mut filled).push(c);
            }
        }
        if let Some(unclosed) = open {
            filled.push(self.start);
            filled.push_str(&unclosed);
        }
        filled
    }

    fn value_of<'a>(&self, name: &str, tokens: &'a BTreeMap<String, String>) -> Option<&'a str> {
        let name = name.strip_prefix(self.prefix.as_str())?;
        tokens.get(name).map(String::as_str)
    }
}

/// A setting that is on unless it says otherwise.
fn is_on(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.eq_ignore_ascii_case("true"))
}

/// Replaces each `${{…}}`, up to the nearest `}}`.
pub(crate) fn fill_expressions(value: &str, expression: &dyn Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${{") {
        let Some((inner, behind)) = after.split_once("}}") else { break };
        filled.push_str(before);
        filled.push_str(&expression(inner));
        rest = behind;
    }
    filled.push_str(rest);
    filled
}
