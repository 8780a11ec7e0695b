//! How a suite's run begins and ends, and where its reports are written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::report::{Report, json};

/// # Errors
/// A full run of a build without optimizations.
pub fn must_be_release(suite: &str, is_quick: bool) -> Result<()> {
    if !is_quick && cfg!(debug_assertions) {
        bail!("a full run needs a release build: `cargo xtask bench {suite}`");
    }
    Ok(())
}

/// Tells the reports on the standard output, and in `file` where there is one.
///
/// # Errors
/// The file cannot be written.
pub fn tell(reports: &[Report], file: Option<&Path>) -> Result<()> {
    if let Some(file) = file {
        write(file, &json(reports))?;
    }
    for report in reports {
        print!("{}", report.table());
    }
    Ok(())
}

/// How the process ends; an error is told.
pub fn exit(done: Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Puts a full run's figures where they are kept under version control.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn keep(report: &Report) -> Result<()> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR");
    let own = own.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let folder = own.join("../../../docs/benchmarks");
    std::fs::create_dir_all(&folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
    write(&folder.join(format!("{}.json", report.suite)), &json(std::slice::from_ref(report)))?;
    write(&folder.join(format!("{}.md", report.suite)), &report.page())
}

/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("`{}` cannot be written", path.display()))
}
