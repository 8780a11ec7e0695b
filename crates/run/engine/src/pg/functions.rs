//! The functions that PostgreSQL's clients call on its catalog.

use std::sync::Arc;

use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion_pg_catalog::pg_catalog as library;
use query_api::QueryError;

use crate::error::from_datafusion;

/// Adds the library's functions, without those whose answer would not be true here: privileges are asked with
/// CHECK ACCESS, and sizes would tell of hidden rows.
pub(crate) fn register_functions(state: &mut SessionState) -> Result<(), QueryError> {
    let functions: [ScalarUDF; 12] = [
        library::create_current_schemas_udf(),
        library::create_pg_get_userbyid_udf(),
        library::create_pg_table_is_visible(),
        library::format_type::create_format_type_udf(),
        library::pg_get_expr_udf::create_pg_get_expr_udf(),
        library::create_pg_get_partkeydef_udf(),
        library::create_pg_relation_is_publishable_udf(),
        library::create_pg_get_statisticsobjdef_columns_udf(),
        library::create_pg_encoding_to_char_udf(),
        library::create_pg_get_constraintdef(),
        library::create_pg_get_partition_ancestors_udf(),
        library::quote_ident_udf::create_quote_ident_udf(),
    ];
    for function in functions {
        state.register_udf(Arc::new(function)).map_err(|error| from_datafusion(&error))?;
    }
    Ok(())
}

/// Reads `regclass` and the other names of object numbers.
pub(crate) fn type_planner() -> Arc<dyn TypePlanner> {
    Arc::new(library::oid_type_planner::PgOidTypePlanner)
}
