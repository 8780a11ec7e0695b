//! Takes protections away, one at a time, in a copy of the sources, and wants the interference suite to find each.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::run::{Report, cargo};
use crate::suites::Context;
use crate::tally::Tally;
use crate::tree::Tree;

const LIST: &str = "crates/prove/interference/sabotages.toml";

/// Lakes that the suite may look at before a sabotage counts as not found.
const LAKES_MAX: &str = "12";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    sabotage: Vec<Sabotage>,
}

/// A text of the sources, and what takes the protection away in its place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sabotage {
    name: String,
    file: String,
    find: String,
    put: String,
}

/// What each sabotage does, and the file that it is done to.
pub(crate) fn names(root: &Path) -> Result<Vec<(String, String)>> {
    Ok(list(root)?.sabotage.into_iter().map(|sabotage| (sabotage.name, sabotage.file)).collect())
}

fn list(root: &Path) -> Result<List> {
    let text = std::fs::read_to_string(root.join(LIST)).with_context(|| format!("`{LIST}`"))?;
    Ok(toml::from_str(&text)?)
}

/// In the short form only that every text still stands once in its file, so that the list cannot rot.
pub(crate) fn run(context: &Context) -> Result<Report> {
    let list = list(&context.root)?;
    let mut tally = Tally::default();
    let copy = if context.is_long { Some(copied(&context.root)?) } else { None };
    for sabotage in &list.sabotage {
        let is_good = match (&copy, sabotage.applied(&context.root)) {
            (_, Err(error)) => {
                eprintln!("error: {}: {error:#}", sabotage.name);
                false
            }
            (None, Ok(_)) => true,
            (Some(copy), Ok(text)) => is_found(sabotage, copy.path(), &text, &context.root)?,
        };
        println!("{} {}", if is_good { "ok" } else { "FAILED" }, sabotage.name);
        tally += if is_good { Tally::success() } else { Tally::failure() };
    }
    Ok(Report { tally, skipped: Vec::new() })
}

impl Sabotage {
    /// The file's text without the protection.
    fn applied(&self, root: &Path) -> Result<String> {
        let text =
            std::fs::read_to_string(root.join(&self.file)).with_context(|| format!("`{}`", self.file))?;
        match text.matches(&self.find).count() {
            1 => Ok(text.replace(&self.find, &self.put)),
            n => bail!("its text stands {n} times in `{}`", self.file),
        }
    }
}

/// The sources in a folder of their own.
fn copied(root: &Path) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for path in Tree::read(root)?.paths {
        let to = folder.path().join(&path);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(root.join(&path), &to).with_context(|| format!("`{path}`"))?;
    }
    Ok(folder)
}

/// Where it is built: never where this checkout is, for cargo would take what was sabotaged for its own.
fn artifacts(root: &Path) -> PathBuf {
    let own = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    own.join("sabotage")
}

fn is_found(sabotage: &Sabotage, copy: &Path, text: &str, root: &Path) -> Result<bool> {
    let file = copy.join(&sabotage.file);
    std::fs::write(&file, text)?;
    let target = artifacts(root);
    let mut build = cargo(copy, ["build", "--locked", "--package", "interference"]);
    let built = build.env("CARGO_TARGET_DIR", &target).status().context("cargo did not start")?;
    let found = if built.success() {
        let mut suite = cargo(copy, ["run", "--quiet", "--locked", "--package", "interference", "--"]);
        suite.args(["--lakes", LAKES_MAX, "--findings", "1"]).env("CARGO_TARGET_DIR", &target);
        let output = suite.stderr(Stdio::null()).output().context("the suite did not start")?;
        let told = String::from_utf8_lossy(&output.stdout);
        told.lines().filter(|line| line.starts_with("FAILED")).take(2).for_each(|line| println!("  {line}"));
        !output.status.success() && told.contains("\nFAILED ") || told.starts_with("FAILED ")
    } else {
        eprintln!("error: {}: it does not compile", sabotage.name);
        false
    };
    std::fs::copy(root.join(&sabotage.file), &file)?;
    Ok(found)
}
