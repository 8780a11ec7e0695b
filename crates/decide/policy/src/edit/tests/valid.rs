//! What an edit would write is looked at whole, and what was wrong before is nobody's fault now.

use stdx::ErrorKind;

use super::{World, grant, revoke, role, table};
use crate::edit::Edit;
use crate::model::{Access, Item, Policy};

fn the_grant(world: &World) -> Policy {
    let mut policies = world.snapshot.state().policies.values();
    policies.rfind(|p| p.resources.contains_key("table") && p.name.contains("orders")).unwrap().clone()
}

fn with_bad_item(mut policy: Policy) -> Policy {
    policy.items.push(Item { accesses: vec![Access::new("fly")], ..Item::default() });
    policy.name.push_str(&"x".repeat(300));
    policy
}

#[test]
fn all_faults_of_what_would_be_written_are_told() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    let bad = with_bad_item(the_grant(&world));
    let error = world.try_as("carol", Edit::RestorePolicy { policy: Box::new(bad) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let told = error.to_string();
    for reason in ["no access type `fly`", "an item names no users", "the limit `NAME_CHARS_MAX`"] {
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn a_grant_can_be_taken_from_a_policy_that_was_broken_before() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    let bad = with_bad_item(the_grant(&world));
    // Whoever brought it, it did not come through an edit.
    let mut state = world.snapshot.state().clone();
    state.policies.insert(bad.id, bad.clone());
    world.snapshot = crate::Snapshot::build(state).unwrap();
    world.ok(revoke("SELECT", table("orders"), role("analyst")));
    let after = world.snapshot.state().policies.get(&bad.id);
    assert!(after.is_none_or(|after| after.items.len() < bad.items.len()));
}
