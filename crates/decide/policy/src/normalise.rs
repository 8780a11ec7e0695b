//! Completes a service definition, and a tag definition for one component, as Ranger does when it loads them.

use std::collections::BTreeSet;

use crate::model::{
    Access, AccessTypeDef, FilterItem, Item, MaskInfo, MaskItem, MaskTypeDef, Policy, ResourceDef, ServiceDef,
};

/// The marker access types that stand for a category.
const MARKERS: [(&str, &str); 5] = [
    ("_CREATE", "CREATE"),
    ("_READ", "READ"),
    ("_UPDATE", "UPDATE"),
    ("_DELETE", "DELETE"),
    ("_MANAGE", "MANAGE"),
];

/// The marker access type that stands for every access type.
const MARKER_ALL: &str = "_ALL";

/// What stands between a component and its access type in a tag definition.
const OF_COMPONENT: char = ':';

/// A definition with everything in it that it leaves to be understood: levels and access types of masks and filters
/// completed from the base, leaves marked, marker access types added.
pub fn completed(def: &ServiceDef) -> ServiceDef {
    let of_base = |names: &[String]| -> Vec<String> {
        let is_known = |name: &&String| def.access_types.iter().any(|access| access.name == **name);
        names.iter().filter(is_known).cloned().collect()
    };
    ServiceDef {
        resources: with_leaves(def.resources.clone()),
        mask_resources: with_leaves(completed_levels(&def.resources, &def.mask_resources)),
        filter_resources: with_leaves(completed_levels(&def.resources, &def.filter_resources)),
        mask_access_types: of_base(&def.mask_access_types),
        filter_access_types: of_base(&def.filter_access_types),
        marker_access_types: markers(&def.access_types),
        ..def.clone()
    }
}

/// The levels of dataMaskDef or rowFilterDef: each entry completed from the level whose name it has. An entry without
/// such a level does not count.
pub(crate) fn completed_levels(base: &[ResourceDef], entries: &[ResourceDef]) -> Vec<ResourceDef> {
    let complete = |entry: &ResourceDef| {
        let base = base.iter().find(|level| level.name == entry.name)?;
        let mut merged = base.clone();
        merged.is_mandatory |= entry.is_mandatory;
        if !entry.matcher.is_empty() {
            merged.matcher.clone_from(&entry.matcher);
        }
        merged.matcher_options.extend(entry.matcher_options.clone());
        if !entry.access_type_restrictions.is_empty() {
            merged.access_type_restrictions.clone_from(&entry.access_type_restrictions);
        }
        if entry.validation_reg_ex.is_some() {
            merged.validation_reg_ex.clone_from(&entry.validation_reg_ex);
        }
        // Where a mask may end says nothing of where an access policy may.
        merged.is_valid_leaf = entry.is_valid_leaf;
        Some(merged)
    };
    entries.iter().filter_map(complete).collect()
}

fn with_leaves(mut levels: Vec<ResourceDef>) -> Vec<ResourceDef> {
    let parents: BTreeSet<String> = levels.iter().filter_map(|level| level.parent.clone()).collect();
    for level in &mut levels {
        if level.is_valid_leaf != Some(true) {
            level.is_valid_leaf = Some(!parents.contains(&level.name));
        }
    }
    levels
}

/// The marker access types of these access types: one for each category that any of them has, and one for all.
pub(crate) fn markers(access_types: &[AccessTypeDef]) -> Vec<AccessTypeDef> {
    let marker = |name: &str, counts: &dyn Fn(&AccessTypeDef) -> bool| {
        let implied = access_types.iter().filter(|access| counts(access)).map(|access| access.name.clone());
        AccessTypeDef {
            name: name.to_owned(),
            label: name.to_owned(),
            implied_grants: implied.collect(),
            category: None,
        }
    };
    let of_category = MARKERS.map(|(name, category)| {
        marker(name, &|access: &AccessTypeDef| {
            access.category.as_deref().is_some_and(|c| c.eq_ignore_ascii_case(category))
        })
    });
    let all = marker(MARKER_ALL, &|_| true);
    of_category.into_iter().chain([all]).filter(|marker| !marker.implied_grants.is_empty()).collect()
}

/// A tag definition as the engine of one component reads it: `hive:select` becomes `select`, what belongs to other
/// components goes, and what belongs to none stays.
pub fn for_component(tag_def: &ServiceDef, component: &str) -> ServiceDef {
    let names = |names: &[String]| -> Vec<String> {
        names.iter().filter_map(|name| name_in(name, component)).map(str::to_owned).collect()
    };
    let access_types = |all: &[AccessTypeDef]| -> Vec<AccessTypeDef> {
        let own = |access: &AccessTypeDef| {
            Some(AccessTypeDef {
                name: name_in(&access.name, component)?.to_owned(),
                implied_grants: names(&access.implied_grants),
                ..access.clone()
            })
        };
        all.iter().filter_map(own).collect()
    };
    let mask_type = |mask: &MaskTypeDef| {
        Some(MaskTypeDef { name: name_in(&mask.name, component)?.to_owned(), ..mask.clone() })
    };
    ServiceDef {
        access_types: access_types(&tag_def.access_types),
        marker_access_types: access_types(&tag_def.marker_access_types),
        mask_types: tag_def.mask_types.iter().filter_map(mask_type).collect(),
        mask_access_types: names(&tag_def.mask_access_types),
        filter_access_types: names(&tag_def.filter_access_types),
        ..tag_def.clone()
    }
}

/// A tag policy as the engine of one component reads it: what belongs to other components is not in it, and items to
/// which nothing is left are not either.
pub fn policy_for_component(policy: &Policy, component: &str) -> Policy {
    let narrow = |item: &Item| {
        let own = |access: &Access| {
            Some(Access { kind: name_in(&access.kind, component)?.to_owned(), ..access.clone() })
        };
        Item { accesses: item.accesses.iter().filter_map(own).collect(), ..item.clone() }
    };
    let is_left = |before: &Item, after: &Item| {
        before.accesses.is_empty() || !after.accesses.is_empty() || after.delegate_admin
    };
    let items = |all: &[Item]| -> Vec<Item> {
        let narrowed = all.iter().map(|item| (item, narrow(item)));
        narrowed.filter(|(before, after)| is_left(before, after)).map(|(_, after)| after).collect()
    };
    let mask = |mask: &MaskItem| {
        let item = narrow(&mask.item);
        let mask_type = match name_in(&mask.mask.mask_type, component) {
            Some(own) => own.to_owned(),
            // Our access under another component's mask: a protection that cannot be honoured, and must not be lost.
            None if !item.accesses.is_empty() => mask.mask.mask_type.clone(),
            None => return None,
        };
        let mask_info = MaskInfo { mask_type, ..mask.mask.clone() };
        is_left(&mask.item, &item).then_some(MaskItem { item, mask: mask_info })
    };
    let filter = |filter: &FilterItem| {
        let item = narrow(&filter.item);
        is_left(&filter.item, &item).then(|| FilterItem { item, ..filter.clone() })
    };
    Policy {
        items: items(&policy.items),
        deny_items: items(&policy.deny_items),
        allow_exceptions: items(&policy.allow_exceptions),
        deny_exceptions: items(&policy.deny_exceptions),
        mask_items: policy.mask_items.iter().filter_map(mask).collect(),
        filter_items: policy.filter_items.iter().filter_map(filter).collect(),
        ..policy.clone()
    }
}

/// A name of a tag definition as a component calls it; `None` if it is another component's.
pub(crate) fn name_in<'n>(name: &'n str, component: &str) -> Option<&'n str> {
    match name.split_once(OF_COMPONENT) {
        None => Some(name),
        Some((of, rest)) => (of == component).then_some(rest),
    }
}

/// What is wrong with a definition, so that its policies, or those of one kind, never match.
pub fn faults(def: &ServiceDef) -> Vec<String> {
    let mut faults = Vec::new();
    let kinds = [
        ("", def.resources.clone()),
        (" for masks", completed_levels(&def.resources, &def.mask_resources)),
        (" for row filters", completed_levels(&def.resources, &def.filter_resources)),
    ];
    for (kind, levels) in &kinds {
        let level = |name: &str| levels.iter().find(|level| level.name == name);
        for def in levels {
            let has_below = levels.iter().any(|below| below.parent.as_deref() == Some(def.name.as_str()));
            if def.is_valid_leaf == Some(false) && !has_below {
                faults.push(format!("the level `{}`{kind} is the last, and must not be", def.name));
            }
            if let Some(parent) = def.parent.as_deref().and_then(level)
                && parent.level >= def.level
            {
                faults.push(format!("the level `{}`{kind} does not lie below its parent", def.name));
            }
        }
    }
    for entry in def.mask_resources.iter().chain(&def.filter_resources) {
        if !def.resources.iter().any(|level| level.name == entry.name) {
            faults.push(format!("the level `{}` for masks or row filters is no level", entry.name));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::{completed, completed_levels, faults, for_component, markers};
    use crate::defs;
    use crate::model::{AccessTypeDef, ResourceDef, ServiceDef};

    fn access(name: &str, implied: &[&str], category: Option<&str>) -> AccessTypeDef {
        AccessTypeDef {
            name: name.to_owned(),
            implied_grants: implied.iter().map(|name| (*name).to_owned()).collect(),
            category: category.map(str::to_owned),
            ..AccessTypeDef::default()
        }
    }

    #[test]
    fn an_entry_for_masks_is_completed_from_the_level_and_wins() {
        let base = defs::hive().resources;
        let mut entry = ResourceDef { name: "table".to_owned(), ..ResourceDef::default() };
        entry.matcher_options.insert("wildCard".to_owned(), "false".to_owned());
        let unknown = ResourceDef { name: "shelf".to_owned(), ..ResourceDef::default() };
        let levels = completed_levels(&base, &[entry, unknown]);
        let [table] = &levels[..] else { panic!("one level") };
        assert_eq!(table.parent.as_deref(), Some("database"));
        assert_eq!(table.matcher_options["wildCard"], "false");
        assert_eq!(table.matcher_options["ignoreCase"], "true");
    }

    #[test]
    fn markers_stand_for_categories_that_occur_and_one_for_all() {
        let all = [access("select", &[], Some("READ")), access("all", &[], None)];
        let found = markers(&all);
        let names: Vec<_> = found.iter().map(|m| (m.name.as_str(), m.implied_grants.len())).collect();
        assert_eq!(names, [("_READ", 1), ("_ALL", 2)]);
    }

    #[test]
    fn a_tag_definition_is_read_by_one_component() {
        let def = ServiceDef {
            access_types: vec![
                access("hive:all", &["hive:select", "trino:use", "see"], None),
                access("trino:use", &[], None),
                access("see", &[], None),
            ],
            mask_access_types: vec!["hive:select".to_owned(), "trino:select".to_owned()],
            ..ServiceDef::default()
        };
        let own = for_component(&def, "hive");
        assert_eq!(own.access_types, [access("all", &["select", "see"], None), access("see", &[], None)]);
        assert_eq!(own.mask_access_types, ["select"]);
    }

    #[test]
    fn a_last_level_that_must_not_be_the_last_is_a_fault() {
        let mut def = completed(&defs::hive());
        assert_eq!(faults(&def), [""; 0]);
        def.resources.iter_mut().for_each(|level| level.is_valid_leaf = Some(false));
        assert!(faults(&def).iter().any(|fault| fault.contains("is the last")), "{:?}", faults(&def));
        def.resources.iter_mut().for_each(|level| level.level = 1);
        assert!(faults(&def).iter().any(|fault| fault.contains("below its parent")));
    }
}
