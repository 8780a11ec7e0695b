//! CREATE OR REPLACE TABLE: other columns and rows under the same identity, so that protections stay (L7, L9).

use std::sync::Arc;

use catalog::{ColumnTags, TableHandle};
use datafusion::arrow::datatypes::Schema;
use datafusion::logical_expr::LogicalPlan;
use enforce::TableVerdict;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast;
use stdx::ErrorKind;

use super::alter::{refuse_filtering, refuse_needed};
use super::create::{partition_columns, storable};
use super::{arrow_schema, in_the_way};
use crate::dml::{Masked, written_back};
use crate::error::{from_catalog, from_datafusion, unsupported};
use crate::names::RelationName;
use crate::query::{self, Governed};
use crate::resolve::{self, Found, Resolved, verdict_for};
use crate::running::{Running, table_object};
use crate::statement::Call;
use crate::tags::{Carried, project};

/// The right to make tables in the namespace has been asked for.
pub(super) async fn replace(
    running: &Running,
    name: &RelationName,
    old: &TableHandle,
    create: ast::CreateTable,
    tag: &'static str,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let (object, owner) = (table_object(name), old.owner.as_deref());
    let may = running.may(Operation::ReplaceTable, &object, owner);
    if !may.is_allowed() && !running.sees_table(name, owner) {
        running.audit_denied(Operation::ReplaceTable, &object, &may);
        return Err(in_the_way(running, name, &Found::Table(old.clone()), "create a table"));
    }
    running.require(Operation::ReplaceTable, &object, owner, &format!("replace table {name}"))?;
    let state = running.state();
    let (_, own) = verdict_for(running, &state, name, old).await?;
    if !own.filters.is_empty() {
        return Err(QueryError::new(
            ErrorKind::Denied,
            format!("table {name} cannot be replaced by you: a row filter on it applies to you"),
        ));
    }
    let partition_by = partition_columns(create.partition_by.as_deref())?;
    let n_rows = match create.query {
        Some(query) if create.columns.is_empty() => {
            Some(replace_as(running, name, old, &own, *query, &partition_by, call).await?)
        }
        Some(_) => return Err(unsupported("CREATE TABLE with both columns and a query")),
        None => {
            let schema = arrow_schema(create.columns)?;
            refuse_lost(running, name, old, &schema)?;
            let catalog = running.catalog(&name.catalog)?;
            let pending = catalog.begin_replace(old, &schema, &partition_by, &ColumnTags::new());
            let pending = pending.map_err(|error| from_catalog(&error))?;
            pending.commit().await.map_err(|error| from_catalog(&error))?;
            None
        }
    };
    running.audit_change("replace", &name.to_string(), "table", call.text, n_rows);
    Ok(Outcome::Done { tag, n_rows, notices: super::create::protected_by_name(running, "table", name) })
}

/// A column that a policy needs must be there in the new table, too (L7).
fn refuse_lost(
    running: &Running,
    name: &RelationName,
    old: &TableHandle,
    new: &Schema,
) -> Result<(), QueryError> {
    for (field, id) in old.schema.fields().iter().zip(&old.field_ids) {
        if new.index_of(field.name()).is_err() {
            refuse_needed(running, name, field.name(), *id)?;
            refuse_filtering(running, name, old, (field.name(), *id))?;
        }
    }
    Ok(())
}

async fn replace_as(
    running: &Running,
    name: &RelationName,
    old: &TableHandle,
    own: &TableVerdict,
    source: ast::Query,
    partition_by: &[String],
    call: &Call<'_>,
) -> Result<u64, QueryError> {
    let state = running.state();
    let mut resolved = Resolved::default();
    let mut statement = ast::Statement::Query(Box::new(source));
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await?;
    refuse_written_back(name, old, own, &plan)?;
    let plan = query::with_parameters(plan, call.parameters)?;
    let plan = query::govern_plan(running, plan, &resolved)?;
    let governed = Governed { plan, state, resolved };
    let record = running.audit_query(&governed.resolved, call.text);
    let written = Box::pin(fill(running, name, old, &governed, partition_by)).await;
    record.finish(running, *written.as_ref().unwrap_or(&0), written.as_ref().err());
    written
}

/// What a mask shows must not take the place of what is stored (L9).
fn refuse_written_back(
    name: &RelationName,
    old: &TableHandle,
    own: &TableVerdict,
    plan: &LogicalPlan,
) -> Result<(), QueryError> {
    let masked = Masked {
        uuid: old.uuid.to_string(),
        columns: old.schema.fields().iter().map(|field| field.name().as_str()).collect(),
        verdict: own,
    };
    for column in 0..plan.schema().fields().len() {
        if masked.is_in_column(plan, column).map_err(|error| from_datafusion(&error))? {
            return Err(written_back(name));
        }
    }
    Ok(())
}

async fn fill(
    running: &Running,
    name: &RelationName,
    old: &TableHandle,
    governed: &Governed,
    partition_by: &[String],
) -> Result<u64, QueryError> {
    let rows = query::execute(running, governed).await?;
    let schema: Arc<Schema> = storable(&rows.schema())?;
    refuse_lost(running, name, old, &schema)?;
    let catalog = running.catalog(&name.catalog)?;
    let tags = Carried::of(governed)?.named(schema.fields().iter().map(|field| field.name()));
    let pending = catalog.begin_replace(old, &schema, partition_by, &tags);
    let mut pending = pending.map_err(|error| from_catalog(&error))?;
    match pending.append(rows).await {
        Ok(n_rows) => {
            let table = pending.commit().await.map_err(|error| from_catalog(&error))?;
            project(running, name, &table, &tags).await?;
            Ok(n_rows)
        }
        Err(error) => {
            pending.abandon().await;
            Err(from_catalog(&error))
        }
    }
}
