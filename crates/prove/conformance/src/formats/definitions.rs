//! Reads a tag definition for one component and compares it with that component's own.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use policy::model::ServiceDef;
use policy::normalise;
use serde_json::Value;

use crate::corpus::DataFile;
use crate::report::{Case, Outcome};

pub(crate) fn drive(file: &DataFile) -> Result<Vec<Case>> {
    let definition = |json: Option<&Value>| -> Result<ServiceDef> {
        let json = json.context("no serviceDef")?;
        Ok(ranger_wire::ServiceDef::from_value(json.clone())?.to_model()?)
    };
    let own = definition(file.json.get("serviceDef"))?;
    let tags = definition(file.json.get("tagPolicies").and_then(|tags| tags.get("serviceDef")))?;
    let mut lines = Vec::new();
    if counts(&tags, &own) {
        lines.push("the tag definition is the component's already".to_owned());
    }
    let read = normalise::for_component(&tags, &own.name);
    if !counts(&read, &own) {
        lines.push(format!("expected {}, found {}", shown(&own), shown(&read)));
    }
    let outcome = if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) };
    Ok(vec![Case { number: 1, name: format!("the tag definition as `{}` reads it", own.name), outcome }])
}

fn counts(tags: &ServiceDef, own: &ServiceDef) -> bool {
    tags.access_types.len() == own.access_types.len()
        && tags.mask_access_types.len() == own.mask_access_types.len()
        && tags.filter_access_types.is_empty()
        && implied_by_all(tags) == implied_by_all(own)
}

fn implied_by_all(def: &ServiceDef) -> Option<BTreeSet<&str>> {
    let all = def.marker_access_types.iter().find(|marker| marker.name == "_ALL")?;
    Some(all.implied_grants.iter().map(String::as_str).collect())
}

fn shown(def: &ServiceDef) -> String {
    format!(
        "{} access types, {} for masks, {} for row filters, `_ALL` {:?}",
        def.access_types.len(),
        def.mask_access_types.len(),
        def.filter_access_types.len(),
        implied_by_all(def)
    )
}
