//! What a statement must give: run without governance over rows that were filtered and masked by hand.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::MemorySchemaProvider;
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use futures::FutureExt;
use query_api::Outcome;
use testkit::Client;
use tokio_util::sync::CancellationToken;

use crate::ask::rows_of;
use crate::install::views;
use crate::lake::{Lake, Row, Secrets, Table, Value};

/// A plain query engine over what one user may see of one lake.
pub(crate) struct Oracle {
    context: SessionContext,
}

/// What came of a statement there.
#[derive(Debug)]
pub(crate) enum Answer {
    Rows(Vec<String>),
    /// It cannot be planned there.
    NotPlanned(String),
    Failed(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => {
                write!(f, "{} rows", rows.len())?;
                rows.iter().take(12).try_for_each(|row| write!(f, "\n      {row}"))
            }
            Self::NotPlanned(why) => write!(f, "not planned: {why}"),
            Self::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

impl Oracle {
    /// `admin` says what types the columns have.
    pub(crate) async fn open(lake: &Lake, secrets: Secrets, user: &str, admin: &Client) -> Result<Self> {
        let mut config = SessionConfig::new()
            .with_default_catalog_and_schema("lake", "g")
            .with_information_schema(false)
            .with_target_partitions(1);
        config.options_mut().sql_parser.map_string_types_to_utf8view = true;
        config.options_mut().sql_parser.dialect = datafusion::common::config::Dialect::PostgreSQL;
        let context = SessionContext::new_with_config(config);
        let catalog = context.catalog("lake").context("the oracle has no catalog")?;
        if catalog.schema("g").is_none() {
            catalog.register_schema("g", Arc::new(MemorySchemaProvider::new()))?;
        }
        for table in &lake.tables {
            let schema = schema_of(admin, table).await?;
            let commits = table.content.of(secrets);
            let all: Vec<&Row> = commits.iter().flatten().collect();
            let first: Vec<&Row> = commits.iter().take(1).flatten().collect();
            for (name, rows) in [(table.name.to_owned(), all), (format!("{}_old", table.name), first)] {
                let batch = seen(table, user, &rows, &schema)?;
                let memory = MemTable::try_new(Arc::clone(&schema), vec![vec![batch]])?;
                context.register_table(format!("lake.g.{name}"), Arc::new(memory))?;
            }
        }
        for view in views(lake, [false; 2]) {
            context.sql(&view).await?.collect().await?;
        }
        Ok(Self { context })
    }

    /// The plan as it is written, before any rule has seen it.
    pub(crate) async fn plan(&self, sql: &str) -> Result<LogicalPlan, Answer> {
        let state = self.context.state();
        let plan = AssertUnwindSafe(state.create_logical_plan(sql)).catch_unwind().await;
        match plan {
            Ok(plan) => plan.map_err(|error| Answer::NotPlanned(error.to_string())),
            Err(_) => Err(Answer::NotPlanned("panic".to_owned())),
        }
    }

    pub(crate) async fn run(&self, plan: LogicalPlan) -> Answer {
        let answer = AssertUnwindSafe(self.answer(plan)).catch_unwind().await;
        answer.unwrap_or_else(|_| Answer::Failed("panic".to_owned()))
    }

    async fn answer(&self, plan: LogicalPlan) -> Answer {
        let frame = match self.context.execute_logical_plan(plan).await {
            Ok(frame) => frame,
            Err(error) => return Answer::NotPlanned(error.to_string()),
        };
        match frame.collect().await {
            Ok(batches) => Answer::Rows(batches.iter().flat_map(rows_of).collect()),
            Err(error) => Answer::Failed(error.to_string()),
        }
    }
}

async fn schema_of(admin: &Client, table: &Table) -> Result<SchemaRef> {
    let sql = format!("SELECT * FROM g.{}", table.name);
    let outcome = admin.session().run(&sql, &[], CancellationToken::new()).await?;
    let Outcome::Rows { rows, .. } = outcome else { anyhow::bail!("`{sql}` gave no rows") };
    let fields: Vec<_> =
        rows.schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    Ok(Arc::new(Schema::new(fields)))
}

/// The rows that a user sees, as she sees them.
fn seen(table: &Table, user: &str, rows: &[&Row], schema: &SchemaRef) -> Result<RecordBatch> {
    let rows: Vec<Row> = match table.rules(user) {
        None => rows.iter().map(|row| (*row).clone()).collect(),
        Some(rules) => {
            rows.iter().filter(|row| rules.sees(row)).map(|row| rules.image(&table.columns, row)).collect()
        }
    };
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        columns.push(column(rows.iter().map(|row| &row[at]), field.data_type())?);
    }
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

fn column<'a>(values: impl Iterator<Item = &'a Value>, kind: &DataType) -> Result<ArrayRef> {
    let mut arrays = Vec::new();
    for value in values {
        let array = match scalar(value)? {
            None => ScalarValue::try_from(kind)?.to_array()?,
            Some(scalar) => cast(&scalar.to_array()?, kind)?,
        };
        arrays.push(array);
    }
    if arrays.is_empty() {
        return Ok(arrow::array::new_empty_array(kind));
    }
    let arrays: Vec<&dyn arrow::array::Array> = arrays.iter().map(AsRef::as_ref).collect();
    Ok(arrow::compute::concat(&arrays)?)
}

fn scalar(value: &Value) -> Result<Option<ScalarValue>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(value) => ScalarValue::Int64(Some(*value)),
        Value::Dec(value) => ScalarValue::Decimal128(Some(i128::from(*value)), 10, 2),
        Value::Dbl(value) => ScalarValue::Float64(Some(*value)),
        Value::Str(value) => ScalarValue::Utf8(Some(value.clone())),
        Value::Date(days) => ScalarValue::Date32(Some(*days)),
        Value::Ts(seconds) => ScalarValue::TimestampSecond(Some(*seconds), None),
        Value::Bool(value) => ScalarValue::Boolean(Some(*value)),
        Value::List(values) => {
            let values: Vec<ScalarValue> =
                values.iter().map(|value| ScalarValue::Int32(i32::try_from(*value).ok())).collect();
            ScalarValue::List(ScalarValue::new_list_nullable(&values, &DataType::Int32))
        }
        Value::Who(name, year) => {
            let fields = vec![
                arrow::datatypes::Field::new("nm", DataType::Utf8, true),
                arrow::datatypes::Field::new("yr", DataType::Int32, true),
            ];
            let values: Vec<ArrayRef> = vec![
                ScalarValue::Utf8(Some(name.clone())).to_array()?,
                ScalarValue::Int32(i32::try_from(*year).ok()).to_array()?,
            ];
            ScalarValue::Struct(Arc::new(arrow::array::StructArray::try_new(fields.into(), values, None)?))
        }
    }))
}
