//! Rewrites a logical plan so that it can return only what the verdicts permit.

mod error;
mod fold;
mod footprint;
mod govern;
mod harmless;
mod infallible;
pub mod mask;
mod sealed;
mod verdict;
mod verify;

pub use error::EnforceError;
pub use fold::{SessionFacts, SessionFunction, fold_expr, fold_plan, session_functions};
pub use footprint::{Footprint, footprint};
pub use govern::govern;
pub use harmless::is_harmless;
pub use infallible::cannot_fail;
pub use sealed::{Clearance, QueryId, Relation, SealedSource, SealedView};
pub use verdict::{ColumnVerdict, TableVerdict, bare_schema, bare_type, governed_schema};
pub use verify::{SourceKind, verify_logical};
