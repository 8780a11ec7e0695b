//! An engine that does what the statement's words say, for tests of the door alone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use policy::Principal;
use query_api::{
    Description, Outcome, QueryError, QueryService, QuerySession, RequestContext, Rows, StatementText,
    TransactionState,
};
use stdx::ErrorKind;
use tokio_util::sync::CancellationToken;

/// Tables by the statement that reads them.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) tables: HashMap<&'static str, RecordBatch>,
    /// Batches that were taken out of `COUNT` so far.
    pub(crate) n_batches: Arc<AtomicUsize>,
    /// Told when a `WAIT` has begun.
    pub(crate) waiting: Arc<tokio::sync::Notify>,
    /// Told when a `WAIT` has seen its cancellation.
    pub(crate) cancelled: Arc<tokio::sync::Notify>,
    /// Ends a `WORK`.
    pub(crate) release: Arc<tokio::sync::Notify>,
    pub(crate) contexts: Mutex<Vec<RequestContext>>,
}

#[async_trait]
impl QueryService for Engine {
    async fn open_session(
        &self,
        principal: Principal,
        context: RequestContext,
        catalog: Option<&str>,
    ) -> Result<Arc<dyn QuerySession>, QueryError> {
        if !matches!(catalog, None | Some("lake")) {
            return Err(QueryError::new(ErrorKind::CatalogNotFound, "no such catalog"));
        }
        let application = context.application.clone().unwrap_or_default();
        self.contexts.lock().unwrap().push(context);
        Ok(Arc::new(Session {
            user: principal.user,
            tables: self.tables.clone(),
            n_batches: Arc::clone(&self.n_batches),
            waiting: Arc::clone(&self.waiting),
            cancelled: Arc::clone(&self.cancelled),
            release: Arc::clone(&self.release),
            settings: Mutex::new(HashMap::from([("application_name".to_owned(), application)])),
            transaction: Mutex::new(TransactionState::Idle),
        }))
    }
}

#[derive(Debug)]
struct Session {
    user: String,
    tables: HashMap<&'static str, RecordBatch>,
    n_batches: Arc<AtomicUsize>,
    waiting: Arc<tokio::sync::Notify>,
    cancelled: Arc<tokio::sync::Notify>,
    release: Arc<tokio::sync::Notify>,
    settings: Mutex<HashMap<String, String>>,
    transaction: Mutex<TransactionState>,
}

const COUNT_BATCH: i64 = 10;

/// The Arrow types that `ECHO` takes, by a name for each.
pub(crate) fn type_named(name: &str) -> DataType {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    match name {
        "bool" => DataType::Boolean,
        "int2" => DataType::Int16,
        "int4" => DataType::Int32,
        "int8" => DataType::Int64,
        "float4" => DataType::Float32,
        "float8" => DataType::Float64,
        "numeric" => DataType::Decimal128(20, 4),
        "wide" => DataType::Decimal128(38, 10),
        "text" => DataType::Utf8,
        "view" => DataType::Utf8View,
        "open" => DataType::Null,
        "bytea" => DataType::Binary,
        "uuid" => DataType::FixedSizeBinary(16),
        "date" => DataType::Date32,
        "time" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "nanos" => DataType::Timestamp(TimeUnit::Nanosecond, None),
        "int4s" => list(DataType::Int32),
        "int8s" => list(DataType::Int64),
        "texts" => list(DataType::Utf8),
        other => panic!("no type {other}"),
    }
}

fn schema_of(name: &str, data_type: DataType) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, data_type, true)]))
}

fn rows(schema: SchemaRef, batches: Vec<Result<RecordBatch, QueryError>>) -> Rows {
    Rows { schema, batches: stream::iter(batches).boxed() }
}

fn done(tag: &'static str, n_rows: Option<u64>) -> Outcome {
    Outcome::Done { tag, n_rows, notices: Vec::new() }
}

fn selected(rows: Rows) -> Outcome {
    Outcome::Rows { rows, tag: "SELECT", notices: Vec::new() }
}

impl Session {
    fn counting(&self, n_rows: i64) -> Rows {
        let schema = schema_of("n", DataType::Int64);
        let n_batches = Arc::clone(&self.n_batches);
        let made = Arc::clone(&schema);
        let batches = stream::iter((0..n_rows).step_by(COUNT_BATCH as usize)).map(move |start| {
            n_batches.fetch_add(1, Ordering::SeqCst);
            let end = n_rows.min(start + COUNT_BATCH);
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(start..end));
            Ok(RecordBatch::try_new(Arc::clone(&made), vec![column]).unwrap())
        });
        Rows { schema, batches: batches.boxed() }
    }

    fn columns_of(&self, words: &[&str]) -> Result<Option<SchemaRef>, QueryError> {
        Ok(match words {
            ["TABLE", name] => Some(self.tables.get(name).unwrap().schema()),
            ["COUNT", _] | ["BROKEN"] => Some(schema_of("n", DataType::Int64)),
            ["CHANGED"] => Some(schema_of("n", DataType::Int32)),
            // A type left open is text.
            ["ECHO", "open"] => Some(schema_of("echo", DataType::Utf8)),
            ["ECHO", name] => Some(schema_of("echo", type_named(name))),
            ["SHOW", _] | ["WHO"] => Some(schema_of("setting", DataType::Utf8)),
            ["UNPLANNED", ..] => {
                return Err(QueryError::new(ErrorKind::TableNotFound, "no such table `t`").with_position(10));
            }
            _ => None,
        })
    }
}

#[async_trait]
impl QuerySession for Session {
    fn split(&self, script: &str) -> Result<Vec<StatementText>, QueryError> {
        let mut offset = 0;
        let mut statements = Vec::new();
        for part in script.split(';') {
            let text = part.trim();
            if text == "SPLITFAIL" {
                return Err(QueryError::new(ErrorKind::Syntax, "unterminated string").with_position(offset));
            }
            if !text.is_empty() {
                let lead = part.len() - part.trim_start().len();
                statements.push(StatementText { text: text.to_owned(), offset: offset + lead });
            }
            offset += part.len() + 1;
        }
        Ok(statements)
    }

    async fn describe(&self, statement: &str, types: &[Option<DataType>]) -> Result<Description, QueryError> {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let parameters = match words.as_slice() {
            ["ECHO", name] => vec![type_named(name)],
            ["DECLARED"] => types.iter().map(|t| t.clone().unwrap_or(DataType::Null)).collect(),
            _ => Vec::new(),
        };
        Ok(Description { parameters, columns: self.columns_of(&words)? })
    }

    async fn run(
        &self,
        statement: &str,
        parameters: &[ArrayRef],
        cancel: CancellationToken,
    ) -> Result<Outcome, QueryError> {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let columns = self.columns_of(&words)?;
        Ok(match words.as_slice() {
            ["TABLE", name] => {
                let batch = self.tables.get(name).unwrap().clone();
                selected(rows(batch.schema(), vec![Ok(batch)]))
            }
            ["COUNT", n_rows] => selected(self.counting(n_rows.parse().unwrap())),
            ["CHANGED"] => selected(self.counting(1)),
            ["ECHO", _] => {
                let schema = columns.unwrap();
                let array = Arc::clone(&parameters[0]);
                assert_eq!(array.data_type(), schema.field(0).data_type());
                let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
                selected(rows(schema, vec![Ok(batch)]))
            }
            ["BROKEN"] => {
                let good = self.counting(3).batches.collect::<Vec<_>>().await;
                let bad = Err(QueryError::new(ErrorKind::DivisionByZero, "division by zero"));
                selected(rows(columns.unwrap(), good.into_iter().chain([bad]).collect()))
            }
            ["WAIT"] => {
                self.waiting.notify_one();
                cancel.cancelled().await;
                self.cancelled.notify_one();
                return Err(QueryError::new(ErrorKind::Cancelled, "canceling statement due to user request"));
            }
            ["WORK"] => {
                self.waiting.notify_one();
                self.release.notified().await;
                done("INSERT", Some(1))
            }
            ["PANIC"] => panic!("the secret of alice"),
            ["PANIC", "LATE"] => {
                let broken = stream::once(async { panic!("the secret of alice") });
                selected(Rows { schema: schema_of("n", DataType::Int64), batches: broken.boxed() })
            }
            ["WHO"] | ["SHOW", _] => {
                let value = match words.as_slice() {
                    ["SHOW", name] => self.setting(name).unwrap_or_default(),
                    _ => self.user.clone(),
                };
                let schema = columns.unwrap();
                let column: ArrayRef = Arc::new(arrow::array::StringArray::from(vec![value]));
                let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
                Outcome::Rows { rows: rows(schema, vec![Ok(batch)]), tag: "SHOW", notices: Vec::new() }
            }
            ["SET", name, "=", value] => {
                if name.eq_ignore_ascii_case("unknown") {
                    return Err(QueryError::new(ErrorKind::ObjectNotFound, "no such setting"));
                }
                let value = value.trim_matches('\'').to_owned();
                self.settings.lock().unwrap().insert(name.to_lowercase(), value);
                done("SET", None)
            }
            ["BEGIN"] | ["START", "TRANSACTION"] => {
                *self.transaction.lock().unwrap() = TransactionState::Open;
                done("BEGIN", None)
            }
            ["COMMIT"] | ["ROLLBACK"] => {
                *self.transaction.lock().unwrap() = TransactionState::Idle;
                done("COMMIT", None)
            }
            ["INSERT", n_rows] => done("INSERT", Some(n_rows.parse().unwrap())),
            ["GRANT", text] => {
                Outcome::Done { tag: "GRANT", n_rows: None, notices: vec![(*text).to_owned()] }
            }
            _ => {
                if *self.transaction.lock().unwrap() == TransactionState::Open {
                    *self.transaction.lock().unwrap() = TransactionState::Failed;
                }
                let at = statement.rfind(' ').map_or(0, |at| at + 1);
                return Err(QueryError::new(ErrorKind::ColumnNotFound, "no such column `x`")
                    .with_hint("there is `y`")
                    .with_position(at));
            }
        })
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.settings.lock().unwrap().get(&name.to_lowercase()).cloned()
    }

    fn transaction(&self) -> TransactionState {
        *self.transaction.lock().unwrap()
    }

    async fn complete(&self, _prefix: &str) -> Result<Vec<String>, QueryError> {
        Ok(Vec::new())
    }
}
