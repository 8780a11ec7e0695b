//! CREATE POLICY: its table, columns, grantees and expression are checked when it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use dialect::ast::{self, ExprText, PolicyBody as WrittenBody, PolicyTarget as WrittenTarget};
use enforce::mask::MaskType;
use policy::edit::{
    CheckedExpr, ColumnRef, CreateMode, PolicyAction, PolicyBody, PolicyEdit, PolicyTarget, pins,
};
use policy::model::{Policy, PolicyKind, Priority};
use query_api::QueryError;
use stdx::ErrorKind;

use super::edits::validity;
use super::objects::grantee_of;
use crate::bind::{Columns, Parts};
use crate::ddl::visible;
use crate::error::{table_not_found, unsupported};
use crate::names::{RelationName, parts_of_name};
use crate::policy_expr::{Binder, Values, check_unbound};
use crate::policy_query::PolicyQueries;
use crate::resolve::{Found, find};
use crate::rules::parts::parts_of;
use crate::running::Running;

pub(crate) async fn create(running: &Running, create: ast::CreatePolicy) -> Result<PolicyEdit, QueryError> {
    let name = match &create.target {
        WrittenTarget::Table(name) | WrittenTarget::View(name) => {
            running.path.relation(&parts_of_name(name))?
        }
        WrittenTarget::Tag(tag) => {
            let (target, body) = (PolicyTarget::Tag(tag.value.clone()), on_tag(running, &create)?);
            return edit(create, target, body);
        }
    };
    let table = table(running, &name).await?;
    if table.is_view != matches!(create.target, WrittenTarget::View(_)) {
        return Err(table_not_found(&name.to_string()));
    }
    let body = match &create.body {
        WrittenBody::RowFilter { using } => {
            PolicyBody::Filter { using: filter(running, &table, using).await? }
        }
        WrittenBody::ColumnMask { mask_type, mask_type_span, columns, using } => {
            mask(running, &table, mask_type, *mask_type_span, columns, using.as_ref()).await?
        }
    };
    let target = PolicyTarget::Relation {
        service: running.snapshot.gate_two_service(&name.catalog).to_owned(),
        database: name.database(),
        table: name.name.clone(),
        uuid: Some(table.uuid.clone()),
    };
    edit(create, target, body)
}

/// What a policy on a tag does. Its expression is checked as a text; each table that it comes to binds it anew, and
/// where it cannot be bound, the column is restricted or no row leaves.
fn on_tag(running: &Running, create: &ast::CreatePolicy) -> Result<PolicyBody, QueryError> {
    Ok(match &create.body {
        WrittenBody::RowFilter { using } => PolicyBody::Filter { using: unbound(running, using)? },
        WrittenBody::ColumnMask { mask_type, columns, using, .. } => {
            if let Some(column) = columns.first() {
                let reason =
                    "a column mask on a tag takes no ON COLUMN: it holds for every column with the tag";
                return Err(QueryError::new(ErrorKind::Invalid, reason).with_position(column.span.start));
            }
            let using = using.as_ref().map(|using| unbound(running, using)).transpose()?;
            PolicyBody::Mask { mask_type: mask_type.clone(), columns: Vec::new(), using }
        }
    })
}

fn unbound(running: &Running, using: &ExprText) -> Result<CheckedExpr, QueryError> {
    let functions = check_unbound(running, &running.state(), &using.text)
        .map_err(|error| error.with_position(using.span.start))?;
    let functions = functions.into_iter().collect();
    Ok(CheckedExpr { text: using.text.clone(), functions, ..CheckedExpr::default() })
}

fn edit(create: ast::CreatePolicy, target: PolicyTarget, body: PolicyBody) -> Result<PolicyEdit, QueryError> {
    Ok(PolicyEdit {
        name: create.name.value,
        mode: match (create.or_replace, create.if_not_exists) {
            (true, _) => CreateMode::OrReplace,
            (false, true) => CreateMode::IfNotExists,
            (false, false) => CreateMode::Create,
        },
        target,
        body,
        grantees: create.grantees.iter().map(grantee_of).collect(),
        except: create.except.iter().map(grantee_of).collect(),
        priority: if create.is_override { Priority::Override } else { Priority::Normal },
        validity: validity(create.validity.as_ref())?,
        comment: create.comment,
    })
}

/// A table or view that policies are written for.
pub(crate) struct Governable {
    name: RelationName,
    pub(crate) uuid: String,
    schema: SchemaRef,
    /// None for a view's columns, which have their names alone.
    field_ids: Vec<i32>,
    is_view: bool,
    columns: Columns,
}

pub(crate) async fn table(running: &Running, name: &RelationName) -> Result<Governable, QueryError> {
    let found = if running.is_admin() { find(running, name).await? } else { visible(running, name).await? };
    governable(running, name, found).await?.ok_or_else(|| table_not_found(&name.to_string()))
}

async fn governable(
    running: &Running,
    name: &RelationName,
    found: Found,
) -> Result<Option<Governable>, QueryError> {
    Ok(Some(match found {
        Found::Table(table) => Governable {
            name: name.clone(),
            uuid: table.uuid.to_string(),
            schema: Arc::clone(&table.schema),
            columns: Columns::of_table(name, &table),
            field_ids: table.field_ids,
            is_view: false,
        },
        Found::View(view) => {
            // Its columns are known to whoever can read it.
            let schema = crate::visible::view_schema(running, name).await.ok_or_else(|| {
                QueryError::new(
                    ErrorKind::Invalid,
                    format!("view '{name}' cannot be read, so that its columns are not known"),
                )
            })?;
            let schema = crate::scan::bare(&schema);
            Governable {
                name: name.clone(),
                uuid: view.uuid.to_string(),
                columns: Columns::of_view(name, &view.uuid, &schema),
                schema,
                field_ids: Vec::new(),
                is_view: true,
            }
        }
        Found::Nothing => return Ok(None),
    }))
}

async fn filter(running: &Running, table: &Governable, using: &ExprText) -> Result<CheckedExpr, QueryError> {
    let place = |error: QueryError| error.with_position(using.span.start);
    let state = running.state();
    let queries =
        PolicyQueries::of_text(running, &state, &table.name, &using.text, false).await.map_err(place)?;
    // Whoever writes a policy today means today's columns: an older name may be another's tomorrow (L7).
    let names = BTreeMap::new();
    let parts = Parts { running, state: &state, queries: &queries };
    let binder = table.columns.binder(&parts, &names);
    binder.filter(&using.text, Values::Unknown, &running.facts()).map_err(place)?;
    checked(&binder, table, &using.text, None).map_err(place)
}

async fn mask(
    running: &Running,
    table: &Governable,
    mask_type: &str,
    mask_type_span: ast::Span,
    columns: &[ast::Ident],
    using: Option<&ExprText>,
) -> Result<PolicyBody, QueryError> {
    let kind = MaskType::parse(mask_type);
    let mut refs = Vec::with_capacity(columns.len());
    let mut checked_using = None;
    for column in columns {
        let unknown = || no_column(table, &column.value).with_position(column.span.start);
        let (found, field) = match table.schema.field_with_name(&column.value) {
            Ok(field) => (column_ref(table, &column.value).ok_or_else(unknown)?, Arc::new(field.clone())),
            Err(_) => part_ref(table, &column.value).ok_or_else(unknown)?,
        };
        let is_part = field.name() != &column.value;
        if is_part && using.is_some() && kind.is_none_or(|kind| !kind.takes_number()) {
            return Err(unsupported("an expression as the mask of a part of a nested column")
                .with_position(mask_type_span.start));
        }
        if let Some(kind) = kind
            && !enforce::mask::fits(kind, field.data_type())
        {
            return Err(QueryError::new(
                ErrorKind::TypeMismatch,
                format!(
                    "mask type `{mask_type}` cannot stand for a value of column `{}`, which is {}",
                    column.value,
                    crate::types::sql_name(field.data_type())
                ),
            )
            .with_position(mask_type_span.start));
        }
        checked_using = match (kind, using) {
            (Some(kind), using) if kind.takes_number() => number(kind, &field, using)?,
            (_, Some(using)) => Some(custom(running, table, using, &column.value).await?),
            (_, None) => None,
        };
        refs.push(found);
    }
    Ok(PolicyBody::Mask { mask_type: mask_type.to_owned(), columns: refs, using: checked_using })
}

/// What follows `USING` where the mask type takes a number.
fn number(
    kind: MaskType,
    field: &Field,
    using: Option<&ExprText>,
) -> Result<Option<CheckedExpr>, QueryError> {
    enforce::mask::check_number(kind, field.data_type(), using.map(|using| using.text.as_str())).map_err(
        |message| {
            let error = QueryError::new(ErrorKind::Invalid, message);
            match using {
                Some(using) => error.with_position(using.span.start),
                None => error,
            }
        },
    )?;
    Ok(using.map(|using| CheckedExpr { text: using.text.trim().to_owned(), ..CheckedExpr::default() }))
}

async fn custom(
    running: &Running,
    table: &Governable,
    using: &ExprText,
    column: &str,
) -> Result<CheckedExpr, QueryError> {
    let place = |error: QueryError| error.with_position(using.span.start);
    let state = running.state();
    let queries =
        PolicyQueries::of_text(running, &state, &table.name, &using.text, true).await.map_err(place)?;
    // Whoever writes a policy today means today's columns: an older name may be another's tomorrow (L7).
    let names = BTreeMap::new();
    let parts = Parts { running, state: &state, queries: &queries };
    let binder = table.columns.binder(&parts, &names);
    binder.mask(&using.text, column, Values::Unknown, &running.facts()).map_err(place)?;
    checked(&binder, table, &using.text, Some(column)).map_err(place)
}

fn checked(
    binder: &Binder<'_>,
    table: &Governable,
    text: &str,
    column: Option<&str>,
) -> Result<CheckedExpr, QueryError> {
    let needs = binder.needs(text, column)?;
    refuse_circle(binder.running, &table.name.to_string(), &needs.tables)?;
    Ok(CheckedExpr {
        text: text.to_owned(),
        columns: needs.columns.iter().filter_map(|name| column_ref(table, name)).collect(),
        functions: needs.functions.into_iter().collect(),
        tables: needs.tables.into_iter().collect(),
        reads: needs.reads,
    })
}

/// Policies whose sub-queries lead from a relation back to it are refused: what each of them hides would depend on
/// the others.
fn refuse_circle(running: &Running, on: &str, reads: &BTreeSet<String>) -> Result<(), QueryError> {
    let edges: Vec<(Vec<String>, Vec<String>)> = running
        .snapshot
        .state()
        .policies
        .values()
        .filter(|policy| matches!(policy.kind, PolicyKind::Mask | PolicyKind::RowFilter))
        .map(|policy| (relations_of(running, policy), pins(policy).tables))
        .filter(|(_, tables)| !tables.is_empty())
        .collect();
    let (mut reached, mut waiting) = (BTreeSet::new(), Vec::from_iter(reads.iter().cloned()));
    while let Some(next) = waiting.pop() {
        if next == on {
            return Err(QueryError::new(
                ErrorKind::Invalid,
                "the sub-query reads a relation whose own policies lead back to this one",
            ));
        }
        if reached.insert(next.clone()) {
            let from_here = edges.iter().filter(|(from, _)| from.contains(&next));
            waiting.extend(from_here.flat_map(|(_, to)| to.iter().cloned()));
        }
    }
    Ok(())
}

/// The full names of the relations that a policy names literally.
fn relations_of(running: &Running, policy: &Policy) -> Vec<String> {
    let mut names = Vec::new();
    let catalogs = running.engine.catalog_order.iter();
    for catalog in catalogs.filter(|catalog| running.snapshot.gate_two_service(catalog) == policy.service) {
        for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
            let values = |level: &str| map.get(level).into_iter().flat_map(|level| &level.values);
            for database in values("database") {
                names.extend(values("table").map(|table| format!("{catalog}.{database}.{table}")));
            }
        }
    }
    names
}

pub(crate) fn column_ref(table: &Governable, name: &str) -> Option<ColumnRef> {
    column_in(&table.schema, &table.field_ids, name)
}

/// The same, or a part of one.
pub(crate) fn column_or_part(table: &Governable, name: &str) -> Option<ColumnRef> {
    column_ref(table, name).or_else(|| part_ref(table, name).map(|(part, _)| part))
}

/// A part of a nested column by its dotted name.
fn part_ref(table: &Governable, name: &str) -> Option<(ColumnRef, FieldRef)> {
    let columns = table.schema.fields().iter();
    let mut named = columns
        .flat_map(|column| parts_of(column).into_iter().filter(|part| part.name(column.name()) == name));
    let part = named.next()?;
    // A field name with a dot in it may make two parts of one name.
    named.next().is_none().then(|| {
        let found = ColumnRef { name: name.to_owned(), field_id: part.field_id() };
        (found, part.field)
    })
}

pub(crate) fn column_in(schema: &Schema, field_ids: &[i32], name: &str) -> Option<ColumnRef> {
    let position = schema.index_of(name).ok()?;
    Some(ColumnRef { name: name.to_owned(), field_id: field_ids.get(position).copied() })
}

pub(crate) fn no_column(table: &Governable, column: &str) -> QueryError {
    no_column_in(&table.name.name, column)
}

pub(crate) fn no_column_in(table: &str, column: &str) -> QueryError {
    QueryError::new(ErrorKind::ColumnNotFound, format!("no such column `{column}` in table {table}"))
}

/// `ALTER POLICY … SET USING`: the new text is checked against the table of the policy.
pub(crate) async fn recheck(
    running: &Running,
    named: &str,
    using: &ExprText,
) -> Result<CheckedExpr, QueryError> {
    if running.is_admin()
        && let Some(found) = running.snapshot.state().policies.values().find(|p| p.name == named)
        && found.resources.contains_key(policy::defs::TAG)
    {
        return unbound(running, using);
    }
    let (policy, table) = governed_table(running, named).await?;
    match policy.kind {
        PolicyKind::RowFilter => filter(running, &table, using).await,
        PolicyKind::Mask => {
            let pinned = pins(&policy);
            let numbered = policy
                .mask_items
                .iter()
                .find_map(|item| MaskType::parse(&item.mask.mask_type).filter(|kind| kind.takes_number()));
            let mut checked = None;
            for column in &pinned.columns {
                checked = match (numbered, table.schema.field_with_name(&column.name)) {
                    (Some(kind), Ok(field)) => number(kind, field, Some(using))?,
                    (Some(_), Err(_)) => return Err(no_column(&table, &column.name)),
                    (None, _) => Some(custom(running, &table, using, &column.name).await?),
                };
            }
            checked.ok_or_else(|| {
                QueryError::new(ErrorKind::Invalid, "the policy masks no column that is known")
            })
        }
        PolicyKind::Access | PolicyKind::Audit => {
            Err(QueryError::new(ErrorKind::Invalid, "the policy has no expression"))
        }
    }
}

/// `ALTER POLICY … REBIND`: pins the policy to the table and columns that stand under its names now.
pub(crate) async fn rebind(running: &Running, policy: &str) -> Result<PolicyAction, QueryError> {
    let (found, pinned) = governed_table(running, policy).await?;
    let table = tables_of(running, &found).await?.into_iter().next().unwrap_or(pinned);
    let columns = table.schema.fields().iter().filter_map(|field| column_ref(&table, field.name())).collect();
    Ok(PolicyAction::Rebind { uuid: Some(table.uuid.clone()), columns })
}

/// A policy of gate two by name, for those who may see policies, with the table that it is pinned to or names.
async fn governed_table(running: &Running, name: &str) -> Result<(Policy, Governable), QueryError> {
    let not_found = || QueryError::new(ErrorKind::ObjectNotFound, format!("no such policy `{name}`"));
    if !running.is_admin() {
        return Err(not_found());
    }
    let state = running.snapshot.state();
    let policy = state.policies.values().find(|policy| policy.name == name).ok_or_else(not_found)?;
    match table_of(running, policy).await? {
        Some(table) => Ok((policy.clone(), table)),
        None => {
            Err(QueryError::new(ErrorKind::TableNotFound, format!("no table of policy `{name}` is there")))
        }
    }
}

/// Of the tables that stand under a policy's names, the one that it is pinned to, else the first.
async fn table_of(running: &Running, policy: &Policy) -> Result<Option<Governable>, QueryError> {
    let tables = tables_of(running, policy).await?;
    let pinned = pins(policy).table_uuid;
    let is_pinned = |table: &Governable| pinned.as_deref() == Some(table.uuid.as_str());
    let at = tables.iter().position(is_pinned).unwrap_or(0);
    Ok(tables.into_iter().nth(at))
}

/// What stands under a policy's names, in the order of the names.
async fn tables_of(running: &Running, policy: &Policy) -> Result<Vec<Governable>, QueryError> {
    let names_none =
        || QueryError::new(ErrorKind::Invalid, format!("policy `{}` names no table", policy.name));
    let catalog = running
        .engine
        .catalog_order
        .iter()
        .find(|catalog| running.snapshot.gate_two_service(catalog) == policy.service)
        .ok_or_else(names_none)?;
    let mut tables = Vec::new();
    let mut n_names = 0_usize;
    for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
        let value = |level: &str| map.get(level).and_then(|values| values.values.first()).cloned();
        let (Some(database), Some(table)) = (value("database"), value("table")) else { continue };
        n_names += 1;
        let namespace = database.split('.').map(str::to_owned).collect();
        let relation = RelationName { catalog: catalog.clone(), namespace, name: table };
        let found = find(running, &relation).await?;
        tables.extend(governable(running, &relation, found).await?);
    }
    if n_names == 0 { Err(names_none()) } else { Ok(tables) }
}

/// A policy as it was in one of its versions, if it can be evaluated today.
pub(crate) async fn earlier(running: &Running, name: &str, version: i64) -> Result<Policy, QueryError> {
    let not_found = || QueryError::new(ErrorKind::ObjectNotFound, format!("no such policy `{name}`"));
    if !running.is_admin() {
        return Err(not_found());
    }
    let state = running.snapshot.state();
    let id = state.policies.values().find(|policy| policy.name == name).ok_or_else(not_found)?.id;
    let entries = running.engine.store.history(id).await.map_err(|error| crate::error::from_store(&error))?;
    let Some(policy) = entries.into_iter().filter_map(|entry| entry.policy).find(|p| p.version == version)
    else {
        return Err(QueryError::new(
            ErrorKind::ObjectNotFound,
            format!("policy `{name}` has no version {version}"),
        )
        .with_hint("SHOW POLICY HISTORY lists its versions"));
    };
    let table = match table_of(running, &policy).await {
        // A policy on a tag names no table.
        Err(error) if error.kind() == ErrorKind::Invalid => None,
        found => found?,
    };
    if let Some(table) = table {
        crate::bind::check(running, &table.columns, &policy).await.map_err(|error| {
            let message = format!("version {version} of policy `{name}` does not fit its table today");
            QueryError::new(error.kind(), format!("{message}: {}", error.message()))
        })?;
    }
    Ok(policy)
}
