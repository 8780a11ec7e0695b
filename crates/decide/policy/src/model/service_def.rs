//! Service definitions and services (RangerServiceDef, RangerService).

use std::collections::BTreeMap;

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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDef {
    pub id: i64,
    pub name: String,
    pub options: BTreeMap<String, String>,
    pub resources: Vec<ResourceDef>,
    pub access_types: Vec<AccessTypeDef>,
    /// Access types such as `_READ`, which stand for every access type of a category and are added at load.
    pub marker_access_types: Vec<AccessTypeDef>,
    pub conditions: Vec<ConditionDef>,
    pub enrichers: Vec<EnricherDef>,
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
}
