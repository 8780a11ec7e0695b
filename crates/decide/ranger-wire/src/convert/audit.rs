//! Audit filters to and from the model.

use policy::model;

use super::policy::{from_resources, resources};
use crate::AuditFilter;
use crate::fault::{Faults, Path};
use crate::field::Field;
use crate::lenient::parse_lenient;

/// Reads `ranger.plugin.audit.filters`.
pub(crate) fn audit_filters(text: &str, at: &Path<'_>, faults: &mut Faults) -> Vec<model::AuditFilter> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    match parse_lenient(text) {
        Ok(value) if value.is_null() => Vec::new(),
        Ok(value) => Vec::<AuditFilter>::read(value, at, faults).iter().map(AuditFilter::to_model).collect(),
        Err(error) => {
            faults.add(at, format!("expected a text that holds a JSON list: {error}"));
            Vec::new()
        }
    }
}

impl AuditFilter {
    /// The filter in the model's terms. A result that has no such name is none, as Ranger reads it.
    pub fn to_model(&self) -> model::AuditFilter {
        model::AuditFilter {
            is_audited: self.is_audited,
            access_result: self.access_result.as_deref().and_then(access_result),
            actions: self.actions.clone(),
            access_types: self.access_types.clone(),
            resources: resources(&self.resources),
            users: self.users.clone(),
            groups: self.groups.clone(),
            roles: self.roles.clone(),
        }
    }

    /// The filter in Ranger's terms.
    pub fn from_model(from: &model::AuditFilter) -> Self {
        Self {
            is_audited: from.is_audited,
            access_result: from.access_result.map(|result| access_result_name(result).to_owned()),
            actions: from.actions.clone(),
            access_types: from.access_types.clone(),
            resources: from_resources(&from.resources),
            users: from.users.clone(),
            groups: from.groups.clone(),
            roles: from.roles.clone(),
        }
    }
}

fn access_result(name: &str) -> Option<model::AccessResult> {
    match name {
        "ALLOWED" => Some(model::AccessResult::Allowed),
        "DENIED" => Some(model::AccessResult::Denied),
        "NOT_DETERMINED" => Some(model::AccessResult::NotDetermined),
        _ => None,
    }
}

const fn access_result_name(result: model::AccessResult) -> &'static str {
    match result {
        model::AccessResult::Allowed => "ALLOWED",
        model::AccessResult::Denied => "DENIED",
        model::AccessResult::NotDetermined => "NOT_DETERMINED",
    }
}
