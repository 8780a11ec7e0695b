//! The parts of CI, in the order in which they run, and what each of them starts.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::run::{Counting, Report, cargo, count};
use crate::tally::Tally;
use crate::{docs, licences, peers, psql, root, sabotage, tidy};

/// One part of CI.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    run: fn(&Context) -> Result<Report>,
}

/// Cheap parts first, so that a slip is told before the long builds.
pub(crate) const PARTS: &[Part] = &[
    Part { name: "tidy", about: "the rules of the house", run: |c| Ok(tally_only(tidy::run(&c.root)?)) },
    Part { name: "format", about: "rustfmt has nothing to change", run: format },
    Part {
        name: "licences",
        about: "licences and sources of outside crates (deny.toml)",
        run: |c| Ok(tally_only(licences::check(&c.root)?)),
    },
    Part { name: "lint", about: "clippy has nothing to say", run: lint },
    Part { name: "unit", about: "the tests of every crate, but for those below", run: unit },
    Part {
        name: "attacks",
        about: "the attack list against governed plans",
        run: |c| by_module(c, "attacks::"),
    },
    Part {
        name: "scenarios",
        about: "SQL scenarios per user, in process and over Postgres",
        run: |c| scenario_runner(c, None),
    },
    Part {
        name: "interference",
        about: "random statements over pairs of lakes that differ in hidden things, and over an oracle",
        run: interference,
    },
    Part {
        name: "sabotage",
        about: "protections that are taken away are missed (with --long; else that they stand where they did)",
        run: sabotage::run,
    },
    Part {
        name: "conformance",
        about: "Ranger's own test data, where they lie beside the checkout",
        run: |c| conformance_with(c, &[]),
    },
    Part {
        name: "fuzz",
        about: "mangled texts break nothing that reads them",
        run: |c| by_module(c, "fuzz::"),
    },
    Part { name: "kill", about: "SIGKILL during edits loses nothing", run: |c| by_module(c, "kill::") },
    Part { name: "demo", about: "the tutorial over the wire, as `cargo run -- demo` shows it", run: demo },
    Part { name: "clients/sql", about: "psql: sessions, catalogs, errors", run: psql::run },
    Part {
        name: "peers",
        about: "the same answers as PostgreSQL's row security and DuckDB's views by hand give",
        run: peers::run,
    },
    Part {
        name: "docs",
        about: "the generated reference pages are up to date",
        run: |c| Ok(tally_only(docs::check(c)?)),
    },
];

/// Test modules that are parts of their own, so that `unit` leaves them out.
const MODULES: &[&str] = &["attacks::", "fuzz::", "kill::"];

const LIMITS_PAGE: &str = "docs/reference/limits.md";

/// What every part needs to know.
pub(crate) struct Context {
    pub(crate) root: PathBuf,
    pub(crate) is_long: bool,
}

impl Context {
    pub(crate) fn new(is_long: bool) -> Result<Self> {
        Ok(Self { root: root::workspace()?, is_long })
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo(&self.root, args);
        if self.is_long {
            command.env("SLUICE_LONG", "1");
        }
        command
    }

    /// The server and its commands.
    pub(crate) fn sluice(&self) -> Result<PathBuf> {
        self.binary("sluice")
    }

    /// Builds a binary as the tests build it, so that no crate is compiled a second time for it, and says where it is.
    fn binary(&self, name: &str) -> Result<PathBuf> {
        let args =
            ["build", "--workspace", "--all-targets", "--locked", "--message-format=json-render-diagnostics"];
        println!("$ cargo {}", args.join(" "));
        let output = self
            .cargo(&args)
            .stderr(std::process::Stdio::inherit())
            .output()
            .context("cargo did not start")?;
        if !output.status.success() {
            bail!("the build failed");
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let path = messages.lines().find_map(|message| binary_path(message, name));
        path.with_context(|| format!("the build made no binary `{name}`"))
    }
}

/// The executable in one of cargo's messages, where it is the binary itself and not its tests.
fn binary_path(message: &str, name: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let target = message.get("target")?;
    let is_binary = target.get("kind")?.as_array()?.iter().any(|kind| kind == "bin");
    let is_test = message.get("profile")?.get("test")?.as_bool()?;
    let path = message.get("executable")?.as_str()?;
    (target.get("name")? == name && is_binary && !is_test).then(|| PathBuf::from(path))
}

/// The parts that are named, in CI's order; all of them where none is. `clients` names every part below it.
pub(crate) fn select(names: &[String]) -> Result<Vec<&'static Part>> {
    let is_named = |part: &Part, name: &str| {
        part.name == name || part.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
    };
    for name in names {
        if !PARTS.iter().any(|part| is_named(part, name)) {
            let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
            bail!("no such part `{name}`; there are {}", known.join(", "));
        }
    }
    Ok(PARTS
        .iter()
        .filter(|part| names.is_empty() || names.iter().any(|name| is_named(part, name)))
        .collect())
}

/// Runs the parts to the end, whatever fails on the way, and sums them.
pub(crate) fn run_all(context: &Context, parts: &[&Part]) -> Result<Tally> {
    let limits = std::fs::read_to_string(context.root.join(LIMITS_PAGE)).unwrap_or_default();
    let mut sum = Tally::default();
    let mut lines = Vec::new();
    for part in parts {
        println!("\n=== {}: {}", part.name, part.about);
        let watch = Stopwatch::start();
        let report = (part.run)(context).unwrap_or_else(|error| {
            eprintln!("error: {}: {error:#}", part.name);
            Report::of(false)
        });
        let mut tally = report.tally;
        tally.n_failed += unlisted_skips(&report, &limits);
        let seconds = watch.elapsed().as_secs();
        lines.push(format!(
            "{:<12} passed {:>5}  failed {:>3}  skipped {:>3}  {seconds:>5} s",
            part.name, tally.n_passed, tally.n_failed, tally.n_skipped
        ));
        sum += tally;
    }
    println!("\n{}", lines.join("\n"));
    Ok(sum)
}

/// A skip counts as a failure unless the page of limits names it.
fn unlisted_skips(report: &Report, limits: &str) -> u64 {
    let mut n_unlisted = 0;
    for name in &report.skipped {
        if !is_listed(name, limits) {
            eprintln!("error: `{name}` was skipped and is not listed in {LIMITS_PAGE}");
            n_unlisted += 1;
        }
    }
    let n_nameless = report.tally.n_skipped.saturating_sub(report.skipped.len() as u64);
    if n_nameless > 0 {
        eprintln!("error: {n_nameless} tests were skipped without a name");
    }
    n_unlisted + n_nameless
}

/// By its own name, or with all of its folder as `folder/*`.
fn is_listed(name: &str, limits: &str) -> bool {
    let folder = name.split_once('/').map(|(folder, _)| format!("`{folder}/*`"));
    limits.contains(&format!("`{name}`")) || folder.is_some_and(|folder| limits.contains(&folder))
}

fn tally_only(tally: Tally) -> Report {
    Report { tally, skipped: Vec::new() }
}

fn format(context: &Context) -> Result<Report> {
    count(context.cargo(&["fmt", "--all", "--check"]), Counting::ByExit)
}

fn lint(context: &Context) -> Result<Report> {
    let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
    count(context.cargo(&args), Counting::ByExit)
}

fn unit(context: &Context) -> Result<Report> {
    let mut command = context.cargo(&["test", "--workspace", "--locked", "--no-fail-fast", "--"]);
    for module in MODULES {
        command.args(["--skip", module]);
    }
    count(command, Counting::ByLines)
}

/// The tests of one module, in whichever crate it stands.
fn by_module(context: &Context, module: &str) -> Result<Report> {
    count(
        context.cargo(&["test", "--workspace", "--locked", "--no-fail-fast", "--", module]),
        Counting::ByLines,
    )
}

pub(crate) fn scenarios(context: &Context, filter: Option<&str>) -> Result<Tally> {
    let limits = std::fs::read_to_string(context.root.join(LIMITS_PAGE)).unwrap_or_default();
    let report = scenario_runner(context, filter)?;
    let mut tally = report.tally;
    tally.n_failed += unlisted_skips(&report, &limits);
    Ok(tally)
}

fn scenario_runner(context: &Context, filter: Option<&str>) -> Result<Report> {
    let mut command = Command::new(context.binary("scenarios")?);
    command.args(filter).current_dir(&context.root);
    // As cargo would tell it where its files are.
    command.env("CARGO_MANIFEST_DIR", context.root.join("crates/prove/scenarios"));
    count(command, Counting::ByLines)
}

fn interference(context: &Context) -> Result<Report> {
    let mut command = Command::new(context.binary("interference")?);
    command.current_dir(&context.root);
    if context.is_long {
        command.env("SLUICE_LONG", "1");
    }
    count(command, Counting::ByLines)
}

pub(crate) fn conformance_with(context: &Context, args: &[String]) -> Result<Report> {
    let mut command = context.cargo(&["run", "--quiet", "--locked", "--package", "conformance", "--"]);
    command.args(args);
    count(command, Counting::ByLines)
}

fn demo(context: &Context) -> Result<Report> {
    let mut command = Command::new(context.sluice()?);
    command.arg("demo").current_dir(&context.root);
    count(command, Counting::ByExit)
}

/// Says how long a part took.
struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool tells its user how long a part took; nothing depends on it"
    )]
    fn start() -> Self {
        Self(std::time::Instant::now())
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<&'static str> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        select(&words).unwrap().iter().map(|part| part.name).collect()
    }

    #[test]
    fn no_word_means_all_of_ci() {
        assert_eq!(names(&[]).len(), PARTS.len());
    }

    #[test]
    fn parts_run_in_ci_order_and_a_folder_names_all_below_it() {
        assert_eq!(names(&["clients", "tidy"]), ["tidy", "clients/sql"]);
    }

    #[test]
    fn an_unknown_part_is_refused_with_the_list() {
        let error = select(&["client".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("`client`") && error.contains("clients/sql"), "{error}");
    }

    #[test]
    fn a_skip_is_legal_only_by_name() {
        let tally = Tally { n_passed: 1, n_failed: 0, n_skipped: 2 };
        let report = Report { tally, skipped: vec!["o7".to_owned()] };
        assert_eq!(unlisted_skips(&report, "| `o7` | not yet |"), 1);
        assert_eq!(unlisted_skips(&report, ""), 2);
        let folder = Report { tally, skipped: vec!["gds/a#1".to_owned(), "gds/b#1".to_owned()] };
        assert_eq!(unlisted_skips(&folder, "| `gds/*` | not yet |"), 0);
    }

    #[test]
    fn the_binary_is_told_from_its_tests() {
        let message = |kind: &str, test: bool| {
            format!(
                r#"{{"target":{{"name":"sluice","kind":["{kind}"]}},"profile":{{"test":{test}}},"executable":"/x/sluice"}}"#
            )
        };
        assert_eq!(binary_path(&message("bin", false), "sluice"), Some(PathBuf::from("/x/sluice")));
        assert_eq!(binary_path(&message("bin", false), "scenarios"), None);
        assert_eq!(binary_path(&message("bin", true), "sluice"), None);
        assert_eq!(binary_path(&message("test", true), "sluice"), None);
    }
}
