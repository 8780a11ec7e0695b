//! Writes one record per decision to the configured sinks, and never one literal of a statement.

mod error;
mod limits;
mod log;
mod record;
mod redact;
mod sink;

pub use error::AuditError;
pub use limits::{QUEUE_RECORDS_MAX, STATEMENT_BYTES_MAX};
pub use log::AuditLog;
pub use record::{AppliedFilter, AuditRecord, AuditResult, MaskedColumn};
pub use redact::Redacted;
pub use sink::{AuditSink, FileSink, MemorySink};
