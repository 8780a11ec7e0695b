//! What is wrong with users, groups and roles.

use std::collections::BTreeSet;

use super::view::View;
use super::{
    Found, NAME_INVALID, REFERENCE_UNKNOWN, ROLE_EMPTY, ROLE_NAME_MISSING, ROLE_NAME_TAKEN, ROLE_RECURSION,
};
use crate::limits;
use crate::model::Role;

pub(super) fn check_name(name: &str, found: &mut Found<'_>) {
    found.name_limit(name);
    if name.trim().is_empty() {
        found.missing(NAME_INVALID, "name", "it has no name");
    } else if name.chars().any(char::is_control) {
        found.wrong(NAME_INVALID, "name", "its name holds a control character");
    }
}

pub(super) fn check_role(role: &Role, view: &View<'_>, found: &mut Found<'_>) {
    if role.name.trim().is_empty() {
        found.missing(ROLE_NAME_MISSING, "name", "it has no name");
    } else {
        check_name(&role.name, found);
    }
    found.limit(&limits::DESCRIPTION_CHARS_MAX, role.description.chars().count(), "description");
    let n_members = role.users.len().saturating_add(role.groups.len()).saturating_add(role.roles.len());
    found.limit(&limits::MEMBERS_PER_ROLE_MAX, n_members, "users/groups/roles");
    if n_members == 0 {
        found.warn(ROLE_EMPTY, "users/groups/roles", "it has no members");
    }
    let members = [&role.users, &role.groups, &role.roles];
    if members.into_iter().flatten().any(|member| member.name.trim().is_empty()) {
        found.missing(NAME_INVALID, "users/groups/roles", "a member has no name");
    }
    for other in view.roles().filter(|other| other.name != role.name) {
        if other.name.to_lowercase() == role.name.to_lowercase() {
            let reason = format!("its name differs from that of `{}` by case alone", other.name);
            found.wrong(ROLE_NAME_TAKEN, "name", reason);
        }
    }
    for member in role.roles.iter().filter(|member| view.role(&member.name).is_none()) {
        found.warn(REFERENCE_UNKNOWN, "roles", format!("no such role `{}`", member.name));
    }
    check_nesting(role, view, found);
}

/// Follows the roles within a role, level by level.
fn check_nesting(role: &Role, view: &View<'_>, found: &mut Found<'_>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut level: Vec<&str> = role.roles.iter().map(|member| member.name.as_str()).collect();
    let mut depth = 1_usize;
    while !level.is_empty() {
        depth = depth.saturating_add(1);
        if limits::ROLE_DEPTH_MAX.exceeded_by(depth).is_some() {
            found.limit(&limits::ROLE_DEPTH_MAX, depth, "roles");
            return;
        }
        let mut next = Vec::new();
        for name in level {
            if name == role.name {
                found.wrong(ROLE_RECURSION, "roles", "it would be a member of itself");
                return;
            }
            // A role that is reached twice is followed once, so that this ends.
            if seen.insert(name) {
                let inner = view.role(name).into_iter().flat_map(|inner| &inner.roles);
                next.extend(inner.map(|member| member.name.as_str()));
            }
        }
        level = next;
    }
}
