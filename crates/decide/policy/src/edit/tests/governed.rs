//! Zones, tags, services and definitions: who may change them, and what stands in the way.

use std::collections::BTreeMap;

use stdx::ErrorKind;

use super::World;
use crate::defs;
use crate::edit::{Edit, GovernedEdit, OtherTags, TagSpec, TagsEdit};
use crate::model::{ResourceMap, ResourceValues, Service, ServiceDef, TagDef, ValiditySchedule, Zone};

fn zone(name: &str, database: &str) -> Zone {
    let one = |name: &str| std::iter::once(name.to_owned()).collect();
    let resource = BTreeMap::from([("database".to_owned(), vec![database.to_owned()])]);
    Zone {
        name: name.to_owned(),
        services: BTreeMap::from([("query".to_owned(), vec![resource])]),
        admin_users: one("alice"),
        audit_roles: one("analyst"),
        ..Zone::default()
    }
}

fn put_zone(zone: Zone) -> Edit {
    Edit::Governed(GovernedEdit::PutZone(Box::new(zone)))
}

fn drop_zone(name: &str) -> Edit {
    Edit::Governed(GovernedEdit::DropZone { name: name.to_owned(), if_exists: false })
}

fn on(database: &str, table: &str) -> ResourceMap {
    BTreeMap::from([
        ("database".to_owned(), ResourceValues::one(database)),
        ("table".to_owned(), ResourceValues::one(table)),
    ])
}

fn define(name: &str) -> Edit {
    Edit::Governed(GovernedEdit::PutTagDef(TagDef { name: name.to_owned(), ..TagDef::default() }))
}

fn set(resource: ResourceMap, kinds: &[&str], others: OtherTags) -> Edit {
    let spec = |kind: &&str| TagSpec { kind: (*kind).to_owned(), ..TagSpec::default() };
    Edit::Governed(GovernedEdit::SetTags(TagsEdit {
        service: "query".to_owned(),
        resource,
        owner: None,
        tags: kinds.iter().map(spec).collect(),
        others,
    }))
}

fn unset(resource: ResourceMap, kinds: &[&str]) -> Edit {
    Edit::Governed(GovernedEdit::UnsetTags {
        service: "query".to_owned(),
        resource,
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
    })
}

/// Such as `orders: PII, SECRET`.
fn tagged(world: &World) -> Vec<String> {
    let state = world.snapshot.state();
    let told = |resource: &crate::model::TaggedResource| {
        let kinds: Vec<&str> = resource.tags.iter().map(|id| state.tags[id].kind.as_str()).collect();
        format!("{}: {}", resource.resource["table"].values[0], kinds.join(", "))
    };
    state.tagged_resources.values().map(told).collect()
}

#[test]
fn an_admin_puts_and_drops_zones() {
    let mut world = World::new();
    world.ok(put_zone(zone("emea", "sales_*")));
    world.ok(put_zone(zone("apac", "ap_*")));
    let ids: Vec<i64> = world.snapshot.state().zones.values().map(|zone| zone.id).collect();
    assert_eq!(ids, [2, 1]);
    world.refused("bob", put_zone(zone("x", "y")), ErrorKind::Denied, "permission denied to create zones");
    world.refused("alice", drop_zone("emea"), ErrorKind::Denied, "permission denied to drop zones");
    let clash = "zone `third`: the zone `emea` has `database=sales_eu` of `query` already";
    world.refused("carol", put_zone(zone("third", "sales_eu")), ErrorKind::Invalid, clash);
    world.refused("carol", drop_zone("third"), ErrorKind::ObjectNotFound, "no such zone `third`");
    world.ok(drop_zone("emea"));
    assert_eq!(world.snapshot.state().zones.len(), 1);
}

#[test]
fn who_administers_a_zone_cannot_take_more_into_it() {
    let mut world = World::new();
    world.ok(put_zone(zone("emea", "sales_*")));
    let mut described = zone("emea", "sales_*");
    described.description = "ours".to_owned();
    world.ok_as("alice", put_zone(described));
    assert_eq!(world.snapshot.state().zones["emea"].description, "ours");
    let more = put_zone(zone("emea", "s*"));
    world.refused("alice", more, ErrorKind::Denied, "permission denied to change what is in zone `emea`");
}

#[test]
fn tags_are_set_replaced_and_unset() {
    let mut world = World::new();
    for kind in ["PII", "SECRET"] {
        world.ok(define(kind));
    }
    let orders = || on("sales", "orders");
    world.ok(set(orders(), &["PII"], OtherTags::Stay));
    world.ok(set(orders(), &["SECRET"], OtherTags::Stay));
    assert_eq!(tagged(&world), ["orders: PII, SECRET"]);
    world.ok(set(orders(), &["PII"], OtherTags::Stay));
    assert_eq!(world.snapshot.state().tags.len(), 2, "a tag is not there twice");
    world.ok(set(orders(), &["PII"], OtherTags::Go));
    assert_eq!(tagged(&world), ["orders: PII"]);
    assert_eq!(world.snapshot.state().tags.len(), 1, "a tag that nothing carries is gone");
    world.ok(set(on("sales", "customers"), &["SECRET"], OtherTags::Stay));
    let used = "1 tags `PII` are on resources";
    let drop = Edit::Governed(GovernedEdit::DropTagDef { name: "PII".to_owned(), if_exists: false });
    world.refused("carol", drop.clone(), ErrorKind::Dependent, used);
    world.ok(unset(orders(), &[]));
    assert_eq!(tagged(&world), ["customers: SECRET"]);
    world.ok(drop);
    let missing = set(orders(), &["PII"], OtherTags::Stay);
    world.refused("carol", missing, ErrorKind::ObjectNotFound, "no such tag `PII`");
    let change = world.ok(unset(orders(), &["SECRET"]));
    assert_eq!(change.notices, ["the resource has no tags, skipped"]);
}

#[test]
fn tags_are_for_admins_and_for_those_of_the_zone() {
    let mut world = World::new();
    world.ok(define("PII"));
    world.ok(put_zone(zone("emea", "sales_*")));
    let denied = "permission denied to tag this resource";
    let inside = || set(on("sales_eu", "orders"), &["PII"], OtherTags::Stay);
    world.refused("bob", inside(), ErrorKind::Denied, denied);
    world.refused("alice", set(on("hr", "pay"), &["PII"], OtherTags::Stay), ErrorKind::Denied, denied);
    world.ok_as("alice", inside());
    assert_eq!(tagged(&world), ["orders: PII"]);
    world.refused("bob", unset(on("sales_eu", "orders"), &[]), ErrorKind::Denied, denied);
}

#[test]
fn what_a_tag_says_must_hold_together() {
    let mut world = World::new();
    world.ok(define("PII"));
    let broken = TagSpec {
        kind: "PII".to_owned(),
        validity: vec![ValiditySchedule { end_time: Some("soon".to_owned()), ..Default::default() }],
        ..TagSpec::default()
    };
    let edit = Edit::Governed(GovernedEdit::SetTags(TagsEdit {
        service: "query".to_owned(),
        resource: BTreeMap::from([("table".to_owned(), ResourceValues::one("orders"))]),
        owner: None,
        tags: vec![broken],
        others: OtherTags::Stay,
    }));
    let told = world.try_as("carol", edit).unwrap_err().to_string();
    assert!(told.contains("`soon` is not a time") && told.contains("must name all of"), "{told}");
}

#[test]
fn tag_policies_learn_what_a_new_definition_can_do() {
    let mut world = World::new();
    let def = ServiceDef { id: 0, name: "lake".to_owned(), ..defs::kafka() };
    let put = |def: ServiceDef| Edit::Governed(GovernedEdit::PutServiceDef(Box::new(def)));
    world.refused("bob", put(def.clone()), ErrorKind::Denied, "permission denied to write definitions");
    world.ok(put(def.clone()));
    let knows = |world: &World| {
        let tag = &world.snapshot.state().service_defs["tag"];
        tag.access_types.iter().any(|access| access.name == "lake:publish")
    };
    assert!(knows(&world));
    assert!(world.ok(put(def)).is_empty(), "the same again changes nothing");

    let service = Service {
        name: "topics".to_owned(),
        service_def: "lake".to_owned(),
        is_enabled: true,
        ..Service::default()
    };
    world.ok(Edit::Governed(GovernedEdit::PutService(Box::new(service.clone()))));
    let other = Service { service_def: "hive".to_owned(), ..service };
    let fixed = "the service `topics` has the definition `lake`, which cannot change";
    let other = Edit::Governed(GovernedEdit::PutService(Box::new(other)));
    world.refused("carol", other, ErrorKind::Invalid, fixed);
    let drop_def = Edit::Governed(GovernedEdit::DropServiceDef { name: "lake".to_owned(), if_exists: false });
    let used = "the definition `lake` is that of topics";
    world.refused("carol", drop_def.clone(), ErrorKind::Dependent, used);
    let drop =
        |name: &str| Edit::Governed(GovernedEdit::DropService { name: name.to_owned(), if_exists: false });
    world.ok(drop("topics"));
    world.ok(drop_def);
    assert!(!knows(&world));
    let told = world.try_as("carol", drop("query")).unwrap_err();
    assert_eq!(told.kind(), ErrorKind::Dependent, "{told}");
}

#[test]
fn definitions_and_services_are_validated() {
    let mut world = World::new();
    let mut def = ServiceDef { id: 0, name: "lake".to_owned(), ..defs::kafka() };
    def.resources[0].name = "Topic".to_owned();
    def.access_types[0].implied_grants = vec!["fly".to_owned()];
    let told = world
        .try_as("carol", Edit::Governed(GovernedEdit::PutServiceDef(Box::new(def))))
        .unwrap_err()
        .to_string();
    assert!(told.contains("not all in lower case") && told.contains("`fly`"), "{told}");
}
