//! Looks at a statement's first word, for the one statement that is refused before the engine sees it.

use stdx::ErrorKind;

use crate::answer::Refusal;

/// In the engine's own words, for it is refused before the engine sees it: its sub-protocol is not spoken here.
pub(super) fn copy_refused() -> Refusal {
    Refusal::of(ErrorKind::Unsupported, "`COPY` is not supported").with_hint("see docs/reference/limits.md")
}

/// Whether the text is a `COPY`, whatever comments stand before it.
pub(crate) fn is_copy(statement: &str) -> bool {
    let rest = after_blanks(statement);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    rest.get(..end).is_some_and(|word| word.eq_ignore_ascii_case("copy"))
}

/// Leaves off white space and comments, nested ones too.
fn after_blanks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = after_comment(comment);
        } else {
            return rest;
        }
    }
}

fn after_comment(comment: &str) -> &str {
    let mut depth = 1;
    let mut rest = comment;
    while depth > 0 {
        let Some(at) = rest.find(['*', '/']) else { return "" };
        let here = rest.get(at..).unwrap_or("");
        let (step, after) = match (here.strip_prefix("*/"), here.strip_prefix("/*")) {
            (Some(after), _) => (-1, after),
            (None, Some(after)) => (1, after),
            (None, None) => (0, here.get(1..).unwrap_or("")),
        };
        depth += step;
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_is_seen_behind_comments_and_in_any_case() {
        let check = |text: &str, expected: bool| assert_eq!(is_copy(text), expected, "{text}");
        check("COPY t FROM STDIN", true);
        check("  -- why\n /* a /* b */ * / */ copy(SELECT 1) TO STDOUT", true);
        check("COPYING", false);
        check("SELECT 'copy'", false);
        check("/* COPY", false);
        check("-- COPY", false);
        check("", false);
    }
}
