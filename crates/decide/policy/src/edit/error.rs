//! What is wrong with an edit: every fault of it, not only the first.

use std::fmt;

use stdx::ErrorKind;

/// What sort of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The actor may not do this.
    Denied,
    /// A user, role, group or policy that is not there.
    NotFound,
    Exists,
    Invalid,
    Unsupported,
    /// Other things depend on what would go.
    Dependent,
}

/// One fault of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditFault {
    pub kind: FaultKind,
    pub message: String,
    pub hint: Option<String>,
}

/// Why an edit changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct EditError {
    faults: Vec<EditFault>,
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            f.write_str(&fault.message)?;
        }
        Ok(())
    }
}

impl EditError {
    pub fn kind(&self) -> ErrorKind {
        match self.faults.first().map(|f| f.kind) {
            Some(FaultKind::Denied) => ErrorKind::Denied,
            Some(FaultKind::NotFound) => ErrorKind::ObjectNotFound,
            Some(FaultKind::Exists) => ErrorKind::ObjectExists,
            Some(FaultKind::Invalid) => ErrorKind::Invalid,
            Some(FaultKind::Unsupported) => ErrorKind::Unsupported,
            Some(FaultKind::Dependent) => ErrorKind::Dependent,
            None => ErrorKind::Internal,
        }
    }

    pub fn faults(&self) -> &[EditFault] {
        &self.faults
    }

    /// What to do about it, one hint after the other.
    pub fn hint(&self) -> Option<String> {
        let mut hints: Vec<&str> = Vec::new();
        for hint in self.faults.iter().filter_map(|f| f.hint.as_deref()) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        if hints.is_empty() { None } else { Some(hints.join("; ")) }
    }
}

/// Faults as they are found.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<EditFault>);

impl Faults {
    pub(crate) fn add(&mut self, kind: FaultKind, message: impl Into<String>) {
        self.push(EditFault { kind, message: message.into(), hint: None });
    }

    pub(crate) fn add_with_hint(
        &mut self,
        kind: FaultKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(EditFault { kind, message: message.into(), hint: Some(hint.into()) });
    }

    fn push(&mut self, fault: EditFault) {
        if !self.0.contains(&fault) {
            self.0.push(fault);
        }
    }

    pub(crate) fn denied(&mut self, to_do: impl fmt::Display) {
        self.add(FaultKind::Denied, format!("permission denied to {to_do}"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing, or the error. Somebody who may not do it is told only that: the other faults would tell her what is
    /// there and what is not.
    pub(crate) fn into_result(mut self) -> Result<(), EditError> {
        if self.0.iter().any(|f| f.kind == FaultKind::Denied) {
            self.0.retain(|f| f.kind == FaultKind::Denied);
        }
        if self.0.is_empty() { Ok(()) } else { Err(EditError { faults: self.0 }) }
    }
}
