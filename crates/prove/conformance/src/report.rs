//! What was found of each case, and how it is shown.

use std::fmt;
use std::ops::AddAssign;

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// What differs, a line each.
    Failed(Vec<String>),
    /// Why it was not run.
    Skipped(String),
}

impl Outcome {
    /// Passed where no line tells a difference.
    pub(crate) fn of(lines: Vec<String>) -> Self {
        if lines.is_empty() { Self::Passed } else { Self::Failed(lines) }
    }
}

/// One case of a file: its place, counted from 1, and the name it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub number: usize,
    pub name: String,
    pub outcome: Outcome,
}

/// Everything that was found of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Below the data's folder.
    pub path: String,
    pub cases: Vec<Case>,
}

impl FileReport {
    pub fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for case in &self.cases {
            match case.outcome {
                Outcome::Passed => sum.n_passed += 1,
                Outcome::Failed(_) => sum.n_failed += 1,
                Outcome::Skipped(_) => sum.n_skipped += 1,
            }
        }
        sum
    }

    /// A line for the file, one for each skip and failure and, where asked for, all that differs.
    pub(crate) fn print(&self, is_verbose: bool) {
        let Sum { n_passed, n_failed, n_skipped } = self.sum();
        println!("{:<76} {n_passed:>4}/{n_failed}/{}", self.path, self.cases.len());
        for case in &self.cases {
            let Case { number, name, outcome } = case;
            match outcome {
                Outcome::Passed => {}
                Outcome::Skipped(why) => println!("skipped {}#{number}: {why}", self.path),
                Outcome::Failed(lines) if is_verbose => {
                    println!("  FAILED {}#{number} {name}", self.path);
                    lines.iter().for_each(|line| println!("    {line}"));
                }
                Outcome::Failed(lines) => {
                    let first = lines.first().map_or("", String::as_str);
                    println!("  FAILED {}#{number} {name}: {first}", self.path);
                }
            }
        }
        debug_assert_eq!(n_passed + n_failed + n_skipped, self.cases.len() as u64, "every case counts once");
    }
}

/// How many cases passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub n_passed: u64,
    pub n_failed: u64,
    pub n_skipped: u64,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.n_passed += other.n_passed;
        self.n_failed += other.n_failed;
        self.n_skipped += other.n_skipped;
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.n_passed, self.n_failed, self.n_skipped)
    }
}
