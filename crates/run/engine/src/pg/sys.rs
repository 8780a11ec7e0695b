//! `sys`: what there is and who may do what, as far as the user may see it; `sys.project` is Dremio's spelling of it.

use std::sync::Arc;

use datafusion::arrow::array::StringArray;
use query_api::QueryError;

use super::VirtualTable;
use crate::names::RelationName;
use crate::running::Running;
use crate::show::governance::{Lines, policy_lines, privilege_lines, role_lines};
use crate::visible::{self, RelationKind, VisibleRelation};

/// One table of `sys`; `None`: there is none of that name.
pub(crate) async fn table(
    running: &Running,
    name: &RelationName,
) -> Result<Option<VirtualTable>, QueryError> {
    let (columns, lines): (&[&'static str], Lines) = match name.name.as_str() {
        "tables" => (
            &["table_catalog", "table_schema", "table_name"],
            relations(running, RelationKind::Table).await?.iter().map(named).collect(),
        ),
        "views" => (
            &["table_catalog", "table_schema", "table_name", "view_definition"],
            relations(running, RelationKind::View).await?.iter().map(with_text).collect(),
        ),
        "policies" => (
            &["name", "kind", "service", "resource", "grantees", "enabled", "version"],
            // Policies are for those who may write them; to others there are none (L8).
            if running.is_admin() { policy_lines(running, |_| true) } else { Lines::new() },
        ),
        "privileges" => (
            &["privilege", "resource", "grantee_type", "grantee_name", "effect", "granted_by", "granted_at"],
            privilege_lines(running),
        ),
        "roles" => (&["role_name", "is_external"], role_lines(running)),
        "membership" => (
            &["role_name", "member_type", "member_name", "admin_option"],
            crate::show::governance::role_grants(running, None),
        ),
        _ => return Ok(None),
    };
    let arrays = columns.iter().enumerate().map(|(i, name)| {
        let cells: StringArray = lines.iter().map(|line| line.get(i).cloned().flatten()).collect();
        (*name, Arc::new(cells) as _)
    });
    VirtualTable::of_columns(arrays.collect()).map(Some)
}

/// Of every catalog that the user may know of.
async fn relations(running: &Running, kind: RelationKind) -> Result<Vec<VisibleRelation>, QueryError> {
    let mut all = Vec::new();
    for catalog in visible::catalogs(running) {
        for namespace in visible::namespaces(running, &catalog).await? {
            all.extend(visible::relations(running, &catalog, &namespace).await?);
        }
    }
    all.retain(|relation| relation.kind == kind);
    Ok(all)
}

fn named(relation: &VisibleRelation) -> Vec<Option<String>> {
    let name = &relation.name;
    vec![Some(name.catalog.clone()), Some(name.database()), Some(name.name.clone())]
}

/// A text is shown to those who may also read what it reads.
fn with_text(relation: &VisibleRelation) -> Vec<Option<String>> {
    let mut line = named(relation);
    line.push(relation.schema.as_ref().and(relation.sql.clone()));
    line
}
