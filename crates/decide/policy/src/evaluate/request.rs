//! What is asked: one access to one resource, or everything that gate two says of one relation.

use std::net::IpAddr;

use stdx::Timestamp;

use crate::Membership;

/// The name of one thing, as level and value from the outermost level inwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resource(Vec<(String, String)>);

impl Resource {
    pub fn new<'a>(levels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(levels.into_iter().map(|(level, value)| (level.to_owned(), value.to_owned())).collect())
    }

    pub fn levels(&self) -> &[(String, String)] {
        &self.0
    }

    pub fn value(&self, level: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == level).map(|(_, value)| value.as_str())
    }
}

/// One access to one resource.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub service: &'a str,
    pub resource: Resource,
    pub owner: Option<&'a str>,
    /// An access type of the service's definition, or `_any` or `_admin`.
    pub access: &'a str,
    pub who: &'a Membership,
    pub now: Timestamp,
    pub client_addr: Option<IpAddr>,
}

/// The names under which one column is known: the current one, and older ones that the same field id had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName<'a> {
    pub name: &'a str,
    pub older: &'a [String],
}

impl<'a> ColumnName<'a> {
    pub const fn new(name: &'a str) -> Self {
        Self { name, older: &[] }
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
