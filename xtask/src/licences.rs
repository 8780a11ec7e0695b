//! Holds every outside crate of the lock file against `deny.toml`: its licence, its source, and whether it may be there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::run::cargo;
use crate::tally::Tally;

/// Where Sluice runs; what other systems would need is not built, and so not looked at.
const PLATFORMS: &[&str] = &["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// What we read of `deny.toml`; the file is in the form that `cargo deny` takes.
#[derive(Debug, Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Debug, Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<String>,
    source: Option<String>,
}

/// What is wrong with a package, if anything.
type Rule = fn(&Deny, &Package) -> Option<String>;

pub(crate) fn check(root: &Path) -> Result<Tally> {
    let text = std::fs::read_to_string(root.join("deny.toml")).context("`deny.toml` cannot be read")?;
    let deny: Deny = toml::from_str(&text).context("`deny.toml` cannot be read")?;
    let packages = outside_packages(root)?;
    let mut tally = Tally::default();
    let rules: [(&str, Rule); 3] = [
        ("licences are allowed", licence_fault),
        ("sources are allowed", source_fault),
        ("no crate is banned", ban_fault),
    ];
    for (name, rule) in rules {
        let faults: Vec<String> = packages
            .iter()
            .filter_map(|package| {
                Some(format!("{} {}: {}", package.name, package.version, rule(&deny, package)?))
            })
            .collect();
        tally += if faults.is_empty() { Tally::success() } else { Tally::failure() };
        if !faults.is_empty() {
            println!("not so: {name}\n  {}", faults.join("\n  "));
        }
    }
    Ok(tally)
}

fn outside_packages(root: &Path) -> Result<Vec<Package>> {
    let mut command = cargo(root, ["metadata", "--format-version", "1", "--locked"]);
    for platform in PLATFORMS {
        command.args(["--filter-platform", platform]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("`cargo metadata` did not start")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed");
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` cannot be read")?;
    Ok(metadata.packages.into_iter().filter(|package| package.source.is_some()).collect())
}

fn licence_fault(deny: &Deny, package: &Package) -> Option<String> {
    let exceptions = deny.licenses.exceptions.iter().filter(|exception| exception.name == package.name);
    let extra: BTreeSet<&str> =
        exceptions.flat_map(|exception| &exception.allow).map(String::as_str).collect();
    let is_allowed = |licence: &str| deny.licenses.allow.contains(licence) || extra.contains(licence);
    match &package.license {
        Some(expression) => match satisfies(expression, &is_allowed) {
            Some(true) => None,
            Some(false) => Some(format!("`{expression}` is not allowed")),
            None => Some(format!("`{expression}` cannot be read")),
        },
        None if package.license_file.is_some() && !extra.is_empty() => None,
        None => Some("names no licence".to_owned()),
    }
}

fn source_fault(deny: &Deny, package: &Package) -> Option<String> {
    let source = package.source.as_deref().unwrap_or_default();
    let is_allowed = source
        .strip_prefix("registry+")
        .is_some_and(|url| deny.sources.allow_registry.iter().any(|a| a == url));
    (!is_allowed).then(|| format!("`{source}` is not an allowed source"))
}

fn ban_fault(deny: &Deny, package: &Package) -> Option<String> {
    let banned = deny.bans.deny.iter().find(|banned| banned.name == package.name)?;
    Some(format!("is banned: {}", banned.reason))
}

/// Whether an SPDX expression can be met with the allowed licences; `None` where it is no such expression.
fn satisfies(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    // Older manifests write `/` for OR.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut tokens = spaced.split_whitespace().peekable();
    let verdict = any_of(&mut tokens, is_allowed)?;
    tokens.next().is_none().then_some(verdict)
}

type Tokens<'a, 'b> = &'b mut std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(tokens: Tokens<'_, '_>, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut verdict = all_of(tokens, is_allowed)?;
    while tokens.next_if_eq(&"OR").is_some() {
        verdict |= all_of(tokens, is_allowed)?;
    }
    Some(verdict)
}

fn all_of(tokens: Tokens<'_, '_>, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut verdict = one(tokens, is_allowed)?;
    while tokens.next_if_eq(&"AND").is_some() {
        verdict &= one(tokens, is_allowed)?;
    }
    Some(verdict)
}

fn one(tokens: Tokens<'_, '_>, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    if tokens.next_if_eq(&"(").is_some() {
        let verdict = any_of(tokens, is_allowed)?;
        return tokens.next_if_eq(&")").map(|_| verdict);
    }
    let licence = tokens.next().filter(|token| !matches!(*token, "AND" | "OR" | "WITH" | ")"))?;
    if tokens.next_if_eq(&"WITH").is_some() {
        let exception = tokens.next()?;
        return Some(is_allowed(&format!("{licence} WITH {exception}")) || is_allowed(licence));
    }
    Some(is_allowed(licence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: Option<bool>) {
        let is_allowed = |licence: &str| matches!(licence, "MIT" | "Apache-2.0" | "Unicode-3.0");
        assert_eq!(satisfies(expression, &is_allowed), expected, "{expression}");
    }

    #[test]
    fn one_allowed_alternative_is_enough() {
        check("MIT", Some(true));
        check("GPL-3.0", Some(false));
        check("GPL-3.0 OR MIT", Some(true));
        check("MIT/Apache-2.0", Some(true));
    }

    #[test]
    fn every_part_of_a_conjunction_counts() {
        check("(MIT OR GPL-3.0) AND Unicode-3.0", Some(true));
        check("MIT AND GPL-3.0", Some(false));
        check("Apache-2.0 WITH LLVM-exception", Some(true));
    }

    #[test]
    fn what_cannot_be_read_is_not_allowed() {
        for expression in ["", "MIT OR", "(MIT", "MIT Apache-2.0", "AND"] {
            check(expression, None);
        }
    }
}
