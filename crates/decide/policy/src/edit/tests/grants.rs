//! Laws of GRANT, REVOKE and DENY.

use std::collections::BTreeSet;

use super::*;
use crate::model::Item;

fn types(item: &Item) -> Vec<&str> {
    item.accesses.iter().map(|a| a.kind.as_str()).collect()
}

fn held(world: &World, policy: &str, grantee: &Grantee) -> BTreeSet<String> {
    crate::edit::items::held(&world.policy(policy).items, grantee)
}

const ORDERS: &str = "grant sales_wh.acdemo.orders";

#[test]
fn a_table_grant_is_three_policies() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    assert_eq!(world.policy_names(), ["grant sales_wh", "grant sales_wh.acdemo", ORDERS]);
    assert_eq!(types(&world.policy("grant sales_wh").items[0]), ["namespace-list"]);
    let namespace = world.policy("grant sales_wh.acdemo");
    assert_eq!(types(&namespace.items[0]), ["namespace-list", "namespace-properties-read"]);
    let policy = world.policy(ORDERS);
    assert_eq!(types(&policy.items[0]), ["table-data-read", "table-properties-read", "table-list"]);
    assert_eq!(policy.items[0].roles, ["analyst"]);
    assert!(!policy.items[0].delegate_admin);
    assert_eq!(policy.labels, ["chm:ROLE:analyst:SELECT"]);
    assert!(namespace.labels.is_empty(), "only the deepest level is labelled");
    assert!(world.may("alice", "table-data-read", &table("orders")));
    assert!(!world.may("dave", "table-data-read", &table("orders")));
}

#[test]
fn without_discovery_only_the_object_is_opened() {
    let mut world = World::new();
    let edit =
        GrantEdit { discovery: Discovery::Without, ..grant_edit("SELECT", table("orders"), role("analyst")) };
    world.ok(Edit::Grant(edit));
    assert_eq!(world.policy_names(), [ORDERS]);
}

#[test]
fn granting_twice_changes_nothing() {
    let mut world = World::new();
    for edit in [
        grant("SELECT, INSERT", table("orders"), role("analyst")),
        grant("SELECT", view("v"), user("dave")),
        grant("ALL PRIVILEGES", catalog(), role("engineer")),
        grant("USAGE", catalog(), group("staff")),
        deny("SELECT", table("orders"), user("dave")),
    ] {
        world.ok(edit.clone());
        assert!(world.ok(edit).is_empty());
    }
}

#[test]
fn every_privilege_is_refused_below_its_level_by_every_statement() {
    for privilege in Privilege::EVERY {
        for scope in [schema(), table("orders"), all_tables()] {
            if scope.class().level() <= privilege.level() {
                continue;
            }
            let name = privilege.name();
            let mut world = World::new();
            let wider = if privilege.level().word() == "catalog" { "sales_wh" } else { "sales_wh.acdemo" };
            let message = format!(
                "privilege `{name}` binds to the {} level, but the statement names the {} `{scope}`; the policy would \
                 apply to `{wider}` and everything under it, which is wider than the object named",
                privilege.level(),
                scope.class().word()
            );
            let to = || role("analyst");
            let mut edits = vec![grant(name, scope.clone(), to()), deny(name, scope.clone(), to())];
            // REVOKE ALL takes whatever is held, on any level.
            if privilege != Privilege::All {
                edits.push(revoke(name, scope.clone(), to()));
            }
            for edit in edits {
                let error = world.refused("carol", edit, ErrorKind::Invalid, &message);
                let hint = error.hint().unwrap();
                assert!(hint.starts_with(&format!("re-issue the statement against `{wider}`")), "{hint}");
            }
        }
    }
}

#[test]
fn every_privilege_at_its_level_can_be_granted_checked_and_revoked() {
    for privilege in Privilege::EVERY {
        let scope = match privilege.level().word() {
            "catalog" => catalog(),
            "namespace" => schema(),
            _ if privilege.for_class(crate::privilege::ObjectClass::Table).is_some() => table("orders"),
            _ => view("v"),
        };
        let mut world = World::new();
        assert!(!world.check("alice", privilege, &scope).0, "{privilege}");
        world.ok(grant(privilege.name(), scope.clone(), role("analyst")));
        let reads_target = matches!(privilege, Privilege::Update | Privilege::Delete | Privilege::Merge);
        if reads_target {
            assert!(!world.check("alice", privilege, &scope).0, "{privilege} reads its target");
            world.ok(grant("SELECT", scope.clone(), role("analyst")));
        }
        let expected = (true, "Allowed via ROLE 'analyst'".to_owned());
        assert_eq!(world.check("alice", privilege, &scope), expected, "{privilege}");
        assert!(!world.check("dave", privilege, &scope).0);
        world.ok(revoke(privilege.name(), scope.clone(), role("analyst")));
        assert!(!world.check("alice", privilege, &scope).0, "{privilege} after REVOKE");
    }
}

#[test]
fn a_privilege_named_above_its_level_gives_discovery_and_says_so() {
    let mut world = World::new();
    let change = world.ok(grant("SELECT", schema(), role("analyst")));
    assert_eq!(
        change.notices,
        [
            "`SELECT` binds to the table level: on the namespace `sales_wh.acdemo` it gives discovery only; name a table, \
          or `ALL TABLES IN SCHEMA sales_wh.acdemo`"
        ]
    );
    assert!(!world.may("alice", "table-data-read", &table("orders")));
    assert!(world.may("alice", "namespace-list", &schema()));
    world.ok(revoke("SELECT", schema(), role("analyst")));
    assert!(!world.may("alice", "namespace-list", &schema()));
}

#[test]
fn a_denial_above_the_level_is_refused() {
    let mut world = World::new();
    let message = "privilege `SELECT` binds to the table level; denied on the namespace `sales_wh.acdemo` it would hide \
                   that, and deny nothing in it";
    world.refused("carol", deny("SELECT", schema(), role("analyst")), ErrorKind::Invalid, message);
}

#[test]
fn all_tables_covers_later_tables_and_no_sub_namespace() {
    let mut world = World::new();
    world.ok(grant("SELECT", all_tables(), role("analyst")));
    assert!(world.may("alice", "table-data-read", &table("made_later")));
    let nested = Scope::Table {
        catalog: "sales_wh".to_owned(),
        namespace: "acdemo.inner".to_owned(),
        table: "orders".to_owned(),
    };
    assert!(!world.may("alice", "table-data-read", &nested));
}

#[test]
fn all_on_a_catalog_reaches_everything_in_it_and_nothing_else() {
    let mut world = World::new();
    world.ok(grant("ALL", catalog(), role("analyst")));
    assert_eq!(world.policy_names(), ["grant sales_wh", "grant sales_wh.*", "grant sales_wh.*.*"]);
    assert!(world.may("alice", "table-data-read", &table("orders")));
    assert!(world.may("alice", "namespace-create", &catalog()));
    assert!(world.may("alice", "table-create", &schema()));
    let elsewhere = Scope::Catalog { catalog: "other".to_owned() };
    assert!(!world.may("alice", "namespace-list", &elsewhere));
    world.ok(revoke("ALL", catalog(), role("analyst")));
    assert!(world.policy_names().is_empty());
}

#[test]
fn a_view_grant_is_in_the_table_slot_without_reading_data() {
    let mut world = World::new();
    world.ok(grant("SELECT", view("orders_eu"), role("analyst")));
    let policy = world.policy("grant sales_wh.acdemo.orders_eu");
    assert_eq!(types(&policy.items[0]), ["view-properties-read", "view-list"]);
    assert_eq!(policy.labels, ["chm:ROLE:analyst:SELECT VIEW"]);
    world.ok(revoke("SELECT", view("orders_eu"), role("analyst")));
    assert!(!world.may("alice", "view-properties-read", &view("orders_eu")));
}

#[test]
fn a_view_has_no_privilege_to_write() {
    let mut world = World::new();
    let message = "a view has no privilege `INSERT`";
    world.refused("carol", grant("INSERT", view("v"), role("analyst")), ErrorKind::Invalid, message);
}

#[test]
fn inserting_does_not_read_unless_the_setting_says_so() {
    let mut world = World::new();
    world.ok(grant("INSERT", table("orders"), role("analyst")));
    assert!(world.may("alice", "table-data-write", &table("orders")));
    assert!(!world.may("alice", "table-data-read", &table("orders")));
    let edit =
        GrantEdit { writes: WriteSet::WithRead, ..grant_edit("INSERT", table("orders"), user("dave")) };
    world.ok(Edit::Grant(edit));
    assert!(world.may("dave", "table-data-read", &table("orders")));
    world.ok(revoke("INSERT", table("orders"), user("dave")));
    assert!(!world.may("dave", "table-data-read", &table("orders")), "REVOKE takes what the setting added");
}

#[test]
fn a_statement_does_all_of_it_or_none() {
    let mut world = World::new();
    let edit = GrantEdit {
        privileges: specs("SELECT, INSERT"),
        scopes: vec![table("a"), table("b")],
        grantees: vec![role("analyst"), user("dave"), group("staff")],
        ..grant_edit("SELECT", table("a"), role("analyst"))
    };
    world.ok(Edit::Grant(edit.clone()));
    for user in ["alice", "dave", "erin"] {
        for name in ["a", "b"] {
            assert!(world.may(user, "table-data-read", &table(name)), "{user} {name}");
            assert!(world.may(user, "table-data-write", &table(name)), "{user} {name}");
        }
    }
    let mut faulty = edit;
    faulty.scopes = vec![table("c"), table("d*")];
    faulty.grantees.push(role("nothing"));
    faulty.privileges.push(PrivilegeSpec::new("FLY"));
    let error = World::new().try_as("carol", Edit::Grant(faulty)).unwrap_err();
    let kinds: Vec<FaultKind> = error.faults().iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FaultKind::Invalid, FaultKind::Invalid, FaultKind::NotFound]);
}

#[test]
fn equal_grantees_share_one_item_and_part_again() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    world.ok(grant("SELECT", table("orders"), role("engineer")));
    assert_eq!(world.policy(ORDERS).items.len(), 1);
    world.ok(grant("INSERT", table("orders"), role("engineer")));
    assert_eq!(world.policy(ORDERS).items.len(), 2);
    world.ok(revoke("SELECT", table("orders"), role("analyst")));
    assert!(!world.may("alice", "table-data-read", &table("orders")));
    assert!(world.may("bob", "table-data-read", &table("orders")));
}

#[test]
fn revoke_holds_back_what_another_privilege_needs() {
    let mut world = World::new();
    world.ok(grant("SELECT, INSERT, ALTER", table("orders"), role("analyst")));
    world.ok(revoke("INSERT", table("orders"), role("analyst")));
    assert!(!world.may("alice", "table-data-write", &table("orders")));
    assert!(world.may("alice", "table-data-read", &table("orders")));
    assert!(world.may("alice", "table-schema-add", &table("orders")));
    world.ok(revoke("ALTER", table("orders"), role("analyst")));
    let kept: BTreeSet<String> =
        ["table-data-read", "table-list", "table-properties-read"].map(str::to_owned).into();
    assert_eq!(held(&world, ORDERS, &role("analyst")), kept);
    assert_eq!(world.policy(ORDERS).labels, ["chm:ROLE:analyst:SELECT"]);
}

#[test]
fn privileges_of_one_write_set_are_told_apart_by_their_labels() {
    let mut world = World::new();
    world.ok(grant("INSERT, DELETE", table("orders"), role("analyst")));
    let change = world.ok(revoke("DELETE", table("orders"), role("analyst")));
    assert!(world.may("alice", "table-data-write", &table("orders")));
    assert!(change.notices[0].contains("still holds `DELETE`"), "{:?}", change.notices);
    world.ok(revoke("INSERT", table("orders"), role("analyst")));
    assert!(!world.may("alice", "table-data-write", &table("orders")));
}

#[test]
fn revoke_leaves_discovery_alone_and_usage_takes_it_back() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    world.ok(revoke("SELECT", table("orders"), role("analyst")));
    assert_eq!(world.policy_names(), ["grant sales_wh", "grant sales_wh.acdemo"]);
    assert!(world.may("alice", "namespace-list", &catalog()));
    world.ok(revoke("USAGE", catalog(), role("analyst")));
    world.ok(revoke("USAGE", schema(), role("analyst")));
    assert!(world.policy_names().is_empty());
}

#[test]
fn discovery_outlasts_the_privilege_that_brought_it() {
    let mut world = World::new();
    world.ok(grant("CREATE TABLE", schema(), role("analyst")));
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    world.ok(revoke("CREATE TABLE", schema(), role("analyst")));
    assert!(!world.may("alice", "table-create", &schema()));
    assert!(world.may("alice", "namespace-list", &schema()), "the table is still to be reached");
}

#[test]
fn revoking_what_is_not_held_is_a_notice() {
    let mut world = World::new();
    let change = world.ok(revoke("SELECT", table("orders"), role("analyst")));
    assert!(change.is_empty());
    assert_eq!(change.notices, ["ROLE `analyst` does not hold `SELECT` on `sales_wh.acdemo.orders`"]);
    let edit = revoke("SELECT", table("orders"), role("nothing"));
    world.refused("carol", edit, ErrorKind::ObjectNotFound, "no such role `nothing`");
}

#[test]
fn revoke_tells_what_still_stands() {
    let mut world = World::new();
    world.ok(grant("SELECT", all_tables(), role("analyst")));
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    let change = world.ok(revoke("SELECT", table("orders"), role("analyst")));
    let expected =
        "ROLE `analyst` still holds `SELECT` on `sales_wh.acdemo.orders` by policy `grant sales_wh.acdemo.*`";
    assert_eq!(change.notices, [expected]);
}

#[test]
fn revoke_all_takes_everything_on_that_object_alone() {
    let mut world = World::new();
    world.ok(grant("SELECT, INSERT, DROP", table("orders"), role("analyst")));
    world.ok(grant("SELECT", table("other"), role("analyst")));
    world.ok(deny("DROP", table("orders"), role("analyst")));
    world.ok(grant("SELECT", table("orders"), role("engineer")));
    world.ok(revoke("ALL PRIVILEGES", table("orders"), role("analyst")));
    let policy = world.policy(ORDERS);
    assert_eq!(policy.labels, ["chm:ROLE:engineer:SELECT"]);
    assert_eq!((policy.items.len(), policy.deny_items.len()), (1, 0));
    assert!(world.may("alice", "table-data-read", &table("other")));
}

#[test]
fn a_denial_beats_every_grant_and_is_taken_back_by_revoke() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    world.ok(grant_role("analyst", user("dave")));
    world.ok(deny("SELECT", table("orders"), user("dave")));
    let expected = (false, format!("Denied by policy `{ORDERS}` via USER 'dave'"));
    assert_eq!(world.check("dave", Privilege::Select, &table("orders")), expected);
    assert!(world.may("alice", "table-data-read", &table("orders")));
    assert!(world.policy(ORDERS).labels.contains(&"chm-deny:USER:dave:SELECT".to_owned()));
    world.ok(revoke("SELECT", table("orders"), user("dave")));
    assert!(world.may("dave", "table-data-read", &table("orders")), "by the role again");
}

#[test]
fn a_denial_leaves_the_other_privilege() {
    let mut world = World::new();
    world.ok(grant("SELECT, INSERT, ALTER", table("orders"), user("dave")));
    world.ok(deny("INSERT", table("orders"), user("dave")));
    assert!(world.check("dave", Privilege::Select, &table("orders")).0);
    assert!(world.check("dave", Privilege::Alter, &table("orders")).0);
    assert!(!world.check("dave", Privilege::Insert, &table("orders")).0);
    world.ok(revoke("ALL", table("orders"), user("dave")));
    world.ok(grant("SELECT, INSERT", table("orders"), user("dave")));
    world.ok(deny("SELECT", table("orders"), user("dave")));
    assert!(!world.check("dave", Privilege::Select, &table("orders")).0);
    assert!(world.check("dave", Privilege::Insert, &table("orders")).0);
    assert!(world.may("dave", "table-properties-read", &table("orders")));
}

#[test]
fn taking_back_one_denial_leaves_the_other() {
    let mut world = World::new();
    world.ok(grant("SELECT, INSERT", table("orders"), user("dave")));
    world.ok(deny("SELECT, INSERT", table("orders"), user("dave")));
    world.ok(revoke("SELECT", table("orders"), user("dave")));
    world.ok(grant("SELECT", table("orders"), user("dave")));
    assert!(world.check("dave", Privilege::Select, &table("orders")).0);
    assert!(world.may("dave", "table-data-read", &table("orders")));
    assert!(!world.check("dave", Privilege::Insert, &table("orders")).0);
}

#[test]
fn a_denial_that_would_deny_nothing_is_refused() {
    let message = "every access type of `MONITOR` is needed by other privileges, so that it cannot be denied";
    let edit = deny("MONITOR", table("orders"), user("dave"));
    World::new().refused("carol", edit, ErrorKind::Invalid, message);
}

#[test]
fn only_admins_deny() {
    let mut world = World::new();
    let edit = deny("SELECT", table("orders"), user("nobody"));
    world.refused("dave", edit, ErrorKind::Denied, "permission denied to deny a privilege");
}

#[test]
fn the_grant_option_lets_its_holder_grant_that_and_no_more() {
    let mut world = World::new();
    let edit =
        GrantEdit { grant_option: GrantOption::With, ..grant_edit("SELECT", table("orders"), user("dave")) };
    world.ok(Edit::Grant(edit));
    let no_discovery = "USER `bob` cannot see the catalog `sales_wh`, and you may not grant that; USER `bob` cannot see \
                        the namespace `sales_wh.acdemo`, and you may not grant that";
    let error =
        world.refused("dave", grant("SELECT", table("orders"), user("bob")), ErrorKind::Denied, no_discovery);
    assert_eq!(
        error.hint().unwrap(),
        "have an admin run `GRANT USAGE ON DATABASE sales_wh TO USER \"bob\"` and `GRANT USAGE ON SCHEMA \
         sales_wh.acdemo TO USER \"bob\"`, or grant `WITHOUT DISCOVERY`"
    );
    world.ok(grant("USAGE", catalog(), user("bob")));
    world.ok(grant("USAGE", schema(), user("bob")));
    world.ok_as("dave", grant("SELECT", table("orders"), user("bob")));
    assert!(world.may("bob", "table-data-read", &table("orders")));
    for (privilege, scope) in
        [("INSERT", table("orders")), ("SELECT", table("other")), ("SELECT", all_tables())]
    {
        let message = format!("permission denied to grant `{privilege}` on `{scope}`");
        world.refused("dave", grant(privilege, scope, user("bob")), ErrorKind::Denied, &message);
    }
    world.ok_as("dave", revoke("SELECT", table("orders"), user("bob")));
    assert!(!world.may("bob", "table-data-read", &table("orders")));
}

#[test]
fn who_may_not_grant_learns_nothing_of_grantees() {
    let message = "permission denied to grant `SELECT` on `sales_wh.acdemo.orders`";
    let edit = grant("SELECT", table("orders"), role("nothing"));
    World::new().refused("dave", edit, ErrorKind::Denied, message);
}

#[test]
fn the_grant_option_alone_can_be_revoked() {
    let mut world = World::new();
    let with = |privilege| GrantEdit {
        grant_option: GrantOption::With,
        discovery: Discovery::Without,
        ..grant_edit(privilege, table("orders"), user("dave"))
    };
    world.ok(Edit::Grant(with("SELECT")));
    world.ok(revoke_option("SELECT", table("orders"), user("dave")));
    assert!(world.may("dave", "table-data-read", &table("orders")));
    assert!(world.policy(ORDERS).items.iter().all(|i| !i.delegate_admin));
    let change = world.ok(revoke_option("SELECT", table("orders"), user("dave")));
    assert_eq!(
        change.notices,
        ["USER `dave` does not hold the grant option for `SELECT` on `sales_wh.acdemo.orders`"]
    );
}

#[test]
fn the_grant_option_of_one_privilege_is_not_that_of_another() {
    let mut world = World::new();
    let edit =
        GrantEdit { grant_option: GrantOption::With, ..grant_edit("SELECT", table("orders"), user("dave")) };
    world.ok(Edit::Grant(edit));
    world.ok(grant("INSERT", table("orders"), user("dave")));
    let message = "permission denied to grant `INSERT` on `sales_wh.acdemo.orders`";
    world.refused("dave", grant("INSERT", table("orders"), user("bob")), ErrorKind::Denied, message);
}

#[test]
fn a_validity_is_a_policy_of_its_own() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), user("dave")));
    let validity = Validity::parse(Some("2023-11-01"), Some("2023-12-01T10:00:00+02:00")).unwrap();
    let edit = GrantEdit { validity: Some(validity), ..grant_edit("SELECT", table("orders"), user("bob")) };
    world.ok(Edit::Grant(edit.clone()));
    let policy = world.policy("grant sales_wh.acdemo.orders for a time");
    let schedule = &policy.validity[0];
    assert_eq!(schedule.start_time.as_deref(), Some("2023/11/01 00:00:00"));
    assert_eq!(schedule.end_time.as_deref(), Some("2023/12/01 08:00:00"));
    assert_eq!(schedule.time_zone.as_deref(), Some("UTC"));
    assert!(world.policy(ORDERS).validity.is_empty());
    assert!(world.may("bob", "table-data-read", &table("orders")));
    assert!(world.ok(Edit::Grant(edit.clone())).is_empty());
    world.ok(revoke("SELECT", table("orders"), user("bob")));
    assert!(!world.may("bob", "table-data-read", &table("orders")));
    let over = Validity::parse(None, Some("2023-11-14 00:00:00")).unwrap();
    let edit = GrantEdit { validity: Some(over), ..edit };
    world.refused("carol", Edit::Grant(edit), ErrorKind::Invalid, "the validity is over already");
}

#[test]
fn public_is_everyone() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), Grantee::Public));
    let policy = world.policy(ORDERS);
    assert_eq!(policy.items[0].groups, ["public"]);
    assert_eq!(policy.labels, ["chm:PUBLIC:public:SELECT"]);
    assert!(world.may("dave", "table-data-read", &table("orders")));
    assert!(world.ok(grant("SELECT", table("orders"), group("public"))).is_empty());
    // Discovery that everyone has is not written again.
    world.ok(grant("SELECT", table("other"), user("dave")));
    assert_eq!(world.policy("grant sales_wh").items.len(), 1);
}

#[test]
fn names_with_colons_keep_their_labels() {
    let mut world = World::new();
    world.ok(create_role("a:b:SELECT"));
    world.ok(grant("SELECT, INSERT", table("orders"), role("a:b:SELECT")));
    world.ok(revoke("INSERT", table("orders"), role("a:b:SELECT")));
    assert_eq!(world.policy(ORDERS).labels, ["chm:ROLE:a:b:SELECT:SELECT"]);
}

#[test]
fn a_column_list_is_refused() {
    let mut edit = grant_edit("SELECT", table("orders"), role("analyst"));
    edit.privileges[0].columns.push("id".to_owned());
    let message = "a column list after `SELECT` is not offered";
    World::new().refused("carol", Edit::Grant(edit), ErrorKind::Unsupported, message);
}

#[test]
fn a_policy_of_another_door_on_the_same_resource_is_left_and_yet_revoked_from() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    // The same policy as if a REST client had written it.
    let mut state = world.snapshot.state().clone();
    let mut foreign = world.policy(ORDERS).clone();
    foreign.id = crate::model::PolicyId(state.next_policy_id);
    foreign.name = "by rest".to_owned();
    foreign.options.clear();
    foreign.labels.clear();
    state.next_policy_id += 1;
    state.policies.insert(foreign.id, foreign);
    world.snapshot = Snapshot::build(state).unwrap();
    world.ok(grant("INSERT", table("orders"), role("analyst")));
    assert!(!held(&world, "by rest", &role("analyst")).contains("table-data-write"));
    world.ok(revoke("SELECT", table("orders"), role("analyst")));
    assert!(!world.may("alice", "table-data-read", &table("orders")));
    assert!(!world.policy_names().contains(&"by rest".to_owned()));
}

#[test]
fn a_denial_does_not_lock_the_admins_out_unheard() {
    let mut world = World::new();
    let message = "a denial to the role `admin` would lock every admin out";
    world.refused("carol", deny("DROP", table("orders"), role("admin")), ErrorKind::Invalid, message);
    let change = world.ok(deny("DROP", table("orders"), Grantee::Public));
    assert_eq!(change.notices, ["the denial to PUBLIC holds for you as well"]);
}

const TABLE_PRIVILEGES: [&str; 11] = [
    "SELECT",
    "MONITOR",
    "INSERT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "MERGE",
    "MODIFY",
    "ALTER",
    "DROP",
    "APPLY POLICY",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

    /// After any statements, a grantee holds on the table exactly what the privileges need that were granted and not
    /// revoked since, and another grantee is not touched.
    #[test]
    fn what_is_held_is_what_the_standing_privileges_need(
        steps in proptest::collection::vec((proptest::bool::ANY, 0..TABLE_PRIVILEGES.len()), 1..14),
    ) {
        let mut world = World::new();
        world.ok(grant("SELECT, INSERT", table("orders"), role("engineer")));
        let untouched = held(&world, ORDERS, &role("engineer"));
        let mut standing = BTreeSet::new();
        for (is_grant, at) in steps {
            let name = TABLE_PRIVILEGES[at];
            if is_grant {
                world.ok(grant(name, table("orders"), role("analyst")));
                standing.insert(name);
            } else if standing.remove(name) {
                world.ok(revoke(name, table("orders"), role("analyst")));
            }
            let needed: BTreeSet<String> = standing
                .iter()
                .map(|name| Privilege::parse(name).unwrap())
                .flat_map(|p| p.plan(crate::privilege::ObjectClass::Table, WriteSet::WithoutRead).unwrap().steps)
                .filter(|s| !s.is_traversal)
                .flat_map(|s| s.types)
                .map(str::to_owned)
                .collect();
            proptest::prop_assert_eq!(held(&world, ORDERS, &role("analyst")), needed);
            proptest::prop_assert_eq!(held(&world, ORDERS, &role("engineer")), untouched.clone());
        }
    }
}
