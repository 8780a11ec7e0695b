//! What an edit changes, as whole things put in place and things taken away.

use crate::Snapshot;
use crate::model::{Group, Policy, PolicyId, Role, Service, User};

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
    pub delete_users: Vec<String>,
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
    /// `policy`, `role`, `group`, `user` or `service`.
    pub kind: &'static str,
    pub name: String,
}

impl Change {
    /// Whether nothing would be different afterwards.
    pub fn is_empty(&self) -> bool {
        self.put_policies.is_empty()
            && self.delete_policies.is_empty()
            && self.put_roles.is_empty()
            && self.delete_roles.is_empty()
            && self.put_groups.is_empty()
            && self.delete_groups.is_empty()
            && self.put_users.is_empty()
            && self.put_services.is_empty()
            && self.delete_users.is_empty()
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
        let policies =
            self.delete_policies.iter().filter_map(|id| state.policies.get(id)).map(|p| ("policy", &p.name));
        let others =
            [("role", &self.delete_roles), ("group", &self.delete_groups), ("user", &self.delete_users)];
        let others = others.into_iter().flat_map(|(kind, names)| names.iter().map(move |name| (kind, name)));
        let deleted: Vec<_> = policies.chain(others).collect();
        all.extend(deleted.into_iter().map(|(kind, name)| Described {
            action: Action::Delete,
            kind,
            name: name.clone(),
        }));
        all
    }
}
