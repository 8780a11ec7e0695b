//! `pg_catalog` and `information_schema`, cut down to what the user may see.

mod array_query;
mod functions;
mod info_schema;
mod pg_catalog;
mod roles;
mod sys;
mod visible;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{MemTable, Session, TableProvider};
use datafusion::common::Result as DfResult;
use datafusion::datasource::provider_as_source;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, TableSource, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_pg_catalog::pg_catalog::PG_CATALOG_TABLES;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use query_api::QueryError;
use sqlparser::ast;
use sqlparser::tokenizer::{Token, Tokenizer};

pub(crate) use functions::{register_functions, type_planner};
pub(crate) use pg_catalog::PgSession;
pub(crate) use visible::{load_numbers, register_visible};

use crate::error::{from_datafusion, table_not_found};
use crate::names::{INFORMATION_SCHEMA, PG_CATALOG, RelationName};
use crate::running::Running;

/// Metadata that was cut down to one user before it became a table.
pub(crate) struct VirtualTable(MemTable);

/// Columns by name, in order, all of one length.
pub(crate) type Columns = Vec<(&'static str, ArrayRef)>;

impl VirtualTable {
    /// A table of one batch, whose columns may all be NULL.
    pub(crate) fn of_columns(columns: Columns) -> Result<Self, QueryError> {
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
            .map_err(|error| from_datafusion(&error.into()))?;
        Self::try_new(schema, vec![batch])
    }

    pub(crate) fn try_new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, QueryError> {
        MemTable::try_new(schema, vec![batches]).map(Self).map_err(|error| from_datafusion(&error))
    }
}

impl fmt::Debug for VirtualTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VirtualTable")
    }
}

#[async_trait]
impl TableProvider for VirtualTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, filters, limit).await
    }
}

/// The source behind a name in one of the schemas that hold no Iceberg tables.
pub(crate) async fn source(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
) -> Result<Arc<dyn TableSource>, QueryError> {
    if !running.engine.catalogs.contains_key(&name.catalog) {
        return Err(table_not_found(&name.to_string()));
    }
    let table = if name.is_in_sys() {
        sys::table(running, name).await?
    } else if name.namespace.iter().any(|part| part == INFORMATION_SCHEMA) {
        info_schema::table(running, name).await?
    } else {
        pg_catalog::table(running, state, name).await?
    };
    match table {
        Some(table) => Ok(provider_as_source(Arc::new(table))),
        None => Err(table_not_found(&name.to_string())),
    }
}

/// Whether a name of one part means a table of `pg_catalog`.
pub(crate) fn is_catalog_table(name: &str) -> bool {
    PG_CATALOG_TABLES.contains(&name)
}

/// The statement as PostgreSQL's clients mean it, if it asks about the catalog; `None` for any other.
///
/// Only such statements are rewritten: the rules know PostgreSQL's operators and casts that DataFusion lacks.
pub(crate) fn rewritten(text: &str) -> Option<ast::Statement> {
    if !asks_the_catalog(text) {
        return None;
    }
    let mut statements =
        PostgresCompatibilityParser::new().parse(&text.replace(STORAGE_OPTIONS, "''")).ok()?;
    match (statements.pop(), statements.is_empty()) {
        (Some(mut statement @ ast::Statement::Query(_)), true) => {
            array_query::rewrite(&mut statement);
            Some(statement)
        }
        _ => None,
    }
}

/// Whether a word of the text is a name of the catalog's; what stands in a literal, a comment or within another name
/// is none.
fn asks_the_catalog(text: &str) -> bool {
    let Ok(tokens) = Tokenizer::new(&dialect::SluiceDialect, text).tokenize() else {
        return false;
    };
    let tokens: Vec<Token> =
        tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    tokens.iter().enumerate().any(|(i, token)| {
        let Token::Word(word) = token else { return false };
        let name = match word.quote_style {
            Some(_) => word.value.clone(),
            None => word.value.to_lowercase(),
        };
        let before = i.checked_sub(1).and_then(|i| tokens.get(i));
        name == PG_CATALOG
            || name == INFORMATION_SCHEMA
            || is_catalog_table(&name)
            || (name.starts_with("pg_") && tokens.get(i + 1) == Some(&Token::LParen))
            || (name.starts_with("reg") && before == Some(&Token::DoubleColon))
    })
}

/// psql's question for storage options, which no relation here has; its sub-query over a function cannot be planned.
const STORAGE_OPTIONS: &str = "pg_catalog.array_to_string(c.reloptions || \
     array(select 'toast.' || x from pg_catalog.unnest(tc.reloptions) x), ', ')";
