//! One version of the authority's state, with what evaluation needs to find its way in it.

mod access_types;
mod audit_filter;
mod build;
mod byte_map;
mod granted;
mod index;
mod membership;
mod names;
mod node;
mod node_map;
mod order;
mod policy;
mod repository;
mod service;
mod settings;
mod tagged;
mod zones;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::condition::ConditionSettings;
use crate::edit::Change;
use crate::expression::ExpressionTable;
use crate::model::{PolicyId, State, Version};
use crate::{Membership, Principal, defs};

pub(crate) use access_types::AccessNumber;
pub(crate) use audit_filter::{CompiledAuditFilter, FilterResource};
use build::Compiled;
pub use granted::{GrantedColumn, GrantedColumns};
pub(crate) use index::Reach;
use membership::MemberIndex;
use names::Names;
pub(crate) use names::{Marks, Numbers, Prepared};
pub(crate) use policy::{CompiledItem, CompiledPolicy, Reached};
pub(crate) use repository::{Found, FoundAll, PolicyIndex, Repository};
pub(crate) use service::{CompiledService, Policies};
pub use settings::{AuditMode, BuildOptions, PluginSettings, Strictness};
pub(crate) use tagged::CompiledTag;

/// Why a state cannot be made into a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    message: String,
    /// Whose fault it is, if a policy's.
    policy: Option<PolicyId>,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), policy: None }
    }

    fn of_policy(policy: PolicyId, message: String) -> Self {
        Self { message, policy: Some(policy) }
    }
}

/// One version of the authority's state, ready to be asked.
///
/// INVARIANT: every enabled policy of the state has been read, or is kept as one that counts against its principals.
#[derive(Clone, Debug)]
pub struct Snapshot {
    state: State,
    options: Arc<BuildOptions>,
    members: Arc<MemberIndex>,
    compiled: Compiled,
    conditions: Arc<ConditionSettings>,
    service_of_catalog: Arc<HashMap<String, String>>,
    column_grants: granted::ColumnGrants,
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
        let first_free = state.policies.keys().next_back().map_or(1, |id| id.0.saturating_add(1));
        state.next_policy_id = state.next_policy_id.max(first_free);
        let mut faults = misplaced(&state);
        let service_of_catalog = service_of_catalog(&state, &mut faults);
        let mut compiled = Compiled::new(&state, options);
        faults.append(&mut compiled.faults);
        compiled.faults = faults;
        let built = Self {
            members: Arc::new(MemberIndex::new(&state)),
            column_grants: granted::ColumnGrants::of(&state),
            state,
            options: Arc::new(options.clone()),
            compiled,
            conditions: Arc::new(ConditionSettings::of(&options.plugin)),
            service_of_catalog: Arc::new(service_of_catalog),
        };
        built.unless_refused()
    }

    fn unless_refused(self) -> Result<Self, Vec<Fault>> {
        match self.options.strictness {
            Strictness::Strict if !self.compiled.faults.is_empty() => Err(self.compiled.faults),
            Strictness::Strict | Strictness::Report => Ok(self),
        }
    }

    /// What cannot be honoured of the state; empty where faults refuse a state.
    pub fn faults(&self) -> &[Fault] {
        &self.compiled.faults
    }

    /// How it was built.
    pub fn options(&self) -> &BuildOptions {
        &self.options
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
        let state = changed(self.state.clone(), change, version);
        if !build::is_small(change, &self.state) {
            return Self::build_with(state, &self.options);
        }
        let column_grants = self.column_grants.after(change, &self.state);
        let mut next = Self { column_grants, ..self.clone() };
        next.compiled.apply(change, &self.state, &state, &self.options);
        if !changes_members(change) {
            next.state = state;
            return next.unless_refused();
        }
        next.members = Arc::new(MemberIndex::new(&state));
        next.state = state;
        next.unless_refused()
    }

    /// Every group and role that counts for a user: the authority's own, and those that her token claims.
    ///
    /// A claimed role counts only if it was declared external, and `admin` never does.
    pub fn membership(&self, p: &Principal) -> Membership {
        let mut who = self.members.of(p);
        self.compiled.names.prepare(&mut who);
        who
    }

    /// A user or groups alone, with every role that they hold.
    pub(crate) fn alone(&self, user: &str, groups: BTreeSet<String>) -> Membership {
        let roles = self.members.roles(user, &groups, std::iter::empty());
        Membership::new(user, groups, roles)
    }

    /// The service that filters and masks the tables of a catalog.
    ///
    /// A catalog that no service was made for gets a name that no service has, so that its tables cannot be read.
    pub fn gate_two_service(&self, catalog: &str) -> &str {
        self.service_of_catalog.get(catalog).map_or("", String::as_str)
    }

    pub(crate) fn service(&self, name: &str) -> Option<&CompiledService> {
        self.compiled.services.get(name).map(Arc::as_ref)
    }

    pub(crate) fn names(&self) -> &Names {
        &self.compiled.names
    }

    pub(crate) fn numbers_of<'w>(&self, who: &'w Membership) -> Cow<'w, Numbers> {
        self.compiled.names.of(who)
    }

    pub(crate) fn expressions(&self) -> &ExpressionTable {
        &self.compiled.expressions
    }

    pub(crate) fn condition_settings(&self) -> &ConditionSettings {
        &self.conditions
    }

    pub(crate) fn plugin(&self) -> &PluginSettings {
        &self.options.plugin
    }
}

fn changes_members(change: &Change) -> bool {
    !change.put_roles.is_empty()
        || !change.delete_roles.is_empty()
        || !change.put_groups.is_empty()
        || !change.delete_groups.is_empty()
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
