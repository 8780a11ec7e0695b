//! Starts the benchmark suites in a release build and hands them the flags as they were given.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::{root, run};

/// A package with suites. What needs no query engine stands in packages of its own, so that it is built without one.
struct Home {
    package: &'static str,
    features: &'static str,
    suites: &'static [&'static str],
}

/// What the C library takes settings of its allocator from.
const TUNABLES: &str = "GLIBC_TUNABLES";
/// Memory in large pages, where the system gives them on request: a look-up in much memory otherwise spends its time on
/// finding the page.
const LARGE_PAGES: &str = "glibc.malloc.hugetlb=1";

const HOMES: &[Home] = &[
    Home { package: "bench", features: "", suites: &["query", "rewrite"] },
    Home { package: "bench-decide", features: "peers", suites: &["decide"] },
    Home { package: "bench-mask", features: "", suites: &["mask"] },
];

/// What a call asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    suites: Vec<String>,
    is_quick: bool,
    json: Option<PathBuf>,
    /// Flags for the package `bench`, such as `--without duckdb`.
    others: Vec<String>,
}

/// Runs in the caller's folder, so that `--json FILE` means what the caller wrote.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let asked = read(args)?;
    let homes: Vec<(&Home, Vec<String>)> = HOMES
        .iter()
        .map(|home| (home, asked.suites.iter().filter(|suite| is_in(suite, home)).cloned().collect()))
        .filter(|(_, suites): &(_, Vec<String>)| !suites.is_empty())
        .collect();
    if let [(home, suites)] = homes.as_slice() {
        return start(home, suites, &asked, asked.json.as_deref());
    }
    // Each package writes its own document, and they are put together afterwards.
    let folder = tempfile::tempdir().context("no folder for the figures")?;
    let mut documents = Vec::new();
    for (home, suites) in &homes {
        let file = folder.path().join(home.package);
        let code = start(home, suites, &asked, Some(&file))?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("`{}` told no figures", home.package))?;
        documents.push((suites.clone(), serde_json::from_str(&text)?));
    }
    if let Some(file) = &asked.json {
        let text = format!("{:#}\n", Value::Object(together(documents)));
        std::fs::write(file, text).with_context(|| format!("`{}` cannot be written", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_in(suite: &str, home: &Home) -> bool {
    home.suites.contains(&suite)
}

fn read(args: &[String]) -> Result<Asked> {
    let mut asked = Asked::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => asked.is_quick = true,
            "--json" => asked.json = Some(args.next().context("`--json` needs a file")?.into()),
            flag if flag.starts_with("--json=") => {
                asked.json = flag.strip_prefix("--json=").map(PathBuf::from)
            }
            "--without" => {
                asked.others.push(arg.clone());
                asked.others.extend(args.next().cloned());
            }
            flag if flag.starts_with('-') => asked.others.push(arg.clone()),
            suite if HOMES.iter().any(|home| is_in(suite, home)) => {
                if !asked.suites.contains(arg) {
                    asked.suites.push(arg.clone());
                }
            }
            other => bail!("no such suite `{other}`; there are {}", known().join(", ")),
        }
    }
    if asked.suites.is_empty() {
        bail!(
            "name a suite first: `cargo xtask bench query [--quick] [--json FILE]`; there are {}",
            known().join(", ")
        );
    }
    Ok(asked)
}

fn known() -> Vec<&'static str> {
    HOMES.iter().flat_map(|home| home.suites).copied().collect()
}

fn start(home: &Home, suites: &[String], asked: &Asked, json: Option<&Path>) -> Result<ExitCode> {
    let manifest = root::workspace()?.join("Cargo.toml");
    let mut command = run::cargo(&std::env::current_dir()?, ["run", "--release", "--package", home.package]);
    if !home.features.is_empty() {
        command.args(["--features", home.features]);
    }
    command.arg("--manifest-path").arg(manifest).arg("--").args(suites);
    if asked.is_quick {
        command.arg("--quick");
    }
    // Only in-memory decisions are a matter of pages, and whoever sets something else means it.
    if home.package == "bench-decide" && std::env::var_os(TUNABLES).is_none() {
        command.env(TUNABLES, LARGE_PAGES);
    }
    if let Some(file) = json {
        command.arg("--json").arg(file);
    }
    // Another package's flags mean nothing to this one, unless nobody else could be meant.
    if home.package == "bench" || asked.suites.len() == suites.len() {
        command.args(&asked.others);
    }
    let status = command.status().context("the benchmarks did not start")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// One document of several: figures side by side, and all else by suite, as one package writes several suites.
fn together(documents: Vec<(Vec<String>, Map<String, Value>)>) -> Map<String, Value> {
    let mut figures = Map::new();
    let mut all = Map::from_iter([("figures".to_owned(), Value::Null)]);
    for (suites, document) in documents {
        for (part, value) in document {
            match (part.as_str(), value, suites.as_slice()) {
                ("figures", Value::Object(own), _) => figures.extend(own),
                ("machine", machine, _) => {
                    all.entry(part).or_insert(machine);
                }
                (_, value, [one]) => {
                    if let Value::Object(by_suite) =
                        all.entry(part).or_insert_with(|| Value::Object(Map::new()))
                    {
                        by_suite.insert(one.clone(), value);
                    }
                }
                (_, Value::Object(own), _) => {
                    if let Value::Object(by_suite) =
                        all.entry(part).or_insert_with(|| Value::Object(Map::new()))
                    {
                        by_suite.extend(own);
                    }
                }
                (_, value, _) => {
                    all.insert(part, value);
                }
            }
        }
    }
    all.insert("figures".to_owned(), Value::Object(figures));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(line: &str) -> Result<Asked> {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn suites_and_flags_are_told_apart() {
        let found = asked("query decide --quick --without duckdb --json out.json").unwrap();
        assert_eq!(found.suites, ["query", "decide"]);
        assert!(found.is_quick);
        assert_eq!(found.json, Some("out.json".into()));
        assert_eq!(found.others, ["--without", "duckdb"]);
    }

    #[test]
    fn a_suite_must_be_named_and_known() {
        assert!(asked("--quick").unwrap_err().to_string().contains("name a suite"));
        assert!(asked("qeury").unwrap_err().to_string().contains("`qeury`"));
    }

    #[test]
    fn documents_of_several_packages_read_like_one() {
        let document = |figure: &str| match json!({"figures": {figure: 1}, "machine": {"m": 1}, "began": figure})
        {
            Value::Object(document) => document,
            _ => Map::new(),
        };
        let all = together(vec![
            (vec!["query".to_owned()], document("a")),
            (vec!["decide".to_owned()], document("b")),
        ]);
        let expected = json!({
            "figures": {"a": 1, "b": 1}, "machine": {"m": 1}, "began": {"query": "a", "decide": "b"},
        });
        assert_eq!(Value::Object(all), expected);
    }
}
