//! What can go wrong in a catalog, told without the places where files lie.

use std::error::Error;

use datafusion::error::DataFusionError;
use stdx::ErrorKind;

/// An error of this crate; its text holds names only, and what the log may keep hangs below it as the source.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("no such schema `{0}`")]
    NoSuchNamespace(String),
    #[error("schema `{0}` already exists")]
    NamespaceExists(String),
    #[error("schema `{0}` is not empty")]
    NamespaceNotEmpty(String),
    #[error("no such table `{0}`")]
    NoSuchTable(String),
    #[error("table `{0}` already exists")]
    TableExists(String),
    #[error("no such view `{0}`")]
    NoSuchView(String),
    #[error("the tags of the table's columns cannot be read")]
    UnreadableTags,
    #[error("view `{0}` already exists")]
    ViewExists(String),
    #[error("`{name}` differs from the existing `{existing}` by case alone")]
    CaseOnly { name: String, existing: String },
    /// The same of a table, view or namespace, which not everybody may know of.
    #[error("`{name}` differs from the existing `{existing}` by case alone")]
    CaseTwin { name: String, existing: String },
    #[error("`{name}` cannot be a name: {why}")]
    BadName { name: String, why: &'static str },
    #[error("no such column `{column}` in table `{table}`")]
    NoSuchColumn { table: String, column: String },
    #[error("column `{column}` of table `{table}` already exists")]
    ColumnExists { table: String, column: String },
    #[error("column `{column}` of table `{table}` {why}")]
    ColumnInUse { table: String, column: String, why: &'static str },
    #[error("table `{table}` has no {version}")]
    NoSuchVersion { table: String, version: String },
    #[error("table `{table}` has a branch or tag `{name}` already")]
    RefExists { table: String, name: String },
    #[error("column `{column}` of table `{table}` does not take null")]
    NullInRequired { table: String, column: String },
    #[error("the rows do not fit table `{table}`: it has {expected} columns, they have {found}")]
    ColumnCount { table: String, expected: usize, found: usize },
    #[error("column `{column}` of table `{table}` cannot take the values: {why}")]
    Uncastable { table: String, column: String, why: String },
    #[error("table `{0}` was changed by somebody else meanwhile")]
    Conflict(String),
    #[error("{0}")]
    Unsupported(String),
    #[error("more than {limit} {what}")]
    Limit { what: &'static str, limit: usize },
    /// The rows to write could not be computed; the source is the query's own error, for the caller.
    #[error("the rows to write could not be computed")]
    Input(#[source] Box<DataFusionError>),
    /// A file or the catalog's database did not do what it should; the source may name paths and is for the log.
    #[error("could not {doing}")]
    Storage {
        doing: &'static str,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CatalogError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchNamespace(_) => ErrorKind::SchemaNotFound,
            Self::UnreadableTags => ErrorKind::Unavailable,
            Self::NamespaceExists(_) => ErrorKind::SchemaExists,
            Self::NamespaceNotEmpty(_) | Self::ColumnInUse { .. } => ErrorKind::Dependent,
            Self::NoSuchTable(_) | Self::NoSuchView(_) => ErrorKind::TableNotFound,
            Self::TableExists(_) | Self::ViewExists(_) => ErrorKind::TableExists,
            Self::CaseOnly { .. }
            | Self::CaseTwin { .. }
            | Self::ColumnExists { .. }
            | Self::RefExists { .. } => ErrorKind::ObjectExists,
            Self::NoSuchVersion { .. } => ErrorKind::ObjectNotFound,
            Self::BadName { .. } | Self::NullInRequired { .. } | Self::ColumnCount { .. } => {
                ErrorKind::Invalid
            }
            Self::NoSuchColumn { .. } => ErrorKind::ColumnNotFound,
            Self::Uncastable { .. } => ErrorKind::TypeMismatch,
            Self::Conflict(_) => ErrorKind::Conflict,
            Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::Limit { .. } => ErrorKind::Limit,
            Self::Input(_) => ErrorKind::Invalid,
            Self::Storage { .. } => ErrorKind::Unavailable,
        }
    }

    pub(crate) fn storage(doing: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Storage { doing, source: source.into() }
    }
}

impl From<CatalogError> for DataFusionError {
    fn from(error: CatalogError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

pub(crate) type Result<T, E = CatalogError> = std::result::Result<T, E>;

/// Turns an outside error into [`CatalogError::Storage`], saying what was being done.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, doing: &'static str) -> Result<T> {
        self.map_err(|e| CatalogError::storage(doing, e))
    }
}
