//! Downloads as states, and the peers' own downloads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policy::model::{self, AccessResult, PolicyId, TagId, TaggedResourceId};
use serde_json::{Value, json};

use super::{Download, Downloaded, PolicyDelta, Roles, ServicePolicies, UserStore, state};
use crate::lenient::parse_lenient;
use crate::{ServiceTags, Tag, TagDef, TaggedResource, WireError, Zone};

fn hive() -> Value {
    json!({
        "name": "hive",
        "resources": [{"name": "database", "level": 10}, {"name": "table", "level": 20, "parent": "database"}],
        "accessTypes": [{"name": "select"}, {"name": "_ALL", "impliedGrants": ["select"]}],
        "markerAccessTypes": [{"name": "_READ", "impliedGrants": ["select"]}],
        "contextEnrichers": [{"name": "TagEnricher", "enricher": "E", "enricherOptions": {"a": "b"}}]
    })
}

fn policy(id: Option<i64>, name: &str) -> Value {
    json!({"id": id, "name": name, "resources": {"database": {"values": ["x"]}}})
}

fn downloaded(policies: Value) -> Result<Downloaded, WireError> {
    let policies = ServicePolicies::from_value(policies)?;
    state(&Download::new(&policies))
}

fn whole() -> Value {
    json!({
        "serviceName": "dev_hive", "serviceId": 4, "policyVersion": 12, "auditMode": "audit-all",
        "serviceDef": hive(),
        "policies": [policy(Some(1), "a"), policy(Some(1), "b"), policy(None, "c")],
        "serviceConfig": {
            "ranger.plugin.super.users": "root",
            "ranger.plugin.audit.filters":
                "[ {'accessResult': 'DENIED', 'isAudited': true}, {'accessResult': 'SOME', 'users': ['u'], }, ]"
        },
        "tagPolicies": {
            "serviceName": "dev_tag", "serviceId": 5, "auditMode": "audit-none",
            "policies": [policy(Some(2), "t"), policy(Some(1), "u")]
        },
        "securityZones": {
            "emea": {
                "resources": [{"database": ["eu_*"]}], "containsAssociatedTagService": true,
                "policies": [policy(Some(9), "z")]
            },
            "apac": {"zoneName": "apac", "resources": [{"database": ["ap"], "table": ["*"]}]}
        }
    })
}

#[test]
fn a_download_becomes_one_state() {
    let from = downloaded(whole()).unwrap();
    let state = &from.state;
    assert_eq!(state.version, model::Version(12));
    assert_eq!((from.service.as_str(), from.tag_service.as_deref()), ("dev_hive", Some("dev_tag")));
    assert_eq!(
        (from.audit_mode.as_deref(), from.tag_audit_mode.as_deref()),
        (Some("audit-all"), Some("audit-none"))
    );
    let service = &state.services["dev_hive"];
    assert_eq!((service.id, service.service_def.as_str()), (4, "hive"));
    assert_eq!(service.tag_service.as_deref(), Some("dev_tag"));
    assert_eq!(state.services["dev_tag"].service_def, "tag");
    let def = &state.service_defs["hive"];
    assert_eq!((def.marker_access_types.len(), def.enrichers.len()), (1, 1));

    let told: Vec<_> = state
        .policies
        .values()
        .map(|p| (p.id.0, p.service.as_str(), p.name.as_str(), p.zone.as_deref(), from.number(p.id)))
        .collect();
    assert_eq!(
        told,
        [
            (1, "dev_hive", "a", None, Some(1)),
            (2, "dev_tag", "t", None, Some(2)),
            (9, "dev_hive", "z", Some("emea"), Some(9)),
            (10, "dev_hive", "b", None, Some(1)),
            (11, "dev_hive", "c", None, None),
            (12, "dev_tag", "u", None, Some(1)),
        ]
    );
    assert_eq!(state.next_policy_id, 13);

    let zones: Vec<_> = state.zones.values().map(|z| (z.name.as_str(), z.tag_services.len())).collect();
    assert_eq!(zones, [("apac", 0), ("emea", 1)]);
    assert_eq!(state.zones["apac"].services["dev_hive"][0]["table"], ["*"]);
    assert!(policy::Snapshot::build(model::State::default()).is_ok());
}

#[test]
fn audit_filters_are_read_as_leniently_as_they_are_written() {
    let from = downloaded(whole()).unwrap();
    let filters = &from.state.services["dev_hive"].audit_filters;
    assert_eq!(filters.len(), 2);
    assert_eq!((filters[0].is_audited, filters[0].access_result), (Some(true), Some(AccessResult::Denied)));
    // A result that has no such name is none.
    assert_eq!((filters[1].is_audited, filters[1].access_result), (None, None));
    assert_eq!(filters[1].users, ["u"]);
    assert!(from.warnings.is_empty());

    let mut broken = whole();
    broken["serviceConfig"]["ranger.plugin.audit.filters"] = json!("[{'isAudited': ");
    let from = downloaded(broken).unwrap();
    assert!(from.state.services["dev_hive"].audit_filters.is_empty());
    let warned: Vec<_> = from.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(warned, ["serviceConfig.ranger.plugin.audit.filters"]);
}

#[test]
fn all_faults_of_a_download_are_told_with_their_places() {
    let faults = downloaded(json!({
        "policies": [{"policyType": 9}],
        "securityZones": {"z": {"policies": [{"dataMaskPolicyItems": [{}]}]}}
    }))
    .unwrap_err();
    let told: Vec<_> = faults.faults().iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(
        told,
        [
            "serviceName",
            "serviceDef",
            "policies[0].policyType",
            "securityZones.z.policies[0].dataMaskPolicyItems[0].dataMaskInfo.dataMaskType",
        ]
    );
}

fn changed(from: &mut Downloaded, deltas: Value) -> Result<(Vec<i64>, Vec<i64>), WireError> {
    let deltas: Vec<_> =
        deltas.as_array().unwrap().iter().map(|d| PolicyDelta::from_value(d.clone()).unwrap()).collect();
    let change = from.take(&deltas)?;
    let put = change.put_policies.iter().map(|policy| policy.id.0).collect();
    Ok((put, change.delete_policies.iter().map(|id| id.0).collect()))
}

#[test]
fn differences_find_their_policies_by_service_and_number() {
    let mut from = downloaded(whole()).unwrap();
    let of_tags = json!({"id": 1, "name": "u2", "serviceType": "tag"});
    let deltas = json!([
        {"changeType": 0, "policy": policy(Some(30), "new")},
        {"changeType": 1, "policy": of_tags},
        {"changeType": 2, "policy": {"id": 9, "serviceType": "hive", "zoneName": "emea"}},
        {"changeType": 2, "policy": {"id": 77}},
    ]);
    assert_eq!(changed(&mut from, deltas).unwrap(), (vec![12, 30], vec![9]));
    assert_eq!(from.state.policies[&PolicyId(12)].name, "u2");
    assert_eq!(from.state.policies[&PolicyId(12)].service, "dev_tag");
    assert!(!from.state.policies.contains_key(&PolicyId(9)));

    let before = from.clone();
    let refused = changed(&mut from, json!([{"changeType": 2, "policy": {"id": 30}}, {"changeType": 4}]));
    assert!(refused.unwrap_err().to_string().contains("downloaded again"));
    assert_eq!(from, before);
}

#[test]
fn a_policy_that_is_put_and_deleted_is_deleted() {
    let mut from = downloaded(whole()).unwrap();
    let deltas = json!([
        {"changeType": 0, "policy": policy(Some(30), "new")},
        {"changeType": 2, "policy": {"id": 30}},
    ]);
    assert_eq!(changed(&mut from, deltas).unwrap(), (vec![], vec![30]));
    let deltas = json!([
        {"changeType": 2, "policy": {"id": 30}},
        {"changeType": 0, "policy": policy(Some(30), "again")},
    ]);
    assert_eq!(changed(&mut from, deltas).unwrap(), (vec![30], vec![]));
}

#[test]
fn tags_roles_and_users_join_the_state() {
    let policies = ServicePolicies::from_value(whole()).unwrap();
    let tags = ServiceTags::from_value(json!({
        "serviceName": "other",
        "tagDefinitions": {"1": {"name": "PII", "attributeDefs": [{"name": "level", "type": "string"}]}},
        "tags": {"7": {"type": "PII", "attributes": {"level": 3}, "owner": 1}},
        "serviceResources": [
            {"id": 3, "resourceElements": {"database": {"values": ["x"]}}, "ownerUser": "ann"},
            {"resourceElements": {"database": {"values": ["y"]}}}
        ],
        "resourceToTagIds": {"3": [7, 8]}
    }))
    .unwrap();
    let roles = Roles::from_value(json!({"rangerRoles": [
        {"name": "r", "users": [{"name": "ann"}]},
        {"name": "r", "users": [{"name": "ann", "isAdmin": true}], "groups": [{"name": "g"}]}
    ]}))
    .unwrap();
    let users = UserStore::from_value(json!({
        "userAttrMapping": {"ann": {"dept": "x"}}, "groupAttrMapping": {"g": {"site": "eu"}},
        "userGroupMapping": {"ann": ["g", "h"], "bob": ["h"]}
    }))
    .unwrap();
    let download = Download {
        tags: Some(&tags),
        roles: Some(&roles),
        user_store: Some(&users),
        ..Download::new(&policies)
    };
    let from = state(&download).unwrap().state;
    assert_eq!(from.tag_defs["PII"].attributes, [("level".to_owned(), "string".to_owned())]);
    let tag = &from.tags[&TagId(7)];
    assert_eq!((tag.owner, tag.attributes["level"].as_str()), (model::TagOwner::Service, "3"));
    let resource = &from.tagged_resources[&TaggedResourceId(3)];
    assert_eq!((resource.service.as_str(), resource.owner.as_deref()), ("dev_hive", Some("ann")));
    assert_eq!(resource.tags, [TagId(7)]);
    assert_eq!(from.tagged_resources[&TaggedResourceId(4)].tags, []);
    let role = &from.roles["r"];
    assert_eq!((role.users.len(), role.users[0].is_admin, role.groups.len()), (1, true, 1));
    assert_eq!(from.users["ann"].attributes["dept"], "x");
    assert_eq!(from.groups["h"].users, ["ann", "bob"]);
    assert_eq!(from.groups["g"].attributes["site"], "eu");
}

fn comes_back(tag: &model::Tag) {
    let text = Tag::from_model(tag).to_json().unwrap();
    assert_eq!(&Tag::from_json(&text).unwrap().to_model().unwrap(), tag);
}

#[test]
fn zones_and_tags_come_back() {
    let set = |name: &str| std::iter::once(name.to_owned()).collect();
    let zone = model::Zone {
        id: 2,
        name: "emea".to_owned(),
        description: "x".to_owned(),
        services: BTreeMap::from([(
            "dev_hive".to_owned(),
            vec![BTreeMap::from([("database".to_owned(), vec!["a".to_owned(), "b*".to_owned()])])],
        )]),
        tag_services: set("t"),
        admin_users: set("u"),
        admin_groups: set("g"),
        admin_roles: set("r"),
        audit_users: set("au"),
        audit_groups: set("ag"),
        audit_roles: set("ar"),
    };
    let text = Zone::from_model(&zone).to_json().unwrap();
    assert_eq!(Zone::from_json(&text).unwrap().to_model().unwrap(), zone);

    let def = model::TagDef {
        id: 1,
        name: "PII".to_owned(),
        source: "Atlas".to_owned(),
        attributes: vec![("expiry".to_owned(), "datetime".to_owned())],
    };
    let text = TagDef::from_model(&def).to_json().unwrap();
    assert_eq!(TagDef::from_json(&text).unwrap().to_model().unwrap(), def);

    let start = Some("2026/01/01 00:00:00".to_owned());
    let mut tag = model::Tag {
        id: TagId(5),
        kind: "PII".to_owned(),
        owner: model::TagOwner::Service,
        attributes: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
        options: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
        validity: vec![model::ValiditySchedule { start_time: start, ..Default::default() }],
    };
    comes_back(&tag);
    tag.validity.clear();
    comes_back(&tag);

    let resource = model::TaggedResource {
        id: TaggedResourceId(8),
        guid: "g".to_owned(),
        service: "dev_hive".to_owned(),
        resource: BTreeMap::from([("database".to_owned(), model::ResourceValues::one("x"))]),
        owner: Some("ann".to_owned()),
        tags: vec![TagId(5), TagId(6)],
        options: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
    };
    let text = TaggedResource::from_model(&resource).to_json().unwrap();
    assert_eq!(TaggedResource::from_json(&text).unwrap().to_model().unwrap(), resource);
}

#[test]
fn the_validity_of_a_tag_stands_in_its_options_too() {
    let tag = |option: &str| {
        let tag = json!({"type": "PII", "options": {"TAG_VALIDITY_PERIODS": option}});
        Tag::from_value(tag).unwrap().to_model().unwrap()
    };
    let read =
        tag(r#"[{"startTime":"2026/01/01 00:00:00","endTime":"2026/02/01 00:00:00","timeZone":"UTC"}]"#);
    assert_eq!(read.validity[0].end_time.as_deref(), Some("2026/02/01 00:00:00"));
    comes_back(&read);
    assert_eq!(tag("{'endTime': '2026/02/01 00:00:00'}").validity.len(), 1);
    assert_eq!(tag("").validity, []);
    // What does not read must not mean *always*.
    assert_eq!(tag("nonsense").validity[0].start_time.as_deref(), Some("nonsense"));
}

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

#[derive(Default)]
struct Seen {
    policies: usize,
    tags: usize,
    roles: usize,
    users: usize,
}

/// Takes downloads wherever they stand in a document, by their shape.
fn check_all(value: &Value, file: &Path, seen: &mut Seen) {
    let told = |error: WireError| format!("{}: {error}", file.display());
    match value {
        Value::Object(object) => {
            let has = |name: &str| object.contains_key(name);
            if has("serviceName") && has("policies") && has("serviceDef") {
                let policies = ServicePolicies::from_value(value.clone()).map_err(told).unwrap();
                let again = ServicePolicies::from_json(&policies.to_json().unwrap()).unwrap();
                assert_eq!(again, policies, "{}", file.display());
                let from = state(&Download::new(&policies));
                // Fixtures that only test a client have a definition with nothing in it.
                if value["serviceDef"]["name"].is_null() {
                    assert!(from.is_err(), "{}", file.display());
                    return;
                }
                let from = from.map_err(told).unwrap();
                let n_listed = policies.policies.len()
                    + policies.tag_policies.as_ref().map_or(0, |tags| tags.policies.len())
                    + policies.security_zones.values().map(|zone| zone.policies.len()).sum::<usize>();
                assert_eq!(from.state.policies.len(), n_listed, "{}", file.display());
                seen.policies += 1;
            } else if has("serviceResources") && has("tags") {
                let tags = ServiceTags::from_value(value.clone()).map_err(told).unwrap();
                let again = ServiceTags::from_json(&tags.to_json().unwrap()).unwrap();
                assert_eq!(again, tags, "{}", file.display());
                let policies = ServicePolicies::from_value(whole()).unwrap();
                let from = Download { tags: Some(&tags), ..Download::new(&policies) };
                let from = state(&from).map_err(told).unwrap().state;
                assert_eq!(from.tagged_resources.len(), tags.service_resources.len());
                seen.tags += 1;
            } else if has("rangerRoles") {
                let roles = Roles::from_value(value.clone()).map_err(told).unwrap();
                assert_eq!(Roles::from_json(&roles.to_json().unwrap()).unwrap(), roles);
                seen.roles += 1;
            } else if has("userStoreVersion") {
                let users = UserStore::from_value(value.clone()).map_err(told).unwrap();
                assert_eq!(UserStore::from_json(&users.to_json().unwrap()).unwrap(), users);
                seen.users += 1;
            }
            object.values().for_each(|member| check_all(member, file, seen));
        }
        Value::Array(elements) => elements.iter().for_each(|element| check_all(element, file, seen)),
        _ => {}
    }
}

#[test]
fn rangers_own_downloads_come_back() {
    let Some(folder) = corpus() else {
        println!("skipped: no conformance data beside this checkout");
        return;
    };
    let mut files = Vec::new();
    json_files(&folder, &mut files);
    let mut seen = Seen::default();
    for file in files {
        let document = parse_lenient(&std::fs::read_to_string(&file).unwrap()).unwrap();
        check_all(&document, &file, &mut seen);
    }
    assert!(seen.policies > 0 && seen.tags > 0 && seen.roles > 0 && seen.users > 0);
    println!("{} policies, {} tags, {} roles, {} users", seen.policies, seen.tags, seen.roles, seen.users);
}
