//! Reads what Ranger writes, builds evaluators of it, and wants back what was read.

use anyhow::{Context as _, Result, ensure};
use ranger_wire::{Policy, Role, Roles, ServiceDef, ServicePolicies, ServiceTags, UserStore};
use serde_json::Value;

use super::Setup;
use crate::corpus::{Corpus, DataFile};
use crate::engines::engines;
use crate::question::levels;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, objects};

/// One case for the whole file, by the members that it has; none where it has no shape that is known.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Option<Vec<Case>> {
    let has = |name: &str| file.json.get(name).is_some();
    let json = || file.json.clone();
    let (name, loaded) = if has("dataShares") || has("datasets") {
        ("a download of shared data", Err(NOT_SHARED.to_owned()))
    } else if has("policies") && has("serviceName") {
        ("a download of policies", Ok(download(corpus, file, setup)))
    } else if has("policies") {
        ("an export of policies", Ok(policies(&file.json)))
    } else if has("rangerRoles") {
        ("a download of roles", Ok(Roles::from_value(json()).map(drop).map_err(Into::into)))
    } else if has("roles") {
        ("an export of roles", Ok(roles(&file.json)))
    } else if has("serviceResources") {
        ("a download of tags", Ok(ServiceTags::from_value(json()).map(drop).map_err(Into::into)))
    } else if has("userAttrMapping") || has("userGroupMapping") {
        ("a download of users", Ok(UserStore::from_value(json()).map(drop).map_err(Into::into)))
    } else if has("accessTypes") && has("resources") {
        ("a definition", Ok(definition(&file.json)))
    } else if has("policyItems") && has("resources") {
        ("a policy", Ok(policy(&file.json)))
    } else if has("operations") {
        ("a table of operations", Ok(operations(&file.json)))
    } else if file.json.as_object().is_some_and(serde_json::Map::is_empty)
        && MAY_BE_EMPTY.contains(&file.group())
    {
        ("a download of nothing", Ok(Ok(())))
    } else if has("request") {
        ("a request", Ok(requests(std::slice::from_ref(&file.json))))
    } else {
        let list = file.json.as_array()?;
        ("requests", Ok(requests(list)))
    };
    let outcome = match loaded {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(error)) => Outcome::Failed(vec![format!("{error:#}")]),
        Err(why) => Outcome::Skipped(why),
    };
    Some(vec![Case { number: 1, name: name.to_owned(), outcome }])
}

/// The groups whose files stand for downloads, one of which may have nothing in it.
const MAY_BE_EMPTY: [&str; 4] = ["classpath", "embedded-authz", "fixtures", "polaris"];

/// Why what is shared is not read.
const NOT_SHARED: &str = "governed data sharing is not offered";

fn operations(json: &Value) -> Result<()> {
    let by_name = json.get("operations").and_then(Value::as_object).context("no operations")?;
    for (name, needs) in by_name {
        let is_told = ["target", "secondary"].iter().any(|part| needs.get(part).is_some_and(Value::is_array));
        ensure!(is_told, "what `{name}` needs is not told");
    }
    Ok(())
}

/// Requests that nothing is expected of: each must at least be one.
fn requests(list: &[Value]) -> Result<()> {
    ensure!(list.iter().any(|entry| !entry.is_null()), "no requests");
    for entry in list.iter().filter(|entry| !entry.is_null()) {
        let request = entry.get("request").context("no request")?;
        ensure!(
            !levels(request.get("resource").unwrap_or(&Value::Null)).is_empty(),
            "a request without a resource"
        );
    }
    Ok(())
}

fn download(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<()> {
    if file.json.pointer("/serviceDef/name").is_none()
        && file.json.pointer("/policies/0/serviceType").is_none()
    {
        // Of what type the service is stands nowhere; the document itself must still read.
        ServicePolicies::from_value(file.json.clone())?;
        return Ok(());
    }
    let scene =
        Scene::of_download(corpus, file, file.json.clone(), &Beside::default(), setup.settings.clone())?;
    engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    for policy in scene.downloaded.state.policies.values() {
        let back =
            Policy::from_model(policy).to_model().with_context(|| format!("policy `{}`", policy.name))?;
        ensure!(*policy == back, "policy `{}` is not the same after a round trip", policy.name);
    }
    Ok(())
}

fn policies(json: &Value) -> Result<()> {
    objects(json.get("policies")).try_for_each(policy)
}

fn policy(json: &Value) -> Result<()> {
    let mut wire = Policy::from_value(json.clone())?;
    wire.service.get_or_insert_with(|| "the service".to_owned());
    wire.id.get_or_insert(1);
    let model = wire.to_model()?;
    ensure!(
        model == Policy::from_model(&model).to_model()?,
        "`{}` is not the same after a round trip",
        model.name
    );
    Ok(())
}

fn roles(json: &Value) -> Result<()> {
    for role in objects(json.get("roles")) {
        let model = Role::from_value(role.clone())?.to_model()?;
        ensure!(
            model == Role::from_model(&model).to_model()?,
            "`{}` is not the same after a round trip",
            model.name
        );
    }
    Ok(())
}

fn definition(json: &Value) -> Result<()> {
    let model = ServiceDef::from_value(json.clone())?.to_model()?;
    ensure!(
        model == ServiceDef::from_model(&model).to_model()?,
        "`{}` is not the same after a round trip",
        model.name
    );
    Ok(())
}
