//! Which texts may name a schema, table, view or column, so that a policy's patterns and a file's path stay unambiguous.

use crate::error::{CatalogError, Result};

/// The longest name, in bytes; the catalog's tables in other databases allow 255 for a whole namespace.
const NAME_BYTES_MAX: usize = 128;

/// The deepest namespace.
const NAMESPACE_DEPTH_MAX: usize = 8;

pub(crate) fn check(name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > NAME_BYTES_MAX {
        "it is longer than 128 bytes"
    } else if name.contains('.') {
        "it contains a dot"
    } else if name.contains(['/', '*', '?', '{', '}', '$']) {
        "it contains one of / * ? { } $"
    } else if name.chars().any(char::is_control) {
        "it contains a control character"
    } else if name.trim() != name {
        "it begins or ends with a space"
    } else {
        return Ok(());
    };
    Err(CatalogError::BadName { name: name.to_owned(), why })
}

/// Checks every part, and gives the dotted text under which the catalog keeps the namespace.
pub(crate) fn namespace(parts: &[String]) -> Result<String> {
    if parts.is_empty() {
        return Err(CatalogError::BadName { name: String::new(), why: "a schema needs a name" });
    }
    if parts.len() > NAMESPACE_DEPTH_MAX {
        return Err(CatalogError::Limit { what: "levels in a schema's name", limit: NAMESPACE_DEPTH_MAX });
    }
    parts.iter().try_for_each(|part| check(part))?;
    Ok(parts.join("."))
}

/// How a table or view is named in messages: the namespace and the name, dotted.
pub(crate) fn shown(namespace: &[String], name: &str) -> String {
    let mut shown = namespace.join(".");
    shown.push('.');
    shown.push_str(name);
    shown
}

/// Finds the existing name that differs from `name` by case alone.
pub(crate) fn case_twin<'a>(name: &str, existing: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    existing.into_iter().find(|other| *other != name && other.to_lowercase() == folded)
}
