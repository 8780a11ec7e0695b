//! How much the audit log holds before it makes its callers wait.

/// Records that may wait for the writer: at a few kilobytes each, some megabytes at the most.
pub const QUEUE_RECORDS_MAX: usize = 1_024;

/// Longer statements are cut in the record, with a mark: a generated `IN` list must not fill the disk.
pub const STATEMENT_BYTES_MAX: usize = 16 * 1_024;

/// How long the writer waits before it tries a failing sink again.
pub(crate) const RETRY_MS: u64 = 200;

/// How long a caller waits before it looks at a full queue again.
pub(crate) const FULL_QUEUE_MS: u64 = 1;
