//! What is measured: an engine that holds one world and the requests about it.

use std::hint::black_box;

use anyhow::Result;

use crate::measure::timed;

/// What an engine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Undetermined,
    Allowed,
    Denied,
}

impl Answer {
    pub(crate) fn is_allowed(self) -> bool {
        self == Self::Allowed
    }
}

pub(crate) trait Contender {
    fn name(&self) -> &str;

    /// How many requests it has the time to answer in a round; they are the first of all.
    fn n_requests(&self) -> usize;

    /// # Errors
    /// The engine fails.
    fn ask(&mut self, request: usize) -> Result<Answer>;

    /// Whether it tells a denial from nobody's having said anything.
    fn tells_denials(&self) -> bool {
        true
    }

    /// For the one who reads of a difference.
    fn describe(&self, request: usize) -> String {
        format!("number {request}")
    }

    /// # Errors
    /// The engine fails.
    fn ask_all(&mut self) -> Result<()> {
        for request in 0..self.n_requests() {
            black_box(self.ask(request)?);
        }
        Ok(())
    }

    /// # Errors
    /// The engine fails.
    fn ask_timed(&mut self, calls: &mut Vec<u64>) -> Result<()> {
        timed(self.n_requests(), calls, |request| self.ask(request))
    }
}
