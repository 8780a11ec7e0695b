//! The laws of one level.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{LevelKey, LevelMatcher, LevelOptions};
use crate::evaluate::{AttributeValue, ElementScope, LevelValue};
use crate::matching::{Expressions, MatchContext, RequestLevel};
use crate::model::{ResourceDef, ResourceValues};

const PATH: &str = "matcher=RangerPathResourceMatcher";
const URL: &str = "matcher=RangerURLResourceMatcher";

/// `~` in front: recursive; `!` in front: excludes.
fn matcher(options: &str, values: &str) -> (LevelOptions, LevelMatcher) {
    let pairs = options.split_whitespace().filter_map(|pair| pair.split_once('='));
    let matcher_options: BTreeMap<_, _> = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let matcher = matcher_options.get("matcher").cloned().unwrap_or_default();
    let def = ResourceDef { name: "level".to_owned(), matcher, matcher_options, ..ResourceDef::default() };
    let (is_excludes, is_recursive) = (values.starts_with('!'), values.starts_with('~'));
    let values = values.trim_start_matches(['!', '~']).split(',').map(str::to_owned).collect();
    let values = ResourceValues { values, is_excludes, is_recursive };
    let options = LevelOptions::of(&def).unwrap();
    let matcher = LevelMatcher::new(&options, &values);
    (options, matcher)
}

fn check_in(
    scope: ElementScope,
    context: &MatchContext<'_>,
    options: &str,
    values: &str,
    yes: &[&str],
    no: &[&str],
) {
    let (level, matcher) = matcher(options, values);
    for (requests, expected) in [(yes, true), (no, false)] {
        for request in requests {
            let value = LevelValue::One((*request).into());
            let requested = RequestLevel::new(0, &level, &value, scope);
            assert_eq!(
                matcher.matches(&requested, context),
                expected,
                "`{values}` ({options}) on `{request}`"
            );
            let Some(keys) = requested.keys() else { continue };
            let keys: Vec<Vec<u8>> = keys.map(|key| key.bytes.to_vec()).collect();
            let found = matcher.keys().any(|key| match key {
                LevelKey::Exact(text) => keys.iter().any(|key| key == text.as_bytes()),
                LevelKey::Prefix(text) => keys.iter().any(|key| key.starts_with(text.as_bytes())),
                LevelKey::Suffix(text) => keys.iter().any(|key| key.ends_with(text.as_bytes())),
                LevelKey::Anything => true,
            });
            assert!(found || !expected, "an index would miss `{values}` ({options}) on `{request}`");
        }
    }
}

fn check(options: &str, values: &str, yes: &[&str], no: &[&str]) {
    check_in(ElementScope::Itself, &MatchContext::new("alice", None), options, values, yes, no);
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
}

#[test]
fn only_stars_take_everything_and_other_values_are_discarded() {
    check("", "orders,**", &["anything", "", "*"], &[]);
    assert!(matcher("", "*").1.is_any());
    assert!(matcher("", "").1.is_any());
    assert!(!matcher("wildCard=false", "*").1.is_any());
}

#[test]
fn without_wildcards_a_star_is_a_character() {
    check("wildCard=false", "a*", &["a*"], &["ab"]);
}

#[test]
fn a_request_for_all_values_matches_only_a_level_that_takes_all() {
    check("", "a*", &[], &["*", ""]);
    check("", "*", &["*", ""], &[]);
    check("wildCard=false", "*", &[], &["*", ""]);
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
    check("", "a\\b\\\\{USER}", &["a\\b\\alice"], &[]);
    let attributes = BTreeMap::from([("token:CITY".to_owned(), AttributeValue::Text("Bern*".to_owned()))]);
    let context = MatchContext::new("alice", Some("bob")).with_attributes(&attributes);
    check_in(ElementScope::Itself, &context, "", "{CITY}_{OWNER}", &["bern*_bob"], &["berna_bob"]);
    check_in(ElementScope::Itself, &MatchContext::NONE, "", "{USER}\\\\", &["{USER}\\\\"], &["alice"]);
    check_in(ElementScope::Itself, &MatchContext::new("", None), "", "{USER}", &["{USER}"], &[""]);
}

#[test]
fn a_wildcard_that_a_token_brings_along_is_live_only_where_the_value_has_one_in_its_middle() {
    let context = MatchContext::new("a*e", None);
    check_in(ElementScope::Itself, &context, "", "{USER}", &["a*e"], &["alice"]);
    check_in(ElementScope::Itself, &context, "", "{USER}*", &["a*exx"], &["alicexx"]);
    check_in(ElementScope::Itself, &context, "", "x*{USER}y", &["x_aliCey"], &["x_ay"]);
}

struct Shout;

impl Expressions for Shout {
    fn text(&self, expr: &str) -> Option<String> {
        (expr != "nothing").then(|| expr.to_uppercase())
    }
}

#[test]
fn expressions_are_evaluated_before_tokens_and_stand_as_written_without_an_engine() {
    let context = MatchContext::new("alice", None).with_expressions(&Shout);
    let check_with = |options, values, yes: &[&str]| {
        check_in(ElementScope::Itself, &context, options, values, yes, &["other"]);
    };
    check_with("", "a_${{user}}_${{nothing}}_{USER}", &["a_USER__alice"]);
    check_with("", "{${{user}}}", &["alice"]);
    check_with("replaceReqExpressions=false", "a_${{user}}", &["a_${{user}}"]);
    check("", "a_${{user}}", &["a_${{user}}"], &["a_USER"]);
    assert!(matcher("", "a_${{user}}").1.needs_expressions());
    assert!(!matcher("", "a_${{user").1.needs_expressions());
}

#[test]
fn several_requested_values_match_if_any_does() {
    let (options, matcher) = matcher("", "orders,items");
    for (values, expected) in
        [(&["x", "Items"][..], true), (&["x", "y"], false), (&[], false), (&["*"], false)]
    {
        let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
        let request = RequestLevel::new(0, &options, &LevelValue::Any(values.into()), ElementScope::Itself);
        assert_eq!(matcher.matches(&request, &MatchContext::NONE), expected);
    }
}

#[test]
fn a_path_without_recursion_compares_like_any_value() {
    check(PATH, "/a/b*", &["/a/b", "/a/b/c", "/a/bx"], &["/a"]);
    check(PATH, "/a/b", &["/a/b"], &["/a/b/", "/a/b/c"]);
}

#[test]
fn a_recursive_path_takes_what_lies_below() {
    check(PATH, "~/a/b", &["/a/b", "/a/b/", "/a/b/c"], &["/a/bc", "/a"]);
    check(PATH, "~/a/b/", &["/a/b/c", "/a/b/"], &["/a/b", "/a/bc"]);
    check(PATH, "~*", &["/a", ""], &[]);
    check(PATH, "~/a/*/c", &["/a/x/c/d", "/A/x/C"], &["/a/x"]);
    check(&format!("{PATH} wildCard=false"), "~/a/b/", &["/a/b", "/a/b/c"], &["/a/bc"]);
    check(&format!("{PATH} pathSeparatorChar=."), "~a.b", &["a.b", "a.b.c"], &["a.bc", "a/b"]);
}

#[test]
fn a_recursive_address_keeps_its_scheme_in_one_piece() {
    check(URL, "~s3a://b/x", &["s3a://b/x", "s3a://b/x/y"], &["s3a://b/xy", "b/x"]);
    check(URL, "~s3a://b/*/z", &["s3a://b/x/z", "s3a://b/x/z/1"], &["b/x/z", "s3a://b/x"]);
}

#[test]
fn a_scope_of_an_element_widens_the_match() {
    let none = MatchContext::NONE;
    let prefix = ElementScope::ItselfOrPrefix;
    check_in(prefix, &none, "", "orders", &["", "ord", "Orders", "*"][..3], &["orders2", "x", "*"]);
    check_in(prefix, &none, "", "fin*", &["f", "fin", "finance"], &["x"]);
    check_in(prefix, &none, "", "*fin", &["anything"], &[]);
    check_in(prefix, &none, "", "*", &[""], &[]);
    let child = ElementScope::ItselfOrChild;
    check_in(child, &none, PATH, "/a/b", &["/a", "/a/", "/a/b"], &["/", "/a/b/c"]);
    check_in(child, &none, PATH, "~/a/b", &["/a", "/a/b/c"], &["/"]);
    check_in(child, &none, PATH, "~/a/b*/c", &["/a/bx", "/a/bx/c"], &["/a"]);
    check_in(child, &none, "", "/a/b", &["/a/b"], &["/a"]);
}

#[test]
fn a_matcher_that_is_not_offered_is_refused_by_name() {
    let def = |matcher: &str, separator: &str| ResourceDef {
        matcher: matcher.to_owned(),
        matcher_options: BTreeMap::from([("pathSeparatorChar".to_owned(), separator.to_owned())]),
        ..ResourceDef::default()
    };
    assert!(LevelOptions::of(&def("x.y.MyMatcher", "/")).unwrap_err().contains("MyMatcher"));
    assert!(LevelOptions::of(&def("", "é")).unwrap_err().contains("separator"));
}

/// A value, or a policy's value, of few characters, so that they often meet.
fn text() -> impl Strategy<Value = String> {
    "[abAB/*?{}.]{0,7}"
}

proptest! {
    #[test]
    fn an_index_finds_whatever_matches(
        class in prop_oneof![Just(""), Just(PATH), Just(URL)],
        case in prop_oneof![Just(""), Just("ignoreCase=false"), Just("quotedCaseSensitive=true quoteChars=a")],
        wild in prop_oneof![Just(""), Just("wildCard=false")],
        policy in proptest::collection::vec(text(), 1..3),
        how in "[!~]?",
        value in text(),
        scheme in prop_oneof![Just(""), Just("s://"), Just(" s://")],
    ) {
        let options = format!("{class} {case} {wild}");
        let (level, matcher) = matcher(&options, &format!("{how}{scheme}{}", policy.join(",")));
        let value = format!("{scheme}{value}");
        let requested = RequestLevel::new(0, &level, &LevelValue::One(value.into()), ElementScope::Itself);
        let matches = matcher.matches(&requested, &MatchContext::new("ab", None));
        if let Some(keys) = requested.keys().filter(|_| matches) {
            let keys: Vec<Vec<u8>> = keys.map(|key| key.bytes.to_vec()).collect();
            let found = matcher.keys().any(|key| match key {
                LevelKey::Exact(text) => keys.iter().any(|key| key == text.as_bytes()),
                LevelKey::Prefix(text) => keys.iter().any(|key| key.starts_with(text.as_bytes())),
                LevelKey::Suffix(text) => keys.iter().any(|key| key.ends_with(text.as_bytes())),
                LevelKey::Anything => true,
            });
            prop_assert!(found);
        }
    }

    #[test]
    fn a_wider_scope_never_matches_less(policy in text(), value in text(), how in "~?") {
        let (level, matcher) = matcher(PATH, &format!("{how}{policy}"));
        let matches = |scope| {
            let requested = RequestLevel::new(0, &level, &LevelValue::One(value.as_str().into()), scope);
            matcher.matches(&requested, &MatchContext::NONE)
        };
        if matches(ElementScope::Itself) {
            prop_assert!(matches(ElementScope::ItselfOrChild) && matches(ElementScope::ItselfOrPrefix));
        }
    }
}
