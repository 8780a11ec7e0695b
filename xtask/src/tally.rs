//! Counts what test runners report: cargo's `test result:` lines, and our own closing lines.

use std::fmt;
use std::ops::AddAssign;

/// How many tests passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) n_passed: u64,
    pub(crate) n_failed: u64,
    pub(crate) n_skipped: u64,
}

impl Tally {
    pub(crate) const fn success() -> Self {
        Self { n_passed: 1, n_failed: 0, n_skipped: 0 }
    }

    pub(crate) const fn failure() -> Self {
        Self { n_passed: 0, n_failed: 1, n_skipped: 0 }
    }

    /// A run in which nothing passed has shown nothing, and is no good run.
    pub(crate) fn is_good(self) -> bool {
        self.n_failed == 0 && self.n_passed > 0
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.n_passed += other.n_passed;
        self.n_failed += other.n_failed;
        self.n_skipped += other.n_skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.n_passed, self.n_failed, self.n_skipped)
    }
}

/// What a line of a runner's output says about its tests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Cargo's result of one test binary.
    Binary(Tally),
    /// A closing line in our own form; it is summed and not shown, so that only one stands at the end.
    Closing(Tally),
    /// A test that was left out, by name.
    Skipped(&'a str),
    Other,
}

pub(crate) fn read(line: &str) -> Line<'_> {
    let line = line.trim();
    if let Some(tally) = line.strip_prefix("test result: ").and_then(read_binary) {
        return Line::Binary(tally);
    }
    if let Some(tally) = read_closing(line) {
        return Line::Closing(tally);
    }
    match read_skipped(line) {
        Some(name) => Line::Skipped(name),
        None => Line::Other,
    }
}

/// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
fn read_binary(rest: &str) -> Option<Tally> {
    let (_, counts) = rest.split_once(". ")?;
    let mut parts = counts.split("; ");
    Some(Tally {
        n_passed: count(parts.next()?, "passed")?,
        n_failed: count(parts.next()?, "failed")?,
        n_skipped: count(parts.next()?, "ignored")?,
    })
}

/// `3 passed, 0 failed, 1 skipped`.
fn read_closing(line: &str) -> Option<Tally> {
    let mut parts = line.split(", ");
    let tally = Tally {
        n_passed: count(parts.next()?, "passed")?,
        n_failed: count(parts.next()?, "failed")?,
        n_skipped: count(parts.next()?, "skipped")?,
    };
    parts.next().is_none().then_some(tally)
}

fn count(text: &str, word: &str) -> Option<u64> {
    text.strip_suffix(word)?.strip_suffix(' ')?.parse().ok()
}

/// Cargo's `test NAME ... ignored` and our runners' `skipped NAME: reason`.
fn read_skipped(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("test ") {
        let (name, verdict) = rest.split_once(" ... ")?;
        return verdict.starts_with("ignored").then_some(name);
    }
    let (name, _) = line.strip_prefix("skipped ")?.split_once(": ")?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(n_passed: u64, n_failed: u64, n_skipped: u64) -> Tally {
        Tally { n_passed, n_failed, n_skipped }
    }

    #[test]
    fn cargo_results_are_counted() {
        let line = "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 9 filtered out; finished in 0.00s";
        assert_eq!(read(line), Line::Binary(tally(3, 2, 1)));
    }

    #[test]
    fn our_closing_line_reads_back_as_written() {
        assert_eq!(read(&tally(12, 0, 4).to_string()), Line::Closing(tally(12, 0, 4)));
    }

    #[test]
    fn prose_about_counts_is_no_result() {
        for line in [
            "3 passed",
            "3 passed, 1 failed",
            "we saw 3 passed, 0 failed, 0 skipped",
            "3 passed, 0 failed, 0 skipped, ok",
        ] {
            assert_eq!(read(line), Line::Other, "{line}");
        }
    }

    #[test]
    fn skips_are_named() {
        assert_eq!(read("test attacks::o7 ... ignored, no peer"), Line::Skipped("attacks::o7"));
        assert_eq!(read("skipped o7: functions are not there yet"), Line::Skipped("o7"));
        assert_eq!(read("test attacks::o7 ... ok"), Line::Other);
    }

    #[test]
    fn a_run_that_showed_nothing_is_not_good() {
        assert!(!tally(0, 0, 3).is_good());
        assert!(!tally(3, 1, 0).is_good());
        assert!(tally(1, 0, 0).is_good());
    }
}
