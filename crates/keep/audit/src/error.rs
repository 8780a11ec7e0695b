//! What can go wrong when keeping records.

use std::path::PathBuf;

use stdx::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the audit file `{}` cannot be opened", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    #[error("the audit writer cannot be started")]
    Start(#[source] std::io::Error),
    /// A sink does not take records; what was handed over is tried again until it does.
    #[error("the audit log cannot be written")]
    Unavailable,
}

impl AuditError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Open { .. } | Self::Start(_) | Self::Unavailable => ErrorKind::Unavailable,
        }
    }
}
