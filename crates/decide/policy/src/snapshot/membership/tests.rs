//! The laws of groups and roles.

use crate::evaluate::fixture::names;
use crate::model::{Group, Member, Role, State};
use crate::{Principal, Snapshot};

fn members(names: &str) -> Vec<Member> {
    names.split_whitespace().map(|name| Member { name: name.to_owned(), is_admin: false }).collect()
}

fn role(state: &mut State, name: &str, users: &str, groups: &str, roles: &str) {
    let (users, groups, roles) = (members(users), members(groups), members(roles));
    let role = Role { name: name.to_owned(), users, groups, roles, ..Role::default() };
    state.roles.insert(name.to_owned(), role);
}

fn check(state: &State, principal: &Principal, groups: &[&str], roles: &[&str]) {
    let membership = Snapshot::build(state.clone()).unwrap().membership(principal);
    assert_eq!((membership.groups, membership.roles), (names(groups).into(), names(roles).into()));
}

#[test]
fn roles_come_through_users_groups_everyone_and_other_roles() {
    let mut state = State::default();
    let staff = Group { name: "staff".to_owned(), users: vec!["bob".to_owned()], ..Group::default() };
    state.groups.insert("staff".to_owned(), staff);
    role(&mut state, "direct", "bob", "", "");
    role(&mut state, "by_group", "", "staff", "");
    role(&mut state, "by_claimed_group", "", "claimed", "");
    role(&mut state, "everyone", "", "public", "");
    role(&mut state, "above", "", "", "direct");
    role(&mut state, "far_above", "", "", "above");
    role(&mut state, "other", "alice", "", "");
    let mut bob = Principal::user("bob");
    check(&state, &bob, &["staff"], &["above", "by_group", "direct", "everyone", "far_above"]);
    bob.claimed_groups.insert("claimed".to_owned());
    let roles = ["above", "by_claimed_group", "by_group", "direct", "everyone", "far_above"];
    check(&state, &bob, &["claimed", "staff"], &roles);
}

#[test]
fn roles_that_are_members_of_each_other_come_to_an_end() {
    let mut state = State::default();
    role(&mut state, "a", "bob", "", "c");
    role(&mut state, "b", "", "", "a b");
    role(&mut state, "c", "", "", "b");
    check(&state, &Principal::user("bob"), &[], &["a", "b", "c"]);
    check(&state, &Principal::user("alice"), &[], &[]);
}

#[test]
fn a_claimed_role_counts_only_if_declared_external_and_admin_never() {
    let mut state = State::default();
    role(&mut state, "plain", "", "", "");
    role(&mut state, "outside", "", "", "");
    role(&mut state, "admin", "", "", "");
    role(&mut state, "above", "", "", "outside");
    for name in ["outside", "admin"] {
        state.roles.get_mut(name).unwrap().is_external = true;
    }
    let mut bob = Principal::user("bob");
    bob.claimed_roles = names(&["plain", "outside", "admin", "unheard_of"]);
    check(&state, &bob, &[], &["above", "outside"]);
}
