//! Binds the texts of filters and masks to expressions; the one check that every door's edits pass.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, ExprSchemable, Volatility, cast};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use enforce::SessionFacts;
use query_api::QueryError;
use sqlparser::ast;
use stdx::ErrorKind;

use crate::names::{SearchPath, fold_ident, write_in_full};
use crate::provider::Names;

mod values;

use values::Marked;
pub(crate) use values::Values;

/// The name that the placeholder of a custom mask for its own column is planned under; no column can be called so.
const MASKED_COLUMN: &str = "{col}";

/// Parser options that every expression and query is planned with.
pub(crate) fn parser_options() -> ParserOptions {
    ParserOptions::new().with_enable_ident_normalization(true).with_collect_spans(false)
}

/// What an expression needs, found when it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) columns: BTreeSet<String>,
    pub(crate) functions: BTreeSet<String>,
}

/// Binds policy texts for one table.
pub(crate) struct Binder<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) schema: &'a SchemaRef,
    pub(crate) path: &'a SearchPath,
    /// Names that mean another column than the one that has them in `schema`, or one that it has under another name.
    pub(crate) names: &'a BTreeMap<String, String>,
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
            DataType::Boolean | DataType::Null => Ok(expr),
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
        let expr = self.plan(&Marked::new(text, Values::Unknown)?, column)?;
        let mut needs = Needs {
            columns: expr.column_refs().iter().map(|column| column.name.clone()).collect(),
            functions: BTreeSet::new(),
        };
        expr.apply(|part| {
            if let Expr::ScalarFunction(ScalarFunction { func, .. }) = part {
                needs.functions.insert(func.name().to_owned());
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(|_| not_an_expression())?;
        Ok(needs)
    }

    fn bind(&self, text: &Marked, column: Option<&str>, facts: &SessionFacts) -> Result<Expr, QueryError> {
        let expr = self.plan(text, column)?;
        let folded = enforce::fold_expr(expr, facts).map_err(|error| match error {
            enforce::EnforceError::Plan(inner) => plan_message(&inner),
            other => QueryError::new(other.kind(), other.to_string()),
        })?;
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
            .and_then(|expr| simplifier.simplify(expr))
            .map_err(|error| plan_message(&error))
    }

    /// Plans a text; `column` is what its placeholder stands for.
    fn plan(&self, marked: &Marked, column: Option<&str>) -> Result<Expr, QueryError> {
        let mut meant = Cow::Borrowed(self.names);
        let parsed = match column {
            Some(column) => {
                meant.to_mut().insert(MASKED_COLUMN.to_owned(), column.to_owned());
                dialect::parse_mask_expression(&marked.text, MASKED_COLUMN)
            }
            None => dialect::parse_expression(&marked.text),
        };
        let mut ast = parsed.map_err(|_| not_an_expression())?;
        write_in_full(&mut ast, self.path)?;
        let names = Names {
            state: self.state,
            options: crate::provider::zoned(self.state),
            sources: &HashMap::new(),
            files: &HashMap::new(),
            default_catalog: &self.path.catalog,
            default_database: "",
        };
        let df_schema = self.text_schema(&meant)?;
        let planner = SqlToRel::new_with_options(&names, parser_options());
        let expr = planner
            .sql_to_expr(ast, &df_schema, &mut PlannerContext::new())
            .map_err(|error| plan_message(&error))?;
        let expr = over_columns(marked.fill(expr)?, &meant)?;
        refuse_unfit(&expr)?;
        for column in expr.column_refs() {
            if self.schema.index_of(&column.name).is_err() {
                return Err(no_column(&column.name));
            }
        }
        Ok(expr)
    }

    fn df_schema(&self) -> Result<DFSchema, QueryError> {
        DFSchema::try_from(self.schema.as_ref().clone()).map_err(|error| plan_message(&error))
    }

    /// The columns under the names that a text may call them.
    fn text_schema(&self, meant: &BTreeMap<String, String>) -> Result<DFSchema, QueryError> {
        let own = self.schema.fields().iter().filter(|field| !meant.contains_key(field.name()));
        let mut fields: Vec<_> = own.map(|field| field.as_ref().clone()).collect();
        for (name, column) in meant {
            let field = self.schema.field_with_name(column).map_err(|_| no_column(name))?;
            fields.push(field.clone().with_name(name));
        }
        DFSchema::try_from(Schema::new(fields)).map_err(|error| plan_message(&error))
    }

    fn type_of(&self, expr: &Expr) -> Result<DataType, QueryError> {
        let df_schema = self.df_schema()?;
        expr.get_type(&df_schema).map_err(|error| plan_message(&error))
    }
}

/// Puts the columns in the place of the names that a text calls them, all at once.
fn over_columns(expr: Expr, meant: &BTreeMap<String, String>) -> Result<Expr, QueryError> {
    expr.transform_up(|part| match &part {
        Expr::Column(column) => {
            let name = meant.get(&column.name).unwrap_or(&column.name);
            Ok(Transformed::yes(Expr::Column(Column::from_name(name.clone()))))
        }
        _ => Ok(Transformed::no(part)),
    })
    .map(|done| done.data)
    .map_err(|error| plan_message(&error))
}

/// Checks a text that is about no table yet, so that all names in it are taken for columns; what it needs are functions.
pub(crate) fn check_unbound(
    state: &SessionState,
    path: &SearchPath,
    text: &str,
) -> Result<BTreeSet<String>, QueryError> {
    const COLUMN: &str = "col";
    let marked = Marked::new(text, Values::Unknown)?;
    let ast = dialect::parse_mask_expression(&marked.text, MASKED_COLUMN).map_err(|_| not_an_expression())?;
    let mut names = BTreeSet::from([COLUMN.to_owned()]);
    // What a name with a dot stands for, only a table can tell.
    let mut is_nested = false;
    let _: ControlFlow<()> = sqlparser::ast::visit_expressions(&ast, |expr| {
        match expr {
            ast::Expr::Identifier(name) if name.value == MASKED_COLUMN => {}
            ast::Expr::Identifier(name) => drop(names.insert(fold_ident(name))),
            ast::Expr::CompoundIdentifier(_) | ast::Expr::CompoundFieldAccess { .. } => is_nested = true,
            _ => {}
        }
        ControlFlow::Continue(())
    });
    if is_nested {
        return Ok(BTreeSet::new());
    }
    let fields: Vec<_> = names.iter().map(|name| Field::new(name, DataType::Utf8View, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let binder = Binder { state, schema: &schema, path, names: &BTreeMap::new() };
    binder.needs(text, Some(COLUMN)).map(|needs| needs.functions)
}

/// Only expressions of one row may stand in a policy.
fn refuse_unfit(expr: &Expr) -> Result<(), QueryError> {
    let mut fault: Option<&'static str> = None;
    let walked = expr.apply(|part| {
        fault = fault.or(match part {
            Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) | Expr::ScalarSubquery(_) => {
                Some("a sub-query in a policy expression is not supported yet")
            }
            Expr::AggregateFunction(_) => Some("a policy expression cannot hold an aggregate"),
            Expr::WindowFunction(_) => Some("a policy expression cannot hold a window function"),
            Expr::Unnest(_) => Some("a policy expression cannot unnest"),
            Expr::Placeholder(_) => Some("a policy expression cannot hold a parameter"),
            Expr::OuterReferenceColumn(..) => Some("a policy expression cannot refer to an outer query"),
            Expr::ScalarVariable(..) => Some("a policy expression cannot hold a variable"),
            Expr::ScalarFunction(function)
                if function.func.signature().volatility == Volatility::Volatile =>
            {
                Some("a policy expression cannot call a volatile function")
            }
            _ => None,
        });
        Ok(TreeNodeRecursion::Continue)
    });
    if walked.is_err() {
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
