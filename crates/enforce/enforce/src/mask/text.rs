//! Masks of one text value, character by character.

/// How many characters the SHOW masks leave.
const SHOWN: usize = 4;

/// Upper-case letters to `X`, other letters to `x`, numbers to `n`; ASCII punctuation and white space stay.
///
/// Whatever is left (marks, symbols, emoji) becomes `x`: it may tell as much as a letter.
pub(crate) fn classes(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| {
        if c.is_uppercase() {
            'X'
        } else if c.is_alphabetic() {
            'x'
        } else if c.is_numeric() {
            'n'
        } else if stays(c) {
            c
        } else {
            'x'
        }
    }));
}

/// The last four characters stay, the others become `x`, punctuation stays.
pub(crate) fn last_4(text: &str, show_short_values: bool, out: &mut String) {
    let n_chars = text.chars().count();
    let n_hidden = hidden(n_chars, show_short_values);
    out.extend(text.chars().enumerate().map(|(i, c)| if i < n_hidden { cover(c) } else { c }));
}

/// The first four characters stay, the others become `x`, punctuation stays.
pub(crate) fn first_4(text: &str, show_short_values: bool, out: &mut String) {
    let n_chars = text.chars().count();
    let n_shown = n_chars - hidden(n_chars, show_short_values);
    out.extend(text.chars().enumerate().map(|(i, c)| if i < n_shown { c } else { cover(c) }));
}

/// A value of four characters or fewer is masked whole, unless it is set to be shown.
fn hidden(n_chars: usize, show_short_values: bool) -> usize {
    if n_chars > SHOWN {
        n_chars - SHOWN
    } else if show_short_values {
        0
    } else {
        n_chars
    }
}

fn cover(c: char) -> char {
    if stays(c) { c } else { 'x' }
}

fn stays(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_whitespace()
}
