//! Edits of security zones: what is in them, who administers them, and what goes when they go.

use super::{must_be_admin, not_there, number};
use crate::edit::draft::Draft;
use crate::edit::error::{FaultKind, Faults};
use crate::edit::names::check_text;
use crate::edit::{Actor, PUBLIC};
use crate::model::Zone;

pub(super) fn put(draft: &mut Draft<'_>, zone: &Zone, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    let known = state.zones.get(&zone.name);
    if !actor.is_admin() {
        match known {
            Some(known) if administers(known, actor) => {
                let is_same = known.services == zone.services && known.tag_services == zone.tag_services;
                if !is_same {
                    faults.denied(format!("change what is in zone `{}`", zone.name));
                }
            }
            _ => faults.denied("create zones"),
        }
    }
    if known.is_none() {
        check_text("zone", &zone.name, faults);
    }
    let id = number(zone.id, known.map(|known| known.id), state.zones.values().map(|zone| zone.id));
    let zone = Zone { id, ..zone.clone() };
    if known != Some(&zone) {
        draft.governed.put_zones.push(zone);
    }
}

pub(super) fn drop(draft: &mut Draft<'_>, name: &str, if_exists: bool, actor: &Actor, faults: &mut Faults) {
    if !must_be_admin(actor, "drop zones", faults) {
        return;
    }
    if !draft.before().state().zones.contains_key(name) {
        not_there(draft, "zone", name, if_exists, faults);
        return;
    }
    let n_policies = draft.policies().filter(|policy| policy.zone.as_deref() == Some(name)).count();
    if n_policies > 0 {
        faults.add_with_hint(
            FaultKind::Dependent,
            format!("the zone `{name}` has {n_policies} policies"),
            "drop them first: outside of the zone they would mean something else",
        );
        return;
    }
    draft.governed.delete_zones.push(name.to_owned());
}

/// Whether the actor is named as an administrator of the zone.
pub(crate) fn administers(zone: &Zone, actor: &Actor) -> bool {
    let who = &actor.membership;
    zone.admin_users.contains(&who.user)
        || zone.admin_groups.iter().any(|group| group == PUBLIC || who.groups.contains(group))
        || zone.admin_roles.iter().any(|role| who.roles.contains(role))
}
