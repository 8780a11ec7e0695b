//! The laws of building and changing a snapshot.

use super::Reach;
use crate::Snapshot;
use crate::edit::Change;
use crate::evaluate::Decision;
use crate::evaluate::fixture::{Draft, ask, resource, snapshot, state};
use crate::matching::{Levels, MatchContext, MatchType, RequestPath, ResourceMatcher};
use crate::model::{Policy, PolicyId, RecurrenceInterval, State, ValiditySchedule, Version};

const ORDERS: &str = "database=sales table=orders";

fn faults(state: State) -> Vec<String> {
    match Snapshot::build(state) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

fn check_fault(draft: Draft, part: &str) {
    let off = draft.clone().with(|p| p.is_enabled = false);
    let found = faults(state([draft]));
    assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    assert_eq!(faults(state([off])), [""; 0], "a disabled policy may ask for what is not offered");
}

#[test]
fn every_fault_is_reported_and_not_only_the_first() {
    let mut state = state([
        Draft::access(1, ORDERS).with(|p| p.service = "nowhere".to_owned()),
        Draft::access(2, ORDERS).with(|p| p.zone = Some("z".to_owned())),
    ]);
    state.services.get_mut("polaris").unwrap().service_def = "unheard_of".to_owned();
    assert_eq!(faults(state).len(), 3);
}

#[test]
fn what_would_be_left_out_in_silence_is_a_fault() {
    check_fault(Draft::access(1, ORDERS).with(|p| p.zone = Some("z".to_owned())), "no security zone `z`");
    check_fault(Draft::access(1, "database=db_${{USER.x}}"), "expression");
    check_fault(Draft::access(1, ORDERS).valid("soon", ""), "`soon` is not a time");
    let in_zone =
        |text: &str| ValiditySchedule { time_zone: Some(text.to_owned()), ..ValiditySchedule::default() };
    check_fault(
        Draft::access(1, ORDERS).with(|p| p.validity = vec![in_zone("Mars/Base")]),
        "no such time zone",
    );
    let no_fields = crate::model::Recurrence {
        interval: RecurrenceInterval { days: 1, hours: 0, minutes: 0 },
        ..Default::default()
    };
    let recurring = ValiditySchedule { recurrences: vec![no_fields], ..ValiditySchedule::default() };
    check_fault(
        Draft::access(1, ORDERS).with(|p| p.validity = vec![recurring]),
        "day of the month or of the week",
    );
}

#[test]
fn a_matcher_that_is_not_offered_is_a_fault_once_a_policy_names_its_level() {
    let mut with_paths = state([]);
    let level = crate::model::ResourceDef {
        name: "url".to_owned(),
        matcher: "com.example.ShelfMatcher".to_owned(),
        ..Default::default()
    };
    with_paths.service_defs.get_mut("hive").unwrap().resources.retain(|level| level.name != "url");
    with_paths.service_defs.get_mut("hive").unwrap().resources.push(level);
    assert_eq!(faults(with_paths.clone()), [""; 0]);
    let Draft(policy) = Draft::access(9, "url=s3://bucket");
    with_paths.policies.insert(policy.id, policy);
    assert!(faults(with_paths)[0].contains("ShelfMatcher"));
}

#[test]
fn a_thing_kept_under_another_name_is_a_fault() {
    let mut state = state([]);
    let hive = state.service_defs.get("hive").unwrap().clone();
    state.service_defs.insert("trino".to_owned(), hive);
    assert_eq!(faults(state), ["service definition `hive` is kept under the name `trino`"]);
}

#[test]
fn levels_that_go_round_in_a_circle_are_a_fault() {
    let mut state = state([]);
    let hive = state.service_defs.get_mut("hive").unwrap();
    hive.resources[0].parent = Some("column".to_owned());
    assert!(faults(state).iter().any(|fault| fault.contains("circle")));
}

#[test]
fn policies_with_a_hole_in_their_levels_never_match() {
    let snapshot =
        snapshot([Draft::access(1, "table=orders").allow("bob"), Draft::access(2, "shelf=a").allow("bob")]);
    assert_eq!(ask(&snapshot, "bob", ORDERS, "select", None).access, Decision::Undetermined);
}

#[test]
fn a_change_makes_a_new_snapshot_and_leaves_the_old_one() {
    let before = snapshot([Draft::access(1, ORDERS).allow("bob")]);
    let deny = Policy { id: PolicyId(500), ..Draft::access(0, ORDERS).deny("bob").0 };
    let change =
        Change { put_policies: vec![deny], delete_roles: vec!["analyst".to_owned()], ..Change::default() };
    let after = before.apply(&change, Version(7)).unwrap();
    assert_eq!(ask(&before, "bob", ORDERS, "select", None).access, Decision::Allowed);
    assert_eq!(ask(&after, "bob", ORDERS, "select", None).access, Decision::Denied);
    assert_eq!((after.version(), after.state().next_policy_id), (Version(7), 501));
    assert!(!after.state().roles.contains_key("analyst"));
    let undo = Change { delete_policies: vec![PolicyId(500)], ..Change::default() };
    let undone = after.apply(&undo, Version(8)).unwrap();
    assert_eq!(ask(&undone, "bob", ORDERS, "select", None).access, Decision::Allowed);
    assert_eq!(undone.state().next_policy_id, 501, "the number of a deleted policy is never used again");
}

#[test]
fn a_change_that_would_not_build_changes_nothing() {
    let before = snapshot([]);
    let mut bad = Draft::access(0, ORDERS).0;
    bad.zone = Some("z".to_owned());
    let change = Change { put_policies: vec![bad], ..Change::default() };
    assert!(before.apply(&change, Version(7)).is_err());
}

#[test]
fn the_index_finds_what_a_scan_finds() {
    let values = ["a", "b", "a,b", "*", "a*", "!a", "{USER}", "?"];
    let mut policies = Vec::new();
    for (at, database) in values.iter().enumerate() {
        for (bt, table) in values.iter().enumerate() {
            let id = i64::try_from(at * 100 + bt + 1).unwrap();
            policies.push(Draft::access(id, &format!("database={database} table={table}")).allow("a"));
        }
        policies.push(
            Draft::access(i64::try_from(at + 9000).unwrap(), &format!("database={database}")).allow("a"),
        );
    }
    let everything = snapshot(policies.clone());
    for on in [
        "database=a table=b",
        "database=A table=zz",
        "database=b",
        "database=q table=q",
        "database=* table=a",
    ] {
        let levels = Levels::new(&everything.state().service_defs["hive"].resources, None).unwrap();
        let path = RequestPath::new(&levels, &resource(on)).unwrap();
        let tokens = MatchContext::new("a", None);
        let scanned: Vec<&str> = policies
            .iter()
            .filter(|draft| {
                let matcher = ResourceMatcher::new(&levels, &draft.0.resources).unwrap().unwrap();
                matcher.match_type(&path, &tokens).is_itself()
            })
            .map(|draft| draft.0.name.as_str())
            .collect();
        let index = &everything.service("query").unwrap().policies.unzoned.access;
        let mut found: Vec<&str> = index
            .candidates(&path, Reach::ITSELF)
            .iter()
            .filter(|policy| policy.matches(&path, &tokens, MatchType::is_itself))
            .map(|policy| &*policy.name)
            .collect();
        found.sort_by_key(|name| policies.iter().position(|draft| draft.0.name == *name));
        assert_eq!(found, scanned, "{on}");
    }
}

#[test]
fn among_thousands_of_names_each_is_found_and_no_other() {
    let on = |database: i64, table: i64| format!("database=db{database} table=t{table}");
    let all = (0..3_000).map(|n| Draft::access(n + 1, &on(n / 10, n)).allow("bob"));
    let before = snapshot(all.collect::<Vec<_>>());
    let number = |policy: &Policy| policy.name.strip_prefix('p').and_then(|n| n.parse::<i64>().ok());
    let of_even = |policy: &&Policy| number(policy).is_some_and(|n| n % 2 == 1);
    let even = before.state().policies.values().filter(of_even).map(|policy| policy.id).collect();
    let after = before.apply(&Change { delete_policies: even, ..Change::default() }, Version(7)).unwrap();
    let says = |snapshot: &Snapshot, on: &str, access: &str| ask(snapshot, "bob", on, access, None).access;
    for n in 0..3_000 {
        assert_eq!(says(&before, &on(n / 10, n), "select"), Decision::Allowed, "{n}");
        let left = if n % 2 == 0 { Decision::Undetermined } else { Decision::Allowed };
        assert_eq!(says(&after, &on(n / 10, n), "select"), left, "{n} after the even ones are gone");
        for other in [on(n / 10 + 1, n), on(n + 300, n), on(n / 10, n + 3_000)] {
            assert_eq!(says(&before, &other, "select"), Decision::Undetermined, "{other}");
        }
    }
    for n in 0..300 {
        assert_eq!(says(&before, &format!("database=db{n}"), "_any"), Decision::Allowed, "below db{n}");
        assert_eq!(says(&before, &format!("database=db{}", n + 300), "_any"), Decision::Undetermined);
    }
}

#[test]
fn two_services_cannot_claim_one_catalog() {
    let mut state = crate::bootstrap::initial_state(&["a", "b"], "root", None);
    let configs = &mut state.services.get_mut("query_b").unwrap().configs;
    configs.insert(crate::defs::CATALOGS_CONFIG.to_owned(), "b, a".to_owned());
    assert!(faults(state)[0].contains("both claim the catalog `a`"));
}
