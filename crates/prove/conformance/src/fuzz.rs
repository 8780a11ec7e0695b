//! Feeds mangled texts to everything that reads texts from outside, for as long as it is given.
//!
//! Five seconds each, or a minute with `SLUICE_LONG=1`. Nothing may panic, and the laws beside each must hold.

mod mangle;

use std::collections::BTreeMap;
use std::sync::Arc;

use policy::condition::{ConditionContext, ConditionSettings, TagFacts};
use policy::expression::{TextPart, text_parts};
use policy::json::Json;
use policy::matching::{MatchContext, level_matches};
use policy::model::{
    Recurrence, RecurrenceInterval, RecurrenceSchedule, ResourceDef, ResourceValues, ValiditySchedule,
};
use policy::schedule::{Schedule, ScheduleReading, validate};
use policy::script::{PlainData, ScriptEngine as _};
use policy::{MatchType, Membership, NO_CONTEXT, Request, Resource};
use script::JavaScript;
use stdx::{Clock as _, SystemClock, Timestamp};

use mangle::Mangler;

/// Calls `check` with one mangled text after the other until the time is over.
fn fuzz(seeds: &[&str], words: &[&str], mut check: impl FnMut(&mut Mangler, &str)) {
    let is_long = std::env::var_os("SLUICE_LONG").is_some_and(|value| value == "1");
    let millis = if is_long { 60_000 } else { 5_000 };
    let start = SystemClock.now().millis();
    // A short run is the same each time; a long one looks elsewhere each time.
    let mut mangler = Mangler::new(if is_long { start.unsigned_abs() } else { 1 });
    let mut n_texts = 0_u64;
    while SystemClock.now().millis() - start < millis {
        let text = mangler.text(seeds, words);
        let told = text.clone();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&mut mangler, &text)));
        if let Err(panic) = caught {
            eprintln!("after {n_texts} texts, with {told:?}");
            std::panic::resume_unwind(panic);
        }
        n_texts += 1;
    }
    println!("{n_texts} texts");
}

const POLICY: &str = r#"{"id": 7, "service": "hive", "name": "p", "policyType": 0, "isEnabled": "true",
  "resources": {"database": {"values": ["sales*", "{USER}"], "isExcludes": false}, "table": {"values": ["*"]}},
  "policyItems": [{"accesses": [{"type": "select"}], "users": ["alice"], "groups": ["public"],
    "conditions": [{"type": "ip-range", "values": ["10.1.*"]}], "delegateAdmin": true}],
  "validitySchedules": [{"startTime": "2026/01/01 00:00:00", "timeZone": "UTC", "recurrences": [
    {"schedule": {"minute": "0", "hour": "9-17", "dayOfWeek": "2-6", "month": "*", "year": "*"}, "interval": {"hours": 1}}]}]}"#;

#[test]
fn json_from_outside_is_read_or_refused() {
    let def = r##"{"name": "hive", "resources": [{"name": "database", "level": 10, "mandatory": true,
      "matcherOptions": {"wildCard": "true"}}], "accessTypes": [{"name": "select", "impliedGrants": ["_any"]}]} # end"##;
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "'",
        "null",
        "true",
        "-1",
        "1e999",
        "\\u",
        "\\ud800",
        "//",
        "/*",
        "#",
        "\"resources\"",
        "\"policyItems\"",
        "\"values\"",
        "\"isExcludes\"",
        "\"conditions\"",
        "\u{feff}",
    ];
    fuzz(&[POLICY, def, "[1, 2,]", "{'a': {b: \"c\"}}"], &words, |_, text| {
        let _ = Json::read(text);
        let Ok(value) = ranger_wire::parse_lenient(text) else { return };
        if let Ok(def) = ranger_wire::ServiceDef::from_value(value.clone()) {
            let _ = def.to_model();
        }
        let Ok(policy) = ranger_wire::Policy::from_value(value) else { return };
        let Ok(model) = policy.to_model() else { return };
        // What was read can be written, and says the same when it is read again.
        let written = policy.to_json().unwrap();
        let again = ranger_wire::Policy::from_json(&written).unwrap().to_model().unwrap();
        assert_eq!(again, model, "{written}");
    });
}

#[test]
fn patterns_match_or_do_not() {
    let seeds = [
        "sales",
        "sal*",
        "*les",
        "s?l*s",
        "/a/*/c",
        "/a/b/",
        "s3a://bucket/*",
        "{USER}_x",
        "${{USER.x}}",
        "*",
    ];
    let words = ["*", "?", "/", "\\", "{", "}", "{USER}", "{OWNER}", "://", "${{", "}}", "[", "ß", "İ", "\0"];
    let matchers = ["RangerDefaultResourceMatcher", "RangerPathResourceMatcher", "RangerURLResourceMatcher"];
    fuzz(&seeds, &words, |mangler, text| {
        let option = |name: &str, is_on: bool| (name.to_owned(), is_on.to_string());
        let def = ResourceDef {
            name: "level".to_owned(),
            matcher: (*mangler.pick(&matchers)).to_owned(),
            matcher_options: BTreeMap::from([
                option("wildCard", mangler.below(2) == 0),
                option("ignoreCase", mangler.below(2) == 0),
                option("replaceTokens", mangler.below(2) == 0),
            ]),
            ..ResourceDef::default()
        };
        let value = mangler.text(&seeds, &words);
        let values = ResourceValues {
            values: vec![text.to_owned()],
            is_excludes: mangler.below(4) == 0,
            is_recursive: mangler.below(2) == 0,
        };
        let context = MatchContext::new("alice", None);
        let found = level_matches(&def, &values, &value, &context);
        // Which way round the level is taken makes no difference to whether it can be read.
        let others = ResourceValues { is_excludes: !values.is_excludes, ..values.clone() };
        assert_eq!(found.is_ok(), level_matches(&def, &others, &value, &context).is_ok());
        // A text without anything special in it matches itself.
        let is_plain = !text.trim().is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
        if is_plain && !values.is_excludes {
            assert_eq!(level_matches(&def, &values, text, &context), Ok(true), "{def:?}");
        }
    });
}

const SCRIPTS: &[&str] = &[
    "TAG.level == 'high'",
    "if ( tagAttr.get('score') < 2 ) ctx.result = true;",
    "var a = ctx.getRequestContextAttribute('A'); ctx.result = !!a;",
    "dept = '${{USER.dept}}' and ${{GET_TAG_NAMES_Q()}}",
    "[[USER.x,'|']].intersects([[TAG.y]])",
    "IS_ACCESS_TIME_BETWEEN('2026/01/01', '2026/02/01 10:00', 'Asia/Tokyo')",
    "UGNAMES.includes('hr') ? 1 : (2 + 3) * -4",
    "(async function* () { yield* [1n, `${2}`] })()",
];

const SCRIPT_WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "`",
    "${{",
    "}}",
    "for(;;)",
    "while(1)",
    "function f(){f()}f()",
    "new ",
    "Proxy",
    "Symbol.iterator",
    "eval",
    "import(",
    "await ",
    "class ",
    "=>",
    "...",
    "9n**9n",
    ".repeat(1e9)",
    "/(a+)+$/",
    "USER",
    "TAG",
    "ctx.",
    "__proto__",
    "constructor",
    "toString",
    "\u{2028}",
    "ctx.result = ",
];

#[test]
fn expressions_and_scripts_end_at_a_limit() {
    let engine = JavaScript::default();
    let attributes = BTreeMap::from([("score".to_owned(), "1".to_owned())]);
    let tag = TagFacts { kind: "PII", attributes: &attributes, found: MatchType::Itself };
    let who = Membership::new("alice", [""; 0], [""; 0]);
    let request = Request {
        service: "s",
        resource: Resource::new([("database", "d")]),
        owner: None,
        access: "select",
        who: &who,
        now: Timestamp::from_millis(1_768_478_400_000),
        client_addr: None,
        context: &NO_CONTEXT,
    };
    let settings = ConditionSettings::default();
    let tags = [tag];
    let context = ConditionContext {
        tags: &tags,
        current_tag: Some(tag),
        ..ConditionContext::new(&request, &settings)
    };
    fuzz(SCRIPTS, SCRIPT_WORDS, |_, text| {
        // The parts are the text again.
        let part = |part| match part {
            TextPart::Literal(text) => text.to_owned(),
            TextPart::Expression(text) => format!("${{{{{text}}}}}"),
        };
        assert_eq!(text_parts(text).map(part).collect::<String>(), text);
        let Ok(script) = engine.compile(text, PlainData::IfNamed) else { return };
        let _ = Arc::clone(&script).is_met(&context);
        let _ = script.text(&context);
    });
}

#[test]
fn schedules_that_are_valid_can_be_read_and_never_hang() {
    let seeds = [
        "2026/01/01 00:00:00",
        "0,15,30",
        "9-17",
        "1,3-5, 7",
        "*",
        "2024-2030",
        "UTC",
        "Asia/Tokyo",
        "31",
        "",
    ];
    let words = ["*", "-", ",", " ", "0", "31", "99999999999999999999", "/", ":", "2100", "GMT+5", "PST"];
    let servers =
        [chrono_tz::Tz::UTC, chrono_tz::Tz::America__Los_Angeles, chrono_tz::Tz::Australia__Lord_Howe];
    let now = Timestamp::from_millis(1_768_478_400_000);
    fuzz(&seeds, &words, |mangler, text| {
        // Most fields are right most of the time, or no schedule would ever be.
        let mut field = |good: &[&str]| match mangler.below(8) {
            0 => Some(text.to_owned()),
            1 => None,
            _ => Some((*mangler.pick(good)).to_owned()),
        };
        let schedule = ValiditySchedule {
            start_time: field(&["2020/01/01 00:00:00", ""]),
            end_time: field(&["2040/06/30 23:59:59", ""]),
            time_zone: field(&["UTC", "America/New_York", ""]),
            recurrences: vec![Recurrence {
                schedule: RecurrenceSchedule {
                    minute: field(&["0", "0,30", "59"]),
                    hour: field(&["*", "22", "0-8,20", "1-*"]),
                    day_of_month: field(&["*", "31", "1,15", "29-30"]),
                    day_of_week: field(&["1", "2-6", "*", ""]),
                    month: field(&["*", "2", "1-3, 12"]),
                    year: field(&["*", "2020-2040", "2026"]),
                },
                interval: RecurrenceInterval { days: 0, hours: 8, minutes: 5 },
            }],
        };
        let server = *mangler.pick(&servers);
        let readings = [ScheduleReading::OwnZone, ScheduleReading::Ranger { server }];
        let valid = validate(&schedule, now, server);
        for reading in readings {
            let read = Schedule::new(&schedule, reading);
            let hour = i64::try_from(mangler.below(400_000)).unwrap();
            let at = Timestamp::from_millis(hour * 3_600_000 + 59_000);
            let held = read.map(|read| read.holds(at));
            let Ok(valid) = &valid else { continue };
            // What the validator takes can be read, and means the same before and after.
            let normal = Schedule::new(valid, reading);
            let normal = normal.unwrap_or_else(|why| panic!("{valid:?} by {reading:?}: {why}")).holds(at);
            if let Ok(held) = held {
                assert_eq!(held, normal, "{schedule:?} by {reading:?} at {at}");
            }
        }
    });
}
