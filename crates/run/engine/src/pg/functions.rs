//! The functions that PostgreSQL's clients call on its catalog.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion_pg_catalog::pg_catalog as library;
use query_api::QueryError;

use crate::error::from_datafusion;

/// Adds the library's functions, without those whose answer would not be true here: privileges are asked with
/// CHECK ACCESS, and sizes would tell of hidden rows.
pub(crate) fn register_functions(state: &mut SessionState) -> Result<(), QueryError> {
    let functions: [ScalarUDF; 10] = [
        library::create_current_schemas_udf(),
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
    state.register_udf(Arc::new(ScalarUDF::from(Version::new()))).map_err(|error| from_datafusion(&error))?;
    let constants = CONSTANTS.iter().map(|(name, constant)| ScalarUDF::from(Always::new(name, *constant)));
    for function in functions.into_iter().chain(constants) {
        state.register_udf(Arc::new(function)).map_err(|error| from_datafusion(&error))?;
    }
    Ok(())
}

/// What a function says whatever it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Constant {
    /// There is no such text: nothing bears a comment, an index or a rule, and who made an object is not told here.
    NoText,
    /// There is no such number: a size would tell of hidden rows.
    NoNumber,
}

const CONSTANTS: [(&str, Constant); 14] = [
    ("pg_get_userbyid", Constant::NoText),
    ("obj_description", Constant::NoText),
    ("col_description", Constant::NoText),
    ("shobj_description", Constant::NoText),
    ("pg_get_function_result", Constant::NoText),
    ("pg_get_function_arguments", Constant::NoText),
    ("pg_get_function_identity_arguments", Constant::NoText),
    ("pg_get_indexdef", Constant::NoText),
    ("pg_get_ruledef", Constant::NoText),
    ("pg_get_viewdef", Constant::NoText),
    ("pg_tablespace_location", Constant::NoText),
    ("pg_size_pretty", Constant::NoText),
    ("pg_table_size", Constant::NoNumber),
    ("pg_database_size", Constant::NoNumber),
];

/// A function with one answer.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Always {
    name: &'static str,
    constant: Constant,
    signature: Signature,
}

impl Always {
    fn new(name: &'static str, constant: Constant) -> Self {
        Self { name, constant, signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Always {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(match self.constant {
            Constant::NoText => DataType::Utf8,
            Constant::NoNumber => DataType::Int64,
        })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        Ok(ColumnarValue::Scalar(match self.constant {
            Constant::NoText => ScalarValue::Utf8(None),
            Constant::NoNumber => ScalarValue::Int64(None),
        }))
    }
}

/// `version()` in the form that PostgreSQL's clients take apart.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Version {
    signature: Signature,
}

impl Version {
    fn new() -> Self {
        Self { signature: Signature::nullary(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Version {
    fn name(&self) -> &'static str {
        "version"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let text =
            format!("PostgreSQL {} (Sluice {})", crate::settings::SERVER_VERSION, env!("CARGO_PKG_VERSION"));
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(text))))
    }
}

/// Reads `regclass` and the other names of object numbers.
pub(crate) fn type_planner() -> Arc<dyn TypePlanner> {
    Arc::new(library::oid_type_planner::PgOidTypePlanner)
}
