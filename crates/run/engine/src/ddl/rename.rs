//! ALTER TABLE and ALTER VIEW … RENAME TO: protections go along, and stay with the old name as well (L7).

use std::sync::atomic::Ordering;

use catalog::Kind;
use dialect::ast::Rename;
use policy::edit::Edit;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use stdx::ErrorKind;

use super::create::protected_by_name;
use super::{done, in_the_way, name_refused, require_namespace, visible};
use crate::error::{from_catalog, table_not_found, unsupported};
use crate::names::{RelationName, parts_of_name};
use crate::resolve::{Found, find};
use crate::running::{Running, table_object, view_object};
use crate::session::invalid;
use crate::statement::Call;

pub(crate) async fn rename(
    running: &Running,
    rename: Rename,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let tag = if rename.is_view { "ALTER VIEW" } else { "ALTER TABLE" };
    let from = running.path.relation(&parts_of_name(&rename.from))?;
    let (kind, uuid) = match visible(running, &from).await {
        Ok(Found::View(view)) => (Kind::View, view.uuid.to_string()),
        Ok(Found::Table(table)) if !rename.is_view => (Kind::Table, table.uuid.to_string()),
        Ok(_) => return Err(table_not_found(&from.to_string())),
        Err(error) if rename.if_exists && error.kind() == ErrorKind::TableNotFound => {
            return Ok(done(tag, vec![format!("relation \"{from}\" does not exist, skipping")]));
        }
        Err(error) => return Err(error),
    };
    let to = target(running, &from, &rename)?;
    require(running, kind, &from, &to).await?;
    let word = if kind == Kind::View { "view" } else { "table" };
    let create = format!("create a {word}");
    super::drop::refuse_read_by_policies(running, &from)?;
    let found = find(running, &to).await?;
    if !matches!(found, Found::Nothing) {
        return Err(in_the_way(running, &to, &found, &create));
    }
    let catalog = running.catalog(&from.catalog)?;
    let begun = catalog.begin_rename(kind, (&from.namespace, &from.name), (&to.namespace, &to.name)).await;
    let pending = match begun {
        Ok(pending) => pending,
        Err(error) => return Err(name_refused(running, &to, &error, &create).await),
    };
    // The policies learn the new name before anybody finds the table by it. Nothing else can take that name meanwhile,
    // so that what the table's grants say of it is said of no other.
    let edit = Edit::RenameTable {
        service: running.snapshot.gate_two_service(&from.catalog).to_owned(),
        catalog: from.catalog.clone(),
        from: (from.database(), from.name.clone()),
        to: (to.database(), to.name.clone()),
        uuid: Some(uuid),
    };
    // Counted before, so that no edit about the old name comes behind this one; and after, so that nobody who has the
    // policies of before finds the table by the new name.
    let n_renames = running.engine.n_renames.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
    let own = Running { n_renames, ..running.clone() };
    let mut notices = crate::governance::commit(&own, &edit, "rename", call.text).await?;
    running.engine.n_renames.fetch_add(1, Ordering::SeqCst);
    pending.commit().await.map_err(|error| from_catalog(&error))?;
    running.audit_change("rename", &from.to_string(), word, call.text, None);
    notices.extend(protected_by_name(running, word, &to));
    Ok(done(tag, notices))
}

/// A name without a schema stays in the schema where the relation is, whatever the search path says.
fn target(running: &Running, from: &RelationName, rename: &Rename) -> Result<RelationName, QueryError> {
    let parts = parts_of_name(&rename.to);
    let to = match parts.as_slice() {
        [name] => RelationName { name: name.clone(), ..from.clone() },
        _ => running.path.relation(&parts)?,
    };
    if to.is_virtual() {
        return Err(invalid("tables and views cannot be put into this schema"));
    }
    if to.catalog != from.catalog {
        return Err(unsupported("renaming from one catalog into another"));
    }
    Ok(to)
}

/// The two halves of the right, and the right to read: what grants say of the new name and its schema will apply to it.
async fn require(
    running: &Running,
    kind: Kind,
    from: &RelationName,
    to: &RelationName,
) -> Result<(), QueryError> {
    let (object, half, other, select, word) = match kind {
        Kind::Table => (
            table_object(from),
            Operation::RenameTable,
            Operation::RenameTableInto,
            Operation::SelectTable,
            "table",
        ),
        Kind::View => (
            view_object(from),
            Operation::RenameView,
            Operation::RenameViewInto,
            Operation::SelectView,
            "view",
        ),
    };
    let owner = match find(running, from).await? {
        Found::Table(table) => table.owner,
        Found::View(view) => Some(view.owner),
        Found::Nothing => None,
    };
    let what = format!("rename {word} {from}");
    running.require(half, &object, owner.as_deref(), &what)?;
    running.require(select, &object, owner.as_deref(), &what)?;
    require_namespace(running, to, other, &format!("create a {word}")).await
}
