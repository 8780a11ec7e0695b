//! A requested resource, level by level from the root, ready to be compared.

use std::borrow::Cow;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::Levels;
use super::fold::Text;
use super::level::{Case, Class, LevelOptions};
use super::levels::LEVELS_INLINE;
use crate::evaluate::{ElementScope, LevelValue, Resource};
use crate::quick_hash::{Hashed, hash_of};

/// A requested resource. It is made once for each request and kind of policy.
#[derive(Clone, Debug)]
pub(crate) struct RequestPath<'a>(SmallVec<[RequestLevel<'a>; LEVELS_INLINE]>);

/// What a request has at one level.
#[derive(Clone, Debug)]
pub(crate) struct RequestLevel<'a> {
    pub(crate) level: usize,
    pub(crate) scope: ElementScope,
    /// Whether an index can find it.
    has_keys: bool,
    values: Values<'a>,
}

#[derive(Clone, Debug)]
enum Values<'a> {
    One(Value<'a>),
    Any(Vec<Value<'a>>),
}

/// A value in the form in which the level's policies are compared with it.
#[derive(Clone, Debug)]
pub(crate) struct Value<'a> {
    text: Text<'a>,
    hash: u64,
    /// In quotes, and so as it is written.
    is_raw: bool,
    /// Empty or `*`.
    is_all: bool,
    /// Written in a way that a path matcher does not take letter for letter.
    is_irregular: bool,
}

impl<'a> RequestPath<'a> {
    /// `None`: the levels make no path of the definition, so that no policy can match.
    pub(crate) fn new(levels: &Levels, resource: &Resource<'a>) -> Option<Self> {
        static NO_SCOPES: BTreeMap<String, ElementScope> = BTreeMap::new();
        Self::with_scopes(levels, resource, &NO_SCOPES)
    }

    pub(crate) fn with_scopes(
        levels: &Levels,
        resource: &Resource<'a>,
        scopes: &BTreeMap<String, ElementScope>,
    ) -> Option<Self> {
        let given = resource.levels();
        let mut numbers: SmallVec<[usize; LEVELS_INLINE]> = SmallVec::new();
        for (name, _) in given {
            numbers.push(levels.number(name)?);
        }
        let path = levels.path_of(&numbers)?;
        let mut found = SmallVec::new();
        for level in path {
            let at = numbers.iter().position(|number| number == level)?;
            let (name, value) = given.get(at)?;
            let scope = match scopes.is_empty() {
                true => ElementScope::default(),
                false => scopes.get(name.as_ref()).copied().unwrap_or_default(),
            };
            found.push(RequestLevel::new(*level, levels.options(*level).ok()?, value, scope));
        }
        Some(Self(found))
    }

    pub(crate) fn levels(&self) -> &[RequestLevel<'a>] {
        &self.0
    }

    /// Whether an index looks at every level of it.
    pub(crate) fn has_keys(&self) -> bool {
        self.0.iter().all(|level| level.has_keys)
    }
}

impl<'a> RequestLevel<'a> {
    pub(crate) fn new(
        level: usize,
        options: &LevelOptions,
        value: &LevelValue<'a>,
        scope: ElementScope,
    ) -> Self {
        let values = match value {
            LevelValue::One(Cow::Borrowed(text)) => Values::One(Value::new(options, text)),
            LevelValue::One(Cow::Owned(text)) => Values::One(Value::copied(options, text)),
            // Several values are never taken for a request for everything; none at all is.
            LevelValue::Any(all) if all.is_empty() => Values::One(Value::new(options, "")),
            LevelValue::Any(Cow::Borrowed(all)) => {
                Values::Any(all.iter().map(|text| Value::new(options, text)).collect())
            }
            LevelValue::Any(Cow::Owned(all)) => {
                Values::Any(all.iter().map(|text| Value::copied(options, text)).collect())
            }
        };
        let is_plain =
            |value: &Value<'_>| !value.is_raw && (options.class == Class::Plain || !value.is_irregular);
        let has_keys = scope == ElementScope::Itself && values.all().iter().all(is_plain);
        Self { level, scope, has_keys, values }
    }

    pub(crate) fn values(&self) -> &[Value<'a>] {
        self.values.all()
    }

    /// Whether the request means every value of the level.
    pub(crate) fn asks_for_all(&self) -> bool {
        match &self.values {
            Values::One(value) => value.is_all,
            Values::Any(_) => false,
        }
    }

    /// The texts under which an index finds what this level can match, beside what matches anything. `None`: an index
    /// cannot find it, and whatever is indexed must be tried.
    pub(crate) fn keys(&self) -> Option<impl Iterator<Item = Hashed<'_>>> {
        if !self.has_keys {
            return None;
        }
        let is_all = self.asks_for_all();
        Some(self.values().iter().filter(move |_| !is_all).map(Value::key))
    }
}

impl<'a> Values<'a> {
    fn all(&self) -> &[Value<'a>] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Any(values) => values,
        }
    }
}

impl<'a> Value<'a> {
    fn new(options: &LevelOptions, raw: &'a str) -> Self {
        let folds = folds(options, raw);
        let text = match folds {
            true => Text::folded(raw),
            false => Text::Borrowed(raw),
        };
        Self::with_text(options, raw, text, folds)
    }

    fn copied(options: &LevelOptions, raw: &str) -> Self {
        let folds = folds(options, raw);
        let text = match folds {
            true => Text::folded_copy(raw),
            false => Text::copied(raw),
        };
        Self::with_text(options, raw, text, folds)
    }

    fn with_text(options: &LevelOptions, raw: &str, text: Text<'a>, folds: bool) -> Self {
        let bytes = raw.as_bytes();
        let is_irregular = options.class != Class::Plain && {
            let separator = options.separator;
            let after_scheme = bytes.windows(3).position(|w| w == b"://").map_or(0, |at| at + 3);
            separator.is_doubled_in(bytes.get(after_scheme..).unwrap_or_default())
                || bytes.last() == Some(&separator.0)
                || bytes.first().is_some_and(u8::is_ascii_whitespace)
        };
        Self {
            hash: hash_of(text.bytes()),
            text,
            is_raw: !folds && !matches!(options.case, Case::Sensitive),
            is_all: raw.is_empty() || raw == "*",
            is_irregular,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.text.bytes()
    }

    fn key(&self) -> Hashed<'_> {
        Hashed { bytes: self.bytes(), hash: self.hash }
    }

    pub(crate) fn is_raw(&self) -> bool {
        self.is_raw
    }
}

fn folds(options: &LevelOptions, raw: &str) -> bool {
    match &options.case {
        Case::Sensitive => false,
        Case::Insensitive => true,
        Case::Quoted(quotes) => !raw.starts_with(|c| quotes.contains(c)),
    }
}
