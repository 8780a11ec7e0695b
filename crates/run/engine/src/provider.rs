//! What the planner may know: the sources that were resolved for one statement, and the functions there are.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::TableFunctionArgs;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, Result, TableReference, plan_err};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::provider_as_source;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{AggregateUDF, Expr, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;

/// Table functions that make rows out of nothing stored.
const SERIES_FUNCTIONS: [&str; 2] = ["generate_series", "range"];

/// The names of one statement, resolved beforehand.
pub(crate) struct Names<'a> {
    pub(crate) state: &'a SessionState,
    /// What types are planned with; see [`zoned`].
    pub(crate) options: ConfigOptions,
    /// Sources by full name; a name of one part is looked up with the defaults.
    pub(crate) sources: &'a HashMap<String, Arc<dyn TableSource>>,
    /// Files that `read_parquet` and its like name, by function and path.
    pub(crate) files: &'a HashMap<(String, String), Arc<dyn TableSource>>,
    pub(crate) default_catalog: &'a str,
    pub(crate) default_database: &'a str,
}

/// A session's options for planning types: without a zone TIMESTAMP WITH TIME ZONE would be read as TIMESTAMP.
///
/// For planning alone: with a zone in the session itself `to_timestamp` over a column fails in DataFusion 54.1.
pub(crate) fn zoned(state: &SessionState) -> ConfigOptions {
    let mut options = state.config_options().as_ref().clone();
    options.execution.time_zone.get_or_insert_with(|| "+00:00".to_owned());
    options
}

/// The key of a relation among the sources.
pub(crate) fn source_key(catalog: &str, database: &str, name: &str) -> String {
    format!("{catalog}\u{0}{database}\u{0}{name}")
}

impl Names<'_> {
    fn literal_args(&self, args: Vec<Expr>) -> Result<Vec<Expr>> {
        let context = SimplifyContext::builder()
            .with_config_options(Arc::clone(self.state.config_options()))
            .with_query_execution_start_time(self.state.execution_props().query_execution_start_time)
            .build();
        let simplifier = ExprSimplifier::new(context);
        let schema = DFSchema::empty();
        args.into_iter()
            .map(|arg| simplifier.coerce(arg, &schema).and_then(|arg| simplifier.simplify(arg)))
            .collect()
    }
}

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let catalog = name.catalog().unwrap_or(self.default_catalog);
        let database = name.schema().unwrap_or(self.default_database);
        match self.sources.get(&source_key(catalog, database, name.table())) {
            Some(source) => Ok(Arc::clone(source)),
            None => plan_err!("table '{catalog}.{database}.{}' not found", name.table()),
        }
    }

    fn get_table_function_source(&self, name: &str, args: Vec<Expr>) -> Result<Arc<dyn TableSource>> {
        let args = self.literal_args(args)?;
        if SERIES_FUNCTIONS.contains(&name) {
            let Some(function) = self.state.table_functions().get(name) else {
                return plan_err!("table function `{name}` not found");
            };
            let provider =
                function.create_table_provider_with_args(TableFunctionArgs::new(&args, self.state))?;
            return Ok(provider_as_source(provider));
        }
        let path = match args.as_slice() {
            [Expr::Literal(value, _)] => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        match path.and_then(|path| self.files.get(&(name.to_owned(), path))) {
            Some(source) => Ok(Arc::clone(source)),
            None => plan_err!("table function `{name}` not found"),
        }
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.state.expr_planners()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(crate::pg::type_planner())
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.state.scalar_functions().get(name).cloned()
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.options
    }

    fn udf_names(&self) -> Vec<String> {
        self.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}

/// A series: rows made out of nothing stored.
pub(crate) fn is_series(provider: &dyn datafusion::catalog::TableProvider) -> bool {
    provider.downcast_ref::<datafusion::functions_table::generate_series::GenerateSeriesTable>().is_some()
}
