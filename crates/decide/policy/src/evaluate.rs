//! Decides one request against one snapshot: access, row filters and masks.

mod access;
mod acl;
mod asked;
mod audit;
mod context;
mod evaluation;
#[cfg(test)]
pub(crate) mod fixture;
mod inline;
mod items;
mod ranger;
mod request;
mod running;
mod table;
mod trace;
mod verdict;

pub use crate::matching::MatchType;
pub use access::Decided;
pub(crate) use access::Scope;
pub use acl::{AclAccess, AclEntry, AclRule, AclsByPrincipal, ResourceAccess, ResourceAcls};
pub use context::{
    AttributeValue, ElementScope, InlineGrant, InlineMode, InlinePolicy, MatchingScope, NO_CONTEXT,
    RequestContext, RequestTag,
};
pub use evaluation::Evaluation;
pub use request::{
    ColumnName, ConditionErrors, FieldOf, GateTwoSettings, LevelValue, MaskCombine, MaskPrecedence, Request,
    Resource, RowFilterCombine, TableRequest,
};
pub use trace::{Considered, Note, Trace};
pub use verdict::{
    Because, ColumnRule, DecidingItem, Decision, FilterRule, ItemList, MaskRule, PartRule, PassedOver,
    PassedOverReason, Restriction, TableRules, Verdict, Via,
};
