//! Names of resources as one text, `type:a/b/c`: the values of the levels from the root down to `type`.

use crate::model::{ResourceDef, ServiceDef};

/// The option of a definition that says what stands between values.
const SEPARATOR_OPTION: &str = "ranger.rrn.resource.sep";
const SEPARATOR: char = '/';
const ESCAPE: char = '\\';

/// Why a name names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceNameError {
    #[error("invalid resource - empty")]
    Empty,
    #[error("`{kind}`: resource type not found")]
    UnknownType { kind: String },
    #[error("invalid resource `{name}` - does not match template `{template}`")]
    OtherShape { name: String, template: String },
}

/// The levels that a name names with their values, from the root inwards.
///
/// A separator may be escaped; the last level takes the rest, separators and all.
///
/// # Errors
/// The type is no level, or there are fewer values than levels.
pub fn parse(def: &ServiceDef, name: &str) -> Result<Vec<(String, String)>, ResourceNameError> {
    let (kind, values) = name.split_once(':').unwrap_or((name, ""));
    let levels = levels_down_to(&def.resources, kind)
        .ok_or_else(|| ResourceNameError::UnknownType { kind: kind.to_owned() })?;
    if values.trim().is_empty() {
        return Err(ResourceNameError::Empty);
    }
    let separator = separator(def);
    let parts = split(values, separator, levels.len());
    if parts.len() < levels.len() {
        let template = levels.join(&separator.to_string());
        return Err(ResourceNameError::OtherShape { name: values.to_owned(), template });
    }
    Ok(levels.into_iter().map(str::to_owned).zip(parts).collect())
}

/// The name of a resource without its type, whose values are given from the root inwards.
pub fn write<'v>(def: &ServiceDef, values: impl IntoIterator<Item = &'v str>) -> String {
    let separator = separator(def);
    let values: Vec<&str> = values.into_iter().collect();
    let mut text = String::new();
    for (depth, value) in values.iter().enumerate() {
        if depth > 0 {
            text.push(separator);
        }
        if depth + 1 == values.len() {
            text.push_str(value);
        } else {
            text.push_str(&value.replace(separator, &format!("{ESCAPE}{separator}")));
        }
    }
    text
}

fn separator(def: &ServiceDef) -> char {
    def.options.get(SEPARATOR_OPTION).and_then(|text| text.chars().next()).unwrap_or(SEPARATOR)
}

/// The names of the levels from the root to `kind`; `None` if there is no such level, or no root.
fn levels_down_to<'d>(defs: &'d [ResourceDef], kind: &str) -> Option<Vec<&'d str>> {
    let level = |name: &str| defs.iter().find(|def| def.name == name);
    let mut at = level(kind)?;
    let mut levels = vec![at.name.as_str()];
    while let Some(parent) = at.parent.as_deref().filter(|name| !name.is_empty()) {
        at = level(parent)?;
        levels.push(&at.name);
        if levels.len() > defs.len() {
            return None;
        }
    }
    levels.reverse();
    Some(levels)
}

/// The parts between separators, at most so many; an escape takes the next character as it is.
fn split(text: &str, separator: char, n_parts: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == ESCAPE {
            part.extend(rest.next());
        } else if c == separator && parts.len() + 1 < n_parts {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::{ResourceNameError, parse, write};
    use crate::defs;

    #[test]
    fn a_name_gives_the_values_down_to_its_type_and_the_last_takes_the_rest() {
        let values = |name: &str| -> Vec<String> {
            parse(&defs::hive(), name).unwrap().into_iter().map(|(_, value)| value).collect()
        };
        assert_eq!(values("table:db/t"), ["db", "t"]);
        assert_eq!(values("table:db/a/b"), ["db", "a/b"]);
        assert_eq!(values("table:a\\/b/t"), ["a/b", "t"]);
        assert_eq!(values("table:a\\\\/t"), ["a\\", "t"]);
        assert_eq!(values("column:db/t/c"), ["db", "t", "c"]);
        assert_eq!(write(&defs::hive(), ["a/b", "c/d"]), "a\\/b/c/d");
    }

    #[test]
    fn a_name_of_another_shape_names_nothing() {
        let fault = |name: &str| parse(&defs::hive(), name).unwrap_err();
        assert_eq!(fault("table:"), ResourceNameError::Empty);
        assert!(matches!(fault("shelf:a"), ResourceNameError::UnknownType { .. }));
        assert!(fault("column:db/t").to_string().contains("`database/table/column`"));
    }
}
