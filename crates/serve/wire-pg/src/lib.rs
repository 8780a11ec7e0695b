//! Speaks the Postgres protocol to clients, and knows queries only as `query_api` shows them.

mod answer;
mod auth;
mod backends;
mod connection;
mod encode;
mod frame;
mod limits;
mod parameters;
mod rows;
mod server;
mod startup;
mod wire;

pub use server::{PgConfig, PgDoorError, PgServer, bind};
