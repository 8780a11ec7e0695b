//! Which groups and roles a user holds, through however many roles.

use std::collections::{BTreeSet, HashMap};

use crate::edit::{ADMIN, PUBLIC};
use crate::model::State;
use crate::{Membership, Principal};

/// Who is a direct member of what.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberIndex {
    groups_of_user: HashMap<String, Vec<String>>,
    roles_of_user: HashMap<String, Vec<String>>,
    roles_of_group: HashMap<String, Vec<String>>,
    roles_of_role: HashMap<String, Vec<String>>,
    external: BTreeSet<String>,
}

impl MemberIndex {
    pub(crate) fn new(state: &State) -> Self {
        let mut index = Self::default();
        for (name, group) in &state.groups {
            for user in &group.users {
                index.groups_of_user.entry(user.clone()).or_default().push(name.clone());
            }
        }
        for (name, role) in &state.roles {
            for member in &role.users {
                index.roles_of_user.entry(member.name.clone()).or_default().push(name.clone());
            }
            for member in &role.groups {
                index.roles_of_group.entry(member.name.clone()).or_default().push(name.clone());
            }
            for member in &role.roles {
                index.roles_of_role.entry(member.name.clone()).or_default().push(name.clone());
            }
            // No token can claim `admin` by its bare name, declared external or not.
            if role.is_external && !name.eq_ignore_ascii_case(ADMIN) {
                index.external.insert(name.clone());
            }
        }
        index
    }

    /// The authority's own groups and roles and those that the token claims, roles of roles included.
    pub(crate) fn of(&self, principal: &Principal) -> Membership {
        let mut groups: BTreeSet<String> =
            principal.claimed_groups.iter().filter(|name| *name != PUBLIC).cloned().collect();
        groups.extend(self.groups_of_user.get(&principal.user).into_iter().flatten().cloned());

        let claimed = principal.claimed_roles.iter().filter(|name| self.external.contains(*name));
        let roles = self.roles(&principal.user, &groups, claimed);
        Membership::new(principal.user.clone(), groups, roles)
    }

    /// Every role that a user and groups hold, with those that are given, roles of roles included.
    pub(crate) fn roles<'s>(
        &'s self,
        user: &str,
        groups: &BTreeSet<String>,
        given: impl Iterator<Item = &'s String>,
    ) -> BTreeSet<String> {
        let by_user = self.roles_of_user.get(user).into_iter().flatten();
        let by_group = groups.iter().map(String::as_str).chain([PUBLIC]);
        let by_group = by_group.filter_map(|name| self.roles_of_group.get(name)).flatten();
        let mut waiting: Vec<&String> = by_user.chain(by_group).chain(given).collect();

        let mut roles = BTreeSet::new();
        // Each role is entered once, so that roles which are members of each other come to an end.
        while let Some(role) = waiting.pop() {
            if roles.insert(role.clone()) {
                waiting.extend(self.roles_of_role.get(role).into_iter().flatten());
            }
        }
        roles
    }
}

#[cfg(test)]
mod tests;
