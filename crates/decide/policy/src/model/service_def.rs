//! Service definitions and services (RangerServiceDef, RangerService).

use std::collections::BTreeMap;

use super::AuditFilter;

/// One level of a definition's resources (RangerResourceDef).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceDef {
    pub name: String,
    pub level: i64,
    pub parent: Option<String>,
    pub is_mandatory: bool,
    pub is_recursive_supported: bool,
    pub is_excludes_supported: bool,
    /// The Java class's name, short or full.
    pub matcher: String,
    /// `wildCard`, `ignoreCase`, `pathSeparatorChar`, ….
    pub matcher_options: BTreeMap<String, String>,
    pub is_valid_leaf: Option<bool>,
    pub access_type_restrictions: Vec<String>,
    /// What every value of a policy must look like (a Java regular expression).
    pub validation_reg_ex: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessTypeDef {
    pub name: String,
    pub label: String,
    /// What an item with this access type grants besides, one level deep.
    pub implied_grants: Vec<String>,
    /// `CREATE`, `READ`, `UPDATE`, `DELETE` or `MANAGE`.
    pub category: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskTypeDef {
    pub name: String,
    pub label: String,
    pub description: String,
    pub transformer: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionDef {
    pub name: String,
    pub evaluator: String,
    pub evaluator_options: BTreeMap<String, String>,
}

/// What adds to a request before policies are asked (RangerContextEnricherDef).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnricherDef {
    pub name: String,
    pub enricher: String,
    pub enricher_options: BTreeMap<String, String>,
}

/// A setting that services of a definition have (RangerServiceConfigDef).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigDef {
    pub name: String,
    /// `string`, `int`, `bool`, `enum`, `path`, `password`, ….
    pub kind: String,
    /// For `enum` the name of an [`EnumDef`].
    pub sub_type: String,
    pub is_mandatory: bool,
    pub default_value: Option<String>,
    pub validation_reg_ex: Option<String>,
    pub label: String,
    pub description: String,
}

/// The values that a setting may have (RangerEnumDef): name and label of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnumDef {
    pub name: String,
    pub elements: Vec<(String, String)>,
    pub default_index: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDef {
    pub id: i64,
    pub name: String,
    pub display_name: String,
    pub label: String,
    pub description: String,
    pub options: BTreeMap<String, String>,
    pub resources: Vec<ResourceDef>,
    pub access_types: Vec<AccessTypeDef>,
    /// Access types such as `_READ`, which stand for every access type of a category and are added at load.
    pub marker_access_types: Vec<AccessTypeDef>,
    pub conditions: Vec<ConditionDef>,
    pub enrichers: Vec<EnricherDef>,
    pub configs: Vec<ConfigDef>,
    pub enums: Vec<EnumDef>,
    /// dataMaskDef.
    pub mask_types: Vec<MaskTypeDef>,
    pub mask_access_types: Vec<String>,
    pub mask_resources: Vec<ResourceDef>,
    /// rowFilterDef.
    pub filter_access_types: Vec<String>,
    pub filter_resources: Vec<ResourceDef>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    pub id: i64,
    pub name: String,
    /// The name of its [`ServiceDef`].
    pub service_def: String,
    pub tag_service: Option<String>,
    pub is_enabled: bool,
    pub configs: BTreeMap<String, String>,
    /// What `ranger.plugin.audit.filters` in `configs` says, read.
    pub audit_filters: Vec<AuditFilter>,
}
