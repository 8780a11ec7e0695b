//! The laws of the authorisation API.

use super::{AuthzAccess, AuthzAnswer, AuthzContext, AuthzDecision, AuthzError, NameScope};
use crate::evaluate::NO_CONTEXT;
use crate::evaluate::fixture::{Draft, NOW, snapshot, who};
use crate::{Membership, Snapshot};

fn ask(snapshot: &Snapshot, user: &Membership, on: &str, parts: &[&str], access: &[&str]) -> AuthzAnswer {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (parts, permissions) = (owned(parts), owned(access));
    let access = AuthzAccess {
        resource: on,
        scope: NameScope::Itself,
        owner: None,
        sub_resources: &parts,
        action: None,
        permissions: &permissions,
    };
    snapshot.authorize(&asking(user), &access).unwrap()
}

fn asking(who: &Membership) -> AuthzContext<'_> {
    AuthzContext { service: "query", who, now: NOW, client_addr: None, context: &NO_CONTEXT }
}

fn orders() -> Snapshot {
    snapshot([
        Draft::access(1, "database=sales table=orders column=*").allow("bob"),
        Draft::access(2, "database=sales table=orders column=ssn").deny("bob"),
        Draft::mask(3, "database=sales table=orders column=region").masked("bob", "MASK_NULL"),
        Draft::filter(4, "database=sales table=orders").filtered("bob", "year = 2026"),
    ])
}

#[test]
fn parts_decide_in_place_of_the_whole() {
    let snapshot = orders();
    let bob = who(&snapshot, "bob");
    let good = ask(&snapshot, &bob, "table:sales/orders", &["column:id", "column:region"], &["select"]);
    assert_eq!(good.decision, AuthzDecision::Allow);
    let select = &good.permissions["select"];
    assert_eq!(select.filter.as_ref().unwrap().0, "year = 2026");
    assert_eq!(select.sub_resources["column:region"].mask.as_ref().unwrap().0, "MASK_NULL");
    let bad = ask(&snapshot, &bob, "table:sales/orders", &["column:ssn", "column:id"], &["select"]);
    assert_eq!(bad.decision, AuthzDecision::Deny);
    assert_eq!(bad.permissions["select"].filter, None, "what is denied has no filter");
}

#[test]
fn every_permission_is_needed_and_several_resources_have_a_common_answer_or_a_partial_one() {
    let snapshot = orders();
    let bob = who(&snapshot, "bob");
    let both = ask(&snapshot, &bob, "column:sales/orders/id", &[], &["select", "update"]);
    assert_eq!(both.decision, AuthzDecision::Deny);
    assert_eq!(both.permissions["select"].decision, AuthzDecision::Allow);
    assert_eq!(both.permissions["update"].by.policy, None);
    let permissions = ["select".to_owned()];
    let access = |resource| AuthzAccess {
        resource,
        scope: NameScope::Itself,
        owner: None,
        sub_resources: &[],
        action: None,
        permissions: &permissions,
    };
    let several = |names: &[&'static str]| {
        let accesses: Vec<_> = names.iter().map(|name| access(name)).collect();
        snapshot.authorize_several(&asking(&bob), &accesses).unwrap().decision
    };
    assert_eq!(several(&["column:sales/orders/id", "column:sales/orders/x"]), AuthzDecision::Allow);
    assert_eq!(several(&["column:sales/orders/id", "column:sales/orders/ssn"]), AuthzDecision::Partial);
}

#[test]
fn a_request_that_names_nothing_is_refused_with_rangers_number() {
    let snapshot = orders();
    let bob = who(&snapshot, "bob");
    let fault = |resource: &str, permissions: &[String]| {
        let access = AuthzAccess {
            resource,
            scope: NameScope::Itself,
            owner: None,
            sub_resources: &[],
            action: None,
            permissions,
        };
        snapshot.authorize(&asking(&bob), &access).unwrap_err().code()
    };
    let select = ["select".to_owned()];
    assert_eq!(fault("", &select), "AUTHZ-400-00-006");
    assert_eq!(fault("shelf:a", &select), "AUTHZ-400-00-009");
    assert_eq!(fault("column:a/b", &select), "AUTHZ-400-00-017");
    assert_eq!(fault("table:a/b", &[]), "AUTHZ-400-00-012");
    let nobody = Membership::default();
    let unknown = AuthzContext { service: "nowhere", ..asking(&bob) };
    assert_eq!(snapshot.authorize_several(&asking(&bob), &[]), Err(AuthzError::NoAccess));
    assert!(matches!(snapshot.resource_permissions(&unknown, "a:b"), Err(AuthzError::NoService { .. })));
    assert!(snapshot.resource_permissions(&asking(&nobody), "table:sales/orders").is_ok());
}

#[test]
fn the_permissions_on_a_resource_are_listed_by_principal() {
    let snapshot = snapshot([
        Draft::access(1, "database=sales table=orders").allow("bob group:staff"),
        Draft::access(2, "database=sales table=orders").deny("carol"),
    ]);
    let nobody = Membership::default();
    let found = snapshot.resource_permissions(&asking(&nobody), "table:sales/orders").unwrap();
    assert_eq!(found.users["bob"]["select"].0, AuthzDecision::Allow);
    assert_eq!(found.groups["staff"]["select"].0, AuthzDecision::Allow);
    assert_eq!(found.users["carol"]["select"].0, AuthzDecision::Deny);
}
