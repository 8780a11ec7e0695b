//! `to_timestamp` and its like with the zone that they promise: DataFusion 54.1 forgets it over a column of texts.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, make_array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use query_api::QueryError;

const FUNCTIONS: [&str; 5] = [
    "to_timestamp",
    "to_timestamp_seconds",
    "to_timestamp_millis",
    "to_timestamp_micros",
    "to_timestamp_nanos",
];

/// Puts the functions in the place of the library's.
pub(crate) fn register(state: &mut SessionState) -> std::result::Result<(), QueryError> {
    for name in FUNCTIONS {
        if let Some(function) = state.scalar_functions().get(name).cloned() {
            crate::engine::register(state, Arc::new(ScalarUDF::from(Zoned { inner: function })))?;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Zoned {
    inner: Arc<ScalarUDF>,
}

impl ScalarUDFImpl for Zoned {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let inner = self.inner.inner().with_updated_config(config)?;
        Some(ScalarUDF::from(Self { inner: Arc::new(inner) }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let promised = args.return_field.data_type().clone();
        match self.inner.inner().invoke_with_args(args)? {
            ColumnarValue::Array(array) => with_zone(&array, promised).map(ColumnarValue::Array),
            scalar @ ColumnarValue::Scalar(_) => Ok(scalar),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// The same moments, in the zone of the promised type.
fn with_zone(array: &ArrayRef, promised: DataType) -> Result<ArrayRef> {
    match (array.data_type(), &promised) {
        (DataType::Timestamp(unit, None), DataType::Timestamp(wanted, Some(_))) if unit == wanted => {
            Ok(make_array(array.to_data().into_builder().data_type(promised).build()?))
        }
        _ => Ok(Arc::clone(array)),
    }
}
