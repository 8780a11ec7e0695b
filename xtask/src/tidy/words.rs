//! Words that no file of the repository may hold, and line ends that no editor should leave.

use super::Fault;
use crate::house::House;
use crate::tree::Tree;

pub(super) fn banned(house: &House, tree: &Tree) -> Vec<Fault> {
    let patterns: Vec<String> = house.words.banned.iter().map(|word| word.to_lowercase()).collect();
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| !house.words.exempt_files.contains(&file.path)) {
        let text = file.text.to_lowercase();
        // Most words stand nowhere in most files, and that is quickly seen.
        for pattern in patterns.iter().filter(|pattern| text.contains(literal_start(pattern))) {
            let pattern_chars: Vec<char> = pattern.chars().collect();
            for (idx, line) in text.lines().enumerate() {
                let line: Vec<char> = line.chars().collect();
                if holds(&line, &pattern_chars) {
                    let what = format!("`{pattern}` is a banned word (house.toml)");
                    faults.push(Fault::new(&file.path, idx + 1, what));
                }
            }
        }
    }
    faults
}

fn literal_start(pattern: &str) -> &str {
    pattern.split('#').next().unwrap_or(pattern)
}

/// Whether the pattern stands in the line as whole words. `#` stands for itself and for any digit.
fn holds(line: &[char], pattern: &[char]) -> bool {
    let fits = |at: usize| {
        let Some(piece) = line.get(at..at + pattern.len()) else { return false };
        let is_same = piece.iter().zip(pattern).all(|(c, p)| c == p || (*p == '#' && c.is_ascii_digit()));
        is_same
            && is_border(at.checked_sub(1).and_then(|i| line.get(i)), pattern.first())
            && is_border(line.get(at + pattern.len()), pattern.last())
    };
    !pattern.is_empty() && (0..line.len()).any(fits)
}

/// A word ends where a letter meets something else; a pattern that ends in a sign or digit is its own border.
fn is_border(outside: Option<&char>, inside: Option<&char>) -> bool {
    let is_letter = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    !(is_letter(outside) && is_letter(inside))
}

/// Expected outputs may need odd line ends, so only sources and prose are looked at.
pub(super) fn line_ends(_: &House, tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in &tree.files {
        if !["rs", "md", "toml"].iter().any(|extension| file.has_extension(extension)) {
            continue;
        }
        for (number, line) in file.lines().filter(|(_, line)| line.ends_with([' ', '\t', '\r'])) {
            let _ = line;
            faults.push(Fault::new(&file.path, number, "white space at the end of the line"));
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            faults.push(Fault::new(&file.path, file.lines().count(), "no line end at the end of the file"));
        }
    }
    faults
}
