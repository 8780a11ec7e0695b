//! Counts the instructions of a decision under valgrind and holds them to a budget, because counts do not depend on what
//! else the machine does. Without valgrind it says by name that it was skipped.

use std::process::{Command, ExitCode};

/// What one decision may take, from `instructions.budget` beside this file.
const BUDGET: &str = include_str!("instructions.budget");
const NAME: &str = "instructions";

fn main() -> ExitCode {
    if !is_wanted(std::env::args().skip(1)) {
        println!("0 passed, 0 failed, 0 skipped");
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped {NAME}: valgrind is not installed");
        println!("0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    }
    match measured().and_then(|counted| Ok((counted, budget()?))) {
        Ok((counted, budget)) if counted <= budget => {
            println!("{NAME}: {counted} a decision, within the budget of {budget}");
            println!("1 passed, 0 failed, 0 skipped");
            ExitCode::SUCCESS
        }
        Ok((counted, budget)) => {
            println!("{NAME}: {counted} a decision, more than the budget of {budget}");
            println!("0 passed, 1 failed, 0 skipped");
            ExitCode::FAILURE
        }
        Err(why) => {
            println!("{NAME}: {why}");
            println!("0 passed, 1 failed, 0 skipped");
            ExitCode::FAILURE
        }
    }
}

/// Whether the filters of a test run, in the form that cargo hands on, take this test.
fn is_wanted(args: impl Iterator<Item = String>) -> bool {
    let mut filters = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--skip" => {
                if args.next().is_some_and(|skipped| NAME.contains(&skipped)) {
                    return false;
                }
            }
            flag if flag.starts_with('-') => {}
            filter => filters.push(filter.to_owned()),
        }
    }
    filters.is_empty() || filters.iter().any(|filter| NAME.contains(filter.as_str()))
}

fn budget() -> Result<u64, String> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let mut lines = BUDGET.lines().filter_map(|line| line.split_once('='));
    let (_, number) = lines.find(|(name, _)| name.trim() == profile).ok_or("no budget for this profile")?;
    number.trim().parse().map_err(|_| format!("the budget `{number}` is no number"))
}

/// Instructions of all timed decisions over how many there were.
fn measured() -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*ask_counted*"])
        .args([env!("CARGO_BIN_EXE_bench-decide"), "decide", "--count"])
        .output()
        .map_err(|error| format!("valgrind did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let asked = String::from_utf8_lossy(&output.stdout);
    let number = |text: &str| text.trim().replace(',', "").parse::<u64>().ok();
    let collected = said.lines().find_map(|line| number(line.split_once("Collected :")?.1));
    let n_decisions = asked.lines().find_map(|line| number(line.strip_prefix("decisions: ")?));
    match (collected, n_decisions) {
        (Some(collected), Some(n)) if n > 0 && collected > 0 => Ok(collected / n),
        _ => Err(format!("valgrind counted nothing:\n{said}{asked}")),
    }
}
