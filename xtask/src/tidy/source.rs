//! What a Rust file must look like: its first sentence, its length, its name and its tests.

use super::Fault;
use crate::house::House;
use crate::tree::{File, Tree};

/// The lines of a file that are not its tests; none for a file that is all tests.
pub(super) fn production(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let end = if is_test_file(file) { 0 } else { first_test_line(file).unwrap_or(usize::MAX) };
    file.lines().take_while(move |(number, _)| *number < end)
}

fn test_part(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let start = if is_test_file(file) { 1 } else { first_test_line(file).unwrap_or(usize::MAX) };
    file.lines().skip_while(move |(number, _)| *number < start)
}

fn is_test_file(file: &File) -> bool {
    file.name() == "tests.rs" || file.path.split('/').any(|folder| folder == "tests")
}

/// Where the module of tests begins: `#[cfg(test)]` straight above a `mod` at the file's outermost level.
fn first_test_line(file: &File) -> Option<usize> {
    let mut lines = file.lines().peekable();
    while let Some((number, line)) = lines.next() {
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|(_, next)| next.starts_with("mod ")) {
            return Some(number);
        }
    }
    None
}

pub(super) fn openings(house: &House, tree: &Tree) -> Vec<Fault> {
    tree.with_extension("rs")
        .filter_map(|file| opening_fault(house, file).map(|what| Fault::new(&file.path, 1, what)))
        .collect()
}

fn opening_fault(house: &House, file: &File) -> Option<String> {
    let Some(first) = file.text.lines().next().and_then(|line| line.strip_prefix("//! ")) else {
        return Some("opens without `//!` and a sentence".to_owned());
    };
    let lower = first.to_lowercase();
    if let Some(opening) =
        house.names.empty_openings.iter().find(|opening| lower.starts_with(opening.as_str()))
    {
        return Some(format!("opens with `{opening}`, which does not say what it does"));
    }
    if first.split_whitespace().count() < 3 {
        return Some("the first line says next to nothing".to_owned());
    }
    let paragraph = file.text.lines().map_while(|line| line.strip_prefix("//! "));
    let is_closed = paragraph.last().is_some_and(|line| line.ends_with(['.', '?', ':']));
    (!is_closed).then(|| "the first paragraph ends with a full stop".to_owned())
}

pub(super) fn lengths(house: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("rs") {
        let lines: Vec<(usize, &str)> = production(file).collect();
        let max = house.limits.file_lines_max;
        if lines.len() > max {
            let what = format!("{} production lines, over {max}", lines.len());
            faults.push(Fault::new(&file.path, 1, what));
        }
        let max = house.limits.function_lines_max;
        for function in functions(&lines) {
            if function.n_lines > max {
                let what = format!("`{}` has {} lines, over {max}", function.name, function.n_lines);
                faults.push(Fault::new(&file.path, function.line, what));
            }
        }
    }
    faults
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    n_lines: usize,
}

/// Functions with bodies. In formatted code a body ends at the next `}` that stands as far in as its `fn`.
fn functions<'a>(lines: &[(usize, &'a str)]) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    for (idx, (line, text)) in lines.iter().enumerate() {
        let Some(name) = function_name(text) else { continue };
        let indent = indent_of(text);
        let is_end =
            |t: &str| indent_of(t) == indent && (t.trim_start().starts_with('}') || t.ends_with(';'));
        let ends_at_once = text.ends_with(';') || text.ends_with('}');
        let end = if ends_at_once {
            Some(0)
        } else {
            lines.iter().skip(idx + 1).position(|(_, t)| is_end(t)).map(|rest| rest + 1)
        };
        if let Some(end) = end {
            found.push(Function { name, line: *line, n_lines: end + 1 });
        }
    }
    found
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name after `fn`, where the line is the head of a function.
fn function_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let is_before = |word: &str| {
        matches!(word, "async" | "const" | "unsafe" | "extern" | "\"C\"") || word.starts_with("pub")
    };
    let keyword = words.by_ref().find(|word| !is_before(word))?;
    if keyword != "fn" {
        return None;
    }
    words.next()?.split(['(', '<']).next()
}

pub(super) fn names(house: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("rs") {
        if file.name() == "mod.rs" {
            faults.push(Fault::new(
                &file.path,
                1,
                "a module's file stands beside its folder: `foo.rs`, not `foo/mod.rs`",
            ));
        }
        for part in file.path.split('/') {
            let stem = part.strip_suffix(".rs").unwrap_or(part);
            if house.names.banned.iter().any(|banned| banned == stem) {
                faults.push(Fault::new(&file.path, 1, format!("`{stem}` says nothing: name the thing")));
            }
        }
    }
    faults
}

pub(super) fn tests(house: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.with_extension("rs") {
        for (number, line) in test_part(file).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for text in house.tests.banned.iter().filter(|text| line.contains(text.as_str())) {
                faults.push(Fault::new(&file.path, number, format!("no `{text}` in a test")));
            }
        }
    }
    faults
}
