//! Conditions of policies and items, as far as they can be evaluated here.

use std::net::IpAddr;

use crate::model::{PolicyCondition, ServiceDef};

/// What a condition says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Met,
    NotMet,
    /// It cannot be evaluated.
    Unknown,
}

impl Held {
    /// Both must be met.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotMet, _) | (_, Self::NotMet) => Self::NotMet,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Met, Self::Met) => Self::Met,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The caller's address is one of these; a `*` at the end takes every address that begins so.
    Address(Vec<String>),
    /// No evaluator of this build understands it.
    Unsupported,
}

impl Condition {
    pub(crate) fn all(conditions: &[PolicyCondition], def: &ServiceDef) -> Vec<Self> {
        conditions.iter().map(|condition| Self::new(condition, def)).collect()
    }

    fn new(condition: &PolicyCondition, def: &ServiceDef) -> Self {
        let evaluator =
            def.conditions.iter().find(|c| c.name == condition.kind).map(|c| c.evaluator.as_str());
        match evaluator.and_then(|class| class.rsplit('.').next()) {
            Some("RangerIpMatcher") => Self::Address(condition.values.clone()),
            _ => Self::Unsupported,
        }
    }

    /// All of them must be met.
    pub(crate) fn all_held(conditions: &[Self], client_addr: Option<IpAddr>) -> Held {
        conditions.iter().fold(Held::Met, |held, condition| held.and(condition.held(client_addr)))
    }

    fn held(&self, client_addr: Option<IpAddr>) -> Held {
        match (self, client_addr) {
            (Self::Unsupported, _) | (Self::Address(_), None) => Held::Unknown,
            (Self::Address(patterns), Some(addr)) => {
                let text = addr.to_canonical().to_string();
                let fits = |pattern: &String| match pattern.trim().strip_suffix('*') {
                    Some(prefix) => text.starts_with(prefix),
                    None => text == pattern.trim(),
                };
                if patterns.iter().any(fits) { Held::Met } else { Held::NotMet }
            }
        }
    }
}
