//! Which crate imports which, and what a crate must never contain.

use toml::{Table, Value};

use super::{Fault, source};
use crate::house::{Arrows, House, Rules};
use crate::tree::{File, Tree};

/// The one place that outside crates come from, as the lock file spells it.
const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// A direct dependency, by the name of its package.
struct Dependency {
    package: String,
    line: usize,
    is_inherited: bool,
}

pub(super) fn arrows(house: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, rules) in &house.crates {
        let manifest = manifest_path(rules);
        let Some(file) = tree.get(&manifest) else {
            faults.push(Fault::new(
                &manifest,
                1,
                "the crate of this path is not there, though house.toml names it",
            ));
            continue;
        };
        let Arrows::Named(allowed) = &rules.may_import else { continue };
        for dependency in dependencies(file, Kind::Shipped) {
            let package = &dependency.package;
            if house.crates.contains_key(package) && !allowed.contains(package) {
                let what = format!("`{name}` may not import `{package}` (house.toml)");
                faults.push(Fault::new(&manifest, dependency.line, what));
            }
        }
    }
    for file in member_manifests(tree) {
        if !house.crates.values().any(|rules| manifest_path(rules) == file.path) {
            faults.push(Fault::new(&file.path, 1, "house.toml does not name this crate at this path"));
        }
    }
    faults
}

pub(super) fn contents(house: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, rules) in &house.crates {
        let Some(manifest) = tree.get(&manifest_path(rules)) else { continue };
        for dependency in dependencies(manifest, Kind::Shipped) {
            let package = &dependency.package;
            if rules.forbidden_crates.iter().any(|pattern| matches(pattern, package)) {
                let what = format!("`{name}` must never contain `{package}` (house.toml)");
                faults.push(Fault::new(&manifest.path, dependency.line, what));
            }
        }
        let folder = format!("{}/src/", rules.path);
        for file in tree.with_extension("rs").filter(|file| file.path.starts_with(&folder)) {
            forbidden_texts(name, rules, file, &mut faults);
        }
    }
    faults
}

fn forbidden_texts(name: &str, rules: &Rules, file: &File, faults: &mut Vec<Fault>) {
    for (number, line) in source::production(file) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for text in &rules.forbidden_texts {
            if line.contains(text.as_str()) {
                let what = format!("`{name}` must never say `{text}` (house.toml)");
                faults.push(Fault::new(&file.path, number, what));
            }
        }
    }
}

pub(super) fn manifests(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in member_manifests(tree) {
        let has_lints =
            parse(file).and_then(|table| table.get("lints")?.get("workspace")?.as_bool()).unwrap_or(false);
        if !has_lints {
            faults.push(Fault::new(&file.path, 1, "needs `[lints] workspace = true`"));
        }
        for dependency in dependencies(file, Kind::All) {
            if !dependency.is_inherited {
                let what = format!(
                    "`{}` takes its version from the workspace: `workspace = true`",
                    dependency.package
                );
                faults.push(Fault::new(&file.path, dependency.line, what));
            }
        }
    }
    faults
}

pub(super) fn lock(_: &House, tree: &Tree) -> Vec<Fault> {
    let Some(file) = tree.get("Cargo.lock") else {
        return vec![Fault::new("Cargo.lock", 1, "is not tracked")];
    };
    file.lines()
        .filter(|(_, line)| line.starts_with("source = ") && *line != REGISTRY)
        .map(|(number, line)| Fault::new(&file.path, number, format!("not from crates.io: `{line}`")))
        .collect()
}

fn manifest_path(rules: &Rules) -> String {
    format!("{}/Cargo.toml", rules.path)
}

/// The manifests of crates, not that of the workspace.
fn member_manifests(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| file.path != "Cargo.toml" && file.name() == "Cargo.toml")
}

fn parse(file: &File) -> Option<Table> {
    file.text.parse().ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What ends up in the crate: normal and build dependencies, on any target.
    Shipped,
    /// Those of the tests too.
    All,
}

fn dependencies(file: &File, kind: Kind) -> Vec<Dependency> {
    let Some(manifest) = parse(file) else { return Vec::new() };
    let mut sections: Vec<&Table> = vec![&manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        sections.extend(targets.values().filter_map(Value::as_table));
    }
    let keys: &[&str] = match kind {
        Kind::Shipped => &["dependencies", "build-dependencies"],
        Kind::All => &["dependencies", "build-dependencies", "dev-dependencies"],
    };
    sections
        .iter()
        .flat_map(|section| keys.iter().filter_map(|key| section.get(*key)?.as_table()))
        .flatten()
        .map(|(key, value)| dependency(file, key, value))
        .collect()
}

fn dependency(file: &File, key: &str, value: &Value) -> Dependency {
    let package = value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
    let is_inherited = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
    let is_its_line = |line: &str| {
        line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']))
            || line.ends_with(&format!("dependencies.{key}]"))
    };
    let line = file.lines().find(|(_, line)| is_its_line(line)).map_or(1, |(number, _)| number);
    Dependency { package, line, is_inherited }
}

fn matches(pattern: &str, package: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => package.starts_with(prefix),
        None => pattern == package,
    }
}
