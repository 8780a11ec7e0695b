//! The laws of one level.

use std::collections::BTreeMap;

use super::{LevelMatcher, LevelOptions, Value};
use crate::matching::Tokens;
use crate::model::{ResourceDef, ResourceValues};

const TOKENS: Tokens<'static> = Tokens { user: "alice", owner: None };

fn matcher(options: &str, values: &str) -> LevelMatcher {
    let pairs = options.split_whitespace().filter_map(|pair| pair.split_once('='));
    let matcher_options: BTreeMap<_, _> = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let def = ResourceDef { name: "level".to_owned(), matcher_options, ..ResourceDef::default() };
    let is_excludes = values.starts_with('!');
    let values = values.trim_start_matches('!').split(',').map(str::to_owned).collect();
    let values = ResourceValues { values, is_excludes, is_recursive: false };
    LevelMatcher::new(&LevelOptions::of(&def).unwrap(), &values).unwrap()
}

fn check(options: &str, values: &str, yes: &[&str], no: &[&str]) {
    let matcher = matcher(options, values);
    for (requests, expected) in [(yes, true), (no, false)] {
        for request in requests {
            let found = matcher.matches(Some(&Value::new(request)), &TOKENS);
            assert_eq!(found, expected, "`{values}` ({options}) on `{request}`");
        }
    }
}

#[test]
fn a_value_without_wildcards_is_equal_without_regard_to_case() {
    check("", "Orders", &["orders", "ORDERS"], &["orders2", "order", ""]);
    check("ignoreCase=false", "Orders", &["Orders"], &["orders"]);
    check("", "a,b", &["a", "b"], &["c", "a,b"]);
}

#[test]
fn a_star_takes_any_run_and_a_question_mark_one_character() {
    check("", "fin*", &["fin", "fin_x", "FIN/y"], &["xfin"]);
    check("", "*fin", &["fin", "x_fin"], &["finx"]);
    check("", "fin**", &["finance"], &["fi"]);
    check("", "f*n*e", &["fne", "finance", "f/n/e"], &["financ", "xfinance"]);
    check("", "t?", &["t1", "tä"], &["t", "t12"]);
    check("", "*a*b*", &["ab", "xaxbx"], &["ba"]);
    check("", "a?*", &["ab", "abc"], &["a"]);
    check("", "*?", &["a"], &[]);
}

#[test]
fn only_stars_take_everything_and_other_values_are_discarded() {
    check("", "orders,**", &["anything", "", "*"], &[]);
    assert!(matcher("", "*").is_any());
    assert!(matcher("", "").is_any());
    assert!(!matcher("wildCard=false", "*").is_any());
}

#[test]
fn without_wildcards_a_star_is_a_character() {
    check("wildCard=false", "a*", &["a*"], &["ab"]);
}

#[test]
fn a_request_for_all_values_matches_only_a_level_that_takes_all() {
    check("", "a*", &[], &["*", ""]);
    assert!(matcher("", "*").matches(None, &TOKENS));
    assert!(!matcher("", "a").matches(None, &TOKENS));
}

#[test]
fn excludes_turn_the_match_round_but_never_for_all_values() {
    check("", "!orders,fin*", &["items"], &["orders", "finance", "*", ""]);
    check("", "!*", &[], &["orders", "*", ""]);
}

#[test]
fn quoted_requests_can_be_case_sensitive() {
    let options = "quotedCaseSensitive=true quoteChars=\"'";
    check(options, "\"Orders\"", &["\"Orders\""], &["\"orders\""]);
    check(options, "Orders", &["orders"], &[]);
}

#[test]
fn tokens_are_replaced_and_unknown_ones_stay() {
    check("", "home_{USER}", &["home_alice", "HOME_ALICE"], &["home_bob", "home_{USER}"]);
    check("", "{USER}*", &["alice", "alice_2"], &["bob"]);
    check("", "{OWNER}", &["{OWNER}"], &["alice"]);
    check("", "{CITY}", &["{CITY}"], &[]);
    check("", "{USER", &["{USER"], &["alice"]);
    check("", "\\{USER}", &["{USER}"], &["alice", "\\{USER}"]);
    check("replaceTokens=false", "{USER}", &["{USER}"], &["alice"]);
    check(
        "tokenDelimiterStart=% tokenDelimiterEnd=% tokenDelimiterPrefix=t:",
        "x%t:USER%%USER%",
        &["xalice%USER%"],
        &[],
    );
    check("tokenDelimiterStart=\\ tokenDelimiterEnd=}", "\\USER}", &["\\USER}"], &["alice"]);
}

#[test]
fn a_matcher_that_is_not_offered_is_refused_by_name() {
    let def = ResourceDef { matcher: "x.y.RangerPathResourceMatcher".to_owned(), ..ResourceDef::default() };
    assert!(LevelOptions::of(&def).unwrap_err().contains("RangerPathResourceMatcher"));
}
