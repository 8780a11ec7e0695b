//! The laws of gate two.

use super::super::fixture::{Draft, rules, rules_of_columns, snapshot, state, unknown_condition};
use crate::Snapshot;
use crate::evaluate::{
    ColumnName, ColumnRule, ConditionErrors, GateTwoSettings, MaskCombine, PassedOverReason, RowFilterCombine,
};
use crate::model::PolicyId;

const ORDERS: &str = "database=sales table=orders";
const SSN: &str = "database=sales table=orders column=ssn";

fn filters(snapshot: &Snapshot, user: &str, settings: &GateTwoSettings) -> Vec<String> {
    rules(snapshot, user, settings).filters.into_iter().map(|filter| filter.expr).collect()
}

/// How the column `ssn` reads: `raw`, the mask, or `restricted`.
fn ssn(snapshot: &Snapshot, user: &str, settings: &GateTwoSettings) -> String {
    short(&rules(snapshot, user, settings).columns[1])
}

fn short(rule: &ColumnRule) -> String {
    match rule {
        ColumnRule::Raw => "raw".to_owned(),
        ColumnRule::Parts(_) => "in parts".to_owned(),
        ColumnRule::Restricted(_) => "restricted".to_owned(),
        ColumnRule::Masked(mask) => match &mask.value_expr {
            Some(expr) => format!("{} {expr}", mask.mask_type),
            None => mask.mask_type.clone(),
        },
    }
}

fn check_masks(policies: impl IntoIterator<Item = Draft>, combined: &str, first_match: &str) {
    let snapshot = snapshot(policies);
    assert_eq!(ssn(&snapshot, "bob", &GateTwoSettings::default()), combined);
    let ranger =
        GateTwoSettings { mask_combine: MaskCombine::RangerFirstMatch, ..GateTwoSettings::default() };
    assert_eq!(ssn(&snapshot, "bob", &ranger), first_match, "first match");
}

fn passed_over(snapshot: &Snapshot, user: &str) -> Vec<(i64, PassedOverReason)> {
    let rules = rules(snapshot, user, &GateTwoSettings::default());
    rules.passed_over.into_iter().map(|p| (p.policy.0 - 100, p.reason)).collect()
}

#[test]
fn without_policies_a_table_is_whole() {
    let rules = rules(&snapshot([]), "bob", &GateTwoSettings::default());
    assert_eq!(rules.filters, []);
    assert!(rules.columns.iter().all(|rule| *rule == ColumnRule::Raw));
    assert_eq!(rules.columns.len(), 3);
}

#[test]
fn filters_of_different_policies_all_hold_and_inside_one_the_first_item_decides() {
    let snapshot = snapshot([
        Draft::filter(1, ORDERS).filtered("alice", "a").filtered("group:staff", "b").filtered("bob", "c"),
        Draft::filter(2, ORDERS).filtered("role:analyst", "d"),
        Draft::filter(3, "database=sales table=items").filtered("bob", "e"),
    ]);
    assert_eq!(filters(&snapshot, "bob", &GateTwoSettings::default()), ["b", "d"]);
    assert_eq!(filters(&snapshot, "alice", &GateTwoSettings::default()), ["a"]);
    let ranger = GateTwoSettings {
        row_filter_combine: RowFilterCombine::RangerFirstMatch,
        ..GateTwoSettings::default()
    };
    assert_eq!(filters(&snapshot, "bob", &ranger).len(), 1);
}

#[test]
fn a_filter_without_text_exempts_from_its_own_policy_only() {
    let snapshot = snapshot([
        Draft::filter(1, ORDERS).filtered("bob", "").filtered("group:public", "a"),
        Draft::filter(2, ORDERS).filtered("group:public", "b"),
    ]);
    assert_eq!(filters(&snapshot, "bob", &GateTwoSettings::default()), ["b"]);
    assert_eq!(filters(&snapshot, "alice", &GateTwoSettings::default()), ["a", "b"]);
}

#[test]
fn an_override_filter_comes_first_where_only_the_first_counts() {
    let snapshot = snapshot([
        Draft::filter(1, ORDERS).filtered("group:public", "a"),
        Draft::filter(2, ORDERS).filtered("bob", "b").over(),
    ]);
    let ranger = GateTwoSettings {
        row_filter_combine: RowFilterCombine::RangerFirstMatch,
        ..GateTwoSettings::default()
    };
    assert_eq!(filters(&snapshot, "bob", &ranger), ["b"]);
}

#[test]
fn a_filter_whose_condition_cannot_be_evaluated_breaks_the_read() {
    let draft = || Draft::filter(1, ORDERS).filtered("bob", "a").filtered("bob", "b");
    let on_item = draft().with(|p| p.filter_items[0].item.conditions = unknown_condition());
    let on_policy = draft().with(|p| p.conditions = unknown_condition());
    let plain = GateTwoSettings { condition_errors: ConditionErrors::Ranger, ..GateTwoSettings::default() };
    for policy in [on_item, on_policy] {
        let snapshot = snapshot([policy]);
        let rules = rules(&snapshot, "bob", &GateTwoSettings::default());
        assert!(rules.filters[0].broken.is_some());
        // Ranger ignores conditions that its definition does not have.
        assert_eq!(filters(&snapshot, "bob", &plain), ["a"]);
    }
}

#[test]
fn inside_one_policy_the_first_matching_mask_item_decides() {
    let draft = Draft::mask(1, SSN)
        .masked("alice", "MASK")
        .masked("bob", "MASK_HASH")
        .masked("group:staff", "MASK_NULL");
    check_masks([draft], "MASK_HASH", "MASK_HASH");
}

#[test]
fn mask_none_exempts_from_its_own_policy_only() {
    let exempt = Draft::mask(1, SSN).masked("bob", "MASK_NONE").masked("group:public", "MASK");
    check_masks([exempt.clone()], "raw", "raw");
    check_masks([exempt.clone().over(), Draft::mask(2, SSN).masked("bob", "MASK_HASH")], "MASK_HASH", "raw");
}

#[test]
fn an_override_mask_stands_before_a_normal_one() {
    let normal = Draft::mask(1, SSN).masked("bob", "MASK");
    let over = Draft::mask(2, SSN).masked("bob", "MASK_HASH").over();
    check_masks([normal, over], "MASK_HASH", "MASK_HASH");
}

#[test]
fn masks_of_the_same_priority_that_differ_restrict_the_column() {
    let hash = || Draft::mask(1, SSN).masked("bob", "MASK_HASH");
    check_masks([hash(), Draft::mask(2, SSN).masked("bob", "MASK")], "restricted", "MASK_HASH");
    check_masks([hash(), Draft::mask(2, SSN).masked("bob", "MASK_HASH")], "MASK_HASH", "MASK_HASH");
    let custom = |id, expr: &str| Draft::mask(id, SSN).masked("bob", &format!("CUSTOM {expr}"));
    check_masks([custom(1, "a"), custom(2, "a")], "CUSTOM a", "CUSTOM a");
    check_masks([custom(1, "a"), custom(2, "b")], "restricted", "CUSTOM a");
}

#[test]
fn a_mask_that_cannot_be_made_restricts_its_column() {
    check_masks([Draft::mask(1, SSN).masked("bob", "CUSTOM")], "restricted", "restricted");
    check_masks([Draft::mask(1, SSN).masked("bob", "trino:MASK")], "restricted", "restricted");
    check_masks([Draft::mask(1, SSN).masked("bob", "")], "restricted", "restricted");
    let conditional = Draft::mask(1, SSN).masked("bob", "MASK");
    let with_expr = conditional.clone().with(|p| p.mask_items[0].mask.condition_expr = Some("x".to_owned()));
    check_masks([with_expr], "restricted", "restricted");
    let unknown = conditional.clone().with(|p| p.mask_items[0].item.conditions = unknown_condition());
    check_masks([unknown.clone()], "restricted", "restricted");
    check_masks([conditional.with(|p| p.conditions = unknown_condition())], "restricted", "restricted");
    let plain = GateTwoSettings { condition_errors: ConditionErrors::Ranger, ..GateTwoSettings::default() };
    assert_eq!(ssn(&snapshot([unknown]), "bob", &plain), "MASK", "Ranger ignores what it does not know");
}

#[test]
fn a_restriction_beats_every_mask_even_an_override_one() {
    let deny = Draft::access(1, SSN).deny("bob");
    check_masks(
        [deny.clone(), Draft::mask(2, SSN).masked("bob", "MASK_HASH").over()],
        "restricted",
        "restricted",
    );
    check_masks([deny, Draft::mask(2, SSN).masked("bob", "MASK_NONE").over()], "restricted", "restricted");
}

#[test]
fn a_denied_column_is_restricted_and_the_others_are_not() {
    let rules =
        rules(&snapshot([Draft::access(1, SSN).deny("group:staff")]), "bob", &GateTwoSettings::default());
    let ColumnRule::Restricted(restriction) = &rules.columns[1] else { panic!("{:?}", rules.columns) };
    assert_eq!(restriction.policy, Some(PolicyId(101)));
    assert_eq!(restriction.reason, "Denied via GROUP 'staff'");
    assert_eq!((&rules.columns[0], &rules.columns[2]), (&ColumnRule::Raw, &ColumnRule::Raw));
}

#[test]
fn a_denial_of_the_whole_table_restricts_every_column() {
    for on in ["database=sales table=orders column=*", ORDERS, "database=* table=* column=*"] {
        let rules = rules(&snapshot([Draft::access(1, on).deny("bob")]), "bob", &GateTwoSettings::default());
        assert!(rules.columns.iter().all(|rule| matches!(rule, ColumnRule::Restricted(_))), "{on}");
    }
}

#[test]
fn allows_of_the_query_service_do_not_count() {
    let deny = Draft::access(1, SSN).deny("bob");
    check_masks([deny, Draft::access(2, SSN).allow("bob").over()], "restricted", "restricted");
    check_masks([Draft::access(1, SSN).allow("alice")], "raw", "raw");
}

#[test]
fn an_exception_and_an_allow_inside_a_deny_all_else_policy_lift_a_restriction() {
    check_masks([Draft::access(1, SSN).deny("group:staff").deny_except("bob")], "raw", "raw");
    check_masks([Draft::access(1, SSN).allow("alice").all_else()], "restricted", "restricted");
    check_masks([Draft::access(1, SSN).allow("bob").all_else()], "raw", "raw");
}

#[test]
fn an_excluding_denial_restricts_every_column_but_the_named() {
    let draft = Draft::access(1, "database=sales table=orders column=!id,region").deny("bob");
    let rules = rules(&snapshot([draft]), "bob", &GateTwoSettings::default());
    let all: Vec<String> = rules.columns.iter().map(short).collect();
    assert_eq!(all, ["raw", "restricted", "raw"]);
}

#[test]
fn a_column_is_found_by_any_of_its_names_whatever_their_case() {
    let snapshot = snapshot([
        Draft::mask(1, SSN).masked("bob", "MASK"),
        Draft::access(2, "database=sales table=orders column=pin").deny("bob"),
    ]);
    let older = [vec!["SSN".to_owned()], vec!["code".to_owned(), "Pin".to_owned()], vec![]];
    let columns = [("tax_no", 0), ("secret", 1), ("Ssn", 2)]
        .map(|(name, at)| ColumnName { older: &older[at], ..ColumnName::new(name) });
    let rules = rules_of_columns(&snapshot, "bob", &GateTwoSettings::default(), &columns);
    let all: Vec<String> = rules.columns.iter().map(short).collect();
    assert_eq!(all, ["MASK", "restricted", "MASK"]);
}

#[test]
fn masks_and_filters_name_exactly_and_without_regard_to_case() {
    let by_star = [
        Draft::mask(1, "database=sales table=orders column=*").masked("bob", "MASK"),
        Draft::filter(2, "database=sales table=*").filtered("bob", "a"),
    ];
    let snapshot_of_stars = snapshot(by_star);
    assert_eq!(ssn(&snapshot_of_stars, "bob", &GateTwoSettings::default()), "raw");
    assert_eq!(filters(&snapshot_of_stars, "bob", &GateTwoSettings::default()), [""; 0]);
    check_masks(
        [Draft::mask(1, "database=SALES table=Orders column=SSN").masked("bob", "MASK")],
        "MASK",
        "MASK",
    );
}

#[test]
fn passed_over_says_why_each_policy_does_nothing() {
    let ssn_of = |id| Draft::mask(id, SSN);
    let snapshot = snapshot([
        ssn_of(1).masked("bob", "MASK").with(|p| p.is_enabled = false),
        ssn_of(2).masked("bob", "MASK").valid("", "2020/01/01 00:00:00"),
        ssn_of(3).masked("alice", "MASK"),
        ssn_of(4).masked("bob", "MASK").over(),
        ssn_of(5).masked("bob", "MASK_HASH"),
        Draft::mask(6, "database=sales table=orders column=gone").masked("bob", "MASK"),
        Draft::filter(7, ORDERS).filtered("alice", "a"),
        Draft::access(8, SSN).deny("group:staff").deny_except("bob"),
    ]);
    let found = passed_over(&snapshot, "bob");
    let reason = |id: i64| found.iter().find(|(policy, _)| *policy == id).map(|(_, reason)| reason);
    assert_eq!(reason(1), Some(&PassedOverReason::Disabled));
    assert_eq!(reason(2), Some(&PassedOverReason::NotValidNow));
    assert_eq!(reason(3), Some(&PassedOverReason::NoItemMatches));
    assert_eq!(reason(4), None);
    assert_eq!(reason(5), Some(&PassedOverReason::Overruled(PolicyId(104))));
    assert_eq!(reason(6), Some(&PassedOverReason::NoSuchColumn));
    assert_eq!(reason(7), Some(&PassedOverReason::NoItemMatches));
    assert!(matches!(reason(8), Some(PassedOverReason::Excepted(_))));
}

#[test]
fn a_relation_that_no_policy_can_name_cannot_be_read() {
    let check = |snapshot: &Snapshot| {
        let rules = rules(snapshot, "bob", &GateTwoSettings::default());
        assert!(rules.filters[0].broken.is_some());
        assert!(rules.columns.iter().all(|rule| matches!(rule, ColumnRule::Restricted(_))));
    };
    let mut disabled = state([]);
    disabled.services.get_mut("query").unwrap().is_enabled = false;
    check(&Snapshot::build(disabled).unwrap());
    let mut missing = state([]);
    missing.services.remove("query");
    check(&Snapshot::build(missing).unwrap());
    let mut no_columns = state([]);
    let hive = no_columns.service_defs.get_mut("hive").unwrap();
    for levels in [&mut hive.resources, &mut hive.mask_resources, &mut hive.filter_resources] {
        levels.retain(|level| level.name != "column");
    }
    check(&Snapshot::build(no_columns).unwrap());
    let star = rules_of_columns(&snapshot([]), "bob", &GateTwoSettings::default(), &[ColumnName::new("*")]);
    assert_eq!(short(&star.columns[0]), "restricted");
}

#[test]
fn admins_are_not_exempt() {
    let snapshot = snapshot([
        Draft::mask(1, SSN).masked("group:public", "MASK"),
        Draft::filter(2, ORDERS).filtered("group:public", "a"),
    ]);
    assert_eq!(ssn(&snapshot, "root", &GateTwoSettings::default()), "MASK");
    assert_eq!(filters(&snapshot, "root", &GateTwoSettings::default()), ["a"]);
}
