//! Cursors: a query's rows over several statements, each of which is governed anew.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use dialect::ast::{CursorStatement, CursorSteps, QueryText};
use enforce::{Relation, TableVerdict};
use futures::stream::{self, BoxStream, StreamExt};
use query_api::{Description, Outcome, QueryError, Rows, TransactionState};
use sqlparser::ast;
use stdx::{ErrorKind, Timestamp};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::asking::parsed;
use crate::error::unsupported;
use crate::names::SearchPath;
use crate::query::{self, Bounds, bounded};
use crate::running::Running;
use crate::session::{EngineSession, SessionVars, invalid};
use crate::statement::{Call, as_clients_mean_it};

/// Cursors that one session may have open at a time: each holds a query that runs.
const CURSORS_MAX: usize = 100;

/// A cursor of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionCursor {
    cursor: Arc<OpenCursor>,
    /// Whether the transaction block that it was declared in still lasts.
    in_block: bool,
}

struct OpenCursor {
    schema: SchemaRef,
    is_held: bool,
    query: QueryText,
    parameters: Vec<ArrayRef>,
    /// Where the names of the query resolve, whatever the session has set since.
    path: SearchPath,
    /// When it was declared.
    begun: Timestamp,
    /// What its rows were let through by.
    verdicts: HashMap<Relation, Arc<TableVerdict>>,
    rows: Arc<Mutex<Waiting>>,
}

impl fmt::Debug for OpenCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCursor").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// The rows that were not fetched yet.
struct Waiting {
    batches: BoxStream<'static, Result<RecordBatch, QueryError>>,
    current: Option<RecordBatch>,
    /// Rows that were on their way to the client when a fetch failed may be lost, so there is no going on.
    is_broken: bool,
}

impl Waiting {
    /// Some of the next rows, no more than `rows_max`.
    async fn next(&mut self, rows_max: u64) -> Option<Result<RecordBatch, QueryError>> {
        let batch = match self.current.take() {
            Some(batch) => batch,
            None => match self.batches.next().await? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        let n_rows = batch.num_rows();
        let n_taken = usize::try_from(rows_max).unwrap_or(usize::MAX).min(n_rows);
        if n_taken < n_rows {
            self.current = Some(batch.slice(n_taken, n_rows - n_taken));
        }
        Some(Ok(batch.slice(0, n_taken)))
    }
}

/// A fetch under way; nobody else fetches from the cursor meanwhile.
struct Fetching {
    /// `None` once all that was asked for is taken.
    waiting: Option<OwnedMutexGuard<Waiting>>,
    rows_left: u64,
}

impl Fetching {
    async fn next(mut self) -> Option<(Result<RecordBatch, QueryError>, Self)> {
        match self.waiting.as_mut()?.next(self.rows_left).await {
            None => {
                self.waiting = None;
                None
            }
            Some(Ok(batch)) => {
                self.rows_left -= batch.num_rows() as u64;
                if self.rows_left == 0 {
                    self.waiting = None;
                }
                Some((Ok(batch), self))
            }
            Some(Err(error)) => {
                // Dropped with its rows still wanted, which breaks the cursor.
                drop(self);
                Some((Err(error), Self { waiting: None, rows_left: 0 }))
            }
        }
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.is_broken = true;
        }
    }
}

pub(crate) async fn run(
    session: &EngineSession,
    running: &Running,
    statement: CursorStatement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    match statement {
        CursorStatement::Declare { name, options, query } => {
            if options.is_binary {
                return Err(unsupported("a cursor that is BINARY"));
            }
            if options.is_scroll {
                return Err(unsupported("a cursor that can SCROLL"));
            }
            check_room(&session.vars(), &name.value, options.is_held)?;
            let cursor = declare(running, query, call, options.is_held).await?;
            let in_block = session.vars().transaction == TransactionState::Open;
            let cursor = SessionCursor { cursor: Arc::new(cursor), in_block };
            session.vars().cursors.insert(name.value, cursor);
            Ok(done("DECLARE CURSOR", None))
        }
        CursorStatement::Fetch { name, steps, is_move } => {
            let rows_max = match steps {
                CursorSteps::Forward(rows_max) => rows_max,
                CursorSteps::All => u64::MAX,
                CursorSteps::Elsewhere => return Err(unsupported("a cursor that moves but forward")),
            };
            fetch(session, running, &name.value, rows_max, is_move, call).await
        }
        CursorStatement::Close { name } => {
            let mut vars = session.vars();
            match name {
                None => vars.cursors.clear(),
                Some(name) => {
                    vars.cursors.remove(&name.value).ok_or_else(|| no_cursor(&name.value))?;
                }
            }
            Ok(done("CLOSE CURSOR", None))
        }
    }
}

fn done(tag: &'static str, n_rows: Option<u64>) -> Outcome {
    Outcome::Done { tag, n_rows, notices: Vec::new() }
}

/// Ends what ends with a transaction block: all that is not WITH HOLD, and what a ROLLBACK undoes the declaring of.
pub(crate) fn end_block(vars: &mut SessionVars, is_rollback: bool) {
    vars.cursors.retain(|_, own| own.cursor.is_held && !(is_rollback && own.in_block));
    for own in vars.cursors.values_mut() {
        own.in_block = false;
    }
}

async fn declare(
    running: &Running,
    query: QueryText,
    call: &Call<'_>,
    is_held: bool,
) -> Result<OpenCursor, QueryError> {
    let governed = query::govern(running, statement_of(&query)?, call.parameters).await?;
    // Fetches end when their own clients want them to; the query waits for them.
    let rows = query::start(running, &governed, call.text, Bounds::none()).await?;
    Ok(OpenCursor {
        schema: rows.schema,
        is_held,
        query,
        parameters: call.parameters.to_vec(),
        path: running.path.clone(),
        begun: running.begun,
        verdicts: governed.resolved.verdicts,
        rows: Arc::new(Mutex::new(Waiting {
            batches: rows.batches.fuse().boxed(),
            current: None,
            is_broken: false,
        })),
    })
}

fn statement_of(query: &QueryText) -> Result<ast::Statement, QueryError> {
    Ok(as_clients_mean_it(parsed(query)?, &query.text))
}

/// Whether a cursor of that name can be declared; the statements of a session run one after the other.
fn check_room(vars: &SessionVars, name: &str, is_held: bool) -> Result<(), QueryError> {
    if vars.transaction != TransactionState::Open && !is_held {
        return Err(QueryError::new(
            ErrorKind::NoTransaction,
            "DECLARE CURSOR can only be used in transaction blocks",
        )
        .with_hint("begin a block with BEGIN, or declare the cursor WITH HOLD"));
    }
    if vars.cursors.contains_key(name) {
        return Err(QueryError::new(ErrorKind::CursorExists, format!("cursor `{name}` already exists")));
    }
    if vars.cursors.len() >= CURSORS_MAX {
        return Err(QueryError::new(ErrorKind::Limit, format!("more than {CURSORS_MAX} cursors")));
    }
    Ok(())
}

async fn fetch(
    session: &EngineSession,
    running: &Running,
    name: &str,
    rows_max: u64,
    is_move: bool,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let cursor = open(session, name)?;
    if let Err(error) = check(running, name, &cursor).await {
        session.vars().cursors.remove(name);
        return Err(error);
    }
    let waiting = Arc::clone(&cursor.rows).try_lock_owned().map_err(|_| {
        QueryError::new(ErrorKind::Conflict, format!("cursor `{name}` is being fetched from"))
    })?;
    if waiting.is_broken {
        return Err(invalid(format!("a fetch from cursor `{name}` failed, which ended it")));
    }
    let fetching = Fetching { waiting: Some(waiting), rows_left: rows_max };
    let mut batches = bounded(stream::unfold(fetching, Fetching::next).boxed(), call.bounds.clone());
    if !is_move {
        let rows = Rows { schema: Arc::clone(&cursor.schema), batches };
        return Ok(Outcome::Rows { rows, tag: "FETCH", notices: Vec::new() });
    }
    let mut n_rows = 0;
    while let Some(batch) = batches.next().await {
        n_rows += batch?.num_rows() as u64;
    }
    Ok(done("MOVE", Some(n_rows)))
}

fn open(session: &EngineSession, name: &str) -> Result<Arc<OpenCursor>, QueryError> {
    let vars = session.vars();
    vars.cursors.get(name).map(|own| Arc::clone(&own.cursor)).ok_or_else(|| no_cursor(name))
}

fn no_cursor(name: &str) -> QueryError {
    QueryError::new(ErrorKind::CursorNotFound, format!("cursor `{name}` does not exist"))
}

/// Whether the cursor's query, asked now, would be let through, and by the same rules (L1): a cursor that is held open
/// outlives no grant, and shows nothing that a policy hides since.
async fn check(running: &Running, name: &str, cursor: &OpenCursor) -> Result<(), QueryError> {
    let again = Running { path: cursor.path.clone(), begun: cursor.begun, ..running.clone() };
    let governed = query::govern(&again, statement_of(&cursor.query)?, &cursor.parameters).await?;
    let (now, then) = (&governed.resolved.verdicts, &cursor.verdicts);
    let is_same = now.len() == then.len()
        && now.iter().all(|(relation, verdict)| then.get(relation).is_some_and(|own| verdict.rules_as(own)));
    if is_same {
        return Ok(());
    }
    Err(QueryError::new(
        ErrorKind::Conflict,
        format!("what cursor `{name}` may show has changed since it was declared"),
    )
    .with_hint("declare it again"))
}

pub(crate) async fn describe(
    session: &EngineSession,
    running: &Running,
    statement: CursorStatement,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let nothing = Description { parameters: Vec::new(), columns: None };
    match statement {
        CursorStatement::Declare { query, .. } => {
            let described = query::describe(running, statement_of(&query)?, types).await?;
            Ok(Description { columns: None, ..described })
        }
        CursorStatement::Fetch { name, is_move: false, .. } => {
            let cursor = open(session, &name.value)?;
            Ok(Description { columns: Some(Arc::clone(&cursor.schema)), ..nothing })
        }
        CursorStatement::Fetch { .. } | CursorStatement::Close { .. } => Ok(nothing),
    }
}
