//! Measures the masks on one core, beside regular expressions and other ways to say the same.

mod cases;
mod columns;
mod measure;
mod peers;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

#[derive(Parser)]
#[command(name = "cargo xtask bench", about = "Measures masks against regular expressions")]
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Masks of whole columns.
    Mask,
}

fn main() -> ExitCode {
    bench_report::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    bench_report::must_be_release("mask", args.quick)?;
    let report = suite::run(if args.quick { suite::Form::QUICK } else { suite::Form::FULL })?;
    if !args.quick {
        bench_report::keep(&report)?;
    }
    bench_report::tell(std::slice::from_ref(&report), args.json.as_deref())
}
