//! Runs the scenario files in `cases/`: each through every door, and every door must give the same answers.

mod answer;
mod check;
mod door;
mod file;
mod play;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use futures::StreamExt;

use crate::answer::Failure;
use crate::file::{Kind, Scenario};
use crate::play::Played;

/// How many servers run at once.
const SERVERS_MAX: usize = 4;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filter = match arguments.as_slice() {
        [] => "",
        [filter] => filter.as_str(),
        _ => anyhow::bail!("one filter is taken, not {}", arguments.len()),
    };
    // Asked when it runs: folders of artifacts are shared between checkouts.
    let own = std::env::var_os("CARGO_MANIFEST_DIR");
    let own = own.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let cases = own.join("cases");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&cases).with_context(|| format!("`{}` cannot be read", cases.display()))? {
        let path = entry?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "scn") && stem.contains(filter) {
            files.push((stem, path));
        }
    }
    files.sort();
    let mut reports =
        futures::stream::iter(files.into_iter().map(|(stem, path)| report(stem, path))).buffered(SERVERS_MAX);
    let mut sum = Report::default();
    while let Some(report) = reports.next().await {
        for line in &report.lines {
            println!("{line}");
        }
        sum.n_passed += report.n_passed;
        sum.n_failed += report.n_failed;
        sum.n_skipped += report.n_skipped;
        sum.n_statements += report.n_statements;
        sum.n_not_yet += report.n_not_yet;
    }
    println!(
        "{} statements said; {} of the files' statements are not offered yet, and were refused",
        sum.n_statements, sum.n_not_yet
    );
    println!("{} passed, {} failed, {} skipped", sum.n_passed, sum.n_failed, sum.n_skipped);
    Ok(if sum.n_failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a file's run is told by; a file counts once for every door.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    n_passed: usize,
    n_failed: usize,
    n_skipped: usize,
    n_statements: usize,
    n_not_yet: usize,
}

async fn report(stem: String, path: PathBuf) -> Report {
    let mut report = Report::default();
    let scenario = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| file::parse(&text).map_err(|error| error.to_string()));
    let scenario = match scenario {
        Ok(scenario) => scenario,
        Err(error) => {
            report.n_failed += 1;
            report.lines.push(format!("FAILED {stem}: {}: {error}", path.display()));
            return report;
        }
    };
    if let Some(reason) = &scenario.skip {
        report.n_skipped += 1;
        report.lines.push(format!("skipped {stem}: {reason}"));
        return report;
    }
    let mut first: Option<(&'static str, Played)> = None;
    for door in &scenario.doors {
        let mut played = match play::play(&scenario, *door).await {
            Ok(played) => played,
            Err(error) => {
                report.n_failed += 1;
                report.lines.push(format!("FAILED {stem} at door {}: {error:#}", door.name()));
                continue;
            }
        };
        if let Some((name, first)) = &first {
            played.faults.extend(differences(&scenario, name, first, &played));
        }
        report.n_statements += played.n_statements;
        match played.faults.is_empty() {
            true => report.n_passed += 1,
            false => {
                report.n_failed += 1;
                report.lines.push(format!("FAILED {stem} at door {}", door.name()));
            }
        }
        for (line, wrong) in &played.faults {
            report.lines.push(format!("  {}:{line}: {}", path.display(), wrong.replace('\n', "\n      ")));
        }
        first.get_or_insert((door.name(), played));
    }
    conclude(&mut report, &stem, &scenario);
    report
}

fn conclude(report: &mut Report, stem: &str, scenario: &Scenario) {
    for step in &scenario.steps {
        if let Kind::NotYet(reason) = &step.expected.kind {
            report.n_not_yet += 1;
            report.lines.push(format!("not yet {stem}:{}: {reason}", step.line));
        }
    }
    if report.n_failed == 0 {
        let laws = scenario.laws.join(", ");
        report.lines.push(format!("ok {stem} ({laws}): {}", scenario.name));
    }
}

/// The same step must meet the same error at every door, to the letter.
///
/// What is not offered yet may be refused by whoever meets it first, so that only the code must be the same.
fn differences(
    scenario: &Scenario,
    first_name: &str,
    first: &Played,
    played: &Played,
) -> Vec<(usize, String)> {
    let told =
        |failure: &Option<Failure>| failure.as_ref().map_or("no error".to_owned(), ToString::to_string);
    let code = |failure: &Option<Failure>| failure.as_ref().map(|failure| failure.sqlstate.clone());
    let mut differences = Vec::new();
    for ((step, first), here) in scenario.steps.iter().zip(&first.errors).zip(&played.errors) {
        let is_same = match step.expected.kind {
            Kind::NotYet(_) => code(first) == code(here),
            _ => first == here,
        };
        if !is_same {
            let wrong = format!("the doors disagree\n{first_name}: {}\nhere: {}", told(first), told(here));
            differences.push((step.line, wrong));
        }
    }
    differences
}
