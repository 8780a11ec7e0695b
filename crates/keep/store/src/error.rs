//! What can go wrong when keeping state.

use policy::Fault;
use policy::model::Version;
use stdx::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the policies changed meanwhile: expected version {}, found {}", expected.0, found.0)]
    Stale { expected: Version, found: Version },
    /// The state that the change leads to does not hold together; nothing was kept.
    #[error("the change does not fit: {}", joined(.0))]
    Unfit(Vec<Fault>),
    #[error("the policy store did not answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(
        "the policy store was written by a newer program: its schema is {found}, and this one knows up to {known}"
    )]
    SchemaTooNew { found: i64, known: i64 },
    #[error("the policy store's content does not read back: {0}")]
    Corrupt(String),
}

impl StoreError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Stale { .. } => ErrorKind::Conflict,
            Self::Unfit(_) => ErrorKind::Invalid,
            Self::Unavailable(_) => ErrorKind::Unavailable,
            Self::SchemaTooNew { .. } => ErrorKind::Unsupported,
            Self::Corrupt(_) => ErrorKind::Internal,
        }
    }
}

fn joined(faults: &[Fault]) -> String {
    let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
