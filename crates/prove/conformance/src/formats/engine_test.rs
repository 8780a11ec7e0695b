//! Runs requests against a policy engine: access, masks, row filters, and who has access.

use std::collections::BTreeSet;

use anyhow::Result;
use policy::edit::Change;
use policy::model::PolicyKind;
use serde_json::Value;
use stdx::Timestamp;

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{Engine, engines, judge};
use crate::question::Question;
use crate::report::{Case, Outcome};
use crate::scene::{Scene, flag, objects, text, texts};

/// Every test of both rounds.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, mut setup: Setup) -> Result<Vec<Case>> {
    if has_schedules(&file.json) {
        // Ranger's driver runs such files on a server of that zone.
        setup.settings.time_zone = chrono_tz::America::Los_Angeles;
    }
    let setup = &setup;
    let mut scene = Scene::of_engine_test(corpus, file, setup.settings.clone())?;
    let first = file.json.get("tests").or_else(|| file.json.pointer("/testsInfo/tests"));
    let mut engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let mut cases = round(&scene, &engines, first, setup, 0)?;
    if let Some(updated) = file.json.get("updatedPolicies").filter(|updated| updated.is_object()) {
        let change = update(&mut scene, updated)?;
        for engine in &mut engines {
            *engine = engine.apply(&change, &scene.downloaded.state, &scene.settings)?;
        }
        cases.extend(round(&scene, &engines, file.json.get("updatedTests"), setup, cases.len())?);
    }
    Ok(cases)
}

/// Whether some policy has a validity schedule.
fn has_schedules(json: &Value) -> bool {
    let policies = json.get("policies").and_then(Value::as_array).into_iter().flatten();
    let mut schedules =
        policies.filter_map(|policy| policy.get("validitySchedules").and_then(Value::as_array));
    schedules.any(|schedules| !schedules.is_empty())
}

/// As [`drive`], with requests that name tables of the default namespace with it and without.
pub(crate) fn drive_expanded(corpus: &Corpus, file: &DataFile, setup: Setup) -> Result<Vec<Case>> {
    let mut expanded = file.clone();
    for test in expanded.json.get_mut("tests").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(table) = test.pointer_mut("/request/resource/elements/table") {
            let name = text(table).unwrap_or_default();
            let short = name.strip_prefix("default:").map(str::to_owned);
            if let Some(short) = short {
                *table = serde_json::json!([name, short]);
            }
        }
    }
    drive(corpus, &expanded, setup)
}

fn round(
    scene: &Scene,
    engines: &[Engine],
    tests: Option<&Value>,
    setup: &Setup,
    n_before: usize,
) -> Result<Vec<Case>> {
    let tests = tests.and_then(Value::as_array).into_iter().flatten().filter(|test| test.is_object());
    Ok(tests
        .enumerate()
        .map(|(idx, test)| {
            let name = test.get("name").and_then(text).unwrap_or_default();
            let outcome = run(scene, test, engines, setup.now)
                .unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
            Case { number: n_before + idx + 1, name, outcome }
        })
        .collect())
}

/// Policies by their differences, and zones put in place of the former ones.
fn update(scene: &mut Scene, updated: &Value) -> Result<Change> {
    let mut deltas = Vec::new();
    for delta in objects(updated.get("policyDeltas")) {
        deltas.push(ranger_wire::PolicyDelta::from_value(delta.clone())?);
    }
    // Those of a zone's policies may stand with the zone.
    let zones = updated.get("securityZones").and_then(Value::as_object).into_iter().flatten();
    for (zone, info) in zones {
        for delta in objects(info.get("policyDeltas")) {
            let mut delta = ranger_wire::PolicyDelta::from_value(delta.clone())?;
            if let Some(policy) = &mut delta.policy {
                policy.zone_name = Some(zone.clone());
            }
            deltas.push(delta);
        }
    }
    let mut change = scene.downloaded.take(&deltas)?;
    let zones = serde_json::json!({ "securityZones": updated.get("securityZones") });
    let zones = ranger_wire::ServicePolicies::from_value(zones)?.security_zones;
    let tag_service = scene.downloaded.tag_service.clone();
    let zones = ranger_wire::download::zones(&zones, &scene.downloaded.service, tag_service.as_deref());
    let gone = scene.downloaded.state.zones.keys().filter(|zone| !zones.contains_key(*zone));
    change.delete_zones = gone.cloned().collect();
    change.put_zones = zones.values().cloned().collect();
    scene.downloaded.state.zones = zones;
    Ok(change)
}

fn run(scene: &Scene, test: &Value, engines: &[Engine], now: Timestamp) -> Result<Outcome> {
    let mut question = Question::read(scene, test.get("request").unwrap_or(&Value::Null), now)?;
    let attributes = |name: &str| {
        let by_name = test.get(name).and_then(Value::as_object)?;
        let attributes = |value: &Value| {
            let members = value.as_object().into_iter().flatten();
            members.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
        };
        Some(by_name.iter().map(|(name, value)| (name.clone(), attributes(value))).collect())
    };
    question.context.user_attributes = attributes("userAttributes");
    question.context.group_attributes = attributes("groupAttributes");
    Ok(judge(engines, |engine| {
        let mut lines = Vec::new();
        if let Some(expected) = expectation(test, "result") {
            let answer = engine.evaluate(PolicyKind::Access, &question);
            let is = |name: &str| flag(expected.get(name)).unwrap_or(false);
            expect("isAllowed", &is("isAllowed"), &answer.is_allowed, &mut lines);
            expect("isAudited", &is("isAudited"), &answer.is_audited, &mut lines);
            if !lines.is_empty() {
                let wanted = expected.get("policyId").cloned().unwrap_or(Value::Null);
                lines.push(format!("policy: expected {wanted}, was {}", scene.number(answer.policy)));
            }
        }
        if let Some(expected) = expectation(test, "resourceAccessInfo")
            && let Some(found) = engine.resource_access(&question)
        {
            let set = |name: &str| texts(expected.get(name)).into_iter().collect::<BTreeSet<_>>();
            expect("allowedUsers", &set("allowedUsers"), &found.allowed_users, &mut lines);
            expect("allowedGroups", &set("allowedGroups"), &found.allowed_groups, &mut lines);
            expect("deniedUsers", &set("deniedUsers"), &found.denied_users, &mut lines);
            expect("deniedGroups", &set("deniedGroups"), &found.denied_groups, &mut lines);
        }
        if let Some(expected) = expectation(test, "dataMaskResult") {
            let answer = engine.evaluate(PolicyKind::Mask, &question);
            let info =
                |name: &str| expected.get("additionalInfo").and_then(|info| info.get(name)).and_then(text);
            let mask = answer.mask.clone().filter(|_| answer.is_allowed);
            let actual = mask
                .map(|mask| (some(mask.mask_type), mask.condition_expr, mask.value_expr))
                .unwrap_or_default();
            let wanted = (info("maskType"), info("maskCondition"), info("maskedValue"));
            expect("mask", &wanted, &actual, &mut lines);
            expect("mask policy", &policy_number(expected), &scene.number(answer.policy), &mut lines);
        }
        if let Some(expected) = expectation(test, "rowFilterResult") {
            let answer = engine.evaluate(PolicyKind::RowFilter, &question);
            let wanted = expected.pointer("/additionalInfo/filterExpr").and_then(text);
            let actual = answer.filter.clone().filter(|_| answer.is_allowed);
            expect("filter", &wanted, &actual, &mut lines);
            expect("filter policy", &policy_number(expected), &scene.number(answer.policy), &mut lines);
        }
        if !lines.is_empty() {
            lines.extend(scene.missing.iter().map(|name| format!("`{name}`, which it names, is not there")));
        }
        lines
    }))
}

/// What a test expects; null is nothing.
fn expectation<'j>(test: &'j Value, name: &str) -> Option<&'j Value> {
    test.get(name).filter(|expected| expected.is_object())
}

fn policy_number(expected: &Value) -> i64 {
    expected.get("policyId").and_then(text).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
