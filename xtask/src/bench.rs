//! Starts the benchmark suites in a release build and hands them the flags as they were given.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{root, run};

/// Runs in the caller's folder, so that `--json FILE` means what the caller wrote.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if args.first().is_none_or(|first| first.starts_with('-')) {
        bail!("name a suite first: `cargo xtask bench query [--quick] [--json FILE]`");
    }
    let root = root::workspace()?;
    let manifest = root.join("Cargo.toml");
    let mut command = run::cargo(&std::env::current_dir()?, ["run", "--release", "--package", "bench"]);
    command.arg("--manifest-path").arg(manifest).arg("--").args(args);
    let status = command.status().context("the benchmarks did not start")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
