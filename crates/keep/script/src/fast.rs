//! Runs the small scripts that most conditions are without an engine.
//!
//! What it takes is a part of JavaScript in which every step is certain. At compile time anything else, and at run time
//! any step of which it is not certain, is left to the engine, so that both always say the same.

mod lex;
mod parse;
mod run;
mod value;

pub(crate) use parse::{Program, parse};
pub(crate) use run::run;

/// The step is the engine's to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leave;

#[cfg(test)]
mod tests;
