//! The laws of tags, zones and several accesses at once.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::edit::Change;
use crate::evaluate::fixture::{Draft, NOW, names, resource, resources, rules, state, who};
use crate::evaluate::{ColumnRule, Decision, GateTwoSettings, Note, Request, RequestContext};
use crate::model::{
    Policy, PolicyId, PolicyKind, Service, State, Tag, TagId, TaggedResource, TaggedResourceId, Version, Zone,
};
use crate::{BuildOptions, PluginSettings, Snapshot, Strictness};

const ORDERS: &str = "database=sales table=orders";
const SSN: &str = "database=sales table=orders column=ssn";

/// A policy of the tag service.
fn of_tag(draft: Draft) -> Draft {
    draft.with(|p| p.service = "tags".to_owned())
}

fn in_zone(draft: Draft, zone: &str) -> Draft {
    let zone = zone.to_owned();
    draft.with(|p| p.zone = Some(zone))
}

/// The service `query` listens to the tag service `tags`; `tagged` are resources, each with the kind of its tag.
fn tagged_state(policies: Vec<Draft>, tagged: &[(&str, &str)]) -> State {
    let mut state = state(policies);
    let service = Service {
        name: "tags".to_owned(),
        service_def: "tag".to_owned(),
        is_enabled: true,
        ..Service::default()
    };
    state.services.insert(service.name.clone(), service);
    state.services.get_mut("query").unwrap().tag_service = Some("tags".to_owned());
    for (at, (on, kind)) in (1..).zip(tagged) {
        let tag = Tag { id: TagId(at), kind: (*kind).to_owned(), ..Tag::default() };
        state.tags.insert(tag.id, tag);
        let carrier = TaggedResource {
            id: TaggedResourceId(at),
            service: "query".to_owned(),
            resource: resources(on),
            tags: vec![TagId(at)],
            ..TaggedResource::default()
        };
        state.tagged_resources.insert(carrier.id, carrier);
    }
    state
}

fn with_zone(mut state: State, name: &str, on: &[(&str, &str)], tag_services: &[&str]) -> State {
    let resource: BTreeMap<String, Vec<String>> =
        on.iter().map(|(level, value)| ((*level).to_owned(), vec![(*value).to_owned()])).collect();
    let zone = Zone {
        name: name.to_owned(),
        services: BTreeMap::from([("query".to_owned(), vec![resource])]),
        tag_services: names(tag_services),
        ..Zone::default()
    };
    state.zones.insert(name.to_owned(), zone);
    state
}

fn asked(snapshot: &Snapshot, on: &str, access: &str, context: &RequestContext) -> Decision {
    let who = who(snapshot, "bob");
    let request = Request {
        service: "query",
        resource: resource(on),
        owner: None,
        access,
        who: &who,
        now: NOW,
        client_addr: None,
        context,
    };
    let decided = snapshot.decide(&request);
    let verdict = snapshot.access(&request);
    assert_eq!(
        (decided.access, decided.policy().map(|(id, _)| id)),
        (verdict.access, verdict.because.policy)
    );
    verdict.access
}

#[track_caller]
fn check(state: State, on: &str, access: &str, expected: Decision) {
    let snapshot = Snapshot::build(state).unwrap();
    assert_eq!(asked(&snapshot, on, access, &crate::NO_CONTEXT), expected, "{on}");
}

#[test]
fn a_tag_speaks_of_what_carries_it_and_of_what_is_in_that() {
    let deny = || {
        vec![
            of_tag(Draft::access(1, "tag=PII").deny("bob/hive:select")),
            Draft::access(2, "database=* table=* column=*").allow("bob"),
        ]
    };
    check(tagged_state(deny(), &[(ORDERS, "PII")]), ORDERS, "select", Decision::Denied);
    check(tagged_state(deny(), &[(ORDERS, "PII")]), SSN, "select", Decision::Denied);
    check(tagged_state(deny(), &[(SSN, "PII")]), ORDERS, "select", Decision::Allowed);
    check(tagged_state(deny(), &[(ORDERS, "OTHER")]), ORDERS, "select", Decision::Allowed);
    check(tagged_state(deny(), &[]), ORDERS, "select", Decision::Allowed);
}

#[test]
fn what_a_tag_policy_says_of_other_components_does_not_count() {
    let deny = vec![
        of_tag(Draft::access(1, "tag=PII").deny("bob/trino:select")),
        Draft::access(2, ORDERS).allow("bob"),
    ];
    check(tagged_state(deny, &[(ORDERS, "PII")]), ORDERS, "select", Decision::Allowed);
}

#[test]
fn a_tag_denial_falls_to_an_override_only_and_a_tag_allow_to_any_denial() {
    let deny = || of_tag(Draft::access(1, "tag=PII").deny("bob/hive:select"));
    let allow = || of_tag(Draft::access(1, "tag=PII").allow("bob/hive:select"));
    let on = &[(ORDERS, "PII")];
    let of = |tag: Draft, of_resource: Draft| tagged_state(vec![tag, of_resource], on);
    check(of(deny(), Draft::access(2, ORDERS).allow("bob")), ORDERS, "select", Decision::Denied);
    check(of(deny(), Draft::access(2, ORDERS).allow("bob").over()), ORDERS, "select", Decision::Allowed);
    check(of(allow(), Draft::access(2, ORDERS).deny("bob")), ORDERS, "select", Decision::Denied);
    check(of(allow(), Draft::access(2, ORDERS).allow("alice")), ORDERS, "select", Decision::Allowed);
}

#[test]
fn in_a_zone_its_own_policies_decide_and_outside_those_of_none() {
    let policies = || {
        vec![
            Draft::access(1, "database=* table=*").allow("bob"),
            in_zone(Draft::access(2, "database=sales table=items").allow("bob"), "z"),
        ]
    };
    let zoned = || with_zone(state(policies()), "z", &[("database", "sales")], &[]);
    check(zoned(), ORDERS, "select", Decision::Undetermined);
    check(zoned(), "database=sales table=items", "select", Decision::Allowed);
    check(zoned(), "database=hr table=items", "select", Decision::Allowed);
}

#[test]
fn where_several_zones_meet_the_policies_of_none_decide() {
    let policies = vec![
        Draft::access(1, "database=* table=*").allow("bob"),
        in_zone(Draft::access(2, ORDERS).deny("bob"), "z"),
    ];
    let two = with_zone(state(policies), "z", &[("database", "sales")], &[]);
    let two = with_zone(two, "y", &[("database", "s*")], &[]);
    check(two, ORDERS, "select", Decision::Allowed);
}

#[test]
fn a_zone_listens_to_its_own_tag_policies_once_it_names_the_tag_service() {
    let policies = || {
        vec![
            of_tag(Draft::access(1, "tag=PII").deny("bob/hive:select")),
            in_zone(Draft::access(2, ORDERS).allow("bob"), "z"),
        ]
    };
    let tagged = || tagged_state(policies(), &[(ORDERS, "PII")]);
    let zone = |services: &[&str]| with_zone(tagged(), "z", &[("database", "sales")], services);
    check(zone(&[]), ORDERS, "select", Decision::Denied);
    check(zone(&["tags"]), ORDERS, "select", Decision::Allowed);
}

#[test]
fn of_several_accesses_one_is_enough_unless_groups_say_otherwise() {
    let snapshot = Snapshot::build(state([Draft::access(1, ORDERS).allow("bob/select")])).unwrap();
    let both = RequestContext { access_types: names(&["select", "update"]), ..RequestContext::new() };
    assert_eq!(asked(&snapshot, ORDERS, "select", &both), Decision::Allowed);
    let groups: Vec<BTreeSet<String>> = vec![names(&["select"]), names(&["update"])];
    let each = RequestContext { access_groups: groups, ..both };
    assert_eq!(asked(&snapshot, ORDERS, "select", &each), Decision::Undetermined);
    let lenient = RequestContext { ignored_if_not_denied: names(&["update"]), ..each };
    assert_eq!(asked(&snapshot, ORDERS, "select", &lenient), Decision::Allowed);
}

#[test]
fn tag_masks_filter_and_restrict_the_columns_that_carry_the_tag() {
    let policies = vec![
        of_tag(Draft::mask(1, "tag=PII").masked("bob/hive:select", "hive:MASK_HASH")),
        Draft::mask(2, SSN).masked("bob", "MASK").over(),
        of_tag(Draft::access(3, "tag=SECRET").deny("bob/hive:select")),
    ];
    let region = "database=sales table=orders column=region";
    let mut state = tagged_state(policies, &[(SSN, "PII"), (region, "SECRET")]);
    let level = state.service_defs["tag"].resources[0].clone();
    state.service_defs.get_mut("tag").unwrap().mask_resources = vec![level];
    let snapshot = Snapshot::build(state).unwrap();
    let rules = rules(&snapshot, "bob", &GateTwoSettings::default());
    assert_eq!(rules.columns[0], ColumnRule::Raw);
    assert!(
        matches!(&rules.columns[1], ColumnRule::Masked(mask) if mask.mask_type == "MASK_HASH"),
        "{rules:?}"
    );
    assert!(matches!(&rules.columns[2], ColumnRule::Restricted(_)), "{rules:?}");
}

#[test]
fn a_policy_that_cannot_be_honoured_takes_and_does_not_give_and_is_named() {
    let broken = |draft: Draft| draft.valid("soon", "");
    let options = BuildOptions { strictness: Strictness::Report, ..BuildOptions::default() };
    let decided = |draft: Draft| {
        let other = Draft::access(2, ORDERS).allow("alice");
        let snapshot = Snapshot::build_with(state([draft, other]), &options).unwrap();
        let [fault] = snapshot.faults() else { panic!("{:?}", snapshot.faults()) };
        assert!(fault.to_string().contains("policy `p1`"), "{fault}");
        asked(&snapshot, ORDERS, "select", &crate::NO_CONTEXT)
    };
    assert_eq!(decided(broken(Draft::access(1, ORDERS).allow("bob"))), Decision::Undetermined);
    assert_eq!(decided(broken(Draft::access(1, ORDERS).deny("bob"))), Decision::Denied);
    // A hole in the levels of its resource: nobody knows what it is about.
    assert_eq!(decided(Draft::access(1, "table=orders").allow("bob")), Decision::Undetermined);
    assert_eq!(decided(Draft::access(1, "table=orders").deny("bob")), Decision::Denied);
}

#[test]
fn super_users_count_for_plug_ins_only() {
    let plugin = PluginSettings { super_users: names(&["bob"]), ..PluginSettings::default() };
    let options = BuildOptions { plugin, ..BuildOptions::default() };
    let snapshot = Snapshot::build_with(state([]), &options).unwrap();
    let who = who(&snapshot, "bob");
    let request = Request {
        service: "query",
        resource: resource(ORDERS),
        owner: None,
        access: "select",
        who: &who,
        now: NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
    };
    assert!(snapshot.evaluate(PolicyKind::Access, &request).is_allowed());
    assert!(!snapshot.access(&request).is_allowed());
}

#[test]
fn a_trace_says_of_every_policy_what_became_of_it() {
    let snapshot = Snapshot::build(state([
        Draft::access(1, ORDERS).deny("group:staff"),
        Draft::access(2, ORDERS).allow("alice"),
        Draft::access(3, ORDERS).allow("bob").with(|p| p.is_enabled = false),
    ]))
    .unwrap();
    let who = who(&snapshot, "bob");
    let request = Request {
        service: "query",
        resource: resource(ORDERS),
        owner: None,
        access: "select",
        who: &who,
        now: NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
    };
    let (verdict, trace) = snapshot.explain(&request);
    assert_eq!(verdict, snapshot.access(&request));
    let note = |id: i64| trace.considered.iter().find(|c| c.policy == PolicyId(100 + id)).map(|c| &c.note);
    assert!(matches!(note(1), Some(Note::Denies(Some(_)))), "{trace:?}");
    assert_eq!(note(2), Some(&Note::DecidedBefore));
    assert_eq!(note(3), Some(&Note::Disabled));
    assert!(trace.sentences(&verdict)[0].contains("Denied via GROUP 'staff', by policy `p1`"));
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let values = prop::sample::select(vec!["a", "b", "*", "a*", "*b", "a,b", "!a", "{USER}"]);
    let who = prop::sample::select(vec!["bob", "alice", "group:staff", "role:analyst", "group:public"]);
    let draft = (1..9_i64, values.clone(), values, who, 0..4_u8, any::<bool>());
    let draft = draft.prop_map(|(id, database, table, who, kind, over)| {
        let draft = Draft::access(id, &format!("database={database} table={table}"));
        let draft = match kind {
            0 => draft.deny(who),
            1 => draft.allow(who).all_else(),
            2 => draft.deny("group:public").deny_except(who),
            _ => draft.allow(who),
        };
        if over { draft.over() } else { draft }
    });
    prop::collection::vec(draft, 0..12)
}

proptest! {
    /// Taking over changes one after the other comes to what reading everything again does.
    #[test]
    fn changes_taken_over_equal_a_state_read_again(
        first in drafts(),
        then in drafts(),
        deleted in prop::collection::vec(1..9_i64, 0..4),
    ) {
        let mut snapshot = Snapshot::build(state(first)).unwrap();
        for Draft(policy) in then {
            let id = PolicyId(policy.id.0 + 100);
            let change = Change { put_policies: vec![Policy { id, ..policy }], ..Change::default() };
            snapshot = snapshot.apply(&change, Version(2)).unwrap();
        }
        let deleted = deleted.into_iter().map(|id| PolicyId(id + 100)).collect();
        let change = Change { delete_policies: deleted, ..Change::default() };
        let snapshot = snapshot.apply(&change, Version(3)).unwrap();
        let again = Snapshot::build(snapshot.state().clone()).unwrap();
        for on in ["database=a table=b", "database=b table=a", "database=bob table=ab", "database=a", "database=* table=a"] {
            for user in ["bob", "alice", "zoe"] {
                for access in ["select", "update", "_any"] {
                    let whos = (who(&snapshot, user), who(&again, user));
                    let request = |who| Request {
                        service: "query",
                        resource: resource(on),
                        owner: None,
                        access,
                        who,
                        now: NOW,
                        client_addr: None,
                        context: &crate::NO_CONTEXT,
                    };
                    let (here, there) = (request(&whos.0), request(&whos.1));
                    prop_assert_eq!(snapshot.access(&here), again.access(&there));
                    // Numbers that another snapshot made are not taken for this one's.
                    let mixed = request(&whos.1);
                    prop_assert_eq!(snapshot.access(&mixed), again.access(&there));
                }
            }
        }
    }
}
