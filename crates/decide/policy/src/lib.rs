//! Given a policy snapshot and a request, says what is allowed, filtered and masked, and why.

pub mod bootstrap;
pub mod defs;
pub mod edit;
pub mod evaluate;
pub mod model;
pub mod operation;
pub mod privilege;

mod matching;
mod principal;
mod snapshot;

pub use evaluate::{
    Because, ColumnName, ColumnRule, ConditionErrors, Decision, FilterRule, GateTwoSettings, MaskCombine,
    MaskPrecedence, MaskRule, PassedOver, PassedOverReason, Request, Resource, Restriction, RowFilterCombine,
    TableRequest, TableRules, Verdict, Via,
};
pub use principal::{Membership, Principal};
pub use snapshot::{Fault, Snapshot};
