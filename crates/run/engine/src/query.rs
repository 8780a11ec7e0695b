//! A query's way: plan, footprint, fold, govern, verify, optimize, verify, run (L3).

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{DataFusionError, ParamValues, Result as DfResult, ScalarValue};
use datafusion::datasource::{DefaultTableSource, provider_as_source};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use enforce::{Clearance, Relation, SourceKind};
use futures::stream::{BoxStream, Stream, StreamExt};
use query_api::{Description, Outcome, QueryError, Rows};
use sqlparser::ast;
use stdx::ErrorKind;
use tokio_util::sync::CancellationToken;

use crate::error::{from_datafusion, from_enforce};
use crate::files::FileProvider;
use crate::pg::VirtualTable;
use crate::resolve::{self, Resolved};
use crate::running::Running;
use crate::scan::{GovernedProvider, ViewPlan};

/// A governed plan that is ready to be optimized and run.
pub(crate) struct Governed {
    pub(crate) plan: LogicalPlan,
    pub(crate) state: SessionState,
    pub(crate) resolved: Resolved,
}

/// Plans and governs a query. The order is the law's, and each step is needed where it stands.
pub(crate) async fn govern(
    running: &Running,
    mut statement: ast::Statement,
    parameters: &[ArrayRef],
) -> Result<Governed, QueryError> {
    let state = running.state();
    let mut resolved = Resolved::default();
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await?;
    let plan = with_parameters(plan, parameters)?;
    let plan = govern_plan(running, plan, &resolved)?;
    Ok(Governed { plan, state, resolved })
}

/// Footprint, fold, govern, verify: for plans of queries and of writes alike.
pub(crate) fn govern_plan(
    running: &Running,
    plan: LogicalPlan,
    resolved: &Resolved,
) -> Result<LogicalPlan, QueryError> {
    let plan = crate::plannable::with_joined_queries(plan).map_err(|error| from_datafusion(&error))?;
    // Named before anything is folded away: a relation that an optimizer would drop was still asked for.
    let footprint = enforce::footprint(&plan).map_err(|error| from_enforce(&error))?;
    check_footprint(running, &footprint, resolved)?;
    let plan = enforce::fold_plan(plan, &running.facts()).map_err(|error| from_enforce(&error))?;
    // A view that is a leaf holds a plan of its own, which no walk over this one sees.
    let fault = RefCell::new(None);
    let govern_view = |view: &ViewPlan| {
        govern_plan(running, view.0.clone(), resolved).map_err(|error| {
            fault.replace(Some(error));
            DataFusionError::Internal("a view cannot be governed".to_owned())
        })
    };
    let plan = enforce::govern(
        plan,
        running.query,
        &|relation| resolved.verdicts.get(relation).map(Arc::clone),
        &|clearance| leaf(clearance, &govern_view),
    )
    .map_err(|error| from_enforce(&error))?;
    if let Some(error) = fault.take() {
        return Err(error);
    }
    verify(running, &plan)?;
    Ok(plan)
}

/// The one source that may run.
fn leaf(
    clearance: Clearance,
    govern_view: &dyn Fn(&ViewPlan) -> DfResult<LogicalPlan>,
) -> Arc<dyn TableSource> {
    match GovernedProvider::from_clearance(clearance, govern_view) {
        Ok(provider) => provider_as_source(Arc::new(provider)),
        // A source without a provider cannot run, which is what a broken clearance deserves.
        Err(_) => Arc::new(Unrunnable),
    }
}

struct Unrunnable;

impl TableSource for Unrunnable {
    fn schema(&self) -> SchemaRef {
        Arc::new(datafusion::arrow::datatypes::Schema::empty())
    }
}

fn verify(running: &Running, plan: &LogicalPlan) -> Result<(), QueryError> {
    enforce::verify_logical(plan, running.query, &|source| kind_of(running, source)).map_err(|error| {
        if let enforce::EnforceError::Uncleared { detail } = &error {
            tracing::error!(query_id = %running.query_id(), ?detail, "plan refused by the verifier");
        }
        from_enforce(&error)
    })
}

fn kind_of(running: &Running, source: &dyn TableSource) -> SourceKind {
    let Some(default) = source.downcast_ref::<DefaultTableSource>() else {
        return SourceKind::Unknown;
    };
    let provider = default.table_provider.as_ref();
    if let Some(governed) = provider.downcast_ref::<GovernedProvider>() {
        return SourceKind::Governed(governed.clearance().query());
    }
    if let Some(file) = provider.downcast_ref::<FileProvider>() {
        return if file.query() == running.query { SourceKind::Virtual } else { SourceKind::Unknown };
    }
    if provider.downcast_ref::<VirtualTable>().is_some()
        || provider.downcast_ref::<datafusion::datasource::cte_worktable::CteWorkTable>().is_some()
        || crate::provider::is_series(provider)
    {
        return SourceKind::Virtual;
    }
    SourceKind::Unknown
}

/// Everything that the plan touches was asked for at gate one, and has a verdict: nothing slipped past the resolver.
fn check_footprint(
    running: &Running,
    footprint: &enforce::Footprint,
    resolved: &Resolved,
) -> Result<(), QueryError> {
    match without_verdict(footprint, resolved) {
        None => Ok(()),
        Some(relation) => {
            tracing::error!(query_id = %running.query_id(), table = %relation, "a relation in the plan has no verdict");
            Err(crate::error::internal())
        }
    }
}

fn without_verdict<'a>(footprint: &'a enforce::Footprint, resolved: &Resolved) -> Option<&'a Relation> {
    footprint.tables.values().find(|relation| !resolved.verdicts.contains_key(*relation))
}

/// Puts values in the place of `$1`, `$2`, ….
pub(crate) fn with_parameters(plan: LogicalPlan, parameters: &[ArrayRef]) -> Result<LogicalPlan, QueryError> {
    let wanted = plan.get_parameter_names().map_err(|error| from_datafusion(&error))?.len();
    if wanted > parameters.len() {
        return Err(QueryError::new(
            ErrorKind::Invalid,
            format!("the statement has {wanted} parameters, and {} were given", parameters.len()),
        ));
    }
    if wanted == 0 {
        return Ok(plan);
    }
    let values: Vec<ScalarValue> = parameters
        .iter()
        .map(|array| ScalarValue::try_from_array(array, 0))
        .collect::<Result<_, _>>()
        .map_err(|error| from_datafusion(&error))?;
    plan.with_param_values(ParamValues::from(values)).map_err(|error| from_datafusion(&error))
}

/// Optimizes a governed plan, verifies it again, and plans it physically; the physical verifier comes first there.
pub(crate) async fn physical(
    running: &Running,
    governed: &Governed,
) -> Result<Arc<dyn ExecutionPlan>, QueryError> {
    let optimized = governed.state.optimize(&governed.plan).map_err(|error| caller_error(running, &error))?;
    verify(running, &optimized)?;
    if running.engine.settings.restricted_columns == crate::RestrictedColumns::Error {
        crate::restricted::refuse(&optimized, &governed.state)?;
    }
    governed
        .state
        .query_planner()
        .create_physical_plan(&optimized, &governed.state)
        .await
        .map_err(|error| caller_error(running, &error))
}

/// Runs a governed plan.
pub(crate) async fn execute(
    running: &Running,
    governed: &Governed,
) -> Result<SendableRecordBatchStream, QueryError> {
    let physical = physical(running, governed).await?;
    execute_stream(physical, governed.state.task_ctx()).map_err(|error| caller_error(running, &error))
}

/// Tells the caller what she may know; the log keeps the kind under the query's id, never a literal.
pub(crate) fn caller_error(running: &Running, error: &datafusion::common::DataFusionError) -> QueryError {
    let told = from_datafusion(error);
    if told.kind() == ErrorKind::Internal {
        tracing::error!(query_id = %running.query_id(), error = %redacted(error), "query failed");
        return QueryError::new(
            ErrorKind::Internal,
            format!("internal error (query {})", running.query_id()),
        );
    }
    told
}

/// The error's own words, without what stands in quotes: that may be a value.
fn redacted(error: &datafusion::common::DataFusionError) -> String {
    let mut out = String::new();
    let mut is_quoted = false;
    for c in error.to_string().chars().take(2_000) {
        if c == '\'' || c == '"' {
            is_quoted = !is_quoted;
            out.push(c);
        } else if !is_quoted {
            out.push(c);
        }
    }
    out
}

/// A SELECT from a client: the rows stream, and the audit record is written when they end.
pub(crate) async fn run(
    running: &Running,
    statement: ast::Statement,
    parameters: &[ArrayRef],
    text: &str,
    bounds: Bounds,
) -> Result<Outcome, QueryError> {
    let governed = govern(running, statement, parameters).await?;
    let rows = start(running, &governed, text, bounds).await?;
    Ok(Outcome::Rows { rows, tag: "SELECT", notices: Vec::new() })
}

/// Runs what is governed; its record is written when the last row has gone out, or nobody waits for it any more.
pub(crate) async fn start(
    running: &Running,
    governed: &Governed,
    text: &str,
    bounds: Bounds,
) -> Result<Rows, QueryError> {
    let stream = execute(running, governed).await?;
    let stream_schema = stream.schema();
    let schema = crate::titles::shown_schema(&stream_schema);
    let record = running.audit_query(&governed.resolved, text);
    let batches = Streaming {
        inner: stream,
        shown: (schema != stream_schema).then(|| Arc::clone(&schema)),
        running: running.clone(),
        record: Some(record),
        n_rows: 0,
    };
    Ok(Rows { schema, batches: bounded(batches.boxed(), bounds) })
}

/// What ends a statement before its time.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub(crate) cancel: CancellationToken,
    /// When `statement_timeout` is over; `None`: never.
    pub(crate) deadline: Option<tokio::time::Instant>,
}

impl Bounds {
    /// Those of what goes on until nobody waits for it.
    pub(crate) fn none() -> Self {
        Self { cancel: CancellationToken::new(), deadline: None }
    }

    /// Waits until the statement must end, and says why.
    pub(crate) async fn over(self) -> QueryError {
        let timeout = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let why = tokio::select! {
            biased;
            () = self.cancel.cancelled() => "canceling statement due to user request",
            () = timeout => "canceling statement due to statement timeout",
        };
        QueryError::new(ErrorKind::Cancelled, why)
    }
}

/// Ends a stream with an error when its statement must end.
pub(crate) fn bounded(
    batches: BoxStream<'static, Result<RecordBatch, QueryError>>,
    bounds: Bounds,
) -> BoxStream<'static, Result<RecordBatch, QueryError>> {
    let state = (batches, Some(Box::pin(bounds.over())));
    futures::stream::unfold(state, |(mut batches, over)| async move {
        let mut over = over?;
        tokio::select! {
            biased;
            error = &mut over => Some((Err(error), (batches, None))),
            next = batches.next() => next.map(|batch| (batch, (batches, Some(over)))),
        }
    })
    .boxed()
}

struct Streaming {
    inner: SendableRecordBatchStream,
    /// The columns as the client sees them, where they are planned under other names.
    shown: Option<SchemaRef>,
    running: Running,
    record: Option<crate::auditing::QueryRecord>,
    n_rows: u64,
}

impl Stream for Streaming {
    type Item = Result<RecordBatch, QueryError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.inner.poll_next_unpin(cx);
        match polled {
            Poll::Ready(Some(Ok(batch))) => {
                self.n_rows += batch.num_rows() as u64;
                let batch = match &self.shown {
                    Some(shown) => retitled(&batch, shown),
                    None => Ok(batch),
                };
                Poll::Ready(Some(batch))
            }
            Poll::Ready(Some(Err(error))) => {
                let told = caller_error(&self.running, &error);
                self.finish(Some(&told));
                Poll::Ready(Some(Err(told)))
            }
            Poll::Ready(None) => {
                self.finish(None);
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// A batch under the names that the client sees.
fn retitled(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, QueryError> {
    let n_rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &n_rows)
        .map_err(|error| from_datafusion(&error.into()))
}

impl Streaming {
    fn finish(&mut self, error: Option<&QueryError>) {
        if let Some(record) = self.record.take() {
            record.finish(&self.running, self.n_rows, error);
        }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        // Cancelled or left by its client: what was read up to here was still read.
        self.finish(None);
    }
}

/// What a query takes and gives.
pub(crate) async fn describe(
    running: &Running,
    mut statement: ast::Statement,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let state = running.state();
    let mut resolved = Resolved::default();
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await?;
    let parameters = parameter_types(&plan, types)?;
    // The sides of a set operation get their common types only now. With parameters of no type yet that may not do, and
    // then the plan is as it is; a fault that is none of theirs is told when it runs.
    let settled = state.analyzer().execute_and_check(plan.clone(), state.config_options(), |_, _| {});
    let schema = settled.as_ref().unwrap_or(&plan).schema();
    let columns = crate::titles::shown_schema(&Arc::new(schema.as_arrow().clone()));
    Ok(Description { parameters, columns: Some(columns) })
}

/// The types of `$1`, `$2`, …: the client's, else what the plan infers, else text.
pub(crate) fn parameter_types(
    plan: &LogicalPlan,
    given: &[Option<DataType>],
) -> Result<Vec<DataType>, QueryError> {
    let inferred = plan.get_parameter_types().map_err(|error| from_datafusion(&error))?;
    let n = inferred
        .keys()
        .filter_map(|name| name.trim_start_matches('$').parse::<usize>().ok())
        .max()
        .unwrap_or(0)
        .max(given.len());
    (1..=n)
        .map(|i| {
            let given = given.get(i - 1).cloned().flatten();
            let inferred = inferred.get(&format!("${i}")).cloned().flatten();
            Ok(given.or(inferred).unwrap_or(DataType::Utf8))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use enforce::{Footprint, TableVerdict};

    use super::*;

    #[test]
    fn a_relation_of_the_plan_that_nobody_judged_is_found() {
        let relation = |name: &str| Relation {
            catalog: "lake".to_owned(),
            namespace: vec!["g".to_owned()],
            name: name.to_owned(),
            uuid: format!("uuid of {name}"),
        };
        let mut footprint = Footprint::default();
        let mut resolved = Resolved::default();
        assert_eq!(without_verdict(&footprint, &resolved), None);
        for name in ["t", "u"] {
            footprint.tables.insert(name.to_owned(), relation(name));
        }
        resolved.verdicts.insert(relation("t"), Arc::new(TableVerdict::open(1, 1)));
        assert_eq!(without_verdict(&footprint, &resolved), Some(&relation("u")));
        // The same name, and another table since.
        let again = Relation { uuid: "another".to_owned(), ..relation("u") };
        resolved.verdicts.insert(again, Arc::new(TableVerdict::open(1, 1)));
        assert_eq!(without_verdict(&footprint, &resolved), Some(&relation("u")));
        resolved.verdicts.insert(relation("u"), Arc::new(TableVerdict::open(1, 1)));
        assert_eq!(without_verdict(&footprint, &resolved), None);
    }
}
