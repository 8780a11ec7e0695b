//! An edit in the making: the snapshot's content with the edit's own changes laid over it.

use std::collections::BTreeMap;

use stdx::Timestamp;

use super::Change;
use crate::Snapshot;
use crate::model::{Group, Policy, PolicyId, PolicyKind, Role, ServiceDef, State, Table, User};

/// What one edit has changed so far. Several objects of one statement see each other's changes, and nothing is kept
/// unless all of them succeed.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    before: &'a Snapshot,
    policies: BTreeMap<PolicyId, Option<Policy>>,
    roles: BTreeMap<String, Option<Role>>,
    groups: BTreeMap<String, Option<Group>>,
    users: BTreeMap<String, Option<User>>,
    next_policy_id: i64,
    /// What changes besides policies and people; an edit makes one such change, so that nothing lies over it.
    pub(crate) governed: Change,
    notices: Vec<String>,
    /// The user who makes the edit.
    pub(crate) by: &'a str,
    pub(crate) now: Timestamp,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(before: &'a Snapshot, by: &'a str, now: Timestamp) -> Self {
        let state = before.state();
        let last = state.policies.keys().next_back().map_or(0, |id| id.0);
        Self {
            before,
            policies: BTreeMap::new(),
            roles: BTreeMap::new(),
            groups: BTreeMap::new(),
            users: BTreeMap::new(),
            next_policy_id: state.next_policy_id.max(last.saturating_add(1)).max(1),
            governed: Change::default(),
            notices: Vec::new(),
            by,
            now,
        }
    }

    pub(crate) fn before(&self) -> &'a Snapshot {
        self.before
    }

    fn state(&self) -> &'a State {
        self.before.state()
    }

    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    pub(crate) fn policies(&self) -> impl Iterator<Item = &Policy> {
        let old =
            self.state().policies.iter().filter(|(id, _)| !self.policies.contains_key(id)).map(|(_, p)| p);
        old.chain(self.policies.values().flatten())
    }

    pub(crate) fn policy_named(&self, name: &str) -> Option<&Policy> {
        self.policies()
            .find(|p| p.name.eq_ignore_ascii_case(name) || p.name.to_lowercase() == name.to_lowercase())
    }

    pub(crate) fn put_policy(&mut self, policy: Policy) {
        self.policies.insert(policy.id, Some(policy));
    }

    pub(crate) fn delete_policy(&mut self, id: PolicyId) {
        self.policies.insert(id, None);
    }

    /// A policy with an id of its own, and a name that no other has.
    pub(crate) fn new_policy(&mut self, service: &str, name: &str, kind: PolicyKind) -> Policy {
        let id = self.next_policy_id;
        self.next_policy_id = id.saturating_add(1);
        let mut free = name.to_owned();
        let mut n = 2_u64;
        while self.policy_named(&free).is_some() {
            free = format!("{name} {n}");
            n = n.saturating_add(1);
        }
        let mut policy = Policy::new(service, free, kind);
        policy.id = PolicyId(id);
        policy.version = 0;
        policy.guid = guid(self.now, id);
        self.by.clone_into(&mut policy.created_by);
        policy.created_at = self.now;
        policy
    }

    pub(crate) fn role(&self, name: &str) -> Option<&Role> {
        self.roles.get(name).map_or_else(|| self.state().roles.get(name), Option::as_ref)
    }

    pub(crate) fn roles(&self) -> impl Iterator<Item = &Role> {
        let old =
            self.state().roles.iter().filter(|(name, _)| !self.roles.contains_key(*name)).map(|(_, r)| r);
        old.chain(self.roles.values().flatten())
    }

    pub(crate) fn put_role(&mut self, role: Role) {
        self.roles.insert(role.name.clone(), Some(role));
    }

    pub(crate) fn delete_role(&mut self, name: &str) {
        self.roles.insert(name.to_owned(), None);
    }

    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.get(name).map_or_else(|| self.state().groups.get(name), Option::as_ref)
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group> {
        let old =
            self.state().groups.iter().filter(|(name, _)| !self.groups.contains_key(*name)).map(|(_, g)| g);
        old.chain(self.groups.values().flatten())
    }

    pub(crate) fn put_group(&mut self, group: Group) {
        self.groups.insert(group.name.clone(), Some(group));
    }

    pub(crate) fn delete_group(&mut self, name: &str) {
        self.groups.insert(name.to_owned(), None);
    }

    pub(crate) fn user(&self, name: &str) -> Option<&User> {
        self.users.get(name).map_or_else(|| self.state().users.get(name), Option::as_ref)
    }

    pub(crate) fn users(&self) -> impl Iterator<Item = &User> {
        let old =
            self.state().users.iter().filter(|(name, _)| !self.users.contains_key(*name)).map(|(_, u)| u);
        old.chain(self.users.values().flatten())
    }

    pub(crate) fn put_user(&mut self, user: User) {
        self.users.insert(user.name.clone(), Some(user));
    }

    pub(crate) fn delete_user(&mut self, name: &str) {
        self.users.insert(name.to_owned(), None);
    }

    /// The next free number of users, groups and roles.
    pub(crate) fn next_id(&self) -> i64 {
        let ids =
            self.roles().map(|r| r.id).chain(self.groups().map(|g| g.id)).chain(self.users().map(|u| u.id));
        ids.max().unwrap_or(0).saturating_add(1)
    }

    /// The definition of a service.
    pub(crate) fn def(&self, service: &str) -> Option<&'a ServiceDef> {
        let service = self.state().services.get(service)?;
        self.state().service_defs.get(&service.service_def)
    }

    /// The change, without what turned out to be as before.
    pub(crate) fn finish(self) -> Change {
        let state = self.state();
        let mut change = Change { notices: self.notices, ..self.governed };
        for (id, policy) in self.policies {
            match (policy, state.policies.get(&id)) {
                (Some(policy), old) if old == Some(&policy) => {}
                (Some(mut policy), _) => {
                    policy.version = policy.version.saturating_add(1);
                    self.by.clone_into(&mut policy.updated_by);
                    policy.updated_at = self.now;
                    change.put_policies.push(policy);
                }
                (None, Some(_)) => change.delete_policies.push(id),
                (None, None) => {}
            }
        }
        (change.put_roles, change.delete_roles) = differences(self.roles, &state.roles);
        (change.put_groups, change.delete_groups) = differences(self.groups, &state.groups);
        (change.put_users, change.delete_users) = differences(self.users, &state.users);
        change
    }
}

fn differences<T: PartialEq>(
    drafted: BTreeMap<String, Option<T>>,
    before: &Table<String, T>,
) -> (Vec<T>, Vec<String>) {
    let (mut put, mut delete) = (Vec::new(), Vec::new());
    for (name, thing) in drafted {
        match (thing, before.get(&name)) {
            (Some(thing), old) if old == Some(&thing) => {}
            (Some(thing), _) => put.push(thing),
            (None, Some(_)) => delete.push(name),
            (None, None) => {}
        }
    }
    (put, delete)
}

/// An identifier in the shape of a UUID (version 8), unique because a policy's number is never used again.
fn guid(now: Timestamp, id: i64) -> String {
    let millis = u64::from_ne_bytes(now.millis().to_ne_bytes()) & 0xffff_ffff_ffff;
    let id = u64::from_ne_bytes(id.to_ne_bytes());
    format!(
        "{:08x}-{:04x}-8000-{:04x}-{:012x}",
        millis >> 16,
        millis & 0xffff,
        0x8000 | ((id >> 48) & 0x3fff),
        id & 0xffff_ffff_ffff
    )
}
