//! Services and their definitions.

use super::{must_be_admin, not_there, number};
use crate::defs;
use crate::edit::Actor;
use crate::edit::draft::Draft;
use crate::edit::error::{FaultKind, Faults};
use crate::model::{Service, ServiceDef};

pub(super) fn put_def(draft: &mut Draft<'_>, def: &ServiceDef, actor: &Actor, faults: &mut Faults) {
    must_be_admin(actor, "write definitions", faults);
    let state = draft.before().state();
    let known = state.service_defs.get(&def.name);
    let id = number(def.id, known.map(|known| known.id), state.service_defs.values().map(|def| def.id));
    let def = ServiceDef { id, ..def.clone() };
    if known == Some(&def) {
        return;
    }
    if def.name != defs::TAG {
        tell_tags(draft, |tag| defs::add_component(tag, &def));
    }
    draft.governed.put_service_defs.push(def);
}

pub(super) fn drop_def(
    draft: &mut Draft<'_>,
    name: &str,
    if_exists: bool,
    actor: &Actor,
    faults: &mut Faults,
) {
    if !must_be_admin(actor, "drop definitions", faults) {
        return;
    }
    let state = draft.before().state();
    if !state.service_defs.contains_key(name) {
        not_there(draft, "definition", name, if_exists, faults);
        return;
    }
    let services: Vec<&str> =
        state.services.values().filter(|s| s.service_def == name).map(|s| s.name.as_str()).collect();
    if !services.is_empty() {
        let reason = format!("the definition `{name}` is that of {}", services.join(", "));
        faults.add_with_hint(FaultKind::Dependent, reason, "drop these services first");
        return;
    }
    tell_tags(draft, |tag| defs::remove_component(tag, name));
    draft.governed.delete_service_defs.push(name.to_owned());
}

/// Changes the definition of tag services, if there is one.
fn tell_tags(draft: &mut Draft<'_>, change: impl FnOnce(&mut ServiceDef)) {
    let Some(known) = draft.before().state().service_defs.get(defs::TAG) else { return };
    let mut tag = known.clone();
    change(&mut tag);
    if tag != *known {
        draft.governed.put_service_defs.push(tag);
    }
}

pub(super) fn put(draft: &mut Draft<'_>, service: &Service, actor: &Actor, faults: &mut Faults) {
    must_be_admin(actor, "write services", faults);
    let state = draft.before().state();
    let known = state.services.get(&service.name);
    if let Some(known) = known.filter(|known| known.service_def != service.service_def) {
        let reason = format!(
            "the service `{}` has the definition `{}`, which cannot change",
            service.name, known.service_def
        );
        faults.add(FaultKind::Invalid, reason);
    }
    let id = number(service.id, known.map(|known| known.id), state.services.values().map(|s| s.id));
    let service = Service { id, ..service.clone() };
    if known != Some(&service) {
        draft.governed.put_services.push(service);
    }
}

pub(super) fn drop(draft: &mut Draft<'_>, name: &str, if_exists: bool, actor: &Actor, faults: &mut Faults) {
    if !must_be_admin(actor, "drop services", faults) {
        return;
    }
    let state = draft.before().state();
    let Some(service) = state.services.get(name) else {
        not_there(draft, "service", name, if_exists, faults);
        return;
    };
    if service.configs.contains_key(defs::CATALOGS_CONFIG) || name == defs::GATE_ONE_SERVICE {
        faults.add(FaultKind::Dependent, format!("catalogs are governed by the service `{name}`"));
    }
    let mut depends = |n: usize, what: &str| {
        if n > 0 {
            faults.add(FaultKind::Dependent, format!("the service `{name}` has {n} {what}"));
        }
    };
    depends(draft.policies().filter(|policy| policy.service == name).count(), "policies");
    depends(state.tagged_resources.values().filter(|r| r.service == name).count(), "tagged resources");
    let in_zone =
        |zone: &&crate::model::Zone| zone.services.contains_key(name) || zone.tag_services.contains(name);
    depends(state.zones.values().filter(in_zone).count(), "zones that name it");
    let is_served = |other: &&Service| other.tag_service.as_deref() == Some(name);
    depends(
        state.services.values().filter(is_served).count(),
        "services whose tags it says what to do about",
    );
    if faults.is_empty() {
        draft.governed.delete_services.push(name.to_owned());
    }
}
