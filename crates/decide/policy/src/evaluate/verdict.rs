//! What is answered, and why.

use std::fmt;

use crate::model::PolicyId;

/// The outcome of an access request. Only `Allowed` opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    Allowed,
    /// Some policy says no.
    Denied,
    /// No policy says anything.
    Undetermined,
}

/// Through what a policy item reached the user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    User(String),
    Group(String),
    Role(String),
    Public,
    Owner,
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "USER '{name}'"),
            Self::Group(name) => write!(f, "GROUP '{name}'"),
            Self::Role(name) => write!(f, "ROLE '{name}'"),
            Self::Public => f.write_str("PUBLIC"),
            Self::Owner => f.write_str("OWNER"),
        }
    }
}

/// An item by its place in its policy, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecidingItem {
    pub list: ItemList,
    pub place: usize,
}

/// The lists of items that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemList {
    Allow,
    Deny,
    Mask,
    Filter,
}

/// The policy that decided, and how it reached the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    pub policy: Option<PolicyId>,
    pub policy_name: Option<String>,
    pub policy_version: Option<i64>,
    /// The item that decided.
    pub item: Option<DecidingItem>,
    /// The tag through which the policy speaks of the resource.
    pub tag: Option<String>,
    pub via: Option<Via>,
    /// For the eyes of who may see the policy.
    pub reason: String,
}

impl Because {
    /// No policy decided.
    pub(crate) fn of_nothing(reason: impl Into<String>) -> Self {
        Self {
            policy: None,
            policy_name: None,
            policy_version: None,
            item: None,
            tag: None,
            via: None,
            reason: reason.into(),
        }
    }
}

/// The answer to a [`Request`](crate::evaluate::Request).
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub access: Decision,
    pub because: Because,
}

impl Verdict {
    pub fn is_allowed(&self) -> bool {
        self.access == Decision::Allowed
    }

    /// A denial that no policy stands behind.
    pub(crate) fn refused(reason: String) -> Self {
        Self { access: Decision::Denied, because: Because::of_nothing(reason) }
    }
}

/// What gate two says of one relation, for one user.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRules {
    /// All of them hold.
    pub filters: Vec<FilterRule>,
    /// One for each column of the request, in its order.
    pub columns: Vec<ColumnRule>,
    /// The kinds of tags that count for each column, in order, whether or not a policy speaks of them.
    pub tags: Vec<Vec<String>>,
    pub passed_over: Vec<PassedOver>,
}

impl TableRules {
    /// Whether rows or values are hidden.
    pub fn hide_anything(&self) -> bool {
        !self.filters.is_empty() || self.hide_columns()
    }

    /// Whether values are.
    pub fn hide_columns(&self) -> bool {
        self.columns.iter().any(|rule| *rule != ColumnRule::Raw)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRule {
    pub policy: PolicyId,
    pub policy_name: String,
    pub policy_version: i64,
    pub expr: String,
    /// What each `${{expression}}` of the text stands for, in order; to be bound as literals, never pasted.
    pub expressions: Vec<(String, Option<String>)>,
    /// Why the filter cannot be had; then the read must end in an error.
    pub broken: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRule {
    Raw,
    Masked(MaskRule),
    /// The column reads as typed NULL.
    Restricted(Restriction),
    /// Parts of a nested column are masked or restricted, and the rest is raw; one at least, none within another.
    Parts(Vec<PartRule>),
}

/// What holds for a part of a nested column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRule {
    /// From the column down: the fields of structs, `element` of a list, `key` and `value` of a map.
    pub path: Vec<String>,
    pub rule: ColumnRule,
}

impl PartRule {
    /// How policies name the part.
    pub fn name(&self, column: &str) -> String {
        format!("{column}.{}", self.path.join("."))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskRule {
    pub policy: PolicyId,
    pub policy_name: String,
    pub policy_version: i64,
    pub mask_type: String,
    pub value_expr: Option<String>,
    /// What each `${{expression}}` of the text stands for, in order; to be bound as literals, never pasted.
    pub expressions: Vec<(String, Option<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    pub policy: Option<PolicyId>,
    pub policy_name: Option<String>,
    pub reason: String,
}

/// A policy that names the relation and yet does nothing for this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    pub policy: PolicyId,
    pub policy_name: String,
    pub policy_version: i64,
    /// The column, where the reason holds for one column only.
    pub column: Option<String>,
    pub reason: PassedOverReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassedOverReason {
    Disabled,
    /// None of its schedules holds now.
    NotValidNow,
    /// The policy's own conditions are not met.
    ConditionNotMet,
    /// No item names the user.
    NoItemMatches,
    /// An item exempts the user (`MASK_NONE`, or a filter without text).
    Exempt(Via),
    /// An exception takes a denial back.
    Excepted(Via),
    /// Another policy decided first.
    Overruled(PolicyId),
    /// The policy names no column of the relation.
    NoSuchColumn,
}

impl fmt::Display for PassedOverReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("it is disabled"),
            Self::NotValidNow => f.write_str("it is not valid now"),
            Self::ConditionNotMet => f.write_str("its conditions are not met"),
            Self::NoItemMatches => f.write_str("no item of it matches the user"),
            Self::Exempt(via) => write!(f, "it exempts {via}"),
            Self::Excepted(via) => write!(f, "it makes an exception for {via}"),
            Self::Overruled(by) => write!(f, "policy {} decided first", by.0),
            Self::NoSuchColumn => f.write_str("it names no column of this relation"),
        }
    }
}
