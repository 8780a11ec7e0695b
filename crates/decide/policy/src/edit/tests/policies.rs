//! Laws of CREATE, ALTER and DROP POLICY.

use super::*;
use crate::evaluate::{ColumnName, ColumnRule, GateTwoSettings, TableRequest};
use crate::model::{Access, Item, Priority, ResourceMap, ResourceValues};

fn column(name: &str, field_id: i32) -> ColumnRef {
    ColumnRef { name: name.to_owned(), field_id: Some(field_id) }
}

fn expr(text: &str, columns: Vec<ColumnRef>) -> CheckedExpr {
    CheckedExpr { text: text.to_owned(), columns, ..CheckedExpr::default() }
}

fn policy(name: &str, body: PolicyBody, to: Grantee) -> PolicyEdit {
    PolicyEdit {
        name: name.to_owned(),
        mode: CreateMode::Create,
        target: PolicyTarget::Relation {
            service: "query".to_owned(),
            database: "acdemo".to_owned(),
            table: "orders".to_owned(),
            uuid: Some("u-1".to_owned()),
        },
        body,
        grantees: vec![to],
        except: Vec::new(),
        priority: Priority::Normal,
        validity: None,
        comment: None,
    }
}

pub(super) fn mask(name: &str, mask_type: &str, to: Grantee) -> PolicyEdit {
    let columns = vec![column("ssn", 3)];
    policy(name, PolicyBody::Mask { mask_type: mask_type.to_owned(), columns, using: None }, to)
}

pub(super) fn filter(name: &str, text: &str, to: Grantee) -> PolicyEdit {
    policy(name, PolicyBody::Filter { using: expr(text, vec![column("region", 2)]) }, to)
}

impl World {
    pub(super) fn rules(&self, user: &str, table: &str, columns: &[&str]) -> crate::TableRules {
        let names: Vec<ColumnName<'_>> = columns.iter().map(|c| ColumnName::new(c)).collect();
        let who = self.who(user);
        self.snapshot.table_rules(&TableRequest {
            service: "query",
            database: "acdemo",
            table,
            columns: &names,
            owner: None,
            who: &who,
            now: NOW,
            client_addr: None,
            context: &crate::NO_CONTEXT,
            settings: &GateTwoSettings::default(),
        })
    }

    /// How one column of `orders` reads: the mask type, `raw` or `restricted`.
    pub(super) fn reads(&self, user: &str, column: &str) -> String {
        match self.rules(user, "orders", &[column]).columns.remove(0) {
            ColumnRule::Raw => "raw".to_owned(),
            ColumnRule::Parts(_) => "in parts".to_owned(),
            ColumnRule::Masked(mask) => mask.mask_type,
            ColumnRule::Restricted(_) => "restricted".to_owned(),
        }
    }

    fn filters(&self, user: &str) -> Vec<String> {
        self.rules(user, "orders", &[]).filters.into_iter().map(|f| f.expr).collect()
    }
}

#[test]
fn a_mask_is_written_for_its_grantees_and_columns() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK_SHOW_LAST_4", role("engineer"))));
    let policy = world.policy("m");
    assert_eq!((policy.service.as_str(), policy.kind), ("query", crate::model::PolicyKind::Mask));
    let of = |level: &str| policy.resources[level].values.clone();
    assert_eq!((of("database"), of("table"), of("column")), (owned("acdemo"), owned("orders"), owned("ssn")));
    assert_eq!(policy.mask_items[0].item.accesses, [Access::new("select")]);
    let pinned = pins(policy);
    assert_eq!(pinned.table_uuid.as_deref(), Some("u-1"));
    assert_eq!(pinned.columns, [column("ssn", 3)]);
    assert_eq!(world.reads("bob", "ssn"), "MASK_SHOW_LAST_4");
    assert_eq!(world.reads("alice", "ssn"), "raw");
    assert_eq!(world.reads("bob", "id"), "raw");
}

fn owned(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[test]
fn a_filter_is_written_with_what_it_needs() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(filter("f", "region = 'EU'", role("engineer"))));
    assert_eq!(world.filters("bob"), ["region = 'EU'"]);
    assert!(world.filters("alice").is_empty());
    let needing = |name: &str, id| needs_column(&world.snapshot, "query", "acdemo", "orders", name, Some(id));
    assert_eq!(needing("region", 2), ["f"]);
    assert_eq!(needing("renamed_since", 2), ["f"]);
    assert!(needing("ssn", 3).is_empty());
}

#[test]
fn a_mask_does_not_need_the_column_that_it_hides() {
    let mut world = World::new();
    let mut edit = mask("m", "CUSTOM", role("engineer"));
    let using = expr("upper(ssn) || zip", vec![column("ssn", 3), column("zip", 9)]);
    edit.body = PolicyBody::Mask {
        mask_type: "CUSTOM".to_owned(),
        columns: vec![column("ssn", 3)],
        using: Some(using),
    };
    world.ok(Edit::CreatePolicy(edit));
    let needing = |name: &str, id| needs_column(&world.snapshot, "query", "acdemo", "orders", name, Some(id));
    assert!(needing("ssn", 3).is_empty());
    assert_eq!(needing("zip", 9), ["m"]);
}

#[test]
fn faults_of_a_policy_are_reported_together() {
    let mut edit = mask("bad/name", "MASK_EVERYTHING", role("nothing"));
    edit.body = PolicyBody::Mask {
        mask_type: "hive:MASK".to_owned(),
        columns: vec![],
        using: Some(expr("x", vec![])),
    };
    edit.except = vec![user("nobody")];
    let error = World::new().try_as("carol", Edit::CreatePolicy(edit)).unwrap_err();
    let messages: Vec<&str> = error.faults().iter().map(|f| f.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the name `bad/name` holds `/`, which has a meaning of its own in policies",
            "no such role `nothing`",
            "no such user `nobody`",
            "unknown mask type `hive:MASK`; known are MASK, MASK_SHOW_LAST_4, MASK_SHOW_FIRST_4, MASK_HASH, MASK_NULL, \
             MASK_NONE, MASK_DATE_SHOW_YEAR, CUSTOM, MASK_DATE_SHOW_MONTH, MASK_DATE_SHIFT, MASK_BUCKET, MASK_TOKEN, \
             MASK_EMAIL, MASK_CARD",
            "the mask type `hive:MASK` takes no `USING`",
            "a column mask on a table or view needs `ON COLUMN`",
        ]
    );
}

#[test]
fn custom_needs_an_expression() {
    let message = "the mask type `CUSTOM` needs an expression after `USING`";
    let edit = Edit::CreatePolicy(mask("m", "CUSTOM", role("engineer")));
    World::new().refused("carol", edit, ErrorKind::Invalid, message);
}

#[test]
fn a_policy_on_a_tag_is_of_the_tag_service_and_an_admins() {
    let mut edit = mask("m", "MASK", role("engineer"));
    edit.target = PolicyTarget::Tag("PII".to_owned());
    let message = "a column mask on a tag takes no `ON COLUMN`: it holds for every column with the tag";
    World::new().refused("carol", Edit::CreatePolicy(edit.clone()), ErrorKind::Invalid, message);
    edit.body = PolicyBody::Mask { mask_type: "MASK".to_owned(), columns: Vec::new(), using: None };
    let denied = "permission denied to write policies on tags";
    World::new().refused("dave", Edit::CreatePolicy(edit.clone()), ErrorKind::Denied, denied);
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(edit));
    let policy = world.snapshot.state().policies.values().find(|policy| policy.name == "m").unwrap();
    assert_eq!(policy.service, "tags");
    assert_eq!(policy.mask_items[0].mask.mask_type, "hive:MASK");
    assert_eq!(policy.mask_items[0].item.accesses[0].kind, "hive:select");
}

#[test]
fn those_excepted_are_passed_over() {
    let mut world = World::new();
    world.ok(grant_role("engineer", user("erin")));
    let mut edit = mask("m", "MASK_NULL", Grantee::Public);
    edit.except = vec![role("engineer")];
    world.ok(Edit::CreatePolicy(edit));
    let mut edit = filter("f", "region = 'EU'", Grantee::Public);
    edit.except = vec![role("engineer")];
    world.ok(Edit::CreatePolicy(edit));
    assert_eq!(
        (world.reads("dave", "ssn").as_str(), world.reads("erin", "ssn").as_str()),
        ("MASK_NULL", "raw")
    );
    assert_eq!(world.filters("dave"), ["region = 'EU'"]);
    assert!(world.filters("erin").iter().all(|f| f == "true"));
}

#[test]
fn a_second_role_on_the_same_column_works() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m1", "MASK_HASH", role("engineer"))));
    let change = world.ok(Edit::CreatePolicy(mask("m2", "MASK_NULL", role("analyst"))));
    assert!(change.notices.is_empty(), "{:?}", change.notices);
    assert_eq!(
        (world.reads("bob", "ssn").as_str(), world.reads("alice", "ssn").as_str()),
        ("MASK_HASH", "MASK_NULL")
    );
}

#[test]
fn masks_that_differ_for_one_person_are_reported_when_the_second_is_written() {
    let mut world = World::new();
    world.ok(grant_role("analyst", user("bob")));
    world.ok(Edit::CreatePolicy(mask("m1", "MASK_HASH", role("engineer"))));
    let change = world.ok(Edit::CreatePolicy(mask("m2", "MASK_NULL", role("analyst"))));
    assert_eq!(change.notices.len(), 1);
    assert!(change.notices[0].starts_with("policies `m2` and `m1` mask column `ssn` differently"));
    assert_eq!(world.reads("bob", "ssn"), "restricted");
    let change = world.ok(Edit::AlterPolicy {
        name: "m2".to_owned(),
        action: PolicyAction::SetPriority(Priority::Override),
    });
    assert!(change.notices.is_empty());
    assert_eq!(world.reads("bob", "ssn"), "MASK_NULL");
}

#[test]
fn equal_masks_do_not_clash() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m1", "MASK_NULL", role("engineer"))));
    assert!(world.ok(Edit::CreatePolicy(mask("m2", "MASK_NULL", Grantee::Public))).notices.is_empty());
}

#[test]
fn a_name_is_taken_over_all_services() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    let mut other = mask("M", "MASK_NULL", role("engineer"));
    other.target = PolicyTarget::Relation {
        service: "query_other".to_owned(),
        database: "acdemo".to_owned(),
        table: "orders".to_owned(),
        uuid: None,
    };
    let error = world.refused(
        "carol",
        Edit::CreatePolicy(other.clone()),
        ErrorKind::ObjectExists,
        "policy `m` is present",
    );
    assert_eq!(error.hint().as_deref(), Some("use `CREATE OR REPLACE POLICY`"));
    let skipped = world.ok(Edit::CreatePolicy(PolicyEdit { mode: CreateMode::IfNotExists, ..other.clone() }));
    assert!(skipped.is_empty());
    assert_eq!(skipped.notices, ["policy `m` is present, skipped"]);
    // A policy does not move between services: the old one goes.
    let old = world.policy("m").id;
    let change = world.ok(Edit::CreatePolicy(PolicyEdit { mode: CreateMode::OrReplace, ..other }));
    assert_eq!(change.delete_policies, [old]);
    assert_eq!(world.policy("M").service, "query_other");
}

#[test]
fn replacing_keeps_the_number_and_counts_the_version() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    let (id, guid) = (world.policy("m").id, world.policy("m").guid.clone());
    let edit = PolicyEdit { mode: CreateMode::OrReplace, ..mask("m", "MASK_NULL", role("analyst")) };
    world.ok(Edit::CreatePolicy(edit.clone()));
    let policy = world.policy("m");
    assert_eq!((policy.id, &policy.guid, policy.version), (id, &guid, 2));
    assert_eq!(world.reads("bob", "ssn"), "raw");
    assert!(world.ok(Edit::CreatePolicy(edit)).is_empty(), "saying it again changes nothing");
}

#[test]
fn a_grant_is_not_replaced_by_a_mask() {
    let mut world = World::new();
    world.ok(grant("SELECT", table("orders"), role("analyst")));
    let edit = PolicyEdit {
        mode: CreateMode::OrReplace,
        ..mask("grant sales_wh.acdemo.orders", "MASK", role("engineer"))
    };
    let message = "policy `grant sales_wh.acdemo.orders` is no mask and no row filter";
    world.refused("carol", Edit::CreatePolicy(edit), ErrorKind::Invalid, message);
}

#[test]
fn altering_a_policy() {
    let mut world = World::new();
    let alter = |action| Edit::AlterPolicy { name: "f".to_owned(), action };
    world.ok(Edit::CreatePolicy(filter("f", "region = 'EU'", role("engineer"))));
    world.ok(alter(PolicyAction::Disable));
    assert!(world.filters("bob").is_empty());
    world.ok(alter(PolicyAction::Enable));
    world.ok(alter(PolicyAction::SetUsing(expr("zip = 1", vec![column("zip", 9)]))));
    assert_eq!(world.filters("bob"), ["zip = 1"]);
    assert_eq!(pins(world.policy("f")).needs, [column("zip", 9)]);
    world.ok(alter(PolicyAction::SetComment("why".to_owned())));
    assert_eq!(world.policy("f").description, "why");
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    let taken = "policy `m` is present";
    world.refused("carol", alter(PolicyAction::RenameTo("m".to_owned())), ErrorKind::ObjectExists, taken);
    world.ok(alter(PolicyAction::RenameTo("g".to_owned())));
    world.policy("g");
    let edit = Edit::AlterPolicy { name: "m".to_owned(), action: PolicyAction::SetUsing(expr("1", vec![])) };
    world.refused("carol", edit, ErrorKind::Invalid, "policy `m` has no expression");
}

#[test]
fn dropping_a_policy() {
    let mut world = World::new();
    let drop = |name: &str, if_exists| Edit::DropPolicy { name: name.to_owned(), if_exists };
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    world.ok(drop("m", false));
    assert_eq!(world.reads("bob", "ssn"), "raw");
    world.refused("carol", drop("m", false), ErrorKind::ObjectNotFound, "no such policy `m`");
    assert_eq!(world.ok(drop("m", true)).notices, ["no such policy `m`, skipped"]);
    let message = "policy `admin - everything` is no mask and no row filter";
    world.refused("carol", drop("admin - everything", false), ErrorKind::Invalid, message);
}

#[test]
fn to_who_may_not_write_it_a_policy_is_not_there() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    for edit in [
        Edit::DropPolicy { name: "m".to_owned(), if_exists: false },
        Edit::AlterPolicy { name: "m".to_owned(), action: PolicyAction::Disable },
    ] {
        world.refused("bob", edit, ErrorKind::ObjectNotFound, "no such policy `m`");
    }
    let message = "permission denied to write policies on `acdemo.orders`";
    let edit = Edit::CreatePolicy(mask("m", "MASK", role("nothing")));
    world.refused("bob", edit, ErrorKind::Denied, message);
}

#[test]
fn the_grant_option_on_the_query_service_lets_write_policies_there() {
    let mut world = World::new();
    let mut state = world.snapshot.state().clone();
    let mut delegation = crate::model::Policy::new("query", "delegation", crate::model::PolicyKind::Access);
    delegation.id = crate::model::PolicyId(state.next_policy_id);
    state.next_policy_id += 1;
    delegation.resources = ResourceMap::from([
        ("database".to_owned(), ResourceValues::one("acdemo")),
        ("table".to_owned(), ResourceValues::one("orders")),
        ("column".to_owned(), ResourceValues::one("*")),
    ]);
    delegation.items = vec![Item {
        accesses: vec![Access::new("select")],
        users: vec!["dave".to_owned()],
        delegate_admin: true,
        ..Item::default()
    }];
    state.policies.insert(delegation.id, delegation);
    world.snapshot = Snapshot::build(state).unwrap();
    world.ok_as("dave", Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    world.ok_as("dave", Edit::CreatePolicy(filter("f", "true", role("engineer"))));
    world.ok_as("dave", Edit::DropPolicy { name: "m".to_owned(), if_exists: false });
    let mut elsewhere = mask("m", "MASK", role("engineer"));
    elsewhere.target = PolicyTarget::Relation {
        service: "query".to_owned(),
        database: "acdemo".to_owned(),
        table: "other".to_owned(),
        uuid: None,
    };
    let message = "permission denied to write policies on `acdemo.other`";
    world.refused("dave", Edit::CreatePolicy(elsewhere), ErrorKind::Denied, message);
    let actor = Actor::new(world.who("dave"));
    assert!(may_write_policies(&world.snapshot, &actor, "query", "acdemo", "orders"));
    assert!(!may_write_policies(&world.snapshot, &actor, "query", "acdemo", "other"));
}

#[test]
fn pins_survive_any_name() {
    let mut world = World::new();
    let mut edit = filter("f", "x", role("engineer"));
    let odd = vec![column("a b", 1), ColumnRef { name: "new\nline\\".to_owned(), field_id: None }];
    edit.body = PolicyBody::Filter {
        using: CheckedExpr {
            text: "x".to_owned(),
            columns: odd.clone(),
            functions: vec!["c.s.f".to_owned(), "g".to_owned()],
            tables: vec!["t".to_owned()],
            reads: vec!["of c.s.t 1 zone".to_owned(), "outer a b".to_owned()],
        },
    };
    world.ok(Edit::CreatePolicy(edit));
    let pinned = pins(world.policy("f"));
    assert_eq!(pinned.needs, odd);
    assert_eq!(needs_function(&world.snapshot, "c.s.f"), ["f"]);
    assert_eq!(pinned.tables, ["t"]);
}

#[test]
fn an_earlier_version_comes_back_as_a_new_one() {
    let mut world = World::new();
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("engineer"))));
    let earlier = Box::new(world.policy("m").clone());
    let edit = PolicyEdit { mode: CreateMode::OrReplace, ..mask("m", "MASK_NULL", role("engineer")) };
    world.ok(Edit::CreatePolicy(edit));
    let restore = Edit::RestorePolicy { policy: earlier };
    world.refused("bob", restore.clone(), ErrorKind::ObjectNotFound, "no such policy `m`");
    world.ok(restore.clone());
    assert_eq!((world.reads("bob", "ssn").as_str(), world.policy("m").version), ("MASK", 3));
    world.ok(Edit::DropPolicy { name: "m".to_owned(), if_exists: false });
    world.ok(restore.clone());
    assert_eq!(world.reads("bob", "ssn"), "MASK");
    world.ok(Edit::AlterPolicy { name: "m".to_owned(), action: PolicyAction::RenameTo("n".to_owned()) });
    world.ok(Edit::CreatePolicy(mask("m", "MASK", role("analyst"))));
    world.refused("carol", restore, ErrorKind::ObjectExists, "another policy has the name `m` now");
}
