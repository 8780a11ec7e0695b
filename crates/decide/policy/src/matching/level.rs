//! One level of a resource: its policy values, with wildcards, tokens, case and excludes.

use super::Tokens;
use super::token::{Template, TokenSyntax};
use crate::model::{ResourceDef, ResourceValues};

/// How values of one level compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelOptions {
    wild_card: bool,
    case: Case,
    tokens: Option<TokenSyntax>,
    expressions: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Case {
    Sensitive,
    Insensitive,
    /// Sensitive where the requested value begins with one of these.
    Quoted(String),
}

impl LevelOptions {
    /// Reads the options of a level.
    ///
    /// # Errors
    /// The level wants a matcher that is not offered.
    pub(crate) fn of(def: &ResourceDef) -> Result<Self, String> {
        let class = def.matcher.rsplit('.').next().unwrap_or_default();
        if !class.is_empty() && class != "RangerDefaultResourceMatcher" {
            return Err(format!("the matcher `{class}` of level `{}` is not supported", def.name));
        }
        let flag = |key: &str, default: bool| {
            def.matcher_options.get(key).map_or(default, |text| text.trim().eq_ignore_ascii_case("true"))
        };
        let case = if flag("quotedCaseSensitive", false) {
            Case::Quoted(def.matcher_options.get("quoteChars").map_or("\"", String::as_str).to_owned())
        } else if flag("ignoreCase", true) {
            Case::Insensitive
        } else {
            Case::Sensitive
        };
        Ok(Self {
            wild_card: flag("wildCard", true),
            case,
            tokens: TokenSyntax::of(&def.matcher_options),
            expressions: flag("replaceReqExpressions", true),
        })
    }

    /// The text under which an exact value is found again; `None` where no such text exists.
    pub(crate) fn key(&self, value: &Value) -> Option<String> {
        match &self.case {
            Case::Sensitive => Some(value.raw.clone()),
            Case::Insensitive => Some(value.lower.clone()),
            Case::Quoted(_) => None,
        }
    }
}

/// A text and its lower-case form, made once per request or policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    raw: String,
    lower: String,
}

impl Value {
    pub(crate) fn new(raw: &str) -> Self {
        Self { raw: raw.to_owned(), lower: raw.to_lowercase() }
    }

    /// Whether the request means every value of the level.
    pub(crate) fn is_all(&self) -> bool {
        self.raw.is_empty() || self.raw == "*"
    }

    fn text(&self, fold_case: bool) -> &str {
        if fold_case { &self.lower } else { &self.raw }
    }
}

/// The values that a policy names at one level.
#[derive(Clone, Debug)]
pub(crate) struct LevelMatcher {
    options: LevelOptions,
    patterns: Vec<Pattern>,
    is_any: bool,
    is_excludes: bool,
}

#[derive(Clone, Debug)]
struct Pattern {
    shape: Shape,
    /// Without the stars that gave the shape.
    text: Value,
    template: Option<Template>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Equal,
    StartsWith,
    EndsWith,
    Glob,
}

impl LevelMatcher {
    /// # Errors
    /// A value asks for the script engine.
    pub(crate) fn new(options: &LevelOptions, values: &ResourceValues) -> Result<Self, String> {
        let mut patterns = Vec::new();
        let mut is_any = true;
        let mut only_stars = false;
        for value in values.values.iter().filter(|v| !v.trim().is_empty()) {
            is_any = false;
            if options.expressions && value.contains("${{") {
                return Err(format!("the expression in the resource value `{value}` is not supported"));
            }
            only_stars |= options.wild_card && value.chars().all(|c| c == '*');
            patterns.push(Pattern::new(options, value));
        }
        if only_stars {
            is_any = true;
            patterns.clear();
        }
        Ok(Self { options: options.clone(), patterns, is_any, is_excludes: values.is_excludes })
    }

    pub(crate) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether the level takes every value without exception.
    pub(crate) fn takes_all(&self) -> bool {
        self.is_any && !self.is_excludes
    }

    /// The exact values by which an index can find this level; `None` if it must be tried.
    pub(crate) fn exact_keys(&self) -> Option<Vec<String>> {
        if self.is_any || self.is_excludes {
            return None;
        }
        self.patterns
            .iter()
            .map(|p| match (p.shape, &p.template) {
                (Shape::Equal, None) => self.options.key(&p.text),
                _ => None,
            })
            .collect()
    }

    /// Whether a requested value is one that the policy names; `None` requests all values.
    pub(crate) fn matches(&self, value: Option<&Value>, tokens: &Tokens<'_>) -> bool {
        match value.filter(|v| !v.is_all()) {
            None => self.takes_all(),
            Some(value) => {
                let named =
                    self.is_any || self.patterns.iter().any(|p| p.matches(&self.options, value, tokens));
                named != self.is_excludes
            }
        }
    }
}

impl Pattern {
    fn new(options: &LevelOptions, value: &str) -> Self {
        let shape = if options.wild_card { Shape::of(value) } else { Shape::Equal };
        let text = match shape {
            Shape::Equal | Shape::Glob => value,
            Shape::StartsWith => value.trim_end_matches('*'),
            Shape::EndsWith => value.trim_start_matches('*'),
        };
        let template = options.tokens.as_ref().and_then(|syntax| syntax.parse(text));
        Self { shape, text: Value::new(text), template }
    }

    fn matches(&self, options: &LevelOptions, value: &Value, tokens: &Tokens<'_>) -> bool {
        let fold_case = match &options.case {
            Case::Sensitive => false,
            Case::Insensitive => true,
            Case::Quoted(quotes) => !value.raw.starts_with(|c| quotes.contains(c)),
        };
        let filled = self.template.as_ref().map(|template| Value::new(&template.fill(tokens)));
        let pattern = filled.as_ref().unwrap_or(&self.text).text(fold_case);
        let value = value.text(fold_case);
        match self.shape {
            Shape::Equal => value == pattern,
            Shape::StartsWith => value.starts_with(pattern),
            Shape::EndsWith => value.ends_with(pattern),
            Shape::Glob => glob_matches(pattern, value),
        }
    }
}

impl Shape {
    fn of(value: &str) -> Self {
        if value.contains('?') {
            Self::Glob
        } else if !value.contains('*') {
            Self::Equal
        } else if !value.trim_end_matches('*').contains('*') {
            Self::StartsWith
        } else if !value.trim_start_matches('*').contains('*') {
            Self::EndsWith
        } else {
            Self::Glob
        }
    }
}

/// `*` takes any run of characters, `?` exactly one.
fn glob_matches(pattern: &str, value: &str) -> bool {
    let mut p = pattern.chars();
    let mut v = value.chars();
    // Where to go on when the newest `*` has to take one more character.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut p_next = p.clone();
        let mut v_next = v.clone();
        match (p_next.next(), v_next.next()) {
            (Some('*'), _) => {
                retry = Some((p_next.clone(), v.clone()));
                p = p_next;
                continue;
            }
            (None, None) => return true,
            (Some(pc), Some(vc)) if pc == '?' || pc == vc => {
                p = p_next;
                v = v_next;
                continue;
            }
            _ => {}
        }
        match &mut retry {
            Some((after_star, taken)) => {
                if taken.next().is_none() {
                    return false;
                }
                p = after_star.clone();
                v = taken.clone();
            }
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests;
