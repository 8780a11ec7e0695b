//! Laws of users, groups and roles.

use super::*;

fn create_user(name: &str) -> Edit {
    Edit::CreateUser { name: name.to_owned(), credential: None, if_not_exists: false }
}

fn drop_user(name: &str) -> Edit {
    Edit::DropUser { name: name.to_owned(), if_exists: false }
}

fn drop_role(name: &str) -> Edit {
    Edit::DropRole { name: name.to_owned(), if_exists: false }
}

fn revoke_role(role: &str, from: Grantee) -> Edit {
    Edit::RevokeRole { roles: vec![role.to_owned()], from: vec![from], admin_option_only: false }
}

#[test]
fn names_that_mean_something_in_policies_are_refused() {
    for (name, message) in [
        ("", "the name of a role is empty"),
        ("a*", "the name `a*` holds `*`, which has a meaning of its own in policies"),
        ("a?", "the name `a?` holds `?`, which has a meaning of its own in policies"),
        ("{a", "the name `{a` holds `{`, which has a meaning of its own in policies"),
        ("a}", "the name `a}` holds `}`, which has a meaning of its own in policies"),
        ("$a", "the name `$a` holds `$`, which has a meaning of its own in policies"),
        ("a/b", "the name `a/b` holds `/`, which has a meaning of its own in policies"),
        ("a\u{7}", "the name of a role holds a control character"),
        ("public", "the name `public` is reserved"),
        ("PUBLIC", "the name `PUBLIC` is reserved"),
    ] {
        World::new().refused("carol", create_role(name), ErrorKind::Invalid, message);
    }
}

#[test]
fn names_that_differ_by_case_alone_are_refused() {
    let mut world = World::new();
    world.refused(
        "carol",
        create_role("Analyst"),
        ErrorKind::ObjectExists,
        "the name `Analyst` differs from role `analyst` by case alone",
    );
    world.refused(
        "carol",
        create_user("ALICE"),
        ErrorKind::ObjectExists,
        "the name `ALICE` differs from user `alice` by case alone",
    );
}

#[test]
fn what_is_there_is_refused_or_noticed() {
    let mut world = World::new();
    world.refused(
        "carol",
        create_role("analyst"),
        ErrorKind::ObjectExists,
        "role `analyst` is there already",
    );
    let edit = Edit::CreateRole { name: "analyst".to_owned(), is_external: true, if_not_exists: true };
    let change = world.ok(edit);
    assert!(change.is_empty());
    assert_eq!(change.notices, ["role `analyst` is there already, skipped"]);
}

#[test]
fn only_admins_make_users_groups_and_roles() {
    let mut world = World::new();
    for (edit, to_do) in [
        (create_user("x"), "create a user"),
        (create_role("x"), "create a role"),
        (Edit::CreateGroup { name: "x".to_owned(), if_not_exists: false }, "create a group"),
        (drop_user("nobody"), "drop a user"),
        (drop_role("analyst"), "drop a role"),
        (
            Edit::AlterGroup { name: "staff".to_owned(), add: vec!["x".to_owned()], drop: vec![] },
            "alter a group",
        ),
        (Edit::AlterUser { name: "bob".to_owned(), credential: Secret::new("p") }, "alter another user"),
        (grant_role("engineer", user("alice")), "grant or revoke the role `engineer`"),
        // Whether there is such a role is not told.
        (grant_role("nothing", user("alice")), "grant or revoke the role `nothing`"),
    ] {
        world.refused("alice", edit, ErrorKind::Denied, &format!("permission denied to {to_do}"));
    }
}

#[test]
fn a_user_changes_her_own_password() {
    let mut world = World::new();
    world.ok_as("alice", Edit::AlterUser { name: "alice".to_owned(), credential: Secret::new("new") });
    let credential = world.snapshot.state().users["alice"].credential.clone();
    assert_eq!(credential, Some(Secret::new("new")));
}

#[test]
fn a_holder_of_the_admin_option_grants_the_role() {
    let mut world = World::new();
    let (roles, to) = (vec!["analyst".to_owned()], vec![user("dave")]);
    world.ok(Edit::GrantRole { roles: roles.clone(), to, with_admin_option: true });
    world.ok_as("dave", grant_role("analyst", user("erin")));
    assert!(world.who("erin").roles.contains("analyst"));
    let from = vec![user("dave")];
    world.ok(Edit::RevokeRole { roles, from, admin_option_only: true });
    assert!(world.who("dave").roles.contains("analyst"));
    let message = "permission denied to grant or revoke the role `analyst`";
    world.refused("dave", grant_role("analyst", user("bob")), ErrorKind::Denied, message);
}

#[test]
fn granting_a_role_again_without_the_option_keeps_the_option() {
    let mut world = World::new();
    let (roles, to) = (vec!["analyst".to_owned()], vec![user("dave")]);
    world.ok(Edit::GrantRole { roles, to, with_admin_option: true });
    assert!(world.ok(grant_role("analyst", user("dave"))).is_empty());
}

#[test]
fn a_role_is_no_member_of_itself_through_any_number_of_roles() {
    let mut world = World::new();
    world.ok(create_role("chief"));
    world.ok(grant_role("analyst", role("engineer")));
    world.ok(grant_role("engineer", role("chief")));
    assert!(world.refused_cycle("analyst", "analyst"));
    assert!(world.refused_cycle("engineer", "analyst"));
    assert!(world.refused_cycle("chief", "analyst"));
    // The other way round it is only a second way.
    world.ok(grant_role("analyst", role("chief")));
}

impl World {
    fn refused_cycle(&mut self, granted: &str, member: &str) -> bool {
        let error = self.try_as("carol", grant_role(granted, role(member))).expect_err("a circle");
        error.to_string() == format!("role `{granted}` in role `{member}` would be a member of itself")
    }
}

#[test]
fn the_last_admin_stays() {
    let last = "the role `admin` would be left without a user";
    let mut world = World::new();
    world.refused("carol", revoke_role("admin", user("carol")), ErrorKind::Invalid, last);
    // A role of one's own in between is fine, as long as there is a user at its end.
    world.ok(create_role("root"));
    world.ok(grant_role("admin", role("root")));
    world.refused("carol", revoke_role("admin", user("carol")), ErrorKind::Invalid, last);
    world.ok(grant_role("root", group("staff")));
    world.ok(revoke_role("admin", user("carol")));
    let edit = Edit::AlterGroup { name: "staff".to_owned(), add: vec![], drop: vec!["erin".to_owned()] };
    world.refused("erin", edit, ErrorKind::Invalid, last);
    world.refused("erin", drop_user("erin"), ErrorKind::Invalid, last);
}

#[test]
fn the_role_admin_is_neither_dropped_nor_everyones() {
    let mut world = World::new();
    world.refused("carol", drop_role("admin"), ErrorKind::Invalid, "the role `admin` cannot be dropped");
    let message = "the role `admin` cannot be granted to PUBLIC";
    world.refused("carol", grant_role("admin", Grantee::Public), ErrorKind::Invalid, message);
    world.refused("carol", grant_role("admin", group("public")), ErrorKind::Invalid, message);
}

#[test]
fn what_policies_or_roles_name_is_not_dropped() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    let message = "role `analyst` is still named by policy `grant sales_wh`, policy `grant sales_wh.acdemo`, \
                   policy `grant sales_wh.acdemo.orders`";
    world.refused("carol", drop_role("analyst"), ErrorKind::Dependent, message);
    let message = "user `bob` is still named by role `engineer`";
    world.refused("carol", drop_user("bob"), ErrorKind::Dependent, message);
    world.ok(revoke_role("engineer", user("bob")));
    world.ok(drop_user("bob"));
}

#[test]
fn a_dropped_user_leaves_her_groups() {
    let mut world = World::new();
    world.ok(drop_user("erin"));
    world.ok(create_user("erin"));
    assert!(world.who("erin").groups.is_empty());
}

#[test]
fn every_fault_of_an_edit_is_reported() {
    let mut world = World::new();
    let roles = vec!["nothing".to_owned(), "analyst".to_owned()];
    let to = vec![user("nobody"), group("none")];
    let message = "no such role `nothing`; no such user `nobody`; no such group `none`";
    let edit = Edit::GrantRole { roles, to, with_admin_option: false };
    world.refused("carol", edit, ErrorKind::ObjectNotFound, message);
}

#[test]
fn dropping_what_is_not_there_is_refused_or_noticed() {
    let mut world = World::new();
    world.refused("carol", drop_user("nobody"), ErrorKind::ObjectNotFound, "no such user `nobody`");
    let change = world.ok(Edit::DropUser { name: "nobody".to_owned(), if_exists: true });
    assert_eq!(change.notices, ["no such user `nobody`, skipped"]);
}

#[test]
fn a_change_describes_itself() {
    let mut world = World::new();
    let before = world.snapshot.clone();
    let change = world.ok(create_role("auditor"));
    let described = change.describe(&before);
    let expected = Described { action: Action::Create, kind: "role", name: "auditor".to_owned() };
    assert_eq!(described, [expected]);
}
