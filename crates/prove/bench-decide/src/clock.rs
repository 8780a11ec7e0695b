//! The stopwatch of the measurements, and what it costs itself.

use std::time::{Duration, Instant};

/// Counts from when it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch(Instant);

impl Watch {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time; nothing depends on it")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    pub(crate) fn nanos(self) -> u64 {
        u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What one reading of a watch takes, which each timed call carries with it.
pub(crate) fn own_nanos() -> u64 {
    let mut all: Vec<u64> = (0..10_000).map(|_| Watch::start().nanos()).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
