//! Scripts as policies hold them, turned into plain JavaScript: macros, and brackets that split texts.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Whole words, and the calls that they stand for.
const MACROS: [(&str, &str); 51] = [
    ("GET_TAG_NAMES", "ctx.tagNames"),
    ("GET_TAG_NAMES_Q", "ctx.tagNamesQ"),
    ("GET_TAG_ATTR_NAMES", "ctx.tagAttrNames"),
    ("GET_TAG_ATTR_NAMES_Q", "ctx.tagAttrNamesQ"),
    ("GET_TAG_ATTR", "ctx.tagAttr"),
    ("GET_TAG_ATTR_Q", "ctx.tagAttrQ"),
    ("GET_UG_NAMES", "ctx.ugNames"),
    ("GET_UG_NAMES_Q", "ctx.ugNamesQ"),
    ("GET_UG_ATTR_NAMES", "ctx.ugAttrNames"),
    ("GET_UG_ATTR_NAMES_Q", "ctx.ugAttrNamesQ"),
    ("GET_UG_ATTR", "ctx.ugAttr"),
    ("GET_UG_ATTR_Q", "ctx.ugAttrQ"),
    ("GET_UR_NAMES", "ctx.urNames"),
    ("GET_UR_NAMES_Q", "ctx.urNamesQ"),
    ("GET_USER_ATTR_NAMES", "ctx.userAttrNames"),
    ("GET_USER_ATTR_NAMES_Q", "ctx.userAttrNamesQ"),
    ("GET_USER_ATTR", "ctx.userAttr"),
    ("GET_USER_ATTR_Q", "ctx.userAttrQ"),
    ("GET_TAG_ATTR_CSV", "ctx.tagAttrCsv"),
    ("GET_TAG_ATTR_Q_CSV", "ctx.tagAttrCsvQ"),
    ("GET_UG_ATTR_CSV", "ctx.ugAttrCsv"),
    ("GET_UG_ATTR_Q_CSV", "ctx.ugAttrCsvQ"),
    ("TAG_ATTR_NAMES_CSV", "ctx.tagAttrNamesCsv()"),
    ("TAG_ATTR_NAMES_Q_CSV", "ctx.tagAttrNamesCsvQ()"),
    ("TAG_NAMES_CSV", "ctx.tagNamesCsv()"),
    ("TAG_NAMES_Q_CSV", "ctx.tagNamesCsvQ()"),
    ("UG_ATTR_NAMES_CSV", "ctx.ugAttrNamesCsv()"),
    ("UG_ATTR_NAMES_Q_CSV", "ctx.ugAttrNamesCsvQ()"),
    ("UG_NAMES_CSV", "ctx.ugNamesCsv()"),
    ("UG_NAMES_Q_CSV", "ctx.ugNamesCsvQ()"),
    ("UR_NAMES_CSV", "ctx.urNamesCsv()"),
    ("UR_NAMES_Q_CSV", "ctx.urNamesCsvQ()"),
    ("USER_ATTR_NAMES_CSV", "ctx.userAttrNamesCsv()"),
    ("USER_ATTR_NAMES_Q_CSV", "ctx.userAttrNamesCsvQ()"),
    ("HAS_TAG", "ctx.hasTag"),
    ("HAS_ANY_TAG", "ctx.hasAnyTag()"),
    ("HAS_NO_TAG", "!ctx.hasAnyTag()"),
    ("HAS_USER_ATTR", "ctx.hasUserAttr"),
    ("HAS_UG_ATTR", "ctx.hasUgAttr"),
    ("HAS_TAG_ATTR", "ctx.hasTagAttr"),
    ("IS_IN_GROUP", "ctx.isInGroup"),
    ("IS_IN_ROLE", "ctx.isInRole"),
    ("IS_IN_ANY_GROUP", "ctx.isInAnyGroup()"),
    ("IS_IN_ANY_ROLE", "ctx.isInAnyRole()"),
    ("IS_NOT_IN_ANY_GROUP", "!ctx.isInAnyGroup()"),
    ("IS_NOT_IN_ANY_ROLE", "!ctx.isInAnyRole()"),
    ("IS_ACCESS_TIME_AFTER", "ctx.isAccessTimeAfter"),
    ("IS_ACCESS_TIME_BEFORE", "ctx.isAccessTimeBefore"),
    ("IS_ACCESS_TIME_BETWEEN", "ctx.isAccessTimeBetween"),
    // Spellings that Ranger's documentation has besides.
    ("USER_ATTR_NAMES_CSV_Q", "ctx.userAttrNamesCsvQ()"),
    ("TAG_NAMES_CSV_Q", "ctx.tagNamesCsvQ()"),
];

/// Names under which a request is spread out as plain data.
const DATA_NAMES: [&str; 12] =
    ["_ctx", "REQ", "RES", "TAG", "TAGNAMES", "TAGS", "UGA", "UG", "UGNAMES", "URNAMES", "USER", "J"];

#[expect(clippy::unwrap_used, reason = "the pattern is constant, and a test compiles it")]
static BRACKETS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\[\[([}{\$"a-zA-Z0-9_.\[\]]+)(,['"](.+?)['"])*\]\]"#).unwrap());

/// The script as JavaScript.
pub(crate) fn rewritten(source: &str) -> String {
    split_brackets(&expanded(source)).into_owned()
}

/// Whether the script names any of the plain data.
pub(crate) fn names_data(script: &str) -> bool {
    words(script).any(|(word, is_word)| is_word && DATA_NAMES.contains(&word))
}

fn expanded(source: &str) -> String {
    let expand = |(word, is_word): (_, bool)| match is_word {
        true => MACROS.iter().find(|(name, _)| *name == word).map_or(word, |(_, call)| *call),
        false => word,
    };
    words(source).map(expand).collect()
}

/// Runs of letters, digits and underscores, and what stands between them.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let starts = is_word(rest.chars().next()?);
        let end = rest.find(|c| is_word(c) != starts).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some((word, starts))
    })
}

/// `[[a]]` is `a.split(",")`, and `[[a,'|']]` is `a.split("|")`.
fn split_brackets(script: &str) -> Cow<'_, str> {
    if !script.contains("[[") || !script.contains("]]") {
        return Cow::Borrowed(script);
    }
    let mut split = script.to_owned();
    for found in BRACKETS.captures_iter(script) {
        let part = |at| found.get(at).map_or("", |part| part.as_str());
        let delimiter = if found.get(3).is_some() { part(3) } else { "," };
        split = split.replace(part(0), &format!("{}.split(\"{delimiter}\")", part(1)));
    }
    Cow::Owned(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_whole_words() {
        let check = |source: &str, expected: &str| assert_eq!(rewritten(source), expected);
        check("IS_IN_ROLE('a') && HAS_NO_TAG", "ctx.isInRole('a') && !ctx.hasAnyTag()");
        check("GET_TAG_ATTR_Q('a')+GET_TAG_ATTR('b')", "ctx.tagAttrQ('a')+ctx.tagAttr('b')");
        check("MY_HAS_TAG('a')", "MY_HAS_TAG('a')");
    }

    #[test]
    fn double_brackets_split_a_text() {
        let check = |source: &str, expected: &str| assert_eq!(rewritten(source), expected);
        check(
            "[[TAG.value]].intersects([[USER[TAG._type]]])",
            "TAG.value.split(\",\").intersects(USER[TAG._type].split(\",\"))",
        );
        check("[[\"$USER.eventType\",'|']].includes(x)", "\"$USER.eventType\".split(\"|\").includes(x)");
        check("[[1, 2]]", "[[1, 2]]");
    }

    #[test]
    fn plain_data_is_named_by_whole_words() {
        for script in ["TAG.level == 1", "x=USER", "J(REQ)"] {
            assert!(names_data(script), "{script}");
        }
        for script in ["ctx.tagNames()", "USERS", "tag.x", "MY_TAG"] {
            assert!(!names_data(script), "{script}");
        }
    }
}
