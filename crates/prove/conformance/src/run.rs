//! Goes through the files of a folder, each by the driver of its format, and sums what was found.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use crate::corpus::Corpus;
use crate::formats;
use crate::report::{Case, FileReport, Outcome, Sum};
use crate::settings::View;

/// Which evaluator answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// The product's own, with its index.
    Fast,
    /// The second one, which is slow and easy to read.
    Obvious,
    Both,
}

/// What a run is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    pub engine: EngineChoice,
    pub is_verbose: bool,
    /// Only files whose path contains this.
    pub filter: Option<String>,
    /// Where files lie that tests name, if not in the folder itself.
    pub references: Option<PathBuf>,
}

/// Runs every file of the folder and prints what was found of each.
pub fn run(dir: &Path, options: &Options) -> Result<Sum> {
    let corpus = Corpus::new(dir, options.references.as_deref());
    let mut sum = Sum::default();
    for path in corpus.paths()? {
        if options.filter.as_ref().is_some_and(|filter| !path.contains(filter.as_str())) {
            continue;
        }
        let report = run_file(&corpus, &path, options, View::Ranger);
        report.print(options.is_verbose);
        sum += report.sum();
        for (case, lines) in differences(&corpus, &report, options) {
            println!("  differs in our own settings: {case}: {}", lines.join("; "));
        }
    }
    Ok(sum)
}

/// Every case that our own settings answer otherwise than Ranger does, by its place, with what differs.
pub(crate) fn all_differences(dir: &Path) -> Result<Vec<(String, Vec<String>)>> {
    let corpus = Corpus::new(dir, None);
    let options = Options { engine: EngineChoice::Fast, is_verbose: false, filter: None, references: None };
    let mut all = Vec::new();
    for path in corpus.paths()? {
        let report = run_file(&corpus, &path, &options, View::Ranger);
        all.extend(differences(&corpus, &report, &options));
    }
    Ok(all)
}

/// The cases of a file that pass in Ranger's settings and not in ours.
fn differences(corpus: &Corpus, report: &FileReport, options: &Options) -> Vec<(String, Vec<String>)> {
    let own = run_file(corpus, &report.path, options, View::Sluice);
    let both = report.cases.iter().zip(own.cases);
    both.filter_map(|(in_ranger, own)| match (&in_ranger.outcome, own.outcome) {
        (Outcome::Passed, Outcome::Failed(lines)) => {
            Some((format!("{}#{}", report.path, in_ranger.number), lines))
        }
        _ => None,
    })
    .collect()
}

/// What was found of one file; one that cannot be read is a failure like any other.
fn run_file(corpus: &Corpus, path: &str, options: &Options, view: View) -> FileReport {
    let driven = corpus.load(path).and_then(|file| formats::drive(corpus, &file, options, view));
    let cases = driven.unwrap_or_else(|error| {
        let outcome = Outcome::Failed(vec![format!("{error:#}")]);
        vec![Case { number: 0, name: "the file as a whole".to_owned(), outcome }]
    });
    FileReport { path: path.to_owned(), cases }
}
