//! Which policies were considered, and what each came to.

use std::fmt;

use super::asked::Asked;
use super::running::{Entry, EntryItem};
use super::{Verdict, Via};
use crate::model::PolicyId;
use crate::snapshot::CompiledPolicy;

/// Every policy that was considered for one request, in the order of evaluation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub considered: Vec<Considered>,
}

/// One policy that was considered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    pub policy: PolicyId,
    pub policy_name: String,
    pub policy_version: i64,
    /// The tag through which the policy was found.
    pub tag: Option<String>,
    pub note: Note,
}

/// What became of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Allows(Option<Via>),
    Denies(Option<Via>),
    /// It denies whatever it does not allow.
    DeniesElse,
    Masks(Option<Via>),
    Filters(Option<Via>),
    /// It counts against the user, because a condition of it cannot be evaluated.
    CannotBeEvaluated,
    Excepted(Option<Via>),
    Disabled,
    NotValidNow,
    ConditionNotMet,
    NoItem,
    OtherResource,
    OfAnotherZone,
    /// Other policies have decided already.
    DecidedBefore,
    /// It denies something below the resource, which says nothing of the whole.
    DeniesBelow,
}

impl Note {
    pub(crate) fn of(entry: &Entry<'_>, asked: &Asked<'_, '_>) -> Self {
        let via = entry.item().and_then(|item| asked.via(item));
        match entry.item {
            EntryItem::Allow(_) => Self::Allows(via),
            EntryItem::Deny(_) => Self::Denies(via),
            EntryItem::DenyElse => Self::DeniesElse,
            EntryItem::Mask(_) => Self::Masks(via),
            EntryItem::Filter(_) => Self::Filters(via),
            EntryItem::UnknownMask(_) | EntryItem::UnknownFilter(_) => Self::CannotBeEvaluated,
        }
    }
}

impl Considered {
    pub(crate) fn new(policy: &CompiledPolicy, tag: Option<&str>, note: Note) -> Self {
        Self {
            policy: policy.id,
            policy_name: policy.name.to_string(),
            policy_version: policy.version,
            tag: tag.map(str::to_owned),
            note,
        }
    }
}

impl Trace {
    /// An answer and how it came about, a sentence each.
    pub fn sentences(&self, verdict: &Verdict) -> Vec<String> {
        let because = &verdict.because;
        let mut first = because.reason.clone();
        if let Some(name) = &because.policy_name {
            first.push_str(&format!(", by policy `{name}`"));
        }
        if let Some(tag) = &because.tag {
            first.push_str(&format!(", through the tag `{tag}`"));
        }
        std::iter::once(first).chain(self.considered.iter().map(ToString::to_string)).collect()
    }

    /// A policy that is asked about several access types says the same thing only once.
    pub(crate) fn add(&mut self, considered: Considered) {
        if !self.considered.contains(&considered) {
            self.considered.push(considered);
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let via = |f: &mut fmt::Formatter<'_>, text: &str, via: &Option<Via>| match via {
            Some(via) => write!(f, "{text} {via}"),
            None => f.write_str(text),
        };
        match self {
            Self::Allows(by) => via(f, "it allows", by),
            Self::Denies(by) => via(f, "it denies", by),
            Self::DeniesElse => f.write_str("it denies whatever it does not allow"),
            Self::Masks(by) => via(f, "it masks for", by),
            Self::Filters(by) => via(f, "it filters for", by),
            Self::CannotBeEvaluated => {
                f.write_str("it counts against the user: a condition cannot be evaluated")
            }
            Self::Excepted(by) => via(f, "it makes an exception for", by),
            Self::Disabled => f.write_str("it is disabled"),
            Self::NotValidNow => f.write_str("it is not valid now"),
            Self::ConditionNotMet => f.write_str("its conditions are not met"),
            Self::NoItem => f.write_str("no item of it matches the user and the access"),
            Self::OtherResource => f.write_str("it is about another resource"),
            Self::OfAnotherZone => f.write_str("it belongs to another zone"),
            Self::DecidedBefore => f.write_str("other policies decided before its turn"),
            Self::DeniesBelow => f.write_str("it denies only something below the resource"),
        }
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy `{}` (version {})", self.policy_name, self.policy_version)?;
        if let Some(tag) = &self.tag {
            write!(f, ", by the tag `{tag}`")?;
        }
        write!(f, ": {}", self.note)
    }
}
