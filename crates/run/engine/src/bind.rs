//! Binds what gate two says of a relation to expressions over its stored columns, whatever they are called today.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::{Past, TableHandle};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::Column;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::Expr;
use enforce::mask::{MaskType, PartCover, check_number, mask_expr, parts_expr};
use enforce::{ColumnVerdict, SessionFacts, TableVerdict};
use policy::edit::pins;
use policy::model::Policy;
use policy::{ColumnRule, TableRules};
use query_api::QueryError;
use stdx::ErrorKind;
use uuid::Uuid;

use crate::error::from_datafusion;
use crate::names::RelationName;
use crate::policy_expr::{Binder, Values};
use crate::policy_query::PolicyQueries;
use crate::running::Running;

/// What no column is called.
const NO_COLUMN: &str = "";

/// A relation's columns as they are stored, and as policies name them.
pub(crate) struct Columns {
    name: RelationName,
    stored: SchemaRef,
    /// The same columns in the same order, under the names of today.
    today: SchemaRef,
    field_ids: Vec<i32>,
    uuid: String,
    /// Names that no column has today, to today's names of those that had them.
    former: BTreeMap<String, String>,
    /// Names that a column has today and another had before.
    doubtful: Vec<String>,
}

impl Columns {
    pub(crate) fn of_table(name: &RelationName, handle: &TableHandle) -> Self {
        let (former, doubtful) = former(handle);
        Self {
            name: name.clone(),
            stored: Arc::clone(&handle.schema),
            today: today_schema(handle),
            field_ids: handle.field_ids.clone(),
            uuid: handle.uuid.to_string(),
            former,
            doubtful,
        }
    }

    /// A view's columns have their names alone.
    pub(crate) fn of_view(name: &RelationName, uuid: &Uuid, schema: &SchemaRef) -> Self {
        Self {
            name: name.clone(),
            stored: Arc::clone(schema),
            today: Arc::clone(schema),
            field_ids: Vec::new(),
            uuid: uuid.to_string(),
            former: BTreeMap::new(),
            doubtful: Vec::new(),
        }
    }

    pub(crate) fn binder<'a>(
        &'a self,
        parts: &'a Parts<'a>,
        names: &'a BTreeMap<String, String>,
    ) -> Binder<'a> {
        let Parts { running, state, queries } = parts;
        Binder { running, state, name: &self.name, schema: &self.today, names, queries, reads: None }
    }

    /// The same for the texts of a policy that is in force, whose sub-queries must read what they did when it was
    /// written.
    fn binder_of<'a>(
        &'a self,
        parts: &'a Parts<'a>,
        names: &'a BTreeMap<String, String>,
        policy: Option<&Policy>,
    ) -> Binder<'a> {
        // A policy that came by another way was never read so.
        let reads = policy.map(pins).filter(|pins| !pins.tables.is_empty()).map(|pins| pins.reads);
        Binder { reads, ..self.binder(parts, names) }
    }

    /// What the names of a policy's text mean: the columns that it was pinned to when it was written, wherever those
    /// went and whatever has their names now (L7).
    fn names(&self, policy: Option<&Policy>) -> BTreeMap<String, String> {
        let mut names = self.former.clone();
        let pins = policy.map(pins).filter(|pins| pins.table_uuid.as_deref() == Some(self.uuid.as_str()));
        let Some(pins) = pins else {
            // Which of the two it means nothing tells, and so a text with such a name cannot be bound.
            names.extend(self.doubtful.iter().map(|name| (name.clone(), NO_COLUMN.to_owned())));
            return names;
        };
        for need in pins.needs {
            let at = self.field_ids.iter().position(|id| Some(*id) == need.field_id);
            if let Some(field) = at.and_then(|at| self.today.fields().get(at)) {
                names.insert(need.name, field.name().clone());
            }
        }
        names
    }
}

/// What texts are bound with, whatever policy they are of.
pub(crate) struct Parts<'a> {
    pub(crate) running: &'a Running,
    pub(crate) state: &'a SessionState,
    /// What the sub-queries of the texts read.
    pub(crate) queries: &'a PolicyQueries,
}

/// A column that was dropped since cannot be named by a new policy. To a reader from whom nothing of the table is
/// hidden it is shown, as the rest is; to any other it is not (L7).
pub(crate) fn restrict_forgotten(past: &Past, rules: &mut TableRules) {
    let is_restricted = rules.hide_anything();
    for (at, rule) in rules.columns.iter_mut().enumerate() {
        if at >= past.n_columns {
            // Not among what is read; what it says of the reader is in `is_restricted`.
            *rule = ColumnRule::Raw;
        } else if is_restricted && past.dropped.contains(&at) && matches!(rule, ColumnRule::Raw) {
            *rule = ColumnRule::Restricted(policy::Restriction {
                policy: None,
                policy_name: None,
                reason: "the column was dropped, and no policy can name it".to_owned(),
            });
        }
    }
}

/// Binds the rules of a relation to expressions over its stored columns.
pub(crate) async fn rules(
    running: &Running,
    state: &SessionState,
    columns: &Columns,
    rules: &TableRules,
) -> Result<TableVerdict, QueryError> {
    let (facts, name) = (running.facts(), &columns.name);
    let queries = PolicyQueries::of_rules(running, state, name, rules).await;
    let parts = Parts { running, state, queries: &queries };
    let mut filters = Vec::with_capacity(rules.filters.len());
    for filter in &rules.filters {
        let bound = match &filter.broken {
            Some(_) => None,
            None => bind_filter(&parts, columns, filter, &facts).ok(),
        };
        // No row leaves, and the reader is told so; the policy and its text stay unsaid (L6).
        let Some(bound) = bound else {
            tracing::warn!(policy_id = filter.policy.0, table = %name, "row filter cannot be evaluated");
            return Err(QueryError::new(
                ErrorKind::Unavailable,
                format!("policy unavailable for table '{name}'"),
            )
            .with_hint(filter_hint(&parts, columns, filter)));
        };
        filters.push(bound);
    }
    let verdicts = columns
        .stored
        .fields()
        .iter()
        .zip(&rules.columns)
        .map(|(field, rule)| match rule {
            ColumnRule::Raw => ColumnVerdict::Raw,
            ColumnRule::Restricted(_) => ColumnVerdict::Restricted,
            ColumnRule::Masked(mask) => {
                let bound = bind_mask(&parts, columns, field, mask, &facts);
                if bound.is_none() {
                    // A mask that cannot be built restricts its column (L6).
                    tracing::warn!(policy_id = mask.policy.0, table = %name, "mask cannot be built");
                }
                bound.map_or(ColumnVerdict::Restricted, ColumnVerdict::Masked)
            }
            ColumnRule::Parts(rules) => {
                let bound = bind_parts(&parts, field, rules);
                if bound.is_none() {
                    // As above; a part that must have a value cannot be NULL.
                    tracing::warn!(table = %name, "masks of parts of a column cannot be built");
                }
                bound.map_or(ColumnVerdict::Restricted, ColumnVerdict::Masked)
            }
        })
        .collect();
    Ok(TableVerdict { filters, columns: verdicts, snapshot_version: running.snapshot.version().0 })
}

/// Whether a policy's expressions can be evaluated over a relation as it is today.
pub(crate) async fn check(running: &Running, columns: &Columns, policy: &Policy) -> Result<(), QueryError> {
    let (state, facts) = (running.state(), running.facts());
    let queries = PolicyQueries::of_policy(running, &state, &columns.name, policy).await;
    let names = columns.names(Some(policy));
    let parts = Parts { running, state: &state, queries: &queries };
    let binder = columns.binder_of(&parts, &names, Some(policy));
    for item in &policy.filter_items {
        binder.filter(&item.filter_expr, Values::Unknown, &facts)?;
    }
    let own = pins(policy).columns;
    let own = own.iter().filter_map(|column| {
        let at = columns.field_ids.iter().position(|id| Some(*id) == column.field_id)?;
        columns.today.fields().get(at)
    });
    for column in own {
        for mask in policy.mask_items.iter().map(|item| &item.mask) {
            let text = mask.value_expr.as_deref();
            match (MaskType::parse(&mask.mask_type).filter(|kind| kind.takes_number()), text) {
                (Some(kind), text) => check_number(kind, column.data_type(), text)
                    .map_err(|message| QueryError::new(ErrorKind::Invalid, message))?,
                (None, Some(text)) => {
                    binder.mask(text, column.name(), Values::Unknown, &facts)?;
                }
                (None, None) => {}
            }
        }
    }
    Ok(())
}

/// Whether a custom mask can be evaluated for a column of a table as it is today.
pub(crate) fn mask_fits(running: &Running, handle: &TableHandle, text: &str, column: &str) -> bool {
    let name = RelationName {
        catalog: running.path.catalog.clone(),
        namespace: running.path.namespace.clone(),
        name: handle.name.clone(),
    };
    let (state, facts, columns) = (running.state(), running.facts(), Columns::of_table(&name, handle));
    // A text with a sub-query fits no table here: policies on tags have none.
    let (names, queries) = (columns.names(None), PolicyQueries::default());
    let parts = Parts { running, state: &state, queries: &queries };
    columns.binder(&parts, &names).mask(text, column, Values::Unknown, &facts).is_ok()
}

/// What to do about a row filter that cannot be bound; only who may see policies learns which one, and why.
fn filter_hint(parts: &Parts<'_>, columns: &Columns, filter: &policy::FilterRule) -> String {
    if !parts.running.is_admin() {
        return "a row filter on it cannot be evaluated; ask a policy admin".to_owned();
    }
    let why = match (&filter.broken, bind_filter(parts, columns, filter, &parts.running.facts())) {
        (None, Err(error)) => format!(": {}", error.message()),
        _ => String::new(),
    };
    format!(
        "the row filter of policy `{}` does not fit this table{why}; change or drop the policy",
        filter.policy_name
    )
}

fn bind_filter(
    parts: &Parts<'_>,
    columns: &Columns,
    filter: &policy::FilterRule,
    facts: &SessionFacts,
) -> Result<Expr, QueryError> {
    let policy = parts.running.snapshot.state().policies.get(&filter.policy);
    let names = columns.names(policy);
    let binder = columns.binder_of(parts, &names, policy);
    in_stored_names(binder.filter(&filter.expr, Values::Known(&filter.expressions), facts)?, columns)
}

fn bind_mask(
    parts: &Parts<'_>,
    columns: &Columns,
    field: &Field,
    mask: &policy::MaskRule,
    facts: &SessionFacts,
) -> Option<Expr> {
    let kind = MaskType::parse(&mask.mask_type)?;
    let text = mask.value_expr.as_deref();
    let custom = if kind == MaskType::Custom {
        let at = columns.stored.index_of(field.name()).ok()?;
        let today = columns.today.fields().get(at)?.name();
        let policy = parts.running.snapshot.state().policies.get(&mask.policy);
        let names = columns.names(policy);
        let binder = columns.binder_of(parts, &names, policy);
        let bound = binder.mask(text?, today, Values::Known(&mask.expressions), facts).ok()?;
        Some(in_stored_names(bound, columns).ok()?)
    } else {
        None
    };
    let number = text.filter(|_| kind.takes_number());
    mask_expr(kind, field, custom, number, &parts.running.engine.mask_settings)
}

/// The masks of parts of a column; `None`: one of them cannot be made, so that the column is restricted (L6).
fn bind_parts(parts: &Parts<'_>, field: &Field, rules: &[policy::PartRule]) -> Option<Expr> {
    let covers = rules.iter().filter(|part| part.rule != ColumnRule::Raw).map(|part| {
        let cover = match &part.rule {
            ColumnRule::Masked(mask) => {
                let kind = MaskType::parse(&mask.mask_type).filter(|kind| *kind != MaskType::Custom)?;
                let number = mask.value_expr.as_deref().filter(|_| kind.takes_number());
                PartCover::Mask { kind, number }
            }
            ColumnRule::Raw | ColumnRule::Restricted(_) | ColumnRule::Parts(_) => PartCover::Null,
        };
        Some((part.path.as_slice(), cover))
    });
    parts_expr(field, &covers.collect::<Option<Vec<_>>>()?, &parts.running.engine.mask_settings)
}

/// The columns under the names that they have today, by which policies are written; those of a former state may have
/// had others, and then what another column has today.
fn today_schema(handle: &TableHandle) -> SchemaRef {
    let Some(past) = &handle.past else { return Arc::clone(&handle.schema) };
    let fields = handle.schema.fields().iter().zip(&past.names);
    let fields: Vec<_> = fields.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
    Arc::new(Schema::new(fields))
}

/// An expression over today's names, over those of the former state that is read.
fn in_stored_names(expr: Expr, columns: &Columns) -> Result<Expr, QueryError> {
    if Arc::ptr_eq(&columns.stored, &columns.today) {
        return Ok(expr);
    }
    let stored = |column: &Column| {
        let at = columns.today.index_of(&column.name).ok()?;
        let field = columns.stored.fields().get(at)?;
        Some(Column { name: field.name().clone(), ..column.clone() })
    };
    crate::policy_expr::with_own_columns(expr, &columns.name, &stored)
        .map_err(|error| from_datafusion(&error))
}

/// The names that columns had in former days: those that no other has now, to the names that the same fields have now
/// (L7), and those that another has now.
fn former(handle: &TableHandle) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut former, mut doubtful) = (BTreeMap::new(), Vec::new());
    let schema = today_schema(handle);
    for ((field, id), stored) in schema.fields().iter().zip(&handle.field_ids).zip(handle.schema.fields()) {
        for name in std::iter::once(stored.name().clone()).chain(handle.former_names(*id)) {
            if schema.index_of(&name).is_err() {
                former.entry(name).or_insert_with(|| field.name().clone());
            } else if name != *field.name() && !doubtful.contains(&name) {
                doubtful.push(name);
            }
        }
    }
    (former, doubtful)
}
