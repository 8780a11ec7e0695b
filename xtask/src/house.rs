//! Reads `house.toml`: the arrows between crates, the limits, and the words that stay out.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tree::Tree;

/// The house's rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct House {
    pub(crate) limits: Limits,
    pub(crate) names: Names,
    pub(crate) words: Words,
    pub(crate) tests: Tests,
    pub(crate) crates: BTreeMap<String, Rules>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) file_lines_max: usize,
    pub(crate) function_lines_max: usize,
}

/// Names that say nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Names {
    pub(crate) banned: Vec<String>,
    /// First words of a file that do not say what it does.
    pub(crate) empty_openings: Vec<String>,
}

/// Words that no file may hold. `#` stands for itself and for a digit; case does not count.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) banned: Vec<String>,
    pub(crate) exempt_files: Vec<String>,
}

/// Texts that no test may hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tests {
    pub(crate) banned: Vec<String>,
}

/// What one crate may import and must not contain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    pub(crate) path: String,
    pub(crate) may_import: Arrows,
    /// Outside crates that may not be direct dependencies; a trailing `*` stands for any ending.
    #[serde(default)]
    pub(crate) forbidden_crates: Vec<String>,
    /// Texts that its production code may not hold.
    #[serde(default)]
    pub(crate) forbidden_texts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Arrows {
    Named(Vec<String>),
    /// `"everything"`.
    Everything(Everything),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Everything {
    Everything,
}

impl House {
    pub(crate) fn of(tree: &Tree) -> Result<Self> {
        let file = tree.get("house.toml").context("there is no `house.toml`")?;
        Self::parse(&file.text)
    }

    fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("`house.toml` cannot be read")
    }
}

#[cfg(test)]
impl House {
    /// A small house for tests: `a` may import `b`, and `free` anything.
    pub(crate) fn sample() -> Self {
        let text = r#"
            [limits]
            file_lines_max = 10
            function_lines_max = 4
            [names]
            banned = ["utils"]
            empty_openings = ["this module"]
            [words]
            banned = ["/machine/", "ticket #", "robot"]
            exempt_files = ["house.toml"]
            [tests]
            banned = ["nap("]
            [crates.a]
            path = "crates/a"
            may_import = ["b"]
            forbidden_crates = ["tokio", "datafusion*"]
            forbidden_texts = ["async "]
            [crates.b]
            path = "crates/b"
            may_import = []
            [crates.free]
            path = "free"
            may_import = "everything"
        "#;
        Self::parse(text).unwrap()
    }
}
