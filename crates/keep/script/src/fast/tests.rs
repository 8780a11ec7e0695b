//! Holds the fast way against the engine.

use policy::script::{PlainData, ScriptEngine as _};
use proptest::prelude::*;

use super::{Leave, parse, run};
use crate::engine::{JavaScript, Outcome};
use crate::source;
use crate::tests::with_context;

fn fast(script: &str) -> Result<Outcome, Leave> {
    let script = source::rewritten(script);
    let program = parse(&script, true)?;
    with_context(|context| run(&program, context))
}

#[test]
fn the_common_scripts_need_no_engine() {
    for script in [
        "var country_code = ctx.getRequestContextAttribute('COUNTRY'); ctx.result = !!country_code;",
        "var a = ctx.getRequestContextAttribute('A'); var b = ctx.getRequestContextAttribute('B');ctx.result = (a != null && b != null && (a == b));",
        "IS_IN_ROLE('fin-admin') && IS_IN_ROLE('hr-admin')",
        "TAG.level == 'high'",
        "if ( ctx.isAccessedBefore('activation_date') ) ctx.result = true;",
        "if ( tagAttr.get('score') < 2 ) ctx.result = true;",
        "ctx.isAccessedAfter('expiry_date');",
        "USER._name",
        "USER.dept === 'HR' ? UGNAMES.includes('hr') : false",
        "[[TAG.list]].intersects([[USER.tags,'|']])",
        "UG.hr.site == 10 && TAGS['PCI'].score > 4",
        "HAS_NO_TAG || GET_USER_ATTR('level') >= 7",
    ] {
        assert!(fast(script).is_ok(), "{script}");
    }
}

#[test]
fn what_is_not_certain_is_left_to_the_engine() {
    for script in [
        "a b",
        "test",
        "1 / 2",
        "x => 1",
        "USER.toString",
        "TAG.constructor == null",
        "for (;;) {}",
        "0x10",
        "010",
        "1e3",
        "`a`",
        "/a/.test('a')",
        "a <!-- b",
        "let x = 1; x",
        "var ctx = 1",
        "var undefined = 1",
        "'é' < 'f'",
        "1.5 + ''",
        "tag.score",
        "ctx.result",
        "UGNAMES == 'hr,staff'",
        "null.x",
        "eval('1')",
        "1\n2",
        "'\\x41'",
        "ctx.isInRole",
        "ctx['isInRole']('a')",
        "(ctx).isInRole('a')",
        "var USER = 1",
    ] {
        assert_eq!(fast(script).err(), Some(Leave), "{script}");
    }
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(fast(&deep).err(), Some(Leave));
    assert_eq!(fast(&"1+".repeat(5000)).err(), Some(Leave));
    assert_eq!(fast(&"{".repeat(5000)).err(), Some(Leave));
    assert_eq!(fast(&"!".repeat(5000)).err(), Some(Leave));
}

fn text() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "", "a", "hr", "HR", "7", "10", " 5 ", "1.5", "high", "x,y", "x", "é", "true", "0", "-1", "abc",
        "NaN", ",",
    ])
    .prop_map(|text| format!("'{text}'"))
}

fn leaf() -> impl Strategy<Value = String> {
    let names = vec![
        "null",
        "undefined",
        "true",
        "false",
        "0",
        "1",
        "2",
        "7",
        "10",
        "1.5",
        "v",
        "w",
        "USER.dept",
        "USER.level",
        "USER.none",
        "USER._name",
        "TAG.score",
        "TAG._type",
        "TAG.list",
        "tagAttr.score",
        "REQ.action",
        "REQ.clientType",
        "TAGS.PCI.score",
        "TAGS.PCI._matchType",
        "UG.hr.site",
        "UG['staff'].site",
        "UGNAMES",
        "URNAMES",
        "TAGNAMES",
        "UGNAMES.length",
        "ctx.getUser()",
        "ctx.getUserGroups()",
        "ctx.getAction()",
        "ctx.getCurrentTagType()",
        "ctx.getResource()",
        "ctx.isInAnyRole()",
        "HAS_ANY_TAG",
        "GET_UG_NAMES_Q()",
        "TAG_NAMES_CSV",
        "RES.tag",
        "ctx.getAccessTime()",
        "tag.type",
        "ctx.getTagAttributes('PCI')",
        "USER['dept']",
        "UGNAMES[0]",
        "UGNAMES[9]",
    ];
    prop_oneof![proptest::sample::select(names).prop_map(str::to_owned), text()]
}

fn expression() -> impl Strategy<Value = String> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        let operators = vec!["==", "!=", "===", "!==", "<", "<=", ">", ">=", "+", "-", "*", "&&", "||"];
        let methods = vec!["includes", "indexOf", "startsWith", "endsWith", "split", "intersects", "get"];
        let calls = vec![
            "ctx.isInGroup",
            "ctx.isInRole",
            "ctx.hasTag",
            "ctx.hasUserAttr",
            "ctx.getAttributeValue",
            "ctx.isAccessedAfter",
            "ctx.isAccessedBefore",
            "GET_TAG_ATTR",
            "GET_USER_ATTR_Q",
            "IS_ACCESS_TIME_AFTER",
            "ctx.getRequestContextAttribute",
            "tagAttr.get",
            "ctx.getTagAttributes",
        ];
        prop_oneof![
            (inner.clone(), proptest::sample::select(operators), inner.clone())
                .prop_map(|(a, operator, b)| format!("{a} {operator} {b}")),
            (inner.clone(), proptest::sample::select(methods), inner.clone())
                .prop_map(|(of, method, arg)| format!("({of}).{method}({arg})")),
            (proptest::sample::select(calls), proptest::collection::vec(inner.clone(), 0..3))
                .prop_map(|(call, args)| format!("{call}({})", args.join(", "))),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("({a})")),
            proptest::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    })
}

fn script() -> impl Strategy<Value = String> {
    let statement = prop_oneof![
        expression().prop_map(|e| format!("{e};")),
        expression().prop_map(|e| format!("var x = {e};")),
        expression().prop_map(|e| format!("w = {e};")),
        expression().prop_map(|e| format!("ctx.result = {e};")),
        (expression(), expression()).prop_map(|(a, b)| format!("if ({a}) ctx.result = {b};")),
        (expression(), expression(), expression())
            .prop_map(|(a, b, c)| format!("if ({a}) {{ v = {b}; }} else {c};")),
    ];
    proptest::collection::vec(statement, 1..4)
        .prop_map(|statements| format!("var v = 'hr', w; {}", statements.join(" ")))
}

proptest! {
    #[test]
    fn the_fast_way_says_what_the_engine_says(script in script()) {
        let Ok(fast) = fast(&script) else { return Ok(()) };
        let engine = JavaScript::without_fast_way().compile(&script, PlainData::IfNamed);
        let engine = engine.map_err(|error| TestCaseError::fail(format!("{script}: {error}")))?;
        let (is_met, text) = with_context(|context| (engine.is_met(context), engine.text(context)));
        let (fast_is_met, fast_text) = match fast {
            Outcome::Bool(value) => (value, Some(value.to_string())),
            Outcome::Other { result, text } => (result, text),
        };
        prop_assert_eq!(is_met, Ok(fast_is_met), "{}", &script);
        prop_assert_eq!(text, Ok(fast_text), "{}", &script);
    }
}
