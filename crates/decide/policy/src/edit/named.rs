//! Which policies of a gate-two service speak of a relation by its name.

use crate::Snapshot;
use crate::model::{Policy, ResourceMap};

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
