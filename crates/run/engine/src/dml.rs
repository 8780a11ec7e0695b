//! INSERT: the rows that its source gives to this user, checked against her own row filters (L9).

mod change;
mod check;
mod chosen;
mod lineage;
mod merge;
mod target;
mod truncate;
mod update;
mod written;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, WriteOp};
use enforce::{SealedSource, SealedView, TableVerdict};
use policy::operation::Operation;
use query_api::{Description, Outcome, QueryError};
use sqlparser::ast::{self, Ident, ObjectName};
use stdx::ErrorKind;

pub(crate) use chosen::ACTION;
pub(crate) use lineage::Masked;
pub(crate) use merge::{describe as describe_merge, merge};
pub(crate) use truncate::truncate;
pub(crate) use update::{delete, describe_delete, describe_update, update, written_back};

use crate::error::{from_catalog, from_datafusion, unsupported};
use crate::names::{RelationName, parts_of};
use crate::provider::source_key;
use crate::query::{self, Governed};
use crate::resolve::{self, Resolved, relation_with, verdict_for};
use crate::running::Running;
use crate::statement::Call;
use crate::tags::{Carried, carry};

/// What the target is called while an INSERT is planned; no user can write it.
const TARGET: &str = "\u{0}target";

/// What its source is called meanwhile.
const SOURCE: &str = "\u{0}source";

/// An INSERT that has been planned, and whose target may be written.
struct Planned {
    name: RelationName,
    table: catalog::TableHandle,
    /// The rows to write, in the target's columns and types.
    input: LogicalPlan,
    resolved: Resolved,
    state: datafusion::execution::session_state::SessionState,
}

/// What happens to the rows that are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    Stay,
    /// INSERT OVERWRITE: those that the writer sees go.
    Go,
}

pub(crate) async fn insert(
    running: &Running,
    mut insert: ast::Insert,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let old = if insert.overwrite { Old::Go } else { Old::Stay };
    insert.overwrite = false;
    let mut round = 1;
    loop {
        let planned = plan(running, insert.clone(), old).await?;
        let (name, table) = (planned.name, planned.table);
        let (_, own) = verdict_for(running, &planned.state, &name, &table).await?;
        refuse_reading_masked_target(&name, &table, &own, &planned.input)?;
        let input = query::with_parameters(planned.input, call.parameters)?;
        let plan = query::govern_plan(running, input, &planned.resolved)?;
        let governed = Governed { plan, state: planned.state, resolved: planned.resolved };
        let tags = Carried::of(&governed)?.named(table.schema.fields().iter().map(|field| field.name()));
        if Box::pin(carry(running, &name, &table, tags, call.text)).await? {
            round = change::next(round, &name)?;
            continue;
        }
        let record = running.audit_query(&governed.resolved, call.text);
        let written = Box::pin(write(running, &name, &table, &own, &governed, old)).await;
        if let Err(error) = &written
            && error.kind() == ErrorKind::Conflict
            && old == Old::Go
            && round < change::ROUNDS
        {
            round += 1;
            continue;
        }
        if !governed.resolved.touched.is_empty() {
            // What was read for a write that failed was still read.
            record.finish(running, *written.as_ref().unwrap_or(&0), written.as_ref().err());
        }
        let n_rows = written?;
        let action = if old == Old::Go { "overwrite" } else { "insert" };
        running.audit_change(action, &name.to_string(), "table", call.text, Some(n_rows));
        return Ok(Outcome::Done { tag: "INSERT", n_rows: Some(n_rows), notices: Vec::new() });
    }
}

async fn write(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    own: &TableVerdict,
    governed: &Governed,
    old: Old,
) -> Result<u64, QueryError> {
    let gone = match old {
        Old::Stay => None,
        Old::Go => {
            let target = target::Target::of_table(name.clone(), table.clone(), own.clone());
            Some(change::all_visible(running, target).await?)
        }
    };
    let rows = query::execute(running, governed).await?;
    let check = check::of_table(running, name, table, own, &governed.state)?;
    let rows = check::stream(rows, Arc::clone(&check));
    let catalog = running.catalog(&name.catalog)?;
    let written = match gone {
        None => catalog.append(table, rows).await,
        Some(gone) => catalog.rewrite(table, &governed.state, gone, Some(rows), check).await,
    };
    written.map_err(|error| from_catalog(&error))
}

pub(crate) async fn describe(
    running: &Running,
    insert: ast::Insert,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let old = if insert.overwrite { Old::Go } else { Old::Stay };
    let planned = plan(running, ast::Insert { overwrite: false, ..insert }, old).await?;
    Ok(Description { parameters: query::parameter_types(&planned.input, types)?, columns: None })
}

async fn plan(running: &Running, mut insert: ast::Insert, old: Old) -> Result<Planned, QueryError> {
    refuse_unknown_clauses(&insert)?;
    let ast::TableObject::TableName(written) = &insert.table else {
        return Err(unsupported("INSERT into anything but a table"));
    };
    let name = running.path.relation(&parts_of(written)?)?;
    let table = target::allowed(running, &name, Operation::InsertInto, "insert into").await?;
    if old == Old::Go {
        target::allowed(running, &name, Operation::TruncateTable, "overwrite").await?;
    }
    let state = running.state();
    // The target is planned under a name of its own: that it may be written does not let it be read.
    insert.table = ast::TableObject::TableName(ObjectName::from(vec![Ident::with_quote('"', TARGET)]));
    // The planner compares schemas whole, and field ids are not its business.
    let schema = Arc::new(enforce::bare_schema(&table.schema));
    let mut resolved = Resolved::default();
    let key = source_key(&running.path.catalog, &running.path.namespace.join("."), TARGET);
    let sealed =
        SealedSource::new(relation_with(&name, TARGET.to_owned()), Arc::clone(&schema), schema, Arc::new(()));
    resolved.sources.insert(key, Arc::new(sealed));
    if let Some(source) = insert.source.take() {
        insert.source = Some(planned_apart(running, &state, &name, source, &mut resolved).await?);
    }
    let mut statement = ast::Statement::Insert(insert);
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await?;
    let LogicalPlan::Dml(dml) = plan else {
        return Err(crate::error::internal());
    };
    if !matches!(dml.op, WriteOp::Insert(datafusion::logical_expr::dml::InsertOp::Append)) {
        return Err(crate::error::internal());
    }
    Ok(Planned { name, table, input: Arc::unwrap_or_clone(dml.input), resolved, state })
}

/// A query as the source of an INSERT, planned before the target is known: the planner would give the target's types
/// to every VALUES within it. A list of rows alone is to have them.
async fn planned_apart(
    running: &Running,
    state: &datafusion::execution::session_state::SessionState,
    name: &RelationName,
    source: Box<ast::Query>,
    resolved: &mut Resolved,
) -> Result<Box<ast::Query>, QueryError> {
    if matches!(*source.body, ast::SetExpr::Values(_)) && source.with.is_none() {
        return Ok(source);
    }
    let plan = resolve::plan(running, state, &mut ast::Statement::Query(source), resolved).await?;
    // By place and not by name: two of them may have the same.
    let columns = plan.schema().columns().into_iter().enumerate();
    let columns: Vec<_> = columns.map(|(at, column)| Expr::Column(column).alias(format!("c{at}"))).collect();
    let plan = LogicalPlanBuilder::from(plan).project(columns).and_then(LogicalPlanBuilder::build);
    let plan = plan.map_err(|error| from_datafusion(&error))?;
    let key = source_key(&running.path.catalog, &running.path.namespace.join("."), SOURCE);
    resolved.sources.insert(key, Arc::new(SealedView::new(relation_with(name, SOURCE.to_owned()), plan)));
    let all = dialect::parse("SELECT * FROM source").map_err(|_| crate::error::internal())?;
    let dialect::ast::Statement::Sql(all) = all else { return Err(crate::error::internal()) };
    let ast::Statement::Query(mut all) = *all else { return Err(crate::error::internal()) };
    if let ast::SetExpr::Select(select) = all.body.as_mut()
        && let Some(ast::TableWithJoins { relation: ast::TableFactor::Table { name, .. }, .. }) =
            select.from.first_mut()
    {
        *name = ObjectName::from(vec![Ident::with_quote('"', SOURCE)]);
    }
    Ok(all)
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
    own: &TableVerdict,
    input: &LogicalPlan,
) -> Result<(), QueryError> {
    let masked = lineage::Masked {
        uuid: table.uuid.to_string(),
        columns: table.schema.fields().iter().map(|field| field.name().as_str()).collect(),
        verdict: own,
    };
    for column in 0..input.schema().fields().len() {
        if masked.is_in_column(input, column).map_err(|error| from_datafusion(&error))? {
            return Err(update::written_back(name));
        }
    }
    Ok(())
}
