//! Measures the masks on one core, beside regular expressions and other ways to say the same.

mod cases;
mod columns;
mod measure;
mod peers;
mod suite;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
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
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if !args.quick && cfg!(debug_assertions) {
        bail!("a full run needs a release build: `cargo xtask bench mask`");
    }
    let report = suite::run(if args.quick { suite::Form::QUICK } else { suite::Form::FULL })?;
    if !args.quick {
        bench_report::keep(&report)?;
    }
    if let Some(path) = &args.json {
        bench_report::write(path, &bench_report::json(std::slice::from_ref(&report)))?;
    }
    print!("{}", report.table());
    Ok(())
}
