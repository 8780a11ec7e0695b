//! CREATE and DROP TAG, SET and UNSET TAGS, and the procedure that projects a table's tags into the store.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{ColumnTags as PropertyMap, FieldTags, TableHandle};
use dialect::ast::{Governance, Ident, Name};
use policy::edit::{
    Actor, ColumnTags, ColumnTagsEdit, Edit, GovernedEdit, UnsetColumnTags, protects, speaks_of,
};
use policy::model::{Policy, PolicyKind, TagDef};
use query_api::{Outcome, QueryError};
use stdx::ErrorKind;

use crate::error::{from_catalog, table_not_found, unsupported};
use crate::governance::{
    column_in, columns, commit, commit_internal, commit_quietly, from_edit, no_column_in,
};
use crate::names::{RelationName, parts_of_name};
use crate::resolve::{Found, find};
use crate::running::Running;
use crate::show::text_rows;
use crate::statement::Call;

/// What one column's tags become: those unset go first.
struct Change {
    column: Ident,
    unset: UnsetColumnTags,
    set: Vec<String>,
}

/// Whether a statement is about tags and changes something.
pub(crate) fn is_tagging(statement: &Governance) -> bool {
    matches!(
        statement,
        Governance::CreateTag { .. }
            | Governance::DropTag { .. }
            | Governance::SetTags { .. }
            | Governance::SetColumnTags { .. }
            | Governance::UnsetTags { .. }
            | Governance::UnsetColumnTags { .. }
            | Governance::Call { .. }
    )
}

pub(crate) async fn run(
    running: &Running,
    statement: Governance,
    tag: &'static str,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let schema = columns(&statement);
    let values =
        |idents: Vec<Ident>| -> Vec<String> { idents.into_iter().map(|ident| ident.value).collect() };
    let set = |(column, tags)| Change { column, unset: UnsetColumnTags::None, set: values(tags) };
    let (table, changes): (Name, Vec<Change>) = match statement {
        Governance::CreateTag { name, if_not_exists } => {
            return create(running, name.value, if_not_exists, tag, call).await;
        }
        Governance::DropTag { name, if_exists } => {
            let edit = Edit::Governed(GovernedEdit::DropTagDef { name: name.value, if_exists });
            let notices = commit(running, &edit, tag, call.text).await?;
            return Ok(Outcome::Done { tag, n_rows: None, notices });
        }
        Governance::Call { name, arguments } => {
            let lines = reproject(running, &name, &arguments, call).await;
            if let Err(error) = &lines {
                running.audit_refused(tag, call.text, error);
            }
            return text_rows(&schema.ok_or_else(crate::error::internal)?, &lines?);
        }
        Governance::SetTags { table, tags } => (table, tags.into_iter().map(set).collect()),
        Governance::SetColumnTags { table, column, tags } => (table, vec![set((column, tags))]),
        Governance::UnsetTags { table, columns } => {
            let all = |column| Change { column, unset: UnsetColumnTags::All, set: Vec::new() };
            (table, columns.into_iter().map(all).collect())
        }
        Governance::UnsetColumnTags { table, column, tags } => {
            let unset = UnsetColumnTags::These(values(tags));
            (table, vec![Change { column, unset, set: Vec::new() }])
        }
        _ => return Err(crate::error::internal()),
    };
    let told = tag_columns(running, &table, &changes, tag, call).await;
    if let Err(error) = &told {
        running.audit_refused(tag, call.text, error);
    }
    Ok(Outcome::Done { tag, n_rows: None, notices: told? })
}

async fn create(
    running: &Running,
    name: String,
    if_not_exists: bool,
    tag: &'static str,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let is_there = running.snapshot.state().tag_defs.contains_key(&name);
    if is_there && running.is_admin() {
        if if_not_exists {
            return Ok(Outcome::Done {
                tag,
                n_rows: None,
                notices: vec![format!("tag `{name}` is present, skipped")],
            });
        }
        return Err(QueryError::new(ErrorKind::ObjectExists, format!("tag `{name}` is present")));
    }
    let edit = Edit::Governed(GovernedEdit::PutTagDef(TagDef { name, ..TagDef::default() }));
    let notices = commit(running, &edit, tag, call.text).await?;
    Ok(Outcome::Done { tag, n_rows: None, notices })
}

/// The property first, then the store: until both are changed, what either says holds.
async fn tag_columns(
    running: &Running,
    table: &Name,
    changes: &[Change],
    action: &'static str,
    call: &Call<'_>,
) -> Result<Vec<String>, QueryError> {
    let name = running.path.relation(&parts_of_name(table))?;
    let found = if running.is_admin() {
        find(running, &name).await?
    } else {
        crate::ddl::visible(running, &name).await?
    };
    let table = match found {
        Found::Table(table) => table,
        Found::View(_) => return Err(unsupported("tags on a view, whose columns bear those of its tables")),
        Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    let edit = edit_of(running, &name, &table, changes)?;
    let actor = Actor::new(running.who.clone());
    policy::edit::apply(&running.snapshot, &edit, &actor, running.now).map_err(|error| from_edit(&error))?;
    for change in changes {
        for tag in &change.set {
            check_fit(running, &table, &change.column, tag)?;
        }
    }
    let catalog = running.catalog(&name.catalog)?;
    let before = table.field_tags().map_err(|error| from_catalog(&error))?;
    catalog
        .change_column_tags(&name.namespace, &name.name, |tags| {
            for change in changes {
                change_property(tags, change);
            }
        })
        .await
        .map_err(|error| from_catalog(&error))?;
    let mut notices = Vec::new();
    // What is unset must not go on in the store, whether or not tags are kept there.
    if running.engine.settings.project_tags || changes.iter().any(|c| c.unset != UnsetColumnTags::None) {
        match commit_quietly(running, &edit).await {
            Ok(told) => notices = told,
            Err(error) => {
                put_back(running, &name, &table, &before, changes).await;
                return Err(error);
            }
        }
    }
    running.audit_change(action, &name.to_string(), "table", call.text, None);
    notices.extend(unruled(running, changes));
    Ok(notices)
}

fn change_property(tags: &mut PropertyMap, change: &Change) {
    // The property is read without regard to case, whoever wrote it.
    for (name, of_column) in tags.iter_mut() {
        match &change.unset {
            UnsetColumnTags::All if name.eq_ignore_ascii_case(&change.column.value) => of_column.clear(),
            UnsetColumnTags::These(kinds) if name.eq_ignore_ascii_case(&change.column.value) => {
                of_column.retain(|tag| !kinds.contains(tag));
            }
            UnsetColumnTags::None | UnsetColumnTags::All | UnsetColumnTags::These(_) => {}
        }
    }
    tags.entry(change.column.value.clone()).or_default().extend(change.set.iter().cloned());
    tags.retain(|_, tags| !tags.is_empty());
}

/// The store refused what the property says already. Other columns may have been tagged meanwhile, and stay so.
async fn put_back(
    running: &Running,
    name: &RelationName,
    table: &TableHandle,
    before: &FieldTags,
    changes: &[Change],
) {
    let Ok(catalog) = running.catalog(&name.catalog) else { return };
    let done = catalog
        .change_column_tags(&name.namespace, &name.name, |tags| {
            for change in changes {
                let column = column_in(&table.schema, &table.field_ids, &change.column.value)
                    .and_then(|column| column.field_id);
                let had = column.and_then(|id| before.get(&id)).cloned().unwrap_or_default();
                tags.insert(change.column.value.clone(), had);
            }
            tags.retain(|_, tags| !tags.is_empty());
        })
        .await;
    if done.is_err() {
        tracing::error!(query_id = %running.query_id(), table = %name, "the tags of a table could not be put back");
    }
}

fn edit_of(
    running: &Running,
    name: &RelationName,
    table: &TableHandle,
    changes: &[Change],
) -> Result<Edit, QueryError> {
    let mut columns: Vec<ColumnTags> = Vec::with_capacity(changes.len());
    for change in changes {
        let column = column_in(&table.schema, &table.field_ids, &change.column.value).ok_or_else(|| {
            no_column_in(&table.name, &change.column.value).with_position(change.column.span.start)
        })?;
        if columns.iter().any(|known| known.column == column) {
            let reason = format!("column `{}` is named twice", change.column.value);
            return Err(QueryError::new(ErrorKind::Invalid, reason).with_position(change.column.span.start));
        }
        columns.push(ColumnTags { column, unset: change.unset.clone(), set: change.set.clone() });
    }
    Ok(column_edit(running, name, table, columns))
}

fn column_edit(
    running: &Running,
    name: &RelationName,
    table: &TableHandle,
    columns: Vec<ColumnTags>,
) -> Edit {
    Edit::Governed(GovernedEdit::TagColumns(ColumnTagsEdit {
        service: running.snapshot.gate_two_service(&name.catalog).to_owned(),
        database: name.database(),
        table: name.name.clone(),
        uuid: Some(table.uuid.to_string()),
        owner: table.owner.clone(),
        columns,
    }))
}

/// Puts tags that a table bears into the store too, for whoever is allowed to have made them.
pub(crate) async fn project(
    running: &Running,
    name: &RelationName,
    table: &TableHandle,
    tags: &PropertyMap,
) -> Result<(), QueryError> {
    if tags.is_empty() || !running.engine.settings.project_tags {
        return Ok(());
    }
    commit_internal(running, &projection(running, name, table, tags)).await
}

fn projection(running: &Running, name: &RelationName, table: &TableHandle, tags: &PropertyMap) -> Edit {
    let columns = tags.iter().filter_map(|(column, tags)| {
        let column = column_in(&table.schema, &table.field_ids, column)?;
        Some(ColumnTags { column, unset: UnsetColumnTags::None, set: tags.iter().cloned().collect() })
    });
    column_edit(running, name, table, columns.collect())
}

/// The mask policies in force that speak of a tag.
fn masks_of<'r>(running: &'r Running, tag: &'r str) -> impl Iterator<Item = &'r Policy> {
    let policies = running.snapshot.state().policies.values();
    policies
        .filter(move |p| p.kind == PolicyKind::Mask && p.is_enabled && speaks_of(&running.snapshot, p, tag))
}

/// A mask that the tag brings must fit the column (L1).
fn check_fit(running: &Running, table: &TableHandle, column: &Ident, tag: &str) -> Result<(), QueryError> {
    let Ok(field) = table.schema.field_with_name(&column.value) else {
        return Err(no_column_in(&table.name, &column.value));
    };
    for policy in masks_of(running, tag) {
        for item in &policy.mask_items {
            let kind = match item.mask.mask_type.split_once(':') {
                Some((policy::defs::HIVE, bare)) => bare,
                Some(_) => continue,
                None => item.mask.mask_type.as_str(),
            };
            let fits = match (enforce::mask::MaskType::parse(kind), &item.mask.value_expr) {
                (Some(enforce::mask::MaskType::Custom), Some(text)) => {
                    crate::bind::mask_fits(running, table, text, &column.value)
                }
                (Some(kind), text) if kind.takes_number() => {
                    enforce::mask::check_number(kind, field.data_type(), text.as_deref()).is_ok()
                }
                (Some(kind), _) => enforce::mask::fits(kind, field.data_type()),
                // What cannot be mapped restricts the column when it is read.
                (None, _) => true,
            };
            if !fits {
                let whose =
                    if running.is_admin() { format!(" of policy `{}`", policy.name) } else { String::new() };
                let reason = format!(
                    "the mask{whose} on tag `{tag}` does not fit column `{}`, which is {}",
                    column.value,
                    crate::types::sql_name(field.data_type())
                );
                let error = QueryError::new(ErrorKind::TypeMismatch, reason);
                return Err(error.with_position(column.span.start));
            }
        }
    }
    Ok(())
}

/// Says which of the tags protect nothing: a tag does so by its policies alone.
fn unruled(running: &Running, changes: &[Change]) -> Vec<String> {
    let tags: BTreeSet<&String> = changes.iter().flat_map(|change| &change.set).collect();
    let policies = &running.snapshot.state().policies;
    let is_ruled = |tag: &str| policies.values().any(|p| protects(&running.snapshot, p, tag));
    let unruled = tags.into_iter().filter(|tag| !is_ruled(tag));
    unruled.map(|tag| format!("no policy speaks of the tag `{tag}` yet: it protects nothing")).collect()
}

type Lines = Vec<Vec<Option<String>>>;

/// `CALL system.reproject_column_tags(table => …)`: what the property and the store say becomes the same.
async fn reproject(
    running: &Running,
    procedure: &Name,
    arguments: &[(Option<Ident>, String)],
    call: &Call<'_>,
) -> Result<Lines, QueryError> {
    let parts = parts_of_name(procedure);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let of_catalog = match parts.as_slice() {
        ["system", "reproject_column_tags"] => None,
        [catalog, "system", "reproject_column_tags"] => Some((*catalog).to_owned()),
        _ => return Err(unsupported(format!("CALL {procedure}"))),
    };
    if !running.is_admin() {
        return Err(QueryError::new(ErrorKind::Denied, "permission denied to reproject the tags of columns"));
    }
    // Names are those of the catalog whose procedure it is.
    let mut at = running.clone();
    if let Some(catalog) = of_catalog {
        running.catalog(&catalog)?;
        at.path.catalog = catalog;
    }
    let [(Some(what), value)] = arguments else {
        let reason = "reproject_column_tags takes one of `table`, `namespace` and `catalog`";
        return Err(QueryError::new(ErrorKind::Invalid, reason));
    };
    let mut lines = Lines::new();
    for name in tables_of(&at, &what.value, value).await? {
        let (status, n_columns, message) = match reproject_table(running, &name).await {
            Ok(0) => ("skipped", 0, Some("no column bears a tag".to_owned())),
            Ok(n_columns) => ("projected", n_columns, None),
            Err(error) => ("error", 0, Some(error.message().to_owned())),
        };
        let n_columns = Some(n_columns.to_string());
        lines.push(vec![Some(name.to_string()), Some(status.to_owned()), n_columns, message]);
    }
    running.audit_change("reproject", value, "tags", call.text, None);
    Ok(lines)
}

async fn tables_of(running: &Running, what: &str, value: &str) -> Result<Vec<RelationName>, QueryError> {
    let parts: Vec<String> = value.split('.').map(str::to_owned).collect();
    let (catalog, namespaces) = match what {
        "table" => {
            let name = running.path.relation(&parts)?;
            return match find(running, &name).await? {
                Found::Table(_) => Ok(vec![name]),
                Found::View(_) | Found::Nothing => Err(table_not_found(&name.to_string())),
            };
        }
        "namespace" => {
            let (catalog, namespace) = running.path.namespace(&parts)?;
            (catalog, Some(namespace))
        }
        "catalog" => (value.to_owned(), None),
        other => {
            let reason = format!("reproject_column_tags has no argument `{other}`");
            return Err(QueryError::new(ErrorKind::Invalid, reason));
        }
    };
    let found = running.catalog(&catalog)?;
    let all = found.namespaces().await.map_err(|error| from_catalog(&error))?;
    let wanted: Vec<Vec<String>> = match namespaces {
        None => all,
        Some(namespace) if all.contains(&namespace) => vec![namespace],
        Some(namespace) => {
            return Err(crate::error::schema_not_found(&format!("{catalog}.{}", namespace.join("."))));
        }
    };
    let mut names = Vec::new();
    for namespace in wanted {
        for name in found.tables(&namespace).await.map_err(|error| from_catalog(&error))? {
            names.push(RelationName { catalog: catalog.clone(), namespace: namespace.clone(), name });
        }
    }
    Ok(names)
}

/// How many columns of the table bear tags; both the property and the store name all of them afterwards.
async fn reproject_table(running: &Running, name: &RelationName) -> Result<usize, QueryError> {
    let Found::Table(table) = find(running, name).await? else {
        return Err(table_not_found(&name.to_string()));
    };
    let rules = super::known(running, name, &table)?;
    let names = table.schema.fields().iter().map(|field| field.name().clone());
    let tags: BTreeMap<String, BTreeSet<String>> = names
        .zip(rules.tags)
        .filter(|(_, tags)| !tags.is_empty())
        .map(|(column, tags)| (column, tags.into_iter().collect()))
        .collect();
    if tags.is_empty() {
        return Ok(0);
    }
    let catalog = running.catalog(&name.catalog)?;
    let all = tags.clone();
    catalog
        .change_column_tags(&name.namespace, &name.name, move |property| {
            for (column, tags) in &all {
                property.entry(column.clone()).or_default().extend(tags.iter().cloned());
            }
        })
        .await
        .map_err(|error| from_catalog(&error))?;
    commit_internal(running, &projection(running, name, &table, &tags)).await?;
    Ok(tags.len())
}
