//! What the pages promise: an invariant for each crate, one test command, and a list of all log fields.

use super::{Fault, source};
use crate::house::House;
use crate::tree::{File, Tree};

const TEST_COMMAND: &str = "cargo xtask test";

/// Each crate has a heading with its name in ARCHITECTURE.md, and under it says what it never does.
pub(super) fn invariants(house: &House, tree: &Tree) -> Vec<Fault> {
    const PAGE: &str = "ARCHITECTURE.md";
    let Some(page) = tree.get(PAGE) else {
        return vec![Fault::new(PAGE, 1, "is not there")];
    };
    house
        .crates
        .keys()
        .filter(|name| {
            let heading = format!("### `{name}`");
            let section = page.text.lines().skip_while(|line| *line != heading).skip(1);
            !section.take_while(|line| !line.starts_with('#')).any(|line| line.starts_with("**Invariant:** "))
        })
        .map(|name| {
            Fault::new(PAGE, 1, format!("`{name}` has no heading with an `**Invariant:** …` under it"))
        })
        .collect()
}

pub(super) fn commands(_: &House, tree: &Tree) -> Vec<Fault> {
    ["README.md", ".ci/run", "CONTRIBUTING.md"]
        .into_iter()
        .filter(|path| !tree.get(path).is_some_and(|file| file.text.contains(TEST_COMMAND)))
        .map(|path| Fault::new(path, 1, format!("does not give `{TEST_COMMAND}`")))
        .collect()
}

const LOG_MACROS: &[&str] =
    &["trace!(", "debug!(", "info!(", "warn!(", "error!(", "debug_span!(", "info_span!(", "error_span!("];

/// Every field of a log line stands in the page of log fields, so that one idea has one name.
pub(super) fn log_fields(_: &House, tree: &Tree) -> Vec<Fault> {
    let page = tree.get("docs/reference/log-fields.md").map(|file| file.text.as_str()).unwrap_or_default();
    let mut faults = Vec::new();
    for file in tree.with_extension("rs").filter(|file| file.path.starts_with("crates/")) {
        for (line, field) in fields(file) {
            if !page.contains(&format!("`{field}`")) {
                let what = format!("log field `{field}` is not listed in docs/reference/log-fields.md");
                faults.push(Fault::new(&file.path, line, what));
            }
        }
    }
    faults
}

/// The fields of the log macros in a file.
fn fields(file: &File) -> Vec<(usize, String)> {
    let lines: Vec<(usize, &str)> = source::production(file).collect();
    let mut found = Vec::new();
    for (idx, (number, line)) in lines.iter().enumerate() {
        let start = LOG_MACROS.iter().find_map(|name| Some((line.find(name)?, name.len())));
        let Some((at, len)) = start.filter(|_| !line.trim_start().starts_with("//")) else { continue };
        let is_other_name =
            line.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_'));
        if is_other_name {
            continue;
        }
        let rest = lines.iter().skip(idx + 1).map(|(_, line)| line.trim());
        let text: String =
            std::iter::once(line.get(at + len..).unwrap_or_default()).chain(rest.take(12)).collect();
        // An event's fields stand before its message, those of a span after its name.
        let is_span = line.get(at..at + len).is_some_and(|name| name.ends_with("_span!("));
        let fields = if is_span {
            let without_texts: String = text.split('"').step_by(2).collect();
            without_texts.split(';').next().unwrap_or_default().trim_end_matches(')').to_owned()
        } else {
            text.split(['"', ';']).next().unwrap_or_default().to_owned()
        };
        let names = fields.split(',').map(field_name).filter(|name| !name.is_empty());
        found.extend(names.map(|name| (*number, name.to_owned())));
    }
    found
}

/// The name in `%name`, `?name`, `name = value` or `name`; nothing for what is no field.
fn field_name(argument: &str) -> &str {
    let argument = argument.trim().trim_start_matches(['%', '?']);
    let name = argument.split('=').next().unwrap_or_default().trim();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if is_name { name.rsplit('.').next().unwrap_or(name) } else { "" }
}
