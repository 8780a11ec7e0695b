//! A policy's expression whose failure tells nothing of the values it failed on.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use enforce::bare_type;
use query_api::QueryError;
use stdx::ErrorKind;

use super::blank::{blanked, titled};

/// What the caller learns when a mask or row filter fails at run time (L6).
#[derive(Debug, thiserror::Error)]
#[error("policy unavailable: a policy or view of a relation in this query could not be evaluated")]
pub(crate) struct PolicyFailed;

/// Evaluates the inner expression, puts [`PolicyFailed`] in the place of any error, and leaves nothing under a NULL.
#[derive(Debug)]
pub(crate) struct Veil {
    inner: Arc<dyn PhysicalExpr>,
}

impl PartialEq for Veil {
    fn eq(&self, other: &Self) -> bool {
        self.inner.as_ref() == other.inner.as_ref()
    }
}

impl Eq for Veil {}

impl Hash for Veil {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl Veil {
    pub(crate) fn over(inner: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        Arc::new(Self { inner })
    }
}

impl fmt::Display for Veil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("policy")
    }
}

/// Its words may hold a stored value or a policy's literal, so that only its kind is kept.
fn failed(error: &DataFusionError) -> DataFusionError {
    tracing::warn!(kind = kind_of(error), "a policy could not be evaluated");
    DataFusionError::External(Box::new(PolicyFailed))
}

/// An error from below filters and masks that are planned as a query is: what comes of evaluating is put out of
/// sight, what comes of reading and of limits is told.
pub(crate) fn veiled(error: DataFusionError) -> DataFusionError {
    match &error {
        // How many rows a policy's own sub-query has is the policy's business.
        DataFusionError::External(inner)
            if inner
                .downcast_ref::<QueryError>()
                .is_some_and(|error| error.kind() == ErrorKind::Cardinality) =>
        {
            failed(&error)
        }
        DataFusionError::ResourcesExhausted(_)
        | DataFusionError::External(_)
        | DataFusionError::IoError(_)
        | DataFusionError::ObjectStore(_) => error,
        _ => failed(&error),
    }
}

/// What sort of failure it was, without a word of it.
fn kind_of(error: &DataFusionError) -> &'static str {
    match error {
        DataFusionError::ArrowError(inner, _) => match inner.as_ref() {
            ArrowError::DivideByZero => "division by zero",
            ArrowError::ArithmeticOverflow(_) => "overflow",
            ArrowError::CastError(_) => "cast",
            ArrowError::ParseError(_) => "parse",
            ArrowError::ComputeError(_) => "compute",
            ArrowError::InvalidArgumentError(_) => "argument",
            _ => "arrow",
        },
        DataFusionError::Execution(_) => "execution",
        DataFusionError::ResourcesExhausted(_) => "memory",
        DataFusionError::NotImplemented(_) => "not implemented",
        DataFusionError::Plan(_) => "plan",
        DataFusionError::Internal(_) => "internal",
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => kind_of(inner),
        DataFusionError::Shared(inner) => kind_of(inner),
        _ => "other",
    }
}

impl PhysicalExpr for Veil {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let value = self.inner.evaluate(batch).and_then(|value| {
            // Functions over nested values forget what a column calls its elements, and a single value cannot keep it.
            let planned = bare_type(&self.inner.data_type(&batch.schema())?);
            match value {
                ColumnarValue::Scalar(scalar) if !planned.is_nested() => Ok(ColumnarValue::Scalar(scalar)),
                value => {
                    let array = blanked(value.into_array(batch.num_rows())?)?;
                    Ok(ColumnarValue::Array(titled(array, &planned)?))
                }
            }
        });
        value.map_err(|error| failed(&error))
    }

    fn return_field(&self, input_schema: &Schema) -> Result<FieldRef> {
        let field = self.inner.return_field(input_schema)?;
        Ok(Arc::new(Field::new(field.name(), bare_type(field.data_type()), field.is_nullable())))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match (children.pop(), children.is_empty()) {
            (Some(inner), true) => Ok(Self::over(inner)),
            _ => internal_err!("a veil has one inner expression"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("policy")
    }
}
