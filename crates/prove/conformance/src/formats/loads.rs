//! Reads what Ranger writes, builds evaluators of it, and wants back what was read.

use anyhow::{Context as _, Result, ensure};
use ranger_wire::{Policy, Role, Roles, ServiceDef, ServicePolicies, ServiceTags, UserStore};
use serde_json::Value;

use super::Setup;
use crate::corpus::{Corpus, DataFile};
use crate::engines::engines;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, objects};

/// One case for the whole file, by the members that it has; none where it has no shape that is known.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Option<Vec<Case>> {
    let has = |name: &str| file.json.get(name).is_some();
    let (name, loaded) = if has("policies") && has("serviceName") {
        ("a download of policies", download(corpus, file, setup))
    } else if has("policies") {
        ("an export of policies", policies(&file.json))
    } else if has("rangerRoles") {
        ("a download of roles", Roles::from_value(file.json.clone()).map(drop).map_err(Into::into))
    } else if has("roles") {
        ("an export of roles", roles(&file.json))
    } else if has("serviceResources") {
        ("a download of tags", ServiceTags::from_value(file.json.clone()).map(drop).map_err(Into::into))
    } else if has("userAttrMapping") || has("userGroupMapping") {
        ("a download of users", UserStore::from_value(file.json.clone()).map(drop).map_err(Into::into))
    } else if has("accessTypes") && has("resources") {
        ("a definition", definition(&file.json))
    } else {
        return None;
    };
    let outcome = match loaded {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(vec![format!("{error:#}")]),
    };
    Some(vec![Case { number: 1, name: name.to_owned(), outcome }])
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
    for policy in objects(json.get("policies")) {
        let mut wire = Policy::from_value(policy.clone())?;
        wire.service.get_or_insert_with(|| "the service".to_owned());
        wire.id.get_or_insert(1);
        let model = wire.to_model()?;
        ensure!(
            model == Policy::from_model(&model).to_model()?,
            "`{}` is not the same after a round trip",
            model.name
        );
    }
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
