//! The two definitions of Polaris that Ranger has shipped, for services that were made from one of them.
//!
//! Ranger 2.8 names 102 access types, and none grants another. Ranger 2.9 names 69, of which 30 grant others. A
//! decision follows the definition that the service has, so both must be known.

use super::polaris::{ACCESS_TYPES, TABLE_CHANGES, is_of_level, label};
use super::{POLARIS, level, owned};
use crate::model::{AccessTypeDef, ResourceDef, ServiceDef};

/// What Ranger 2.9's access types grant besides what those of [`polaris`](super::polaris()) do.
const BESIDES: &[(&str, &[&[&str]])] = &[
    ("catalog-create", &[&["catalog-list"]]),
    ("catalog-properties-read", &[&["catalog-list"]]),
    ("catalog-properties-write", &[&["catalog-list", "catalog-properties-read"]]),
    ("principal-create", &[&["principal-list"]]),
    ("principal-properties-read", &[&["principal-list"]]),
    ("principal-properties-write", &[&["principal-list", "principal-properties-read"]]),
    ("namespace-create", &[&["namespace-list"]]),
    ("namespace-properties-read", &[&["namespace-list"]]),
    ("namespace-properties-write", &[&["namespace-list", "namespace-properties-read"]]),
    ("table-create", &[&["table-list"]]),
    ("table-data-read", &[&["table-list", "table-properties-read"]]),
    ("table-data-write", &[&["table-list", "table-data-read", "table-properties-read"], TABLE_CHANGES]),
    ("table-properties-read", &[&["table-list"]]),
    ("table-properties-write", &[&["table-list", "table-properties-read"]]),
    ("view-create", &[&["view-list"]]),
    ("view-properties-read", &[&["view-list"]]),
    ("view-properties-write", &[&["view-list", "view-properties-read"]]),
    ("policy-create", &[&["policy-list"]]),
    ("policy-read", &[&["policy-list"]]),
    ("policy-write", &[&["policy-list", "policy-read"]]),
];

/// What only Ranger 2.8 names: the roles and grants that Polaris keeps itself.
const OLD: &[(&str, &str)] = &[
    ("catalog-access-manage", "MANAGE"),
    ("catalog-grants-list", "READ"),
    ("catalog-grants-manage", "MANAGE"),
    ("namespace-grants-list", "READ"),
    ("namespace-grants-manage", "MANAGE"),
    ("table-grants-list", "READ"),
    ("table-grants-manage", "MANAGE"),
    ("view-grants-list", "READ"),
    ("view-grants-manage", "MANAGE"),
    ("policy-grants-manage", "MANAGE"),
    ("principal-grants-list", "READ"),
    ("principal-grants-manage", "MANAGE"),
    ("principal-grants-for-grantee-manage", "MANAGE"),
];

/// What Ranger 2.8 names for roles of principals and of catalogs alike.
const OLD_OF_ROLES: &[(&str, &str)] = &[
    ("create", "CREATE"),
    ("drop", "DELETE"),
    ("list", "READ"),
    ("usage", "MANAGE"),
    ("grants-for-grantee-manage", "MANAGE"),
    ("grants-list", "READ"),
    ("grants-manage", "MANAGE"),
    ("metadata-full", "MANAGE"),
    ("properties-read", "READ"),
    ("properties-write", "UPDATE"),
];

/// Polaris as Ranger 2.9 defines it: 69 access types, 30 of which grant others.
pub fn polaris_2_9() -> ServiceDef {
    let access_types: Vec<_> = ACCESS_TYPES
        .iter()
        .map(|(name, category, implied)| {
            let besides = BESIDES.iter().filter(|(of, _)| of == name).flat_map(|(_, lists)| *lists);
            AccessTypeDef {
                name: (*name).to_owned(),
                label: label(name),
                implied_grants: implied.iter().chain(besides).flat_map(|list| owned(list)).collect(),
                category: Some((*category).to_owned()),
            }
        })
        .collect();
    let levels = [
        ("root", 10, None),
        ("catalog", 20, Some("root")),
        ("principal", 20, Some("root")),
        ("namespace", 30, Some("catalog")),
        ("table", 40, Some("namespace")),
        ("policy", 40, Some("namespace")),
    ];
    whole(&levels, access_types)
}

/// Polaris as Ranger 2.8 defined it: 102 access types, none of which grants another.
pub fn polaris_2_8() -> ServiceDef {
    let known = ACCESS_TYPES.iter().map(|(name, category, _)| ((*name).to_owned(), *category));
    let old = OLD.iter().map(|(name, category)| ((*name).to_owned(), *category));
    let of_roles = ["catalog-role", "principal-role"].into_iter().flat_map(|role| {
        OLD_OF_ROLES.iter().map(move |(name, category)| (format!("{role}-{name}"), *category))
    });
    let access_types: Vec<_> = known
        .chain(old)
        .chain(of_roles)
        .map(|(name, category)| AccessTypeDef {
            label: label(&name),
            name,
            implied_grants: Vec::new(),
            category: Some(category.to_owned()),
        })
        .collect();
    let levels = [
        ("root", 10, None),
        ("catalog", 20, Some("root")),
        ("principal", 20, Some("root")),
        ("principal-role", 20, Some("root")),
        ("namespace", 30, Some("catalog")),
        ("catalog-role", 30, Some("catalog")),
        ("table", 40, Some("namespace")),
        ("policy", 40, Some("namespace")),
    ];
    whole(&levels, access_types)
}

/// Ranger's definitions of Polaris demand no level, and take no exclusions.
fn whole(levels: &[(&str, i64, Option<&str>)], access_types: Vec<AccessTypeDef>) -> ServiceDef {
    let resource = |(name, number, parent): &(&str, i64, Option<&str>)| {
        let offered = access_types.iter().filter(|access| is_of_level(&access.name, offered_at(name)));
        ResourceDef {
            is_mandatory: false,
            is_excludes_supported: false,
            access_type_restrictions: offered.map(|access| access.name.clone()).collect(),
            ..level(name, *number, *parent)
        }
    };
    let resources = levels.iter().map(resource).collect();
    ServiceDef {
        name: POLARIS.to_owned(),
        display_name: "Polaris".to_owned(),
        label: "Apache Polaris".to_owned(),
        resources,
        access_types,
        ..ServiceDef::default()
    }
}

/// Which access types a form should offer at a level.
fn offered_at(level: &str) -> &'static [&'static str] {
    match level {
        "root" => super::polaris::AT_ROOT,
        "catalog" => &["catalog-", "catalog-role-create", "catalog-role-list"],
        "principal" => &["principal-"],
        "principal-role" => &["principal-role-"],
        "namespace" => super::polaris::AT_NAMESPACE,
        "catalog-role" => &["catalog-role-"],
        "table" => &["table-", "view-"],
        "policy" => &["policy-"],
        _ => &[],
    }
}
