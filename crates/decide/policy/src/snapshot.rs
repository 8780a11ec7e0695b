//! One version of the authority's state, with what evaluation needs to find its way in it.

mod access_types;
mod condition;
mod index;
mod membership;
mod policy;

mod service;
mod settings;

use std::collections::HashMap;

use crate::edit::Change;
use crate::model::{Policy, State, Version};
use crate::{Membership, Principal, defs};

pub(crate) use condition::{Condition, Held};
pub(crate) use index::Reach;
use membership::MemberIndex;
pub(crate) use policy::{CompiledItem, CompiledPolicy};
pub(crate) use service::CompiledService;
pub use settings::{AuditMode, BuildOptions, PluginSettings, Strictness};

/// Why a state cannot be made into a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    message: String,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// One version of the authority's state, ready to be asked.
///
/// INVARIANT: every enabled policy of the state has been read, so that evaluation never has to leave one out.
#[derive(Clone, Debug)]
pub struct Snapshot {
    state: State,
    options: BuildOptions,
    faults: Vec<Fault>,
    members: MemberIndex,
    services: HashMap<String, CompiledService>,
    service_of_catalog: HashMap<String, String>,
}

impl Snapshot {
    /// # Errors
    /// Every fault of the state, not only the first.
    pub fn build(state: State) -> Result<Self, Vec<Fault>> {
        Self::build_with(state, &BuildOptions::default())
    }

    /// # Errors
    /// Every fault of the state, unless the options say that faults are to be reported only.
    pub fn build_with(mut state: State, options: &BuildOptions) -> Result<Self, Vec<Fault>> {
        let mut faults = misplaced(&state);
        let mut by_service: HashMap<&str, Vec<&Policy>> = HashMap::new();
        for policy in state.policies.values() {
            if !state.services.contains_key(&policy.service) {
                let (name, service) = (&policy.name, &policy.service);
                faults
                    .push(Fault::new(format!("policy `{name}` belongs to the unknown service `{service}`")));
            }
            by_service.entry(policy.service.as_str()).or_default().push(policy);
        }
        let mut services = HashMap::new();
        for (name, service) in &state.services {
            let Some(def) = state.service_defs.get(&service.service_def) else {
                let def = &service.service_def;
                faults.push(Fault::new(format!("service `{name}` has the unknown definition `{def}`")));
                continue;
            };
            let policies = by_service.remove(name.as_str()).unwrap_or_default();
            if def.name == defs::TAG {
                // A protection that nothing evaluates must not look as if it protected.
                let enabled = policies.iter().filter(|policy| policy.is_enabled);
                faults.extend(enabled.map(|policy| {
                    Fault::new(format!(
                        "policy `{}` of service `{name}`: tag policies are not supported",
                        policy.name
                    ))
                }));
            }
            match CompiledService::new(&service::Parts { service, def, policies }) {
                Ok(compiled) => {
                    services.insert(name.clone(), compiled);
                }
                Err(messages) => faults.extend(messages.into_iter().map(Fault::new)),
            }
        }
        let service_of_catalog = service_of_catalog(&state, &mut faults);
        if !faults.is_empty() && options.strictness == Strictness::Strict {
            return Err(faults);
        }
        let first_free = state.policies.keys().next_back().map_or(1, |id| id.0.saturating_add(1));
        state.next_policy_id = state.next_policy_id.max(first_free);
        let members = MemberIndex::new(&state);
        Ok(Self { state, options: options.clone(), faults, members, services, service_of_catalog })
    }

    /// What cannot be honoured of the state; empty where faults refuse a state.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn version(&self) -> Version {
        self.state.version
    }

    /// A new snapshot with the change made.
    ///
    /// # Errors
    /// Every fault that the changed state would have.
    pub fn apply(&self, change: &Change, version: Version) -> Result<Self, Vec<Fault>> {
        Self::build_with(changed(self.state.clone(), change, version), &self.options)
    }

    /// Every group and role that counts for a user: the authority's own, and those that her token claims.
    ///
    /// A claimed role counts only if it was declared external, and `admin` never does.
    pub fn membership(&self, p: &Principal) -> Membership {
        self.members.of(p)
    }

    /// The service that filters and masks the tables of a catalog.
    ///
    /// A catalog that no service was made for gets a name that no service has, so that its tables cannot be read.
    pub fn gate_two_service(&self, catalog: &str) -> &str {
        self.service_of_catalog.get(catalog).map_or("", String::as_str)
    }

    pub(crate) fn service(&self, name: &str) -> Option<&CompiledService> {
        self.services.get(name)
    }
}

/// Things that are kept under another name or number than their own.
fn misplaced(state: &State) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut check = |what: &str, key: &str, name: &str| {
        if key != name {
            faults.push(Fault::new(format!("{what} `{name}` is kept under the name `{key}`")));
        }
    };
    state.service_defs.iter().for_each(|(key, def)| check("service definition", key, &def.name));
    state.services.iter().for_each(|(key, service)| check("service", key, &service.name));
    state.roles.iter().for_each(|(key, role)| check("role", key, &role.name));
    state.groups.iter().for_each(|(key, group)| check("group", key, &group.name));
    state.users.iter().for_each(|(key, user)| check("user", key, &user.name));
    state.policies.iter().for_each(|(key, policy)| {
        check("policy", &key.0.to_string(), &policy.id.0.to_string());
    });
    faults
}

fn service_of_catalog(state: &State, faults: &mut Vec<Fault>) -> HashMap<String, String> {
    let mut found: HashMap<String, String> = HashMap::new();
    for (name, service) in &state.services {
        let catalogs = service.configs.get(defs::CATALOGS_CONFIG).map_or("", String::as_str);
        for catalog in catalogs.split(',').map(str::trim).filter(|catalog| !catalog.is_empty()) {
            if let Some(other) = found.insert(catalog.to_owned(), name.clone()) {
                let message =
                    format!("the services `{other}` and `{name}` both claim the catalog `{catalog}`");
                faults.push(Fault::new(message));
            }
        }
    }
    found
}

fn changed(mut state: State, change: &Change, version: Version) -> State {
    for id in &change.delete_policies {
        state.policies.remove(id);
    }
    for policy in &change.put_policies {
        state.next_policy_id = state.next_policy_id.max(policy.id.0.saturating_add(1));
        state.policies.insert(policy.id, policy.clone());
    }
    for name in &change.delete_roles {
        state.roles.remove(name);
    }
    for role in &change.put_roles {
        state.roles.insert(role.name.clone(), role.clone());
    }
    for name in &change.delete_groups {
        state.groups.remove(name);
    }
    for group in &change.put_groups {
        state.groups.insert(group.name.clone(), group.clone());
    }
    for name in &change.delete_users {
        state.users.remove(name);
    }
    for user in &change.put_users {
        state.users.insert(user.name.clone(), user.clone());
    }
    for name in &change.delete_services {
        state.services.remove(name);
    }
    for service in &change.put_services {
        state.services.insert(service.name.clone(), service.clone());
    }
    change_governed(&mut state, change);
    state.version = version;
    state
}

/// Definitions, zones and tags.
fn change_governed(state: &mut State, change: &Change) {
    for name in &change.delete_service_defs {
        state.service_defs.remove(name);
    }
    for def in &change.put_service_defs {
        state.service_defs.insert(def.name.clone(), def.clone());
    }
    for name in &change.delete_zones {
        state.zones.remove(name);
    }
    for zone in &change.put_zones {
        state.zones.insert(zone.name.clone(), zone.clone());
    }
    for name in &change.delete_tag_defs {
        state.tag_defs.remove(name);
    }
    for def in &change.put_tag_defs {
        state.tag_defs.insert(def.name.clone(), def.clone());
    }
    for id in &change.delete_tags {
        state.tags.remove(id);
    }
    for tag in &change.put_tags {
        state.tags.insert(tag.id, tag.clone());
    }
    for id in &change.delete_tagged_resources {
        state.tagged_resources.remove(id);
    }
    for resource in &change.put_tagged_resources {
        state.tagged_resources.insert(resource.id, resource.clone());
    }
}

#[cfg(test)]
mod tests;
