//! Runs the project: its tests, checks, reference pages and benchmarks, each by one form of `cargo xtask`.

mod bench;
mod claims;
mod docs;
mod house;
mod licences;
mod peers;
mod psql;
mod root;
mod run;
mod sabotage;
mod suites;
mod tally;
mod tidy;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::tally::Tally;

const USAGE: &str = "\
cargo xtask test [PART…] [--long]       all of CI, or the named parts of it
cargo xtask scenarios [FILTER] [--long] the SQL scenarios whose names contain FILTER
cargo xtask conformance [FILTER] [--dir DIR] [--engine fast|obvious|both] [-v]
                                        the policy engine against Ranger's own test data
cargo xtask tidy                        the rules of the house (house.toml, STYLE.md)
cargo xtask docs [--check]              writes the generated reference pages, or compares them
cargo xtask bench SUITE… [--quick] [--json FILE]

parts:";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(args: &[String]) -> Result<ExitCode> {
    let Some((form, rest)) = args.split_first() else {
        print_usage();
        return Ok(ExitCode::from(2));
    };
    match form.as_str() {
        "test" => test(rest),
        "scenarios" => {
            let options = Options::read(rest, &["--long"])?;
            if options.words.len() > 1 {
                bail!("`scenarios` takes one filter, not {}", options.words.len());
            }
            let filter = options.words.first().map(String::as_str);
            Ok(close(suites::scenarios(&suites::Context::new(options.has("--long"))?, filter)))
        }
        "conformance" => conformance(rest),
        "tidy" => {
            Options::read(rest, &[])?.expect_no_words("tidy")?;
            Ok(close(tidy::run(&root::workspace()?)))
        }
        "docs" => {
            let options = Options::read(rest, &["--check"])?;
            options.expect_no_words("docs")?;
            let context = suites::Context::new(false)?;
            if options.has("--check") {
                return Ok(close(docs::check(&context)));
            }
            docs::write(&context)?;
            Ok(ExitCode::SUCCESS)
        }
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print_usage();
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("no such form `{other}`; `cargo xtask help` lists them"),
    }
}

fn test(args: &[String]) -> Result<ExitCode> {
    let options = Options::read(args, &["--long"])?;
    let parts = suites::select(&options.words)?;
    let context = suites::Context::new(options.has("--long"))?;
    Ok(close(suites::run_all(&context, &parts)))
}

/// Hands its flags on as they were given; `--dir` counts from the caller's folder.
fn conformance(args: &[String]) -> Result<ExitCode> {
    let context = suites::Context::new(false)?;
    let mut absolute = Vec::with_capacity(args.len());
    let mut is_dir = false;
    for arg in args {
        let arg = if std::mem::replace(&mut is_dir, arg == "--dir") {
            std::env::current_dir()?.join(arg).to_string_lossy().into_owned()
        } else {
            arg.clone()
        };
        absolute.push(arg);
    }
    Ok(close(suites::conformance_with(&context, &absolute).map(|report| report.tally)))
}

/// Ends a test form: the line that outside checks read stands last, and the exit code agrees with it.
fn close(outcome: Result<Tally>) -> ExitCode {
    let tally = outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        Tally::failure()
    });
    println!("{tally}");
    if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn print_usage() {
    println!("{USAGE}");
    for part in suites::PARTS {
        println!("  {:<12} {}", part.name, part.about);
    }
}

/// A form's words and flags; a flag that the form does not know is refused.
struct Options {
    words: Vec<String>,
    flags: Vec<String>,
}

impl Options {
    fn read(args: &[String], known: &[&str]) -> Result<Self> {
        let (flags, words): (Vec<String>, Vec<String>) =
            args.iter().cloned().partition(|a| a.starts_with('-'));
        for flag in &flags {
            if !known.contains(&flag.as_str()) {
                bail!("no such flag `{flag}` here");
            }
        }
        Ok(Self { words, flags })
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    fn expect_no_words(&self, form: &str) -> Result<()> {
        match self.words.first() {
            Some(word) => bail!("`{form}` takes no `{word}`"),
            None => Ok(()),
        }
    }
}
