//! Shows that nothing hidden comes out: random statements over pairs of lakes that differ in hidden things alone, and
//! over an oracle that filters and masks by hand.
#![allow(
    clippy::indexing_slicing,
    reason = "a generator picks from lists that it has made itself, and nothing else uses this crate"
)]

mod about;
mod ask;
mod dice;
mod excluded;
mod findings;
mod install;
mod lake;
mod oracle;
mod reach;
mod shrink;
mod statement;
mod tree;
mod trial;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use futures::StreamExt;

use crate::trial::Budget;

/// How many lakes are looked at at a time.
const LAKES_AT_ONCE: usize = 2;

/// The seed of the first lake, where none is given.
const FIRST_SEED: u64 = 1;

/// How much of what the engine accepts must be reached, in hundredths.
const SHARE_MIN: usize = 95;

/// What is asked of a run.
struct Run {
    seed: u64,
    n_lakes: u64,
    budget: Budget,
    /// One statement to say over one lake, in the place of many.
    says: Option<String>,
    user: String,
    /// Whether a lake with a finding is the last one.
    stops_when_found: bool,
}

/// Statements nest, and the frames of a planner that is not optimized are large.
const STACK_BYTES: usize = 64 << 20;

fn main() -> Result<ExitCode> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().thread_stack_size(STACK_BYTES).build()?.block_on(all())
}

async fn all() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = read(&arguments, std::env::var_os("SLUICE_LONG").is_some())?;
    if let Some(statement) = &run.says {
        println!("{}", trial::say(run.seed, &run.user, statement).await?);
        return Ok(ExitCode::SUCCESS);
    }
    let seeds = run.seed..run.seed + run.n_lakes;
    let mut reports = futures::stream::iter(
        seeds.map(|seed| tokio::spawn(async move { (seed, trial::run(seed, run.budget).await) })),
    )
    .buffered(LAKES_AT_ONCE);
    let (mut tally, mut reach) = (findings::Tally::default(), reach::Reach::default());
    let (mut n_passed, mut n_failed) = (0, 0);
    while let Some(report) = reports.next().await {
        let (seed, report) = report?;
        let report = report.with_context(|| format!("lake {seed}"))?;
        for finding in &report.findings {
            println!("{finding}");
        }
        if report.findings.is_empty() {
            n_passed += 1
        } else {
            n_failed += 1
        }
        tally.add(report.tally);
        reach.add(report.reach);
        if run.stops_when_found && n_failed > 0 {
            break;
        }
    }
    println!("{tally}");
    let (share, missing) = reach.share();
    let (n_reached, n) = reach.n_reached();
    println!("operators: {}", reach.operators.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    println!(
        "reached {n_reached} of {n} plan nodes and expressions ({share} %); missing: {}",
        missing.join(", ")
    );
    if run.n_lakes > 1 {
        if share >= SHARE_MIN { n_passed += 1 } else { n_failed += 1 }
    }
    println!("{n_passed} passed, {n_failed} failed, 0 skipped");
    Ok(if n_failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `--seed N` looks at one lake, `--from N`, `--lakes N` and `--statements N` at more or fewer; `--seed N --as USER
/// --say SQL` says one statement over both lakes of a seed.
fn read(arguments: &[String], is_long: bool) -> Result<Run> {
    let budget = Budget { n_statements: 120, n_shrinks: 200, n_findings_max: 3 };
    let mut run = Run {
        seed: FIRST_SEED,
        n_lakes: if is_long { 200 } else { 6 },
        budget,
        says: None,
        user: lake::READER.to_owned(),
        stops_when_found: false,
    };
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().with_context(|| format!("`{flag}` takes a value"))?;
        if flag == "--say" {
            run.says = Some(value.clone());
            continue;
        }
        if flag == "--as" {
            run.user.clone_from(value);
            continue;
        }
        let value: u64 = value.parse().with_context(|| format!("`{value}` is no number"))?;
        match flag.as_str() {
            "--seed" => (run.seed, run.n_lakes) = (value, 1),
            "--from" => run.seed = value,
            "--lakes" => run.n_lakes = value,
            "--findings" => {
                run.budget.n_findings_max = usize::try_from(value)?;
                run.stops_when_found = true;
            }
            "--statements" => run.budget.n_statements = usize::try_from(value)?,
            _ => bail!("no such flag `{flag}`"),
        }
    }
    Ok(run)
}
