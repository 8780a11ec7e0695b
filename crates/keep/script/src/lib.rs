//! Runs the scripts of conditions and the expressions of policies, in JavaScript and within limits.

mod calls;
mod data;
mod engine;
mod fast;
mod json;
pub mod limits;
mod owned;
mod source;

pub use engine::JavaScript;

#[cfg(test)]
mod tests;
