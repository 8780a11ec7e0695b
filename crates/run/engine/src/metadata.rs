//! `t$files`, `t$snapshots` and their like, and SHOW STATS: for readers from whom nothing of the table is hidden (L2).

use std::ops::ControlFlow;
use std::sync::Arc;

use catalog::{MetadataTable, TableHandle};
use datafusion::arrow::array::{Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ColumnStatistics;
use datafusion::common::stats::Precision;
use datafusion::datasource::provider_as_source;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::TableSource;
use datafusion::scalar::ScalarValue;
use policy::TableRules;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast::{
    self, FunctionArg, FunctionArgExpr, Ident, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use stdx::ErrorKind;

use crate::error::{from_catalog, from_datafusion, table_not_found, unsupported};
use crate::names::{RelationName, SearchPath, parts_of, parts_of_name, quoted};
use crate::pg::VirtualTable;
use crate::resolve::{Found, Resolved, TouchedTable, find, verdict_for};
use crate::rules::rules_of_all_times;
use crate::running::{Running, table_object};
use crate::session::invalid;
use crate::show::rows;

/// What the function forms begin with: `table_files('g', 't')`.
const FUNCTION_PREFIX: &str = "table_";

/// Puts `t$files` in the place of `table_files('t')`, so that both mean one thing.
pub(crate) fn give_names(statement: &mut ast::Statement, path: &SearchPath) -> Result<(), QueryError> {
    struct Namer<'a>(&'a SearchPath);
    impl VisitorMut for Namer<'_> {
        type Break = QueryError;

        fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
            let TableFactor::Table { name, alias, args, .. } = factor else {
                return ControlFlow::Continue(());
            };
            let function = match (parts_of(name).as_deref(), &args) {
                (Ok([function]), Some(_)) => function.clone(),
                _ => return ControlFlow::Continue(()),
            };
            let kind = function.strip_prefix(FUNCTION_PREFIX).and_then(MetadataTable::parse);
            let (Some(kind), Some(given)) = (kind, &args) else { return ControlFlow::Continue(()) };
            let Some(parts) = texts(&given.args) else {
                return ControlFlow::Break(invalid(format!(
                    "`{function}` takes the name of a table, in texts"
                )));
            };
            match self.0.relation(&parts) {
                Ok(mut relation) => {
                    relation.name = format!("{}${}", relation.name, kind.word());
                    *name = quoted(&relation);
                }
                Err(error) => return ControlFlow::Break(error),
            }
            *args = None;
            if alias.is_none() {
                let name = Ident::with_quote('"', function);
                *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
            }
            ControlFlow::Continue(())
        }
    }
    match statement.visit(&mut Namer(path)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The parts of a name that is given in one to three texts.
fn texts(args: &[FunctionArg]) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    for arg in args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Value(value))) = arg else { return None };
        let text = value.value.clone().into_string()?;
        parts.extend(text.split('.').map(str::to_owned));
    }
    (!parts.is_empty() && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Whether a name is that of a metadata table.
pub(crate) fn is_metadata_name(name: &RelationName) -> bool {
    split(name).is_some()
}

/// The table and the word of `t$files`; `None` for a name of another form.
fn split(name: &RelationName) -> Option<(RelationName, MetadataTable)> {
    let (table, word) = name.name.rsplit_once('$')?;
    let kind = MetadataTable::parse(word)?;
    Some((RelationName { name: table.to_owned(), ..name.clone() }, kind))
}

/// The source behind `t$files`; `None` for a name of another form.
pub(crate) async fn source(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    resolved: &mut Resolved,
) -> Result<Option<Arc<dyn TableSource>>, QueryError> {
    let Some((base, kind)) = split(name) else { return Ok(None) };
    let not_found = || table_not_found(&name.to_string());
    let Found::Table(handle) = find(running, &base).await? else { return Err(not_found()) };
    let gate_one = running.may_read(Operation::SelectTable, &table_object(&base), handle.owner.as_deref());
    if !gate_one.is_allowed() {
        running.audit_denied(Operation::SelectTable, &table_object(&base), &gate_one);
        return Err(not_found());
    }
    let rules = require_open(running, state, &base, &handle, &format!("table '{name}'")).await?;
    let batch = handle.metadata_table(kind).await.map_err(|error| from_catalog(&error))?;
    resolved.touched.push(TouchedTable {
        name: name.clone(),
        is_restricting: false,
        rules: Some(rules),
        columns: handle.schema.fields().iter().map(|field| field.name().clone()).collect(),
        is_below: false,
        gate_one,
    });
    let table = VirtualTable::try_new(batch.schema(), vec![batch])?;
    Ok(Some(provider_as_source(Arc::new(table))))
}

/// Refuses what tells of all stored rows to one from whom rows or values of the table are hidden, be it in columns
/// that were dropped since: their bounds and counts are kept with the files.
pub(crate) async fn require_open(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    handle: &TableHandle,
    what: &str,
) -> Result<TableRules, QueryError> {
    let (rules, verdict) = Box::pin(verdict_for(running, state, name, handle)).await?;
    let ever = rules_of_all_times(running, name, handle);
    let is_open = !verdict.is_restricting() && !ever.hide_anything();
    if is_open {
        return Ok(rules);
    }
    Err(QueryError::new(ErrorKind::Denied, format!("permission denied for {what}"))
        .with_hint("it tells of all stored rows, and some rows or values of the table are hidden from you"))
}

pub(crate) fn stats_columns() -> SchemaRef {
    let field = |name: &str, data_type: DataType| Field::new(name, data_type, true);
    Arc::new(Schema::new(vec![
        field("column_name", DataType::Utf8),
        field("data_size", DataType::Int64),
        field("distinct_values_count", DataType::Float64),
        field("nulls_fraction", DataType::Float64),
        field("row_count", DataType::Float64),
        field("low_value", DataType::Utf8),
        field("high_value", DataType::Utf8),
    ]))
}

/// SHOW STATS FOR t: what the files' own statistics tell, one row for each column and one for the table.
pub(crate) async fn stats(running: &Running, table: &dialect::ast::Name) -> Result<Outcome, QueryError> {
    let name = running.path.relation(&parts_of_name(table))?;
    let handle = match find(running, &name).await? {
        Found::Table(handle) => handle,
        Found::View(view) if running.sees_view(&name, Some(&view.owner)) => {
            return Err(unsupported("SHOW STATS of a view"));
        }
        Found::View(_) | Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    let gate_one = running.may(Operation::SelectTable, &table_object(&name), handle.owner.as_deref());
    if !gate_one.is_allowed() {
        running.audit_denied(Operation::SelectTable, &table_object(&name), &gate_one);
        return Err(table_not_found(&name.to_string()));
    }
    let what = format!("the statistics of table '{name}'");
    let TableRules { .. } = require_open(running, &running.state(), &name, &handle, &what).await?;
    let statistics = handle.statistics().await.map_err(|error| from_catalog(&error))?;
    let n_rows = statistics.num_rows.get_value().map(|rows| float(*rows));
    let columns = &statistics.column_statistics;
    let names = handle.schema.fields().iter().map(|field| Some(field.name().clone()));
    let text = |value: &dyn Fn(&ColumnStatistics) -> Option<String>| -> StringArray {
        columns.iter().map(value).chain([None]).collect()
    };
    let nulls = columns.iter().map(|column| {
        let rows = n_rows.filter(|rows| *rows > 0.0)?;
        Some(float(*column.null_count.get_value()?) / rows)
    });
    let size = match statistics.total_byte_size {
        Precision::Exact(size) | Precision::Inexact(size) => i64::try_from(size).ok(),
        Precision::Absent => None,
    };
    let without: Vec<Option<f64>> = vec![None; columns.len() + 1];
    let own_row =
        |value: Option<f64>| -> Float64Array { columns.iter().map(|_| None).chain([value]).collect() };
    let batch = RecordBatch::try_new(
        stats_columns(),
        vec![
            Arc::new(names.chain([None]).collect::<StringArray>()),
            Arc::new(columns.iter().map(|_| None).chain([size]).collect::<Int64Array>()),
            Arc::new(Float64Array::from(without)),
            Arc::new(nulls.chain([None]).collect::<Float64Array>()),
            Arc::new(own_row(n_rows)),
            Arc::new(text(&|column| shown(&column.min_value))),
            Arc::new(text(&|column| shown(&column.max_value))),
        ],
    )
    .map_err(|error| from_datafusion(&error.into()))?;
    Ok(rows(batch, "SHOW"))
}

#[expect(clippy::cast_precision_loss, reason = "a count of rows is shown as Trino shows it, as a double")]
fn float(count: usize) -> f64 {
    count as f64
}

fn shown(value: &Precision<ScalarValue>) -> Option<String> {
    match value {
        Precision::Exact(value) | Precision::Inexact(value) if !value.is_null() => {
            let text = value.cast_to(&DataType::Utf8).ok()?;
            text.try_as_str().flatten().map(str::to_owned)
        }
        Precision::Exact(_) | Precision::Inexact(_) | Precision::Absent => None,
    }
}
