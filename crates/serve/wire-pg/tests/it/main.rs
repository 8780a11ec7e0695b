//! The door as clients see it: real sockets, a real client library, and a scripted engine behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod door;
mod engine;

mod lifecycle;
mod login;
mod parameters;
mod prepared;
mod psql;
mod results;
mod scripts;
