//! One value of a policy, with its wildcards and tokens.

use super::level::{Case, Class, LevelKey, LevelOptions};
use super::request::Value;
use super::token::Syntax;
use super::{MatchContext, Separator, fold, glob};
use crate::evaluate::ElementScope;

/// One value of a policy.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    shape: Shape,
    /// The matcher keeps to this even if a token brings a separator or a wildcard along.
    class: Class,
    separator: Separator,
    /// Without the stars that gave the shape, in the form in which it is compared with most values.
    text: Box<str>,
    rest: Option<Box<Rest>>,
}

/// What few values need.
#[derive(Clone, Debug)]
struct Rest {
    /// As it is written, without the stars that gave the shape.
    raw: Box<str>,
    /// What stands before anything that is replaced, in the form in which values are compared.
    head: Box<str>,
    folds: bool,
    /// Values that begin with one of these compare with the raw text.
    quotes: Box<str>,
    /// Tokens or expressions are in it.
    syntax: Option<Syntax>,
}

/// How a value compares. It is chosen from the text as it is written, before anything in it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Equal,
    StartsWith,
    EndsWith,
    Glob,
    /// Equal, or below it.
    EqualOrBelow,
    /// What the pattern describes, or below it.
    GlobOrBelow,
}

impl Pattern {
    /// `None`: the value stands for every value.
    pub(crate) fn new(options: &LevelOptions, value: &str, is_recursive: bool) -> Option<Self> {
        let separator = options.separator;
        let is_path = options.class != Class::Plain && is_recursive;
        let ends_below = is_path && options.wild_card && value.as_bytes().last() == Some(&separator.0);
        let whole = if ends_below { format!("{value}*") } else { value.to_owned() };
        let shape = if is_path { Shape::of_path(&whole, options) } else { Shape::of(&whole, options) };
        let raw = match shape {
            Shape::StartsWith => whole.trim_end_matches('*'),
            Shape::EndsWith => whole.trim_start_matches('*'),
            Shape::Equal | Shape::Glob | Shape::EqualOrBelow | Shape::GlobOrBelow => whole.as_str(),
        };
        let takes_any = match shape {
            Shape::StartsWith | Shape::EndsWith => raw.is_empty(),
            Shape::GlobOrBelow => raw == "*",
            Shape::Equal | Shape::Glob | Shape::EqualOrBelow => false,
        };
        if takes_any {
            return None;
        }
        let syntax = Some(&options.syntax).filter(|syntax| syntax.is_dynamic(raw)).cloned();
        let folds = options.case != Case::Sensitive;
        let quotes = if let Case::Quoted(quotes) = &options.case { quotes.as_str() } else { "" };
        let form = |text: &str| if folds { fold::folded(text) } else { text.to_owned() };
        let text = form(if shape == Shape::EqualOrBelow { without_last(raw, separator) } else { raw });
        let rest = (syntax.is_some() || !quotes.is_empty()).then(|| {
            let head = form(options.syntax.literal_head(raw)).into_boxed_str();
            Box::new(Rest { raw: raw.into(), head, folds, quotes: quotes.into(), syntax })
        });
        Some(Self { shape, class: options.class, separator, text: text.into_boxed_str(), rest })
    }

    /// The text that a value must be, if it is just that.
    pub(crate) fn name(&self) -> Option<&[u8]> {
        (self.shape == Shape::Equal && self.rest.is_none()).then_some(self.text.as_bytes())
    }

    /// Whether a value is described by this if, and only if, its key finds it.
    pub(crate) fn is_told_by_key(&self) -> bool {
        let by_text = matches!(self.shape, Shape::Equal | Shape::StartsWith | Shape::EndsWith);
        by_text && self.rest.is_none()
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.syntax.is_some())
    }

    pub(crate) fn needs_expressions(&self) -> bool {
        let needs = |rest: &Rest| rest.syntax.as_ref().is_some_and(|s| s.has_expression(&rest.raw));
        self.rest.as_deref().is_some_and(needs)
    }

    pub(crate) fn key(&self) -> LevelKey<'_> {
        let text = &*self.text;
        if let Some(rest) = self.rest.as_ref().filter(|rest| rest.syntax.is_some()) {
            let head = &*rest.head;
            return match self.shape {
                Shape::EndsWith => LevelKey::Anything,
                Shape::Equal | Shape::StartsWith => or_anything(LevelKey::Prefix, head),
                Shape::Glob | Shape::EqualOrBelow | Shape::GlobOrBelow => {
                    or_anything(LevelKey::Prefix, before_wildcard(head))
                }
            };
        }
        match self.shape {
            Shape::Equal => LevelKey::Exact(text),
            Shape::StartsWith | Shape::EqualOrBelow => or_anything(LevelKey::Prefix, text),
            Shape::EndsWith => or_anything(LevelKey::Suffix, text),
            Shape::Glob => match before_wildcard(text) {
                "" => or_anything(LevelKey::Suffix, after_wildcard(text)),
                head => LevelKey::Prefix(head),
            },
            Shape::GlobOrBelow => or_anything(LevelKey::Prefix, before_wildcard(text)),
        }
    }

    pub(crate) fn matches(&self, value: &Value<'_>, scope: ElementScope, context: &MatchContext<'_>) -> bool {
        let filled;
        let text = match &self.rest {
            None => &*self.text,
            Some(rest) => {
                filled = rest.text(value, context);
                match &filled {
                    None => &*self.text,
                    Some(filled) if self.shape == Shape::EqualOrBelow => without_last(filled, self.separator),
                    Some(filled) => filled,
                }
            }
        };
        let (text, value) = (text.as_bytes(), value.bytes());
        if self.is_match(text, value) {
            return true;
        }
        match scope {
            ElementScope::Itself => false,
            ElementScope::ItselfOrPrefix => self.is_prefix(text, value),
            ElementScope::ItselfOrChild => self.is_parent(text, value),
        }
    }

    fn is_match(&self, text: &[u8], value: &[u8]) -> bool {
        match self.shape {
            Shape::Equal => value == text,
            Shape::StartsWith => value.starts_with(text),
            Shape::EndsWith => value.ends_with(text),
            Shape::Glob => glob::matches(text, value),
            Shape::EqualOrBelow => value
                .strip_prefix(text)
                .is_some_and(|rest| rest.is_empty() || rest.first() == Some(&self.separator.0)),
            Shape::GlobOrBelow if self.class == Class::Address => {
                glob::matches_address_recursively(text, value, self.separator)
            }
            Shape::GlobOrBelow => glob::matches_recursively(text, value, self.separator),
        }
    }

    /// Whether what is named may begin with the value.
    fn is_prefix(&self, text: &[u8], value: &[u8]) -> bool {
        match self.shape {
            Shape::EndsWith => true,
            Shape::Equal | Shape::StartsWith => text.starts_with(value),
            Shape::EqualOrBelow if self.class == Class::Address => text.starts_with(value),
            Shape::Glob | Shape::EqualOrBelow | Shape::GlobOrBelow => glob::is_prefix(text, value),
        }
    }

    /// Whether what is named stands directly in the value. Only paths know what stands in them.
    fn is_parent(&self, text: &[u8], value: &[u8]) -> bool {
        let last = text.iter().rposition(|b| *b == self.separator.0);
        let (Class::Path, Some(parent)) = (self.class, last.and_then(|at| text.get(..at))) else {
            return false;
        };
        let value = value.strip_suffix(&[self.separator.0]).unwrap_or(value);
        match self.shape {
            Shape::EqualOrBelow => value == parent,
            Shape::Equal | Shape::StartsWith | Shape::EndsWith | Shape::Glob | Shape::GlobOrBelow => {
                self.is_match(parent, value)
            }
        }
    }
}

impl Rest {
    /// The text to compare with this value, if it is another than the usual one.
    fn text(&self, value: &Value<'_>, context: &MatchContext<'_>) -> Option<String> {
        let is_quoted = !self.quotes.is_empty() && value.is_raw();
        let filled = self.syntax.as_ref().map(|syntax| context.fill(&self.raw, syntax));
        match filled {
            Some(filled) if self.folds && !is_quoted => Some(fold::folded(&filled)),
            Some(filled) => Some(filled),
            None if is_quoted => Some(self.raw.to_string()),
            None => None,
        }
    }
}

impl Shape {
    fn of(value: &str, options: &LevelOptions) -> Self {
        if !options.wild_card || !value.contains(['*', '?']) {
            Self::Equal
        } else if value.contains('?') {
            Self::Glob
        } else if !value.trim_end_matches('*').contains('*') {
            Self::StartsWith
        } else if !value.trim_start_matches('*').contains('*') {
            Self::EndsWith
        } else {
            Self::Glob
        }
    }

    fn of_path(value: &str, options: &LevelOptions) -> Self {
        if options.wild_card && value.contains(['*', '?']) { Self::GlobOrBelow } else { Self::EqualOrBelow }
    }
}

fn without_last(text: &str, separator: Separator) -> &str {
    text.strip_suffix(char::from(separator.0)).unwrap_or(text)
}

fn before_wildcard(text: &str) -> &str {
    text.split(['*', '?']).next().unwrap_or_default()
}

fn after_wildcard(text: &str) -> &str {
    text.rsplit(['*', '?']).next().unwrap_or_default()
}

fn or_anything<'t>(key: impl Fn(&'t str) -> LevelKey<'t>, text: &'t str) -> LevelKey<'t> {
    if text.is_empty() { LevelKey::Anything } else { key(text) }
}
