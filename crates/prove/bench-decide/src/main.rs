//! Measures policy decisions: ours at four sizes, and peers beside ours on what they can express.

#[cfg(test)]
mod allocations;
mod contenders;
mod figures;
mod measure;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod ranger;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(name = "cargo xtask bench", about = "Measures policy decisions against peers")]
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
    /// Asks worlds over and over, for a profiler: so many policies each.
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', hide = true)]
    spin: Vec<u32>,
    /// How many different requests those are: the more, the less of them is in the processor's caches.
    #[arg(long, value_name = "REQUESTS", default_value_t = 5_000, hide = true)]
    of: usize,
    /// Asks a small world once, for a count of instructions.
    #[arg(long, hide = true)]
    count: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Decisions on policies.
    Decide,
}

fn main() -> ExitCode {
    bench_report::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.count {
        return suite::count();
    }
    bench_report::must_be_release("decide", args.quick)?;
    if !args.spin.is_empty() {
        return suite::spin(&args.spin, args.of);
    }
    let form = if args.quick { suite::Form::QUICK } else { suite::Form::FULL };
    let report = suite::run(form)?;
    if !args.quick {
        bench_report::keep(&report)?;
    }
    bench_report::tell(std::slice::from_ref(&report), args.json.as_deref())
}
