//! The laws that every policy store keeps, as checks that any backend's tests can run.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use policy::edit::Change;
use policy::model::{
    Access, Group, Item, Member, Policy, PolicyId, PolicyKind, ResourceDef, ResourceValues, Role, Service,
    ServiceDef, State, Table, Tag, TagDef, TagId, TaggedResource, TaggedResourceId, User, ValiditySchedule,
    Version, Zone,
};
use stdx::{ErrorKind, Secret, Timestamp};

use crate::{Governed, GovernedKind, PolicyStore, StoreError};

type Checked = Result<(), Box<dyn Error>>;

/// Checks all laws, each on a store of its own that `open` makes from the given state.
pub async fn check<F, O>(open: F) -> Checked
where
    F: Fn(State) -> O,
    O: Future<Output = Result<Arc<dyn PolicyStore>, StoreError>>,
{
    begins_with_the_given_state(open(state()).await?).await?;
    commit_makes_the_change_current(open(state()).await?).await?;
    pinned_snapshots_do_not_change(open(state()).await?).await?;
    stale_version_is_a_conflict_and_changes_nothing(open(state()).await?).await?;
    change_of_nothing_keeps_the_version(open(state()).await?).await?;
    history_tells_every_version_oldest_first(open(state()).await?).await?;
    numbers_of_deleted_policies_are_never_used_again(open(state()).await?).await?;
    zones_tags_and_definitions_are_kept_with_their_history(open(state()).await?).await?;
    of_two_edits_at_once_one_wins(open(state()).await?).await?;
    secret_is_made_once(open(state()).await?).await
}

/// A small state of one policy, one role, one group and two users.
pub fn state() -> State {
    let level = |name: &str, level, parent: Option<&str>| ResourceDef {
        name: name.to_owned(),
        level,
        parent: parent.map(str::to_owned),
        is_mandatory: true,
        is_recursive_supported: false,
        is_excludes_supported: true,
        matcher: "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher".to_owned(),
        matcher_options: BTreeMap::from([("wildCard".to_owned(), "true".to_owned())]),
        is_valid_leaf: Some(true),
        ..ResourceDef::default()
    };
    let def = ServiceDef {
        id: 1,
        name: "hive".to_owned(),
        resources: vec![level("database", 10, None), level("table", 20, Some("database"))],
        access_types: vec![policy::model::AccessTypeDef { name: "select".to_owned(), ..Default::default() }],
        ..ServiceDef::default()
    };
    let service = Service {
        id: 1,
        name: "query".to_owned(),
        service_def: "hive".to_owned(),
        is_enabled: true,
        ..Service::default()
    };
    let role = Role {
        id: 1,
        name: "admin".to_owned(),
        is_external: true,
        users: vec![Member { name: "root".to_owned(), is_admin: true }],
        ..Role::default()
    };
    let group =
        Group { id: 1, name: "staff".to_owned(), users: vec!["alice".to_owned()], ..Group::default() };
    State {
        version: Version(1),
        service_defs: Table::from([("hive".to_owned(), def)]),
        services: Table::from([("query".to_owned(), service)]),
        policies: Table::from([(PolicyId(1), policy(1, "first", "orders"))]),
        roles: Table::from([("admin".to_owned(), role)]),
        groups: Table::from([("staff".to_owned(), group)]),
        users: Table::from([user(1, "root", Some("verifier")), user(2, "alice", None)]),
        next_policy_id: 2,
        ..State::default()
    }
}

/// An access policy of the `query` service on one table.
pub fn policy(id: i64, name: &str, table: &str) -> Policy {
    let mut policy = Policy::new("query", name, PolicyKind::Access);
    policy.id = PolicyId(id);
    policy.guid = format!("guid-{id}");
    policy.resources = BTreeMap::from([
        ("database".to_owned(), ResourceValues::one("sales")),
        ("table".to_owned(), ResourceValues::one(table)),
    ]);
    policy.items = vec![Item {
        accesses: vec![Access::new("select")],
        users: vec!["alice".to_owned()],
        ..Item::default()
    }];
    policy.created_by = "root".to_owned();
    policy.updated_by = "root".to_owned();
    policy.created_at = Timestamp::from_millis(1_000);
    policy.updated_at = Timestamp::from_millis(1_000);
    policy
}

fn user(id: i64, name: &str, credential: Option<&str>) -> (String, User) {
    let credential = credential.map(Secret::new);
    let attributes = BTreeMap::from([("dept".to_owned(), "finance".to_owned())]);
    (name.to_owned(), User { id, name: name.to_owned(), credential, attributes })
}

/// A change that puts one policy.
pub fn put(policy: Policy) -> Change {
    Change { put_policies: vec![policy], ..Change::default() }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

async fn begins_with_the_given_state(store: Arc<dyn PolicyStore>) -> Checked {
    assert_eq!(store.current().state(), &state());
    Ok(())
}

async fn commit_makes_the_change_current(store: Arc<dyn PolicyStore>) -> Checked {
    let (name, bob) = user(3, "bob", Some("another"));
    let change = Change {
        put_policies: vec![policy(2, "second", "customers")],
        delete_policies: vec![PolicyId(1)],
        put_roles: vec![Role { id: 2, name: "auditor".to_owned(), ..Role::default() }],
        delete_roles: vec!["admin".to_owned()],
        put_groups: vec![Group { id: 2, name: "ops".to_owned(), ..Group::default() }],
        delete_groups: vec!["staff".to_owned()],
        put_users: vec![bob.clone()],
        delete_users: vec!["alice".to_owned()],
        ..Change::default()
    };
    let version = store.commit(&change, Version(1), "root", at(2_000)).await?;
    assert_eq!(version, Version(2));

    let snapshot = store.current();
    let now = snapshot.state();
    assert_eq!(snapshot.version(), Version(2));
    assert_eq!(now.policies.keys().collect::<Vec<_>>(), [&PolicyId(2)]);
    assert_eq!(now.policies.get(&PolicyId(2)), Some(&policy(2, "second", "customers")));
    assert_eq!(now.roles.keys().collect::<Vec<_>>(), ["auditor"]);
    assert_eq!(now.groups.keys().collect::<Vec<_>>(), ["ops"]);
    assert_eq!(now.users.keys().collect::<Vec<_>>(), ["bob", "root"]);
    assert_eq!(now.users.get(&name), Some(&bob));
    assert_eq!(now.services, state().services);
    assert_eq!(now.service_defs, state().service_defs);
    Ok(())
}

async fn pinned_snapshots_do_not_change(store: Arc<dyn PolicyStore>) -> Checked {
    let pinned = store.current();
    store.commit(&put(policy(1, "renamed", "orders")), Version(1), "root", at(2_000)).await?;
    assert_eq!(pinned.state(), &state());
    assert_ne!(store.current().state(), pinned.state());
    Ok(())
}

async fn stale_version_is_a_conflict_and_changes_nothing(store: Arc<dyn PolicyStore>) -> Checked {
    store.commit(&put(policy(2, "second", "a")), Version(1), "root", at(2_000)).await?;
    let before = store.current();
    for expected in [Version(0), Version(1), Version(3)] {
        let refused = store.commit(&put(policy(3, "third", "b")), expected, "root", at(3_000)).await;
        let kind = refused.as_ref().err().map(StoreError::kind);
        assert_eq!(kind, Some(ErrorKind::Conflict), "{refused:?}");
    }
    assert_eq!(store.current().state(), before.state());
    assert!(store.history(PolicyId(3)).await?.is_empty());
    Ok(())
}

async fn change_of_nothing_keeps_the_version(store: Arc<dyn PolicyStore>) -> Checked {
    let same = put(policy(1, "first", "orders"));
    for nothing in [Change::default(), same] {
        let version = store.commit(&nothing, Version(1), "root", at(2_000)).await?;
        assert_eq!(version, Version(1));
    }
    assert_eq!(store.current().state(), &state());
    assert_eq!(store.history(PolicyId(1)).await?.len(), 1);
    Ok(())
}

async fn history_tells_every_version_oldest_first(store: Arc<dyn PolicyStore>) -> Checked {
    store.commit(&put(policy(1, "first", "orders_2")), Version(1), "dana", at(2_000)).await?;
    store.commit(&put(policy(2, "second", "x")), Version(2), "erin", at(3_000)).await?;
    let delete = Change { delete_policies: vec![PolicyId(1)], ..Change::default() };
    store.commit(&delete, Version(3), "frank", at(4_000)).await?;

    let told = store.history(PolicyId(1)).await?;
    let told: Vec<_> = told
        .iter()
        .map(|entry| (entry.version.0, entry.at.millis(), entry.by.as_str(), entry.policy.clone()))
        .collect();
    let expected = [
        (1, 1_000, "root", Some(policy(1, "first", "orders"))),
        (2, 2_000, "dana", Some(policy(1, "first", "orders_2"))),
        (4, 4_000, "frank", None),
    ];
    assert_eq!(told, expected);
    assert!(store.history(PolicyId(99)).await?.is_empty());
    Ok(())
}

async fn numbers_of_deleted_policies_are_never_used_again(store: Arc<dyn PolicyStore>) -> Checked {
    store.commit(&put(policy(7, "seventh", "x")), Version(1), "root", at(2_000)).await?;
    let next = store.current().state().next_policy_id;
    assert!(next > 7, "{next}");
    let delete = Change { delete_policies: vec![PolicyId(7)], ..Change::default() };
    store.commit(&delete, Version(2), "root", at(3_000)).await?;
    assert_eq!(store.current().state().next_policy_id, next);
    Ok(())
}

/// A zone, a tag on a table, and another service with a definition of its own.
pub fn put_governed() -> Change {
    let one = |name: &str| std::iter::once(name.to_owned()).collect();
    let on_sales = BTreeMap::from([("database".to_owned(), vec!["sales".to_owned()])]);
    let zone = Zone {
        id: 1,
        name: "emea".to_owned(),
        services: BTreeMap::from([("query".to_owned(), vec![on_sales])]),
        admin_users: one("alice"),
        audit_groups: one("staff"),
        ..Zone::default()
    };
    let end = Some("2030/01/01 00:00:00".to_owned());
    let tag = Tag {
        id: TagId(7),
        kind: "PII".to_owned(),
        attributes: BTreeMap::from([("level".to_owned(), "high".to_owned())]),
        validity: vec![ValiditySchedule { end_time: end, ..ValiditySchedule::default() }],
        ..Tag::default()
    };
    let resource = TaggedResource {
        id: TaggedResourceId(3),
        service: "query".to_owned(),
        resource: BTreeMap::from([
            ("database".to_owned(), ResourceValues::one("sales")),
            ("table".to_owned(), ResourceValues::one("orders")),
        ]),
        owner: Some("alice".to_owned()),
        tags: vec![TagId(7)],
        ..TaggedResource::default()
    };
    let mut def = state().service_defs.get("hive").cloned().unwrap_or_default();
    def.id = 2;
    def.name = "other".to_owned();
    let service = Service {
        id: 2,
        name: "second".to_owned(),
        service_def: "other".to_owned(),
        is_enabled: true,
        ..Service::default()
    };
    Change {
        put_zones: vec![zone],
        put_tag_defs: vec![TagDef { id: 1, name: "PII".to_owned(), ..TagDef::default() }],
        put_tags: vec![tag],
        put_tagged_resources: vec![resource],
        put_service_defs: vec![def],
        put_services: vec![service],
        ..Change::default()
    }
}

async fn zones_tags_and_definitions_are_kept_with_their_history(store: Arc<dyn PolicyStore>) -> Checked {
    let put = put_governed();
    store.commit(&put, Version(1), "dana", at(2_000)).await?;
    let current = store.current();
    let now = current.state();
    assert_eq!(now.zones.values().collect::<Vec<_>>(), put.put_zones.iter().collect::<Vec<_>>());
    assert_eq!(now.tag_defs.values().collect::<Vec<_>>(), put.put_tag_defs.iter().collect::<Vec<_>>());
    assert_eq!(now.tags.values().collect::<Vec<_>>(), put.put_tags.iter().collect::<Vec<_>>());
    let tagged: Vec<_> = now.tagged_resources.values().collect();
    assert_eq!(tagged, put.put_tagged_resources.iter().collect::<Vec<_>>());
    assert_eq!(now.service_defs.get("other"), put.put_service_defs.first());
    assert_eq!(now.services.get("second"), put.put_services.first());

    let mut zone = put.put_zones.first().cloned().unwrap_or_default();
    zone.description = "changed".to_owned();
    let change = Change { put_zones: vec![zone.clone()], ..Change::default() };
    store.commit(&change, Version(2), "erin", at(3_000)).await?;
    let delete = Change {
        delete_zones: vec!["emea".to_owned()],
        delete_tag_defs: vec!["PII".to_owned()],
        delete_tags: vec![TagId(7)],
        delete_tagged_resources: vec![TaggedResourceId(3)],
        delete_services: vec!["second".to_owned()],
        delete_service_defs: vec!["other".to_owned()],
        ..Change::default()
    };
    store.commit(&delete, Version(3), "frank", at(4_000)).await?;
    let begun = State { version: Version(4), ..state() };
    assert_eq!(store.current().state(), &begun);

    let told = |entries: Vec<crate::GovernedEntry>| -> Vec<_> {
        entries.into_iter().map(|e| (e.version.0, e.at.millis(), e.by, e.thing)).collect()
    };
    let entry = |version: i64, by: &str, thing| (version, version * 1_000, by.to_owned(), thing);
    let zones = told(store.governed_history(GovernedKind::Zone, "emea").await?);
    let first = put.put_zones.first().cloned().map(Governed::Zone);
    let expected =
        [entry(2, "dana", first), entry(3, "erin", Some(Governed::Zone(zone))), entry(4, "frank", None)];
    assert_eq!(zones, expected);
    for (kind, key, thing) in [
        (GovernedKind::TagDef, "PII", put.put_tag_defs.first().cloned().map(Governed::TagDef)),
        (GovernedKind::Tag, "7", put.put_tags.first().cloned().map(Governed::Tag)),
        (
            GovernedKind::TaggedResource,
            "3",
            put.put_tagged_resources.first().cloned().map(Governed::TaggedResource),
        ),
        (GovernedKind::Service, "second", put.put_services.first().cloned().map(Governed::Service)),
        (GovernedKind::ServiceDef, "other", put.put_service_defs.first().cloned().map(Governed::ServiceDef)),
    ] {
        let told = told(store.governed_history(kind, key).await?);
        assert_eq!(told, [entry(2, "dana", thing), entry(4, "frank", None)], "{kind:?}");
    }
    let begun = told(store.governed_history(GovernedKind::ServiceDef, "hive").await?);
    assert_eq!(begun.iter().map(|(version, ..)| *version).collect::<Vec<_>>(), [1]);
    Ok(())
}

async fn of_two_edits_at_once_one_wins(store: Arc<dyn PolicyStore>) -> Checked {
    let commit = |id: i64| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            store.commit(&put(policy(id, &format!("p{id}"), "x")), Version(1), "root", at(2_000)).await
        })
    };
    let (one, other) = (commit(2), commit(3));
    let results = [one.await?, other.await?];
    let n_won = results.iter().filter(|result| matches!(result, Ok(Version(2)))).count();
    let n_lost = results.iter().filter(|result| matches!(result, Err(StoreError::Stale { .. }))).count();
    assert_eq!((n_won, n_lost), (1, 1), "{results:?}");
    assert_eq!(store.current().state().policies.len(), 2);
    Ok(())
}

async fn secret_is_made_once(store: Arc<dyn PolicyStore>) -> Checked {
    let first = store.secret("mask-key", &|name| Secret::new(format!("{name}-1"))).await?;
    let again = store.secret("mask-key", &|name| Secret::new(format!("{name}-2"))).await?;
    let other = store.secret("other", &|name| Secret::new(format!("{name}-3"))).await?;
    assert_eq!(first.reveal(), "mask-key-1");
    assert_eq!(again, first);
    assert_eq!(other.reveal(), "other-3");
    Ok(())
}
