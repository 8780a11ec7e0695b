//! The definition of gate two: databases, tables and columns, with masks and row filters.

use super::{DEFAULT_MATCHER, HIVE, ip_range, level, options, owned};
use crate::model::{AccessTypeDef, MaskTypeDef, ResourceDef, ServiceDef};

const URL_MATCHER: &str = "org.apache.ranger.plugin.resourcematcher.RangerURLResourceMatcher";

/// Name, label, category, implied grants.
const ACCESS_TYPES: &[(&str, &str, Option<&str>, &[&str])] = &[
    ("select", "Select", Some("READ"), &[]),
    ("update", "Update", Some("UPDATE"), &[]),
    ("create", "Create", Some("CREATE"), &[]),
    ("drop", "Drop", Some("DELETE"), &[]),
    ("alter", "Alter", Some("CREATE"), &[]),
    ("index", "Index", Some("MANAGE"), &[]),
    ("lock", "Lock", Some("MANAGE"), &[]),
    ("all", "All", None, ALL),
    ("read", "Read", Some("READ"), &[]),
    ("write", "Write", Some("UPDATE"), &[]),
    ("repladmin", "Replication admin", Some("MANAGE"), &[]),
    ("serviceadmin", "Service admin", Some("MANAGE"), &[]),
    ("tempudfadmin", "Temporary function admin", Some("MANAGE"), &[]),
    ("refresh", "Refresh", Some("MANAGE"), &[]),
];

const ALL: &[&str] = &[
    "select",
    "update",
    "create",
    "drop",
    "alter",
    "index",
    "lock",
    "read",
    "write",
    "repladmin",
    "serviceadmin",
    "refresh",
];

/// Name, label, what it does, transformer.
const MASK_TYPES: &[(&str, &str, &str, Option<&str>)] = &[
    ("MASK", "Redact", "Letters become x or X, digits become n", Some("mask({col})")),
    (
        "MASK_SHOW_LAST_4",
        "Show the last four",
        "Only the last four characters stay",
        Some("mask_show_last_n({col}, 4, 'x', 'x', 'x', -1, '1')"),
    ),
    (
        "MASK_SHOW_FIRST_4",
        "Show the first four",
        "Only the first four characters stay",
        Some("mask_show_first_n({col}, 4, 'x', 'x', 'x', -1, '1')"),
    ),
    ("MASK_HASH", "Hash", "A keyed hash of the value", Some("mask_hash({col})")),
    ("MASK_NULL", "Nothing", "NULL in place of the value", None),
    ("MASK_NONE", "Unmasked", "The value itself: an exemption", None),
    (
        "MASK_DATE_SHOW_YEAR",
        "Show the year",
        "Day and month become the first of January",
        Some("mask({col}, 'x', 'x', 'x', -1, '1', 1, 0, -1)"),
    ),
    ("CUSTOM", "Custom", "An expression of the policy's own", None),
    // Only we have those that follow; Ranger's own definition goes by position, so they stand last.
    ("MASK_DATE_SHOW_MONTH", "Show the month", "Days become the first of their month", UNKNOWN_ELSEWHERE),
    ("MASK_DATE_SHIFT", "Shift the date", "Dates move by days that only the key knows", UNKNOWN_ELSEWHERE),
    ("MASK_BUCKET", "Bucket", "The lower end of the bucket that a number falls into", UNKNOWN_ELSEWHERE),
    ("MASK_TOKEN", "Token", "A keyed token of the same format", UNKNOWN_ELSEWHERE),
    ("MASK_EMAIL", "Show the domain", "Only the domain of an address stays", UNKNOWN_ELSEWHERE),
    ("MASK_CARD", "Show the card's last four", "Only the last four digits of a card stay", UNKNOWN_ELSEWHERE),
];

/// Other engines put a transformer in the column's place, and where there is none, the column itself.
const UNKNOWN_ELSEWHERE: Option<&str> = Some("NULL");

/// The mask types with a number of their own, and whether they need it.
const NUMBERED: [(&str, bool); 2] = [("MASK_BUCKET", true), ("MASK_DATE_SHIFT", false)];

/// Whether what follows `USING` is a number for this mask type; in tag policies the component stands in front.
pub(crate) fn takes_number(mask_type: &str) -> bool {
    numbered(mask_type).is_some()
}

pub(crate) fn needs_number(mask_type: &str) -> bool {
    numbered(mask_type) == Some(true)
}

fn numbered(mask_type: &str) -> Option<bool> {
    let bare = mask_type.split_once(':').map_or(mask_type, |(_, bare)| bare);
    let found = NUMBERED.iter().find(|(name, _)| name.eq_ignore_ascii_case(bare));
    found.map(|(_, is_needed)| *is_needed)
}

/// The definition of gate two.
///
/// Masks and row filters name databases, tables and columns exactly: a `*` in them is an ordinary character.
pub fn hive() -> ServiceDef {
    let column = ResourceDef { is_valid_leaf: None, ..level("column", 30, Some("table")) };
    let udf = ResourceDef { is_valid_leaf: None, ..level("udf", 20, Some("database")) };
    let beside = |name: &str, matcher: &str, is_recursive_supported: bool| ResourceDef {
        is_recursive_supported,
        is_excludes_supported: false,
        matcher: matcher.to_owned(),
        matcher_options: options(&[("wildCard", "true"), ("ignoreCase", "false")]),
        is_valid_leaf: None,
        ..level(name, 10, None)
    };
    let exact = |name: &str| ResourceDef {
        name: name.to_owned(),
        matcher_options: options(&[("wildCard", "false")]),
        ..ResourceDef::default()
    };
    ServiceDef {
        id: 3,
        name: HIVE.to_owned(),
        resources: vec![
            level("database", 10, None),
            level("table", 20, Some("database")),
            udf,
            column,
            beside("url", URL_MATCHER, true),
            beside("hiveservice", DEFAULT_MATCHER, false),
            beside("global", DEFAULT_MATCHER, false),
        ],
        access_types: ACCESS_TYPES
            .iter()
            .map(|(name, label, category, implied)| AccessTypeDef {
                name: (*name).to_owned(),
                label: (*label).to_owned(),
                implied_grants: owned(implied),
                category: category.map(str::to_owned),
            })
            .collect(),
        conditions: vec![ip_range()],
        mask_types: MASK_TYPES
            .iter()
            .map(|(name, label, description, transformer)| MaskTypeDef {
                name: (*name).to_owned(),
                label: (*label).to_owned(),
                description: (*description).to_owned(),
                transformer: transformer.map(str::to_owned),
            })
            .collect(),
        mask_access_types: owned(&["select"]),
        mask_resources: vec![exact("database"), exact("table"), exact("column")],
        filter_access_types: owned(&["select"]),
        filter_resources: vec![exact("database"), exact("table")],
        ..ServiceDef::default()
    }
}
