//! What is asked: one access to one resource, or everything that gate two says of one relation.

use std::borrow::Cow;
use std::net::IpAddr;

use smallvec::SmallVec;
use stdx::Timestamp;

use super::RequestContext;
use crate::Membership;

/// What a request gives for one level of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LevelValue<'a> {
    One(Cow<'a, str>),
    /// Any one of these; none at all is the whole level.
    Any(Cow<'a, [String]>),
}

impl LevelValue<'_> {
    fn borrowed(&self) -> LevelValue<'_> {
        match self {
            Self::One(text) => LevelValue::One(Cow::Borrowed(text.as_ref())),
            Self::Any(texts) => LevelValue::Any(Cow::Borrowed(texts.as_ref())),
        }
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        let (one, any) = match self {
            Self::One(value) => (Some(value.as_ref()), &[][..]),
            Self::Any(values) => (None, values.as_ref()),
        };
        one.into_iter().chain(any.iter().map(String::as_str))
    }
}

/// The name of one thing, as level and value from the outermost level inwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource<'a> {
    levels: SmallVec<[(Cow<'a, str>, LevelValue<'a>); LEVELS_INLINE]>,
}

/// Levels that a resource holds without memory of its own.
const LEVELS_INLINE: usize = 5;

impl<'a> Resource<'a> {
    pub fn new<L, V>(levels: impl IntoIterator<Item = (L, V)>) -> Self
    where
        L: Into<Cow<'a, str>>,
        V: Into<Cow<'a, str>>,
    {
        let levels = levels.into_iter();
        Self { levels: levels.map(|(level, value)| (level.into(), LevelValue::One(value.into()))).collect() }
    }

    /// With levels that may give several values.
    pub fn of_values(levels: impl IntoIterator<Item = (Cow<'a, str>, LevelValue<'a>)>) -> Self {
        Self { levels: levels.into_iter().collect() }
    }

    pub fn levels(&self) -> &[(Cow<'a, str>, LevelValue<'a>)] {
        &self.levels
    }

    /// The same, without copying any text.
    pub(crate) fn borrowed(&self) -> Resource<'_> {
        let levels = self.levels.iter();
        Resource::of_values(levels.map(|(level, value)| (Cow::Borrowed(level.as_ref()), value.borrowed())))
    }

    pub fn level(&self, name: &str) -> Option<&LevelValue<'a>> {
        self.levels.iter().find(|(level, _)| level == name).map(|(_, value)| value)
    }
}

/// One access to one resource.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub service: &'a str,
    pub resource: Resource<'a>,
    pub owner: Option<&'a str>,
    /// An access type of the service's definition, or `_any` (also as the empty text) or `_admin`.
    pub access: &'a str,
    pub who: &'a Membership,
    pub now: Timestamp,
    pub client_addr: Option<IpAddr>,
    /// What only some requests bring along.
    pub context: &'a RequestContext,
}

/// The names under which one column is known: the current one, and older ones that the same field id had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName<'a> {
    pub name: &'a str,
    pub older: &'a [String],
    /// Which field of which table it is. A tag that is bound to a field holds for it under any name, and for no other
    /// field of that table.
    pub field: Option<FieldOf<'a>>,
    /// Tags that it bears besides those that the authority knows of.
    pub tags: &'a [String],
}

/// A field of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOf<'a> {
    pub table_uuid: &'a str,
    pub field_id: i32,
}

impl<'a> ColumnName<'a> {
    pub const fn new(name: &'a str) -> Self {
        Self { name, older: &[], field: None, tags: &[] }
    }

    pub(crate) fn all(self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.name).chain(self.older.iter().map(String::as_str))
    }
}

/// Everything that gate two says of one relation.
#[derive(Clone, Debug)]
pub struct TableRequest<'a> {
    pub service: &'a str,
    /// The full dotted namespace.
    pub database: &'a str,
    pub table: &'a str,
    pub columns: &'a [ColumnName<'a>],
    pub owner: Option<&'a str>,
    pub who: &'a Membership,
    pub now: Timestamp,
    pub client_addr: Option<IpAddr>,
    /// What only some requests bring along.
    pub context: &'a RequestContext,
    pub settings: &'a GateTwoSettings,
}

/// `row_filter_combine`: how filters of different policies meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RowFilterCombine {
    /// They all hold.
    #[default]
    And,
    /// `ranger-first-match`: the first in evaluation order is the only one.
    RangerFirstMatch,
}

/// `mask_combine`: how masks of different policies on one column meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MaskCombine {
    /// Those of the highest priority; where they differ the column is restricted.
    #[default]
    RestrictIfDifferent,
    /// `ranger-first-match`: the first in evaluation order is the only one.
    RangerFirstMatch,
}

/// `mask_precedence`: which of a tag mask and a resource mask stands. It has no effect where no tag rules are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MaskPrecedence {
    #[default]
    Tag,
    Resource,
}

/// `condition_errors`: what a condition that cannot be evaluated counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConditionErrors {
    /// Against the user: met where that takes something away, not met where it would give.
    #[default]
    AgainstUser,
    /// `ranger`: plainly not met.
    Ranger,
}

/// How gate two combines policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateTwoSettings {
    pub row_filter_combine: RowFilterCombine,
    pub mask_combine: MaskCombine,
    pub mask_precedence: MaskPrecedence,
    pub condition_errors: ConditionErrors,
}
