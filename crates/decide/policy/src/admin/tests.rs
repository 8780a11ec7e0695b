//! The laws of delegated administration.

use super::{Administration, Items, Purpose, Rights};
use crate::Membership;
use crate::evaluate::ConditionErrors;
use crate::evaluate::fixture::{Draft, item, state, unknown_condition};
use crate::model::{Item, Policy};

fn delegated(text: &str) -> Item {
    Item { delegate_admin: true, ..item(text) }
}

fn admin(policies: impl IntoIterator<Item = Draft>) -> Administration {
    Administration::new(&state(policies), "query", Items::Delegated, ConditionErrors::AgainstUser).unwrap()
}

fn bob() -> Membership {
    Membership::new("bob", ["staff"], [""; 0])
}

fn policy(on: &str, accesses: &str) -> Policy {
    let Draft(mut policy) = Draft::access(9, on);
    policy.items.push(item(&format!("alice/{accesses}")));
    policy
}

fn on(resources: &str, items: &[Item]) -> Draft {
    Draft::access(1, resources).with(|p| p.items = items.to_vec())
}

#[test]
fn a_writer_needs_every_access_type_and_a_reader_one() {
    let all = admin([on("database=sales table=*", &[delegated("bob/select")])]);
    let both = policy("database=sales table=orders", "select update");
    assert!(all.holds(&bob(), &both, Purpose::Read).are_held());
    let Rights::Lacking(lacking) = all.holds(&bob(), &both, Purpose::Modify) else { panic!("not held") };
    assert_eq!(lacking, ["update".to_owned()].into());
    let one = policy("database=sales table=orders", "select");
    assert!(all.holds(&bob(), &one, Purpose::Modify).are_held());
}

#[test]
fn every_additional_resource_needs_the_same_right() {
    let all = admin([on("database=sales table=*", &[delegated("bob/select")])]);
    let mut wide = policy("database=sales table=orders", "select");
    wide.additional_resources.push(crate::evaluate::fixture::resources("database=hr table=people"));
    assert!(!all.holds(&bob(), &wide, Purpose::Modify).are_held());
    assert!(!all.holds(&bob(), &wide, Purpose::Read).are_held());
}

#[test]
fn only_items_that_hand_on_count_and_denials_among_them_take() {
    let one = policy("database=sales table=orders", "select");
    assert!(
        !admin([on("database=sales table=*", &[item("bob")])]).holds(&bob(), &one, Purpose::Read).are_held()
    );
    let with_denial = on("database=sales table=*", &[delegated("bob")])
        .with(|p| p.deny_items.push(delegated("group:staff")));
    assert!(!admin([with_denial]).holds(&bob(), &one, Purpose::Read).are_held());
    let other_denial =
        on("database=sales table=*", &[delegated("bob")]).with(|p| p.deny_items.push(item("bob")));
    assert!(admin([other_denial]).holds(&bob(), &one, Purpose::Read).are_held());
}

#[test]
fn a_policy_of_a_zone_is_administered_in_its_zone() {
    let all =
        admin([on("database=sales table=*", &[delegated("bob")]).with(|p| p.zone = Some("z".to_owned()))]);
    let mut one = policy("database=sales table=orders", "select");
    assert!(!all.holds(&bob(), &one, Purpose::Read).are_held());
    one.zone = Some("z".to_owned());
    assert!(all.holds(&bob(), &one, Purpose::Modify).are_held());
}

#[test]
fn a_token_in_a_policy_stands_for_everything() {
    let narrow = admin([on("database=sales table=home_bob", &[delegated("bob")])]);
    let own = policy("database=sales table=home_{USER}", "select");
    assert!(!narrow.holds(&bob(), &own, Purpose::Modify).are_held());
    let wide = admin([on("database=sales table=home_*", &[delegated("bob")])]);
    assert!(wide.holds(&bob(), &own, Purpose::Modify).are_held());
    assert!(
        !wide.holds(&bob(), &policy("database=sales table={USER}", "select"), Purpose::Modify).are_held()
    );
}

#[test]
fn what_holds_under_conditions_hands_nothing_on_unless_as_ranger_has_it() {
    let drafts =
        [on("database=sales table=*", &[Item { conditions: unknown_condition(), ..delegated("bob") }])];
    let one = policy("database=sales table=orders", "select");
    assert!(!admin(drafts.clone()).holds(&bob(), &one, Purpose::Read).are_held());
    let ranger =
        Administration::new(&state(drafts), "query", Items::Delegated, ConditionErrors::Ranger).unwrap();
    assert!(ranger.holds(&bob(), &one, Purpose::Read).are_held());
}

#[test]
fn a_change_of_items_needs_what_changes_and_a_change_of_resources_everything() {
    let all = admin([on("database=sales table=*", &[delegated("bob/select")])]);
    let before = policy("database=sales table=orders", "update");
    let mut after = before.clone();
    after.items.push(item("carol/select"));
    assert!(all.may_write(&bob(), Some(&before), &after).are_held());
    let moved = policy("database=sales table=items", "update");
    assert!(!all.may_write(&bob(), Some(&before), &moved).are_held());
    let mut renamed = before.clone();
    renamed.description = "other".to_owned();
    assert!(all.may_write(&bob(), Some(&before), &renamed).are_held(), "any delegation is enough");
    assert_eq!(all.may_write(&bob(), None, &policy("database=sales table=!x", "select")), Rights::Excludes);
}

#[test]
fn any_access_type_is_had_by_whoever_has_one_and_a_token_is_whoever_asks() {
    let all = |policies: Vec<Draft>| {
        Administration::new(&state(policies), "query", Items::All, ConditionErrors::Ranger).unwrap()
    };
    let map = |text: &str| [crate::evaluate::fixture::resources(text)];
    let some = all(vec![on("database=sales table=*", &[item("bob/select")])]);
    assert!(some.gives(&bob(), &map("database=sales table=orders"), "_any"));
    assert!(!some.gives(
        &Membership::new("eve", [""; 0], [""; 0]),
        &map("database=sales table=orders"),
        "_any"
    ));
    let own = all(vec![on("database=home_{USER} table=*", &[item("group:staff/select")])]);
    assert!(own.gives(&bob(), &map("database=home_bob table=t"), "select"));
    assert!(!own.gives(&bob(), &map("database=home_eve table=t"), "select"));
}
