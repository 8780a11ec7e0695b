//! PREPARE, EXECUTE and DEALLOCATE: a name for a text, governed anew at each run.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::DFSchema;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, cast};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::planner::{PlannerContext, SqlToRel};
use query_api::{Description, Outcome, QueryError};
use sqlparser::ast::{self, Ident};
use std::collections::HashMap;
use std::sync::Arc;
use stdx::ErrorKind;

use crate::error::{from_datafusion, unsupported};
use crate::names::{fold_ident, parts_of, write_in_full};
use crate::policy_expr::parser_options;
use crate::provider::Names;
use crate::running::Running;
use crate::session::{EngineSession, Named, invalid};
use crate::statement::{self, Call};

/// Statements that one session may have named at a time.
const NAMED_MAX: usize = 1_000;

pub(crate) fn prepare(session: &EngineSession, sql: ast::Statement) -> Result<Outcome, QueryError> {
    let ast::Statement::Prepare { name, data_types, statement } = sql else {
        return Err(crate::error::internal());
    };
    let is_offered = matches!(
        *statement,
        ast::Statement::Query(_)
            | ast::Statement::Insert(_)
            | ast::Statement::Update(_)
            | ast::Statement::Delete(_)
            | ast::Statement::Merge(_)
    );
    if !is_offered {
        return Err(unsupported("preparing anything but a query, INSERT, UPDATE, DELETE or MERGE"));
    }
    let name = fold_ident(&name);
    let types = data_types.iter().map(crate::ddl::arrow_type).collect::<Result<Vec<_>, _>>()?;
    let mut vars = session.vars();
    if vars.named.contains_key(&name) {
        return Err(QueryError::new(
            ErrorKind::ObjectExists,
            format!("prepared statement `{name}` already exists"),
        ));
    }
    if vars.named.len() >= NAMED_MAX {
        return Err(QueryError::new(ErrorKind::Limit, format!("more than {NAMED_MAX} prepared statements")));
    }
    vars.named.insert(name, Named { text: statement.to_string(), types });
    Ok(Outcome::Done { tag: "PREPARE", n_rows: None, notices: Vec::new() })
}

pub(crate) fn deallocate(session: &EngineSession, name: &Ident) -> Result<Outcome, QueryError> {
    let folded = fold_ident(name);
    let mut vars = session.vars();
    if name.quote_style.is_none() && folded == "all" {
        vars.named.clear();
    } else if vars.named.remove(&folded).is_none() {
        return Err(QueryError::new(
            ErrorKind::ObjectNotFound,
            format!("no such prepared statement `{folded}`"),
        ));
    }
    Ok(Outcome::Done { tag: "DEALLOCATE", n_rows: None, notices: Vec::new() })
}

pub(crate) async fn execute(
    session: &EngineSession,
    running: &Running,
    sql: ast::Statement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let (named, arguments) = opened(session, sql)?;
    let parameters = arguments
        .into_iter()
        .enumerate()
        .map(|(i, argument)| constant(running, argument, named.types.get(i), "an argument of EXECUTE"))
        .collect::<Result<Vec<_>, _>>()?;
    statement::run(session, &named.text, &parameters, call.bounds.cancel.clone()).await
}

pub(crate) async fn describe(
    session: &EngineSession,
    _: &Running,
    sql: ast::Statement,
) -> Result<Description, QueryError> {
    let (named, _) = opened(session, sql)?;
    let types: Vec<_> = named.types.iter().cloned().map(Some).collect();
    let described = statement::describe(session, &named.text, &types).await?;
    Ok(Description { parameters: Vec::new(), columns: described.columns })
}

fn opened(session: &EngineSession, sql: ast::Statement) -> Result<(Named, Vec<ast::Expr>), QueryError> {
    let ast::Statement::Execute { name: Some(name), parameters, immediate: false, into, using, .. } = sql
    else {
        return Err(unsupported("EXECUTE IMMEDIATE"));
    };
    if !into.is_empty() || !using.is_empty() {
        return Err(unsupported("EXECUTE … INTO or USING"));
    }
    let name = parts_of(&name)?.join(".");
    Ok((statement::named(session, &name)?, parameters))
}

/// A constant expression as an array of one value; `what` it is, for the error when it is none.
pub(crate) fn constant(
    running: &Running,
    mut argument: ast::Expr,
    wanted: Option<&datafusion::arrow::datatypes::DataType>,
    what: &str,
) -> Result<ArrayRef, QueryError> {
    write_in_full(&mut argument, &running.path)?;
    let state = running.state();
    let (sources, files) = (HashMap::new(), HashMap::new());
    let names = Names {
        state: &state,
        options: crate::provider::zoned(&state),
        sources: &sources,
        files: &files,
        default_catalog: &running.path.catalog,
        default_database: "",
    };
    let schema = Arc::new(DFSchema::empty());
    let planner = SqlToRel::new_with_options(&names, parser_options());
    let expr = planner
        .sql_to_expr(argument, &schema, &mut PlannerContext::new())
        .map_err(|error| from_datafusion(&error))?;
    let expr =
        enforce::fold_expr(expr, &running.facts()).map_err(|error| crate::error::from_enforce(&error))?;
    let expr = match wanted {
        Some(wanted) => cast(expr, wanted.clone()),
        None => expr,
    };
    let context = SimplifyContext::builder()
        .with_schema(Arc::clone(&schema))
        .with_config_options(Arc::clone(state.config_options()))
        .with_query_execution_start_time(state.execution_props().query_execution_start_time)
        .build();
    let simplifier = ExprSimplifier::new(context);
    let expr = simplifier
        .coerce(expr, &schema)
        .and_then(|expr| simplifier.simplify(expr))
        .map_err(|error| from_datafusion(&error))?;
    match expr {
        Expr::Literal(value, _) => value.to_array().map_err(|error| from_datafusion(&error)),
        _ => Err(invalid(format!("{what} must be a constant"))),
    }
}
