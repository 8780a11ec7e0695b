//! Service definitions to and from the model.

use policy::model;

use super::{id, required, some_text};
use crate::fault::{Faults, Path};
use crate::{
    AccessTypeDef, ConditionDef, ConfigDef, EnricherDef, EnumDef, EnumElementDef, FilterDef, MaskDef,
    MaskTypeDef, ResourceDef, ServiceDef, WireError,
};

impl ServiceDef {
    /// The definition in the model's terms.
    ///
    /// Resources of mask and filter definitions stay what they are, differences from the base: the snapshot completes
    /// them.
    pub fn to_model(&self) -> Result<model::ServiceDef, WireError> {
        let mut faults = Faults::default();
        let read = service_def(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The definition in Ranger's terms; members that the model does not hold (texts for forms) are left out.
    pub fn from_model(from: &model::ServiceDef) -> Self {
        let has_masks = !(from.mask_types.is_empty()
            && from.mask_access_types.is_empty()
            && from.mask_resources.is_empty());
        let has_filters = !(from.filter_access_types.is_empty() && from.filter_resources.is_empty());
        Self {
            id: Some(from.id),
            name: some_text(&from.name),
            display_name: some_text(&from.display_name),
            label: some_text(&from.label),
            description: some_text(&from.description),
            options: from.options.clone(),
            configs: from.configs.iter().map(from_config).collect(),
            resources: from.resources.iter().map(from_resource).collect(),
            access_types: from.access_types.iter().map(from_access_type).collect(),
            marker_access_types: from.marker_access_types.iter().map(from_access_type).collect(),
            policy_conditions: from.conditions.iter().map(from_condition).collect(),
            context_enrichers: from.enrichers.iter().map(from_enricher).collect(),
            enums: from.enums.iter().map(from_enum).collect(),
            data_mask_def: has_masks.then(|| MaskDef {
                mask_types: from.mask_types.iter().map(from_mask_type).collect(),
                access_types: from_access_names(&from.mask_access_types),
                resources: from.mask_resources.iter().map(from_difference).collect(),
            }),
            row_filter_def: has_filters.then(|| FilterDef {
                access_types: from_access_names(&from.filter_access_types),
                resources: from.filter_resources.iter().map(from_difference).collect(),
            }),
            ..Self::default()
        }
    }
}

pub(crate) fn service_def(from: &ServiceDef, at: &Path<'_>, faults: &mut Faults) -> model::ServiceDef {
    let resources_at = Path::Member(at, "resources");
    let masks_at = Path::Member(at, "dataMaskDef");
    let filters_at = Path::Member(at, "rowFilterDef");
    let masks = from.data_mask_def.clone().unwrap_or_default();
    let filters = from.row_filter_def.clone().unwrap_or_default();
    model::ServiceDef {
        id: id(from.id, at, faults),
        name: required(&from.name, "name", at, faults),
        display_name: from.display_name.clone().unwrap_or_default(),
        label: from.label.clone().unwrap_or_default(),
        description: from.description.clone().unwrap_or_default(),
        options: from.options.clone(),
        configs: configs(&from.configs, at, faults),
        enums: enums(&from.enums, at, faults),
        resources: from
            .resources
            .iter()
            .enumerate()
            .map(|(idx, def)| resource(def, &Path::Element(&resources_at, idx), faults))
            .collect(),
        access_types: access_types(&from.access_types, &Path::Member(at, "accessTypes"), faults),
        marker_access_types: access_types(
            &from.marker_access_types,
            &Path::Member(at, "markerAccessTypes"),
            faults,
        ),
        conditions: conditions(&from.policy_conditions, at, faults),
        enrichers: enrichers(&from.context_enrichers, at, faults),
        mask_types: mask_types(&masks.mask_types, &masks_at, faults),
        mask_access_types: access_names(&masks.access_types, &masks_at, faults),
        mask_resources: differences(&masks.resources, &masks_at, faults),
        filter_access_types: access_names(&filters.access_types, &filters_at, faults),
        filter_resources: differences(&filters.resources, &filters_at, faults),
    }
}

fn resource(from: &ResourceDef, at: &Path<'_>, faults: &mut Faults) -> model::ResourceDef {
    model::ResourceDef {
        name: required(&from.name, "name", at, faults),
        level: from.level.unwrap_or(1),
        parent: from.parent.clone(),
        is_mandatory: from.mandatory.unwrap_or(false),
        is_recursive_supported: from.recursive_supported.unwrap_or(false),
        is_excludes_supported: from.excludes_supported.unwrap_or(false),
        matcher: from.matcher.clone().unwrap_or_default(),
        matcher_options: from.matcher_options.clone(),
        is_valid_leaf: from.is_valid_leaf,
        access_type_restrictions: from.access_type_restrictions.clone(),
        validation_reg_ex: from.validation_reg_ex.clone(),
    }
}

/// What a mask or filter definition says otherwise about a resource; level 0 and false say nothing.
fn differences(from: &[ResourceDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::ResourceDef> {
    let at = Path::Member(at, "resources");
    from.iter()
        .enumerate()
        .map(|(idx, def)| {
            let whole = resource(def, &Path::Element(&at, idx), faults);
            model::ResourceDef { level: def.level.unwrap_or(0), ..whole }
        })
        .collect()
}

fn access_names(from: &[AccessTypeDef], at: &Path<'_>, faults: &mut Faults) -> Vec<String> {
    let at = Path::Member(at, "accessTypes");
    from.iter()
        .enumerate()
        .map(|(idx, def)| required(&def.name, "name", &Path::Element(&at, idx), faults))
        .collect()
}

fn access_types(from: &[AccessTypeDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::AccessTypeDef> {
    from.iter().enumerate().map(|(idx, def)| access_type(def, &Path::Element(at, idx), faults)).collect()
}

fn access_type(from: &AccessTypeDef, at: &Path<'_>, faults: &mut Faults) -> model::AccessTypeDef {
    model::AccessTypeDef {
        name: required(&from.name, "name", at, faults),
        label: from.label.clone().unwrap_or_default(),
        implied_grants: from.implied_grants.clone(),
        category: from.category.clone(),
    }
}

fn mask_types(from: &[MaskTypeDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::MaskTypeDef> {
    let at = Path::Member(at, "maskTypes");
    from.iter()
        .enumerate()
        .map(|(idx, from)| model::MaskTypeDef {
            name: required(&from.name, "name", &Path::Element(&at, idx), faults),
            label: from.label.clone().unwrap_or_default(),
            description: from.description.clone().unwrap_or_default(),
            transformer: from.transformer.clone(),
        })
        .collect()
}

fn conditions(from: &[ConditionDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::ConditionDef> {
    let at = Path::Member(at, "policyConditions");
    from.iter()
        .enumerate()
        .map(|(idx, from)| model::ConditionDef {
            name: required(&from.name, "name", &Path::Element(&at, idx), faults),
            evaluator: from.evaluator.clone().unwrap_or_default(),
            evaluator_options: from.evaluator_options.clone(),
        })
        .collect()
}

fn enrichers(from: &[EnricherDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::EnricherDef> {
    let at = Path::Member(at, "contextEnrichers");
    from.iter()
        .enumerate()
        .map(|(idx, from)| model::EnricherDef {
            name: required(&from.name, "name", &Path::Element(&at, idx), faults),
            enricher: from.enricher.clone().unwrap_or_default(),
            enricher_options: from.enricher_options.clone(),
        })
        .collect()
}

fn configs(from: &[ConfigDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::ConfigDef> {
    let at = Path::Member(at, "configs");
    from.iter()
        .enumerate()
        .map(|(idx, from)| model::ConfigDef {
            name: required(&from.name, "name", &Path::Element(&at, idx), faults),
            kind: from.kind.clone().unwrap_or_default(),
            sub_type: from.sub_type.clone().unwrap_or_default(),
            is_mandatory: from.mandatory.unwrap_or(false),
            default_value: from.default_value.clone(),
            validation_reg_ex: from.validation_reg_ex.clone(),
            label: from.label.clone().unwrap_or_default(),
            description: from.description.clone().unwrap_or_default(),
        })
        .collect()
}

fn enums(from: &[EnumDef], at: &Path<'_>, faults: &mut Faults) -> Vec<model::EnumDef> {
    let at = Path::Member(at, "enums");
    from.iter()
        .enumerate()
        .map(|(idx, from)| {
            let at = Path::Element(&at, idx);
            let elements_at = Path::Member(&at, "elements");
            let element = |(idx, element): (usize, &EnumElementDef)| {
                let name = required(&element.name, "name", &Path::Element(&elements_at, idx), faults);
                (name, element.label.clone().unwrap_or_default())
            };
            let elements = from.elements.iter().enumerate().map(element).collect();
            model::EnumDef {
                name: required(&from.name, "name", &at, faults),
                elements,
                default_index: from.default_index.unwrap_or(0),
            }
        })
        .collect()
}

/// `itemId` is left out: the model keeps no numbers for these, and Ranger gives them by position.
fn from_resource(from: &model::ResourceDef) -> ResourceDef {
    ResourceDef {
        name: some_text(&from.name),
        level: Some(from.level),
        parent: from.parent.clone(),
        mandatory: Some(from.is_mandatory),
        recursive_supported: Some(from.is_recursive_supported),
        excludes_supported: Some(from.is_excludes_supported),
        matcher: some_text(&from.matcher),
        matcher_options: from.matcher_options.clone(),
        is_valid_leaf: from.is_valid_leaf,
        access_type_restrictions: from.access_type_restrictions.clone(),
        validation_reg_ex: from.validation_reg_ex.clone(),
        ..ResourceDef::default()
    }
}

/// A `false` or a level 0 must not be written: Ranger would take it for a difference.
fn from_difference(from: &model::ResourceDef) -> ResourceDef {
    let whole = from_resource(from);
    ResourceDef {
        level: whole.level.filter(|level| *level != 0),
        mandatory: whole.mandatory.filter(|flag| *flag),
        recursive_supported: whole.recursive_supported.filter(|flag| *flag),
        excludes_supported: whole.excludes_supported.filter(|flag| *flag),
        ..whole
    }
}

fn from_access_type(from: &model::AccessTypeDef) -> AccessTypeDef {
    AccessTypeDef {
        name: some_text(&from.name),
        label: some_text(&from.label),
        implied_grants: from.implied_grants.clone(),
        category: from.category.clone(),
        ..AccessTypeDef::default()
    }
}

fn from_access_names(names: &[String]) -> Vec<AccessTypeDef> {
    names.iter().map(|name| AccessTypeDef { name: some_text(name), ..AccessTypeDef::default() }).collect()
}

fn from_mask_type(from: &model::MaskTypeDef) -> MaskTypeDef {
    MaskTypeDef {
        name: some_text(&from.name),
        label: some_text(&from.label),
        description: some_text(&from.description),
        transformer: from.transformer.clone(),
        ..MaskTypeDef::default()
    }
}

fn from_condition(from: &model::ConditionDef) -> ConditionDef {
    ConditionDef {
        name: some_text(&from.name),
        evaluator: some_text(&from.evaluator),
        evaluator_options: from.evaluator_options.clone(),
        ..ConditionDef::default()
    }
}

fn from_enricher(from: &model::EnricherDef) -> EnricherDef {
    EnricherDef {
        name: some_text(&from.name),
        enricher: some_text(&from.enricher),
        enricher_options: from.enricher_options.clone(),
        ..EnricherDef::default()
    }
}

fn from_config(from: &model::ConfigDef) -> ConfigDef {
    ConfigDef {
        name: some_text(&from.name),
        kind: some_text(&from.kind),
        sub_type: some_text(&from.sub_type),
        mandatory: Some(from.is_mandatory),
        default_value: from.default_value.clone(),
        validation_reg_ex: from.validation_reg_ex.clone(),
        label: some_text(&from.label),
        description: some_text(&from.description),
        ..ConfigDef::default()
    }
}

fn from_enum(from: &model::EnumDef) -> EnumDef {
    let element = |(name, label): &(String, String)| EnumElementDef {
        name: some_text(name),
        label: some_text(label),
        ..EnumElementDef::default()
    };
    EnumDef {
        name: some_text(&from.name),
        elements: from.elements.iter().map(element).collect(),
        default_index: Some(from.default_index),
        ..EnumDef::default()
    }
}
