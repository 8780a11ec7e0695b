//! Governance statements: edits of the authority's state, and questions about it.

mod commit;
mod edits;
mod objects;
mod policies;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dialect::ast::Governance;
use query_api::{Outcome, QueryError};

pub(crate) use commit::{commit, commit_internal, commit_quietly, from_edit};
pub(crate) use edits::edit_of;
pub(crate) use objects::{grantee_of, scope_of};
pub(crate) use policies::{column_in, no_column_in};

use crate::asking::{self, Simulation};
use crate::error::unsupported;
use crate::running::Running;
use crate::show;
use crate::statement::Call;

/// Runs one governance statement.
pub(crate) async fn run(
    running: &Running,
    statement: Governance,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    if let Some(what) = undelivered(&statement) {
        return Err(unsupported(what));
    }
    let statement = match statement {
        Governance::ExplainPolicy { query, user } => {
            return asking::explain(running, &query, user.as_ref(), call).await;
        }
        Governance::Simulate { user, roles, bundle, query } => {
            let simulation = Simulation { user, roles, bundle, query };
            return Box::pin(asking::simulate(running, &simulation, call)).await;
        }
        other => other,
    };
    if only_reads(&statement) {
        return show::governance::run(running, statement, call).await;
    }
    let tag = tag_of(&statement);
    if crate::tags::is_tagging(&statement) {
        return crate::tags::run(running, statement, tag, call).await;
    }
    let edit = match edits::edit_of(running, statement).await {
        Ok(edit) => edit,
        Err(error) => {
            running.audit_refused(tag, call.text, &error);
            return Err(error);
        }
    };
    let notices = commit(running, &edit, tag, call.text).await?;
    Ok(Outcome::Done { tag, n_rows: None, notices })
}

/// Statements that parse and are not offered yet; each stands in `docs/reference/limits.md`.
fn undelivered(statement: &Governance) -> Option<&'static str> {
    Some(match statement {
        Governance::GrantOwnership { .. } => "GRANT OWNERSHIP",
        Governance::CreateFunction { .. } => "CREATE FUNCTION",
        Governance::DropFunction { .. } => "DROP FUNCTION",
        Governance::DescribeFunction { .. } => "DESCRIBE FUNCTION",
        Governance::ShowFunctions { .. } => "SHOW FUNCTIONS",
        Governance::AddRowAccessPolicy { .. } => "ADD ROW ACCESS POLICY",
        Governance::DropRowAccessPolicy { .. } => "DROP ROW ACCESS POLICY",
        Governance::SetMaskingPolicy { .. } => "SET MASKING POLICY",
        Governance::UnsetMaskingPolicy { .. } => "UNSET MASKING POLICY",
        Governance::Reflection { .. } => "a reflection",
        Governance::InlinePolicies { .. } => "a policy inside CREATE TABLE or CREATE VIEW",
        _ => return None,
    })
}

/// Whether a statement changes the authority's state and nothing else.
pub(crate) fn is_edit(statement: &Governance) -> bool {
    undelivered(statement).is_none() && !only_reads(statement) && !crate::tags::is_tagging(statement)
}

/// Whether a statement only asks.
pub(crate) fn only_reads(statement: &Governance) -> bool {
    matches!(statement, Governance::Simulate { .. })
        || (!matches!(statement, Governance::Call { .. }) && columns(statement).is_some())
}

/// The word for a statement that gives no rows.
fn tag_of(statement: &Governance) -> &'static str {
    match statement {
        Governance::CreateUser { .. } => "CREATE USER",
        Governance::AlterUserPassword { .. } => "ALTER USER",
        Governance::DropUser { .. } => "DROP USER",
        Governance::CreateRole { .. } => "CREATE ROLE",
        Governance::DropRole { .. } => "DROP ROLE",
        Governance::GrantRole { .. } => "GRANT ROLE",
        Governance::RevokeRole { .. } => "REVOKE ROLE",
        Governance::CreateGroup { .. } => "CREATE GROUP",
        Governance::DropGroup { .. } => "DROP GROUP",
        Governance::AlterGroup { .. } => "ALTER GROUP",
        Governance::Grant(_) => "GRANT",
        Governance::Revoke(_) => "REVOKE",
        Governance::Deny(_) => "DENY",
        Governance::CreatePolicy(_) => "CREATE POLICY",
        Governance::AlterPolicy { .. } => "ALTER POLICY",
        Governance::DropPolicy { .. } => "DROP POLICY",
        Governance::RollbackPolicy { .. } => "ROLLBACK POLICY",
        Governance::SetTags { .. } | Governance::SetColumnTags { .. } => "SET TAGS",
        Governance::UnsetTags { .. } | Governance::UnsetColumnTags { .. } => "UNSET TAGS",
        Governance::CreateTag { .. } => "CREATE TAG",
        Governance::DropTag { .. } => "DROP TAG",
        Governance::Call { .. } => "CALL",
        _ => "SHOW",
    }
}

/// The columns of a statement that asks; `None` for one that changes something, has those of its query, or is not
/// offered yet.
pub(crate) fn columns(statement: &Governance) -> Option<SchemaRef> {
    let texts = |names: &[&str]| -> Vec<Field> {
        names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect()
    };
    let fields = match statement {
        Governance::ShowUsers => texts(&["user_name"]),
        Governance::ShowRoles => texts(&["role_name", "is_external"]),
        Governance::ShowCurrentRoles => texts(&["role_name"]),
        Governance::ShowGroups => texts(&["group_name", "members"]),
        Governance::ShowRoleGrants { .. } => {
            texts(&["role_name", "grantee_type", "grantee_name", "admin_option"])
        }
        Governance::ShowGrantsOn { .. }
        | Governance::ShowGrantsTo { .. }
        | Governance::ShowEffectiveGrants { .. } => texts(&[
            "privilege",
            "resource",
            "grantee_type",
            "grantee_name",
            "effect",
            "granted_by",
            "granted_at",
        ]),
        Governance::CheckAccess { .. } => {
            vec![Field::new("allowed", DataType::Boolean, false), Field::new("reason", DataType::Utf8, false)]
        }
        Governance::ShowEffectivePolicy { .. } => {
            texts(&["kind", "column", "detail", "policy", "policy_version", "reason"])
        }
        Governance::ExplainPolicy { .. } => return Some(asking::explained_columns()),
        Governance::ShowPolicies { .. } => {
            texts(&["name", "kind", "service", "resource", "grantees", "enabled", "version"])
        }
        Governance::DescribePolicy { .. } => texts(&["property", "value"]),
        Governance::ShowCreatePolicy { .. } => texts(&["name", "statement"]),
        Governance::ShowPolicyHistory { .. } => {
            texts(&["version", "changed_at", "changed_by", "change", "statement"])
        }
        Governance::ShowMaskingPolicies { .. } => texts(&[
            "name",
            "tag",
            "database",
            "table",
            "column",
            "mask_type",
            "expression",
            "grantees",
            "enabled",
        ]),
        Governance::ShowTags { .. } => texts(&["column", "tag"]),
        Governance::ShowTagsWithoutPolicy => texts(&["tag", "service", "database", "table", "column"]),
        Governance::Call { .. } => {
            let mut fields = texts(&["table_identifier", "status"]);
            fields.push(Field::new("columns_projected", DataType::Int64, true));
            fields.extend(texts(&["message"]));
            fields
        }
        Governance::ShowRowFilters => texts(&["name", "database", "table", "filter", "grantees", "enabled"]),
        _ => return None,
    };
    Some(Arc::new(Schema::new(fields)))
}
