//! What a policy of gate two is pinned to: the table, its columns by field id, and what its expression needs.
//!
//! Kept in the policy's options: `sluice.table_uuid`; `sluice.columns` and `sluice.needs` with one column a line, as
//! `<field id or -> <name>`; `sluice.functions` and `sluice.tables` with one name a line;
//! `sluice.reads` with a line for each name within a sub-query and what it meant. A line break in a name is
//! written `\n`, a backslash `\\`.

use super::policy::ColumnRef;
use crate::Snapshot;
use crate::model::{Policy, PolicyKind, State};

pub(crate) const TABLE_UUID: &str = "sluice.table_uuid";
const COLUMNS: &str = "sluice.columns";
const NEEDS: &str = "sluice.needs";
const FUNCTIONS: &str = "sluice.functions";
const TABLES: &str = "sluice.tables";
const READS: &str = "sluice.reads";
/// Who wrote the policy as it stands.
pub(crate) const AUTHOR: &str = "sluice.author";

/// What a policy is pinned to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    pub table_uuid: Option<String>,
    /// The protected columns, under the names that they had when they were pinned.
    pub columns: Vec<ColumnRef>,
    /// The columns that the expression reads.
    pub needs: Vec<ColumnRef>,
    pub functions: Vec<String>,
    pub tables: Vec<String>,
    /// What the names in the expression's sub-queries meant when it was written.
    pub reads: Vec<String>,
}

/// Reads a policy's pins; one that somebody wrote through another door may have none.
pub fn pins(policy: &Policy) -> Pins {
    let lines = |key: &str| -> Vec<String> {
        policy.options.get(key).map(|text| text.lines().map(unescape).collect()).unwrap_or_default()
    };
    let columns = |key: &str| lines(key).iter().filter_map(|line| column(line)).collect();
    Pins {
        table_uuid: policy.options.get(TABLE_UUID).cloned(),
        columns: columns(COLUMNS),
        needs: columns(NEEDS),
        functions: lines(FUNCTIONS),
        tables: lines(TABLES),
        reads: lines(READS),
    }
}

pub(crate) fn set_pins(policy: &mut Policy, pins: &Pins) {
    let columns = |columns: &[ColumnRef]| -> Vec<String> {
        let id = |c: &ColumnRef| c.field_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        columns.iter().map(|c| format!("{} {}", id(c), c.name)).collect()
    };
    let texts = [
        (TABLE_UUID, pins.table_uuid.iter().cloned().collect()),
        (COLUMNS, columns(&pins.columns)),
        (NEEDS, columns(&pins.needs)),
        (FUNCTIONS, pins.functions.clone()),
        (TABLES, pins.tables.clone()),
        (READS, pins.reads.clone()),
    ];
    for (key, lines) in texts {
        if lines.is_empty() {
            policy.options.remove(key);
        } else {
            let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
            policy.options.insert(key.to_owned(), lines.join("\n"));
        }
    }
}

fn escape(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('r')) => text.push('\r'),
            ('\\', Some(other)) => text.push(other),
            (c, _) => text.push(c),
        }
    }
    text
}

fn column(line: &str) -> Option<ColumnRef> {
    let (id, name) = line.split_once(' ')?;
    let field_id = if id == "-" { None } else { Some(id.parse().ok()?) };
    Some(ColumnRef { name: name.to_owned(), field_id })
}

impl ColumnRef {
    /// Whether this is the column, by field id where both have one, or by name.
    pub(crate) fn is(&self, name: &str, field_id: Option<i32>) -> bool {
        self.name.eq_ignore_ascii_case(name) || (field_id.is_some() && self.field_id == field_id)
    }
}

/// Whether a policy of gate two names this table, literally.
pub(crate) fn names_table(policy: &Policy, service: &str, database: &str, table: &str) -> bool {
    let names = |level: &str, name: &str| {
        let maps = std::iter::once(&policy.resources).chain(&policy.additional_resources);
        maps.filter_map(|map| map.get(level)).any(|v| v.values.iter().any(|v| v.eq_ignore_ascii_case(name)))
    };
    policy.service == service && names("database", database) && names("table", table)
}

/// The policies that could not work without a column: their expressions read it. A mask of the column itself is not
/// among them, since it has nothing left to hide.
pub fn needs_column(
    snapshot: &Snapshot,
    service: &str,
    database: &str,
    table: &str,
    column: &str,
    field_id: Option<i32>,
) -> Vec<String> {
    named(snapshot.state(), |policy| {
        let pins = pins(policy);
        let hides_only_it =
            policy.kind == PolicyKind::Mask && pins.columns.iter().all(|c| c.is(column, field_id));
        names_table(policy, service, database, table)
            && !hides_only_it
            && pins.needs.iter().any(|c| c.is(column, field_id))
    })
}

/// The policies whose expressions call a function.
pub fn needs_function(snapshot: &Snapshot, function: &str) -> Vec<String> {
    named(snapshot.state(), |policy| pins(policy).functions.iter().any(|f| f.eq_ignore_ascii_case(function)))
}

/// The policies whose expressions read a relation, by its full name.
pub fn needs_relation(snapshot: &Snapshot, relation: &str) -> Vec<String> {
    named(snapshot.state(), |policy| pins(policy).tables.iter().any(|t| t.eq_ignore_ascii_case(relation)))
}

/// The line among a policy's pins of a column that a sub-query of its expression reads; `-` for one without a field id.
pub fn read_line(relation: &str, column: &str, field_id: &str) -> String {
    format!("of {relation} {field_id} {column}")
}

/// The policies in whose sub-queries a column of a relation is read, by the relation's full name.
pub fn reads_column(snapshot: &Snapshot, relation: &str, column: &str, field_id: i32) -> Vec<String> {
    let (by_id, by_name) = (field_id.to_string(), column.to_lowercase());
    named(snapshot.state(), |policy| {
        pins(policy).reads.iter().any(|line| {
            let rest = line.strip_prefix("of ").and_then(|rest| rest.strip_prefix(relation));
            let read = rest.and_then(|rest| rest.strip_prefix(' ')).and_then(|rest| rest.split_once(' '));
            read.is_some_and(|(id, name)| id == by_id || name.to_lowercase() == by_name)
        })
    })
}

/// Who wrote a policy as it stands; what its expression reads besides its own relation is hers to be allowed.
pub fn author(policy: &Policy) -> &str {
    policy.options.get(AUTHOR).unwrap_or(&policy.updated_by)
}

fn named(state: &State, is_one: impl Fn(&Policy) -> bool) -> Vec<String> {
    let of_gate_two = |p: &&Policy| matches!(p.kind, PolicyKind::Mask | PolicyKind::RowFilter);
    state.policies.values().filter(of_gate_two).filter(|p| is_one(p)).map(|p| p.name.clone()).collect()
}
