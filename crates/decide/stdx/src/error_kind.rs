//! The kinds of error a caller can meet, and the code each protocol gives for them.

/// What sort of thing went wrong, as far as the caller is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text does not parse.
    Syntax,
    /// No such table, view or other relation, or one that the caller may not see (L8).
    TableNotFound,
    /// No such schema (namespace), or one that the caller may not see.
    SchemaNotFound,
    /// No such catalog, or one that the caller may not see.
    CatalogNotFound,
    ColumnNotFound,
    /// No such user, role, group, policy or other named thing.
    ObjectNotFound,
    FunctionNotFound,
    TableExists,
    SchemaExists,
    ObjectExists,
    /// No cursor of this name is open in the session.
    CursorNotFound,
    CursorExists,
    /// It makes sense only between BEGIN and COMMIT.
    NoTransaction,
    /// The caller may not do this to a thing she may see.
    Denied,
    /// The name or password is wrong.
    Unauthenticated,
    /// A value, type or statement that cannot be right.
    Invalid,
    TypeMismatch,
    DivisionByZero,
    OutOfRange,
    /// A text that is no value of its type, such as `'abc'` as an integer.
    BadText,
    /// One row or value was expected, and more came.
    Cardinality,
    /// Somebody else changed the same thing first; try again.
    Conflict,
    /// Other things depend on it.
    Dependent,
    /// A part that is needed did not answer (L6).
    Unavailable,
    /// Not offered; see `docs/reference/limits.md`.
    Unsupported,
    /// A named limit was reached.
    Limit,
    Cancelled,
    Internal,
}

impl ErrorKind {
    /// The five characters of PostgreSQL's appendix A.
    pub const fn sqlstate(self) -> &'static str {
        match self {
            Self::Syntax => "42601",
            Self::TableNotFound => "42P01",
            Self::SchemaNotFound => "3F000",
            Self::CatalogNotFound => "3D000",
            Self::ColumnNotFound => "42703",
            Self::ObjectNotFound => "42704",
            Self::FunctionNotFound => "42883",
            Self::TableExists => "42P07",
            Self::SchemaExists => "42P06",
            Self::ObjectExists => "42710",
            Self::CursorNotFound => "34000",
            Self::CursorExists => "42P03",
            Self::NoTransaction => "25P01",
            Self::Denied => "42501",
            Self::Unauthenticated => "28P01",
            Self::Invalid => "22023",
            Self::TypeMismatch => "42804",
            Self::DivisionByZero => "22012",
            Self::OutOfRange => "22003",
            Self::BadText => "22P02",
            Self::Cardinality => "21000",
            Self::Conflict => "40001",
            Self::Dependent => "2BP01",
            Self::Unavailable => "58000",
            Self::Unsupported => "0A000",
            Self::Limit => "54000",
            Self::Cancelled => "57014",
            Self::Internal => "XX000",
        }
    }

    /// The HTTP status code.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::TableNotFound
            | Self::SchemaNotFound
            | Self::CatalogNotFound
            | Self::ColumnNotFound
            | Self::ObjectNotFound
            | Self::FunctionNotFound
            | Self::CursorNotFound => 404,
            Self::TableExists
            | Self::SchemaExists
            | Self::ObjectExists
            | Self::CursorExists
            | Self::NoTransaction
            | Self::Conflict
            | Self::Dependent => 409,
            Self::Denied => 403,
            Self::Unauthenticated => 401,
            Self::Syntax
            | Self::Invalid
            | Self::TypeMismatch
            | Self::DivisionByZero
            | Self::OutOfRange
            | Self::BadText
            | Self::Cardinality => 400,
            Self::Limit => 413,
            Self::Unsupported => 501,
            Self::Unavailable => 503,
            Self::Cancelled => 499,
            Self::Internal => 500,
        }
    }
}
