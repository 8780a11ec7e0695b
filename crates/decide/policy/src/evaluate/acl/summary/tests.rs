//! The laws of what one policy says.

use std::collections::BTreeMap;

use super::{Says, Summary, Types};
use crate::evaluate::fixture::{Draft, item, unknown_condition};
use crate::model::Item;

const ON: &str = "database=sales";

fn summary(Draft(policy): Draft) -> Summary {
    let implied = BTreeMap::from([("all".to_owned(), vec!["select".to_owned(), "update".to_owned()])]);
    let all = ["select", "update", "all"].map(str::to_owned);
    Summary::new(&policy, &Types { implied: &implied, all: &all, can_deny: true })
}

#[test]
fn an_item_speaks_to_each_principal_with_what_it_grants_besides() {
    let said = summary(Draft::access(1, ON).allow("bob role:analyst/all"));
    assert_eq!(said.users["bob"].len(), 3);
    assert_eq!(said.roles["analyst"]["update"], Says::Allowed);
}

#[test]
fn an_exception_takes_away_what_an_item_gave_and_nothing_else() {
    let said = summary(Draft::access(1, ON).allow("bob").allow_except("bob carol"));
    assert_eq!(said.users["bob"]["select"], Says::Nothing);
    assert!(said.users.get("carol").is_none_or(BTreeMap::is_empty));
}

#[test]
fn an_exception_for_a_group_makes_its_whole_side_depend_on_the_request() {
    let said = summary(Draft::access(1, ON).allow("bob").allow_except("group:staff"));
    assert_eq!(said.users["bob"]["select"], Says::Conditional);
    let public = summary(Draft::access(1, ON).allow("group:public").allow_except("bob"));
    assert_eq!(public.groups["public"]["select"], Says::Conditional);
}

#[test]
fn a_denial_and_an_allow_take_each_other_away() {
    let said = summary(Draft::access(1, ON).allow("bob").deny("bob"));
    assert_eq!(said.users["bob"]["select"], Says::Nothing);
}

#[test]
fn what_is_said_to_everybody_need_not_be_said_to_each() {
    let said = summary(Draft::access(1, ON).allow("{USER}").allow("bob group:staff"));
    assert!(said.users.is_empty() && said.groups.len() == 1);
    assert_eq!(said.groups["public"]["select"], Says::Allowed);
}

#[test]
fn a_policy_that_denies_all_else_denies_it_to_everybody() {
    let said = summary(Draft::access(1, ON).allow("bob").all_else());
    assert_eq!(said.users["bob"]["select"], Says::Allowed);
    assert_eq!(said.users["bob"]["update"], Says::Denied);
    assert!(!said.users["bob"].contains_key("all"));
    assert_eq!(said.groups["public"]["select"], Says::Conditional);
    assert_eq!(said.groups["public"]["update"], Says::Denied);
}

#[test]
fn an_item_under_conditions_depends_on_the_request() {
    let conditional = Item { conditions: unknown_condition(), delegate_admin: true, ..item("bob") };
    let said = summary(Draft::access(1, ON).with(|p| p.items = vec![conditional]));
    assert_eq!(said.users["bob"]["select"], Says::Conditional);
    assert_eq!(said.users["bob"]["_admin"], Says::Conditional);
}
