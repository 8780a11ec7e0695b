//! The laws of a new authority.

use stdx::Secret;

use super::initial_state;
use crate::evaluate::{Decision, Request, Resource};
use crate::{Principal, Snapshot};
use stdx::Timestamp;

#[test]
fn a_new_authority_builds_and_each_catalog_has_a_service_of_its_own() {
    let snapshot = Snapshot::build(initial_state(&["wh", "lake"], "root", Some(Secret::new("v")))).unwrap();
    assert_eq!(snapshot.gate_two_service("wh"), "query");
    assert_eq!(snapshot.gate_two_service("lake"), "query_lake");
    assert_eq!(snapshot.gate_two_service("elsewhere"), "");
    assert!(snapshot.state().services.contains_key("polaris"));
    assert!(!snapshot.state().services.contains_key(""));
    assert_eq!(snapshot.state().next_policy_id, 3);
}

#[test]
fn only_the_admin_user_is_admin_and_the_right_can_be_passed_on() {
    let snapshot = Snapshot::build(initial_state(&["wh"], "root", None)).unwrap();
    let may = |user: &str| {
        let who = snapshot.membership(&Principal::user(user));
        let access = snapshot.may_delegate(&Request {
            service: "polaris",
            resource: Resource::new([("root", "*"), ("catalog", "wh")]),
            owner: None,
            access: "catalog-content-manage",
            who: &who,
            now: Timestamp::default(),
            client_addr: None,
            context: &crate::NO_CONTEXT,
        });
        access.access
    };
    assert_eq!(may("root"), Decision::Allowed);
    assert_eq!(may("alice"), Decision::Undetermined);
    assert!(snapshot.membership(&Principal::user("root")).roles.contains(super::ADMIN_ROLE));
}
