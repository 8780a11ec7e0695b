//! The last look at what an edit would write: what cannot be honoured is not kept, by whichever door it came.

use stdx::Timestamp;

use super::error::{FaultKind, Faults};
use super::{Actor, Change, EditError};
use crate::Snapshot;
use crate::script::ScriptError;
use crate::validate::{self, By, Checks, Fault, ScriptCheck, Severity};

/// # Errors
/// Every fault of what the change puts in place, but for those that were there before: whoever takes a grant away
/// must not be held up by what somebody else did.
pub(crate) fn check(
    snapshot: &Snapshot,
    change: &Change,
    actor: &Actor,
    now: Timestamp,
) -> Result<(), EditError> {
    let by = if actor.is_admin() { By::Admin } else { By::Delegate };
    let options = snapshot.options();
    let engine = options.scripts.as_deref();
    let parses = engine.map(|engine| {
        move |script: &str| engine.check(script).map_err(|error: ScriptError| error.to_string())
    });
    let checks = Checks {
        now,
        time_zone: options.plugin.time_zone,
        scripts: parses.as_ref().map(|parses| parses as ScriptCheck<'_>),
        by,
    };
    let found = validate::change(snapshot.state(), change, &checks);
    if found.iter().all(|fault| fault.severity == Severity::Warning) {
        return Ok(());
    }
    let known = validate::change(snapshot.state(), &replaced(snapshot, change), &checks);
    let is_new = |fault: &&Fault| {
        let is_same = |old: &Fault| {
            old.subject == fault.subject && old.code == fault.code && old.reason == fault.reason
        };
        fault.severity == Severity::Error && !known.iter().any(is_same)
    };
    let mut faults = Faults::default();
    for fault in found.iter().filter(is_new) {
        faults.add(FaultKind::Invalid, fault.to_string());
    }
    faults.into_result()
}

/// What the change puts other things in place of.
fn replaced(snapshot: &Snapshot, change: &Change) -> Change {
    let state = snapshot.state();
    Change {
        put_policies: change.put_policies.iter().filter_map(|p| state.policies.get(&p.id).cloned()).collect(),
        put_roles: change.put_roles.iter().filter_map(|r| state.roles.get(&r.name).cloned()).collect(),
        put_groups: change.put_groups.iter().filter_map(|g| state.groups.get(&g.name).cloned()).collect(),
        put_zones: change.put_zones.iter().filter_map(|z| state.zones.get(&z.name).cloned()).collect(),
        put_services: change
            .put_services
            .iter()
            .filter_map(|s| state.services.get(&s.name).cloned())
            .collect(),
        put_service_defs: change
            .put_service_defs
            .iter()
            .filter_map(|def| state.service_defs.get(&def.name).cloned())
            .collect(),
        put_users: change.put_users.iter().filter_map(|u| state.users.get(&u.name).cloned()).collect(),
        ..Change::default()
    }
}
