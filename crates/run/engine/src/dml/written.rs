//! What the user wrote into a change: expressions and sources, resolved like those of a query and planned one by one.

use datafusion::arrow::datatypes::Field;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr_rewriter::normalize_col_with_schemas_and_ambiguity_check;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::planner::{PlannerContext, SqlToRel};
use query_api::QueryError;
use sqlparser::ast;
use std::sync::Arc;
use stdx::ErrorKind;

use crate::error::from_datafusion;
use crate::policy_expr::parser_options;
use crate::provider::{self, Names};
use crate::resolve::{self, Resolved};
use crate::running::Running;

/// Expressions and, perhaps, the relations that the statement reads besides its target.
pub(crate) struct Written {
    /// `SELECT expressions FROM sources`: never run, it only carries names through their resolution.
    carrier: ast::Statement,
    has_sources: bool,
}

fn select_of(carrier: &mut ast::Statement) -> Result<&mut ast::Select, QueryError> {
    match carrier {
        ast::Statement::Query(query) => match query.body.as_mut() {
            ast::SetExpr::Select(select) => Ok(select),
            _ => Err(crate::error::internal()),
        },
        _ => Err(crate::error::internal()),
    }
}

impl Written {
    pub(crate) fn new(
        expressions: Vec<ast::Expr>,
        sources: Vec<ast::TableWithJoins>,
    ) -> Result<Self, QueryError> {
        let Ok(dialect::ast::Statement::Sql(carrier)) = dialect::parse("SELECT 1") else {
            return Err(crate::error::internal());
        };
        let mut carrier = *carrier;
        let has_sources = !sources.is_empty();
        let select = select_of(&mut carrier)?;
        select.projection = expressions.into_iter().map(ast::SelectItem::UnnamedExpr).collect();
        select.from = sources;
        Ok(Self { carrier, has_sources })
    }

    /// Resolves every name, and gives the expressions back as they are to be planned.
    pub(crate) async fn resolve(
        mut self,
        running: &Running,
        state: &SessionState,
        resolved: &mut Resolved,
    ) -> Result<(Vec<ast::Expr>, Option<ast::Statement>), QueryError> {
        resolve::names(running, state, &mut self.carrier, resolved, &running.path).await?;
        let select = select_of(&mut self.carrier)?;
        let expressions = std::mem::take(&mut select.projection)
            .into_iter()
            .filter_map(|item| match item {
                ast::SelectItem::UnnamedExpr(expression) => Some(expression),
                _ => None,
            })
            .collect();
        select.projection = vec![ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default())];
        crate::titles::give(&mut self.carrier);
        Ok((expressions, self.has_sources.then_some(self.carrier)))
    }
}

/// Plans what was resolved; nothing can run yet.
pub(crate) struct Planner<'a> {
    sql: SqlToRel<'a, Names<'a>>,
}

/// The names that a planner looks up.
pub(crate) fn names<'a>(
    running: &'a Running,
    state: &'a SessionState,
    resolved: &'a Resolved,
    database: &'a str,
) -> Names<'a> {
    Names {
        state,
        options: provider::zoned(state),
        sources: &resolved.sources,
        files: &resolved.files,
        default_catalog: &running.path.catalog,
        default_database: database,
    }
}

impl<'a> Planner<'a> {
    pub(crate) fn new(names: &'a Names<'a>) -> Self {
        Self { sql: SqlToRel::new_with_options(names, parser_options()) }
    }

    pub(crate) fn source(&self, statement: ast::Statement) -> Result<LogicalPlan, QueryError> {
        self.sql
            .statement_to_plan(DfStatement::Statement(Box::new(statement)))
            .map_err(|error| from_datafusion(&error))
    }

    /// An expression of one row over the columns of `schema`.
    pub(crate) fn expression(&self, written: ast::Expr, schema: &DFSchema) -> Result<Expr, QueryError> {
        let planned = self
            .sql
            .sql_to_expr(written, schema, &mut PlannerContext::new())
            .and_then(|expr| normalize_col_with_schemas_and_ambiguity_check(expr, &[&[schema]], &[]))
            .map_err(|error| from_datafusion(&error))?;
        refuse_unfit(&planned)?;
        Ok(planned)
    }

    pub(crate) fn predicate(&self, written: ast::Expr, schema: &DFSchema) -> Result<Expr, QueryError> {
        use datafusion::arrow::datatypes::DataType;
        let planned = self.expression(written, schema)?;
        let planned = with_type(planned, &Field::new("condition", DataType::Boolean, true));
        match planned.get_type(schema).map_err(|error| from_datafusion(&error))? {
            DataType::Boolean | DataType::Null => Ok(planned),
            other => Err(QueryError::new(
                ErrorKind::TypeMismatch,
                format!(
                    "a condition must be boolean, and this one is {}",
                    crate::policy_expr::type_name(&other)
                ),
            )),
        }
    }

    /// A value for a column, cast to its type.
    pub(crate) fn value(
        &self,
        written: ast::Expr,
        schema: &DFSchema,
        column: &Field,
    ) -> Result<Expr, QueryError> {
        let planned = with_type(self.expression(written, schema)?, column);
        planned.cast_to(column.data_type(), schema).map_err(|error| from_datafusion(&error))
    }
}

/// A parameter that stands alone has the type of what it is for.
fn with_type(mut expr: Expr, field: &Field) -> Expr {
    if let Expr::Placeholder(placeholder) = &mut expr
        && placeholder.field.is_none()
    {
        placeholder.field = Some(Arc::new(Field::new(field.name(), field.data_type().clone(), true)));
    }
    expr
}

/// A change looks at one row at a time.
fn refuse_unfit(expr: &Expr) -> Result<(), QueryError> {
    let mut fault = None;
    expr.apply(|part| {
        fault = fault.or(match part {
            Expr::AggregateFunction(_) => Some("an aggregate cannot stand here"),
            Expr::WindowFunction(_) => Some("a window function cannot stand here"),
            Expr::Unnest(_) => Some("unnest cannot stand here"),
            _ => None,
        });
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(|error| from_datafusion(&error))?;
    match fault {
        Some(fault) => Err(QueryError::new(ErrorKind::Invalid, fault)),
        None => Ok(()),
    }
}
