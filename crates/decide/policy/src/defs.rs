//! The service definitions that a new authority starts with.

mod hive;
mod polaris;

use std::collections::BTreeMap;

pub use hive::hive;
pub use polaris::polaris;

use crate::model::{ConditionDef, ResourceDef, ServiceDef};

/// The definition of gate one.
pub const POLARIS: &str = "polaris";
/// The definition of gate two.
pub const HIVE: &str = "hive";
/// The definition of tag services.
pub const TAG: &str = "tag";

/// The service of gate one.
pub const GATE_ONE_SERVICE: &str = "polaris";
/// The service of gate two for the first catalog.
pub const GATE_TWO_SERVICE: &str = "query";
/// The configuration of a gate-two service that lists its catalogs, separated by commas.
pub const CATALOGS_CONFIG: &str = "sluice.catalogs";

/// The configuration of a service that holds its audit filters.
pub const AUDIT_FILTERS_CONFIG: &str = "ranger.plugin.audit.filters";

const DEFAULT_MATCHER: &str = "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher";

/// The definition of tag services, with the one level `tag`.
pub fn tag() -> ServiceDef {
    let condition = |name: &str, evaluator: &str, option: (&str, &str)| ConditionDef {
        name: name.to_owned(),
        evaluator: format!("org.apache.ranger.plugin.conditionevaluator.{evaluator}"),
        evaluator_options: BTreeMap::from([(option.0.to_owned(), option.1.to_owned())]),
    };
    ServiceDef {
        id: 100,
        name: TAG.to_owned(),
        options: BTreeMap::from([("ui.pages".to_owned(), "tag-based-policies".to_owned())]),
        resources: vec![ResourceDef {
            is_excludes_supported: false,
            matcher_options: options(&[("wildCard", "false"), ("ignoreCase", "false")]),
            ..level(TAG, 1, None)
        }],
        conditions: vec![
            condition(
                "accessed-after-expiry",
                "RangerScriptTemplateConditionEvaluator",
                ("scriptTemplate", "ctx.isAccessedAfter('expiry_date');"),
            ),
            condition("expression", "RangerScriptConditionEvaluator", ("engineName", "JavaScript")),
        ],
        ..ServiceDef::default()
    }
}

/// A level with wildcards, without regard to case, that may stand last.
fn level(name: &str, number: i64, parent: Option<&str>) -> ResourceDef {
    ResourceDef {
        name: name.to_owned(),
        level: number,
        parent: parent.map(str::to_owned),
        is_mandatory: true,
        is_recursive_supported: false,
        is_excludes_supported: true,
        matcher: DEFAULT_MATCHER.to_owned(),
        matcher_options: options(&[("wildCard", "true"), ("ignoreCase", "true")]),
        is_valid_leaf: Some(true),
        access_type_restrictions: Vec::new(),
        validation_reg_ex: None,
    }
}

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests;
