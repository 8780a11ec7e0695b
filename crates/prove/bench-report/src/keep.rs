//! Where reports are written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::report::{Report, json};

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
