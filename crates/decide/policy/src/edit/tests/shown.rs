//! Laws of SHOW GRANTS and CHECK ACCESS.

use super::*;
use crate::edit::access_verdicts;
use crate::operation::{Object, Operation};

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

#[test]
fn check_access_asks_from_where_the_gate_asks() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), user("alice")));
    // Written elsewhere: the allowance holds for one address.
    let mut state = world.snapshot.state().clone();
    let name = state.services[GATE_ONE].service_def.clone();
    let mut def = state.service_defs[&name].clone();
    def.conditions.push(crate::model::ConditionDef {
        name: "ip-range".to_owned(),
        evaluator: "RangerIpMatcher".to_owned(),
        ..Default::default()
    });
    state.service_defs.insert(name, def);
    let ids: Vec<_> = state.policies.keys().copied().collect();
    for id in ids {
        let mut policy = state.policies[&id].clone();
        for item in &mut policy.items {
            if item.users.iter().any(|name| name == "alice") {
                item.conditions = vec![crate::model::PolicyCondition {
                    kind: "ip-range".to_owned(),
                    values: vec!["10.1.*".to_owned()],
                }];
            }
        }
        state.policies.insert(id, policy);
    }
    let snapshot = Snapshot::build(state).unwrap();
    let object = Object::Table {
        catalog: "sales_wh".to_owned(),
        namespace: vec!["acdemo".to_owned()],
        table: "orders".to_owned(),
    };
    let who = world.who("alice");
    for (addr, expected) in [(Some("10.1.2.3"), true), (Some("10.2.2.3"), false), (None, false)] {
        let addr = addr.map(|addr| addr.parse().unwrap());
        let gate = snapshot.may(Operation::SelectTable, &object, &who, None, NOW, addr);
        let shown = check_access(&snapshot, Privilege::Select, &table("orders"), &who, None, NOW, addr);
        assert_eq!((gate.is_allowed(), shown.0), (expected, expected), "{addr:?}");
    }
}

proptest::proptest! {
    /// What CHECK ACCESS shows are the gate's own verdicts, and its answer is what the operation gets.
    #[test]
    fn check_access_renders_the_verdicts_of_the_gate(
        grants in proptest::collection::vec((0..4_usize, 0..4_usize, proptest::bool::ANY), 0..6),
        asks in proptest::collection::vec((0..4_usize, 0..4_usize), 1..4),
    ) {
        const PRIVILEGES: [(Privilege, Operation); 4] = [
            (Privilege::Select, Operation::SelectTable),
            (Privilege::Insert, Operation::InsertInto),
            (Privilege::Update, Operation::UpdateTable),
            (Privilege::Drop, Operation::DropTable),
        ];
        let grantees = [user("alice"), group("staff"), role("analyst"), Grantee::Public];
        let users = ["alice", "erin", "dave", "bob"];
        let mut world = World::new();
        for (privilege, grantee, is_denied) in grants {
            let (name, grantee) = (PRIVILEGES[privilege].0.name(), grantees[grantee].clone());
            let edit = if is_denied { deny(name, table("orders"), grantee) } else { grant(name, table("orders"), grantee) };
            let _ = world.try_as("carol", edit);
        }
        let object = Object::Table {
            catalog: "sales_wh".to_owned(),
            namespace: vec!["acdemo".to_owned()],
            table: "orders".to_owned(),
        };
        for (privilege, name) in asks {
            let (privilege, operation) = PRIVILEGES[privilege];
            let who = world.who(users[name]);
            let (is_allowed, reason) = world.check(users[name], privilege, &table("orders"));
            let gate = world.snapshot.may(operation, &object, &who, None, NOW, None);
            proptest::prop_assert_eq!(is_allowed, gate.is_allowed());
            let verdicts = access_verdicts(&world.snapshot, privilege, &table("orders"), &who, None, NOW, None);
            let shown = verdicts.iter().find(|(_, verdict)| !verdict.is_allowed()).or(verdicts.last());
            let because = &shown.expect("something is asked").1.because;
            let via = because.via.as_ref().map(ToString::to_string).unwrap_or_default();
            proptest::prop_assert!(reason.contains(&via), "{} {}", reason, via);
            if !is_allowed {
                proptest::prop_assert_eq!(because, &gate.because);
            }
        }
    }
}
