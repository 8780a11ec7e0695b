//! Parses our governance statements and leaves all other SQL to sqlparser.

pub mod ast;
mod cursor;
mod error;
mod expr;
mod lex;
pub mod limits;
mod parse;
mod redact;
mod split;
mod sql;

pub use error::SyntaxError;
pub use expr::{parse_expression, parse_mask_expression};
pub use parse::parse;
pub use redact::redact;
pub use split::{Piece, split};
pub use sql::SluiceDialect;
