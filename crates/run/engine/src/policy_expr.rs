//! Binds the texts of filters and masks to expressions; the one check that every door's edits pass.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, TableReference};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::{Exists, InSubquery, ScalarFunction, SetComparison};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Subquery, Volatility, cast};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use enforce::SessionFacts;
use query_api::QueryError;
use sqlparser::ast;
use stdx::ErrorKind;

use crate::error::unsupported;
use crate::names::{RelationName, SearchPath, fold_ident, write_in_full};
use crate::policy_query::{PolicyQueries, Prepared};
use crate::provider::Names;
use crate::running::Running;

pub(crate) mod reads;
mod values;

pub(crate) use values::{Marked, Values};

/// The name that the placeholder of a custom mask for its own column is planned under; no column can be called so.
const MASKED_COLUMN: &str = "{col}";

/// Parser options that every expression and query is planned with.
pub(crate) fn parser_options() -> ParserOptions {
    ParserOptions::new().with_enable_ident_normalization(true).with_collect_spans(false)
}

/// A policy's text as it is written; that of a mask has a placeholder for its own column. `None`: it is no expression.
pub(crate) fn parsed(text: &str, is_mask: bool) -> Option<ast::Expr> {
    let parsed = match is_mask {
        true => dialect::parse_mask_expression(text, MASKED_COLUMN),
        false => dialect::parse_expression(text),
    };
    parsed.ok()
}

/// What an expression needs, found when it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) columns: BTreeSet<String>,
    pub(crate) functions: BTreeSet<String>,
    /// The relations that its sub-queries read, by full name.
    pub(crate) tables: BTreeSet<String>,
    /// What the names in its sub-queries mean.
    pub(crate) reads: Vec<String>,
}

/// Binds policy texts for one relation.
pub(crate) struct Binder<'a> {
    pub(crate) running: &'a Running,
    pub(crate) state: &'a SessionState,
    pub(crate) name: &'a RelationName,
    pub(crate) schema: &'a SchemaRef,
    /// Names that mean another column than the one that has them in `schema`, or one that it has under another name.
    pub(crate) names: &'a BTreeMap<String, String>,
    /// What the texts' sub-queries read.
    pub(crate) queries: &'a PolicyQueries,
    /// What the names in the texts' sub-queries meant when they were written; `None`: nothing is known of it.
    pub(crate) reads: Option<Vec<String>>,
}

impl Binder<'_> {
    /// A row filter: boolean over stored columns.
    pub(crate) fn filter(
        &self,
        text: &str,
        values: Values<'_>,
        facts: &SessionFacts,
    ) -> Result<Expr, QueryError> {
        let expr = self.bind(&Marked::new(text, values)?, None, facts)?;
        match self.type_of(&expr)? {
            DataType::Boolean => Ok(expr),
            DataType::Null => Ok(cast(expr, DataType::Boolean)),
            other => Err(QueryError::new(
                ErrorKind::TypeMismatch,
                format!("a row filter must be boolean, and this one is {}", type_name(&other)),
            )),
        }
    }

    /// A custom mask: an expression that is cast to the column's type where that loses nothing (L1).
    pub(crate) fn mask(
        &self,
        text: &str,
        column: &str,
        values: Values<'_>,
        facts: &SessionFacts,
    ) -> Result<Expr, QueryError> {
        let expr = self.bind(&Marked::new(text, values)?, Some(column), facts)?;
        let field = self.schema.field_with_name(column).map_err(|_| no_column(column))?;
        let actual = self.type_of(&expr)?;
        if actual == *field.data_type() {
            return Ok(expr);
        }
        if casts_losslessly(&actual, field.data_type()) {
            return Ok(cast(expr, field.data_type().clone()));
        }
        Err(QueryError::new(
            ErrorKind::TypeMismatch,
            format!(
                "the mask is {}, and column `{column}` is {}",
                type_name(&actual),
                type_name(field.data_type())
            ),
        )
        .with_hint("cast the expression to the column's type"))
    }

    /// The columns and functions that a text needs; the facts of no particular reader.
    pub(crate) fn needs(&self, text: &str, column: Option<&str>) -> Result<Needs, QueryError> {
        let marked = Marked::new(text, Values::Unknown)?;
        let (expr, reads) = self.plan(&marked, column)?;
        let tables = self.queries.relations(&marked.text, column.is_some());
        let mut needs = Needs { tables, reads, ..Needs::default() };
        let functions = &mut needs.functions;
        let mut see = |part: &Expr| {
            if let Expr::ScalarFunction(ScalarFunction { func, .. }) = part {
                functions.insert(func.name().to_owned());
            }
        };
        walk(&expr, &mut see).map_err(|_| not_an_expression())?;
        let columns = RefCell::new(BTreeSet::new());
        let kept = |column: &Column| {
            columns.borrow_mut().insert(column.name.clone());
            None
        };
        with_own_columns(expr, self.name, &kept).map_err(|_| not_an_expression())?;
        needs.columns = columns.into_inner();
        Ok(needs)
    }

    fn bind(&self, text: &Marked, column: Option<&str>, facts: &SessionFacts) -> Result<Expr, QueryError> {
        let (expr, reads) = self.plan(text, column)?;
        if self.reads.as_ref().is_some_and(|pinned| *pinned != reads) {
            return Err(QueryError::new(
                ErrorKind::Invalid,
                "what its sub-query reads is not what it was when the policy was written",
            ));
        }
        let folded = enforce::fold_expr(expr, facts).map_err(|error| match error {
            enforce::EnforceError::Plan(inner) => plan_message(&inner),
            other => QueryError::new(other.kind(), other.to_string()),
        })?;
        // Its plan is governed as a query's is; what it reads is whole, and it cannot run without a clearance.
        let folded = self.with_governed_queries(folded)?;
        let is_plain = !has_query(&folded);
        // Coerced and simplified now, so that pruning sees plain comparisons.
        let df_schema = Arc::new(self.df_schema()?);
        let context = SimplifyContext::builder()
            .with_schema(Arc::clone(&df_schema))
            .with_config_options(Arc::clone(self.state.config_options()))
            .with_query_execution_start_time(self.state.execution_props().query_execution_start_time)
            .build();
        let simplifier = ExprSimplifier::new(context);
        simplifier
            .coerce(folded, &df_schema)
            .and_then(|expr| if is_plain { simplifier.simplify(expr) } else { Ok(expr) })
            .map_err(|error| plan_message(&error))
    }

    /// Plans a text; `column` is what its placeholder stands for. Beside it, what the names in its sub-queries mean.
    fn plan(&self, marked: &Marked, column: Option<&str>) -> Result<(Expr, Vec<String>), QueryError> {
        let mut meant = Cow::Borrowed(self.names);
        if let Some(column) = column {
            meant.to_mut().insert(MASKED_COLUMN.to_owned(), column.to_owned());
        }
        let path = SearchPath {
            catalogs: self.running.engine.catalog_order.clone(),
            catalog: self.name.catalog.clone(),
            namespace: self.name.namespace.clone(),
        };
        let prepared = self.queries.get(&marked.text, column.is_some());
        let (mut ast, sources) = match prepared {
            Some(Ok(Prepared { expr, resolved })) => {
                (expr.clone(), resolved.as_ref().map(|resolved| resolved.sources.clone()))
            }
            Some(Err(error)) => return Err(error.clone()),
            None => (parsed(&marked.text, column.is_some()).ok_or_else(not_an_expression)?, None),
        };
        let is_plain = sources.is_none();
        if is_plain {
            write_in_full(&mut ast, &path)?;
        }
        let sources = sources.unwrap_or_default();
        let names = Names {
            state: self.state,
            options: crate::provider::zoned(self.state),
            sources: &sources,
            files: &HashMap::new(),
            default_catalog: &path.catalog,
            default_database: &path.namespace.join("."),
        };
        let df_schema = self.text_schema(&meant, is_plain)?;
        let planner = SqlToRel::new_with_options(&names, parser_options());
        let expr = planner
            .sql_to_expr(ast, &df_schema, &mut PlannerContext::new())
            .map_err(|error| plan_message(&error))?;
        let reads = if has_query(&expr) { reads::of(&expr) } else { Ok(Vec::new()) };
        let reads = reads.map_err(|error| plan_message(&error))?;
        let expr = self.over_columns(marked.fill(expr)?, &meant)?;
        refuse_unfit(&expr)?;
        for column in expr.column_refs() {
            if self.schema.index_of(&column.name).is_err() {
                return Err(no_column(&column.name));
            }
        }
        Ok((expr, reads))
    }

    fn df_schema(&self) -> Result<DFSchema, QueryError> {
        DFSchema::try_from_qualified_schema(own_reference(self.name), self.schema)
            .map_err(|error| plan_message(&error))
    }

    /// The columns under the names that a text may call them; with the relation's name in front only beside
    /// sub-queries, for a relation may get another name.
    fn text_schema(&self, meant: &BTreeMap<String, String>, is_plain: bool) -> Result<DFSchema, QueryError> {
        let own = self.schema.fields().iter().filter(|field| !meant.contains_key(field.name()));
        let mut fields: Vec<_> = own.map(|field| field.as_ref().clone()).collect();
        for (name, column) in meant.iter().filter(|(_, column)| !column.is_empty()) {
            let field = self.schema.field_with_name(column).map_err(|_| no_column(name))?;
            fields.push(field.clone().with_name(name));
        }
        let schema = Schema::new(fields);
        let schema = match is_plain {
            true => DFSchema::try_from(schema),
            false => DFSchema::try_from_qualified_schema(own_reference(self.name), &schema),
        };
        schema.map_err(|error| plan_message(&error))
    }

    /// Puts the columns in the place of the names that a text calls them, all at once.
    fn over_columns(&self, expr: Expr, meant: &BTreeMap<String, String>) -> Result<Expr, QueryError> {
        let is_plain = !has_query(&expr);
        let now = |column: &Column| {
            let name = meant.get(&column.name).unwrap_or(&column.name);
            // Beside a sub-query's columns a name alone would mean either.
            let relation = column.relation.clone().filter(|_| !is_plain);
            let is_same = relation == column.relation && *name == column.name;
            (!is_same).then(|| Column { relation, name: name.clone(), spans: column.spans.clone() })
        };
        with_own_columns(expr, self.name, &now).map_err(|error| plan_message(&error))
    }

    /// Governs the sub-queries of an expression, so that they can run within this statement.
    fn with_governed_queries(&self, expr: Expr) -> Result<Expr, QueryError> {
        if !has_query(&expr) {
            return Ok(expr);
        }
        let resolved = self.queries.judged()?;
        let governed = map_queries(expr, &|plan| {
            let plan = crate::plannable::rewrite(plan)?;
            crate::query::govern_plan(self.running, plan, &resolved)
                .map_err(|error| DataFusionError::External(Box::new(error)))
        });
        governed.map_err(|error| plan_message(&error))
    }

    fn type_of(&self, expr: &Expr) -> Result<DataType, QueryError> {
        let df_schema = self.df_schema()?;
        expr.get_type(&df_schema).map_err(|error| plan_message(&error))
    }
}

/// How the columns of a policy's relation are qualified where sub-queries stand beside them.
pub(crate) fn own_reference(name: &RelationName) -> TableReference {
    TableReference::full(name.catalog.clone(), name.database(), name.name.clone())
}

/// Checks a text that is about no table yet, so that all names in it are taken for columns; what it needs are functions.
pub(crate) fn check_unbound(
    running: &Running,
    state: &SessionState,
    text: &str,
) -> Result<BTreeSet<String>, QueryError> {
    const COLUMN: &str = "col";
    let marked = Marked::new(text, Values::Unknown)?;
    let ast = dialect::parse_mask_expression(&marked.text, MASKED_COLUMN).map_err(|_| not_an_expression())?;
    let mut names = BTreeSet::from([COLUMN.to_owned()]);
    // What a name with a dot stands for, only a table can tell.
    let (mut is_nested, mut has_query) = (false, false);
    let _: ControlFlow<()> = sqlparser::ast::visit_expressions(&ast, |expr| {
        match expr {
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => {
                has_query = true
            }
            ast::Expr::Identifier(name) if name.value == MASKED_COLUMN => {}
            ast::Expr::Identifier(name) => drop(names.insert(fold_ident(name))),
            ast::Expr::CompoundIdentifier(_) | ast::Expr::CompoundFieldAccess { .. } => is_nested = true,
            _ => {}
        }
        ControlFlow::Continue(())
    });
    if has_query {
        return Err(unsupported("a sub-query in a policy on a tag"));
    }
    if is_nested {
        return Ok(BTreeSet::new());
    }
    let fields: Vec<_> = names.iter().map(|name| Field::new(name, DataType::Utf8View, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let (names, queries) = (BTreeMap::new(), PolicyQueries::default());
    let name = RelationName {
        catalog: running.path.catalog.clone(),
        namespace: running.path.namespace.clone(),
        name: String::new(),
    };
    let binder = Binder {
        running,
        state,
        name: &name,
        schema: &schema,
        names: &names,
        queries: &queries,
        reads: None,
    };
    binder.needs(text, Some(COLUMN)).map(|needs| needs.functions)
}

/// Whether an expression holds a sub-query.
pub(crate) fn has_query(expr: &Expr) -> bool {
    expr.exists(|part| Ok(query_of(part).is_some())).unwrap_or(true)
}

fn query_of(part: &Expr) -> Option<&Subquery> {
    match part {
        Expr::ScalarSubquery(query) => Some(query),
        Expr::Exists(exists) => Some(&exists.subquery),
        Expr::InSubquery(within) => Some(&within.subquery),
        Expr::SetComparison(comparison) => Some(&comparison.subquery),
        _ => None,
    }
}

/// Puts other plans in the place of an expression's sub-queries.
fn map_queries(
    expr: Expr,
    change: &dyn Fn(LogicalPlan) -> Result<LogicalPlan, DataFusionError>,
) -> Result<Expr, DataFusionError> {
    with_queries(expr, &|query| {
        let plan = change(query.subquery.as_ref().clone())?;
        Ok(query.with_plan(Arc::new(plan)))
    })
}

fn with_queries(
    expr: Expr,
    change: &dyn Fn(Subquery) -> Result<Subquery, DataFusionError>,
) -> Result<Expr, DataFusionError> {
    let changed = expr.transform_up(|part| {
        Ok(Transformed::yes(match part {
            Expr::ScalarSubquery(query) => Expr::ScalarSubquery(change(query)?),
            Expr::Exists(exists) => {
                Expr::Exists(Exists { subquery: change(exists.subquery)?, negated: exists.negated })
            }
            Expr::InSubquery(within) => {
                let subquery = change(within.subquery)?;
                Expr::InSubquery(InSubquery { expr: within.expr, subquery, negated: within.negated })
            }
            Expr::SetComparison(comparison) => {
                let subquery = change(comparison.subquery)?;
                let SetComparison { expr, op, quantifier, .. } = comparison;
                Expr::SetComparison(SetComparison { expr, subquery, op, quantifier })
            }
            other => return Ok(Transformed::no(other)),
        }))
    });
    Ok(changed?.data)
}

/// Puts other columns in the place of the relation's own, in the expression and in its sub-queries.
pub(crate) fn with_own_columns(
    expr: Expr,
    name: &RelationName,
    change: &dyn Fn(&Column) -> Option<Column>,
) -> Result<Expr, DataFusionError> {
    let own = own_reference(name);
    let is_own = |column: &Column| column.relation.as_ref().is_none_or(|relation| *relation == own);
    let inner = |expr: Expr| {
        expr.transform_up(|part| match &part {
            Expr::OuterReferenceColumn(field, column) if column.relation.as_ref() == Some(&own) => {
                Ok(match change(column) {
                    Some(now) => Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), now)),
                    None => Transformed::no(part),
                })
            }
            _ => Ok(Transformed::no(part)),
        })
    };
    let changed = expr.transform_up(|part| match &part {
        Expr::Column(column) if is_own(column) => Ok(match change(column) {
            Some(now) => Transformed::yes(Expr::Column(now)),
            None => Transformed::no(part),
        }),
        _ => Ok(Transformed::no(part)),
    })?;
    with_queries(changed.data, &|query| {
        let plan = query.subquery.as_ref().clone();
        let changed = plan.transform_up_with_subqueries(|node| {
            let changed = node.map_expressions(inner)?;
            if changed.transformed { changed.map_data(LogicalPlan::recompute_schema) } else { Ok(changed) }
        });
        let plan = changed?.data;
        let outer = query.outer_ref_columns.iter().cloned().map(|column| Ok(inner(column)?.data));
        let outer_ref_columns = outer.collect::<Result<_, DataFusionError>>()?;
        Ok(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: query.spans.clone() })
    })
}

/// Shows every expression within one, those of its sub-queries included.
fn walk(expr: &Expr, see: &mut dyn FnMut(&Expr)) -> Result<(), DataFusionError> {
    let mut plans = Vec::new();
    let mut visit = |part: &Expr| {
        see(part);
        plans.extend(query_of(part).map(|query| Arc::clone(&query.subquery)));
        Ok(TreeNodeRecursion::Continue)
    };
    expr.apply(&mut visit)?;
    while let Some(plan) = plans.pop() {
        let mut inner = Vec::new();
        plan.apply(|node| {
            inner.extend(node.expressions());
            Ok(TreeNodeRecursion::Continue)
        })?;
        for expr in &inner {
            expr.apply(|part| {
                see(part);
                plans.extend(query_of(part).map(|query| Arc::clone(&query.subquery)));
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
    }
    Ok(())
}

/// Only expressions of one row may stand in a policy, and nothing that is not settled anywhere in it.
fn refuse_unfit(expr: &Expr) -> Result<(), QueryError> {
    let mut fault: Option<&'static str> = None;
    let own = expr.apply(|part| {
        fault = fault.or(match part {
            Expr::AggregateFunction(_) => Some("a policy expression cannot hold an aggregate"),
            Expr::WindowFunction(_) => Some("a policy expression cannot hold a window function"),
            Expr::Unnest(_) => Some("a policy expression cannot unnest"),
            Expr::OuterReferenceColumn(..) => Some("a policy expression cannot refer to an outer query"),
            _ => None,
        });
        Ok(TreeNodeRecursion::Continue)
    });
    let walked = walk(expr, &mut |part| {
        fault = fault.or(match part {
            Expr::Placeholder(_) => Some("a policy expression cannot hold a parameter"),
            Expr::ScalarVariable(..) => Some("a policy expression cannot hold a variable"),
            Expr::ScalarFunction(function)
                if function.func.signature().volatility == Volatility::Volatile =>
            {
                Some("a policy expression cannot call a volatile function")
            }
            _ => None,
        });
    });
    if own.is_err() || walked.is_err() {
        return Err(not_an_expression());
    }
    match fault {
        Some(fault) => Err(QueryError::new(ErrorKind::Invalid, fault)),
        None => Ok(()),
    }
}

/// Whether every value of `from` has its value in `to`, text types among each other included.
fn casts_losslessly(from: &DataType, to: &DataType) -> bool {
    use DataType::{
        Date32, Decimal128, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Null, Timestamp, Utf8,
        Utf8View,
    };
    match (from, to) {
        (Null, _) => true,
        (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => true,
        (Int8, Int16 | Int32 | Int64 | Float32 | Float64)
        | (Int16, Int32 | Int64 | Float32 | Float64)
        | (Int32, Int64 | Float64)
        | (Float32, Float64)
        | (Date32, Timestamp(_, _)) => true,
        (Int8 | Int16 | Int32 | Int64, Decimal128(precision, scale)) => {
            i16::from(*precision) - i16::from(*scale) >= 19
        }
        (Decimal128(p1, s1), Decimal128(p2, s2)) => {
            s2 >= s1 && i16::from(*p2) - i16::from(*s2) >= i16::from(*p1) - i16::from(*s1)
        }
        // An integer literal is an int64; in a mask on a narrower or floating column it is the author's constant,
        // and the cast is checked when it runs.
        (Int64, Int8 | Int16 | Int32 | Float32 | Float64) | (Float64, Float32 | Decimal128(..)) => true,
        // A type made by an expression bears other field metadata than a stored one.
        (DataType::Struct(from), DataType::Struct(to)) => {
            from.len() == to.len()
                && from.iter().zip(to).all(|(from, to)| from.name() == to.name() && item_casts(from, to))
        }
        (DataType::List(from), DataType::List(to)) => item_casts(from, to),
        _ => from == to,
    }
}

/// The same for what stands within a nested type, which may not become NULL where the column's may not.
fn item_casts(from: &Field, to: &Field) -> bool {
    (to.is_nullable() || !from.is_nullable()) && casts_losslessly(from.data_type(), to.data_type())
}

fn not_an_expression() -> QueryError {
    QueryError::new(ErrorKind::Syntax, "the policy's text is not an SQL expression")
}

fn no_column(column: &str) -> QueryError {
    QueryError::new(ErrorKind::ColumnNotFound, format!("no such column `{column}`"))
}

/// SQL's word for a type, as the messages show it.
pub(crate) fn type_name(kind: &DataType) -> String {
    crate::types::sql_name(kind)
}

fn plan_message(error: &DataFusionError) -> QueryError {
    crate::error::from_datafusion(error)
}
