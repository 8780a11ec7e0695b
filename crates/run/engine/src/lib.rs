//! Turns a session and a SQL text into a governed, running query.

mod asking;
mod auditing;
mod bind;
mod clauses;
mod ddl;
mod dml;
mod engine;
mod error;
mod explain;
mod files;
mod governance;
mod metadata;
mod names;
mod past;
mod pg;
mod plannable;
mod policy_expr;
mod prepared;
mod provider;
mod query;
mod resolve;
mod restricted;
mod running;
mod scan;
mod session;
mod session_statements;
mod settings;
mod show;
mod statement;
mod times;
mod titles;
mod types;
mod visible;

pub use engine::{Engine, EngineParts, EngineSettings, MakeVerifier, RestrictedColumns};
