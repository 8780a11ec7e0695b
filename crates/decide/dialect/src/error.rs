//! What is wrong with a text, and at which byte.

use stdx::ErrorKind;

/// A text that does not parse; the message never holds a literal of the statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    pub message: String,
    /// The byte at which the offending token starts, or the last one ends when more was expected.
    pub position: usize,
    /// What to write instead, where we can tell.
    pub hint: Option<String>,
    kind: ErrorKind,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, position: usize) -> Self {
        Self { message: message.into(), position, hint: None, kind: ErrorKind::Syntax }
    }

    pub(crate) fn limit(message: impl Into<String>, position: usize) -> Self {
        Self { kind: ErrorKind::Limit, ..Self::new(message, position) }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// `Syntax`, or `Limit` for a text that is too long or too deep.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
