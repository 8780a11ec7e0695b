//! What the client is told when something fails or is worth a notice, in PostgreSQL's fields.

use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::response::{ErrorResponse, NoticeResponse};
use query_api::QueryError;
use stdx::ErrorKind;

/// Codes of PostgreSQL's appendix A that belong to the protocol and not to a statement.
pub(crate) mod code {
    pub(crate) const PROTOCOL_VIOLATION: &str = "08P01";
    pub(crate) const UNDEFINED_STATEMENT: &str = "26000";
    pub(crate) const INVALID_AUTHORIZATION: &str = "28000";
    pub(crate) const UNDEFINED_CURSOR: &str = "34000";
    pub(crate) const DUPLICATE_CURSOR: &str = "42P03";
    pub(crate) const DUPLICATE_STATEMENT: &str = "42P05";
    pub(crate) const TOO_MANY_CONNECTIONS: &str = "53300";
    pub(crate) const NOT_IN_PREREQUISITE_STATE: &str = "55000";
    pub(crate) const ADMIN_SHUTDOWN: &str = "57P01";
    pub(crate) const SUCCESS: &str = "00000";
    pub(crate) const WARNING: &str = "01000";
}

/// An error as the client will read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Counted in characters from 1, as the protocol wants it.
    pub(crate) position: Option<usize>,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, position: None }
    }

    pub(crate) fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::new(kind.sqlstate(), message)
    }

    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::new(code::PROTOCOL_VIOLATION, message)
    }

    /// What every panic and every broken promise of ours reads like outside.
    pub(crate) fn internal() -> Self {
        Self::of(ErrorKind::Internal, "internal error")
    }

    pub(crate) fn cancelled() -> Self {
        Self::of(ErrorKind::Cancelled, "canceling statement due to user request")
    }

    /// The error of a statement that stands `offset` bytes into `script`, the text the client sent.
    pub(crate) fn in_script(error: &QueryError, script: &str, offset: usize) -> Self {
        let position = error.position().and_then(|at| character_position(script, offset.checked_add(at)?));
        Self {
            code: error.kind().sqlstate(),
            message: error.message().to_owned(),
            hint: error.hint().map(str::to_owned),
            position,
        }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    /// Ends the statement and leaves the connection usable.
    pub(crate) fn error(self) -> PgWireBackendMessage {
        self.with_severity("ERROR")
    }

    /// The last message before the connection closes.
    pub(crate) fn fatal(self) -> PgWireBackendMessage {
        self.with_severity("FATAL")
    }

    fn with_severity(self, severity: &str) -> PgWireBackendMessage {
        let mut fields = vec![
            (b'S', severity.to_owned()),
            (b'V', severity.to_owned()),
            (b'C', self.code.to_owned()),
            (b'M', without_nul(self.message)),
        ];
        if let Some(hint) = self.hint {
            fields.push((b'H', without_nul(hint)));
        }
        if let Some(position) = self.position {
            fields.push((b'P', position.to_string()));
        }
        PgWireBackendMessage::ErrorResponse(ErrorResponse::new(fields))
    }
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        Self {
            code: error.kind().sqlstate(),
            message: error.message().to_owned(),
            hint: error.hint().map(str::to_owned),
            position: None,
        }
    }
}

pub(crate) fn notice(text: String) -> PgWireBackendMessage {
    notice_of("NOTICE", code::SUCCESS, text)
}

pub(crate) fn warning(text: String) -> PgWireBackendMessage {
    notice_of("WARNING", code::WARNING, text)
}

fn notice_of(severity: &str, code: &str, text: String) -> PgWireBackendMessage {
    PgWireBackendMessage::NoticeResponse(NoticeResponse::new(vec![
        (b'S', severity.to_owned()),
        (b'V', severity.to_owned()),
        (b'C', code.to_owned()),
        (b'M', without_nul(text)),
    ]))
}

/// A NUL would end the field early and let the rest of a text pose as fields of its own.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// The position of a byte, counted in characters from 1; the start of the character that the byte is part of.
fn character_position(script: &str, byte_offset: usize) -> Option<usize> {
    if byte_offset > script.len() {
        return None;
    }
    Some(script.char_indices().take_while(|(at, c)| at + c.len_utf8() <= byte_offset).count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_characters_of_the_whole_script() {
        let script = "SELECT 'ä€😀'; SELECT x";
        let offset = script.rfind("SELECT").unwrap();
        let error = QueryError::new(ErrorKind::ColumnNotFound, "no such column `x`").with_position(7);
        assert_eq!(Refusal::in_script(&error, script, offset).position, Some(22));
    }

    #[test]
    fn position_beyond_the_text_is_left_out() {
        let error = QueryError::new(ErrorKind::Syntax, "unexpected end").with_position(99);
        assert_eq!(Refusal::in_script(&error, "SELECT", 0).position, None);
        let error = QueryError::new(ErrorKind::Syntax, "unexpected end").with_position(6);
        assert_eq!(Refusal::in_script(&error, "SELECT", 0).position, Some(7));
    }
}
