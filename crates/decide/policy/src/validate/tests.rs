//! Each fault with its code, and all of them at once.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use stdx::Timestamp;

use super::*;
use crate::bootstrap::initial_state;
use crate::defs;
use crate::edit::ORIGIN;
use crate::model::{
    Access, ConfigDef, EnumDef, FilterItem, Item, MaskInfo, MaskItem, Member, Policy, PolicyCondition,
    PolicyId, PolicyKind, Priority, ResourceMap, ResourceValues, Role, Service, ServiceDef, Tag, TagDef,
    TagId, TaggedResource, TaggedResourceId, ValiditySchedule, Zone,
};

fn checks() -> Checks<'static> {
    Checks { now: Timestamp::from_millis(0), time_zone: Tz::UTC, scripts: None, by: By::Admin }
}

/// The state of a new authority, with a hive service `h`, an HDFS service `files` and a tag service `tags`.
fn state() -> State {
    let mut state = initial_state(&["lake"], "root", None);
    for def in [defs::hdfs(), defs::kafka()] {
        state.service_defs.insert(def.name.clone(), def);
    }
    for (id, name, def) in [(50, "h", "hive"), (51, "files", "hdfs"), (52, "tags", "tag")] {
        let service = Service {
            id,
            name: name.to_owned(),
            service_def: def.to_owned(),
            is_enabled: true,
            ..Service::default()
        };
        state.services.insert(name.to_owned(), service);
    }
    state
}

/// `database=a|b, table=t`, a `!` in front of the values for excludes and a `+` for recursion.
fn resources(text: &str) -> ResourceMap {
    let level = |text: &str| {
        let (name, values) = text.trim().split_once('=').unwrap();
        let is_excludes = values.starts_with('!');
        let is_recursive = values.starts_with('+');
        let values = values.trim_start_matches(['!', '+']).split('|').map(str::to_owned).collect();
        (name.to_owned(), ResourceValues { values, is_excludes, is_recursive })
    };
    text.split(',').filter(|text| !text.trim().is_empty()).map(level).collect()
}

fn item(access: &str) -> Item {
    Item { accesses: vec![Access::new(access)], users: vec!["ann".to_owned()], ..Item::default() }
}

fn policy(service: &str, on: &str) -> Policy {
    let mut policy = Policy::new(service, "p", PolicyKind::Access);
    policy.id = PolicyId(900);
    policy.resources = resources(on);
    policy.items = vec![item(if service == "files" { "read" } else { "select" })];
    policy
}

fn hive(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = policy("h", "database=d, table=t, column=c");
    change(&mut policy);
    policy
}

fn put(policy: Policy) -> Change {
    Change { put_policies: vec![policy], ..Change::default() }
}

fn codes_in(state: &State, change: &Change) -> Vec<u32> {
    super::change(state, change, &checks()).iter().map(|fault| fault.code).collect()
}

fn check(policy: Policy, expected: &[u32]) {
    let found = super::change(&state(), &put(policy), &checks());
    let codes: Vec<u32> = found.iter().map(|fault| fault.code).collect();
    assert_eq!(codes, expected, "{found:#?}");
}

#[test]
fn a_new_authority_has_no_faults() {
    assert_eq!(super::state(&initial_state(&["lake", "side"], "root", None), &checks()), []);
}

#[test]
fn our_definitions_have_no_faults() {
    let all = [defs::polaris(), defs::hive(), defs::trino(), defs::hdfs(), defs::kafka(), defs::tag()];
    for def in all.into_iter().chain([defs::polaris_2_8(), defs::polaris_2_9()]) {
        let change = Change { put_service_defs: vec![def], ..Change::default() };
        assert_eq!(super::change(&State::default(), &change, &checks()), []);
    }
}

#[test]
fn names_services_and_zones_of_policies() {
    check(hive(|_| {}), &[]);
    check(hive(|p| p.name = " ".to_owned()), &[POLICY_FIELD_MISSING]);
    check(hive(|p| p.service = String::new()), &[POLICY_FIELD_MISSING]);
    check(hive(|p| p.service = "x".to_owned()), &[POLICY_SERVICE_UNKNOWN]);
    check(hive(|p| p.zone = Some("z".to_owned())), &[POLICY_ZONE_UNKNOWN]);
    let mut with_zone = state();
    with_zone.zones.insert("z".to_owned(), Zone { name: "z".to_owned(), ..Zone::default() });
    let change = put(hive(|p| p.zone = Some("z".to_owned())));
    assert_eq!(codes_in(&with_zone, &change), [POLICY_SERVICE_NOT_IN_ZONE]);
    let mut without_def = state();
    without_def.service_defs.remove("hive");
    assert_eq!(codes_in(&without_def, &put(hive(|_| {}))), [POLICY_DEF_UNKNOWN]);
}

#[test]
fn a_policy_stays_what_and_where_it_is() {
    let mut before = state();
    let old = hive(|_| {});
    before.policies.insert(old.id, old);
    let moved = policy("files", "path=/a");
    let mut moved = put(moved);
    moved.put_policies[0].kind = PolicyKind::Mask;
    moved.put_policies[0].zone = Some("z".to_owned());
    let codes = codes_in(&before, &moved);
    for code in [POLICY_MOVED, POLICY_TYPE_CHANGED, POLICY_ZONE_CHANGED] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
}

#[test]
fn resources_of_policies() {
    let on = |service: &str, text: &str, expected: &[u32]| check(policy(service, text), expected);
    on("h", "database=d", &[]);
    on("h", "database=d, udf=f", &[]);
    on("h", "database=d, column=c", &[POLICY_MANDATORY_MISSING]);
    on("h", "database=d, udf=f, table=t", &[POLICY_NO_HIERARCHY]);
    on("h", "database=d, blah=x", &[POLICY_NO_HIERARCHY]);
    on("h", "", &[POLICY_MANDATORY_MISSING]);
    on("files", "dir=x", &[POLICY_NO_HIERARCHY_SINGLE]);
    on("files", "", &[POLICY_MANDATORY_MISSING_SINGLE]);
    on("files", "path=/a", &[]);
    on("files", "path=+/a", &[]);
    on("files", "path=!/a", &[POLICY_EXCLUDES_UNSUPPORTED]);
    on("h", "database=!d", &[]);
    on("h", "database=+d", &[POLICY_RECURSIVE_UNSUPPORTED]);
    on("h", "database=d|e|d", &[POLICY_VALUE_DUPLICATE]);
    on("h", "database= ", &[POLICY_VALUES_MISSING]);
    on("h", "database=d, table=t, column=${{USER.x}}", &[]);
    on("h", "database=d, table=t, column=${{USER.x", &[SCRIPT_INVALID]);
    check(
        hive(|p| p.additional_resources = vec![resources("url=+s3://b/"), resources("udf=f")]),
        &[POLICY_MANDATORY_MISSING],
    );
}

#[test]
fn a_missing_level_in_between_is_told() {
    let mut state = state();
    state.service_defs.insert("polaris".to_owned(), defs::polaris_2_9());
    let mut on_namespaces = policy("polaris", "root=*, namespace=n");
    on_namespaces.items = vec![item("namespace-list")];
    assert_eq!(codes_in(&state, &put(on_namespaces.clone())), [RESOURCE_GAP]);
    on_namespaces.resources = ResourceMap::new();
    assert_eq!(codes_in(&state, &put(on_namespaces)), [POLICY_VALUES_MISSING]);
}

#[test]
fn values_must_be_as_their_level_demands() {
    let mut state = state();
    let def = state.service_defs.get_mut("hive").unwrap();
    def.resources.iter_mut().find(|l| l.name == "database").unwrap().validation_reg_ex =
        Some("[a-z]+".to_owned());
    let change = put(policy("h", "database=abc|A1"));
    let found = super::change(&state, &change, &checks());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].subfield.as_deref()), (POLICY_VALUE_INVALID, Some("database")));
}

#[test]
fn only_an_admin_writes_what_excludes() {
    let checks = Checks { by: By::Delegate, ..checks() };
    let found = super::change(&state(), &put(policy("h", "database=!d")), &checks);
    assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), [POLICY_EXCLUDES_NEEDS_ADMIN]);
}

#[test]
fn items_of_policies() {
    let with = |change: fn(&mut Item), expected: &[u32]| {
        check(hive(|p| change(&mut p.items[0])), expected);
    };
    with(|i| i.accesses[0].kind = "SELECT".to_owned(), &[]);
    with(|i| i.accesses[0].kind = "_READ".to_owned(), &[]);
    with(|i| i.accesses[0].kind = "fly".to_owned(), &[POLICY_ACCESS_UNKNOWN]);
    with(|i| i.accesses[0].kind = " ".to_owned(), &[POLICY_FIELD_MISSING]);
    with(|i| i.accesses[0].is_allowed = false, &[POLICY_ACCESS_DENIED]);
    with(|i| i.accesses.clear(), &[POLICY_FIELD_MISSING]);
    with(
        |i| {
            i.accesses.clear();
            i.delegate_admin = true;
        },
        &[],
    );
    with(|i| i.users.clear(), &[POLICY_PRINCIPALS_MISSING]);
    with(|i| i.users.push(String::new()), &[POLICY_USER_EMPTY]);
    with(|i| i.groups.push(String::new()), &[POLICY_GROUP_EMPTY]);
    with(|i| i.roles.push(" ".to_owned()), &[POLICY_ROLE_EMPTY]);
    with(
        |i| i.conditions.push(PolicyCondition { kind: "moon".to_owned(), values: vec!["full".to_owned()] }),
        &[CONDITION_UNKNOWN],
    );
    let mut state = state();
    let mut hours = defs::hive().conditions[0].clone();
    hours.name = "hours".to_owned();
    hours.evaluator = "a.b.RangerValidityScheduleConditionEvaluator".to_owned();
    state.service_defs.get_mut("hive").unwrap().conditions.push(hours);
    let at = |text: &str| PolicyCondition { kind: "hours".to_owned(), values: vec![text.to_owned()] };
    let change = put(hive(|p| p.conditions = vec![at("whenever")]));
    assert_eq!(codes_in(&state, &change), [CONDITION_INVALID]);
    check(
        hive(|p| {
            p.items.clear();
            p.is_audit_enabled = false;
        }),
        &[POLICY_ITEMS_MISSING],
    );
    check(hive(|p| p.items.clear()), &[]);
    check(
        hive(|p| {
            p.is_deny_all_else = true;
            p.deny_items = vec![item("select")];
        }),
        &[POLICY_DENY_WITH_DENY_ALL_ELSE],
    );
}

#[test]
fn masks_and_filters() {
    let masked = |mask: &str, access: &str| {
        hive(|p| {
            p.kind = PolicyKind::Mask;
            p.items.clear();
            let mask = MaskInfo { mask_type: mask.to_owned(), ..MaskInfo::default() };
            p.mask_items = vec![MaskItem { item: item(access), mask }];
        })
    };
    check(masked("MASK_NULL", "select"), &[]);
    check(masked("MASK_NULL", "update"), &[POLICY_ACCESS_UNKNOWN]);
    check(masked("", "select"), &[POLICY_MASK_TYPE_MISSING]);
    check(masked("MASK_MOON", "select"), &[MASK_TYPE_UNKNOWN]);
    let filtered = |on: &str, filter: &str| {
        hive(|p| {
            p.kind = PolicyKind::RowFilter;
            p.items.clear();
            p.resources = resources(on);
            p.filter_items = vec![FilterItem { item: item("select"), filter_expr: filter.to_owned() }];
        })
    };
    check(filtered("database=d, table=t", "a = 1"), &[]);
    check(filtered("database=d, table=t, column=c", "a = 1"), &[POLICY_NO_HIERARCHY_SINGLE]);
    check(filtered("database=d, table=t", "a = ${{USER.x"), &[SCRIPT_INVALID]);
    let mut audit = hive(|_| {});
    audit.kind = PolicyKind::Audit;
    check(audit, &[POLICY_NO_HIERARCHY]);
}

#[test]
fn what_does_nothing_is_a_warning() {
    let mut state = state();
    let switch = ("enableDenyAndExceptionsInPolicies".to_owned(), "false".to_owned());
    state.service_defs.get_mut("hive").unwrap().options.extend([switch]);
    let change = put(hive(|p| p.deny_items = vec![item("select")]));
    let found = super::change(&state, &change, &checks());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].severity), (DENY_SWITCHED_OFF, Severity::Warning));
    let found = super::change(
        &state,
        &put(hive(|p| p.filter_items = vec![FilterItem { item: item("select"), ..FilterItem::default() }])),
        &checks(),
    );
    assert_eq!((found[0].code, found[0].severity), (ITEMS_OF_OTHER_KIND, Severity::Warning));
}

#[test]
fn scripts_are_shown_to_the_engine() {
    let refuse = |script: &str| if script.contains("bad") { Err("no".to_owned()) } else { Ok(()) };
    let checks = Checks { scripts: Some(&refuse), ..checks() };
    let mut on_tag = policy("tags", "tag=PII");
    on_tag.items = vec![item("hive:select")];
    let condition =
        |script: &str| PolicyCondition { kind: "expression".to_owned(), values: vec![script.to_owned()] };
    on_tag.conditions = vec![condition("good")];
    on_tag.items[0].conditions = vec![condition("bad")];
    let found = super::change(&state(), &put(on_tag), &checks);
    assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), [SCRIPT_INVALID]);
    assert!(found[0].reason.contains("does not parse: no"));
}

#[test]
fn schedules() {
    let schedule = |start: &str, end: &str| ValiditySchedule {
        start_time: Some(start.to_owned()),
        end_time: Some(end.to_owned()),
        ..ValiditySchedule::default()
    };
    check(hive(|p| p.validity = vec![schedule("2026/01/01 00:00:00", "2027/01/01 00:00:00")]), &[]);
    let broken = [schedule("2027/01/01 00:00:00", "2026/01/01 00:00:00"), schedule("soon", "later")];
    check(hive(|p| p.validity = broken.to_vec()), &[POLICY_SCHEDULE_INVALID; 3]);
}

#[test]
fn names_and_resources_are_taken_once() {
    let mut before = state();
    let old = hive(|p| {
        p.id = PolicyId(800);
        p.name = "Old".to_owned();
        p.resources = resources("database=a|b");
    });
    before.policies.insert(old.id, old);
    let clash = |change: fn(&mut Policy), expected: &[u32]| {
        let mut new = hive(|p| p.resources = resources("database=b|a"));
        change(&mut new);
        assert_eq!(codes_in(&before, &put(new.clone())), expected);
        // The same, found among many.
        let many = (0..20).map(|n| Policy {
            id: PolicyId(1000 + n),
            name: format!("other {n}"),
            resources: resources(&format!("database=d{n}")),
            ..hive(|_| {})
        });
        let change = Change { put_policies: many.chain([new]).collect(), ..Change::default() };
        assert_eq!(codes_in(&before, &change), expected);
    };
    clash(|_| {}, &[POLICY_DUPLICATE]);
    clash(|p| p.name = "OLD".to_owned(), &[POLICY_NAME_TAKEN, POLICY_DUPLICATE]);
    clash(|p| p.is_enabled = false, &[]);
    clash(|p| p.priority = Priority::Override, &[]);
    clash(|p| p.resources = resources("database=a"), &[]);
    clash(|p| p.options = BTreeMap::from([(ORIGIN.to_owned(), "grant".to_owned())]), &[]);
    clash(|p| p.id = PolicyId(800), &[]);
}

#[test]
fn all_faults_are_told_at_once_in_rangers_words() {
    let change = put(hive(|p| {
        p.resources = resources("database=+d");
        p.items[0].users.clear();
        p.items[0].accesses[0].kind = "fly".to_owned();
    }));
    let found = super::change(&state(), &change, &checks());
    let codes: Vec<_> = found.iter().map(|fault| fault.code).collect();
    assert_eq!(codes, [POLICY_RECURSIVE_UNSUPPORTED, POLICY_ACCESS_UNKNOWN, POLICY_PRINCIPALS_MISSING]);
    assert_eq!(
        found[2].ranger_text(2),
        "(2) Validation failure: error code[3020], reason[an item names no users, groups or roles], \
         field[policy item users/user-groups/roles], subfield[null], type[missing] "
    );
    assert_eq!(found[1].to_string(), "policy `p`: `hive` has no access type `fly` for such an item");
}

fn def_codes(change: impl FnOnce(&mut ServiceDef)) -> Vec<u32> {
    let mut def = defs::hive();
    def.name = "mine".to_owned();
    def.id = 0;
    change(&mut def);
    codes_in(&state(), &Change { put_service_defs: vec![def], ..Change::default() })
}

#[test]
fn definitions() {
    let level = |def: &mut ServiceDef, name: &str, change: fn(&mut crate::model::ResourceDef)| {
        change(def.resources.iter_mut().find(|level| level.name == name).unwrap());
    };
    assert_eq!(def_codes(|_| {}), []);
    assert_eq!(def_codes(|d| d.name = String::new()), [DEF_NAME_MISSING]);
    assert_eq!(def_codes(|d| d.name = "HIVE".to_owned()), [DEF_NAME_TAKEN]);
    assert_eq!(def_codes(|d| d.id = 3), [NUMBER_TAKEN]);
    assert_eq!(
        def_codes(|d| d.access_types[0].implied_grants = vec!["fly".to_owned(), "select".to_owned()]),
        [DEF_IMPLIED_UNKNOWN, DEF_IMPLIES_ITSELF]
    );
    assert_eq!(def_codes(|d| d.conditions[0].evaluator.clear()), [DEF_EVALUATOR_MISSING]);
    assert_eq!(def_codes(|d| level(d, "url", |l| l.name = "URL".to_owned())), [DEF_LEVEL_NAME_INVALID]);
    assert_eq!(def_codes(|d| level(d, "udf", |l| l.level = 10)), [DEF_LEVELS_INVALID]);
    assert_eq!(def_codes(|d| level(d, "udf", |l| l.parent = Some("x".to_owned()))), [DEF_GRAPH_INVALID]);
    assert_eq!(def_codes(|d| level(d, "udf", |l| l.is_valid_leaf = Some(false))), [DEF_GRAPH_INVALID]);
    assert_eq!(
        def_codes(|d| level(d, "url", |l| l.validation_reg_ex = Some("(".to_owned()))),
        [REGEX_INVALID]
    );
    assert_eq!(def_codes(|d| level(d, "table", |l| l.is_mandatory = false)), [DEF_MANDATORY_INVALID]);
    let circle = def_codes(|d| level(d, "database", |l| l.parent = Some("table".to_owned())));
    assert!(circle.contains(&DEF_GRAPH_INVALID), "{circle:?}");
    assert_eq!(def_codes(|d| d.mask_access_types = vec!["fly".to_owned()]), [REFERENCE_UNKNOWN]);

    let config = |kind: &str, sub_type: &str, default: &str| ConfigDef {
        name: "c".to_owned(),
        kind: kind.to_owned(),
        sub_type: sub_type.to_owned(),
        default_value: Some(default.to_owned()),
        ..ConfigDef::default()
    };
    let of = |elements: &[&str], default_index| EnumDef {
        name: "e".to_owned(),
        elements: elements.iter().map(|name| ((*name).to_owned(), String::new())).collect(),
        default_index,
    };
    let configs = |configs: Vec<ConfigDef>, enums: Vec<EnumDef>| {
        def_codes(|d| {
            d.configs = configs;
            d.enums = enums;
        })
    };
    assert_eq!(configs(vec![config("enum", "e", "a")], vec![of(&["a", "b"], 1)]), []);
    assert_eq!(configs(vec![config("enum", "x", "a")], vec![]), [DEF_CONFIG_ENUM_UNKNOWN]);
    assert_eq!(configs(vec![config("enum", "e", "c")], vec![of(&["a"], 0)]), [DEF_CONFIG_DEFAULT_INVALID]);
    assert_eq!(configs(vec![config("", "", "")], vec![]), [DEF_CONFIG_TYPE_MISSING]);
    assert_eq!(configs(vec![config("moon", "", "")], vec![]), [DEF_CONFIG_TYPE_UNKNOWN]);
    assert_eq!(configs(vec![], vec![of(&[], 0)]), [DEF_ENUM_EMPTY]);
    assert_eq!(configs(vec![], vec![of(&["a"], 1)]), [DEF_ENUM_DEFAULT_INVALID]);
}

#[test]
fn services() {
    let codes = |change: fn(&mut Service)| {
        let mut service = Service {
            name: "new one".to_owned(),
            service_def: "hive".to_owned(),
            tag_service: Some("tags".to_owned()),
            ..Service::default()
        };
        change(&mut service);
        let mut before = state();
        let hdfs = before.service_defs.get_mut("hdfs").unwrap();
        let must = |name: &str| ConfigDef {
            name: name.to_owned(),
            kind: "string".to_owned(),
            is_mandatory: true,
            ..ConfigDef::default()
        };
        hdfs.configs = vec![must("username"), must("password")];
        codes_in(&before, &Change { put_services: vec![service], ..Change::default() })
    };
    assert_eq!(codes(|_| {}), []);
    assert_eq!(codes(|s| s.name = String::new()), [SERVICE_NAME_MISSING]);
    assert_eq!(codes(|s| s.name = "a/b".to_owned()), [SERVICE_NAME_INVALID]);
    assert_eq!(codes(|s| s.name = "QUERY".to_owned()), [SERVICE_NAME_TAKEN]);
    assert_eq!(codes(|s| s.service_def = String::new()), [SERVICE_DEF_MISSING]);
    assert_eq!(codes(|s| s.service_def = "moon".to_owned()), [SERVICE_DEF_UNKNOWN]);
    assert_eq!(codes(|s| s.service_def = "hdfs".to_owned()), [SERVICE_CONFIG_MISSING]);
    assert_eq!(codes(|s| s.tag_service = Some("h".to_owned())), [REFERENCE_UNKNOWN]);
    assert_eq!(codes(|s| s.tag_service = Some("moon".to_owned())), [REFERENCE_UNKNOWN]);
}

fn zone(name: &str, service: &str, on: &[&str]) -> Zone {
    let one = |text: &&str| resources(text).into_iter().map(|(level, v)| (level, v.values)).collect();
    Zone {
        name: name.to_owned(),
        services: BTreeMap::from([(service.to_owned(), on.iter().map(one).collect())]),
        admin_users: std::iter::once("ann".to_owned()).collect(),
        audit_users: std::iter::once("ann".to_owned()).collect(),
        ..Zone::default()
    }
}

#[test]
fn zones() {
    let mut before = state();
    let old = zone("old", "h", &["database=sales_*", "database=hr, table=pay"]);
    before.zones.insert(old.name.clone(), old);
    let check = |zone: Zone, expected: &[u32]| {
        let found = super::change(&before, &Change { put_zones: vec![zone], ..Change::default() }, &checks());
        assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), expected, "{found:#?}");
    };
    let on = |on: &str, expected: &[u32]| check(zone("new", "h", &[on]), expected);
    on("database=fin", &[]);
    on("database=sales_eu", &[ZONE_CONFLICT]);
    on("database=s*", &[ZONE_CONFLICT]);
    on("database=hr, table=*", &[ZONE_CONFLICT]);
    on("database=hr, table=leave", &[]);
    on("table=t", &[ZONE_HIERARCHY_INVALID]);
    on("database=*, table=*", &[ZONE_ALL_WILDCARDS, ZONE_CONFLICT]);
    check(zone("new", "h", &[]), &[ZONE_RESOURCES_MISSING]);
    check(zone("new", "moon", &["database=x"]), &[ZONE_SERVICE_UNKNOWN]);
    check(zone("new", "tags", &["tag=x"]), &[ZONE_TAG_SERVICE_RESOURCES]);
    check(zone(" ", "h", &["database=x"]), &[ZONE_FIELD_MISSING]);
    check(zone("OLD", "h", &["database=x"]), &[ZONE_NAME_TAKEN]);
    let bare = Zone { name: "new".to_owned(), ..Zone::default() };
    check(bare, &[ZONE_PRINCIPALS_MISSING, ZONE_PRINCIPALS_MISSING, ZONE_SERVICES_MISSING]);
    let mut tagged = zone("new", "h", &["database=x"]);
    tagged.tag_services.extend(["tags".to_owned(), "h".to_owned(), "moon".to_owned()]);
    check(tagged, &[ZONE_SERVICE_TYPE_INVALID, ZONE_SERVICE_UNKNOWN]);
    // A zone does not stand in its own way.
    check(zone("old", "h", &["database=sales_eu"]), &[]);
}

fn role(name: &str, roles: &[&str]) -> Role {
    let member = |name: &&str| Member { name: (*name).to_owned(), is_admin: false };
    Role {
        name: name.to_owned(),
        users: vec![member(&"ann")],
        roles: roles.iter().map(member).collect(),
        ..Role::default()
    }
}

fn put_roles(roles: Vec<Role>) -> Vec<(u32, Severity)> {
    let change = Change { put_roles: roles, ..Change::default() };
    super::change(&state(), &change, &checks()).iter().map(|f| (f.code, f.severity)).collect()
}

#[test]
fn roles() {
    let error = |code| (code, Severity::Error);
    assert_eq!(put_roles(vec![role("a", &["b"]), role("b", &[])]), []);
    assert_eq!(put_roles(vec![role("a", &["a"])]), [error(ROLE_RECURSION)]);
    assert_eq!(
        put_roles(vec![role("a", &["b"]), role("b", &["c"]), role("c", &["a"])]),
        [error(ROLE_RECURSION); 3]
    );
    assert_eq!(put_roles(vec![role("", &[])]), [error(ROLE_NAME_MISSING)]);
    assert_eq!(put_roles(vec![role("ADMIN", &[])]), [error(ROLE_NAME_TAKEN)]);
    assert_eq!(put_roles(vec![role("a", &["moon"])]), [(REFERENCE_UNKNOWN, Severity::Warning)]);
    let empty = Role { users: Vec::new(), ..role("a", &[]) };
    assert_eq!(put_roles(vec![empty]), [(ROLE_EMPTY, Severity::Warning)]);
}

#[test]
fn roles_nest_as_deep_as_the_limit_says() {
    let chain = |n: usize| -> Vec<Role> {
        (1..=n)
            .map(|at| {
                let next = format!("r{}", at + 1);
                role(&format!("r{at}"), if at < n { vec![next.as_str()] } else { vec![] }.as_slice())
            })
            .collect()
    };
    let max = crate::limits::ROLE_DEPTH_MAX.max;
    assert_eq!(put_roles(chain(max)), []);
    assert_eq!(put_roles(chain(max + 1)), [(LIMIT_REACHED, Severity::Error)]);
}

#[test]
fn tags() {
    let def = TagDef { name: "PII".to_owned(), ..TagDef::default() };
    let tag = Tag { id: TagId(1), kind: "PII".to_owned(), ..Tag::default() };
    let resource = TaggedResource {
        id: TaggedResourceId(1),
        service: "h".to_owned(),
        resource: resources("database=d, table=t"),
        tags: vec![TagId(1)],
        ..TaggedResource::default()
    };
    let whole = Change {
        put_tag_defs: vec![def],
        put_tags: vec![tag],
        put_tagged_resources: vec![resource],
        ..Change::default()
    };
    let check = |change: fn(&mut Change), expected: &[u32]| {
        let mut whole = whole.clone();
        change(&mut whole);
        assert_eq!(codes_in(&state(), &whole), expected);
    };
    check(|_| {}, &[]);
    check(|c| c.put_tag_defs.clear(), &[REFERENCE_UNKNOWN]);
    check(|c| c.put_tag_defs[0].name.clear(), &[NAME_INVALID, REFERENCE_UNKNOWN]);
    check(|c| c.put_tag_defs[0].attributes = vec![(String::new(), String::new())], &[NAME_INVALID]);
    check(|c| c.put_tags.clear(), &[REFERENCE_UNKNOWN]);
    check(|c| c.put_tags[0].validity = vec![ValiditySchedule::default()], &[POLICY_SCHEDULE_INVALID]);
    check(|c| c.put_tagged_resources[0].service = "moon".to_owned(), &[POLICY_SERVICE_UNKNOWN]);
    check(|c| c.put_tagged_resources[0].resource = resources("table=t"), &[POLICY_MANDATORY_MISSING]);
}

/// The name of the one limit that a change reaches.
fn limit_of(change: Change) -> &'static str {
    let found = super::change(&state(), &change, &checks());
    let limits: Vec<_> = found.iter().filter_map(|fault| fault.limit).collect();
    assert_eq!(limits.len(), 1, "{found:#?}");
    assert!(found.iter().any(|fault| fault.code == LIMIT_REACHED && fault.reason.contains(limits[0].name)));
    limits[0].name
}

#[test]
fn each_limit_is_kept_and_told_by_name() {
    use crate::limits::*;
    let of = |change: &dyn Fn(&mut Policy)| limit_of(put(hive(|p| change(p))));
    let texts = |limit: &Limit| -> Vec<String> { (0..=limit.max).map(|n| format!("x{n}")).collect() };
    let long = |limit: &Limit| "x".repeat(limit.max + 1);

    let items = |p: &mut Policy| p.items = vec![item("select"); ITEMS_PER_POLICY_MAX.max + 1];
    assert_eq!(of(&items), "ITEMS_PER_POLICY_MAX");
    assert_eq!(of(&|p| p.items[0].users = texts(&PRINCIPALS_PER_ITEM_MAX)), "PRINCIPALS_PER_ITEM_MAX");
    let accesses = |p: &mut Policy| {
        p.items[0].accesses = vec![Access::new("select"); ACCESSES_PER_ITEM_MAX.max + 1];
    };
    assert_eq!(of(&accesses), "ACCESSES_PER_ITEM_MAX");
    let values = |p: &mut Policy| {
        p.resources.get_mut("column").unwrap().values = texts(&VALUES_PER_RESOURCE_MAX);
    };
    assert_eq!(of(&values), "VALUES_PER_RESOURCE_MAX");
    let value = |p: &mut Policy| p.resources.get_mut("column").unwrap().values = vec![long(&VALUE_CHARS_MAX)];
    assert_eq!(of(&value), "VALUE_CHARS_MAX");
    let additional = |p: &mut Policy| {
        p.additional_resources = vec![resources("database=d"); ADDITIONAL_RESOURCES_MAX.max + 1];
    };
    assert_eq!(of(&additional), "ADDITIONAL_RESOURCES_MAX");
    let condition = |values: Vec<String>| PolicyCondition { kind: "ip-range".to_owned(), values };
    let conditions = |p: &mut Policy| p.conditions = vec![condition(vec![]); CONDITIONS_MAX.max + 1];
    assert_eq!(of(&conditions), "CONDITIONS_MAX");
    let condition_values = |p: &mut Policy| p.conditions = vec![condition(texts(&CONDITION_VALUES_MAX))];
    assert_eq!(of(&condition_values), "CONDITION_VALUES_MAX");
    let expression = |p: &mut Policy| {
        p.kind = PolicyKind::RowFilter;
        p.items.clear();
        p.resources = resources("database=d, table=t");
        p.filter_items = vec![FilterItem { item: item("select"), filter_expr: long(&SCRIPT_CHARS_MAX) }];
    };
    assert_eq!(of(&expression), "SCRIPT_CHARS_MAX");
    let schedule =
        ValiditySchedule { end_time: Some("2030/01/01 00:00:00".to_owned()), ..ValiditySchedule::default() };
    assert_eq!(of(&|p| p.validity = vec![schedule.clone(); SCHEDULES_MAX.max + 1]), "SCHEDULES_MAX");
    let recurrences = |p: &mut Policy| {
        let mut schedule = schedule.clone();
        schedule.recurrences = vec![Default::default(); RECURRENCES_PER_SCHEDULE_MAX.max + 1];
        p.validity = vec![schedule];
    };
    assert_eq!(of(&recurrences), "RECURRENCES_PER_SCHEDULE_MAX");
    assert_eq!(of(&|p| p.labels = texts(&LABELS_PER_POLICY_MAX)), "LABELS_PER_POLICY_MAX");
    assert_eq!(of(&|p| p.description = long(&DESCRIPTION_CHARS_MAX)), "DESCRIPTION_CHARS_MAX");
    assert_eq!(of(&|p| p.name = long(&NAME_CHARS_MAX)), "NAME_CHARS_MAX");

    let mut members = role("a", &[]);
    members.users = vec![members.users[0].clone(); MEMBERS_PER_ROLE_MAX.max + 1];
    assert_eq!(limit_of(Change { put_roles: vec![members], ..Change::default() }), "MEMBERS_PER_ROLE_MAX");
    let tag = |attributes: BTreeMap<String, String>| Change {
        put_tags: vec![Tag { attributes, ..Tag::default() }],
        ..Change::default()
    };
    let many = texts(&ATTRIBUTES_PER_TAG_MAX).into_iter().map(|name| (name, String::new())).collect();
    assert_eq!(limit_of(tag(many)), "ATTRIBUTES_PER_TAG_MAX");
    let large = BTreeMap::from([("a".to_owned(), long(&ATTRIBUTE_CHARS_MAX))]);
    assert_eq!(limit_of(tag(large)), "ATTRIBUTE_CHARS_MAX");
    let resource =
        TaggedResource { tags: vec![TagId(1); TAGS_PER_RESOURCE_MAX.max + 1], ..TaggedResource::default() };
    let change = Change { put_tagged_resources: vec![resource], ..Change::default() };
    assert_eq!(limit_of(change), "TAGS_PER_RESOURCE_MAX");
    let mut wide = defs::hive();
    let access = wide.access_types[0].clone();
    wide.access_types = vec![access; ACCESS_TYPES_PER_DEFINITION_MAX.max + 1];
    let change = Change { put_service_defs: vec![wide], ..Change::default() };
    assert_eq!(limit_of(change), "ACCESS_TYPES_PER_DEFINITION_MAX");
    let mut deep = defs::hive();
    let level = deep.resources[0].clone();
    deep.resources = vec![level; LEVELS_PER_DEFINITION_MAX.max + 1];
    let change = Change { put_service_defs: vec![deep], ..Change::default() };
    assert_eq!(limit_of(change), "LEVELS_PER_DEFINITION_MAX");
    let mut wide = zone("z", "h", &["database=x"]);
    let one = wide.services["h"][0].clone();
    wide.services.insert("h".to_owned(), vec![one; RESOURCES_PER_ZONE_MAX.max + 1]);
    let change = Change { put_zones: vec![wide], ..Change::default() };
    assert_eq!(limit_of(change), "RESOURCES_PER_ZONE_MAX");
    let zones = (0..=ZONES_MAX.max).map(|n| Zone { name: format!("z{n}"), ..Zone::default() }).collect();
    let many = Change { put_zones: zones, ..Change::default() };
    let before = state();
    let mut faults = Vec::new();
    view::check_totals(&view::View::new(&before, &many), &mut faults);
    assert_eq!(faults.iter().filter_map(|f| f.limit).map(|l| l.name).collect::<Vec<_>>(), ["ZONES_MAX"]);
}
