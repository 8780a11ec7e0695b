//! The definition of Trino: catalogs, schemas, tables and columns, and what stands beside them.

use super::{TRINO, level, options, owned};
use crate::model::{AccessTypeDef, MaskTypeDef, ResourceDef, ServiceDef};

/// Name, label, category.
const ACCESS_TYPES: &[(&str, &str, &str)] = &[
    ("select", "Select", "READ"),
    ("insert", "Insert", "UPDATE"),
    ("create", "Create", "CREATE"),
    ("drop", "Drop", "DELETE"),
    ("delete", "Delete", "DELETE"),
    ("use", "Use", "READ"),
    ("alter", "Alter", "CREATE"),
    ("grant", "Grant", "MANAGE"),
    ("revoke", "Revoke", "MANAGE"),
    ("show", "Show", "READ"),
    ("impersonate", "Impersonate", "READ"),
    ("execute", "Execute", "READ"),
    ("read_sysinfo", "Read system information", "MANAGE"),
    ("write_sysinfo", "Write system information", "MANAGE"),
];

/// What stands beside tables: name, number, parent, and the access types that a form should offer for it.
const BESIDES: &[(&str, i64, Option<&str>, &[&str])] = &[
    ("trinouser", 10, None, &["impersonate"]),
    ("systemproperty", 10, None, &["alter"]),
    ("sessionproperty", 20, Some("catalog"), &["alter"]),
    ("function", 10, None, &["execute", "grant"]),
    ("procedure", 30, Some("schema"), &["execute", "grant"]),
    ("schemafunction", 30, Some("schema"), &["create", "drop", "show"]),
    ("queryid", 10, None, &["execute"]),
    ("sysinfo", 10, None, &["read_sysinfo", "write_sysinfo"]),
    ("role", 10, None, &["create", "drop", "show", "grant", "revoke"]),
];

/// Name, label, what it does, transformer in Trino's own SQL.
const MASK_TYPES: &[(&str, &str, &str, Option<&str>)] = &[
    (
        "MASK",
        "Redact",
        "Letters become x or X, digits become 0",
        Some(
            "cast(regexp_replace(regexp_replace(regexp_replace({col},'([A-Z])', 'X'),'([a-z])','x'),\
             '([0-9])','0') as {type})",
        ),
    ),
    (
        "MASK_SHOW_LAST_4",
        "Show the last four",
        "Only the last four characters stay",
        Some(
            "cast(regexp_replace({col}, '(.*)(.{4}$)', x -> regexp_replace(x[1], '.', 'X') || x[2]) as {type})",
        ),
    ),
    (
        "MASK_SHOW_FIRST_4",
        "Show the first four",
        "Only the first four characters stay",
        Some(
            "cast(regexp_replace({col}, '(^.{4})(.*)', x -> x[1] || regexp_replace(x[2], '.', 'X')) as {type})",
        ),
    ),
    ("MASK_HASH", "Hash", "A hash of the value", Some("cast(to_hex(sha256(to_utf8({col}))) as {type})")),
    ("MASK_NULL", "Nothing", "NULL in place of the value", None),
    ("MASK_NONE", "Unmasked", "The value itself: an exemption", None),
    (
        "MASK_DATE_SHOW_YEAR",
        "Show the year",
        "Day and month become the first of January",
        Some("date_trunc('year', {col})"),
    ),
    ("CUSTOM", "Custom", "An expression of the policy's own", None),
];

/// The definition of Trino.
///
/// Masks and row filters take wildcards here, other than in [`hive`](super::hive()).
pub fn trino() -> ServiceDef {
    let besides = BESIDES.iter().map(|(name, number, parent, offered)| ResourceDef {
        is_excludes_supported: false,
        is_valid_leaf: None,
        access_type_restrictions: owned(offered),
        ..level(name, *number, *parent)
    });
    let tables = vec![
        level("catalog", 10, None),
        level("schema", 20, Some("catalog")),
        level("table", 30, Some("schema")),
        ResourceDef { is_valid_leaf: None, ..level("column", 40, Some("table")) },
    ];
    let names: Vec<&str> = ACCESS_TYPES.iter().map(|(name, ..)| *name).collect();
    let all = AccessTypeDef {
        name: "all".to_owned(),
        label: "All".to_owned(),
        implied_grants: owned(&names),
        category: None,
    };
    let with_wildcards = |name: &str, is_mandatory: bool| ResourceDef {
        name: name.to_owned(),
        is_mandatory,
        matcher_options: options(&[("wildCard", "true")]),
        ..ResourceDef::default()
    };
    ServiceDef {
        id: 203,
        name: TRINO.to_owned(),
        display_name: TRINO.to_owned(),
        label: "Trino".to_owned(),
        resources: tables.into_iter().chain(besides).collect(),
        access_types: ACCESS_TYPES
            .iter()
            .map(|(name, label, category)| AccessTypeDef {
                name: (*name).to_owned(),
                label: (*label).to_owned(),
                category: Some((*category).to_owned()),
                ..AccessTypeDef::default()
            })
            .chain([all])
            .collect(),
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
        mask_resources: ["catalog", "schema", "table", "column"]
            .map(|name| with_wildcards(name, false))
            .to_vec(),
        filter_access_types: owned(&["select"]),
        filter_resources: ["catalog", "schema", "table"].map(|name| with_wildcards(name, true)).to_vec(),
        ..ServiceDef::default()
    }
}
