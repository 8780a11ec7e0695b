//! The stopwatch of the measurements, and what it costs itself.

use std::time::Instant;

/// Counts from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Instant);

impl Watch {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time; nothing depends on it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn nanos(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What one reading of a watch takes, which each timed call carries with it.
pub fn own_nanos() -> u64 {
    let mut all: Vec<u64> = (0..10_000).map(|_| Watch::start().nanos()).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// How long this thread has had a processor for itself, so that other work on the machine does not count.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    before: Option<u64>,
    watch: Watch,
}

impl Busy {
    pub fn start() -> Self {
        Self { before: on_processor_nanos(), watch: Watch::start() }
    }

    /// The time on the wall where the system does not tell better.
    pub fn nanos(self) -> u64 {
        let busy = self.before.zip(on_processor_nanos()).map(|(before, after)| after.saturating_sub(before));
        busy.filter(|nanos| *nanos > 0).unwrap_or_else(|| self.watch.nanos())
    }
}

fn on_processor_nanos() -> Option<u64> {
    // Only when a thread gives way is its time brought up to date.
    std::thread::yield_now();
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
