//! Given a policy snapshot and a request, says what is allowed, filtered and masked, and why.

pub mod admin;
pub mod authz;
pub mod bootstrap;
pub mod condition;
pub mod date_format;
pub mod defs;
pub mod edit;
pub mod evaluate;
pub mod expression;
pub mod geolocation;
pub mod json;
pub mod limits;
pub mod matching;
pub mod model;
pub mod normalise;
pub mod operation;
pub mod privilege;
pub mod resource_name;
pub mod schedule;
pub mod script;
pub mod validate;

mod principal;
mod quick_hash;
mod snapshot;

pub use evaluate::{
    AttributeValue, Because, ColumnName, ColumnRule, ConditionErrors, Considered, Decided, DecidingItem,
    Decision, ElementScope, Evaluation, FieldOf, FilterRule, GateTwoSettings, InlineGrant, InlineMode,
    InlinePolicy, ItemList, LevelValue, MaskCombine, MaskPrecedence, MaskRule, MatchType, MatchingScope,
    NO_CONTEXT, Note, PartRule, PassedOver, PassedOverReason, Request, RequestContext, RequestTag, Resource,
    Restriction, RowFilterCombine, TableRequest, TableRules, Trace, Verdict, Via,
};
pub use principal::{Membership, NameSet, Principal};
pub use snapshot::{
    AuditMode, BuildOptions, Fault, GrantedColumn, GrantedColumns, PluginSettings, Snapshot, Strictness,
};
