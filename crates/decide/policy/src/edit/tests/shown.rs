//! Laws of SHOW GRANTS and CHECK ACCESS.

use super::*;

fn short(rows: &[GrantRow]) -> Vec<String> {
    let row = |r: &GrantRow| {
        format!("{} | {} | {} | {} | {}", r.privilege, r.resource, r.grantee_type, r.grantee_name, r.effect)
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_row_for_each_access_type_and_grantee() {
    let mut world = World::new();
    world.ok(grant("SELECT", view("orders_eu"), role("analyst")));
    let rows = show_grants_on(&world.snapshot, &view("orders_eu"), Reach::Exact);
    assert_eq!(
        short(&rows),
        [
            "view-properties-read | sales_wh.acdemo.orders_eu | ROLE | analyst | ALLOW",
            "view-list | sales_wh.acdemo.orders_eu | ROLE | analyst | ALLOW",
        ]
    );
    assert!(rows.iter().all(|r| r.granted_by.as_deref() == Some("carol") && r.granted_at == Some(NOW)));
}

#[test]
fn denials_groups_and_everyone_are_shown() {
    let mut world = World::new();
    world.ok(grant("DROP", table("orders"), group("staff")));
    world.ok(grant("DROP", table("orders"), Grantee::Public));
    world.ok(deny("DROP", table("orders"), user("dave")));
    let rows = show_grants_on(&world.snapshot, &table("orders"), Reach::Exact);
    assert_eq!(
        short(&rows),
        [
            "table-drop | sales_wh.acdemo.orders | GROUP | staff | ALLOW",
            "table-drop | sales_wh.acdemo.orders | PUBLIC | public | ALLOW",
            "table-drop | sales_wh.acdemo.orders | USER | dave | DENY",
        ]
    );
}

#[test]
fn patterns_and_parents_that_cover_the_object_are_shown() {
    let mut world = World::new();
    world.ok(grant("DROP", all_tables(), role("analyst")));
    let rows = short(&show_grants_on(&world.snapshot, &table("orders"), Reach::Covering));
    assert!(rows.contains(&"table-drop | sales_wh.acdemo.* | ROLE | analyst | ALLOW".to_owned()), "{rows:?}");
    assert!(rows.contains(&"namespace-list | sales_wh | ROLE | analyst | ALLOW".to_owned()), "{rows:?}");
    assert!(rows.contains(&"table-drop | *.*.* | ROLE | admin | ALLOW".to_owned()), "{rows:?}");
    assert!(show_grants_on(&world.snapshot, &table("orders"), Reach::Exact).is_empty());
}

#[test]
fn grants_to_a_grantee_are_its_own() {
    let mut world = World::new();
    world.ok(grant("DROP", table("orders"), role("analyst")));
    let rows = short(&show_grants_to(&world.snapshot, &role("analyst")));
    assert_eq!(
        rows,
        [
            "namespace-list | sales_wh | ROLE | analyst | ALLOW",
            "namespace-list | sales_wh.acdemo | ROLE | analyst | ALLOW",
            "namespace-properties-read | sales_wh.acdemo | ROLE | analyst | ALLOW",
            "table-drop | sales_wh.acdemo.orders | ROLE | analyst | ALLOW",
        ]
    );
    assert!(show_grants_to(&world.snapshot, &user("alice")).is_empty());
}

#[test]
fn effective_grants_go_through_groups_and_nested_roles() {
    let mut world = World::new();
    let bare = |privilege: &str, to| {
        let edit = GrantEdit { discovery: Discovery::Without, ..grant_edit(privilege, table("orders"), to) };
        Edit::Grant(edit)
    };
    world.ok(grant_role("analyst", role("engineer")));
    world.ok(grant_role("engineer", group("staff")));
    world.ok(bare("DROP", role("analyst")));
    world.ok(bare("APPLY POLICY", Grantee::Public));
    let rows = short(&effective_grants(&world.snapshot, "erin"));
    assert_eq!(
        rows,
        [
            "table-drop | sales_wh.acdemo.orders | ROLE | analyst | ALLOW",
            "table-policy-attach | sales_wh.acdemo.orders | PUBLIC | public | ALLOW",
            "table-policy-detach | sales_wh.acdemo.orders | PUBLIC | public | ALLOW",
        ]
    );
}

#[test]
fn check_access_gives_its_reason() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), group("staff")));
    world.ok(grant("SELECT", all_tables(), role("analyst")));
    let check = |world: &World, user: &str| world.check(user, Privilege::Select, &table("orders"));
    assert_eq!(check(&world, "alice"), (true, "Allowed via ROLE 'analyst'".to_owned()));
    assert_eq!(check(&world, "erin"), (true, "Allowed via GROUP 'staff'".to_owned()));
    let none = "No policy allows `table-data-read` on sales_wh.acdemo.orders";
    assert_eq!(check(&world, "dave"), (false, none.to_owned()));
    let too_deep = "`USAGE` binds to the namespace level, above sales_wh.acdemo.orders";
    assert_eq!(world.check("alice", Privilege::Usage, &table("orders")), (false, too_deep.to_owned()));
}

#[test]
fn granted_by_is_who_granted_that_privilege() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    world.ok(grant_role("admin", user("bob")));
    world.ok_as("bob", grant("INSERT", table("orders"), role("analyst")));
    let rows = show_grants_on(&world.snapshot, &table("orders"), Reach::Exact);
    let by = |access: &str| {
        rows.iter().find(|r| r.privilege == access).and_then(|r| r.granted_by.clone()).unwrap()
    };
    assert_eq!((by("table-data-read").as_str(), by("table-data-write").as_str()), ("carol", "bob"));
}
