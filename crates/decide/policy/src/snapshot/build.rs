//! Reads a state: definitions, services, policies, zones and tags; all of it once, and after that what changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::Names;
use super::policy::PolicyFaults;
use super::service::{CompiledService, Parts, SharedTables};
use super::tagged::CompiledTag;
use super::zones::ZoneIndex;
use super::{BuildOptions, Fault, Strictness};
use crate::edit::Change;
use crate::expression::ExpressionTable;
use crate::model::{
    Policy, PolicyKind, Service, ServiceDef, State, Tag, TagId, TaggedResource, TaggedResourceId,
};
use crate::normalise;

/// A state that has been read. Copies share what they have in common.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) names: Names,
    pub(crate) expressions: Arc<ExpressionTable>,
    pub(crate) services: BTreeMap<String, Arc<CompiledService>>,
    /// By tag service: the services that listen to it.
    listeners: Arc<BTreeMap<String, Vec<String>>>,
    tags: imbl::HashMap<TagId, Arc<CompiledTag>>,
    pub(crate) faults: Vec<Fault>,
}

impl Compiled {
    pub(crate) fn new(state: &State, options: &BuildOptions) -> Self {
        let mut all = Self {
            names: Names::default(),
            expressions: Arc::new(ExpressionTable::new(options.scripts.clone())),
            services: BTreeMap::new(),
            listeners: Arc::default(),
            tags: imbl::HashMap::new(),
            faults: Vec::new(),
        };
        for def in state.service_defs.values() {
            let found = normalise::faults(def).into_iter();
            let in_def = |fault| Fault::new(format!("service definition `{}`: {fault}", def.name));
            all.faults.extend(found.map(in_def));
        }
        let mut listeners: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for service in state.services.values() {
            if let Some(tags) = all.put_service(service, state, options) {
                listeners.entry(tags).or_default().push(service.name.clone());
            }
        }
        all.listeners = Arc::new(listeners);
        for tag in state.tags.values() {
            all.put_tag(tag, options);
        }
        for resource in state.tagged_resources.values() {
            all.put_tagged(resource);
        }
        for policy in state.policies.values() {
            all.put_policy(policy, state, options);
        }
        all
    }

    /// Takes over what the change says of policies and tagged resources.
    ///
    /// `before` is the state that was read so far, and `state` the one with the change made.
    pub(crate) fn apply(&mut self, change: &Change, before: &State, state: &State, options: &BuildOptions) {
        let put = change.put_policies.iter().map(|policy| policy.id);
        for id in change.delete_policies.iter().copied().chain(put) {
            if let Some(policy) = before.policies.get(&id) {
                self.remove_policy(policy);
            }
        }
        // The newest of several words on one policy counts, and that is what the state has.
        let put = change.put_policies.iter().filter_map(|policy| state.policies.get(&policy.id));
        put.for_each(|policy| self.put_policy(policy, state, options));
        change.put_tags.iter().for_each(|tag| self.put_tag(tag, options));
        for id in &change.delete_tagged_resources {
            self.remove_tagged(*id, before);
        }
        for resource in &change.put_tagged_resources {
            self.remove_tagged(resource.id, before);
            self.put_tagged(resource);
        }
    }

    /// The name of the tag service that the service listens to.
    fn put_service(&mut self, service: &Service, state: &State, options: &BuildOptions) -> Option<String> {
        let name = &service.name;
        let Some(def) = state.service_defs.get(&service.service_def) else {
            let def = &service.service_def;
            self.faults.push(Fault::new(format!("service `{name}` has the unknown definition `{def}`")));
            return None;
        };
        let tags = linked(state, service).unwrap_or_else(|fault| {
            self.faults.push(Fault::new(format!("service `{name}`: {fault}")));
            None
        });
        let mut shared = SharedTables {
            names: &mut self.names,
            expressions: &mut self.expressions,
            scripts: options.scripts.as_ref(),
            schedules: options.plugin.schedule_reading(),
            strictness: options.strictness,
        };
        match CompiledService::new(&Parts { service, def, tags }, &mut shared) {
            Ok(mut compiled) => {
                let levels = compiled.policies.levels.of(PolicyKind::Access);
                let tag_service = service.tag_service.as_deref();
                let (zones, found) = ZoneIndex::new(&state.zones, name, tag_service, &def.resources, levels);
                self.faults.extend(found.into_iter().map(Fault::new));
                compiled.zones = Arc::new(zones);
                self.services.insert(name.clone(), Arc::new(compiled));
            }
            Err(fault) => self.faults.push(Fault::new(fault)),
        }
        tags.map(|(tags, _)| tags.name.clone())
    }

    fn put_policy(&mut self, policy: &Policy, state: &State, options: &BuildOptions) {
        let mut shared = SharedTables {
            names: &mut self.names,
            expressions: &mut self.expressions,
            scripts: options.scripts.as_ref(),
            schedules: options.plugin.schedule_reading(),
            strictness: options.strictness,
        };
        let mut found = PolicyFaults::default();
        match self.services.get_mut(&policy.service) {
            Some(compiled) => found = Arc::make_mut(compiled).put(policy, &mut shared),
            None if state.services.contains_key(&policy.service) => {}
            None => {
                let (name, service) = (&policy.name, &policy.service);
                let message = format!("policy `{name}` belongs to the unknown service `{service}`");
                self.faults.push(Fault::of_policy(policy.id, message));
            }
        }
        for listener in self.listeners.get(&policy.service).into_iter().flatten() {
            if let Some(compiled) = self.services.get_mut(listener) {
                // What cannot be honoured is the same for every listener, and already found.
                let _ = Arc::make_mut(compiled).put_tag_policy(policy, &mut shared);
            }
        }
        self.faults.extend(faults_of(policy, found, state, options));
    }

    fn remove_policy(&mut self, policy: &Policy) {
        let listeners = self.listeners.get(&policy.service).into_iter().flatten();
        for service in std::iter::once(&policy.service).chain(listeners) {
            if let Some(compiled) = self.services.get_mut(service) {
                Arc::make_mut(compiled).remove(policy.id);
            }
        }
        self.faults.retain(|fault| fault.policy != Some(policy.id));
    }

    fn put_tag(&mut self, tag: &Tag, options: &BuildOptions) {
        let (compiled, found) = CompiledTag::new(tag, options.plugin.schedule_reading());
        self.faults.extend(found.into_iter().map(Fault::new));
        self.tags.insert(tag.id, Arc::new(compiled));
    }

    fn put_tagged(&mut self, resource: &TaggedResource) {
        let Some(service) = self.services.get_mut(&resource.service) else { return };
        let service = Arc::make_mut(service);
        let carried = resource.tags.iter().filter_map(|id| self.tags.get(id).cloned()).collect();
        let levels = service.policies.levels.of(PolicyKind::Access);
        if let Err(fault) = service.tagged.put(resource, carried, levels) {
            let message = format!("a tagged resource of service `{}`: {fault}", resource.service);
            self.faults.push(Fault::new(message));
        }
    }

    fn remove_tagged(&mut self, id: TaggedResourceId, before: &State) {
        let old = before.tagged_resources.get(&id).map(|resource| &resource.service);
        if let Some(service) = old.and_then(|service| self.services.get_mut(service)) {
            Arc::make_mut(service).tagged.remove(id);
        }
    }
}

/// Whether a change can be taken over without reading everything again: definitions, services and zones are
/// everywhere, and a tag that was there is in whatever carries it.
pub(crate) fn is_small(change: &Change, before: &State) -> bool {
    let Change {
        put_policies: _,
        delete_policies: _,
        put_tagged_resources: _,
        delete_tagged_resources: _,
        put_roles: _,
        delete_roles: _,
        put_groups: _,
        delete_groups: _,
        put_users: _,
        delete_users: _,
        put_tag_defs: _,
        delete_tag_defs: _,
        notices: _,
        put_services,
        delete_services,
        put_service_defs,
        delete_service_defs,
        put_zones,
        delete_zones,
        put_tags,
        delete_tags,
    } = change;
    put_services.is_empty()
        && delete_services.is_empty()
        && put_service_defs.is_empty()
        && delete_service_defs.is_empty()
        && put_zones.is_empty()
        && delete_zones.is_empty()
        && delete_tags.is_empty()
        && put_tags.iter().all(|tag| !before.tags.contains_key(&tag.id))
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
fn faults_of(policy: &Policy, found: PolicyFaults, state: &State, options: &BuildOptions) -> Vec<Fault> {
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
    let fault =
        |message| Fault::of_policy(policy.id, format!("policy `{name}` of service `{service}`: {message}"));
    messages.into_iter().map(fault).collect()
}

fn unknown_zone(state: &State, zone: Option<&str>) -> Option<String> {
    let zone = zone.filter(|zone| !zone.is_empty())?;
    (!state.zones.contains_key(zone)).then(|| format!("there is no security zone `{zone}`"))
}
