//! Reading a table: which files, which rows of them, and which of their columns.

pub(crate) mod adapter;
pub(crate) mod deletes;
pub(crate) mod index;
mod nested;
pub(crate) mod numbered;
pub(crate) mod provider;
mod reader;
pub(crate) mod source;
pub(crate) mod statistics;

pub use adapter::FIELD_ID_KEY;
pub use numbered::ROW;
pub use provider::IcebergTableProvider;
pub(crate) use provider::Reads;
pub use source::IcebergSource;
