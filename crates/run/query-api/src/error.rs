//! What a caller is told when a statement fails.

use std::fmt;

use stdx::ErrorKind;

/// An error in the caller's voice: nothing in it tells of things the caller may not see (L2, L8).
///
/// What only the log may keep is logged where it happens, under the query id, and never put in here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    position: Option<usize>,
}

impl QueryError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, position: None }
    }

    /// Adds what the caller can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds where in the statement's text it is: a byte offset from its start, counted from 0.
    #[must_use]
    pub fn with_position(mut self, byte_offset: usize) -> Self {
        self.position = Some(byte_offset);
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// A byte offset into the statement's text, counted from 0.
    pub fn position(&self) -> Option<usize> {
        self.position
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for QueryError {}
