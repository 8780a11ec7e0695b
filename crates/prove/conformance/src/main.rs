//! Runs Ranger's test data from a folder and prints, for each file, how many cases passed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use conformance::{EngineChoice, Options};

/// Where the data lie beside the checkout.
const DEFAULT_DIR: &str = "../shared/conformance/ranger";

#[derive(Debug, Parser)]
#[command(name = "conformance", about = "The policy engine against Ranger's own test data")]
struct Arguments {
    /// The folder with the data
    #[arg(long, env = "SLUICE_CONFORMANCE", default_value = DEFAULT_DIR)]
    dir: PathBuf,
    /// Where files lie that tests name, such as definitions, if not in the folder itself
    #[arg(long, default_value = DEFAULT_DIR)]
    references: PathBuf,
    /// Which evaluator answers; with both, a case passes when both pass
    #[arg(long, value_enum, default_value_t = EngineChoice::Both)]
    engine: EngineChoice,
    /// Show expected and actual of every failure
    #[arg(short, long)]
    verbose: bool,
    /// Print the page that tells what differs from Ranger, and run nothing else
    #[arg(long)]
    page: bool,
    /// Only files whose path contains this
    filter: Option<String>,
}

fn main() -> ExitCode {
    let Arguments { dir, references, engine, verbose, page, filter } = Arguments::parse();
    if !dir.is_dir() {
        // Named in the page of limits, so that a checkout without the data is not taken for one that passed.
        println!("skipped conformance: there is no folder `{}`", dir.display());
        println!("0 passed, 0 failed, 1 skipped");
        return ExitCode::SUCCESS;
    }
    if page {
        return match conformance::page(&dir) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(2)
            }
        };
    }
    let options = Options { engine, is_verbose: verbose, filter, references: Some(references) };
    match conformance::run(&dir, &options) {
        Ok(sum) => {
            println!("{sum}");
            if sum.n_failed == 0 && sum.n_passed > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
