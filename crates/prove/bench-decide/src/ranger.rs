//! The policies as Ranger's JSON, and back.

use std::fmt::Write as _;

use anyhow::Result;
use policy::model::{PolicyId, State};
use serde::Deserialize;

/// What a Ranger server gives for download, as far as the policies go.
#[derive(Deserialize)]
struct ServicePolicies {
    policies: Vec<ranger_wire::Policy>,
}

/// The policies of a state as one download.
///
/// # Errors
/// A policy that cannot be written.
pub(crate) fn text(state: &State) -> Result<String> {
    let mut text = format!("{{\"serviceName\":\"{}\",\"policies\":[", govgen::SERVICE);
    for (nth, policy) in state.policies.values().enumerate() {
        let comma = if nth == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{}", ranger_wire::Policy::from_model(policy).to_json()?);
    }
    text.push_str("]}");
    Ok(text)
}

/// The state with the policies of a download in place of its own.
///
/// # Errors
/// What is no download, or a policy that the model does not take.
pub(crate) fn read(text: &str, mut rest: State) -> Result<State> {
    let download: ServicePolicies = serde_json::from_str(text)?;
    rest.policies.clear();
    for policy in &download.policies {
        let policy = policy.to_model()?;
        rest.policies.insert(PolicyId(policy.id.0), policy);
    }
    Ok(rest)
}
