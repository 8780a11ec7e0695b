//! The engine's first security tests: what a user may not see does not show, whatever she writes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

mod attacks;
mod changes;
mod embedded;
mod fail_closed;
mod files;
mod hidden;
mod increments;
mod renames;
mod statements;
mod tags;
mod writes;
