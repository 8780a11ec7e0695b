//! Which policies of a gate-two service speak of a relation by its name.

use super::cover::{Cover, covers};
use crate::Snapshot;
use crate::defs::TAG;
use crate::matching::MatchContext;
use crate::model::{Policy, PolicyKind, ResourceMap};

/// The policies of `service` that name a table, or every table of its database, enabled or not.
///
/// Values are compared as the service compares them: without case, and `*` only where it is a whole value.
pub fn policies_on<'s>(
    snapshot: &'s Snapshot,
    service: &str,
    database: &str,
    table: &str,
) -> Vec<&'s Policy> {
    let names = |map: &ResourceMap, level: &str, wanted: &str| {
        map.get(level).is_some_and(|values| {
            let listed = values.values.iter().any(|value| value == "*" || value.eq_ignore_ascii_case(wanted));
            listed != values.is_excludes
        })
    };
    snapshot
        .state()
        .policies
        .values()
        .filter(|policy| policy.service == service)
        .filter(|policy| {
            std::iter::once(&policy.resources)
                .chain(&policy.additional_resources)
                .any(|map| names(map, "database", database) && names(map, "table", table))
        })
        .collect()
}

/// Whether a policy of a tag service says what a kind of tag means, as its decisions go by the service's definition.
pub fn speaks_of(snapshot: &Snapshot, policy: &Policy, tag: &str) -> bool {
    let state = snapshot.state();
    let service = state.services.get(&policy.service);
    let Some(def) = service.and_then(|service| state.service_defs.get(&service.service_def)) else {
        return false;
    };
    let about = |map: &ResourceMap| {
        map.contains_key(TAG)
            && covers(def, map, &[(TAG, tag)], &MatchContext::new("", None)) == Cover::Object
    };
    std::iter::once(&policy.resources).chain(&policy.additional_resources).any(about)
}

/// Whether a policy in force takes something away from those who read what bears a tag.
pub fn protects(snapshot: &Snapshot, policy: &Policy, tag: &str) -> bool {
    let restricts = match policy.kind {
        PolicyKind::Mask | PolicyKind::RowFilter => true,
        PolicyKind::Access => !policy.deny_items.is_empty(),
        PolicyKind::Audit => false,
    };
    restricts && policy.is_enabled && speaks_of(snapshot, policy, tag)
}
