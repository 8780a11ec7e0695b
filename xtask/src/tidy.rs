//! Holds the repository against the rules of the house and lists every fault with its place.

mod arrows;
mod map;
mod prose;
mod records;
mod source;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::house::House;
use crate::tally::Tally;
use crate::tree::Tree;

/// Where a rule is broken, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    path: String,
    line: usize,
    what: String,
}

impl Fault {
    fn new(path: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

type Check = fn(&House, &Tree) -> Vec<Fault>;

/// The rules, each a test of its own.
const CHECKS: &[(&str, Check)] = &[
    ("arrows between crates run as house.toml says", arrows::arrows),
    ("crates hold nothing that they must never contain", arrows::contents),
    ("manifests take lints and versions from the workspace", arrows::manifests),
    ("the lock file names one registry", arrows::lock),
    ("files open with a sentence", source::openings),
    ("files and functions keep to their length", source::lengths),
    ("names say something", source::names),
    ("tests neither sleep nor hide", source::tests),
    ("text holds no banned word", words::banned),
    ("lines end clean", words::line_ends),
    ("pages have one title", prose::titles),
    ("links lead somewhere", prose::links),
    ("scenarios that pages name are there", prose::scenarios),
    ("prose has one sentence a line", prose::sentences),
    ("decision records keep their form", records::decisions),
    ("ARCHITECTURE.md gives each crate an invariant", map::invariants),
    ("log fields are listed", map::log_fields),
    ("README and .ci/run give the one test command", map::commands),
];

/// Runs every check and prints every fault.
pub(crate) fn run(root: &Path) -> Result<Tally> {
    let tree = Tree::read(root)?;
    let house = House::of(&tree)?;
    let mut tally = Tally::default();
    for (name, faults) in check_all(&house, &tree) {
        if faults.is_empty() {
            tally += Tally::success();
            continue;
        }
        tally += Tally::failure();
        println!("not so: {name}");
        for fault in faults {
            println!("  {fault}");
        }
    }
    Ok(tally)
}

fn check_all(house: &House, tree: &Tree) -> Vec<(&'static str, Vec<Fault>)> {
    CHECKS
        .iter()
        .map(|(name, check)| {
            let mut faults = check(house, tree);
            faults.sort();
            (*name, faults)
        })
        .collect()
}

#[cfg(test)]
mod tests;
