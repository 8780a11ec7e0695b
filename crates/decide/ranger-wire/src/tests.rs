//! Reading, writing and converting: what goes round comes back, and all faults are told.

mod defs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policy::model;
use serde_json::{Value, json};
use stdx::{Secret, Timestamp};

use crate::{GroupUsers, Policy, Role, Service, ServiceDef, User};

fn faults_of(policy: Value) -> Vec<String> {
    let read = Policy::from_value(policy).and_then(|policy| policy.to_model().map(|_| ()));
    match read {
        Ok(()) => Vec::new(),
        Err(error) => error.faults().iter().map(ToString::to_string).collect(),
    }
}

fn full_policy() -> model::Policy {
    let item = model::Item {
        accesses: vec![
            model::Access::new("select"),
            model::Access { kind: "update".to_owned(), is_allowed: false },
        ],
        users: vec!["alice".to_owned(), "{OWNER}".to_owned()],
        groups: vec!["public".to_owned()],
        roles: vec!["auditor".to_owned()],
        conditions: vec![model::PolicyCondition {
            kind: "ip-range".to_owned(),
            values: vec!["10.*".to_owned()],
        }],
        delegate_admin: true,
    };
    let mut policy = model::Policy::new("query", "mask of `ssn`", model::PolicyKind::Mask);
    policy.id = model::PolicyId(17);
    policy.guid = "5f3c".to_owned();
    policy.version = 4;
    policy.priority = model::Priority::Override;
    policy.is_enabled = false;
    policy.is_audit_enabled = false;
    policy.description = "ünïcode, \"quotes\"\nand lines".to_owned();
    policy.resources = BTreeMap::from([
        ("database".to_owned(), model::ResourceValues::one("sales")),
        (
            "table".to_owned(),
            model::ResourceValues {
                values: vec!["a*".to_owned(), "b".to_owned()],
                is_excludes: true,
                is_recursive: true,
            },
        ),
    ]);
    policy.additional_resources = vec![policy.resources.clone()];
    policy.conditions = item.conditions.clone();
    policy.items = vec![item.clone()];
    policy.deny_items = vec![item.clone(), model::Item::default()];
    policy.allow_exceptions = vec![item.clone()];
    policy.deny_exceptions = vec![item.clone()];
    policy.mask_items = vec![model::MaskItem {
        item: item.clone(),
        mask: model::MaskInfo {
            mask_type: "CUSTOM".to_owned(),
            condition_expr: Some("x > 1".to_owned()),
            value_expr: Some("upper({col})".to_owned()),
        },
    }];
    policy.filter_items = vec![
        model::FilterItem { item: item.clone(), filter_expr: "region = 'eu'".to_owned() },
        model::FilterItem { item, filter_expr: String::new() },
    ];
    policy.is_deny_all_else = true;
    policy.validity = vec![model::ValiditySchedule {
        start_time: Some("2026/01/01 00:00:00".to_owned()),
        end_time: None,
        time_zone: Some("Europe/Berlin".to_owned()),
        recurrences: vec![model::Recurrence {
            schedule: model::RecurrenceSchedule {
                minute: Some("0".to_owned()),
                hour: Some("8".to_owned()),
                day_of_week: Some("2-6".to_owned()),
                ..Default::default()
            },
            interval: model::RecurrenceInterval { days: 0, hours: 10, minutes: 30 },
        }],
    }];
    policy.labels = vec!["chm:ROLE:auditor:SELECT".to_owned()];
    policy.zone = Some("emea".to_owned());
    policy.options = BTreeMap::from([("sluice.table_uuid".to_owned(), "9d1f".to_owned())]);
    policy.created_by = "root".to_owned();
    policy.updated_by = "dana".to_owned();
    policy.created_at = Timestamp::from_millis(1_700_000_000_000);
    policy.updated_at = Timestamp::from_millis(1_700_000_000_001);
    policy
}

#[test]
fn every_field_of_a_policy_comes_back() {
    let policy = full_policy();
    let text = Policy::from_model(&policy).to_json().unwrap();
    assert_eq!(Policy::from_json(&text).unwrap().to_model().unwrap(), policy);
}

#[test]
fn every_field_of_a_definition_comes_back() {
    let def = ServiceDef::from_json(HIVE_LIKE).unwrap().to_model().unwrap();
    let text = ServiceDef::from_model(&def).to_json().unwrap();
    assert_eq!(ServiceDef::from_json(&text).unwrap().to_model().unwrap(), def);
}

#[test]
fn services_roles_groups_and_users_come_back() {
    let service = model::Service {
        id: 3,
        name: "query".to_owned(),
        service_def: "hive".to_owned(),
        tag_service: Some("tags".to_owned()),
        is_enabled: false,
        configs: BTreeMap::from([("ranger.plugin.audit.filters".to_owned(), "[]".to_owned())]),
        audit_filters: Vec::new(),
    };
    let text = Service::from_model(&service).to_json().unwrap();
    assert_eq!(Service::from_json(&text).unwrap().to_model().unwrap(), service);

    let member = |name: &str, is_admin| model::Member { name: name.to_owned(), is_admin };
    for is_external in [true, false] {
        let role = model::Role {
            id: 9,
            name: "auditor".to_owned(),
            description: "reads".to_owned(),
            is_external,
            users: vec![member("alice", true), member("bob", false)],
            groups: vec![member("staff", false)],
            roles: vec![member("lead", true)],
            options: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
            created_by: "root".to_owned(),
        };
        let text = Role::from_model(&role).to_json().unwrap();
        assert_eq!(Role::from_json(&text).unwrap().to_model().unwrap(), role);
    }

    let attributes = BTreeMap::from([("dept".to_owned(), "\"finance\"".to_owned())]);
    let group = model::Group {
        id: 1,
        name: "staff".to_owned(),
        users: vec!["alice".to_owned(), "bob".to_owned()],
        attributes: attributes.clone(),
    };
    let text = GroupUsers::from_model(&group).unwrap().to_json().unwrap();
    assert_eq!(GroupUsers::from_json(&text).unwrap().to_model().unwrap(), group);

    let credential = Some(Secret::new("SCRAM-SHA-256$4096:c2FsdA==$a:b"));
    let user = model::User { id: 2, name: "alice".to_owned(), credential: credential.clone(), attributes };
    let text = User::from_model(&user).unwrap().to_json().unwrap();
    assert!(!text.contains("SCRAM"), "a credential never stands in Ranger's JSON: {text}");
    assert_eq!(User::from_json(&text).unwrap().to_model(credential).unwrap(), user);
}

#[test]
fn output_leaves_out_the_empty_and_keeps_false_and_zero() {
    let mut policy = model::Policy::new("query", "p", model::PolicyKind::Access);
    policy.items = vec![model::Item { users: vec!["alice".to_owned()], ..Default::default() }];
    let text = Policy::from_model(&policy).to_json().unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        written,
        json!({
            "id": 0, "isEnabled": true, "createTime": 0, "updateTime": 0, "version": 1, "service": "query",
            "name": "p", "policyType": 0, "policyPriority": 0, "isAuditEnabled": true,
            "policyItems": [{"users": ["alice"], "delegateAdmin": false}],
            "isDenyAllElse": false
        })
    );
}

#[test]
fn missing_and_null_members_take_rangers_defaults() {
    let sparse = Policy::from_json(r#"{"service": "s"}"#).unwrap().to_model().unwrap();
    let nulls = json!({
        "service": "s", "id": null, "isEnabled": null, "isAuditEnabled": null, "policyType": null, "resources": null,
        "policyPriority": null, "policyItems": null, "validitySchedules": null, "options": {"a": null}, "zoneName": "",
        "dataMaskPolicyItems": null, "createTime": null, "isDenyAllElse": null
    });
    let nulls = Policy::from_value(nulls).unwrap().to_model().unwrap();
    assert_eq!(sparse, nulls);
    assert!(sparse.is_enabled && sparse.is_audit_enabled && !sparse.is_deny_all_else);
    assert_eq!((sparse.kind, sparse.priority), (model::PolicyKind::Access, model::Priority::Normal));

    let item =
        json!({"service": "s", "policyItems": [null, {"accesses": [{"type": "select", "isAllowed": null}]}]});
    let item = Policy::from_value(item).unwrap().to_model().unwrap();
    assert_eq!(item.items.len(), 1);
    assert!(item.items[0].accesses[0].is_allowed && !item.items[0].delegate_admin);
}

#[test]
fn scalars_are_read_as_leniently_as_jackson_reads_them() {
    let text = r#"{
        "service": 7, "id": "12", "isEnabled": "false", "isAuditEnabled": 1, "name": "old", "name": "new",
        "createTime": "20180801-19:30:00.000-0700", "updateTime": "20180801-19:30:00.000--0700",
        "unknown": {"x": [1]}
    }"#;
    let policy = Policy::from_json(text).unwrap().to_model().unwrap();
    assert_eq!((policy.service.as_str(), policy.id, policy.name.as_str()), ("7", model::PolicyId(12), "new"));
    assert!(!policy.is_enabled && policy.is_audit_enabled);
    assert_eq!(policy.created_at.millis(), 1_533_177_000_000);
    assert_eq!(policy.updated_at, policy.created_at);
}

#[test]
fn all_faults_are_told_with_their_places() {
    let shape = json!({
        "id": "x", "isEnabled": "maybe", "resources": {"table": null, "column": {"values": "a"}},
        "policyItems": [{"users": "alice"}, 3], "options": {"a": {"b": 1}}
    });
    assert_eq!(
        faults_of(shape),
        [
            "`id`: expected a whole number",
            "`isEnabled`: expected true or false",
            "`resources.table`: expected an object",
            "`resources.column.values`: expected a list",
            "`policyItems[0].users`: expected a list",
            "`policyItems[1]`: expected an object",
            "`options.a`: expected a text",
        ]
    );
    let meaning = json!({
        "id": -1, "policyType": 7, "policyPriority": 2, "policyItems": [{"accesses": [{"isAllowed": true}]}],
        "dataMaskPolicyItems": [{"users": ["bob"]}], "conditions": [{"values": ["x"]}]
    });
    assert_eq!(
        faults_of(meaning),
        [
            "`id`: must not be negative",
            "`service`: missing",
            "`policyType`: no policy type has the number `7`",
            "`policyPriority`: no priority has the number `2`",
            "`conditions[0].type`: missing",
            "`policyItems[0].accesses[0].type`: missing",
            "`dataMaskPolicyItems[0].dataMaskInfo.dataMaskType`: missing",
        ]
    );
}

#[test]
fn nulls_never_widen_a_resource() {
    let policy = json!({"service": "s", "resources": {"table": {"values": [null]}}});
    assert_eq!(faults_of(policy), ["`resources.table.values`: expected something other than nulls"]);
}

#[test]
fn mask_and_filter_resources_stay_differences() {
    let def = ServiceDef::from_json(HIVE_LIKE).unwrap().to_model().unwrap();
    let expected = model::ResourceDef {
        name: "table".to_owned(),
        matcher_options: BTreeMap::from([("wildCard".to_owned(), "false".to_owned())]),
        ..Default::default()
    };
    assert_eq!(def.mask_resources[1], expected);
    assert_eq!(def.resources[0].parent, None, "an empty parent is none");

    let text = ServiceDef::from_model(&def).to_json().unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        written["dataMaskDef"]["resources"][1],
        json!({"name": "table", "matcherOptions": {"wildCard": "false"}}),
        "what is not different is not written"
    );
}

#[test]
fn the_definitions_of_both_gates_come_back() {
    for def in policy::bootstrap::initial_state(&["lake"], "root", None).service_defs.values() {
        let text = ServiceDef::from_model(def).to_json().unwrap();
        assert_eq!(ServiceDef::from_json(&text).unwrap().to_model().unwrap(), *def);
    }
}

const HIVE_LIKE: &str = r#"{
    "id": 3, "name": "hive", "options": {"enableDenyAndExceptionsInPolicies": "true"},
    "resources": [
        {"name": "database", "level": 10, "parent": "", "mandatory": true, "excludesSupported": true, "isValidLeaf": true,
         "matcher": "RangerDefaultResourceMatcher", "matcherOptions": {"wildCard": true, "ignoreCase": true}},
        {"name": "table", "level": 20, "parent": "database", "mandatory": true, "accessTypeRestrictions": ["select"],
         "matcher": "RangerDefaultResourceMatcher", "matcherOptions": {"wildCard": true, "ignoreCase": true}}
    ],
    "accessTypes": [
        {"itemId": 1, "name": "select", "label": "Select", "category": "READ"},
        {"itemId": 2, "name": "all", "impliedGrants": ["select"]}
    ],
    "policyConditions": [{"name": "ip-range", "evaluator": "E", "evaluatorOptions": {"a": "b"}}],
    "dataMaskDef": {
        "maskTypes": [{"name": "MASK", "label": "Redact", "description": "x", "transformer": "mask({col})"}],
        "accessTypes": [{"name": "select"}],
        "resources": [{"name": "database"}, {"name": "table", "matcherOptions": {"wildCard": "false"}}]
    },
    "rowFilterDef": {"accessTypes": [{"name": "select"}], "resources": [{"name": "database"}]}
}"#;

/// The peers' own data, where this checkout has it beside it.
fn corpus() -> Option<PathBuf> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../../../shared/conformance/ranger");
    folder.is_dir().then_some(folder)
}

fn json_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            json_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "json") {
            found.push(path);
        }
    }
}

/// Takes policies and definitions wherever they stand in a document, by their shape.
fn gather(value: &Value, policies: &mut Vec<Value>, defs: &mut Vec<Value>) {
    match value {
        Value::Object(object) => {
            let has = |name: &str| object.contains_key(name);
            let has_items = ["policyItems", "denyPolicyItems", "dataMaskPolicyItems", "rowFilterPolicyItems"];
            if has("resources") && has_items.iter().any(|name| has(name)) {
                policies.push(value.clone());
            } else if has("name") && has("accessTypes") && value["resources"].is_array() {
                defs.push(value.clone());
            }
            object.values().for_each(|member| gather(member, policies, defs));
        }
        Value::Array(elements) => elements.iter().for_each(|element| gather(element, policies, defs)),
        _ => {}
    }
}

#[test]
fn rangers_own_policies_and_definitions_come_back() {
    let Some(folder) = corpus() else {
        println!("skipped: no conformance data beside this checkout");
        return;
    };
    let mut files = Vec::new();
    json_files(&folder, &mut files);
    let (mut n_policies, mut n_defs) = (0, 0);
    for file in files {
        let Ok(document) = serde_json::from_str::<Value>(&std::fs::read_to_string(&file).unwrap()) else {
            println!("passed over, since it is not strict JSON: {}", file.display());
            continue;
        };
        let (mut policies, mut defs) = (Vec::new(), Vec::new());
        gather(&document, &mut policies, &mut defs);
        for value in policies {
            let mut wire =
                Policy::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            wire.service.get_or_insert("s".to_owned());
            let read = wire.to_model().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let again = Policy::from_json(&Policy::from_model(&read).to_json().unwrap()).unwrap();
            assert_eq!(again.to_model().unwrap(), read, "{}", file.display());
            n_policies += 1;
        }
        for value in defs {
            let wire =
                ServiceDef::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let read = wire.to_model().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let again = ServiceDef::from_json(&ServiceDef::from_model(&read).to_json().unwrap()).unwrap();
            assert_eq!(again.to_model().unwrap(), read, "{}", file.display());
            n_defs += 1;
        }
    }
    assert!(n_policies > 0 && n_defs > 0);
    println!("{n_policies} policies, {n_defs} definitions");
}
