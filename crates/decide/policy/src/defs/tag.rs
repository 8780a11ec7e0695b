//! The definition of tag services: one level, and the access types of every component with its name in front.

use super::{TAG, hdfs, hive, kafka, level, options, polaris, trino};
use crate::model::{AccessTypeDef, ConditionDef, EnricherDef, MaskTypeDef, ResourceDef, ServiceDef};

const EVALUATORS: &str = "org.apache.ranger.plugin.conditionevaluator";
const ENRICHERS: &str = "org.apache.ranger.plugin.contextenricher";

/// The definition of tag services, for the components whose definitions are written here.
pub fn tag() -> ServiceDef {
    let mut def = bare();
    for component in [polaris(), hive(), trino(), hdfs(), kafka()] {
        add_component(&mut def, &component);
    }
    def
}

/// Adds what tag policies can say about a component, in place of what was there for it.
///
/// Its access types, mask types and row filters become those of tags, with `component:` in front. Ranger adds row
/// filters only where a switch is set; here they always come along.
pub fn add_component(tag: &mut ServiceDef, component: &ServiceDef) {
    remove_component(tag, &component.name);
    if component.name == tag.name {
        return;
    }
    let prefixed = |name: &String| format!("{}:{name}", component.name);
    tag.access_types.extend(component.access_types.iter().map(|access| AccessTypeDef {
        name: prefixed(&access.name),
        label: access.label.clone(),
        implied_grants: access.implied_grants.iter().map(prefixed).collect(),
        category: access.category.clone(),
    }));
    tag.mask_types.extend(
        component.mask_types.iter().map(|mask| MaskTypeDef { name: prefixed(&mask.name), ..mask.clone() }),
    );
    tag.mask_access_types.extend(component.mask_access_types.iter().map(prefixed));
    tag.filter_access_types.extend(component.filter_access_types.iter().map(prefixed));
    complete(tag);
}

/// Takes away what tag policies could say about a component.
pub fn remove_component(tag: &mut ServiceDef, component: &str) {
    let is_of = |name: &str| name.split_once(':').is_some_and(|(prefix, _)| prefix == component);
    tag.access_types.retain(|access| !is_of(&access.name));
    tag.mask_types.retain(|mask| !is_of(&mask.name));
    tag.mask_access_types.retain(|name| !is_of(name));
    tag.filter_access_types.retain(|name| !is_of(name));
    complete(tag);
}

/// Masks and filters of tags have the level of tags, if there are any.
fn complete(tag: &mut ServiceDef) {
    let same = |is_there: bool| -> Vec<ResourceDef> {
        let levels = tag.resources.iter().filter(|_| is_there);
        levels.map(|level| ResourceDef { name: level.name.clone(), ..ResourceDef::default() }).collect()
    };
    let masks = same(!tag.mask_access_types.is_empty());
    let filters = same(!tag.filter_access_types.is_empty());
    tag.mask_resources = masks;
    tag.filter_resources = filters;
}

/// Without any component.
fn bare() -> ServiceDef {
    let condition = |name: &str, evaluator: &str, option: (&str, &str)| ConditionDef {
        name: name.to_owned(),
        evaluator: format!("{EVALUATORS}.{evaluator}"),
        evaluator_options: options(&[option]),
    };
    ServiceDef {
        id: 100,
        name: TAG.to_owned(),
        display_name: TAG.to_owned(),
        label: "Tags".to_owned(),
        options: options(&[("ui.pages", "tag-based-policies")]),
        resources: vec![ResourceDef {
            is_excludes_supported: false,
            is_valid_leaf: None,
            matcher_options: options(&[("wildCard", "false"), ("ignoreCase", "false")]),
            ..level(TAG, 1, None)
        }],
        enrichers: vec![EnricherDef {
            name: "TagEnricher".to_owned(),
            enricher: format!("{ENRICHERS}.RangerTagEnricher"),
            enricher_options: options(&[(
                "tagRetrieverClassName",
                "org.apache.ranger.plugin.contextenricher.RangerAdminTagRetriever",
            )]),
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
