//! The laws of one access decision.

use super::super::fixture::{Draft, NOW, ask, resource, snapshot, unknown_condition, who};
use crate::evaluate::{Decision, Request, Via};
use crate::model::{PolicyCondition, PolicyId};
use crate::{Membership, Snapshot};

const ORDERS: &str = "database=sales table=orders";

fn check(snapshot: &Snapshot, user: &str, on: &str, expected: Decision) {
    let verdict = ask(snapshot, user, on, "select", None);
    assert_eq!(verdict.access, expected, "{user} on {on}: {}", verdict.because.reason);
}

#[test]
fn nobody_may_what_no_policy_allows() {
    let snapshot = snapshot([Draft::access(1, ORDERS).allow("alice")]);
    check(&snapshot, "alice", ORDERS, Decision::Allowed);
    check(&snapshot, "bob", ORDERS, Decision::Undetermined);
    check(&snapshot, "alice", "database=sales table=items", Decision::Undetermined);
    check(&snapshot, "alice", "database=sales shelf=orders", Decision::Undetermined);
}

#[test]
fn deny_item_beats_allow_on_the_same_and_on_a_wider_resource() {
    for deny_on in [ORDERS, "database=* table=*", "database=s* table=o?ders"] {
        let snapshot =
            snapshot([Draft::access(1, ORDERS).allow("alice bob"), Draft::access(2, deny_on).deny("alice")]);
        check(&snapshot, "alice", ORDERS, Decision::Denied);
        check(&snapshot, "bob", ORDERS, Decision::Allowed);
    }
}

#[test]
fn an_override_allow_beats_a_normal_deny_and_an_override_deny_beats_everything() {
    let allow = Draft::access(1, ORDERS).allow("alice").over();
    let deny = Draft::access(2, ORDERS).deny("alice");
    check(&snapshot([allow.clone(), deny.clone()]), "alice", ORDERS, Decision::Allowed);
    check(&snapshot([allow, deny.over()]), "alice", ORDERS, Decision::Denied);
}

#[test]
fn an_override_allow_by_a_policy_that_can_deny_still_beats_a_normal_deny() {
    let allow = Draft::access(1, ORDERS).allow("alice").deny("carol").over();
    check(&snapshot([allow, Draft::access(2, ORDERS).deny("alice")]), "alice", ORDERS, Decision::Allowed);
}

#[test]
fn an_allow_by_a_policy_with_denials_does_not_hide_a_later_deny() {
    let both = Draft::access(1, ORDERS).allow("alice").deny("carol");
    check(&snapshot([both, Draft::access(2, ORDERS).deny("alice")]), "alice", ORDERS, Decision::Denied);
}

#[test]
fn an_exception_takes_back_the_whole_side_and_not_one_item() {
    let deny =
        Draft::access(1, ORDERS).allow("bob").deny("bob").deny("group:staff").deny_except("role:analyst");
    check(&snapshot([deny]), "bob", ORDERS, Decision::Allowed);
    let allow = Draft::access(1, ORDERS).allow("bob").allow("group:staff").allow_except("role:analyst");
    check(&snapshot([allow]), "bob", ORDERS, Decision::Undetermined);
}

#[test]
fn deny_all_else_denies_whom_no_item_allows_even_after_an_exception() {
    let only_bob = Draft::access(1, ORDERS).allow("bob").all_else();
    let wide = Draft::access(2, "database=* table=*").allow("group:public");
    let narrowed = snapshot([only_bob.clone(), wide.clone()]);
    check(&narrowed, "bob", ORDERS, Decision::Allowed);
    check(&narrowed, "alice", ORDERS, Decision::Denied);
    check(&snapshot([only_bob.allow_except("bob"), wide]), "bob", ORDERS, Decision::Denied);
}

#[test]
fn implied_grants_reach_one_level() {
    let snapshot = snapshot([Draft::access(1, ORDERS).allow("alice/all")]);
    check(&snapshot, "alice", ORDERS, Decision::Allowed);
    assert_eq!(ask(&snapshot, "alice", ORDERS, "tempudfadmin", None).access, Decision::Undetermined);
    assert_eq!(ask(&snapshot, "alice", ORDERS, "SELECT", None).access, Decision::Allowed);
}

#[test]
fn marker_access_types_stand_for_their_category() {
    let snapshot =
        snapshot([Draft::access(1, ORDERS).allow("alice/_READ"), Draft::access(2, ORDERS).allow("bob/_ALL")]);
    check(&snapshot, "alice", ORDERS, Decision::Allowed);
    assert_eq!(ask(&snapshot, "alice", ORDERS, "update", None).access, Decision::Undetermined);
    assert_eq!(ask(&snapshot, "bob", ORDERS, "drop", None).access, Decision::Allowed);
}

#[test]
fn an_access_that_is_not_allowed_in_its_item_counts_for_nothing() {
    let draft = Draft::access(1, ORDERS).allow("alice").with(|p| p.items[0].accesses[0].is_allowed = false);
    check(&snapshot([draft]), "alice", ORDERS, Decision::Undetermined);
}

#[test]
fn items_reach_users_groups_roles_everyone_and_owners() {
    let via = |who: &str, user: &str, owner: Option<&str>| {
        let snapshot = snapshot([Draft::access(1, ORDERS).allow(who)]);
        ask(&snapshot, user, ORDERS, "select", owner).because.via
    };
    assert_eq!(via("alice", "alice", None), Some(Via::User("alice".to_owned())));
    assert_eq!(via("{USER}", "zoe", None), Some(Via::User("zoe".to_owned())));
    assert_eq!(via("group:staff", "bob", None), Some(Via::Group("staff".to_owned())));
    assert_eq!(via("group:public", "zoe", None), Some(Via::Public));
    assert_eq!(via("role:analyst", "bob", None), Some(Via::Role("analyst".to_owned())));
    assert_eq!(via("{OWNER}", "alice", Some("alice")), Some(Via::Owner));
    assert_eq!(via("{OWNER}", "alice", Some("bob")), None);
    assert_eq!(via("{OWNER}", "alice", None), None);
    assert_eq!(via("alice", "Alice", None), None);
}

#[test]
fn a_denial_names_its_policy_and_the_grantee() {
    let snapshot = snapshot([Draft::access(7, ORDERS).deny("group:staff")]);
    let because = ask(&snapshot, "bob", ORDERS, "select", None).because;
    assert_eq!(because.policy, Some(PolicyId(107)));
    assert_eq!(because.policy_name.as_deref(), Some("p7"));
    assert_eq!(because.reason, "Denied via GROUP 'staff'");
}

#[test]
fn nothing_is_inherited_down_the_hierarchy_without_a_wildcard() {
    let snapshot = snapshot([
        Draft::access(1, "database=sales").allow("alice"),
        Draft::access(2, "database=hr table=*").allow("alice"),
    ]);
    check(&snapshot, "alice", "database=sales", Decision::Allowed);
    check(&snapshot, "alice", ORDERS, Decision::Undetermined);
    check(&snapshot, "alice", "database=hr", Decision::Allowed);
    check(&snapshot, "alice", "database=hr table=people", Decision::Allowed);
    check(&snapshot, "alice", "database=hr table=people column=name", Decision::Undetermined);
}

#[test]
fn a_user_token_in_the_resource_is_the_asking_user() {
    let snapshot = snapshot([Draft::access(1, "database=home_{USER} table=*").allow("{USER}")]);
    check(&snapshot, "alice", "database=home_alice table=t", Decision::Allowed);
    check(&snapshot, "alice", "database=home_bob table=t", Decision::Undetermined);
}

#[test]
fn additional_resources_count_like_the_first() {
    let two = Draft::access(1, ORDERS)
        .allow("alice")
        .with(|p| p.additional_resources.push(super::super::fixture::resources("database=hr table=people")));
    check(&snapshot([two]), "alice", "database=hr table=people", Decision::Allowed);
}

#[test]
fn disabled_policies_and_those_outside_their_validity_say_nothing() {
    let off = Draft::access(1, ORDERS).deny("alice").with(|p| p.is_enabled = false);
    let past = Draft::access(2, ORDERS).deny("alice").valid("", "2026/01/15 11:59:59");
    let future = Draft::access(3, ORDERS).deny("alice").valid("2026/01/15 12:00:01", "");
    let now = Draft::access(4, ORDERS).allow("alice").valid("2026/01/15 12:00:00", "2026/01/15 12:00:00");
    check(&snapshot([off, past, future, now]), "alice", ORDERS, Decision::Allowed);
}

#[test]
fn a_condition_that_cannot_be_evaluated_counts_against_the_user() {
    let conditional = |change: fn(&mut crate::model::Policy)| {
        let base =
            Draft::access(1, ORDERS).allow("alice").deny("alice").allow_except("alice").deny_except("alice");
        base.with(change)
    };
    let deny = conditional(|p| {
        p.deny_items[0].conditions = unknown_condition();
        p.deny_exceptions.clear();
        p.allow_exceptions.clear();
    });
    check(&snapshot([deny]), "alice", ORDERS, Decision::Denied);
    let deny_exception = conditional(|p| {
        p.deny_exceptions[0].conditions = unknown_condition();
        p.allow_exceptions.clear();
    });
    check(&snapshot([deny_exception]), "alice", ORDERS, Decision::Denied);
    let allow = conditional(|p| {
        p.items[0].conditions = unknown_condition();
        p.deny_items.clear();
        p.allow_exceptions.clear();
    });
    check(&snapshot([allow]), "alice", ORDERS, Decision::Undetermined);
    let allow_exception = conditional(|p| {
        p.allow_exceptions[0].conditions = unknown_condition();
        p.deny_items.clear();
    });
    check(&snapshot([allow_exception]), "alice", ORDERS, Decision::Undetermined);
    let policy = conditional(|p| {
        p.conditions = unknown_condition();
        p.deny_exceptions.clear();
    });
    check(&snapshot([policy]), "alice", ORDERS, Decision::Denied);
}

#[test]
fn an_address_condition_compares_the_callers_address_and_is_not_met_without_one() {
    let at =
        PolicyCondition { kind: "ip-range".to_owned(), values: vec!["10.1.*".to_owned(), "::1".to_owned()] };
    let snapshot =
        snapshot([Draft::access(1, ORDERS).allow("alice").with(|p| p.items[0].conditions = vec![at])]);
    let who = who(&snapshot, "alice");
    let from = |addr: Option<&str>| {
        let client_addr = addr.map(|text| text.parse().unwrap());
        let resource = resource(ORDERS);
        let r = Request {
            service: "query",
            resource,
            owner: None,
            access: "select",
            who: &who,
            now: NOW,
            client_addr,
            context: &crate::NO_CONTEXT,
        };
        snapshot.access(&r).is_allowed()
    };
    assert!(from(Some("10.1.2.3")));
    assert!(from(Some("::ffff:10.1.2.3")), "an IPv4 address in IPv6 clothes is the same caller");
    assert!(from(Some("::1")));
    assert!(!from(Some("10.10.2.3")));
    assert!(!from(None));
}

#[test]
fn any_access_is_allowed_by_one_type_and_by_something_below() {
    let snapshot = snapshot([
        Draft::access(1, "database=sales table=orders column=id").allow("alice/update"),
        Draft::access(2, ORDERS).deny("bob").allow("bob/update"),
    ]);
    let any = |user: &str, on: &str| ask(&snapshot, user, on, "_any", None).access;
    assert_eq!(any("alice", "database=sales"), Decision::Allowed);
    assert_eq!(any("alice", "database=hr"), Decision::Undetermined);
    assert_eq!(any("bob", ORDERS), Decision::Allowed);
    assert_eq!(any("carol", ORDERS), Decision::Undetermined);
}

#[test]
fn any_access_is_denied_only_when_every_type_is() {
    let all = Draft::access(1, ORDERS).deny("alice/_ALL");
    assert_eq!(ask(&snapshot([all]), "alice", ORDERS, "_any", None).access, Decision::Denied);
}

#[test]
fn delegation_needs_an_item_that_delegates_the_access() {
    let snapshot = snapshot([
        Draft::access(1, "database=sales table=*").allow("alice").with(|p| p.items[0].delegate_admin = true),
        Draft::access(2, ORDERS).allow("alice/update"),
    ]);
    let who = who(&snapshot, "alice");
    let may = |on: &str, access: &str| {
        let resource = resource(on);
        let r = Request {
            service: "query",
            resource,
            owner: None,
            access,
            who: &who,
            now: NOW,
            client_addr: None,
            context: &crate::NO_CONTEXT,
        };
        snapshot.may_delegate(&r).is_allowed()
    };
    assert!(may(ORDERS, "select"));
    assert!(may("database=sales table=*", "select"));
    assert!(may("database=sales", "select"));
    assert!(!may(ORDERS, "update"));
    assert!(!may("database=hr table=*", "select"));
}

#[test]
fn super_users_of_the_model_are_asked_like_everybody() {
    let mut state = super::super::fixture::state([]);
    let configs = &mut state.services.get_mut("query").unwrap().configs;
    configs.insert("ranger.plugin.super.users".to_owned(), "alice".to_owned());
    check(&Snapshot::build(state).unwrap(), "alice", ORDERS, Decision::Undetermined);
}

#[test]
fn a_service_that_is_missing_or_disabled_denies() {
    let mut state = super::super::fixture::state([Draft::access(1, ORDERS).allow("alice")]);
    state.services.get_mut("query").unwrap().is_enabled = false;
    let snapshot = Snapshot::build(state).unwrap();
    check(&snapshot, "alice", ORDERS, Decision::Denied);
    let who = Membership::new("alice", [""; 0], [""; 0]);
    let request = Request {
        service: "nowhere",
        resource: resource(ORDERS),
        owner: None,
        access: "select",
        who: &who,
        now: NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
    };
    assert_eq!(snapshot.access(&request).access, Decision::Denied);
}

#[test]
fn a_definition_without_denials_ignores_denials_and_exceptions() {
    let mut state = super::super::fixture::state([Draft::access(1, ORDERS)
        .allow("alice")
        .deny("alice")
        .allow_except("alice")]);
    let options = &mut state.service_defs.get_mut("hive").unwrap().options;
    options.insert("enableDenyAndExceptionsInPolicies".to_owned(), "false".to_owned());
    check(&Snapshot::build(state).unwrap(), "alice", ORDERS, Decision::Allowed);
}

#[test]
fn of_several_allowing_policies_the_wider_is_reported() {
    let narrow = Draft::access(1, ORDERS).allow("alice");
    let wide = Draft::access(2, "database=* table=*").allow("alice");
    let verdict = ask(&snapshot([narrow, wide]), "alice", ORDERS, "select", None);
    assert_eq!(verdict.because.policy, Some(PolicyId(102)));
}
