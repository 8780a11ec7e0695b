//! Why a plan was refused.

use datafusion_common::DataFusionError;
use stdx::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum EnforceError {
    /// A plan node that the closed list does not know how to govern.
    #[error("{what} is not supported")]
    Ungovernable { what: String },
    /// Something reached a verifier that no verdict covers. The relation stays out of the message (L8).
    #[error("the plan was refused: a relation in it bears no clearance of this query")]
    Uncleared { detail: Refused },
    #[error("a mask does not fit the type of column `{column}`")]
    MaskType { column: String },
    #[error("the plan could not be rewritten")]
    Plan(#[source] Box<DataFusionError>),
}

/// What the log may know of a refused relation; it has no `Display`.
#[derive(Debug, Clone)]
pub struct Refused(pub String);

impl EnforceError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Ungovernable { .. } => ErrorKind::Unsupported,
            Self::MaskType { .. } => ErrorKind::TypeMismatch,
            Self::Uncleared { .. } | Self::Plan(_) => ErrorKind::Internal,
        }
    }
}

impl From<DataFusionError> for EnforceError {
    fn from(error: DataFusionError) -> Self {
        // Errors of our own travel through DataFusion's tree walks boxed; take them out again.
        match error {
            DataFusionError::External(inner) => match inner.downcast::<EnforceError>() {
                Ok(ours) => *ours,
                Err(other) => Self::Plan(Box::new(DataFusionError::External(other))),
            },
            other => Self::Plan(Box::new(other)),
        }
    }
}

impl From<EnforceError> for DataFusionError {
    fn from(error: EnforceError) -> Self {
        Self::External(Box::new(error))
    }
}
