//! INSERT: the rows that its source gives to this user, checked against her own row filters (L9).

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{LogicalPlan, WriteOp};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use enforce::{ColumnVerdict, SealedSource, TableVerdict};
use futures::TryStreamExt;
use policy::operation::Operation;
use query_api::{Description, Outcome, QueryError};
use sqlparser::ast::{self, Ident, ObjectName};
use stdx::ErrorKind;

use crate::error::{from_catalog, from_datafusion, table_not_found, unsupported};
use crate::names::{RelationName, parts_of};
use crate::provider::source_key;
use crate::query::{self, Governed};
use crate::resolve::{self, Found, Resolved, relation_of, verdict_for};
use crate::running::{Running, table_object};
use crate::statement::Call;

/// What the target is called while an INSERT is planned; no user can write it.
const TARGET: &str = "\u{0}target";

/// An INSERT that has been planned, and whose target may be written.
struct Planned {
    name: RelationName,
    table: catalog::TableHandle,
    /// The rows to write, in the target's columns and types.
    input: LogicalPlan,
    resolved: Resolved,
    state: datafusion::execution::session_state::SessionState,
}

pub(crate) async fn insert(
    running: &Running,
    insert: ast::Insert,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let planned = plan(running, insert).await?;
    let input = query::with_parameters(planned.input, call.parameters)?;
    let (name, table) = (planned.name, planned.table);
    refuse_reading_masked_target(&name, &table, &planned.resolved)?;
    let (_, own) = verdict_for(running, &planned.state, &name, &table)?;
    let record = running.audit_query(&planned.resolved, call.text);
    let plan = query::govern_plan(running, input, &planned.resolved)?;
    let governed = Governed { plan, state: planned.state, resolved: planned.resolved };
    let written = write(running, &name, &table, &own, &governed).await;
    if !governed.resolved.touched.is_empty() {
        // What was read for a write that failed was still read.
        record.finish(running, *written.as_ref().unwrap_or(&0), written.as_ref().err());
    }
    let n_rows = written?;
    running.audit_change("insert", &name.to_string(), "table", call.text, Some(n_rows));
    Ok(Outcome::Done { tag: "INSERT", n_rows: Some(n_rows), notices: Vec::new() })
}

async fn write(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    own: &TableVerdict,
    governed: &Governed,
) -> Result<u64, QueryError> {
    let rows = query::execute(running, governed).await?;
    let rows = checked(name, table, own, governed, rows)?;
    let catalog = running.catalog(&name.catalog)?;
    catalog.append(table, rows).await.map_err(|error| from_catalog(&error))
}

pub(crate) async fn describe(
    running: &Running,
    insert: ast::Insert,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let planned = plan(running, insert).await?;
    Ok(Description { parameters: query::parameter_types(&planned.input, types)?, columns: None })
}

async fn plan(running: &Running, mut insert: ast::Insert) -> Result<Planned, QueryError> {
    refuse_unknown_clauses(&insert)?;
    let ast::TableObject::TableName(written) = &insert.table else {
        return Err(unsupported("INSERT into anything but a table"));
    };
    let name = running.path.relation(&parts_of(written)?)?;
    let table = target(running, &name).await?;
    let state = running.state();
    // The target is planned under a name of its own: that it may be written does not let it be read.
    insert.table = ast::TableObject::TableName(ObjectName::from(vec![Ident::with_quote('"', TARGET)]));
    let schema = Arc::new(without_field_metadata(&table.schema));
    let mut resolved = Resolved::default();
    let key = source_key(&running.path.catalog, &running.path.namespace.join("."), TARGET);
    let sealed = SealedSource::new(relation_of(&name, TARGET), Arc::clone(&schema), schema, Arc::new(()));
    resolved.sources.insert(key, Arc::new(sealed));
    let mut statement = ast::Statement::Insert(insert);
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await?;
    let LogicalPlan::Dml(dml) = plan else {
        return Err(crate::error::internal());
    };
    if !matches!(dml.op, WriteOp::Insert(datafusion::logical_expr::dml::InsertOp::Append)) {
        return Err(unsupported("INSERT OVERWRITE"));
    }
    Ok(Planned { name, table, input: Arc::unwrap_or_clone(dml.input), resolved, state })
}

async fn target(running: &Running, name: &RelationName) -> Result<catalog::TableHandle, QueryError> {
    let Found::Table(table) = resolve::find(running, name).await? else {
        return Err(table_not_found(&name.to_string()));
    };
    let object = table_object(name);
    if !running.may(Operation::InsertInto, &object, table.owner.as_deref()).is_allowed() {
        if !running.sees_table(name, table.owner.as_deref()) {
            return Err(table_not_found(&name.to_string()));
        }
        running.require(
            Operation::InsertInto,
            &object,
            table.owner.as_deref(),
            &format!("insert into table {name}"),
        )?;
    }
    Ok(table)
}

fn refuse_unknown_clauses(insert: &ast::Insert) -> Result<(), QueryError> {
    let is_plain = insert.optimizer_hints.is_empty()
        && insert.or.is_none()
        && !insert.ignore
        && insert.table_alias.is_none()
        && !insert.overwrite
        && insert.source.is_some()
        && insert.assignments.is_empty()
        && insert.partitioned.is_none()
        && insert.after_columns.is_empty()
        && insert.on.is_none()
        && insert.output.is_none()
        && !insert.replace_into
        && insert.priority.is_none()
        && insert.insert_alias.is_none()
        && insert.settings.is_none()
        && insert.format_clause.is_none()
        && insert.multi_table_insert_type.is_none()
        && insert.multi_table_into_clauses.is_empty();
    if insert.returning.is_some() {
        return Err(unsupported("RETURNING"));
    }
    if is_plain { Ok(()) } else { Err(unsupported("a clause of this INSERT")) }
}

/// What a mask shows must not be written back into the table that it was read from (L9).
fn refuse_reading_masked_target(
    name: &RelationName,
    table: &catalog::TableHandle,
    resolved: &Resolved,
) -> Result<(), QueryError> {
    let relation = relation_of(name, &table.uuid.to_string());
    let is_masked = resolved
        .verdicts
        .get(&relation)
        .is_some_and(|verdict| verdict.columns.iter().any(|column| *column != ColumnVerdict::Raw));
    if is_masked {
        return Err(QueryError::new(
            ErrorKind::Denied,
            format!(
                "table {name} cannot be read and written in one statement: columns of it are masked for you"
            ),
        ));
    }
    Ok(())
}

/// Rows that the writer could not see afterwards are refused, before the first is committed.
fn checked(
    name: &RelationName,
    table: &catalog::TableHandle,
    own: &TableVerdict,
    governed: &Governed,
    rows: SendableRecordBatchStream,
) -> Result<SendableRecordBatchStream, QueryError> {
    let Some(filter) = conjunction(own.filters.clone()) else {
        return Ok(rows);
    };
    let schema = Arc::clone(&table.schema);
    let df_schema = DFSchema::try_from(Arc::clone(&schema)).map_err(|error| from_datafusion(&error))?;
    let filter =
        governed.state.create_physical_expr(filter, &df_schema).map_err(|error| from_datafusion(&error))?;
    let table = name.to_string();
    let out = rows.schema();
    let stream = rows.and_then(move |batch| {
        let checked = check_batch(&batch, &schema, filter.as_ref(), &table).map(|()| batch);
        std::future::ready(checked)
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(out, stream)))
}

fn check_batch(
    batch: &RecordBatch,
    schema: &Arc<Schema>,
    filter: &dyn PhysicalExpr,
    table: &str,
) -> Result<(), DataFusionError> {
    let columns = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .map(|(column, field)| datafusion::arrow::compute::cast(column, field.data_type()))
        .collect::<Result<Vec<_>, _>>()?;
    let nullable: Vec<_> =
        schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(nullable)), columns)?;
    let passed = filter.evaluate(&batch)?.into_array(batch.num_rows())?;
    let passed = passed.as_boolean();
    if passed.null_count() == 0 && passed.false_count() == 0 {
        return Ok(());
    }
    Err(DataFusionError::External(Box::new(QueryError::new(
        ErrorKind::Denied,
        format!("a new row would not be visible to you: it does not pass the row filters of table {table}"),
    ))))
}

/// The planner compares schemas whole; field ids are not its business, however deep they stand.
fn without_field_metadata(schema: &Schema) -> Schema {
    let fields: Vec<_> = schema.fields().iter().map(|field| bare(field)).collect();
    Schema::new(fields)
}

fn bare(field: &Field) -> Field {
    let inner = |field: &FieldRef| Arc::new(bare(field));
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(inner(item)),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}
