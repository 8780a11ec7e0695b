//! A suite's outcome as JSON, as a page and as a table on the terminal.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::machine::Machine;

/// What a suite found out.
#[derive(Clone, Debug)]
pub struct Report {
    pub suite: &'static str,
    pub title: String,
    /// When it was begun, as in `2026-11-30T12:00:00Z`.
    pub began: String,
    pub command: String,
    pub machine: Machine,
    /// Load before and after.
    pub load: (Option<f64>, Option<f64>),
    pub versions: Map<String, Value>,
    pub settings: Map<String, Value>,
    /// By name, in the order in which they are to be read.
    pub figures: Vec<(String, f64)>,
    /// What else belongs to the figures, such as hashes.
    pub details: Value,
    /// Whole sentences that a reader of the figures must know.
    pub remarks: Vec<String>,
    /// The figures once more, as a person reads them.
    pub grid: Grid,
    /// The figures that sum the others up, with what each means.
    pub sums: Vec<(String, f64, String)>,
}

/// A table; the first column stands to the left and the others to the right.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate();
            let cells: Vec<String> = cells
                .map(|(column, (cell, width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                })
                .collect();
            let _ = writeln!(out, "{}", cells.join("  ").trim_end());
        }
        out
    }

    fn markdown(&self) -> String {
        let rule = self.head.iter().enumerate().map(|(column, _)| if column == 0 { "---" } else { "---:" });
        let mut out = format!("| {} |\n|{}|\n", self.head.join(" | "), rule.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out
    }
}

/// What a reader of the figures must know of how they came about.
pub fn remarks(is_quick: bool, load: Option<f64>) -> Vec<String> {
    let mut remarks = Vec::new();
    if cfg!(debug_assertions) {
        remarks.push("This is a build without optimization: its figures say nothing of speed.".to_owned());
    }
    if is_quick {
        remarks.push("A quick run is too short for its figures to be quoted.".to_owned());
    }
    if load.is_some_and(|load| load > 0.5) {
        remarks.push("Other work ran on the machine, so read the ratios, and not the times.".to_owned());
    }
    remarks
}

/// The middle of the values, 0 of none.
pub fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// All suites of a run in one document.
pub fn json(reports: &[Report]) -> String {
    let mut figures = Map::new();
    let mut document = Map::new();
    for report in reports {
        figures.extend(report.figures.iter().map(|(name, value)| (name.clone(), json!(rounded(*value)))));
    }
    document.insert("figures".to_owned(), Value::Object(figures));
    if let Some(first) = reports.first() {
        document.insert("machine".to_owned(), first.machine.json());
    }
    let by_suite = |part: fn(&Report) -> Value| -> Value {
        match reports {
            [one] => part(one),
            several => several.iter().map(|report| (report.suite.to_owned(), part(report))).collect(),
        }
    };
    document.insert("began".to_owned(), by_suite(|report| report.began.clone().into()));
    document.insert("command".to_owned(), by_suite(|report| report.command.clone().into()));
    document.insert("load".to_owned(), by_suite(|report| json!([report.load.0, report.load.1])));
    document.insert("versions".to_owned(), by_suite(|report| Value::Object(report.versions.clone())));
    document.insert("settings".to_owned(), by_suite(|report| Value::Object(report.settings.clone())));
    document.insert("remarks".to_owned(), by_suite(|report| json!(report.remarks)));
    document.insert("details".to_owned(), by_suite(|report| report.details.clone()));
    format!("{:#}\n", Value::Object(document))
}

/// Digits beyond these are noise.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

impl Report {
    /// What the run closes with.
    pub fn table(&self) -> String {
        let mut out = format!("\n{}\n\n{}\n", self.title, self.grid.text());
        for (name, value, meaning) in &self.sums {
            let _ = writeln!(out, "{name} = {value:.3} ({meaning})");
        }
        for remark in &self.remarks {
            let _ = writeln!(out, "{remark}");
        }
        out
    }

    /// The page of a full run.
    pub fn page(&self) -> String {
        let mut out = format!("# {}\n\n", self.title);
        let _ = writeln!(out, "Written by `{}`; [how to read it](README.md).\n", self.command);
        let machine = &self.machine;
        let _ = writeln!(
            out,
            "Begun {} on {} with {} processors ({}) and {} GiB of memory.",
            self.began, machine.system, machine.n_processors, machine.processor, machine.memory_gib
        );
        if let (Some(before), Some(after)) = self.load {
            let _ =
                writeln!(out, "The machine's load was {before:.1} before the run and {after:.1} at its end.");
        }
        for remark in &self.remarks {
            let _ = writeln!(out, "{remark}");
        }
        out.push_str("\n| figure | value | what it is |\n|---|---:|---|\n");
        for (name, value, meaning) in &self.sums {
            let _ = writeln!(out, "| `{name}` | {value:.3} | {meaning} |");
        }
        let _ = write!(out, "\n{}\n", self.grid.markdown());
        out.push_str("| with | |\n|---|---|\n");
        for (name, value) in self.versions.iter().chain(&self.settings) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(out, "| {} | {} |", name.replace('_', " "), value.replace('|', "\\|"));
        }
        out
    }
}
