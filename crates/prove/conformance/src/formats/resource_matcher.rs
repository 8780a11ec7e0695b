//! Matches resources of one level and of several, as TestResourceMatcher and TestDefaultPolicyResourceMatcher do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use policy::matching::{self, MatchContext, MatchScope};
use policy::model::{ResourceMap, ServiceDef};
use policy::{AttributeValue, LevelValue, Resource};
use ranger_wire::Policy;
use serde_json::{Value, json};

use crate::corpus::{Corpus, DataFile};
use crate::report::{Case, Outcome};
use crate::scene;

/// The definition with which Ranger runs files about Hive's levels a second time.
const SECOND_DEFINITION: &str = "classpath/admin/service-defs/test-hive-servicedef.json";

pub(crate) fn drive(corpus: &Corpus, file: &DataFile) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let Some(def) = file.json.get("serviceDef") else {
        of_one_level(file, &mut cases);
        return Ok(cases);
    };
    let def = definition(def)?;
    of_several_levels(file, &def, "", &mut cases);
    if let Some(second) = corpus.shared_json(SECOND_DEFINITION)? {
        let second = definition(&second)?;
        // Only where the levels are the same is there anything to compare.
        let names = |def: &ServiceDef| def.resources.iter().map(|r| r.name.clone()).collect::<Vec<_>>();
        let (first_names, second_names) = (names(&def), names(&second));
        let is_plain = def.resources.iter().all(|r| !r.matcher_options.contains_key("quotedCaseSensitive"));
        if is_plain && first_names.iter().all(|name| second_names.contains(name)) {
            of_several_levels(file, &second, " (with the second definition)", &mut cases);
        }
    }
    Ok(cases)
}

fn definition(json: &Value) -> Result<ServiceDef> {
    Ok(ranger_wire::ServiceDef::from_value(json.clone())?.to_model()?)
}

fn list<'j>(json: &'j Value, key: &str) -> impl Iterator<Item = &'j Value> {
    json.get(key).and_then(Value::as_array).into_iter().flatten().filter(|entry| !entry.is_null())
}

fn text<'j>(json: &'j Value, key: &str) -> &'j str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(json: &Value, key: &str) -> bool {
    match json.get(key) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

fn of_one_level(file: &DataFile, cases: &mut Vec<Case>) {
    for group in list(&file.json, "testCases") {
        for test in list(group, "tests") {
            let expected = flag(test, "result");
            let found = one_level(group, test);
            push(cases, group, test, "", found.map(|found| (found == expected).then_some(()).ok_or(found)));
        }
    }
}

fn one_level(group: &Value, test: &Value) -> Result<bool> {
    let def = group.get("resourceDef").context("no resourceDef")?;
    let mut level = def.clone();
    if let Some(level) = level.as_object_mut() {
        level.entry("name").or_insert(json!("level"));
    }
    let def = definition(&json!({"name": "levels", "resources": [level]}))?;
    let level = def.resources.first().context("no level")?;
    let values = resources(&json!({"level": group.get("policyResource")}))?;
    let values = values.get("level").context("no values")?;
    let attributes = attributes(test);
    let context = context(&attributes);
    let input = test.get("input").and_then(scene::text).unwrap_or_default();
    matching::level_matches(level, values, &input, &context).map_err(anyhow::Error::msg)
}

fn of_several_levels(file: &DataFile, def: &ServiceDef, suffix: &str, cases: &mut Vec<Case>) {
    for group in list(&file.json, "testCases") {
        for test in list(group, "tests") {
            let scope = match text(test, "type") {
                "exactMatch" => MatchScope::Itself,
                "selfOrDescendantMatch" => MatchScope::ItselfOrBelow,
                "descendantMatch" => MatchScope::Below,
                "selfOrAncestorMatch" => MatchScope::ItselfOrAbove,
                "ancestorMatch" => MatchScope::Above,
                "anyMatch" | "selfAndAllDescendants" => MatchScope::Any,
                other => {
                    let why = format!("Ranger's own test passes over the type `{other}`");
                    let name = format!("{}: {}{suffix}", text(group, "name"), text(test, "name"));
                    let outcome = Outcome::Skipped(why);
                    cases.push(Case { number: cases.len() + 1, name, outcome });
                    continue;
                }
            };
            let expected = flag(test, "result");
            let found = several_levels(def, group, test, scope);
            push(
                cases,
                group,
                test,
                suffix,
                found.map(|found| (found == expected).then_some(()).ok_or(found)),
            );
        }
    }
}

fn several_levels(def: &ServiceDef, group: &Value, test: &Value, scope: MatchScope) -> Result<bool> {
    let policy = resources(group.get("policyResources").unwrap_or(&Value::Null))?;
    let attributes = attributes(test);
    let context = context(&attributes);
    let found = match test.get("policy") {
        Some(other) => {
            if other.get("policyType").and_then(scene::number).is_some_and(|kind| kind != 0) {
                return Ok(false);
            }
            let other = resources(other.get("resources").unwrap_or(&Value::Null))?;
            matching::match_type_of_map(def, &policy, &other, &context)
        }
        None => {
            let elements = test.get("resource").and_then(|r| r.get("elements")).and_then(Value::as_object);
            let mut levels = Vec::new();
            for (name, value) in elements.into_iter().flatten() {
                levels.push((Cow::Borrowed(name.as_str()), requested(value)?));
            }
            matching::match_type(def, &policy, &Resource::of_values(levels), &context)
        }
    };
    Ok(scope.takes(found.map_err(anyhow::Error::msg)?))
}

fn requested(value: &Value) -> Result<LevelValue<'_>> {
    match value {
        Value::String(text) => Ok(LevelValue::One(text.as_str().into())),
        Value::Number(number) => Ok(LevelValue::One(number.to_string().into())),
        Value::Bool(flag) => Ok(LevelValue::One(flag.to_string().into())),
        Value::Array(all) => {
            let texts: Vec<String> = all.iter().filter_map(scene::text).collect();
            Ok(LevelValue::Any(texts.into()))
        }
        other => bail!("`{other}` is no value of a resource"),
    }
}

fn resources(json: &Value) -> Result<ResourceMap> {
    let policy = Policy::from_value(json!({"name": "p", "service": "s", "resources": json}))?;
    Ok(policy.to_model()?.resources)
}

fn attributes(test: &Value) -> BTreeMap<String, AttributeValue> {
    let given = test.get("evalContext").and_then(Value::as_object);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    given.into_iter().flatten().map(|(k, v)| (k.clone(), AttributeValue::Text(text(v)))).collect()
}

/// Without anything in it, nothing is replaced.
fn context(attributes: &BTreeMap<String, AttributeValue>) -> MatchContext<'_> {
    if attributes.is_empty() {
        MatchContext::NONE
    } else {
        MatchContext::new("", None).with_attributes(attributes)
    }
}

fn push(
    cases: &mut Vec<Case>,
    group: &Value,
    test: &Value,
    suffix: &str,
    found: Result<std::result::Result<(), bool>>,
) {
    let outcome = match found {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(found)) => Outcome::Failed(vec![format!("expected {}, found {found}", !found)]),
        Err(error) => Outcome::Failed(vec![format!("{error:#}")]),
    };
    let name = format!("{}: {}{suffix}", text(group, "name"), text(test, "name"));
    cases.push(Case { number: cases.len() + 1, name, outcome });
}
