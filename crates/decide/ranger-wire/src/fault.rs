//! What is wrong with a JSON document, with the place of each fault in it.

use std::fmt;

use stdx::ErrorKind;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireFault {
    /// Such as `policyItems[2].accesses`; empty for the document itself.
    pub path: String,
    pub problem: String,
}

impl fmt::Display for WireFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "`{}`: {}", self.path, self.problem)
        }
    }
}

/// Every fault that was found in one document; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Joined(.faults))]
pub struct WireError {
    faults: Vec<WireFault>,
}

impl WireError {
    pub fn faults(&self) -> &[WireFault] {
        &self.faults
    }

    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }

    pub(crate) fn one(problem: impl Into<String>) -> Self {
        Self { faults: vec![WireFault { path: String::new(), problem: problem.into() }] }
    }
}

struct Joined<'a>(&'a [WireFault]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, fault) in self.0.iter().enumerate() {
            if idx > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

/// A place in a document, told from the root.
pub(crate) enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Element(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Path::Root, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Element(parent, idx) => write!(f, "{parent}[{idx}]"),
        }
    }
}

/// Collects faults, so that all of a document's are reported together.
#[derive(Default)]
pub(crate) struct Faults(Vec<WireFault>);

impl Faults {
    pub(crate) fn add(&mut self, at: &Path<'_>, problem: impl Into<String>) {
        self.0.push(WireFault { path: at.to_string(), problem: problem.into() });
    }

    pub(crate) fn into_list(self) -> Vec<WireFault> {
        self.0
    }

    /// `value`, unless something was found wrong with it.
    pub(crate) fn unless_any<T>(self, value: T) -> Result<T, WireError> {
        if self.0.is_empty() { Ok(value) } else { Err(WireError { faults: self.0 }) }
    }
}
