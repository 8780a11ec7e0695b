//! The form of decision records: number, title, status, date, and four sections.

use super::Fault;
use crate::house::House;
use crate::tree::{File, Tree};

const FOLDER: &str = "docs/decisions/";

const SECTIONS: &[&str] = &["## Context", "## Decision", "## Consequences", "## What would change it"];

pub(super) fn decisions(_: &House, tree: &Tree) -> Vec<Fault> {
    let records = tree.with_extension("md").filter(|file| file.path.starts_with(FOLDER));
    let mut faults = Vec::new();
    for (idx, file) in records.enumerate() {
        check_head(file, idx + 1, &mut faults);
        for section in SECTIONS {
            if !file.text.lines().any(|line| line == *section) {
                faults.push(Fault::new(&file.path, 1, format!("has no section `{section}`")));
            }
        }
    }
    faults
}

fn check_head(file: &File, expected: usize, faults: &mut Vec<Fault>) {
    let number = file.name().split('-').next().unwrap_or_default();
    let mut fault = |what: String| faults.push(Fault::new(&file.path, 1, what));
    if number != format!("{expected:04}") {
        fault(format!("numbers run on without a gap: this should be {expected:04}"));
    }
    if !file.text.starts_with(&format!("# {number}. ")) {
        fault(format!("opens with its number and title: `# {number}. …`"));
    }
    let status = file.text.lines().find_map(|line| line.strip_prefix("Status: "));
    if !status
        .is_some_and(|status| ["proposed", "accepted", "superseded"].iter().any(|s| status.starts_with(s)))
    {
        fault("has no `Status: proposed|accepted|superseded by …`".to_owned());
    }
    if !file.text.lines().any(|line| line.strip_prefix("Date: ").is_some_and(is_date)) {
        fault("has no `Date: yyyy-mm-dd`".to_owned());
    }
}

fn is_date(text: &str) -> bool {
    let is_number = |part: &str, len: usize| part.len() == len && part.chars().all(|c| c.is_ascii_digit());
    match text.split('-').collect::<Vec<_>>().as_slice() {
        [year, month, day] => is_number(year, 4) && is_number(month, 2) && is_number(day, 2),
        _ => false,
    }
}
