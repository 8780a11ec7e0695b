//! The laws of scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use policy::condition::{ConditionContext, ConditionSettings, TagFacts};
use policy::script::{PlainData, ScriptEngine, ScriptError};
use policy::{AttributeValue, MatchType, Membership, Request, RequestContext, Resource};
use stdx::Timestamp;

use crate::JavaScript;

/// 2026-01-15T12:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_768_478_400_000);

fn text_map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// Alice reads `db.t`, which carries PII (current) and PCI.
pub(crate) fn with_context<T>(ask: impl FnOnce(&ConditionContext<'_>) -> T) -> T {
    let who = Membership::new("alice", ["hr", "staff"], ["analyst"]);
    let context = RequestContext {
        action: Some("query".to_owned()),
        client_addr_text: Some("10.1.2.3".to_owned()),
        attributes: BTreeMap::from([("COUNTRY".to_owned(), AttributeValue::Text("US".to_owned()))]),
        user_attributes: Some(BTreeMap::from([(
            "alice".to_owned(),
            text_map(&[("dept", "HR"), ("level", "7"), ("tags", "a|b")]),
        )])),
        group_attributes: Some(BTreeMap::from([
            ("hr".to_owned(), text_map(&[("site", "10"), ("boss", "bob")])),
            ("staff".to_owned(), text_map(&[("site", "20")])),
        ])),
        ..RequestContext::new()
    };
    let request = Request {
        service: "s",
        resource: Resource::new([("database", "db"), ("table", "t")]),
        owner: Some("carol"),
        access: "select",
        who: &who,
        now: NOW,
        client_addr: None,
        context: &context,
    };
    let pii = text_map(&[("score", "1"), ("expiry_date", "2026/01/15"), ("level", "high"), ("list", "x,y")]);
    let pci = text_map(&[("score", "5"), ("bad_date", "soon")]);
    let pii = TagFacts { kind: "PII", attributes: &pii, found: MatchType::Itself };
    let tags = [pii, TagFacts { kind: "PCI", attributes: &pci, found: MatchType::Above }];
    let settings = ConditionSettings::default();
    ask(&ConditionContext {
        zones: &["z1"],
        tags: &tags,
        current_tag: Some(pii),
        ..ConditionContext::new(&request, &settings)
    })
}

fn is_met(script: &str) -> Result<bool, ScriptError> {
    let script = JavaScript::default().compile(script, PlainData::IfNamed)?;
    with_context(|context| script.is_met(context))
}

fn text(expression: &str) -> Option<String> {
    let script = JavaScript::default().compile(expression, PlainData::IfNamed).unwrap();
    with_context(|context| script.text(context)).unwrap()
}

fn check(cases: &[(&str, bool)]) {
    for (script, expected) in cases {
        assert_eq!(is_met(script), Ok(*expected), "{script}");
    }
}

#[test]
fn a_truth_value_at_the_end_counts_and_else_what_result_was_set_to() {
    check(&[
        ("true", true),
        ("1 < 2", true),
        ("1", false),
        ("'true'", false),
        ("null", false),
        ("ctx.result = true; 5", true),
        ("ctx.result = true; null", true),
        ("ctx.result = true; false", false),
        ("ctx.setResult(true); undefined", true),
        ("if (false) ctx.result = true;", false),
        ("var a = true;", false),
    ]);
}

#[test]
fn the_scripts_of_rangers_own_policies_run() {
    check(&[
        ("var c = ctx.getRequestContextAttribute('COUNTRY'); ctx.result = !!c;", true),
        ("var c = ctx.getRequestContextAttribute('NONE'); ctx.result = !!c;", false),
        (
            "var a = ctx.getRequestContextAttribute('COUNTRY'); var b = ctx.getRequestContextAttribute('COUNTRY');ctx.result = (a != null && b != null && (a == b));",
            true,
        ),
        ("IS_IN_ROLE('analyst') && IS_IN_ROLE('hr-admin')", false),
        ("TAG.level == 'high'", true),
        ("TAG.level == 'top'", false),
        ("if ( ctx.isAccessedBefore('expiry_date') ) ctx.result = true;", false),
        ("if ( tagAttr.get('score') < 2 ) ctx.result = true;", true),
        ("ctx.isAccessedAfter('expiry_date');", true),
        ("tag.score > 0.6", false),
        ("USER.level > 5", true),
    ]);
    assert!(matches!(is_met("test"), Err(ScriptError::Failed(_))));
}

#[test]
fn dates_that_are_missing_or_unreadable_are_after_and_not_before() {
    check(&[
        ("ctx.isAccessedAfter('none')", true),
        ("ctx.isAccessedBefore('none')", false),
        ("ctx.isAccessedAfter('PCI', 'bad_date')", true),
        ("ctx.isAccessedBefore('PCI', 'bad_date')", false),
        ("ctx.isAccessedAfter('PII', 'expiry_date')", true),
        ("ctx.getAsDate('2026/01/15').getTime() == 1768435200000", true),
        ("ctx.getAccessTime().after(ctx.getTagAttributeAsDate('PII', 'expiry_date'))", true),
        ("IS_ACCESS_TIME_AFTER('2026/01/15 12:00')", false),
        ("IS_ACCESS_TIME_AFTER('2026/01/15 11:59:59')", true),
        ("IS_ACCESS_TIME_BEFORE('2026/01/16')", true),
        ("IS_ACCESS_TIME_BETWEEN('2026/01/15 12:00:00', '2026/01/15 12:00:01')", true),
        ("IS_ACCESS_TIME_BETWEEN('2026/01/15 20:00:00', '2026/01/15 21:01:00', 'Asia/Tokyo')", true),
    ]);
}

#[test]
fn lists_are_joined_with_defaults_separators_and_quotes() {
    for (expression, expected) in [
        ("GET_TAG_NAMES()", "PCI,PII"),
        ("GET_TAG_NAMES_Q()", "'PCI','PII'"),
        ("GET_TAG_NAMES(null, '|')", "PCI|PII"),
        ("GET_TAG_NAMES_Q(null, '|', '{', '}')", "{PCI}|{PII}"),
        ("GET_UG_NAMES()", "hr,staff"),
        ("GET_UR_NAMES_Q()", "'analyst'"),
        ("GET_TAG_ATTR('score')", "5,1"),
        ("GET_TAG_ATTR_Q('score', null, ';')", "'5';'1'"),
        ("GET_TAG_ATTR('none', 'dflt')", "dflt"),
        ("GET_TAG_ATTR_Q('none', 'dflt')", "'dflt'"),
        ("GET_TAG_ATTR_Q('none')", ""),
        ("GET_UG_ATTR('site')", "10,20"),
        ("GET_UG_ATTR_NAMES()", "boss,site"),
        ("GET_USER_ATTR('dept')", "HR"),
        ("GET_USER_ATTR_Q('none', 'x')", "'x'"),
        ("USER_ATTR_NAMES_CSV", "dept,level,tags"),
        ("TAG_ATTR_NAMES_Q_CSV", "'bad_date','expiry_date','level','list','score'"),
        ("UG_NAMES_Q_CSV", "'hr','staff'"),
        ("GET_UG_ATTR_Q_CSV('site')", "'10','20'"),
        ("ctx.getResource()", "db/t"),
        ("ctx.getResourceZone()", "z1"),
        ("ctx.getUserGroups().contains('hr')", "true"),
        ("ctx.user", "alice"),
        ("ctx.clientIPAddress", "10.1.2.3"),
    ] {
        assert_eq!(text(expression).as_deref(), Some(expected), "{expression}");
    }
}

#[test]
fn a_request_is_spread_out_as_plain_data() {
    for (expression, expected) in [
        ("USER._name", Some("alice")),
        ("USER.none", None),
        ("'a' + USER.none", Some("aundefined")),
        ("UGNAMES.length", Some("2")),
        ("UG.hr.site + UG['staff']['site']", Some("1020")),
        ("UGA.sVal.site + ':' + UGA.mVal.site", Some("10:10,20")),
        ("URNAMES", Some("analyst")),
        ("TAGNAMES.join('+')", Some("PCI+PII")),
        ("TAGS.PCI._matchType", Some("ANCESTOR")),
        ("TAG._type", Some("PII")),
        ("REQ.accessType + REQ.action + REQ.user", Some("selectqueryalice")),
        ("RES.tag + RES._ownerUser", Some("PIIcarol")),
        ("REQ.clientType", None),
        ("J(UGNAMES)", Some("[\"hr\",\"staff\"]")),
        ("Object.keys(TAG).length", Some("6")),
        ("[[USER.tags,'|']][1]", Some("b")),
        ("[[TAG.list]].intersects(['y'])", Some("true")),
        ("['a'].includes('a')", Some("true")),
    ] {
        assert_eq!(text(expression).as_deref(), expected, "{expression}");
    }
}

#[test]
fn a_script_that_does_not_parse_says_where() {
    let engine = JavaScript::default();
    let message = |script: &str| engine.check(script).unwrap_err().to_string();
    assert!(message("a ==\n== b").contains("in line 2"), "{}", message("a ==\n== b"));
    for script in ["(", "if (", "'open", "a b", "var 1x"] {
        assert!(matches!(engine.check(script), Err(ScriptError::NotParsable(_))), "{script}");
    }
    assert_eq!(engine.check("while (true) {}"), Ok(()));
    let long = "1;".repeat(crate::limits::SCRIPT_BYTES_MAX);
    assert_eq!(engine.check(&long), Err(ScriptError::OverLimit("SCRIPT_BYTES_MAX")));
}

#[test]
fn a_script_without_an_end_is_stopped_at_a_limit() {
    for (script, limit) in [
        ("for (;;) {}", "LOOK_UPS_MAX"),
        ("while (true) { try { for (;;) {} } catch (e) {} }", "LOOK_UPS_MAX"),
        ("/(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')", "LOOK_UPS_MAX"),
        ("(function f() { f() })()", "STACK_BYTES_MAX"),
        ("'x'.repeat(2e8)", "MEMORY_BYTES_MAX"),
        ("var a = []; for (;;) a.push('x'.repeat(1000))", "MEMORY_BYTES_MAX"),
    ] {
        assert_eq!(is_met(script), Err(ScriptError::OverLimit(limit)), "{script}");
    }
}

#[test]
fn a_script_that_never_looks_up_is_given_up() {
    let script = "var s = 'x'.repeat(1e6); for (;;) s.indexOf('yz');";
    assert_eq!(is_met(script), Err(ScriptError::OverLimit("RUN_TIME_MAX")));
    // The next run is not held up by it.
    assert_eq!(is_met("true"), Ok(true));
}

#[test]
fn nothing_outside_can_be_reached() {
    for script in [
        "typeof require + typeof fetch + typeof process + typeof print + typeof console + typeof std + typeof os == 'undefinedundefinedundefinedundefinedundefinedundefinedundefined'",
        "typeof Java + typeof load + typeof setTimeout + typeof Worker + typeof WebAssembly == 'undefinedundefinedundefinedundefinedundefined'",
        "exit === null && quit === null",
        "Function('return this')() === globalThis",
        "Object.getOwnPropertyNames(globalThis).every(function (n) { return !/file|sock|exec|env|module/i.test(n); })",
    ] {
        assert_eq!(is_met(script), Ok(true), "{script}");
    }
    for script in ["import x from 'fs'", "import.meta.url", "require('fs')", "new Worker('x')"] {
        assert!(is_met(script).is_err(), "{script}");
    }
    // A module is promised and never comes; a promise is no truth value.
    assert!(!matches!(is_met("import('fs')"), Ok(true)));
}

#[test]
fn one_run_leaves_nothing_to_the_next() {
    let engine = JavaScript::default();
    let spoil = "Object.prototype.level = 'high'; ctx.isInRole = null; Array.prototype.includes = null; \
                 JSON.parse = null; globalThis.left = 1; String.prototype.split = null; false";
    let run = |script: &str| {
        let script: Arc<_> = engine.compile(script, PlainData::IfNamed).unwrap();
        with_context(|context| script.is_met(context))
    };
    assert_eq!(run(spoil), Ok(false));
    assert_eq!(run("typeof left == 'undefined' && IS_IN_ROLE('analyst') && ['a'].includes('a')"), Ok(true));
    assert_eq!(run("({}).level === undefined"), Ok(true));
}

#[test]
fn a_script_cannot_change_what_it_is_told() {
    check(&[
        ("ctx.isInRole = function () { return true; }; ctx.isInRole('boss')", false),
        ("Object.prototype.toJSON = function () { return []; }; ctx.isInGroup('boss')", false),
        (
            "Array.prototype.map = function () { return ['hr']; }; try { ctx.isInGroup('boss') } catch (e) { false }",
            false,
        ),
    ]);
}
