//! The laws of who may do what on a resource.

use super::{AclAccess, ResourceAccess, ResourceAcls};
use crate::Membership;
use crate::evaluate::fixture::{Draft, NOW, names, resource, snapshot, unknown_condition};
use crate::evaluate::{NO_CONTEXT, Request};
use crate::model::PolicyId;

const ORDERS: &str = "database=sales table=orders";

fn request<'a>(on: &'a str, who: &'a Membership, access: &'a str) -> Request<'a> {
    Request {
        service: "query",
        resource: resource(on),
        owner: None,
        access,
        who,
        now: NOW,
        client_addr: None,
        context: &NO_CONTEXT,
    }
}

fn acls(policies: impl IntoIterator<Item = Draft>) -> ResourceAcls {
    snapshot(policies).resource_acls(&request(ORDERS, &Membership::default(), ""))
}

fn access(acls: &ResourceAcls, user: &str) -> Option<AclAccess> {
    Some(acls.users.get(user)?.get("select")?.access)
}

#[test]
fn a_denial_stands_against_every_later_policy_and_keeps_its_policy() {
    let found = acls([Draft::access(1, ORDERS).deny("bob"), Draft::access(2, ORDERS).allow("bob carol")]);
    assert_eq!(access(&found, "bob"), Some(AclAccess::Denied));
    assert_eq!(access(&found, "carol"), Some(AclAccess::Allowed));
    let entry = found.users["bob"]["select"];
    assert_eq!((entry.policy, entry.last_policy), (PolicyId(101), PolicyId(102)));
}

#[test]
fn a_higher_priority_is_final_before_a_lower_one_speaks() {
    let found = acls([Draft::access(1, ORDERS).allow("bob").over(), Draft::access(2, ORDERS).deny("bob")]);
    assert_eq!(access(&found, "bob"), Some(AclAccess::Allowed));
}

#[test]
fn what_depends_on_the_request_is_conditional() {
    let found = acls([
        Draft::access(1, ORDERS).allow("bob").valid("2026/01/01 00:00:00", ""),
        Draft::access(2, "database=sales table={USER}").allow("carol"),
        Draft::access(3, ORDERS).allow("dora").with(|p| p.is_enabled = false),
    ]);
    assert_eq!(access(&found, "bob"), Some(AclAccess::Conditional));
    assert_eq!(access(&found, "carol"), Some(AclAccess::Conditional));
    assert_eq!(access(&found, "dora"), None);
    let _ = unknown_condition();
}

#[test]
fn a_policy_about_something_else_says_nothing() {
    let found = acls([
        Draft::access(1, "database=sales").allow("bob"),
        Draft::access(2, "database=sales table=orders column=id").allow("bob"),
    ]);
    assert!(found.users.is_empty());
}

#[test]
fn filters_are_listed_where_they_may_end() {
    let found = acls([Draft::filter(1, ORDERS).filtered("{USER}", "a > 1")]);
    assert_eq!(found.filters.len(), 1);
    assert_eq!(found.filters[0].groups, names(&["public"]));
    assert!(found.masks.is_empty());
}

#[test]
fn the_named_of_one_access_type_are_listed_without_regard_to_who_asks() {
    let snapshot = snapshot([
        Draft::access(1, ORDERS).allow("bob carol group:staff").allow_except("carol"),
        Draft::access(2, "database=sales table=*").deny("bob"),
    ]);
    let found = snapshot.resource_access(&request(ORDERS, &Membership::default(), "select"));
    let expected = ResourceAccess {
        allowed_users: names(&[]),
        allowed_groups: names(&["staff"]),
        denied_users: names(&["bob"]),
        denied_groups: names(&[]),
    };
    assert_eq!(found, expected);
}
