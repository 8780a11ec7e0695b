//! One level of a resource: its policy values, with wildcards, paths, tokens, case and excludes.

use super::pattern::Pattern;
use super::request::{RequestLevel, Value};
use super::token::Syntax;
use super::{MatchContext, Separator};
use crate::evaluate::ElementScope;
use crate::model::{ResourceDef, ResourceValues};

/// How values of one level compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelOptions {
    pub(crate) class: Class,
    pub(crate) wild_card: bool,
    pub(crate) case: Case,
    pub(crate) syntax: Syntax,
    pub(crate) separator: Separator,
}

/// Which of Ranger's matchers a level has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Plain,
    Path,
    Address,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Sensitive,
    Insensitive,
    /// Sensitive where the requested value begins with one of these.
    Quoted(String),
}

impl LevelOptions {
    /// Reads the options of a level.
    ///
    /// # Errors
    /// The level wants a matcher or a separator that is not offered.
    pub(crate) fn of(def: &ResourceDef) -> Result<Self, String> {
        let options = &def.matcher_options;
        let class = match def.matcher.rsplit('.').next().unwrap_or_default() {
            "" | "RangerDefaultResourceMatcher" => Class::Plain,
            "RangerPathResourceMatcher" => Class::Path,
            "RangerURLResourceMatcher" => Class::Address,
            class => return Err(format!("the matcher `{class}` of level `{}` is not supported", def.name)),
        };
        let flag = |key: &str, default: bool| {
            let text = options.get(key).filter(|text| !text.is_empty());
            text.map_or(default, |text| text.eq_ignore_ascii_case("true"))
        };
        let case = if !flag("ignoreCase", true) {
            Case::Sensitive
        } else if flag("quotedCaseSensitive", false) && class != Class::Path {
            Case::Quoted(options.get("quoteChars").map_or("\"", String::as_str).to_owned())
        } else {
            Case::Insensitive
        };
        let separator = options.get("pathSeparatorChar").and_then(|text| text.chars().next()).unwrap_or('/');
        let separator = match u8::try_from(separator) {
            Ok(byte) if byte.is_ascii() && !byte.is_ascii_alphabetic() => Separator(byte),
            _ => {
                return Err(format!(
                    "the path separator `{separator}` of level `{}` is not supported: it must be an ASCII character and no letter",
                    def.name
                ));
            }
        };
        let syntax = Syntax::of(options);
        Ok(Self { class, wild_card: flag("wildCard", true), case, syntax, separator })
    }
}

impl LevelOptions {
    /// Whether a requested value is brought into the same form.
    pub(crate) fn reads_alike(&self, other: &Self) -> bool {
        (self.class, &self.case, self.separator) == (other.class, &other.case, other.separator)
    }
}

/// The values that a policy names at one level.
#[derive(Clone, Debug)]
pub(crate) struct LevelMatcher {
    /// Names first, in order, so that one of many is found without comparing all.
    patterns: Box<[Pattern]>,
    n_names: u32,
    is_any: bool,
    is_excludes: bool,
}

/// By what an index may find a level of a policy. Whatever it finds must still be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelKey<'m> {
    /// Only this value, in the form of [`RequestLevel::keys`].
    Exact(&'m str),
    /// Values that begin so.
    Prefix(&'m str),
    /// Values that end so.
    Suffix(&'m str),
    /// Any value at all.
    Anything,
}

impl LevelMatcher {
    pub(crate) fn new(options: &LevelOptions, values: &ResourceValues) -> Self {
        let mut patterns = Vec::new();
        let mut takes_any = false;
        for value in values.values.iter().filter(|value| !value.trim().is_empty()) {
            match Pattern::new(options, value, values.is_recursive) {
                Some(pattern) => patterns.push(pattern),
                None => takes_any = true,
            }
        }
        if takes_any {
            patterns.clear();
        }
        patterns.sort_by(|a, b| b.name().is_some().cmp(&a.name().is_some()).then(a.name().cmp(&b.name())));
        let n_names = patterns.iter().take_while(|pattern| pattern.name().is_some()).count();
        let is_any = patterns.is_empty();
        Self {
            patterns: patterns.into_boxed_slice(),
            n_names: u32::try_from(n_names).unwrap_or_default(),
            is_any,
            is_excludes: values.is_excludes,
        }
    }

    /// Whether every value is named; with excludes that leaves none.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether the level takes every value without exception.
    pub(crate) fn takes_all(&self) -> bool {
        self.is_any && !self.is_excludes
    }

    /// Whether a value can only be compared once expressions have been evaluated.
    pub(crate) fn needs_expressions(&self) -> bool {
        self.patterns.iter().any(Pattern::needs_expressions)
    }

    /// Whether a value holds tokens or expressions.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.patterns.iter().any(Pattern::is_dynamic)
    }

    /// Whether a value is named if, and only if, one of the keys finds it.
    pub(crate) fn is_told_by_keys(&self) -> bool {
        self.takes_all()
            || (!self.is_any && !self.is_excludes && self.patterns.iter().all(Pattern::is_told_by_key))
    }

    /// What an index may find this level by: any one of these.
    pub(crate) fn keys(&self) -> impl Iterator<Item = LevelKey<'_>> {
        let is_open = self.is_any || self.is_excludes;
        let of_patterns = self.patterns.iter().filter(move |_| !is_open).map(Pattern::key);
        is_open.then_some(LevelKey::Anything).into_iter().chain(of_patterns)
    }

    /// Whether the policy names what the request has at this level.
    pub(crate) fn matches(&self, level: &RequestLevel<'_>, context: &MatchContext<'_>) -> bool {
        if self.is_any {
            return !self.is_excludes;
        }
        let names = |value: &Value<'_>| self.names(value, level.scope, context);
        if level.asks_for_all() {
            // There is nothing to exclude from a request for everything.
            return level.scope == ElementScope::ItselfOrPrefix && level.values().iter().any(names);
        }
        level.values().iter().any(names) != self.is_excludes
    }

    fn names(&self, value: &Value<'_>, scope: ElementScope, context: &MatchContext<'_>) -> bool {
        let n_names = usize::try_from(self.n_names).unwrap_or_default();
        let (names, others) = self.patterns.split_at_checked(n_names).unwrap_or((&[], &self.patterns));
        let is_name = match scope {
            ElementScope::Itself => names
                .binary_search_by(|pattern| pattern.name().unwrap_or_default().cmp(value.bytes()))
                .is_ok(),
            ElementScope::ItselfOrChild | ElementScope::ItselfOrPrefix => {
                names.iter().any(|pattern| pattern.matches(value, scope, context))
            }
        };
        is_name || others.iter().any(|pattern| pattern.matches(value, scope, context))
    }
}

#[cfg(test)]
mod tests;
