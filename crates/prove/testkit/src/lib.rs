//! A whole engine in a temporary folder, with a session for whoever a test wants to be.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking, and nothing else uses this crate"
)]

mod answer;
mod site;

pub use answer::Answer;
pub use site::{ADMIN, CATALOG, Client, Site};
