//! What an edit changes, as whole things put in place and things taken away.

use crate::Snapshot;
use crate::model::{
    Group, Policy, PolicyId, Role, Service, ServiceDef, State, Tag, TagDef, TagId, TaggedResource,
    TaggedResourceId, User, Zone,
};

/// What an edit changes: whole things put in place, and things taken away. One with nothing in it is legal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub put_policies: Vec<Policy>,
    pub delete_policies: Vec<PolicyId>,
    pub put_roles: Vec<Role>,
    pub delete_roles: Vec<String>,
    pub put_groups: Vec<Group>,
    pub delete_groups: Vec<String>,
    pub put_users: Vec<User>,
    /// Services for catalogs that were configured later.
    pub put_services: Vec<Service>,
    pub delete_services: Vec<String>,
    pub delete_users: Vec<String>,
    pub put_service_defs: Vec<ServiceDef>,
    pub delete_service_defs: Vec<String>,
    pub put_zones: Vec<Zone>,
    pub delete_zones: Vec<String>,
    pub put_tag_defs: Vec<TagDef>,
    pub delete_tag_defs: Vec<String>,
    pub put_tags: Vec<Tag>,
    pub delete_tags: Vec<TagId>,
    pub put_tagged_resources: Vec<TaggedResource>,
    pub delete_tagged_resources: Vec<TaggedResourceId>,
    /// For the person who made the edit.
    pub notices: Vec<String>,
}

/// What happened to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Create,
    Update,
    Delete,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// One thing that a change touches, for the audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub action: Action,
    /// `policy`, `role`, `group`, `user`, `service`, `service definition`, `zone`, `tag definition`, `tag` or
    /// `tagged resource`.
    pub kind: &'static str,
    pub name: String,
}

impl Change {
    /// Whether nothing would be different afterwards.
    pub fn is_empty(&self) -> bool {
        *self == Self { notices: self.notices.clone(), ..Self::default() }
    }

    /// Everything that the change touches, by name; `before` is the snapshot that it was made from.
    pub fn describe(&self, before: &Snapshot) -> Vec<Described> {
        let state = before.state();
        let mut all = Vec::new();
        let mut put = |kind, name: &str, is_there: bool| {
            let action = if is_there { Action::Update } else { Action::Create };
            all.push(Described { action, kind, name: name.to_owned() });
        };
        for policy in &self.put_policies {
            put("policy", &policy.name, state.policies.contains_key(&policy.id));
        }
        for role in &self.put_roles {
            put("role", &role.name, state.roles.contains_key(&role.name));
        }
        for group in &self.put_groups {
            put("group", &group.name, state.groups.contains_key(&group.name));
        }
        for user in &self.put_users {
            put("user", &user.name, state.users.contains_key(&user.name));
        }
        for service in &self.put_services {
            put("service", &service.name, state.services.contains_key(&service.name));
        }
        for def in &self.put_service_defs {
            put("service definition", &def.name, state.service_defs.contains_key(&def.name));
        }
        for zone in &self.put_zones {
            put("zone", &zone.name, state.zones.contains_key(&zone.name));
        }
        for def in &self.put_tag_defs {
            put("tag definition", &def.name, state.tag_defs.contains_key(&def.name));
        }
        for tag in &self.put_tags {
            put("tag", &tag_name(tag), state.tags.contains_key(&tag.id));
        }
        for resource in &self.put_tagged_resources {
            let is_there = state.tagged_resources.contains_key(&resource.id);
            put("tagged resource", &resource_name(resource), is_there);
        }
        all.extend(self.deleted(state));
        all
    }

    fn deleted(&self, state: &State) -> Vec<Described> {
        let policies = self.delete_policies.iter().filter_map(|id| state.policies.get(id));
        let tags = self.delete_tags.iter().filter_map(|id| state.tags.get(id));
        let resources = self.delete_tagged_resources.iter().filter_map(|id| state.tagged_resources.get(id));
        let by_name = [
            ("role", &self.delete_roles),
            ("group", &self.delete_groups),
            ("user", &self.delete_users),
            ("service", &self.delete_services),
            ("service definition", &self.delete_service_defs),
            ("zone", &self.delete_zones),
            ("tag definition", &self.delete_tag_defs),
        ];
        let by_name =
            by_name.into_iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, name.clone())));
        policies
            .map(|policy| ("policy", policy.name.clone()))
            .chain(by_name)
            .chain(tags.map(|tag| ("tag", tag_name(tag))))
            .chain(resources.map(|resource| ("tagged resource", resource_name(resource))))
            .map(|(kind, name)| Described { action: Action::Delete, kind, name })
            .collect()
    }
}

/// `PII 7`: tags of one kind are told apart by number.
fn tag_name(tag: &Tag) -> String {
    format!("{} {}", tag.kind, tag.id.0)
}

/// `query: database=sales, table=a|b`.
fn resource_name(resource: &TaggedResource) -> String {
    let levels: Vec<_> = resource
        .resource
        .iter()
        .map(|(level, values)| format!("{level}={}", values.values.join("|")))
        .collect();
    format!("{}: {}", resource.service, levels.join(", "))
}
