//! Laws of renaming: protections do not fall off.

use super::policies::{filter, mask};
use super::*;
use crate::model::ResourceValues;

fn rename_column(from: &str, to: &str, field_id: i32) -> Edit {
    Edit::RenameColumn {
        service: "query".to_owned(),
        database: "acdemo".to_owned(),
        table: "orders".to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        field_id: Some(field_id),
        uuid: Some("u-1".to_owned()),
    }
}

fn rename_table(from: &str, to: &str) -> Edit {
    let name = |t: &str| ("acdemo".to_owned(), t.to_owned());
    let (service, catalog) = ("query".to_owned(), "sales_wh".to_owned());
    Edit::RenameTable { service, catalog, from: name(from), to: name(to), uuid: Some("u-1".to_owned()) }
}

impl World {
    /// Turns the policy's values of one level into a pattern.
    fn widen(&mut self, policy: &str, level: &str, pattern: &str) {
        let mut state = self.snapshot.state().clone();
        let id = state.policies.values().find(|p| p.name == policy).unwrap().id;
        let found = state.policies.get_mut(&id).unwrap();
        found.resources.insert(level.to_owned(), ResourceValues::one(pattern));
        found.options.clear();
        self.snapshot = Snapshot::build(state).unwrap();
    }
}

#[test]
fn a_renamed_column_stays_masked_under_both_names() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    world.ok_as("dave", rename_column("ssn", "social", 3));
    assert_eq!(
        (world.reads("bob", "ssn"), world.reads("bob", "social")),
        ("MASK_NULL".into(), "MASK_NULL".into())
    );
    // And on, by its field id alone.
    world.ok_as("dave", rename_column("social", "number", 3));
    assert_eq!(world.reads("bob", "number"), "MASK_NULL");
    assert!(world.ok_as("dave", rename_column("social", "number", 3)).is_empty());
}

#[test]
fn a_pattern_that_would_lose_the_column_takes_the_right_to_write_it() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    world.widen("m", "column", "ss*");
    let message = "permission denied to rename the column `ssn` to `social`";
    world.refused("dave", rename_column("ssn", "social", 3), ErrorKind::Denied, message);
    assert!(world.ok_as("dave", rename_column("ssn", "ssn2", 3)).is_empty(), "still covered");
    world.ok(rename_column("ssn", "social", 3));
    assert_eq!(world.reads("bob", "social"), "MASK_NULL");
}

#[test]
fn a_renamed_table_keeps_its_policies_under_both_names() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    world.ok(Edit::CreatePolicy(filter("f", "region = 'EU'", role("engineer"))));
    world.ok(grant("SELECT", table("orders"), role("engineer")));
    world.ok(deny("SELECT", table("orders"), user("dave")));
    world.ok_as("bob", rename_table("orders", "sales"));
    for name in ["orders", "sales"] {
        let rules = world.rules("bob", name, &["ssn"]);
        assert_eq!(rules.filters.len(), 1, "{name}");
        assert!(matches!(rules.columns[0], crate::ColumnRule::Masked(_)), "{name}");
        assert!(world.may("bob", "table-data-read", &table(name)), "{name}");
        assert!(world.check("dave", Privilege::Select, &table(name)).1.starts_with("Denied by"), "{name}");
    }
    // REVOKE finds the grant under the new name.
    world.ok(revoke("SELECT", table("sales"), role("engineer")));
    assert!(!world.may("bob", "table-data-read", &table("sales")));
    assert!(world.ok_as("bob", rename_table("orders", "sales2")).notices.is_empty());
}

#[test]
fn a_table_pattern_that_would_lose_the_table_takes_the_right_to_write_it() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    world.widen("m", "table", "ord*");
    let message = "permission denied to rename the table `orders` to `sales`";
    world.refused("dave", rename_table("orders", "sales"), ErrorKind::Denied, message);
    world.ok(rename_table("orders", "sales"));
    assert!(matches!(world.rules("bob", "sales", &["ssn"]).columns[0], crate::ColumnRule::Masked(_)));
}

#[test]
fn forgetting_a_name_leaves_the_others() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    let forget = |table: &str| Edit::AlterPolicy {
        name: "m".to_owned(),
        action: PolicyAction::ForgetName { table: table.to_owned() },
    };
    world.refused("carol", forget("orders"), ErrorKind::Invalid, "policy `m` would name no table");
    world.ok(rename_table("orders", "sales"));
    world.ok(forget("orders"));
    assert_eq!(world.reads("bob", "ssn"), "raw");
    assert!(matches!(world.rules("bob", "sales", &["ssn"]).columns[0], crate::ColumnRule::Masked(_)));
    world.refused("carol", forget("orders"), ErrorKind::ObjectNotFound, "policy `m` names no table `orders`");
}

#[test]
fn rebinding_pins_to_the_table_under_the_name() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    let columns = vec![ColumnRef { name: "ssn".to_owned(), field_id: Some(77) }];
    let action = PolicyAction::Rebind { uuid: Some("u-2".to_owned()), columns: columns.clone() };
    world.ok(Edit::AlterPolicy { name: "m".to_owned(), action });
    let pinned = pins(world.policy("m"));
    assert_eq!((pinned.table_uuid.as_deref(), pinned.columns), (Some("u-2"), columns));
}

#[test]
fn going_back_keeps_the_new_name_of_the_table_and_the_columns_of_then() {
    for uuid in [Some("u-1".to_owned()), None] {
        let mut world = World::new();
        let of_both = |columns: &[(&str, i32)]| {
            let mut edit = mask("m", "MASK_NULL", role("engineer"));
            let all =
                columns.iter().map(|(name, id)| ColumnRef { name: (*name).to_owned(), field_id: Some(*id) });
            if let PolicyBody::Mask { columns, .. } = &mut edit.body {
                *columns = all.collect();
            }
            if let PolicyTarget::Relation { uuid: pinned, .. } = &mut edit.target {
                pinned.clone_from(&uuid);
            }
            edit
        };
        world.ok(Edit::CreatePolicy(of_both(&[("ssn", 3), ("phone", 4)])));
        let earlier = Box::new(world.policy("m").clone());
        let fewer = PolicyEdit { mode: CreateMode::OrReplace, ..of_both(&[("ssn", 3)]) };
        world.ok(Edit::CreatePolicy(fewer));
        world.ok(rename_table("orders", "moved"));
        world.ok(Edit::RestorePolicy { policy: earlier });
        let maps = &world.policy("m").additional_resources;
        let moved = maps.iter().find(|map| map["table"].values == ["moved"]).unwrap();
        assert_eq!(moved["column"].values, ["ssn", "phone"]);
    }
}

#[test]
fn a_new_name_is_no_pattern() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_NULL", role("engineer"))));
    let told = "the name `*` holds `*`, which has a meaning of its own in policies";
    world.refused("carol", rename_column("ssn", "*", 3), ErrorKind::Invalid, told);
    world.refused("carol", rename_table("orders", "*"), ErrorKind::Invalid, told);
    assert_eq!(world.policy("m").resources["column"].values, ["ssn"]);
}
