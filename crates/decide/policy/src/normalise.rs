//! Completes a service definition, and a tag definition for one component, as Ranger does when it loads them.

use crate::model::ResourceDef;

/// The levels of dataMaskDef or rowFilterDef: each entry completed from the level whose name it has. An entry without
/// such a level does not count.
pub(crate) fn completed_levels(base: &[ResourceDef], entries: &[ResourceDef]) -> Vec<ResourceDef> {
    let complete = |entry: &ResourceDef| {
        let base = base.iter().find(|level| level.name == entry.name)?;
        let mut merged = base.clone();
        if !entry.matcher.is_empty() {
            merged.matcher.clone_from(&entry.matcher);
        }
        if entry.parent.is_some() {
            merged.parent.clone_from(&entry.parent);
        }
        if entry.is_valid_leaf.is_some() {
            merged.is_valid_leaf = entry.is_valid_leaf;
        }
        merged.matcher_options.extend(entry.matcher_options.clone());
        Some(merged)
    };
    entries.iter().filter_map(complete).collect()
}
