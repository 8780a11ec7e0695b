//! What a page of prose must look like: one title, links that lead somewhere, one sentence a line.

use super::Fault;
use crate::house::House;
use crate::tree::{File, Tree};

/// Words that end in a stop without ending a sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "etc.", "cf.", "vs.", "v.", "no."];

/// Where scenarios stand.
const CASES: &str = "crates/prove/scenarios/cases";

/// The lines of a page outside its code blocks.
fn prose(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    file.lines().filter(move |(_, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return false;
        }
        !is_code
    })
}

pub(super) fn titles(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("md") {
        let mut titles = prose(file).filter(|(_, line)| line.starts_with("# "));
        if titles.next().is_none() {
            faults.push(Fault::new(&file.path, 1, "has no title (`# …`)"));
        }
        for (number, _) in titles {
            faults.push(Fault::new(&file.path, number, "a second title"));
        }
    }
    faults
}

pub(super) fn links(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("md") {
        for (number, line) in prose(file) {
            for target in targets(line).filter(|target| !leads_somewhere(tree, file, target)) {
                faults.push(Fault::new(&file.path, number, format!("`{target}` leads nowhere")));
            }
        }
    }
    faults
}

/// What stands in `](…)`, code spans left out.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let outside_code = line.split('`').step_by(2);
    outside_code.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next()))
}

fn leads_somewhere(tree: &Tree, from: &File, target: &str) -> bool {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return true;
    }
    let (path, heading) =
        target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let path = if path.is_empty() { Some(from.path.clone()) } else { resolve(&from.path, path) };
    let Some(path) = path else { return false };
    match heading {
        None => tree.has(&path),
        Some(heading) => tree.get(&path).is_some_and(|page| has_heading(page, heading)),
    }
}

/// A path relative to a page's folder; `None` where it leaves the repository.
fn resolve(page: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

fn has_heading(page: &File, anchor: &str) -> bool {
    prose(page).any(|(_, line)| line.starts_with('#') && slug(line.trim_start_matches('#')) == anchor)
}

/// A heading's anchor as code forges make it.
fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Scenarios that are named as `name.scn`, to show that something is so.
pub(super) fn scenarios(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("md") {
        for (number, line) in prose(file) {
            let spans = line.split('`').skip(1).step_by(2);
            let named = spans.filter(|span| span.ends_with(".scn") && !span.contains(['/', ' ', '*']));
            for name in named.filter(|name| !tree.has(&format!("{CASES}/{name}"))) {
                faults.push(Fault::new(&file.path, number, format!("there is no scenario `{name}`")));
            }
        }
    }
    faults
}

pub(super) fn sentences(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("md") {
        for (number, line) in prose(file).filter(|(_, line)| !line.trim_start().starts_with('|')) {
            if has_second_sentence(line) {
                faults.push(Fault::new(&file.path, number, "a second sentence on the line"));
            }
        }
    }
    faults
}

/// Whether a sentence ends and another begins; the number of a list's item is no sentence.
fn has_second_sentence(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| match pair {
        [end, start] => {
            let is_item = end.trim_end_matches('.').parse::<u32>().is_ok();
            let is_end = end.ends_with(['.', '?', '!']) && !ABBREVIATIONS.contains(end) && !is_item;
            is_end && start.starts_with(|c: char| c.is_uppercase() || c == '`')
        }
        _ => false,
    })
}
