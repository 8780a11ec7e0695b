//! The runner against small cases of each format, and against folders that hold something else.

use std::path::PathBuf;

use super::folder;
use crate::{EngineChoice, Options, Sum, run};

fn options() -> Options {
    Options { engine: EngineChoice::Both, is_verbose: true, filter: None, references: None }
}

/// Asked for when it runs: folders of artifacts are shared between checkouts.
fn cases() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("cases")
}

fn sum_of(name: &str, files: &[(&str, &str)]) -> Sum {
    let root = folder(name, files);
    let sum = run(&root, &options()).unwrap();
    std::fs::remove_dir_all(root).unwrap();
    sum
}

#[test]
fn the_cases_beside_the_crate_pass() {
    let sum = run(&cases(), &options()).unwrap();
    assert_eq!((sum.n_failed, sum.n_skipped), (0, 0));
    assert!(sum.n_passed > 250, "{sum}");
}

#[test]
fn a_part_of_the_cases_is_read_wherever_it_lies() {
    let cases = cases();
    for part in ["resourcematcher", "aclprovider"] {
        let sum = run(&cases.join(part), &options()).unwrap();
        assert!(sum.n_failed == 0 && sum.n_passed > 0, "{part}: {sum}");
    }
    let text = std::fs::read_to_string(cases.join("policyengine/no_denials.json")).unwrap();
    for place in ["loose.json", "some/where/else.json", "plugin/odd.json"] {
        assert_eq!(
            sum_of("part", &[(place, &text)]),
            Sum { n_passed: 3, n_failed: 0, n_skipped: 0 },
            "{place}"
        );
    }
}

#[test]
fn what_cannot_be_read_fails() {
    for (name, text) in [
        ("no JSON", "{\"tests\": ["),
        ("no format", "{\"what\": 1}"),
        ("nothing", "{}"),
        ("no list", "\"text\""),
        ("no tests", "{\"policies\": [], \"serviceName\": \"s\", \"tests\": []}"),
        ("schedules without cases", "[{\"name\": \"a\"}]"),
    ] {
        let sum = sum_of("unread", &[("policyengine/a.json", text)]);
        assert_eq!((sum.n_passed, sum.n_failed), (0, 1), "{name}");
    }
}

#[test]
fn a_case_is_skipped_for_what_is_in_it_alone() {
    let tests = r#"[{"name": "odd", "type": "noSuchMatch", "resource": {"elements": {}}, "result": true}]"#;
    let file = format!(
        r#"{{"serviceDef": {{"name": "d", "resources": [{{"name": "a", "level": 1}}]}},
            "testCases": [{{"name": "g", "policyResources": {{"a": {{"values": ["x"]}}}}, "tests": {tests}}}]}}"#
    );
    assert_eq!(sum_of("odd", &[("resourcematcher/a.json", &file)]).n_skipped, 1);
    let lists = |user: &str| {
        format!(
            r#"{{"testCases": [{{"name": "g", "servicePolicies": {{"serviceName": "s",
                "serviceDef": {{"name": "d", "resources": [{{"name": "a", "level": 1}}], "accessTypes": [{{"name": "read"}}]}},
                "policies": [{{"id": 1, "name": "p", "resources": {{"a": {{"values": ["x"]}}}},
                  "policyItems": [{{"accesses": [{{"type": "read"}}], "users": ["u"]}}]}}]}},
                "tests": [{{"name": "t", "resource": {{"elements": {{"a": "x"}}}},
                  "userPermissions": {{"{user}": {{"write": {{"result": 1, "isFinal": true}}}}}}}}]}}]}}"#
        )
    };
    // Of somebody whom no policy names nothing can be listed; a list that is merely wrong is a failure.
    let sum = |group: &str, user: &str| sum_of("lists", &[(&format!("{group}/a.json"), &lists(user))]);
    assert_eq!(sum("hdfs-agent", "nobody").n_skipped, 1);
    assert_eq!(sum("hdfs-agent", "u").n_failed, 1);
    assert_eq!(sum("aclprovider", "nobody").n_failed, 1);
}

/// Ranger's readers take a number written as a text, and pass over what a comma too many made.
#[test]
fn a_number_may_be_a_text_and_a_list_may_hold_nothing() {
    let definition = r#""serviceDef": {"name": "d", "resources": [{"name": "a", "level": 1}],
        "accessTypes": [{"name": "read"}], "rowFilterDef": {"resources": [{"name": "a"}], "accessTypes": [{"name": "read"}]}}"#;
    let policies = r#""policies": [
        {"id": "7", "name": "p", "resources": {"a": {"values": ["x"]}},
          "policyItems": [{"accesses": [{"type": "read"}], "users": ["u"], "delegateAdmin": "true"}]},
        {"id": "8", "name": "f", "policyType": "2", "resources": {"a": {"values": ["x"]}},
          "rowFilterPolicyItems": [{"accesses": [{"type": "read"}], "users": ["u"], "rowFilterInfo": {"filterExpr": "b = 1"}}]}]"#;
    let lists = |entry: &str| {
        format!(
            r#"{{"testCases": [{{"name": "g", "servicePolicies": {{"serviceName": "s", {definition}, {policies}}},
                "tests": [{{"name": "t", "resource": {{"elements": {{"a": "x"}}}},
                  "userPermissions": {{"u": {{"read": {entry}, "_admin": {{"result": "1", "isFinal": true}}}}}},
                  "rowFilters": [{{"users": ["u"], "accessTypes": ["read"], "filterInfo": {{"filterExpr": "b = 1"}}}}, ]}}]}}]}}"#
        )
    };
    let administered = |id: &str| {
        format!(
            r#"{{"servicePolicies": {{"serviceName": "s", {definition}, {policies}}}, "tests": [
                {{"name": "t", "user": "u", "isModifyAccess": true, "allowedPolicies": ["{id}"]}}]}}"#
        )
    };
    let matched = |kind: &str, result: bool| {
        format!(
            r#"{{{definition}, "testCases": [{{"name": "g", "policyResources": {{"a": {{"values": ["x"]}}}}, "tests": [
                {{"name": "t", "type": "exactMatch", "result": {result},
                  "policy": {{"policyType": "{kind}", "resources": {{"a": {{"values": ["x"]}}}}}}}}]}}]}}"#
        )
    };
    let input = |number: u32| {
        format!(
            r#"{{"testCases": [{{"name": "g", "policyResource": {{"values": ["1*"]}},
                "resourceDef": {{"matcher": "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher"}},
                "tests": [{{"name": "t", "input": {number}, "result": true}}]}}]}}"#
        )
    };
    for (name, path, text, n_failed) in [
        ("what is granted", "aclprovider/a.json", lists(r#"{"result": "1", "isFinal": true}"#), 0),
        ("the policy", "aclprovider/a.json", lists(r#"{"policy": {"id": "7"}}"#), 0),
        ("another policy", "aclprovider/a.json", lists(r#"{"policy": {"id": "9"}}"#), 1),
        ("administered", "admin/a.json", administered("7"), 0),
        ("another administered", "admin/a.json", administered("9"), 1),
        ("access", "resourcematcher/a.json", matched("0", true), 0),
        ("mask", "resourcematcher/a.json", matched("1", false), 0),
        ("input", "resourcematcher/a.json", input(12), 0),
        ("other input", "resourcematcher/a.json", input(22), 1),
    ] {
        let sum = sum_of("numbers", &[(path, &text)]);
        assert_eq!((sum.n_failed, sum.n_passed + sum.n_failed), (n_failed, 1), "{name}");
    }
}

/// Ranger runs no script where there is none, and takes the condition for met; both evaluators must say so.
#[test]
fn a_condition_without_a_script_is_met_in_rangers_settings() {
    let file = |class: &str, value: &str, is_allowed: bool| {
        format!(
            r#"{{"serviceName": "s", "serviceDef": {{"name": "d", "resources": [{{"name": "a", "level": 1}}],
                "accessTypes": [{{"name": "read"}}], "policyConditions": [{{"name": "c",
                  "evaluator": "org.apache.ranger.plugin.conditionevaluator.{class}",
                  "evaluatorOptions": {{"scriptTemplate": "ctx.isInGroup('g');"}}}}]}},
              "policies": [{{"id": 1, "name": "p", "resources": {{"a": {{"values": ["x"]}}}}, "policyItems": [
                {{"accesses": [{{"type": "read"}}], "users": ["u"], "conditions": [{{"type": "c", "values": ["{value}"]}}]}}]}}],
              "tests": [{{"name": "t", "result": {{"isAllowed": {is_allowed}, "isAudited": true}},
                "request": {{"resource": {{"elements": {{"a": "x"}}}}, "user": "u", "accessType": "read"}}}}]}}"#
        )
    };
    for (class, value, is_allowed) in [
        ("RangerScriptConditionEvaluator", " ", true),
        ("RangerScriptConditionEvaluator", "false", false),
        ("RangerScriptTemplateConditionEvaluator", " ", true),
        ("RangerScriptTemplateConditionEvaluator", "yes", false),
        ("RangerScriptTemplateConditionEvaluator", "no", true),
    ] {
        let sum = sum_of("no-script", &[("policyengine/a.json", &file(class, value, is_allowed))]);
        assert_eq!((sum.n_passed, sum.n_failed), (1, 0), "{class} `{value}`");
    }
}
