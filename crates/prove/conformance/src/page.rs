//! Writes the page that tells what differs from Ranger, with the law behind each difference.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::run::all_differences;

/// What stands above the table of differences.
const ABOVE: &str = include_str!("page/above.md");

/// The folder whose cases are about schedules alone.
const SCHEDULES: &str = "validityscheduler/";

/// The whole page, in Markdown.
pub fn page(dir: &Path) -> Result<String> {
    let mut page = ABOVE.to_owned();
    let differences = all_differences(dir)?;
    if differences.is_empty() {
        page.push_str("\nNo case of the data differs.\n");
        return Ok(page);
    }
    page.push_str("\n| case | Ranger's answer, and ours | law |\n|---|---|---|\n");
    for (case, lines) in differences {
        let answers: Vec<String> = lines.iter().map(|line| in_words(line)).collect();
        writeln!(page, "| `{case}` | {} | {} |", answers.join("; "), law(&case))?;
    }
    Ok(page)
}

/// `what: expected a, was b` without the evaluator's name.
fn in_words(line: &str) -> String {
    let line = line.strip_prefix("fast: ").unwrap_or(line);
    line.replace("expected ", "").replace(", was ", ", ours ").replace('|', "\\|")
}

fn law(case: &str) -> &'static str {
    if case.starts_with(SCHEDULES) {
        "a schedule is read on its own clock"
    } else {
        "what cannot be evaluated counts against the user"
    }
}
