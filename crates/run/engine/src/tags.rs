//! Tags of columns: whence they come, the statements that set them, and how they go along with what is made of a column.

mod carried;
mod report;
mod statements;

use std::fmt;

use catalog::{FieldTags, TableHandle};
use policy::model::PolicyId;
use policy::{ColumnRule, FilterRule, Restriction, TableRules};
use query_api::QueryError;

pub(crate) use carried::{Carried, carry};
pub(crate) use report::{show, without_policy};
pub(crate) use statements::{is_tagging, project, run};

use crate::error::policy_unavailable;
use crate::names::RelationName;
use crate::rules::rules_for;
use crate::running::Running;

/// The tags of a table's columns are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagsUnknown;

impl fmt::Display for TagsUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tags of the table's columns are not known")
    }
}

/// Stands for the policy that nobody could find.
const UNKNOWN: PolicyId = PolicyId(i64::MIN);

/// Whence a table's own tags come. Those that the authority's store knows count beside them.
pub trait TagSource: fmt::Debug + Send + Sync {
    /// # Errors
    /// The tags are not known. Unknown is not untagged: no row of the table leaves.
    fn field_tags(&self, table: &TableHandle) -> Result<FieldTags, TagsUnknown>;
}

/// The table property `sqe.column-tags`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PropertyTags;

impl TagSource for PropertyTags {
    fn field_tags(&self, table: &TableHandle) -> Result<FieldTags, TagsUnknown> {
        table.field_tags().map_err(|_| TagsUnknown)
    }
}

/// The rules of a table, with its tags, for whoever asks about tags.
fn known(running: &Running, name: &RelationName, table: &TableHandle) -> Result<TableRules, QueryError> {
    match running.engine.settings.tag_source.field_tags(table) {
        Ok(_) => {
            let rules = rules_for(running, name, table);
            // Without its policies' service a table's tags are not known either.
            match rules.filters.iter().any(|filter| filter.policy.0 < 0) {
                true => Err(policy_unavailable(&name.to_string())),
                false => Ok(rules),
            }
        }
        Err(TagsUnknown) => Err(policy_unavailable(&name.to_string())),
    }
}

/// The error of a read or write whose table's tags are not known.
pub(crate) fn refuse_unknown(
    running: &Running,
    name: &RelationName,
    rules: &TableRules,
) -> Result<(), QueryError> {
    if !rules.filters.iter().any(|filter| filter.policy == UNKNOWN) {
        return Ok(());
    }
    tracing::warn!(table = %name, "the tags of the table's columns are not known");
    let who = if running.is_admin() { "" } else { "; ask a policy admin" };
    Err(policy_unavailable(&name.to_string()).with_hint(format!("{TagsUnknown}{who}")))
}

/// The rules of a table whose tags are not known: no row leaves it (L6).
pub(crate) fn unavailable(rules: TableRules, unknown: &TagsUnknown) -> TableRules {
    let restricted = || {
        let reason = unknown.to_string();
        ColumnRule::Restricted(Restriction { policy: None, policy_name: None, reason })
    };
    TableRules {
        filters: vec![FilterRule {
            policy: UNKNOWN,
            policy_name: String::new(),
            policy_version: -1,
            expr: String::new(),
            expressions: Vec::new(),
            broken: Some(unknown.to_string()),
        }],
        columns: rules.columns.iter().map(|_| restricted()).collect(),
        ..rules
    }
}
