//! The peers, each holding the same truth in its own form: exact tables, groups and roles, and plain denials. Our own
//! second evaluator takes everything.

mod casbin;
mod cedar;
mod obvious;
mod regorus;

use policy::model::{Item, Policy, State};

pub(crate) use self::casbin::Casbin;
pub(crate) use self::cedar::{Cedar, Slices};
pub(crate) use self::obvious::Obvious;
pub(crate) use self::regorus::Regorus;

/// What one policy of the exact kind says.
pub(crate) struct Grant<'w> {
    pub(crate) id: i64,
    pub(crate) is_denial: bool,
    pub(crate) database: &'w str,
    pub(crate) table: &'w str,
    pub(crate) access: &'w str,
    pub(crate) principal: Named<'w>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Named<'w> {
    User(&'w str),
    Group(&'w str),
    Role(&'w str),
}

impl<'w> Named<'w> {
    pub(crate) fn name(self) -> &'w str {
        match self {
            Self::User(name) | Self::Group(name) | Self::Role(name) => name,
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::User(_) => "User",
            Self::Group(_) => "Group",
            Self::Role(_) => "Role",
        }
    }
}

pub(crate) fn grants(state: &State) -> impl Iterator<Item = Grant<'_>> {
    state.policies.values().filter_map(|policy| grant(policy))
}

fn grant(policy: &Policy) -> Option<Grant<'_>> {
    let value = |level: &str| policy.resources.get(level)?.values.first().map(String::as_str);
    let (item, is_denial) = match policy.items.first() {
        Some(item) => (item, false),
        None => (policy.deny_items.first()?, true),
    };
    Some(Grant {
        id: policy.id.0,
        is_denial,
        database: value("database")?,
        table: value("table")?,
        access: &item.accesses.first()?.kind,
        principal: named(item)?,
    })
}

fn named(item: &Item) -> Option<Named<'_>> {
    let user = item.users.first().map(|name| Named::User(name));
    let group = || item.groups.first().map(|name| Named::Group(name));
    let role = || item.roles.first().map(|name| Named::Role(name));
    user.or_else(group).or_else(role)
}

/// Every membership: the member, and what it is a member of.
pub(crate) fn memberships(state: &State) -> Vec<(Named<'_>, Named<'_>)> {
    let mut all = Vec::new();
    for (name, group) in &state.groups {
        all.extend(group.users.iter().map(|user| (Named::User(user), Named::Group(name))));
    }
    for (name, role) in &state.roles {
        let role_itself = Named::Role(name);
        all.extend(role.users.iter().map(|member| (Named::User(&member.name), role_itself)));
        all.extend(role.groups.iter().map(|member| (Named::Group(&member.name), role_itself)));
        all.extend(role.roles.iter().map(|member| (Named::Role(&member.name), role_itself)));
    }
    all
}
