//! Users, groups and roles: made, dropped, and put into each other.

use std::collections::BTreeSet;

use stdx::Secret;

use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::items;
use super::names::{Named, Taken, check_grantee, may_create};
use super::scope::{ADMIN, Grantee, PUBLIC};
use super::{Actor, Edit};
use crate::model::{Group, Item, Member, Policy, Role, User};

/// Users, groups and roles; the grants of GRANT are not among them.
pub(crate) fn apply(draft: &mut Draft<'_>, edit: &Edit, actor: &Actor, faults: &mut Faults) {
    let had_admin = has_admin_user(draft);
    match edit {
        Edit::CreateUser { name, credential, if_not_exists } => {
            if is_admin_for(actor, "create a user", faults)
                && may_create(draft, Named::User, name, taken(*if_not_exists), faults)
            {
                let (id, attributes) = (draft.next_id(), Default::default());
                draft.put_user(User { id, name: name.clone(), credential: credential.clone(), attributes });
            }
        }
        Edit::AlterUser { name, credential } => set_credential(draft, name, credential, actor, faults),
        Edit::DropUser { name, if_exists } => drop_named(draft, Named::User, name, *if_exists, actor, faults),
        Edit::DropRole { name, if_exists } => drop_named(draft, Named::Role, name, *if_exists, actor, faults),
        Edit::DropGroup { name, if_exists } => {
            drop_named(draft, Named::Group, name, *if_exists, actor, faults)
        }
        Edit::CreateRole { name, is_external, if_not_exists } => {
            if is_admin_for(actor, "create a role", faults)
                && may_create(draft, Named::Role, name, taken(*if_not_exists), faults)
            {
                let (id, created_by) = (draft.next_id(), draft.by.to_owned());
                let is_external = *is_external;
                draft.put_role(Role { id, name: name.clone(), is_external, created_by, ..Role::default() });
            }
        }
        Edit::CreateGroup { name, if_not_exists } => {
            if is_admin_for(actor, "create a group", faults)
                && may_create(draft, Named::Group, name, taken(*if_not_exists), faults)
            {
                draft.put_group(Group { id: draft.next_id(), name: name.clone(), ..Group::default() });
            }
        }
        Edit::AlterGroup { name, add, drop } => {
            if is_admin_for(actor, "alter a group", faults) {
                alter_group(draft, name, add, drop, faults);
            }
        }
        Edit::GrantRole { roles, to, with_admin_option } => {
            let option = if *with_admin_option { AdminOption::With } else { AdminOption::Without };
            for_each_member(draft, roles, to, actor, faults, |draft, role, grantee, faults| {
                add_member(draft, role, grantee, option, faults);
            });
        }
        Edit::RevokeRole { roles, from, admin_option_only } => {
            for_each_member(draft, roles, from, actor, faults, |draft, role, grantee, _| {
                remove_member(draft, role, grantee, *admin_option_only);
            });
        }
        Edit::Grant(_)
        | Edit::GrantColumns(_)
        | Edit::Revoke(_)
        | Edit::Deny(_)
        | Edit::DenyColumns(_)
        | Edit::RevokeColumns(_)
        | Edit::CreatePolicy(_)
        | Edit::DropPolicy { .. }
        | Edit::AlterPolicy { .. }
        | Edit::RestorePolicy { .. }
        | Edit::Governed(_)
        | Edit::RenameColumn { .. }
        | Edit::RenameTable { .. } => {
            faults.add(FaultKind::Unsupported, "this edit is not about users, groups or roles");
        }
    }
    // Nobody could let anybody back in.
    if had_admin && !has_admin_user(draft) {
        faults.add(FaultKind::Invalid, format!("the role `{ADMIN}` would be left without a user"));
    }
}

fn set_credential(
    draft: &mut Draft<'_>,
    name: &str,
    credential: &Secret,
    actor: &Actor,
    faults: &mut Faults,
) {
    if actor.membership.user != name && !is_admin_for(actor, "alter another user", faults) {
        return;
    }
    match draft.user(name).cloned() {
        Some(user) => draft.put_user(User { credential: Some(credential.clone()), ..user }),
        None => faults.add(FaultKind::NotFound, format!("no such user `{name}`")),
    }
}

fn taken(if_not_exists: bool) -> Taken {
    if if_not_exists { Taken::IsNotice } else { Taken::IsFault }
}

fn is_admin_for(actor: &Actor, to_do: &str, faults: &mut Faults) -> bool {
    if !actor.is_admin() {
        faults.denied(to_do);
    }
    actor.is_admin()
}

/// Whether anybody holds the role `admin`, by herself, a group or another role.
fn has_admin_user(draft: &Draft<'_>) -> bool {
    let mut waiting = vec![ADMIN.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        let Some(role) = draft.role(&name).filter(|_| seen.insert(name.clone())) else {
            continue;
        };
        let in_group = |g: &Member| draft.group(&g.name).is_some_and(|g| !g.users.is_empty());
        if !role.users.is_empty() || role.groups.iter().any(in_group) {
            return true;
        }
        waiting.extend(role.roles.iter().map(|m| m.name.clone()));
    }
    false
}

fn drop_named(
    draft: &mut Draft<'_>,
    what: Named,
    name: &str,
    if_exists: bool,
    actor: &Actor,
    faults: &mut Faults,
) {
    let word = what.word();
    if !is_admin_for(actor, &format!("drop a {word}"), faults) {
        return;
    }
    let grantee = match what {
        Named::User => Grantee::User(name.to_owned()),
        Named::Role => Grantee::Role(name.to_owned()),
        Named::Group => Grantee::Group(name.to_owned()),
    };
    if what != Named::User && (name == ADMIN || name == PUBLIC) {
        faults.add(FaultKind::Invalid, format!("the {word} `{name}` cannot be dropped"));
        return;
    }
    let is_there = match what {
        Named::User => draft.user(name).is_some(),
        Named::Role => draft.role(name).is_some(),
        Named::Group => draft.group(name).is_some(),
    };
    if !is_there {
        match if_exists {
            true => draft.notice(format!("no such {word} `{name}`, skipped")),
            false => faults.add(FaultKind::NotFound, format!("no such {word} `{name}`")),
        }
        return;
    }
    refuse_while_named(draft, &grantee, word, faults);
    match what {
        Named::User => {
            // A later user of the same name must not come into this one's groups.
            let groups: Vec<Group> =
                draft.groups().filter(|g| g.users.iter().any(|u| u == name)).cloned().collect();
            for mut group in groups {
                group.users.retain(|u| u != name);
                draft.put_group(group);
            }
            draft.delete_user(name);
        }
        Named::Role => draft.delete_role(name),
        Named::Group => draft.delete_group(name),
    }
}

/// What a policy or role says of a name would come true for the next one who bears it.
fn refuse_while_named(draft: &Draft<'_>, grantee: &Grantee, word: &str, faults: &mut Faults) {
    let mut by: Vec<String> = draft
        .policies()
        .filter(|p| items_of(p).any(|i| items::names(i, grantee)))
        .map(|p| format!("policy `{}`", p.name))
        .collect();
    by.extend(draft.roles().filter(|r| member(r, grantee).is_some()).map(|r| format!("role `{}`", r.name)));
    if !by.is_empty() {
        faults.add_with_hint(
            FaultKind::Dependent,
            format!("{word} `{}` is still named by {}", grantee.name(), by.join(", ")),
            format!("revoke what it holds first, by `REVOKE … FROM {}` and `DROP POLICY`", grantee.sql()),
        );
    }
}

/// Every item of a policy, of whatever kind.
pub(crate) fn items_of(policy: &Policy) -> impl Iterator<Item = &Item> {
    let access = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
    let masks = policy.mask_items.iter().map(|m| &m.item);
    let filters = policy.filter_items.iter().map(|f| &f.item);
    access.into_iter().flatten().chain(masks).chain(filters)
}

fn alter_group(draft: &mut Draft<'_>, name: &str, add: &[String], drop: &[String], faults: &mut Faults) {
    let Some(mut group) = draft.group(name).cloned() else {
        faults.add(FaultKind::NotFound, format!("no such group `{name}`"));
        return;
    };
    for user in add {
        let is_known = check_grantee(draft, &Grantee::User(user.clone()), faults);
        if is_known && !group.users.contains(user) {
            group.users.push(user.clone());
        }
    }
    for user in drop {
        if !group.users.contains(user) {
            draft.notice(format!("user `{user}` is not in group `{name}`"));
        }
        group.users.retain(|u| u != user);
    }
    draft.put_group(group);
}

fn member<'r>(role: &'r Role, grantee: &Grantee) -> Option<&'r Member> {
    let list = match grantee {
        Grantee::User(_) => &role.users,
        Grantee::Role(_) => &role.roles,
        Grantee::Group(_) | Grantee::Public => &role.groups,
    };
    list.iter().find(|m| m.name == grantee.name())
}

fn members_mut<'r>(role: &'r mut Role, grantee: &Grantee) -> &'r mut Vec<Member> {
    match grantee {
        Grantee::User(_) => &mut role.users,
        Grantee::Role(_) => &mut role.roles,
        Grantee::Group(_) | Grantee::Public => &mut role.groups,
    }
}

/// Whether the actor holds the role with the admin option.
fn is_role_admin(role: &Role, actor: &Actor) -> bool {
    let who = &actor.membership;
    role.users.iter().any(|m| m.is_admin && m.name == who.user)
        || role.groups.iter().any(|m| m.is_admin && who.groups.contains(&m.name))
        || role.roles.iter().any(|m| m.is_admin && who.roles.contains(&m.name))
}

/// Runs over roles × grantees that exist, and of which the actor may dispose.
fn for_each_member(
    draft: &mut Draft<'_>,
    roles: &[String],
    grantees: &[Grantee],
    actor: &Actor,
    faults: &mut Faults,
    mut edit: impl FnMut(&mut Draft<'_>, &str, &Grantee, &mut Faults),
) {
    for name in roles {
        let role = draft.role(name);
        if !actor.is_admin() && !role.is_some_and(|r| is_role_admin(r, actor)) {
            faults.denied(format!("grant or revoke the role `{name}`"));
            continue;
        }
        if role.is_none() {
            faults.add(FaultKind::NotFound, format!("no such role `{name}`"));
            continue;
        }
        for grantee in grantees {
            let grantee = grantee.normal();
            if check_grantee(draft, &grantee, faults) {
                edit(draft, name, &grantee, faults);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdminOption {
    With,
    Without,
}

fn add_member(
    draft: &mut Draft<'_>,
    role: &str,
    grantee: &Grantee,
    option: AdminOption,
    faults: &mut Faults,
) {
    if *grantee == Grantee::Public && role == ADMIN {
        faults.add(FaultKind::Invalid, format!("the role `{ADMIN}` cannot be granted to PUBLIC"));
        return;
    }
    if let Grantee::Role(member) = grantee
        && reaches_role(draft, member, role)
    {
        faults
            .add(FaultKind::Invalid, format!("role `{role}` in role `{member}` would be a member of itself"));
        return;
    }
    let Some(mut changed) = draft.role(role).cloned() else {
        return;
    };
    let list = members_mut(&mut changed, grantee);
    let is_admin = option == AdminOption::With;
    match list.iter_mut().find(|m| m.name == grantee.name()) {
        // Granting again without the option takes nothing away.
        Some(member) => member.is_admin |= is_admin,
        None => list.push(Member { name: grantee.name().to_owned(), is_admin }),
    }
    draft.put_role(changed);
}

/// Whether `member` holds `inner` through any number of roles, so that making it a member of `inner` closes a circle.
fn reaches_role(draft: &Draft<'_>, member: &str, inner: &str) -> bool {
    // Members of `member` are whoever is listed in it; look for `inner` among them.
    let mut waiting = vec![member.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if name == inner {
            return true;
        }
        if seen.insert(name.clone())
            && let Some(role) = draft.role(&name)
        {
            waiting.extend(role.roles.iter().map(|m| m.name.clone()));
        }
    }
    false
}

fn remove_member(draft: &mut Draft<'_>, role: &str, grantee: &Grantee, admin_option_only: bool) {
    let Some(mut changed) = draft.role(role).cloned() else {
        return;
    };
    let held = member(&changed, grantee).cloned();
    let list = members_mut(&mut changed, grantee);
    match held {
        None => {
            draft.notice(format!("{grantee} does not hold role `{role}`"));
            return;
        }
        Some(member) if admin_option_only && !member.is_admin => {
            draft.notice(format!("{grantee} does not hold the admin option for role `{role}`"));
            return;
        }
        Some(_) if admin_option_only => {
            list.iter_mut().filter(|m| m.name == grantee.name()).for_each(|m| m.is_admin = false);
        }
        Some(_) => list.retain(|m| m.name != grantee.name()),
    }
    draft.put_role(changed);
}
