//! Who administers policies by delegation, as TestPolicyAdmin and TestPolicyDb ask.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use policy::admin::{Administration, Items, Purpose};
use policy::model::{PolicyId, PolicyKind, ResourceMap, Service, State};
use policy::{ConditionErrors, Membership};
use ranger_wire::{Policy, ServiceDef, ServicePolicies};
use serde_json::{Value, json};

use crate::corpus::{Corpus, DataFile};
use crate::report::{Case, Outcome};

/// The name under which the file's service goes here.
const SERVICE: &str = "the service";

pub(crate) fn drive(corpus: &Corpus, file: &DataFile) -> Result<Vec<Case>> {
    let policies = file.json.get("servicePolicies").context("no servicePolicies")?;
    let policies = ServicePolicies::from_value(policies.clone())?;
    let own = policies.service_def.clone().context("no serviceDef")?;
    let state_by = |def: ServiceDef| state(&policies, def);
    let read = |state: &State, items| {
        Administration::new(state, SERVICE, items, ConditionErrors::Ranger)
            .map_err(|faults| anyhow::anyhow!(faults.join("; ")))
    };
    let admin_state = state_by(own.clone())?;
    let delegated = read(&admin_state, Items::Delegated)?;
    // Questions about plain access are asked of the definitions that Ranger's tests keep for it.
    let stand_in =
        format!("classpath/admin/service-defs/test-{}-servicedef.json", own.name.clone().unwrap_or_default());
    let def = match corpus.shared_json(&stand_in)? {
        Some(def) => ServiceDef::from_value(def)?,
        None => own,
    };
    let access_state = state_by(def)?;
    let plain = read(&access_state, Items::All)?;

    let tests = file.json.get("tests").and_then(Value::as_array).context("no tests")?;
    let mut cases = Vec::new();
    for test in tests.iter().filter(|test| !test.is_null()) {
        let judged = match test.get("accessType") {
            Some(_) => access(&plain, &access_state, test),
            None => administration(&delegated, &admin_state, test),
        };
        let outcome = match judged {
            Ok(None) => Outcome::Passed,
            Ok(Some(line)) => Outcome::Failed(vec![line]),
            Err(error) => Outcome::Failed(vec![format!("{error:#}")]),
        };
        cases.push(Case { number: cases.len() + 1, name: text(test, "name").to_owned(), outcome });
    }
    Ok(cases)
}

fn state(policies: &ServicePolicies, def: ServiceDef) -> Result<State> {
    let def = def.to_model()?;
    let service = Service {
        name: SERVICE.to_owned(),
        service_def: def.name.clone(),
        is_enabled: true,
        ..Service::default()
    };
    let mut state = State::default();
    state.services.insert(service.name.clone(), service);
    state.service_defs.insert(def.name.clone(), def);
    for (number, policy) in (1..).zip(&policies.policies) {
        let mut wire = policy.clone();
        wire.service = Some(SERVICE.to_owned());
        wire.name.get_or_insert_with(|| format!("policy {number}"));
        let mut policy = wire.to_model()?;
        policy.id = PolicyId(wire.id.unwrap_or(-number));
        state.policies.insert(policy.id, policy);
    }
    Ok(state)
}

/// What differs, if anything.
fn access(plain: &Administration, state: &State, test: &Value) -> Result<Option<String>> {
    let who = member(test);
    let access = text(test, "accessType");
    let Some(expected) = test.get("allowedPolicies") else {
        let found = plain.gives(&who, &[resources(test.get("resources"))?], access);
        return Ok(compare(&flag(test, "result"), &found));
    };
    let maps = |policy: &policy::model::Policy| {
        let mut maps: Vec<ResourceMap> = vec![policy.resources.clone()];
        maps.extend(policy.additional_resources.iter().cloned());
        maps
    };
    Ok(compare(&ids(expected), &allowed(state, |policy| plain.gives(&who, &maps(policy), access))))
}

/// What differs, if anything.
fn administration(delegated: &Administration, state: &State, test: &Value) -> Result<Option<String>> {
    let who = member(test);
    let purpose = if flag(test, "isModifyAccess") { Purpose::Modify } else { Purpose::Read };
    let Some(expected) = test.get("allowedPolicies") else {
        let accesses: Vec<Value> = texts(test, "accessTypes").map(|name| json!({"type": name})).collect();
        let policy = Policy::from_value(json!({
            "name": "asked for",
            "service": SERVICE,
            "resources": test.get("resources"),
            "additionalResources": test.get("additionalResources"),
            "policyItems": [{"accesses": accesses, "users": [who.user], "groups": *who.groups}],
        }))?;
        let found = delegated.holds(&who, &policy.to_model()?, purpose).are_held();
        return Ok(compare(&flag(test, "result"), &found));
    };
    let found = allowed(state, |policy| delegated.holds(&who, policy, purpose).are_held());
    Ok(compare(&ids(expected), &found))
}

/// The policies without a zone that the question holds of.
fn allowed(state: &State, is_allowed: impl Fn(&policy::model::Policy) -> bool) -> BTreeSet<i64> {
    let asked = state.policies.values().filter(|policy| policy.is_enabled && policy.zone.is_none());
    let of_access = asked.filter(|policy| policy.kind == PolicyKind::Access);
    of_access.filter(|policy| is_allowed(policy)).map(|policy| policy.id.0).collect()
}

fn compare<T: PartialEq + std::fmt::Debug>(expected: &T, found: &T) -> Option<String> {
    (expected != found).then(|| format!("expected {expected:?}, found {found:?}"))
}

fn member(test: &Value) -> Membership {
    let set = |key| texts(test, key).map(str::to_owned).collect::<BTreeSet<String>>();
    Membership::new(text(test, "user"), set("userGroups"), set("userRoles"))
}

fn ids(json: &Value) -> BTreeSet<i64> {
    json.as_array().into_iter().flatten().filter_map(crate::scene::number).collect()
}

fn resources(json: Option<&Value>) -> Result<ResourceMap> {
    let whole = BTreeMap::from([("resources", json.cloned().unwrap_or_default())]);
    let mut policy = Policy::from_value(serde_json::to_value(whole)?)?;
    policy.name = Some("asked for".to_owned());
    policy.service = Some(SERVICE.to_owned());
    Ok(policy.to_model()?.resources)
}

fn text<'j>(json: &'j Value, key: &str) -> &'j str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'j>(json: &'j Value, key: &str) -> impl Iterator<Item = &'j str> {
    json.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn flag(json: &Value, key: &str) -> bool {
    match json.get(key) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}
