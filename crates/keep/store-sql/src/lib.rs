//! The policy store on SQLite: every edit is one durable transaction, and opening reads everything back.

mod load;
mod rows;
mod schema;
mod store;
mod write;

pub use store::SqlPolicyStore;
