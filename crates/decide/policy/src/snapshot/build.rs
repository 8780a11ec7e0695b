//! Reads a whole state: definitions, services, policies, zones and tags.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::names::Names;
use super::policy::PolicyFaults;
use super::service::{CompiledService, Parts, SharedTables};
use super::tagged::CompiledTag;
use super::zones::ZoneIndex;
use super::{BuildOptions, Fault, Strictness};
use crate::expression::ExpressionTable;
use crate::model::{Policy, PolicyKind, Service, ServiceDef, State, TagId};
use crate::normalise;

/// What reading gives.
pub(crate) struct Built {
    pub(crate) names: Names,
    pub(crate) expressions: ExpressionTable,
    pub(crate) services: BTreeMap<String, Arc<CompiledService>>,
    pub(crate) listeners: BTreeMap<String, Vec<String>>,
}

pub(crate) fn services(state: &State, options: &BuildOptions, faults: &mut Vec<Fault>) -> Built {
    let mut names = Names::default();
    let mut expressions = ExpressionTable::new(options.scripts.clone());
    let mut shared = SharedTables {
        names: &mut names,
        expressions: &mut expressions,
        scripts: options.scripts.as_ref(),
        schedules: options.plugin.schedule_reading(),
    };
    for def in state.service_defs.values() {
        let found = normalise::faults(def).into_iter();
        faults.extend(found.map(|fault| Fault::new(format!("service definition `{}`: {fault}", def.name))));
    }
    let mut services: BTreeMap<String, CompiledService> = BTreeMap::new();
    let mut listeners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, service) in &state.services {
        let Some(def) = state.service_defs.get(&service.service_def) else {
            let def = &service.service_def;
            faults.push(Fault::new(format!("service `{name}` has the unknown definition `{def}`")));
            continue;
        };
        let tags = match linked(state, service) {
            Ok(tags) => tags,
            Err(fault) => {
                faults.push(Fault::new(format!("service `{name}`: {fault}")));
                None
            }
        };
        match CompiledService::new(&Parts { service, def, tags }, &mut shared) {
            Ok(mut compiled) => {
                put_zones(state, service, def, &mut compiled, faults);
                services.insert(name.clone(), compiled);
            }
            Err(fault) => faults.push(Fault::new(fault)),
        }
        if let Some((tags, _)) = tags {
            listeners.entry(tags.name.clone()).or_default().push(name.clone());
        }
    }
    put_tagged(state, options, &mut services, faults);
    for policy in state.policies.values() {
        let (name, service) = (&policy.name, &policy.service);
        if !state.services.contains_key(service) {
            faults.push(Fault::new(format!("policy `{name}` belongs to the unknown service `{service}`")));
        }
        let mut found = PolicyFaults::default();
        if let Some(compiled) = services.get_mut(service) {
            found = compiled.put(policy, &mut shared);
        }
        for listener in listeners.get(service).into_iter().flatten() {
            if let Some(compiled) = services.get_mut(listener) {
                // What cannot be honoured is the same for every listener, and already found.
                let _ = compiled.put_tag_policy(policy, &mut shared);
            }
        }
        faults.extend(faults_of(policy, found, state, options));
    }
    let services = services.into_iter().map(|(name, service)| (name, Arc::new(service))).collect();
    Built { names, expressions, services, listeners }
}

/// The tag service that a service listens to, with its definition.
fn linked<'s>(state: &'s State, service: &Service) -> Result<Option<(&'s Service, &'s ServiceDef)>, String> {
    let Some(name) = service.tag_service.as_deref().filter(|name| !name.is_empty()) else { return Ok(None) };
    let missing = || format!("its tag service `{name}` does not exist");
    let tags = state.services.get(name).ok_or_else(missing)?;
    match state.service_defs.get(&tags.service_def) {
        // A tag service that is switched off says nothing.
        Some(_) if !tags.is_enabled => Ok(None),
        Some(def) => Ok(Some((tags, def))),
        None => Ok(None),
    }
}

/// What is told of a policy. Where faults refuse a state, conditions that cannot be evaluated do not: they count
/// against the user wherever they stand, and whoever edits a policy hears of them.
pub(crate) fn faults_of(
    policy: &Policy,
    found: PolicyFaults,
    state: &State,
    options: &BuildOptions,
) -> Vec<Fault> {
    // What is switched off does nothing, so it may ask for what is not offered.
    if !policy.is_enabled {
        return Vec::new();
    }
    let mut messages = found.whole;
    messages.extend(unknown_zone(state, policy.zone.as_deref()));
    if options.strictness == Strictness::Report {
        messages.extend(found.conditions);
    }
    let (name, service) = (&policy.name, &policy.service);
    let fault = |message| Fault::new(format!("policy `{name}` of service `{service}`: {message}"));
    messages.into_iter().map(fault).collect()
}

fn unknown_zone(state: &State, zone: Option<&str>) -> Option<String> {
    let zone = zone.filter(|zone| !zone.is_empty())?;
    (!state.zones.contains_key(zone)).then(|| format!("there is no security zone `{zone}`"))
}

fn put_zones(
    state: &State,
    service: &Service,
    def: &ServiceDef,
    compiled: &mut CompiledService,
    faults: &mut Vec<Fault>,
) {
    let levels = compiled.policies.levels.of(PolicyKind::Access);
    let tag_service = service.tag_service.as_deref();
    let (zones, found) = ZoneIndex::new(&state.zones, &service.name, tag_service, &def.resources, levels);
    faults.extend(found.into_iter().map(Fault::new));
    compiled.zones = zones;
}

fn put_tagged(
    state: &State,
    options: &BuildOptions,
    services: &mut BTreeMap<String, CompiledService>,
    faults: &mut Vec<Fault>,
) {
    let mut tags: HashMap<TagId, Arc<CompiledTag>> = HashMap::new();
    for (id, tag) in &state.tags {
        let (tag, found) = CompiledTag::new(tag, options.plugin.schedule_reading());
        faults.extend(found.into_iter().map(Fault::new));
        tags.insert(*id, Arc::new(tag));
    }
    for resource in state.tagged_resources.values() {
        let Some(service) = services.get_mut(&resource.service) else { continue };
        let carried = resource.tags.iter().filter_map(|id| tags.get(id).cloned()).collect();
        let levels = service.policies.levels.of(PolicyKind::Access);
        if let Err(fault) = service.tagged.put(resource, carried, levels) {
            let message = format!("a tagged resource of service `{}`: {fault}", resource.service);
            faults.push(Fault::new(message));
        }
    }
}
