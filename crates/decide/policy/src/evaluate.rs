//! Decides one request against one snapshot: access, row filters and masks.

mod access;
#[cfg(test)]
pub(crate) mod fixture;
mod items;
mod request;
mod table;
mod verdict;

pub(crate) use access::Scope;
pub use request::{
    ColumnName, ConditionErrors, GateTwoSettings, MaskCombine, MaskPrecedence, Request, Resource,
    RowFilterCombine, TableRequest,
};
pub use verdict::{
    Because, ColumnRule, Decision, FilterRule, MaskRule, PassedOver, PassedOverReason, Restriction,
    TableRules, Verdict, Via,
};
