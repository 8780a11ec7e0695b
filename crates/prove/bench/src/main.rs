//! Measures Sluice against its peers, side by side in one run, and refuses to tell a figure if the answers differ.

mod answer;
mod query;
mod rewrite;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};

/// Threads that every contender may use.
const THREADS: usize = 2;

#[derive(Parser)]
#[command(name = "cargo xtask bench", about = "Measures Sluice against its peers")]
struct Args {
    /// What to measure.
    #[arg(required = true, value_enum)]
    suites: Vec<Suite>,
    /// A small form that ends in a minute; its figures tell of faults, not of speed.
    #[arg(long)]
    quick: bool,
    /// Writes the figures to this file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leaves a peer out that would otherwise have to be there.
    #[arg(long, value_enum, value_name = "PEER")]
    without: Vec<Peer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Suite {
    /// TPC-H, governed and not.
    Query,
    /// What policies add before the first row.
    Rewrite,
}

impl Suite {
    const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Rewrite => "rewrite",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Peer {
    Duckdb,
}

fn main() -> ExitCode {
    bench_report::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let first = args.suites.first().copied().unwrap_or(Suite::Query);
    bench_report::must_be_release(first.name(), args.quick)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let mut reports = Vec::new();
    for suite in args.suites.iter().copied().collect::<BTreeSet<_>>() {
        let report = match suite {
            Suite::Query => {
                let form = if args.quick { query::Form::QUICK } else { query::Form::FULL };
                let has_duckdb = !args.without.contains(&Peer::Duckdb);
                runtime.block_on(query::run(form, has_duckdb)).context("suite `query`")?
            }
            Suite::Rewrite => {
                let form = if args.quick { rewrite::Form::QUICK } else { rewrite::Form::FULL };
                runtime.block_on(rewrite::run(form)).context("suite `rewrite`")?
            }
        };
        if !args.quick {
            bench_report::keep(&report)?;
        }
        reports.push(report);
    }
    bench_report::tell(&reports, args.json.as_deref())
}
