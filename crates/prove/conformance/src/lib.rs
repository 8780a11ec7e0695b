//! Holds the policy engine against Ranger's own test data, and against a second evaluator that is slow and obvious.

mod corpus;
mod formats;
mod report;
mod run;

pub use report::{Case, FileReport, Outcome, Sum};
pub use run::{EngineChoice, Options, run};
