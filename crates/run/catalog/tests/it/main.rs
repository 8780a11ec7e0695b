//! What the catalog promises, shown on real tables in a temporary folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

mod fixture;

mod codec;
mod columns;
mod deletes;
mod namespaces;
mod pruning;
mod rewrites;
mod types;
mod writes;
