//! Holds the policy engine against Ranger's own test data, and against a second evaluator that is slow and obvious.

pub mod answer;
mod corpus;
mod engines;
mod formats;
mod locations;
pub mod obvious;
mod page;
mod question;
mod read;
mod report;
mod run;
mod scene;
pub mod settings;

#[cfg(test)]
mod fuzz;

pub use engines::{answer_of, membership_of};
pub use page::page;
pub use report::{Case, FileReport, Outcome, Sum};
pub use run::{EngineChoice, Options, run};

#[cfg(test)]
mod tests;
