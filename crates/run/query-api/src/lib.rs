//! The one door between the wire protocols and the engine: sessions, statements, results and errors, in Arrow terms.

mod error;
mod session;

pub use error::QueryError;
pub use session::{
    Description, Door, Outcome, QueryService, QuerySession, RequestContext, Rows, StatementText,
    TransactionState,
};
