//! Finds the workspace's folder, from wherever the command is started.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder that holds `house.toml`: above the current one, or else above this crate's source.
pub(crate) fn workspace() -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder cannot be read")?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .chain(source.ancestors())
        .find(|folder| folder.join("house.toml").is_file() && folder.join("Cargo.lock").is_file())
        .map(Path::to_path_buf)
        .context("no folder with `house.toml` above this one")
}
