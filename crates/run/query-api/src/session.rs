//! Sessions: who is asking, and the statements she runs.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use async_trait::async_trait;
use futures::stream::BoxStream;
use policy::Principal;
use tokio_util::sync::CancellationToken;

use crate::QueryError;

/// The protocol a request came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    Postgres,
    Http,
    Flight,
    Embedded,
}

impl Door {
    /// The name in audit records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Http => "http",
            Self::Flight => "flight",
            Self::Embedded => "embedded",
        }
    }
}

/// What conditions and audit records may want to know of a request besides who makes it.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub door: Door,
    pub client_addr: Option<IpAddr>,
    /// What the client calls itself (`application_name`).
    pub application: Option<String>,
}

/// One statement of a script, with its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementText {
    pub text: String,
    /// Byte offset in the script.
    pub offset: usize,
}

/// What a statement takes and gives, known without running it.
#[derive(Clone, Debug)]
pub struct Description {
    /// The types of `$1`, `$2`, ….
    pub parameters: Vec<DataType>,
    /// The result's columns; `None` for a statement that returns no rows.
    pub columns: Option<SchemaRef>,
}

/// A result's rows, in batches as they come.
pub struct Rows {
    pub schema: SchemaRef,
    pub batches: BoxStream<'static, Result<RecordBatch, QueryError>>,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// What running a statement gives.
#[derive(Debug)]
pub enum Outcome {
    /// Rows; `tag` is the word of PostgreSQL's command tag, such as `SELECT` or `SHOW`.
    Rows { rows: Rows, tag: &'static str, notices: Vec<String> },
    /// No rows; `tag` is such as `GRANT` or `CREATE TABLE`, `n_rows` what a write touched.
    Done { tag: &'static str, n_rows: Option<u64>, notices: Vec<String> },
    /// The text held no statement.
    Empty,
}

/// Where a session stands between `BEGIN` and `COMMIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    Idle,
    Open,
    /// A statement failed inside a transaction block; only `ROLLBACK` or `COMMIT` is accepted.
    Failed,
}

/// Opens sessions.
#[async_trait]
pub trait QueryService: Send + Sync + fmt::Debug {
    /// Opens a session for somebody who has proved who she is.
    ///
    /// `catalog` is the catalog (in PostgreSQL's terms the database) to start in; `None` is the first one configured.
    /// One that does not exist, or that she may not see, is [`stdx::ErrorKind::CatalogNotFound`].
    async fn open_session(
        &self,
        principal: Principal,
        context: RequestContext,
        catalog: Option<&str>,
    ) -> Result<Arc<dyn QuerySession>, QueryError>;
}

/// One client's session. Statements of one session run one after the other.
#[async_trait]
pub trait QuerySession: Send + Sync + fmt::Debug {
    /// Cuts a script at its semicolons, quotes and comments respected.
    fn split(&self, script: &str) -> Result<Vec<StatementText>, QueryError>;

    /// Plans a single statement without running it. `types` are those the client gave for parameters.
    async fn describe(&self, statement: &str, types: &[Option<DataType>]) -> Result<Description, QueryError>;

    /// Runs a single statement, governed anew at each call. Each parameter is an array of one value.
    async fn run(
        &self,
        statement: &str,
        parameters: &[ArrayRef],
        cancel: CancellationToken,
    ) -> Result<Outcome, QueryError>;

    /// A session setting, as `SHOW` would tell it.
    fn setting(&self, name: &str) -> Option<String>;

    fn transaction(&self) -> TransactionState;

    /// The names that begin with `prefix` and that this user may see, for completion in a shell.
    async fn complete(&self, prefix: &str) -> Result<Vec<String>, QueryError>;
}
