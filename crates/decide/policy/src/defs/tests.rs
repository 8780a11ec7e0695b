//! The laws of the written definitions.

use std::collections::BTreeSet;

use super::{hive, polaris, tag};
use crate::model::ServiceDef;

fn check_names(def: &ServiceDef) {
    let names: BTreeSet<&str> = def.access_types.iter().map(|access| access.name.as_str()).collect();
    assert_eq!(names.len(), def.access_types.len(), "{}: a name stands twice", def.name);
    for access in &def.access_types {
        let implied: BTreeSet<&str> = access.implied_grants.iter().map(String::as_str).collect();
        assert_eq!(implied.len(), access.implied_grants.len(), "{}: a grant stands twice", access.name);
        assert!(implied.is_subset(&names) && !implied.contains(access.name.as_str()), "{}", access.name);
        // Only one level counts, so what is implied must say all of it.
        for through in def.access_types.iter().filter(|other| implied.contains(other.name.as_str())) {
            for further in
                through.implied_grants.iter().map(String::as_str).filter(|name| *name != access.name)
            {
                assert!(
                    implied.contains(further),
                    "{} implies {} but not {further}",
                    access.name,
                    through.name
                );
            }
        }
    }
    for level in &def.resources {
        assert!(
            level.access_type_restrictions.iter().all(|name| names.contains(name.as_str())),
            "{}",
            level.name
        );
    }
}

#[test]
fn definitions_name_only_what_they_define_and_imply_all_of_it() {
    for def in [polaris(), hive(), tag()] {
        check_names(&def);
    }
}

#[test]
fn gate_one_has_69_access_types_and_the_catalog_bundle_has_56() {
    let polaris = polaris();
    assert_eq!(polaris.access_types.len(), 69);
    let bundle = polaris.access_types.iter().find(|access| access.name == "catalog-content-manage").unwrap();
    assert_eq!(bundle.implied_grants.len(), 55);
}

#[test]
fn no_form_leaves_an_access_type_of_gate_one_out() {
    let polaris = polaris();
    for access in &polaris.access_types {
        let offered =
            polaris.resources.iter().any(|level| level.access_type_restrictions.contains(&access.name));
        assert!(offered, "{}", access.name);
    }
}

#[test]
fn only_bundles_imply_others() {
    for access in polaris().access_types.iter().filter(|access| !access.implied_grants.is_empty()) {
        let name = access.name.as_str();
        assert!(
            name.ends_with("-manage") || name.ends_with("-full") || name == "table-properties-write",
            "{name}"
        );
    }
}
