//! Matches paths and URLs with recursive patterns.

use super::text_match::glob;

/// A recursive pattern, with or without wildcards, against a path: it matches the path or one of the folders that the
/// path lies in.
pub(crate) fn is_below(path: &str, pattern: &str, separator: char) -> bool {
    if !pattern.contains(['*', '?']) {
        return is_at_or_below(path, pattern, separator);
    }
    let elements = elements(path, separator);
    match compare_plain(path, pattern, separator) {
        Plain::Differs => return false,
        Plain::AllEqual(is_match) => return is_match,
        Plain::UpToWildcard => {}
    }
    let root = if path.starts_with(separator) { separator.to_string() } else { String::new() };
    grows_into_match(root, &elements, path, pattern, separator)
}

/// A recursive pattern against a URL, whose scheme is one piece. What has no scheme never matches.
pub(crate) fn is_url_below(url: &str, pattern: &str, separator: char) -> bool {
    if !pattern.contains(['*', '?']) {
        return is_url_at_or_below(url, pattern, separator);
    }
    let Some((scheme, rest)) = split_scheme(url, separator) else { return false };
    grows_into_match(scheme, &elements(rest, separator), url, pattern, separator)
}

pub(crate) fn is_url_at_or_below(url: &str, value: &str, separator: char) -> bool {
    split_scheme(url, separator).is_some() && is_at_or_below(url, value, separator)
}

/// Without wildcards: the path itself, or what lies below it.
pub(crate) fn is_at_or_below(path: &str, value: &str, separator: char) -> bool {
    if path == value {
        return true;
    }
    let folder = value.strip_suffix(separator).unwrap_or(value);
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(separator))
}

/// Whether the path is the folder in which the policy's path stands.
pub(crate) fn is_parent(path: &str, value: &str, separator: char) -> bool {
    let Some((parent, _)) = value.rsplit_once(separator) else { return false };
    let path = path.strip_suffix(separator).unwrap_or(path);
    glob(path, parent)
}

fn elements(path: &str, separator: char) -> Vec<&str> {
    path.split(separator).filter(|element| !element.is_empty()).collect()
}

/// Tries the pattern on the path cut off behind each of its elements.
fn grows_into_match(start: String, elements: &[&str], path: &str, pattern: &str, separator: char) -> bool {
    if elements.is_empty() {
        return glob(path, pattern);
    }
    let mut grown = start;
    for (idx, element) in elements.iter().enumerate() {
        grown.push_str(element);
        if idx + 1 == elements.len() && path.ends_with(separator) {
            grown.push(separator);
        }
        if glob(&grown, pattern) {
            return true;
        }
        grown.push(separator);
    }
    false
}

/// How the leading elements without wildcards compare.
enum Plain {
    Differs,
    /// There is no wildcard among the elements that both have.
    AllEqual(bool),
    UpToWildcard,
}

fn compare_plain(path: &str, pattern: &str, separator: char) -> Plain {
    let (ours, theirs) = (elements(path, separator), elements(pattern, separator));
    for (element, wanted) in ours.iter().zip(&theirs) {
        if wanted.contains(['*', '?']) {
            return Plain::UpToWildcard;
        }
        if element != wanted {
            return Plain::Differs;
        }
    }
    // One of them is used up. A pattern with elements to spare has its wildcard among them.
    let is_folder_of_all = path.ends_with(separator)
        && theirs.len() == ours.len() + 1
        && theirs.last().is_some_and(|last| last.trim_matches('*').is_empty());
    Plain::AllEqual(ours.len() == theirs.len() || is_folder_of_all)
}

/// `s3a://` with however many separators, and the rest.
fn split_scheme(url: &str, separator: char) -> Option<(String, &str)> {
    let (name, rest) = url.split_once(':')?;
    let behind = rest.trim_start_matches(separator);
    let n_separators = rest.len().checked_sub(behind.len())?;
    if n_separators < 2 * separator.len_utf8() {
        return None;
    }
    let scheme = url.strip_suffix(behind)?;
    debug_assert!(scheme.starts_with(name), "the scheme begins with its name");
    Some((scheme.to_owned(), behind))
}
