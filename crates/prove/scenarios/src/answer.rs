//! What came of a statement, in texts, whichever door it went through.

/// A statement's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) notices: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Rows {
        columns: Vec<String>,
        rows: Vec<Vec<Option<String>>>,
    },
    /// No rows; how many were written, where that is told.
    Done {
        n_rows: Option<u64>,
    },
    Failed(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) sqlstate: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Counted in characters from 1.
    pub(crate) position: Option<usize>,
}

impl Failure {
    /// Something that no door would say: the runner itself could not do it.
    pub(crate) fn of_runner(message: impl Into<String>) -> Self {
        Self { sqlstate: "-----".to_owned(), message: message.into(), hint: None, position: None }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self { outcome: Outcome::Failed(failure), notices: Vec::new() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error {}", self.sqlstate)?;
        if let Some(position) = self.position {
            write!(f, " at {position}")?;
        }
        write!(f, " {}", self.message)?;
        match &self.hint {
            None => Ok(()),
            Some(hint) => write!(f, " (hint: {hint})"),
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(failure) => failure.fmt(f),
            Self::Done { n_rows: None } => f.write_str("ok"),
            Self::Done { n_rows: Some(n) } => write!(f, "ok, count {n}"),
            Self::Rows { rows, .. } if rows.is_empty() => f.write_str("no rows"),
            Self::Rows { rows, .. } => {
                let lines: Vec<String> = rows.iter().map(|row| told(row)).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

pub(crate) fn told(row: &[Option<String>]) -> String {
    let cell = |value: &Option<String>| match value.as_deref() {
        None => "NULL".to_owned(),
        Some("") => "''".to_owned(),
        Some(text) => text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', "\\n"),
    };
    row.iter().map(cell).collect::<Vec<_>>().join("|")
}
