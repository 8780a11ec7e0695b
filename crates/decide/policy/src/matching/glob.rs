//! Wildcards over bytes of UTF-8: `*` takes any run of characters, `?` exactly one.

use std::collections::HashSet;

use smallvec::SmallVec;

/// The pattern with the stars that do something: a star before a `?` takes nothing, as Ranger's matcher has it.
fn skip_stars(pattern: &[u8]) -> Option<&[u8]> {
    let stars = pattern.iter().take_while(|b| **b == b'*').count();
    if stars == 0 { None } else { pattern.get(stars..) }
}

/// Whether the whole value is what the pattern describes.
pub(crate) fn matches(pattern: &[u8], value: &[u8]) -> bool {
    let (mut p, mut v) = (pattern, value);
    // Where to go on when the newest star has to take one more character.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some(after) = skip_stars(p) {
            p = after;
            if after.first() != Some(&b'?') {
                retry = Some((after, v));
            }
            continue;
        }
        match (p.split_first(), v.split_first()) {
            (None, None) => return true,
            (Some((b'?', p_rest)), Some(_)) => {
                p = p_rest;
                v = after_char(v);
                continue;
            }
            (Some((a, p_rest)), Some((b, v_rest))) if a == b => {
                p = p_rest;
                v = v_rest;
                continue;
            }
            _ => {}
        }
        let Some((after, taken)) = retry else { return false };
        if taken.is_empty() {
            return false;
        }
        let taken = after_char(taken);
        retry = Some((after, taken));
        (p, v) = (after, taken);
    }
}

/// What follows the first character.
fn after_char(text: &[u8]) -> &[u8] {
    let n_more = text.iter().skip(1).take_while(|b| **b & 0xC0 == 0x80).count();
    text.get(1 + n_more..).unwrap_or_default()
}

/// Whether the value can be the beginning of something that the pattern describes. Ranger's own notion of it, which
/// also takes values that go beyond a pattern without wildcards.
pub(crate) fn is_prefix(pattern: &[u8], value: &[u8]) -> bool {
    let tokens = tokens(pattern);
    let mut waiting = vec![(0, 0, false)];
    let mut seen = HashSet::new();
    let mut any = false;
    while let Some(from) = waiting.pop() {
        if !seen.insert(from) {
            continue;
        }
        let (token, at, after_star) = from;
        any = after_star;
        if prefix_attempt(&tokens, value, (token, at), &mut any, &mut waiting) {
            return true;
        }
    }
    any
}

/// One way through the pattern; other places where a token occurs are put aside.
fn prefix_attempt(
    tokens: &[&[u8]],
    value: &[u8],
    (first, mut at): (usize, usize),
    any: &mut bool,
    waiting: &mut Vec<(usize, usize, bool)>,
) -> bool {
    for (number, token) in tokens.iter().enumerate().skip(first) {
        match *token {
            b"?" => {
                let rest = value.get(at..).unwrap_or_default();
                if rest.is_empty() {
                    return false;
                }
                at = value.len() - after_char(rest).len();
                *any = false;
            }
            b"*" => {
                *any = true;
                if number + 1 == tokens.len() {
                    return true;
                }
            }
            token => {
                let rest = value.get(at..).unwrap_or_default();
                let token = token.get(..rest.len()).unwrap_or(token);
                if *any {
                    let Some(found) = find(rest, token) else { return false };
                    let next = rest.get(found + 1..).and_then(|later| find(later, token));
                    if let Some(next) = next {
                        waiting.push((number, at + found + 1 + next, true));
                    }
                    at += found + token.len();
                } else if rest.starts_with(token) {
                    at += token.len();
                } else {
                    return false;
                }
                *any = false;
            }
        }
    }
    true
}

/// A pattern as literal texts, `*` and `?`, runs of stars as one.
fn tokens(pattern: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.first() {
        let n = match first {
            b'?' => 1,
            b'*' => rest.iter().take_while(|b| **b == b'*').count(),
            _ => rest.iter().take_while(|b| !matches!(**b, b'*' | b'?')).count(),
        };
        let (token, after) = rest.split_at_checked(n).unwrap_or((rest, &[]));
        found.push(if *first == b'*' { b"*" } else { token });
        rest = after;
    }
    found
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

/// How paths are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separator(pub(crate) u8);

impl Separator {
    /// The elements of a path; empty ones do not count.
    fn elements(self, path: &[u8]) -> impl Iterator<Item = &[u8]> {
        path.split(move |b| *b == self.0).filter(|element| !element.is_empty())
    }

    /// Whether two separators stand side by side.
    pub(crate) fn is_doubled_in(self, path: &[u8]) -> bool {
        path.windows(2).any(|pair| pair == [self.0, self.0])
    }
}

/// Whether the pattern describes the path, or anything that the path is in.
pub(crate) fn matches_recursively(pattern: &[u8], path: &[u8], separator: Separator) -> bool {
    let Some(first) = path.first() else { return false };
    if path.iter().all(|b| *b == separator.0) {
        return matches(pattern, path);
    }
    let mut copy = SmallVec::<[u8; 256]>::new();
    let plain: &[u8] = if separator.is_doubled_in(path) {
        if *first == separator.0 {
            copy.push(separator.0);
        }
        join(&mut copy, separator, path);
        &copy
    } else {
        path
    };
    let mut described = separator.elements(pattern);
    let mut is_literal = true;
    let mut ends = element_ends(plain, 0, separator);
    for element in separator.elements(plain) {
        let Some(end) = ends.next() else { break };
        if is_literal {
            // Elements before the first wildcard are compared one by one, and a difference ends the search.
            match described.next() {
                Some(literal) if !literal.iter().any(|b| matches!(b, b'*' | b'?')) => {
                    if literal != element {
                        return false;
                    }
                    continue;
                }
                _ => is_literal = false,
            }
        }
        if matches(pattern, plain.get(..end).unwrap_or(plain)) {
            return true;
        }
    }
    if !is_literal {
        return false;
    }
    match (described.next(), described.next()) {
        (None, _) => true,
        (Some(b"*"), None) => path.last() == Some(&separator.0),
        _ => false,
    }
}

/// The same for an address with a scheme, which counts as one piece with the first element. An address without a
/// scheme is in nothing.
pub(crate) fn matches_address_recursively(pattern: &[u8], address: &[u8], separator: Separator) -> bool {
    let trimmed = address.trim_ascii();
    if !is_address(trimmed) {
        return false;
    }
    let colon = trimmed.iter().position(|b| *b == b':').unwrap_or_default();
    let scheme = trimmed.get(..colon + 3).unwrap_or(trimmed);
    let rest = trimmed.get(colon + 2..).unwrap_or_default();
    if separator.elements(rest).next().is_none() {
        return matches(pattern, address);
    }
    let mut plain = SmallVec::<[u8; 256]>::from_slice(scheme);
    if address.first() == Some(&separator.0) {
        plain.push(separator.0);
    }
    let start = plain.len();
    join(&mut plain, separator, rest);
    if trimmed.last() == Some(&separator.0) {
        plain.push(separator.0);
    }
    element_ends(&plain, start, separator).any(|end| matches(pattern, plain.get(..end).unwrap_or(&plain)))
        || (trimmed.last() == Some(&separator.0) && matches(pattern, &plain))
}

/// `scheme://`, with no third slash anywhere.
fn is_address(text: &[u8]) -> bool {
    find(text, b"://").is_some() && find(text, b":///").is_none()
}

fn join(into: &mut SmallVec<[u8; 256]>, separator: Separator, path: &[u8]) {
    for (number, element) in separator.elements(path).enumerate() {
        if number > 0 {
            into.push(separator.0);
        }
        into.extend_from_slice(element);
    }
}

/// Where each element ends, from `start` on.
fn element_ends(path: &[u8], start: usize, separator: Separator) -> impl Iterator<Item = usize> {
    (start + 1..=path.len()).filter(move |end| {
        let is_end = *end == path.len() || path.get(*end) == Some(&separator.0);
        is_end && end.checked_sub(1).and_then(|at| path.get(at)) != Some(&separator.0)
    })
}

#[cfg(test)]
mod tests {
    use super::{Separator, is_prefix, matches, matches_address_recursively, matches_recursively};

    fn check(by: impl Fn(&[u8], &[u8]) -> bool, pattern: &str, yes: &[&str], no: &[&str]) {
        for (values, expected) in [(yes, true), (no, false)] {
            for value in values {
                assert_eq!(by(pattern.as_bytes(), value.as_bytes()), expected, "`{pattern}` on `{value}`");
            }
        }
    }

    #[test]
    fn a_star_takes_any_run_and_a_question_mark_one_character() {
        check(matches, "f*n*e", &["fne", "finance", "f/n/e"], &["financ", "xfinance"]);
        check(matches, "t?", &["t1", "tä", "t€"], &["t", "t12"]);
        check(matches, "*a*b*", &["ab", "xaxbx"], &["ba"]);
        check(matches, "a?*", &["ab", "abc"], &["a"]);
        check(matches, "*ä?c", &["ä€c", "xäbc"], &["äc"]);
    }

    #[test]
    fn a_star_before_a_question_mark_takes_nothing() {
        check(matches, "*?", &["a"], &["", "ab"]);
        check(matches, "a*?b", &["axb"], &["axxb"]);
    }

    #[test]
    fn a_value_may_be_the_beginning_of_what_a_pattern_describes() {
        check(is_prefix, "abc", &["", "a", "abc", "abcd"], &["x", "abx"]);
        check(is_prefix, "a*c", &["a", "axyz", "axc"], &["b"]);
        check(is_prefix, "a?c", &["ab", "abc"], &["abx"]);
    }

    #[test]
    fn a_recursive_pattern_takes_what_lies_below() {
        let by = |pattern: &[u8], path: &[u8]| matches_recursively(pattern, path, Separator(b'/'));
        check(by, "/a/*/c", &["/a/x/c", "/a/x/c/d", "/a//x/c"], &["/a/x", "/b/x/c"]);
        check(by, "/flat/*", &["/flat/", "/flat/x", "/flat/x/y"], &["/flat", "/flats/x"]);
        check(by, "/a*", &["/ab", "/ab/c"], &["/b/ab", ""]);
        check(by, "/*", &["/", "/a"], &["a"]);
    }

    #[test]
    fn a_recursive_address_needs_a_scheme() {
        let by = |pattern: &[u8], path: &[u8]| matches_address_recursively(pattern, path, Separator(b'/'));
        check(
            by,
            "s3a://b/*",
            &["s3a://b/x", "s3a://b/x/y", " s3a://b/x ", "s3a://b/"],
            &["b/x", "s3a:///b/x"],
        );
        check(by, "s3a://b*", &["s3a://bucket/x"], &["s3b://bucket"]);
    }

    /// The same read aloud.
    fn plainly(pattern: &[u8], value: &[u8]) -> bool {
        match pattern.split_first() {
            None => value.is_empty(),
            Some((b'*', rest)) if rest.first() == Some(&b'*') => plainly(rest, value),
            Some((b'*', rest)) if rest.first() == Some(&b'?') => plainly(rest, value),
            Some((b'*', rest)) => (0..=value.len()).any(|taken| plainly(rest, &value[taken..])),
            Some((b'?', rest)) => !value.is_empty() && plainly(rest, &value[1..]),
            Some((c, rest)) => value.first() == Some(c) && plainly(rest, &value[1..]),
        }
    }

    proptest::proptest! {
        #[test]
        fn wildcards_are_what_they_read_as(pattern in "[ab*?]{0,8}", value in "[ab]{0,8}") {
            let (pattern, value) = (pattern.as_bytes(), value.as_bytes());
            proptest::prop_assert_eq!(matches(pattern, value), plainly(pattern, value));
        }

        #[test]
        fn no_pattern_makes_a_matcher_stop(pattern in "[ab/:*?é]{0,12}", value in "[ab/:é]{0,12}") {
            let (pattern, value) = (pattern.as_bytes(), value.as_bytes());
            let separator = Separator(b'/');
            let _ = is_prefix(pattern, value);
            let _ = matches_address_recursively(pattern, value, separator);
            proptest::prop_assert!(
                matches_recursively(pattern, value, separator) || !matches(pattern, value)
                    || value.is_empty() || value.contains(&b'/')
            );
        }
    }
}
