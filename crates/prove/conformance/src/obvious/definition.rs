//! What a service's definition means once it is completed: levels, hierarchies, access types and what they imply.

use std::collections::{BTreeMap, BTreeSet};

use policy::model::{AccessTypeDef, ConditionDef, PolicyKind, ResourceDef, ServiceDef};

/// A completed definition.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) access_types: Vec<String>,
    /// Access type to what an item with it grants besides; one level only.
    implied: BTreeMap<String, BTreeSet<String>>,
    pub(crate) conditions: Vec<ConditionDef>,
    /// Whether deny items and exceptions count at all.
    pub(crate) has_denies: bool,
    resources: Vec<ResourceDef>,
    mask_resources: Vec<ResourceDef>,
    filter_resources: Vec<ResourceDef>,
}

impl Definition {
    pub(crate) fn of(def: &ServiceDef) -> Self {
        let types = &def.access_types;
        let mut implied = BTreeMap::new();
        for access in types.iter().chain(&def.marker_access_types) {
            implied.insert(access.name.clone(), access.implied_grants.iter().cloned().collect());
        }
        for (marker, category) in MARKERS {
            let of_category =
                |access: &&AccessTypeDef| category.is_none_or(|c| access.category.as_deref() == Some(c));
            let stands_for: BTreeSet<String> =
                types.iter().filter(of_category).map(|a| a.name.clone()).collect();
            implied.insert((*marker).to_owned(), stands_for);
        }
        Self {
            name: def.name.clone(),
            access_types: types.iter().map(|access| access.name.clone()).collect(),
            implied,
            conditions: def.conditions.clone(),
            has_denies: def
                .options
                .get("enableDenyAndExceptionsInPolicies")
                .is_none_or(|text| text.eq_ignore_ascii_case("true")),
            resources: def.resources.clone(),
            mask_resources: completed(&def.mask_resources, &def.resources),
            filter_resources: completed(&def.filter_resources, &def.resources),
        }
    }

    /// A tag service's definition as a service of the given component sees it: `component:x` is `x`, and what belongs
    /// to other components is not there.
    pub(crate) fn of_tags(def: &ServiceDef, component: &str) -> Self {
        let mut seen = def.clone();
        for list in [&mut seen.access_types, &mut seen.marker_access_types] {
            list.retain_mut(|access| strip_component(&mut access.name, component));
            for access in list {
                access.implied_grants.retain_mut(|name| strip_component(name, component));
            }
        }
        Self::of(&seen)
    }

    pub(crate) fn resources(&self, kind: PolicyKind) -> &[ResourceDef] {
        match kind {
            PolicyKind::Access | PolicyKind::Audit => &self.resources,
            PolicyKind::Mask => &self.mask_resources,
            PolicyKind::RowFilter => &self.filter_resources,
        }
    }

    pub(crate) fn implied(&self, access: &str) -> BTreeSet<String> {
        let found = self.implied.iter().filter(|(name, _)| name.eq_ignore_ascii_case(access));
        found.flat_map(|(_, implied)| implied.clone()).collect()
    }

    pub(crate) fn condition(&self, name: &str) -> Option<&ConditionDef> {
        self.conditions.iter().find(|condition| condition.name == name)
    }

    /// Every way from an outermost level to one that may be the last.
    pub(crate) fn hierarchies(&self, kind: PolicyKind) -> Vec<Vec<&ResourceDef>> {
        let resources = self.resources(kind);
        let name_of_parent = |def: &ResourceDef| def.parent.clone().filter(|parent| !parent.is_empty());
        let is_known = |name: &str| resources.iter().any(|def| def.name == name);
        let mut found = Vec::new();
        let mut open: Vec<Vec<&ResourceDef>> = resources
            .iter()
            .filter(|def| name_of_parent(def).is_none_or(|parent| !is_known(&parent)))
            .map(|root| vec![root])
            .collect();
        while let Some(way) = open.pop() {
            let Some(last) = way.last() else { continue };
            // A definition whose levels go in a circle would never end.
            let children: Vec<&ResourceDef> = resources
                .iter()
                .filter(|def| name_of_parent(def).as_deref() == Some(last.name.as_str()))
                .filter(|def| !way.iter().any(|above| above.name == def.name))
                .collect();
            if children.is_empty() || last.is_valid_leaf == Some(true) {
                found.push(way.clone());
            }
            open.extend(children.into_iter().map(|child| way.iter().copied().chain([child]).collect()));
        }
        found
    }
}

/// Access types that stand for every access type of a category, or for all.
const MARKERS: &[(&str, Option<&str>)] = &[
    ("_CREATE", Some("CREATE")),
    ("_READ", Some("READ")),
    ("_UPDATE", Some("UPDATE")),
    ("_DELETE", Some("DELETE")),
    ("_MANAGE", Some("MANAGE")),
    ("_ALL", None),
];

/// Takes `component:` off; false where the name belongs to another component.
pub(crate) fn strip_component(name: &mut String, component: &str) -> bool {
    let Some((owner, rest)) = name.split_once(':') else { return true };
    if owner != component {
        return false;
    }
    *name = rest.to_owned();
    true
}

/// Mask and filter levels say only what differs from the base; what the base does not have is left out.
fn completed(differences: &[ResourceDef], base: &[ResourceDef]) -> Vec<ResourceDef> {
    let complete = |difference: &ResourceDef| {
        let base = base.iter().find(|base| base.name == difference.name)?;
        let mut options = base.matcher_options.clone();
        options.extend(difference.matcher_options.clone());
        let matcher =
            if difference.matcher.is_empty() { base.matcher.clone() } else { difference.matcher.clone() };
        Some(ResourceDef {
            matcher,
            matcher_options: options,
            level: if difference.level == 0 { base.level } else { difference.level },
            parent: difference.parent.clone().or_else(|| base.parent.clone()),
            is_valid_leaf: difference.is_valid_leaf.or(base.is_valid_leaf),
            is_recursive_supported: difference.is_recursive_supported || base.is_recursive_supported,
            is_excludes_supported: difference.is_excludes_supported || base.is_excludes_supported,
            ..difference.clone()
        })
    };
    differences.iter().filter_map(complete).collect()
}
