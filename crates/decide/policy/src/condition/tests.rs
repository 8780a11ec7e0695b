//! The laws of conditions.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use stdx::Timestamp;

use super::*;
use crate::evaluate::{MatchType, Request, RequestContext, Resource};
use crate::model::{ConditionDef, PolicyCondition, ServiceDef};
use crate::schedule::ScheduleReading;
use crate::script::{PlainData, ScriptEngine};
use crate::{Membership, PluginSettings};

/// 2026-01-15T12:00:00Z, a Thursday.
const NOW: Timestamp = Timestamp::from_millis(1_768_478_400_000);

/// Says yes to `yes`, no to `no`, and fails over anything else; `(` does not parse.
#[derive(Debug)]
struct Parrot;

#[derive(Debug)]
struct Said(String);

impl ScriptEngine for Parrot {
    fn compile(&self, source: &str, _data: PlainData) -> Result<Arc<dyn Script>, ScriptError> {
        match source {
            "(" => Err(ScriptError::NotParsable("at the end".to_owned())),
            source => Ok(Arc::new(Said(source.to_owned()))),
        }
    }
}

impl Script for Said {
    fn is_met(&self, _context: &ConditionContext<'_>) -> Result<bool, ScriptError> {
        match self.0.as_str() {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(ScriptError::OverLimit("steps")),
        }
    }

    fn text(&self, _context: &ConditionContext<'_>) -> Result<Option<String>, ScriptError> {
        Ok(Some(self.0.clone()))
    }
}

/// One condition of a class and what is asked of it.
struct Case<'a> {
    class: &'a str,
    options: &'a [(&'a str, &'a str)],
    values: &'a [&'a str],
    context: RequestContext,
    tags: &'a [&'a str],
    cluster: Option<&'a str>,
    client: Option<&'a str>,
    has_engine: bool,
}

fn case<'a>(class: &'a str, values: &'a [&'a str]) -> Case<'a> {
    Case {
        class,
        options: &[],
        values,
        context: RequestContext::new(),
        tags: &[],
        cluster: None,
        client: None,
        has_engine: true,
    }
}

impl Case<'_> {
    fn held(&self, errors: ConditionErrors) -> Held {
        let text_map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let mut def = crate::defs::hive();
        def.conditions = vec![ConditionDef {
            name: "c".to_owned(),
            evaluator: format!("org.apache.ranger.plugin.conditionevaluator.{}", self.class),
            evaluator_options: text_map(self.options),
        }];
        let engine: Arc<dyn ScriptEngine> = Arc::new(Parrot);
        let compiler = ConditionCompiler {
            def: &def,
            scripts: self.has_engine.then_some(&engine),
            schedules: ScheduleReading::of(errors, chrono_tz::Tz::UTC),
        };
        let values = self.values.iter().map(|value| (*value).to_owned()).collect();
        let condition = compiler.compile(&PolicyCondition { kind: "c".to_owned(), values });

        let who = Membership::new("alice", [""; 0], [""; 0]);
        let request = Request {
            service: "s",
            resource: Resource::new([("database", "d")]),
            owner: None,
            access: "select",
            who: &who,
            now: NOW,
            client_addr: None,
            context: &self.context,
        };
        let none = BTreeMap::new();
        let tag = |kind| TagFacts { kind, attributes: &none, found: MatchType::Itself };
        let tags: Vec<TagFacts<'_>> = self.tags.iter().map(|kind| tag(*kind)).collect();
        let settings = ConditionSettings { errors, ..ConditionSettings::default() };
        condition.held(&ConditionContext {
            client_addr: match self.client {
                None => ClientAddr::Missing,
                Some(text) => text.parse::<IpAddr>().map_or(ClientAddr::Text(text), ClientAddr::Ip),
            },
            cluster_name: self.cluster,
            cluster_type: self.cluster,
            tags: &tags,
            ..ConditionContext::new(&request, &settings)
        })
    }

    /// By Sluice's settings and by Ranger's.
    fn both(&self) -> (Held, Held) {
        (self.held(ConditionErrors::AgainstUser), self.held(ConditionErrors::Ranger))
    }

    fn is(&self, expected: bool) {
        let expected = Held::of(expected);
        assert_eq!(self.both(), (expected, expected), "{} {:?}", self.class, self.values);
    }

    fn is_unknown_and_in_ranger(&self, expected: bool) {
        assert_eq!(self.both(), (Held::Unknown, Held::of(expected)), "{} {:?}", self.class, self.values);
    }
}

#[test]
fn a_wildcard_at_the_end_of_an_address_takes_what_begins_so_and_one_inside_takes_nothing() {
    let check = |value: &str, addr: &str, expected| {
        Case { client: Some(addr), ..case("RangerIpMatcher", &[value]) }.is(expected);
    };
    check("10.1.2.3", "10.1.2.3", true);
    check("10.1.2.3", "10.1.2.30", false);
    check("10.1.*", "10.1.2.3", true);
    check("10.1.*.*", "10.1.2.3", true);
    check("10.1.*", "10.11.2.3", false);
    check("1.*.1.*", "1.2.1.4", false);
    check("*.*.*.*", "1.2.1.4", true);
    check("*", "1.2.1.4", true);
    check("FE80:*", "fe80::1", true);
    check("fe80::1", "FE80::1", true);
    case("RangerIpMatcher", &[]).is(true);
    case("RangerIpMatcher", &["10.1.*"]).is_unknown_and_in_ranger(true);
}

#[test]
fn hours_include_both_ends_and_go_over_midnight() {
    // It is noon.
    let check = |value: &str, expected| case("RangerTimeOfDayMatcher", &[value]).is(expected);
    check("9am - 5:30pm", true);
    check("12 P.M.-1 p.m", true);
    check("9 Am - 12PM", true);
    check("12:01pm-5pm", false);
    check("10pm-6am", false);
    check("11am-10am", true);
    check("12am-12am", true);
    case("RangerTimeOfDayMatcher", &["1am-2am", "noon", "11am-1pm"]).is(true);
    case("RangerTimeOfDayMatcher", &["noon"]).is_unknown_and_in_ranger(true);
    case("RangerTimeOfDayMatcher", &[]).is(true);
}

#[test]
fn tags_are_looked_for_all_any_or_none() {
    let tags = &["PII", "PCI"][..];
    let check = |class: &str, values: &[&str], expected| {
        Case { tags, ..case(class, values) }.is(expected);
    };
    check("RangerTagsAllPresentConditionEvaluator", &["PII", " PCI "], true);
    check("RangerTagsAllPresentConditionEvaluator", &["PII", "X"], false);
    check("RangerTagsAllPresentConditionEvaluator", &[], true);
    check("RangerAnyOfExpectedTagsPresentConditionEvaluator", &["X", "PII"], true);
    check("RangerAnyOfExpectedTagsPresentConditionEvaluator", &[], false);
    check("RangerNoneOfExpectedTagsPresentConditionEvaluator", &["X"], true);
    check("RangerNoneOfExpectedTagsPresentConditionEvaluator", &["X", "PCI"], false);
    case("RangerTagsAllPresentConditionEvaluator", &["PII"]).is(false);
}

#[test]
fn resources_are_together_only_if_two_of_several_are_named() {
    let resource = |text: &str| {
        ["database", "table", "column"]
            .iter()
            .zip(text.split('.'))
            .map(|(level, value)| ((*level).to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>()
    };
    let check = |requested: &[&str], expected: bool| {
        let requested_resources = Some(requested.iter().map(|text| resource(text)).collect());
        let context = RequestContext { requested_resources, ..RequestContext::new() };
        let values = &["d.t.a*", "d.t.b"][..];
        let class = "RangerHiveResourcesAccessedTogetherCondition";
        Case { context: context.clone(), ..case(class, values) }.is(expected);
        let class = "RangerHiveResourcesNotAccessedTogetherCondition";
        Case { context, ..case(class, values) }.is(!expected);
    };
    check(&["d.t.a1", "d.t.b"], true);
    check(&["d.t.a1", "d.t.a2"], true);
    check(&["d.t.a1", "d.t.c"], false);
    check(&["d.t.a1"], false);
    check(&[], false);
    case("RangerHiveResourcesAccessedTogetherCondition", &["d.t.a"]).is_unknown_and_in_ranger(false);
    case("RangerHiveResourcesNotAccessedTogetherCondition", &["d.t.a"]).is_unknown_and_in_ranger(true);
    case("RangerHiveResourcesAccessedTogetherCondition", &["a.b.c.d"]).is_unknown_and_in_ranger(true);
    case("RangerHiveResourcesAccessedTogetherCondition", &[]).is(true);
}

#[test]
fn a_cluster_is_compared_as_it_is_written() {
    for kind in ["Cluster", "ClusterType"] {
        let (from, not) =
            (format!("RangerAccessedFrom{kind}Condition"), format!("RangerAccessedNotFrom{kind}Condition"));
        Case { cluster: Some("cl1"), ..case(&from, &["cl1", "cl2"]) }.is(true);
        Case { cluster: Some("CL1"), ..case(&from, &["cl1"]) }.is(false);
        Case { cluster: Some("cl1"), ..case(&not, &["cl1"]) }.is(false);
        Case { cluster: Some("cl3"), ..case(&not, &["cl1"]) }.is(true);
        case(&from, &["cl1"]).is_unknown_and_in_ranger(false);
        case(&not, &["cl1"]).is_unknown_and_in_ranger(true);
        case(&from, &[]).is(true);
    }
}

fn with_attribute(value: AttributeValue) -> RequestContext {
    RequestContext { attributes: BTreeMap::from([("k".to_owned(), value)]), ..RequestContext::new() }
}

#[test]
fn a_missing_attribute_meets_both_ways_in_ranger_and_is_unknown_here() {
    let text = || with_attribute(AttributeValue::Text("v".to_owned()));
    let options = &[("attributeName", "k")][..];
    let base = |class| Case { options, ..case(class, &["v", "w"]) };
    let (is_in, not_in) =
        ("RangerContextAttributeValueInCondition", "RangerContextAttributeValueNotInCondition");
    Case { context: text(), ..base(is_in) }.is(true);
    Case { context: text(), ..base(not_in) }.is(false);
    Case { context: with_attribute(AttributeValue::Text("x".to_owned())), ..base(is_in) }.is(false);
    Case { context: with_attribute(AttributeValue::List(vec!["v".to_owned()])), ..base(is_in) }.is(false);
    base(is_in).is_unknown_and_in_ranger(true);
    base(not_in).is_unknown_and_in_ranger(true);
    Case { context: text(), ..case(is_in, &["x"]) }.is_unknown_and_in_ranger(true);
}

#[test]
fn an_attribute_is_matched_with_wildcards() {
    let check = |pattern: &str, expected| {
        let context = with_attribute(AttributeValue::Text("US-CA".to_owned()));
        let options = &[("CONTEXT_NAME", "k")][..];
        Case { options, context, ..case("RangerSimpleMatcher", &[pattern]) }.is(expected);
    };
    for (pattern, expected) in [
        ("US-CA", true),
        ("us-ca", false),
        ("US*", true),
        ("*-CA", true),
        ("?S-??", true),
        ("U*-*A", true),
        ("US-CA?", false),
        ("", false),
        ("*", true),
        ("**A*", true),
        ("*B*", false),
    ] {
        check(pattern, expected);
    }
    Case { options: &[("CONTEXT_NAME", "k")], ..case("RangerSimpleMatcher", &["US"]) }
        .is_unknown_and_in_ranger(false);
    case("RangerSimpleMatcher", &["US"]).is_unknown_and_in_ranger(true);
}

#[test]
fn an_action_is_matched_whole_or_by_its_beginning_in_any_case() {
    let check = |values: &[&str], action: Option<&str>, expected| {
        let context = RequestContext { action: action.map(str::to_owned), ..RequestContext::new() };
        Case { context, ..case("RangerActionMatcher", values) }.is(expected);
    };
    check(&["Get", "put*"], Some("get"), true);
    check(&["Get", "put*"], Some("getAll"), false);
    check(&["Get", "put*"], Some("PUTOBJECT"), true);
    check(&["get"], None, false);
    check(&["get", " * "], None, true);
    check(&[" "], None, true);
    check(&[], None, true);
}

#[test]
fn a_schedule_in_json_holds_at_the_time_of_access() {
    let check = |value: &str, expected| {
        case("RangerValidityScheduleConditionEvaluator", &[value]).is(expected);
    };
    check("{\"startTime\":\"2026/01/01 00:00:00\", \"endTime\":\"2026/02/01 00:00:00\"}", true);
    check("{'endTime':'2026/01/01 00:00:00', timeZone: 'Asia/Tokyo'}", false);
    check(
        "{recurrences:[{schedule:{minute:'0',hour:'11-13',dayOfWeek:'5',month:'*',year:'*'},interval:{hours:1}}]}",
        true,
    );
    case("RangerValidityScheduleConditionEvaluator", &["soon"]).is_unknown_and_in_ranger(true);
    case("RangerValidityScheduleConditionEvaluator", &[]).is(true);
}

#[test]
fn a_script_that_fails_is_unknown_and_a_template_can_be_reversed() {
    let script = "RangerScriptConditionEvaluator";
    case(script, &[" yes "]).is(true);
    case(script, &["no"]).is(false);
    case(script, &["fails"]).is_unknown_and_in_ranger(false);
    case(script, &["("]).is_unknown_and_in_ranger(false);
    case(script, &[" "]).is_unknown_and_in_ranger(true);
    Case { has_engine: false, ..case(script, &["no"]) }.is_unknown_and_in_ranger(true);

    let template = |text: &'static str, value: &'static str| {
        let options: &'static [(&str, &str)] = Box::leak(Box::new([("scriptTemplate", text)]));
        let values: &'static [&str] = Box::leak(Box::new([value]));
        Case { options, ..case("RangerScriptTemplateConditionEvaluator", values) }
    };
    template("yes", "yes").is(true);
    template("yes", "No").is(false);
    template("no", "false").is(true);
    template("fails", "no").is_unknown_and_in_ranger(true);
}

#[test]
fn a_condition_that_nothing_understands_says_so() {
    case("RangerPhaseOfMoon", &["full"]).is_unknown_and_in_ranger(true);
    let def = ServiceDef::default();
    let compiler = ConditionCompiler { def: &def, scripts: None, schedules: ScheduleReading::OwnZone };
    let condition = compiler.compile(&PolicyCondition { kind: "moon".to_owned(), values: vec![] });
    assert_eq!(condition.fault(), Some("no such condition `moon`"));
}

#[test]
fn a_forwarded_address_counts_only_if_the_peer_is_trusted() {
    let check = |settings: &PluginSettings, context: RequestContext, expected: ClientAddr<'_>| {
        let who = Membership::default();
        let request = Request {
            service: "s",
            resource: Resource::default(),
            owner: None,
            access: "",
            who: &who,
            now: NOW,
            client_addr: Some("::ffff:9.9.9.9".parse().unwrap()),
            context: &context,
        };
        let settings = ConditionSettings::of(settings);
        assert_eq!(ConditionContext::new(&request, &settings).client_addr, expected, "{context:?}");
    };
    let from = |remote: &str| RequestContext {
        remote_addr: Some(remote.to_owned()),
        forwarded_addrs: vec!["1.1.1.1".to_owned(), "2.2.2.2".to_owned()],
        ..RequestContext::new()
    };
    let settings = PluginSettings {
        trusted_proxies: Some(vec!["8.8.8.8".to_owned()]),
        uses_forwarded_addr: true,
        ..PluginSettings::default()
    };
    check(&settings, from("8.8.8.8"), ClientAddr::Text("1.1.1.1"));
    check(&settings, from("8.8.8.9"), ClientAddr::Text("8.8.8.9"));
    check(&settings, RequestContext::new(), ClientAddr::Ip("9.9.9.9".parse().unwrap()));
    check(&PluginSettings::default(), from("8.8.8.8"), ClientAddr::Text("8.8.8.8"));
}
