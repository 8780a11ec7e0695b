//! The laws of the written definitions.

use std::collections::BTreeSet;

use super::{
    add_component, hdfs, hive, kafka, polaris, polaris_2_8, polaris_2_9, remove_component, tag, trino,
};
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
    for def in [polaris(), polaris_2_8(), polaris_2_9(), hive(), trino(), hdfs(), kafka(), tag()] {
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

#[test]
fn tag_policies_can_say_what_each_component_can() {
    let tag = tag();
    let has = |name: &str| tag.access_types.iter().any(|access| access.name == name);
    assert!(has("hive:select") && has("trino:select") && has("hdfs:read") && has("polaris:table-data-read"));
    let all = tag.access_types.iter().find(|access| access.name == "hive:all").unwrap();
    assert!(all.implied_grants.contains(&"hive:select".to_owned()));
    assert!(tag.mask_types.iter().any(|mask| mask.name == "hive:MASK_NULL"));
    assert_eq!(tag.mask_access_types, ["hive:select", "trino:select"]);
    assert_eq!(tag.filter_access_types, ["hive:select", "trino:select"]);
    assert_eq!((tag.mask_resources.len(), tag.filter_resources.len()), (1, 1));
}

#[test]
fn a_component_is_put_in_place_of_itself_and_goes_without_a_trace() {
    let before = tag();
    let mut def = before.clone();
    remove_component(&mut def, "hive");
    assert!(!def.access_types.iter().any(|access| access.name.starts_with("hive:")));
    assert_eq!(def.mask_access_types, ["trino:select"]);
    remove_component(&mut def, "trino");
    assert_eq!((def.mask_resources.len(), def.mask_types.len()), (0, 0));

    let mut again = before.clone();
    add_component(&mut again, &hive());
    assert_eq!(again.access_types.len(), before.access_types.len());
    add_component(&mut again, &before);
    assert_eq!(again.access_types.len(), before.access_types.len());
}

#[test]
fn rangers_generations_of_gate_one_have_what_they_had() {
    let (old, new) = (polaris_2_8(), polaris_2_9());
    assert_eq!((old.access_types.len(), old.resources.len()), (102, 8));
    assert!(old.access_types.iter().all(|access| access.implied_grants.is_empty()));
    assert_eq!((new.access_types.len(), new.resources.len()), (69, 6));
    let n_implying = new.access_types.iter().filter(|access| !access.implied_grants.is_empty()).count();
    assert_eq!(n_implying, 30);
    let names = |def: &ServiceDef| -> BTreeSet<String> {
        def.access_types.iter().map(|access| access.name.clone()).collect()
    };
    assert!(names(&new).is_subset(&names(&old)));
    assert_eq!(names(&new), names(&polaris()));
}
