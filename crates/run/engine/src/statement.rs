//! The router: from a statement's text to the module that runs it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use dialect::ast::{Governance, Statement};
use query_api::{Description, Outcome, QueryError, TransactionState};
use sqlparser::ast;
use stdx::ErrorKind;
use tokio_util::sync::CancellationToken;

use crate::asking::Simulation;
use crate::error::unsupported;
use crate::query::Bounds;
use crate::running::Running;
use crate::session::{EngineSession, Named, syntax};
use crate::{
    asking, cursors, ddl, dml, explain, governance, metadata, prepared, query, session_statements, show,
};

/// What is being run: the parsed statement with its text, its parameters and what ends it.
pub(crate) struct Call<'a> {
    pub(crate) text: &'a str,
    pub(crate) parameters: &'a [ArrayRef],
    pub(crate) bounds: Bounds,
}

/// Runs one statement.
pub(crate) async fn run(
    session: &EngineSession,
    text: &str,
    parameters: &[ArrayRef],
    cancel: CancellationToken,
) -> Result<Outcome, QueryError> {
    let Some(statement) = parse(text)? else {
        return Ok(Outcome::Empty);
    };
    check_transaction(session, &statement)?;
    let running = Running::start(session, text);
    running.check_user()?;
    running.check_audit()?;
    let bounds = bounds_of(session, cancel);
    let call = Call { text, parameters, bounds: bounds.clone() };
    let outcome = within(apart(|| route(session, &running, statement, &call)), bounds).await?;
    Ok(without_unwanted_notices(session, outcome))
}

/// An empty statement is `None`.
fn parse(text: &str) -> Result<Option<Statement>, QueryError> {
    let pieces = dialect::split(text).map_err(|error| syntax(&error))?;
    if pieces.is_empty() {
        return Ok(None);
    }
    dialect::parse(text).map(Some).map_err(|error| syntax(&error))
}

/// When a statement that starts now must end.
fn bounds_of(session: &EngineSession, cancel: CancellationToken) -> Bounds {
    let timeout = crate::settings::statement_timeout_ms(&session.vars()).map(Duration::from_millis);
    // Only the runtime's own clock can wake a sleeper.
    let deadline = timeout.and_then(|timeout| tokio::time::Instant::now().checked_add(timeout));
    Bounds { cancel, deadline }
}

/// Ends a statement when its client cancels it, or when `statement_timeout` is over.
async fn within<T>(
    work: impl Future<Output = Result<T, QueryError>>,
    bounds: Bounds,
) -> Result<T, QueryError> {
    tokio::select! {
        biased;
        error = bounds.over() => Err(error),
        done = work => done,
    }
}

fn without_unwanted_notices(session: &EngineSession, outcome: Outcome) -> Outcome {
    if crate::settings::wants_notices(&session.vars()) {
        return outcome;
    }
    match outcome {
        Outcome::Rows { rows, tag, .. } => Outcome::Rows { rows, tag, notices: Vec::new() },
        Outcome::Done { tag, n_rows, .. } => Outcome::Done { tag, n_rows, notices: Vec::new() },
        Outcome::Empty => Outcome::Empty,
    }
}

/// Statements commit one by one, so a block of them may only read.
fn check_transaction(session: &EngineSession, statement: &Statement) -> Result<(), QueryError> {
    let ends = matches!(
        statement,
        Statement::Sql(sql) if matches!(**sql, ast::Statement::Commit { .. } | ast::Statement::Rollback { .. })
    );
    match session.vars().transaction {
        TransactionState::Failed if !ends => Err(QueryError::new(
            ErrorKind::Conflict,
            "current transaction is aborted, commands ignored until end of transaction block",
        )),
        TransactionState::Open if !ends && changes_things(statement) => Err(QueryError::new(
            ErrorKind::Unsupported,
            "a write inside a transaction block is not supported: statements commit one by one",
        )
        .with_hint("run it outside of BEGIN and COMMIT (autocommit)")),
        _ => Ok(()),
    }
}

fn changes_things(statement: &Statement) -> bool {
    match statement {
        Statement::Governance(governance) => !governance::only_reads(governance),
        Statement::TableRef(_) | Statement::Rename(_) => true,
        Statement::ShowStats(_) | Statement::Cursor(_) => false,
        Statement::Sql(sql) => !matches!(
            **sql,
            ast::Statement::Query(_)
                | ast::Statement::Explain { .. }
                | ast::Statement::ExplainTable { .. }
                | ast::Statement::ShowVariable { .. }
                | ast::Statement::ShowTables { .. }
                | ast::Statement::ShowViews { .. }
                | ast::Statement::ShowSchemas { .. }
                | ast::Statement::ShowColumns { .. }
                | ast::Statement::ShowCatalogs { .. }
                | ast::Statement::ShowDatabases { .. }
                | ast::Statement::ShowCreate { .. }
                | ast::Statement::Set(_)
                | ast::Statement::Reset(_)
                | ast::Statement::Use(_)
                | ast::Statement::Prepare { .. }
                | ast::Statement::Execute { .. }
                | ast::Statement::Deallocate { .. }
                | ast::Statement::StartTransaction { .. }
        ),
    }
}

/// Every statement that is offered stands here; anything else is refused by name.
async fn route(
    session: &EngineSession,
    running: &Running,
    statement: Statement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let sql = match statement {
        Statement::Governance(statement) => return apart(|| governance::run(running, statement, call)).await,
        Statement::TableRef(change) => return apart(|| ddl::alter_refs(running, change, call)).await,
        Statement::Rename(rename) => return apart(|| ddl::rename(running, rename, call)).await,
        Statement::ShowStats(table) => return apart(|| metadata::stats(running, &table)).await,
        Statement::Cursor(cursor) => return apart(|| cursors::run(session, running, cursor, call)).await,
        Statement::Sql(sql) => as_clients_mean_it(*sql, call.text),
    };
    match sql {
        ast::Statement::Query(_) => {
            apart(|| query::run(running, sql, call.parameters, call.text, call.bounds.clone())).await
        }
        ast::Statement::Explain { .. } => apart(|| explain::run(running, sql, call)).await,
        ast::Statement::Insert(insert) => apart(|| dml::insert(running, insert, call)).await,
        ast::Statement::Update(update) => apart(|| dml::update(running, update, call)).await,
        ast::Statement::Delete(delete) => apart(|| dml::delete(running, delete, call)).await,
        ast::Statement::Merge(merge) => apart(|| dml::merge(running, merge, call)).await,
        ast::Statement::Truncate(truncate) => apart(|| dml::truncate(running, truncate, call)).await,
        ast::Statement::CreateTable(create) => apart(|| ddl::create_table(running, create, call)).await,
        ast::Statement::CreateView(create) => apart(|| ddl::create_view(running, create, call)).await,
        ast::Statement::CreateSchema { .. } => apart(|| ddl::create_schema(running, sql, call)).await,
        ast::Statement::Drop { .. } => apart(|| ddl::drop(running, sql, call)).await,
        ast::Statement::AlterTable(alter) => apart(|| ddl::alter_table(running, alter, call)).await,
        ast::Statement::ShowTables { .. }
        | ast::Statement::ShowViews { .. }
        | ast::Statement::ShowSchemas { .. }
        | ast::Statement::ShowColumns { .. }
        | ast::Statement::ShowCatalogs { .. }
        | ast::Statement::ShowDatabases { .. }
        | ast::Statement::ShowCreate { .. }
        | ast::Statement::ExplainTable { .. } => apart(|| show::run(running, &sql)).await,
        ast::Statement::ShowVariable { variable } => show::setting(session, &variable),
        ast::Statement::Set(set) => session_statements::set(session, set),
        ast::Statement::Reset(reset) => session_statements::reset(session, &reset),
        ast::Statement::Use(target) => {
            apart(|| session_statements::use_object(session, running, &target)).await
        }
        ast::Statement::StartTransaction { .. }
        | ast::Statement::Commit { .. }
        | ast::Statement::Rollback { .. } => session_statements::transaction(session, &sql),
        ast::Statement::Prepare { .. } => prepared::prepare(session, sql),
        ast::Statement::Execute { .. } => apart(|| prepared::execute(session, running, sql, call)).await,
        ast::Statement::Deallocate { name, .. } => prepared::deallocate(session, &name),
        other => Err(unsupported(format!("`{}`", first_words(&other)))),
    }
}

/// A future that is made in a frame of its own and left there: those of all statements side by side in one frame would
/// overflow the stack of a thread when statements stand within statements.
#[inline(never)]
pub(crate) fn apart<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}

/// Questions about the catalog, in PostgreSQL's own dialect.
pub(crate) fn as_clients_mean_it(sql: ast::Statement, text: &str) -> ast::Statement {
    match sql {
        ast::Statement::Query(_) => crate::pg::rewritten(text).unwrap_or(sql),
        other => other,
    }
}

/// The words by which a statement is called, for the message that refuses it.
fn first_words(statement: &ast::Statement) -> String {
    let text = statement.to_string();
    let words: Vec<&str> = text
        .split_whitespace()
        .take(3)
        .take_while(|word| word.chars().all(|c| c.is_ascii_uppercase()))
        .collect();
    if words.is_empty() { "this statement".to_owned() } else { words.join(" ") }
}

/// Plans one statement without running it.
pub(crate) async fn describe(
    session: &EngineSession,
    text: &str,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let nothing = Description { parameters: Vec::new(), columns: None };
    let running = Running::start(session, text);
    running.check_user()?;
    match parse(text)? {
        None | Some(Statement::TableRef(_) | Statement::Rename(_)) => Ok(nothing),
        Some(Statement::ShowStats(_)) => {
            Ok(Description { parameters: Vec::new(), columns: Some(metadata::stats_columns()) })
        }
        Some(Statement::Cursor(cursor)) => {
            apart(|| cursors::describe(session, &running, cursor, types)).await
        }
        Some(Statement::Governance(Governance::Simulate { user, roles, bundle, query })) => {
            let simulation = Simulation { user, roles, bundle, query };
            apart(|| asking::describe(&running, &simulation, types)).await
        }
        Some(Statement::Governance(statement)) => {
            Ok(Description { parameters: Vec::new(), columns: governance::columns(&statement) })
        }
        Some(Statement::Sql(sql)) => match as_clients_mean_it(*sql, text) {
            query @ ast::Statement::Query(_) => apart(|| query::describe(&running, query, types)).await,
            ast::Statement::Insert(insert) => apart(|| dml::describe(&running, insert, types)).await,
            ast::Statement::Update(update) => apart(|| dml::describe_update(&running, update, types)).await,
            ast::Statement::Delete(delete) => apart(|| dml::describe_delete(&running, delete, types)).await,
            ast::Statement::Merge(merge) => apart(|| dml::describe_merge(&running, merge, types)).await,
            ast::Statement::Explain { .. } => {
                Ok(Description { columns: Some(explain::columns()), ..nothing })
            }
            execute @ ast::Statement::Execute { .. } => {
                apart(|| prepared::describe(session, &running, execute)).await
            }
            other => Ok(Description { columns: show::columns(&other), ..nothing }),
        },
    }
}

/// A named statement's text, parsed anew: policies may have changed since it was prepared.
pub(crate) fn named(session: &EngineSession, name: &str) -> Result<Named, QueryError> {
    session.vars().named.get(name).cloned().ok_or_else(|| {
        QueryError::new(ErrorKind::ObjectNotFound, format!("no such prepared statement `{name}`"))
    })
}
