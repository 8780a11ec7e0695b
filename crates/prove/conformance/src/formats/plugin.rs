//! Asks a whole plug-in, with policies, tags, roles and users as they are downloaded.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use policy::model::PolicyKind;
use serde_json::Value;

use super::{Setup, acls, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{Engine, engines, judge};
use crate::obvious::World;
use crate::question::Question;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, flag, number, objects, text};

/// Why a case that needs governed data sharing is not run.
const SHARED: &str = "what is expected comes from governed data sharing, which is not offered";

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let part = |inline: &str, named: &str| -> Result<Option<Value>> {
        match (file.json.get(inline), file.json.get(named).and_then(Value::as_str)) {
            (Some(value), _) if !value.is_null() => Ok(Some(value.clone())),
            (_, Some(name)) => corpus.class_path_json(name, file).map(Some),
            _ => Ok(None),
        }
    };
    let policies = part("policies", "policiesFilename")?.context("no policies")?;
    let beside = Beside {
        tags: part("tags", "tagsFilename")?,
        roles: part("roles", "rolesFilename")?,
        user_store: part("userStore", "userStoreFilename")?,
    };
    let sharing = part("gdsInfo", "gdsInfoFilename")?;
    let scene = Scene::of_download(corpus, file, policies, &beside, setup.settings.clone())?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let run = |test: &Value| -> Result<Outcome> {
        let question = Question::read(&scene, test.get("request").unwrap_or(&Value::Null), setup.now)?;
        if sharing.is_some() && needs_sharing(&scene, test) {
            return Ok(Outcome::Skipped(SHARED.to_owned()));
        }
        let mut outcome = Outcome::Passed;
        if let Some(expected) = test.get("result").filter(|expected| expected.is_object()) {
            outcome = judge(&engines, |engine| differences(&scene, engine, &question, expected));
        }
        if let (Outcome::Passed, Some(expected)) =
            (&outcome, test.get("acls").filter(|expected| expected.is_object()))
        {
            let expected = acls::Expected::of_acls(expected);
            outcome = judge(&engines, |engine| match engine {
                Engine::Fast(_) => acls::differences(&expected, &acls::acls(engine, &question), &scene),
                // It makes no lists.
                Engine::Obvious(_) => Vec::new(),
            });
        }
        match (&outcome, &sharing) {
            (Outcome::Failed(_), Some(sharing)) if is_left_to_sharing(&scene, sharing, &question)? => {
                Ok(Outcome::Skipped(SHARED.to_owned()))
            }
            _ => Ok(outcome),
        }
    };
    let case = |(idx, test): (usize, &Value)| {
        let outcome = run(test).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name: test.get("name").and_then(text).unwrap_or_default(), outcome }
    };
    Ok(objects(file.json.get("tests")).enumerate().map(case).collect())
}

/// Whether a dataset or project is expected, or a policy that is neither the service's nor its tags'.
fn needs_sharing(scene: &Scene, test: &Value) -> bool {
    let known: BTreeSet<i64> =
        scene.downloaded.state.policies.keys().filter_map(|id| scene.downloaded.number(*id)).collect();
    let mut named = Vec::new();
    policy_ids(test, &mut named);
    named.iter().any(|id| *id != -1 && !known.contains(id)) || has_shares(test)
}

/// Whether no policy decides on a resource that is in some data share: then the share decides, and what is audited.
pub(crate) fn is_left_to_sharing(scene: &Scene, sharing: &Value, question: &Question) -> Result<bool> {
    let world = World::new(scene.downloaded.state.clone(), scene.settings.clone(), crate::engines::scripts());
    let who = world.membership(&question.user, &question.groups);
    let request = question.request(&who);
    if world.evaluate(PolicyKind::Access, &request).policy.is_some() {
        return Ok(false);
    }
    for shared in objects(sharing.get("resources")) {
        // A policy's map is read through the policy, which is how the wire has it.
        let policy =
            serde_json::json!({ "resources": shared.get("resource"), "service": question.service, "id": 1 });
        let map = ranger_wire::Policy::from_value(policy)?.to_model()?.resources;
        if world.touches(&map, &request) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn policy_ids(json: &Value, ids: &mut Vec<i64>) {
    match json {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "policyId" {
                    ids.extend(number(value));
                } else if name == "policy" {
                    ids.extend(value.get("id").and_then(number));
                } else if name != "request" {
                    policy_ids(value, ids);
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| policy_ids(element, ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn has_shares(test: &Value) -> bool {
    let is_given =
        |value: Option<&Value>| value.and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let acls = test.get("acls");
    let of = |name: &str| acls.and_then(|acls| acls.get(name));
    is_given(of("datasets")) || is_given(of("projects"))
}

fn differences(scene: &Scene, engine: &Engine, question: &Question, expected: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let is = |name: &str| flag(expected.get(name)).unwrap_or(false);
    let wanted = expected.get("policyId").and_then(text).and_then(|id| id.parse().ok()).unwrap_or(-1);
    let access = engine.evaluate(PolicyKind::Access, question);
    expect("isAllowed", &is("isAllowed"), &access.is_allowed, &mut lines);
    expect("isAccessDetermined", &is("isAccessDetermined"), &access.is_determined, &mut lines);
    expect("policyId", &wanted, &scene.number(access.policy), &mut lines);
    expect("isAudited", &is("isAudited"), &access.is_audited, &mut lines);
    expect("isAuditedDetermined", &is("isAuditedDetermined"), &access.is_audit_determined, &mut lines);

    let info = |name: &str| expected.get("additionalInfo").and_then(|info| info.get(name)).and_then(text);
    let mask = engine.evaluate(PolicyKind::Mask, question);
    let mask = mask.mask.filter(|_| mask.is_allowed).unwrap_or_default();
    let kind = Some(mask.mask_type).filter(|kind| !kind.is_empty());
    expect("maskType", &info("maskType"), &kind, &mut lines);
    if kind.is_some() {
        expect("maskedValue", &info("maskedValue"), &mask.value_expr, &mut lines);
        expect("maskCondition", &info("maskCondition"), &mask.condition_expr, &mut lines);
    }
    let filter = engine.evaluate(PolicyKind::RowFilter, question);
    let filter = filter.filter.filter(|_| filter.is_allowed);
    expect("filterExpr", &info("filterExpr"), &filter, &mut lines);
    lines
}
