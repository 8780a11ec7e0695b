//! The files of the repository, as git knows them, read once.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A text file by its path from the root, with `/` between folders.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, last)| last == extension)
    }

    /// Lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(idx, line)| (idx + 1, line))
    }
}

/// All tracked files and those that git would track, sorted by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Every path, those of files that are no text too.
    pub(crate) paths: Vec<String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("`git ls-files` did not start")?;
        if !output.status.success() {
            bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let listing = String::from_utf8(output.stdout).context("a path is not UTF-8")?;
        let mut paths: Vec<String> =
            listing.split('\0').filter(|p| !p.is_empty()).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        // A file that git tracks may have been deleted and not yet staged.
        paths.retain(|path| root.join(path).is_file());
        let mut files = Vec::new();
        for path in &paths {
            let bytes = std::fs::read(root.join(path)).with_context(|| format!("`{path}` cannot be read"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path: path.clone(), text });
            }
        }
        Ok(Self { files, paths })
    }

    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether there is such a file, or a folder with files in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.paths.iter().any(|p| p == path || p.starts_with(&folder))
    }

    pub(crate) fn with_extension(&self, extension: &'static str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.has_extension(extension))
    }
}

#[cfg(test)]
impl Tree {
    /// A tree out of paths and texts.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files: Vec<File> = files
            .iter()
            .map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() })
            .collect();
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { files, paths }
    }
}
