//! Wires the parts of the binary: configuration, server, shell and demo.

pub mod config;
pub mod demo;
pub mod log;
pub mod serve;
pub mod server;
pub mod shell;

pub use config::Config;
pub use server::{Options, Running, Server, ServerError};
