//! Runs a test runner, shows what it writes as it comes, and counts the results in it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::tally::{self, Line, Tally};

/// How a runner's success is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// The runner counts its own tests; a run that counted none has failed.
    ByLines,
    /// The run as a whole is one test.
    ByExit,
}

/// What a runner did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    /// The tests that it left out, by name.
    pub(crate) skipped: Vec<String>,
}

impl Report {
    pub(crate) fn of(is_good: bool) -> Self {
        let tally = if is_good { Tally::success() } else { Tally::failure() };
        Self { tally, skipped: Vec::new() }
    }
}

/// `cargo` as it runs this very command, in the workspace's folder.
pub(crate) fn cargo<S: AsRef<OsStr>>(root: &Path, args: impl IntoIterator<Item = S>) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    command
}

/// Runs to the end and counts. A runner that cannot be started is an error, not a skip.
pub(crate) fn count(mut command: Command, counting: Counting) -> Result<Report> {
    let shown = show(&command);
    println!("$ {shown}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{shown}` did not start"))?;
    let stdout = child.stdout.take().context("the runner has no standard output")?;
    let mut report = pass_through(BufReader::new(stdout), &mut std::io::stdout().lock())?;
    let status = child.wait().with_context(|| format!("`{shown}` was lost"))?;
    Ok(judge(&mut report, status.success(), counting, &shown))
}

/// Brings the exit status and the counted lines together; where they disagree the run has failed.
fn judge(report: &mut Report, is_success: bool, counting: Counting, shown: &str) -> Report {
    let mut report = std::mem::take(report);
    match counting {
        Counting::ByExit => report.tally = Report::of(is_success).tally,
        Counting::ByLines if !is_success && report.tally.n_failed == 0 => {
            eprintln!("error: `{shown}` failed without naming a failed test");
            report.tally.n_failed += 1;
        }
        Counting::ByLines if is_success && report.tally.n_passed + report.tally.n_skipped == 0 => {
            eprintln!("error: `{shown}` ran no test");
            report.tally.n_failed += 1;
        }
        Counting::ByLines => {}
    }
    report
}

/// Copies what the runner writes, all but the closing lines, and counts as it goes.
fn pass_through(mut from: impl BufRead, to: &mut impl Write) -> Result<Report> {
    let mut report = Report::default();
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes)? > 0 {
        let line = String::from_utf8_lossy(&bytes);
        match tally::read(&line) {
            Line::Closing(tally) => report.tally += tally,
            Line::Binary(tally) => {
                report.tally += tally;
                to.write_all(&bytes)?;
            }
            Line::Skipped(name) => {
                report.skipped.push(name.to_owned());
                to.write_all(&bytes)?;
            }
            Line::Other => to.write_all(&bytes)?,
        }
        to.flush()?;
        bytes.clear();
    }
    Ok(report)
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, is_success: bool, counting: Counting) -> Tally {
        let mut report = pass_through(output.as_bytes(), &mut Vec::new()).unwrap();
        judge(&mut report, is_success, counting, "runner").tally
    }

    const GOOD: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";

    #[test]
    fn results_of_several_binaries_are_summed() {
        assert_eq!(check(&GOOD.repeat(2), true, Counting::ByLines).n_passed, 6);
    }

    #[test]
    fn an_inner_closing_line_is_counted_and_not_shown() {
        let mut shown = Vec::new();
        let report = pass_through(&b"one\n2 passed, 0 failed, 0 skipped\n"[..], &mut shown).unwrap();
        assert_eq!(report.tally.n_passed, 2);
        assert_eq!(shown, b"one\n");
    }

    #[test]
    fn a_build_that_fails_after_good_results_is_a_failure() {
        assert_eq!(check(GOOD, false, Counting::ByLines).n_failed, 1);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_a_failure() {
        assert_eq!(check("", true, Counting::ByLines).n_failed, 1);
    }

    #[test]
    fn a_run_that_is_one_test_counts_by_its_exit() {
        assert_eq!(check(GOOD, true, Counting::ByExit), Tally::success());
        assert_eq!(check(GOOD, false, Counting::ByExit), Tally::failure());
    }
}
