//! Compares one text with one pattern: equality, a beginning, an end, or a glob.

/// Whether letters of either case are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Sensitive,
    Insensitive,
}

pub(crate) fn fold(text: &str, case: Case) -> String {
    match case {
        Case::Sensitive => text.to_owned(),
        Case::Insensitive => text.to_lowercase(),
    }
}

/// How a value of a policy is compared. It is chosen from the text as written, before tokens are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Only `*`.
    Anything,
    Equal,
    /// `*` at the end only.
    StartsWith,
    /// `*` at the beginning only.
    EndsWith,
    Glob,
}

impl Shape {
    pub(crate) fn of(value: &str, has_wildcards: bool) -> Self {
        if !has_wildcards {
            return Self::Equal;
        }
        if value.contains('?') {
            return Self::Glob;
        }
        if !value.contains('*') {
            return Self::Equal;
        }
        if value.trim_matches('*').is_empty() {
            return Self::Anything;
        }
        if !value.trim_end_matches('*').contains('*') {
            return Self::StartsWith;
        }
        if !value.trim_start_matches('*').contains('*') {
            return Self::EndsWith;
        }
        Self::Glob
    }

    /// The part of the written value that the shape compares with.
    pub(crate) fn stem(self, value: &str) -> &str {
        match self {
            Self::StartsWith => value.trim_end_matches('*'),
            Self::EndsWith => value.trim_start_matches('*'),
            Self::Anything | Self::Equal | Self::Glob => value,
        }
    }

    /// `stem` is the policy's, with tokens filled in; both are folded already.
    pub(crate) fn is_match(self, text: &str, stem: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Equal => text == stem,
            Self::StartsWith => text.starts_with(stem),
            Self::EndsWith => text.ends_with(stem),
            Self::Glob => glob(text, stem),
        }
    }

    /// Whether something that begins with `text` could match.
    pub(crate) fn is_prefix_match(self, text: &str, stem: &str) -> bool {
        match self {
            Self::Anything | Self::EndsWith => true,
            Self::Equal => stem.starts_with(text),
            Self::StartsWith => stem.starts_with(text) || text.starts_with(stem),
            Self::Glob => glob_ends(text, stem).iter().any(|is_reached| *is_reached),
        }
    }
}

/// `*` is any run of characters, separators too, and `?` is exactly one.
pub(crate) fn glob(text: &str, pattern: &str) -> bool {
    glob_ends(text, pattern).last().copied().unwrap_or(false)
}

/// For each place in the pattern, whether the text can have been used up there.
fn glob_ends(text: &str, pattern: &str) -> Vec<bool> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut reached = vec![false; pattern.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    pass_stars(&mut reached, &pattern);
    for c in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (at, wanted) in pattern.iter().enumerate() {
            if !reached.get(at).copied().unwrap_or(false) {
                continue;
            }
            if *wanted == '*' {
                set(&mut next, at);
            } else if *wanted == '?' || *wanted == c {
                set(&mut next, at + 1);
            }
        }
        pass_stars(&mut next, &pattern);
        reached = next;
    }
    reached
}

/// A `*` may stand for nothing.
fn pass_stars(reached: &mut [bool], pattern: &[char]) {
    for (at, wanted) in pattern.iter().enumerate() {
        if *wanted == '*' && reached.get(at).copied().unwrap_or(false) {
            set(reached, at + 1);
        }
    }
}

fn set(reached: &mut [bool], at: usize) {
    if let Some(place) = reached.get_mut(at) {
        *place = true;
    }
}
