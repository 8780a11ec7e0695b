//! The definition of gate one: realm, catalogs, namespaces, and the tables and views in them.
//!
//! Only types that stand for a bundle (`…-manage`, `…-full`, `table-properties-write`) grant others. A type that does
//! one thing grants nothing besides, because implied grants count in denials too: a denial of creating tables must
//! not take the list of tables away, and a grant of writing must not give reading.

use super::{POLARIS, level, owned};
use crate::model::{AccessTypeDef, ResourceDef, ServiceDef};

/// Name, category, and the lists that make up what it grants besides.
type Row = (&'static str, &'static str, &'static [&'static [&'static str]]);

/// Every single change of a table's metadata, and the access type that stands for most of them.
pub(super) const TABLE_CHANGES: &[&str] = &[
    "table-properties-set",
    "table-properties-remove",
    "table-uuid-assign",
    "table-format-version-upgrade",
    "table-schema-add",
    "table-schema-set-current",
    "table-partition-spec-add",
    "table-partition-specs-remove",
    "table-sort-order-add",
    "table-sort-order-set-default",
    "table-snapshot-add",
    "table-snapshots-remove",
    "table-snapshot-ref-set",
    "table-snapshot-ref-remove",
    "table-location-set",
    "table-statistics-set",
    "table-statistics-remove",
    "table-structure-manage",
];

/// What `table-structure-manage` stands for: all but new snapshots and where references point.
const TABLE_STRUCTURE: &[&str] = &[
    "table-properties-set",
    "table-properties-remove",
    "table-uuid-assign",
    "table-format-version-upgrade",
    "table-schema-add",
    "table-schema-set-current",
    "table-partition-spec-add",
    "table-partition-specs-remove",
    "table-sort-order-add",
    "table-sort-order-set-default",
    "table-snapshots-remove",
    "table-snapshot-ref-remove",
    "table-location-set",
    "table-statistics-set",
    "table-statistics-remove",
];

/// What managing a catalog's metadata reaches besides the changes of tables.
const CATALOG_METADATA: &[&str] = &[
    "catalog-list",
    "catalog-properties-read",
    "catalog-properties-write",
    "catalog-policy-attach",
    "catalog-policy-detach",
    "namespace-create",
    "namespace-drop",
    "namespace-list",
    "namespace-properties-read",
    "namespace-properties-write",
    "namespace-metadata-full",
    "namespace-policy-attach",
    "namespace-policy-detach",
    "table-create",
    "table-drop",
    "table-list",
    "table-properties-read",
    "table-properties-write",
    "table-metadata-full",
    "table-policy-attach",
    "table-policy-detach",
    "view-create",
    "view-drop",
    "view-list",
    "view-properties-read",
    "view-properties-write",
    "view-metadata-full",
    "policy-create",
    "policy-drop",
    "policy-list",
    "policy-read",
    "policy-write",
    "policy-attach",
    "policy-detach",
];

pub(super) const ACCESS_TYPES: &[Row] = &[
    (
        "service-access-manage",
        "MANAGE",
        &[
            &[
                "catalog-create",
                "catalog-drop",
                "catalog-list",
                "catalog-properties-read",
                "catalog-properties-write",
                "catalog-metadata-full",
            ],
            &[
                "principal-create",
                "principal-drop",
                "principal-list",
                "principal-properties-read",
                "principal-properties-write",
                "principal-metadata-full",
                "principal-credentials-reset",
            ],
        ],
    ),
    ("catalog-create", "CREATE", &[]),
    ("catalog-drop", "DELETE", &[]),
    ("catalog-list", "READ", &[]),
    (
        "catalog-content-manage",
        "MANAGE",
        &[
            CATALOG_METADATA,
            TABLE_CHANGES,
            &["catalog-metadata-manage", "table-data-read", "table-data-write"],
        ],
    ),
    (
        "catalog-metadata-full",
        "MANAGE",
        &[&[
            "catalog-create",
            "catalog-drop",
            "catalog-list",
            "catalog-properties-read",
            "catalog-properties-write",
        ]],
    ),
    ("catalog-metadata-manage", "MANAGE", &[CATALOG_METADATA, TABLE_CHANGES]),
    ("catalog-policy-attach", "MANAGE", &[]),
    ("catalog-policy-detach", "MANAGE", &[]),
    ("catalog-properties-read", "READ", &[]),
    ("catalog-properties-write", "UPDATE", &[]),
    ("principal-create", "CREATE", &[]),
    ("principal-drop", "DELETE", &[]),
    ("principal-list", "READ", &[]),
    ("principal-credentials-reset", "MANAGE", &[]),
    ("principal-credentials-rotate", "MANAGE", &[]),
    (
        "principal-metadata-full",
        "MANAGE",
        &[&[
            "principal-create",
            "principal-drop",
            "principal-list",
            "principal-properties-read",
            "principal-properties-write",
        ]],
    ),
    ("principal-properties-read", "READ", &[]),
    ("principal-properties-write", "UPDATE", &[]),
    ("namespace-create", "CREATE", &[]),
    ("namespace-drop", "DELETE", &[]),
    ("namespace-list", "READ", &[]),
    (
        "namespace-metadata-full",
        "MANAGE",
        &[&[
            "namespace-create",
            "namespace-drop",
            "namespace-list",
            "namespace-properties-read",
            "namespace-properties-write",
        ]],
    ),
    ("namespace-policy-attach", "MANAGE", &[]),
    ("namespace-policy-detach", "MANAGE", &[]),
    ("namespace-properties-read", "READ", &[]),
    ("namespace-properties-write", "UPDATE", &[]),
    ("table-create", "CREATE", &[]),
    ("table-drop", "DELETE", &[]),
    ("table-list", "READ", &[]),
    ("table-data-read", "READ", &[]),
    ("table-data-write", "UPDATE", &[]),
    (
        "table-metadata-full",
        "MANAGE",
        &[
            &["table-create", "table-drop", "table-list", "table-properties-read", "table-properties-write"],
            TABLE_CHANGES,
        ],
    ),
    ("table-policy-attach", "MANAGE", &[]),
    ("table-policy-detach", "MANAGE", &[]),
    ("table-properties-read", "READ", &[]),
    ("table-properties-write", "UPDATE", &[TABLE_CHANGES]),
    ("table-properties-set", "UPDATE", &[]),
    ("table-properties-remove", "UPDATE", &[]),
    ("table-uuid-assign", "UPDATE", &[]),
    ("table-format-version-upgrade", "UPDATE", &[]),
    ("table-schema-add", "UPDATE", &[]),
    ("table-schema-set-current", "UPDATE", &[]),
    ("table-partition-spec-add", "UPDATE", &[]),
    ("table-partition-specs-remove", "UPDATE", &[]),
    ("table-sort-order-add", "UPDATE", &[]),
    ("table-sort-order-set-default", "UPDATE", &[]),
    ("table-snapshot-add", "UPDATE", &[]),
    ("table-snapshots-remove", "UPDATE", &[]),
    ("table-snapshot-ref-set", "UPDATE", &[]),
    ("table-snapshot-ref-remove", "UPDATE", &[]),
    ("table-location-set", "UPDATE", &[]),
    ("table-statistics-set", "UPDATE", &[]),
    ("table-statistics-remove", "UPDATE", &[]),
    ("table-structure-manage", "UPDATE", &[TABLE_STRUCTURE]),
    ("view-create", "CREATE", &[]),
    ("view-drop", "DELETE", &[]),
    ("view-list", "READ", &[]),
    (
        "view-metadata-full",
        "MANAGE",
        &[&["view-create", "view-drop", "view-list", "view-properties-read", "view-properties-write"]],
    ),
    ("view-properties-read", "READ", &[]),
    ("view-properties-write", "UPDATE", &[]),
    ("policy-create", "CREATE", &[]),
    ("policy-drop", "DELETE", &[]),
    ("policy-list", "READ", &[]),
    ("policy-read", "READ", &[]),
    ("policy-write", "UPDATE", &[]),
    ("policy-attach", "MANAGE", &[]),
    ("policy-detach", "MANAGE", &[]),
    (
        "policy-metadata-full",
        "MANAGE",
        &[&["policy-create", "policy-drop", "policy-list", "policy-read", "policy-write"]],
    ),
];

/// What a form should offer for the realm.
pub(super) const AT_ROOT: &[&str] =
    &["service-", "catalog-create", "catalog-list", "principal-create", "principal-list"];

/// What a form should offer for a namespace.
pub(super) const AT_NAMESPACE: &[&str] =
    &["namespace-", "table-create", "table-list", "view-create", "view-list", "policy-create", "policy-list"];

/// The definition of gate one. Views stand in the level `table`.
pub fn polaris() -> ServiceDef {
    let resource = |name: &str, number: i64, parent: Option<&str>, of: &[&str]| {
        let names = ACCESS_TYPES.iter().map(|(name, _, _)| *name);
        let restricted = names.filter(|access| is_of_level(access, of)).map(str::to_owned).collect();
        ResourceDef { access_type_restrictions: restricted, ..level(name, number, parent) }
    };
    ServiceDef {
        id: 205,
        name: POLARIS.to_owned(),
        resources: vec![
            resource("root", 10, None, AT_ROOT),
            resource("catalog", 20, Some("root"), &["catalog-"]),
            resource("principal", 20, Some("root"), &["principal-"]),
            resource("namespace", 30, Some("catalog"), AT_NAMESPACE),
            resource("table", 40, Some("namespace"), &["table-", "view-"]),
            resource("policy", 40, Some("namespace"), &["policy-"]),
        ],
        access_types: ACCESS_TYPES
            .iter()
            .map(|(name, category, implied)| AccessTypeDef {
                name: (*name).to_owned(),
                label: label(name),
                implied_grants: implied.iter().flat_map(|list| owned(list)).collect(),
                category: Some((*category).to_owned()),
            })
            .collect(),
        ..ServiceDef::default()
    }
}

/// Whether a form should offer an access type at a level; evaluation does not ask.
pub(super) fn is_of_level(access: &str, of: &[&str]) -> bool {
    // Creating and listing belong to the level above, where the new thing will stand.
    let belongs_above = access.ends_with("-create") || access.ends_with("-list");
    of.iter().any(|entry| match entry.strip_suffix('-') {
        Some("namespace" | "service") => access.starts_with(entry),
        Some(_) => access.starts_with(entry) && !belongs_above,
        None => access == *entry,
    })
}

/// `table-data-read` → `Table data read`.
pub(super) fn label(name: &str) -> String {
    let text = name.replace('-', " ");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
