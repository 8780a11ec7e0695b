//! Parts of nested columns: what policies call them, and how what is said of them is gathered under their columns.

use catalog::FIELD_ID_KEY;
use datafusion::arrow::datatypes::{Field, FieldRef};
use policy::{ColumnRule, PartRule, TableRules};

/// A part of a nested column.
pub(crate) struct Part {
    /// From the column down.
    pub(crate) path: Vec<String>,
    pub(crate) field: FieldRef,
}

impl Part {
    pub(crate) fn field_id(&self) -> Option<i32> {
        self.field.metadata().get(FIELD_ID_KEY)?.parse().ok()
    }

    /// How policies name it, below a column of that name.
    pub(crate) fn name(&self, column: &str) -> String {
        format!("{column}.{}", self.path.join("."))
    }
}

/// All parts of a column, those that hold others first.
pub(crate) fn parts_of(column: &Field) -> Vec<Part> {
    let mut parts = Vec::new();
    add(column, &[], &mut parts);
    parts
}

fn add(field: &Field, path: &[String], parts: &mut Vec<Part>) {
    for (word, part) in enforce::mask::parts_in(field.data_type()) {
        let path: Vec<String> = path.iter().cloned().chain([word.to_owned()]).collect();
        parts.push(Part { path: path.clone(), field: FieldRef::clone(part) });
        add(part, &path, parts);
    }
}

/// Takes the rules for parts, which stand behind those for columns in the order of `parts`, to their columns. A rule
/// for a whole stands for all that is in it.
pub(crate) fn gather(rules: &mut TableRules, n_columns: usize, parts: Vec<(usize, Part)>) {
    let of_parts = rules.columns.split_off(n_columns.min(rules.columns.len()));
    rules.tags.truncate(n_columns);
    for ((column, part), rule) in parts.into_iter().zip(of_parts) {
        let Some(own) = rules.columns.get_mut(column) else { continue };
        if rule == ColumnRule::Raw {
            continue;
        }
        let rule = PartRule { path: part.path, rule };
        match own {
            ColumnRule::Raw => *own = ColumnRule::Parts(vec![rule]),
            ColumnRule::Parts(known) => {
                if !known.iter().any(|whole| rule.path.starts_with(&whole.path)) {
                    known.push(rule);
                }
            }
            ColumnRule::Masked(_) | ColumnRule::Restricted(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::{DataType, Fields};

    use super::*;

    fn restricted() -> ColumnRule {
        ColumnRule::Restricted(policy::Restriction { policy: None, policy_name: None, reason: String::new() })
    }

    fn person() -> Field {
        let address = DataType::Struct(Fields::from(vec![Field::new("zip", DataType::Utf8, true)]));
        let entries = DataType::Struct(Fields::from(vec![
            Field::new("keys", DataType::Utf8, false),
            Field::new("values", address.clone(), true),
        ]));
        let fields = vec![
            Field::new("ssn", DataType::Utf8, true),
            Field::new("at", DataType::List(Arc::new(Field::new("item", address, true))), true),
            Field::new("by", DataType::Map(Arc::new(Field::new("entries", entries, false)), false), true),
        ];
        Field::new("person", DataType::Struct(Fields::from(fields)), true)
    }

    #[test]
    fn parts_have_the_names_that_iceberg_gives_them() {
        let names: Vec<String> = parts_of(&person()).iter().map(|part| part.name("person")).collect();
        let expected = [
            "person.ssn",
            "person.at",
            "person.at.element",
            "person.at.element.zip",
            "person.by",
            "person.by.key",
            "person.by.value",
            "person.by.value.zip",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_rule_for_a_whole_stands_for_what_is_in_it() {
        let parts: Vec<(usize, Part)> = parts_of(&person()).into_iter().map(|part| (0, part)).collect();
        let with = |column: ColumnRule, hidden: &[usize]| {
            let of_part = |at| if hidden.contains(&at) { restricted() } else { ColumnRule::Raw };
            let columns = std::iter::once(column).chain((0..parts.len()).map(of_part)).collect();
            TableRules {
                filters: vec![],
                columns,
                tags: vec![Vec::new(); parts.len() + 1],
                passed_over: vec![],
            }
        };
        let gathered = |mut rules: TableRules| {
            let parts = parts_of(&person()).into_iter().map(|part| (0, part)).collect();
            gather(&mut rules, 1, parts);
            assert_eq!((rules.columns.len(), rules.tags.len()), (1, 1));
            match rules.columns.remove(0) {
                ColumnRule::Parts(parts) => parts.iter().map(|part| part.name("p")).collect(),
                other => vec![format!("{other:?}").chars().take(3).collect::<String>()],
            }
        };
        assert_eq!(gathered(with(ColumnRule::Raw, &[])), ["Raw"]);
        assert_eq!(gathered(with(ColumnRule::Raw, &[1, 3, 7])), ["p.at", "p.by.value.zip"]);
        assert_eq!(gathered(with(restricted(), &[0])), ["Res"]);
    }
}
