//! Builds one state from what a plug-in downloads.

use std::collections::{BTreeMap, BTreeSet};

use policy::model::{self, PolicyId, TagId, TaggedResourceId};
use policy::{defs, model::State};

use super::{Roles, ServicePolicies, TagPolicies, UserStore, zones};
use crate::fault::{Faults, Path};
use crate::{Policy, ServiceTags, WireError, WireFault, convert};

/// What was downloaded for one service.
#[derive(Clone, Copy, Debug)]
pub struct Download<'a> {
    pub policies: &'a ServicePolicies,
    pub tags: Option<&'a ServiceTags>,
    pub roles: Option<&'a Roles>,
    pub user_store: Option<&'a UserStore>,
    /// The service's definition, where the download has none in it.
    pub service_def: Option<&'a model::ServiceDef>,
    /// The definition of the tag service, where the download has none in it.
    pub tag_def: Option<&'a model::ServiceDef>,
}

impl<'a> Download<'a> {
    /// Policies alone.
    pub fn new(policies: &'a ServicePolicies) -> Self {
        Self { policies, tags: None, roles: None, user_store: None, service_def: None, tag_def: None }
    }
}

/// A download as a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Downloaded {
    pub state: State,
    /// The service, and its tag service if it has one.
    pub service: String,
    pub tag_service: Option<String>,
    /// Policies whose own number was taken or missing, with the number that they came with.
    pub numbers: BTreeMap<PolicyId, Option<i64>>,
    pub audit_mode: Option<String>,
    pub tag_audit_mode: Option<String>,
    /// What was passed over, as Ranger does.
    pub warnings: Vec<WireFault>,
}

impl Downloaded {
    /// The number that a policy came with, which Ranger's records name.
    pub fn number(&self, id: PolicyId) -> Option<i64> {
        self.numbers.get(&id).copied().unwrap_or(Some(id.0))
    }
}

/// The state that a download makes.
///
/// Policies belong to the service (or tag service) in whose list they stand, and to the zone in whose part they stand,
/// whatever they say themselves. Whether the state can be honoured is for [`policy::Snapshot`] to say.
///
/// # Errors
/// Every place that does not have the shape it must have. Then the whole download must not be used: what is left out
/// could be a denial.
pub fn state(from: &Download<'_>) -> Result<Downloaded, WireError> {
    let mut faults = Faults::default();
    let mut warnings = Faults::default();
    let policies = from.policies;
    let root = Path::Root;
    let service = convert::required(&policies.service_name, "serviceName", &root, &mut faults);
    let mut state =
        State { version: model::Version(policies.policy_version.unwrap_or(0)), ..State::default() };
    let tag_at = Path::Member(&root, "tagPolicies");
    let tag_service = policies.tag_policies.as_ref().map(|tags| tag_service_name(tags, &service));

    let def = match &policies.service_def {
        Some(def) => Some(convert::service_def(def, &Path::Member(&root, "serviceDef"), &mut faults)),
        None => from.service_def.cloned(),
    };
    let def = def.unwrap_or_else(|| {
        faults.add(&Path::Member(&root, "serviceDef"), "missing");
        model::ServiceDef::default()
    });
    add_service(
        &mut state,
        Part { name: &service, id: policies.service_id, configs: &policies.service_config, at: &root },
        def,
        tag_service.clone(),
        &mut warnings,
    );
    if let (Some(tags), Some(name)) = (&policies.tag_policies, &tag_service) {
        let def = match &tags.service_def {
            Some(def) => convert::service_def(def, &Path::Member(&tag_at, "serviceDef"), &mut faults),
            None => from.tag_def.cloned().unwrap_or_else(defs::tag),
        };
        let part = Part { name, id: tags.service_id, configs: &tags.service_config, at: &tag_at };
        add_service(&mut state, part, def, None, &mut warnings);
    }

    state.zones = zones(&policies.security_zones, &service, tag_service.as_deref());
    let lists = lists(policies, &service, tag_service.as_deref());
    let numbers = add_policies(&mut state, &lists, &mut faults);
    if let Some(tags) = from.tags {
        add_tags(&mut state, tags, &service, &mut faults);
    }
    if let Some(roles) = from.roles {
        add_roles(&mut state, roles, &mut faults);
    }
    if let Some(users) = from.user_store {
        add_users(&mut state, users);
    }
    faults.unless_any(Downloaded {
        state,
        service,
        tag_service,
        numbers,
        audit_mode: policies.audit_mode.clone(),
        tag_audit_mode: policies.tag_policies.as_ref().and_then(|tags| tags.audit_mode.clone()),
        warnings: warnings.into_list(),
    })
}

/// A tag service without a name gets one that the service itself cannot have.
fn tag_service_name(tags: &TagPolicies, service: &str) -> String {
    let named = tags.service_name.as_deref().filter(|name| *name != service);
    named.map_or_else(|| format!("{service} (tags)"), str::to_owned)
}

struct Part<'a> {
    name: &'a str,
    id: Option<i64>,
    configs: &'a BTreeMap<String, String>,
    at: &'a Path<'a>,
}

fn add_service(
    state: &mut State,
    part: Part<'_>,
    mut def: model::ServiceDef,
    tag_service: Option<String>,
    warnings: &mut Faults,
) {
    // Test data gives both definitions one name; Ranger keeps them apart by where they stand.
    if state.service_defs.contains_key(&def.name) {
        def.name = format!("{} of {}", def.name, part.name);
    }
    let configs_at = Path::Member(part.at, "serviceConfig");
    let filters_at = Path::Member(&configs_at, defs::AUDIT_FILTERS_CONFIG);
    let filters = part.configs.get(defs::AUDIT_FILTERS_CONFIG).map_or("", String::as_str);
    let service = model::Service {
        id: part.id.unwrap_or(0).max(0),
        name: part.name.to_owned(),
        service_def: def.name.clone(),
        tag_service,
        is_enabled: true,
        configs: part.configs.clone(),
        audit_filters: convert::audit_filters(filters, &filters_at, warnings),
    };
    state.services.insert(service.name.clone(), service);
    state.service_defs.insert(def.name.clone(), def);
}

/// Policies of one service and zone, with their place in the document.
struct List<'a> {
    service: &'a str,
    zone: Option<&'a str>,
    policies: &'a [Policy],
    place: String,
}

fn lists<'a>(from: &'a ServicePolicies, service: &'a str, tag_service: Option<&'a str>) -> Vec<List<'a>> {
    let mut lists =
        vec![List { service, zone: None, policies: &from.policies, place: "policies".to_owned() }];
    if let (Some(tags), Some(service)) = (&from.tag_policies, tag_service) {
        let place = "tagPolicies.policies".to_owned();
        lists.push(List { service, zone: None, policies: &tags.policies, place });
    }
    for (zone, info) in &from.security_zones {
        let place = format!("securityZones.{zone}.policies");
        lists.push(List { service, zone: Some(zone), policies: &info.policies, place });
    }
    lists
}

/// Adds the policies; the first with a number keeps it, and whose is taken gets the next free one.
fn add_policies(
    state: &mut State,
    lists: &[List<'_>],
    faults: &mut Faults,
) -> BTreeMap<PolicyId, Option<i64>> {
    let given = lists.iter().flat_map(|list| list.policies).filter_map(|policy| policy.id);
    let mut next = given.max().unwrap_or(0).max(0).saturating_add(1);
    let mut numbers = BTreeMap::new();
    let root = Path::Root;
    for list in lists {
        let list_at = Path::Member(&root, &list.place);
        for (idx, from) in list.policies.iter().enumerate() {
            let at = Path::Element(&list_at, idx);
            let mut from = from.clone();
            from.service = Some(list.service.to_owned());
            let number = from.id;
            let is_free = number.is_some_and(|id| !state.policies.contains_key(&PolicyId(id)));
            if !is_free {
                from.id = Some(next);
                next = next.saturating_add(1);
            }
            let mut policy = convert::policy(&from, &at, faults);
            if let Some(zone) = list.zone {
                policy.zone = Some(zone.to_owned());
            }
            if !is_free {
                numbers.insert(policy.id, number);
            }
            state.policies.insert(policy.id, policy);
        }
    }
    state.next_policy_id = next;
    numbers
}

fn add_tags(state: &mut State, from: &ServiceTags, service: &str, faults: &mut Faults) {
    let root = Path::Root;
    if from.is_delta == Some(true) {
        faults.add(&Path::Member(&root, "isDelta"), "a difference of tags needs the tags that it changes");
    }
    let defs_at = Path::Member(&root, "tagDefinitions");
    for (number, def) in &from.tag_definitions {
        let def = convert::tag_def(def, &Path::Member(&defs_at, number), faults);
        state.tag_defs.insert(def.name.clone(), def);
    }
    let tags_at = Path::Member(&root, "tags");
    for (number, tag) in &from.tags {
        let at = Path::Member(&tags_at, number);
        let mut tag = convert::tag(tag, &at, faults);
        match number.trim().parse() {
            Ok(id) => tag.id = TagId(id),
            Err(_) => faults.add(&at, "expected a whole number as the name"),
        }
        state.tags.insert(tag.id, tag);
    }
    let resources_at = Path::Member(&root, "serviceResources");
    let mut next = from.service_resources.iter().filter_map(|r| r.id).max().unwrap_or(0).max(0);
    for (idx, resource) in from.service_resources.iter().enumerate() {
        let mut resource = resource.clone();
        resource.service_name = Some(service.to_owned());
        let number = resource.id.map(|id| id.to_string()).unwrap_or_default();
        let tags = from.resource_to_tag_ids.get(&number).map(Vec::as_slice).unwrap_or_default();
        let is_free =
            resource.id.is_some_and(|id| !state.tagged_resources.contains_key(&TaggedResourceId(id)));
        if !is_free {
            next = next.saturating_add(1);
            resource.id = Some(next);
        }
        let mut resource = convert::service_resource(&resource, &Path::Element(&resources_at, idx), faults);
        // A number that no tag has is passed over, as Ranger does.
        resource.tags = convert::tag_ids(tags).into_iter().filter(|id| state.tags.contains_key(id)).collect();
        state.tagged_resources.insert(resource.id, resource);
    }
}

/// Several roles of one name are one.
fn add_roles(state: &mut State, from: &Roles, faults: &mut Faults) {
    let root = Path::Root;
    let at = Path::Member(&root, "rangerRoles");
    for (idx, role) in from.ranger_roles.iter().enumerate() {
        let role = convert::role(role, &Path::Element(&at, idx), faults);
        match state.roles.get_mut(&role.name) {
            None => {
                state.roles.insert(role.name.clone(), role);
            }
            Some(known) => {
                unite(&mut known.users, role.users);
                unite(&mut known.groups, role.groups);
                unite(&mut known.roles, role.roles);
            }
        }
    }
}

fn unite(known: &mut Vec<model::Member>, more: Vec<model::Member>) {
    for member in more {
        match known.iter_mut().find(|other| other.name == member.name) {
            Some(other) => other.is_admin |= member.is_admin,
            None => known.push(member),
        }
    }
}

fn add_users(state: &mut State, from: &UserStore) {
    let users: BTreeSet<_> = from.user_attr_mapping.keys().chain(from.user_group_mapping.keys()).collect();
    for (id, name) in (1..).zip(users) {
        let user = model::User {
            id,
            name: name.clone(),
            credential: None,
            attributes: from.user_attr_mapping.get(name).cloned().unwrap_or_default(),
        };
        state.users.insert(user.name.clone(), user);
    }
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for name in from.group_attr_mapping.keys() {
        groups.entry(name).or_default();
    }
    for (user, of_user) in &from.user_group_mapping {
        for group in of_user {
            groups.entry(group).or_default().push(user.clone());
        }
    }
    for (id, (name, users)) in (1..).zip(groups) {
        let attributes = from.group_attr_mapping.get(name).cloned().unwrap_or_default();
        let group = model::Group { id, name: name.to_owned(), users, attributes };
        state.groups.insert(group.name.clone(), group);
    }
}
