//! Service definitions as Ranger writes them (RangerServiceDef and what stands in it).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};

wire! {
    /// RangerServiceDef.
    ServiceDef {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        name: Option<String> = "name",
        display_name: Option<String> = "displayName",
        impl_class: Option<String> = "implClass",
        label: Option<String> = "label",
        description: Option<String> = "description",
        rb_key_label: Option<String> = "rbKeyLabel",
        rb_key_description: Option<String> = "rbKeyDescription",
        options: BTreeMap<String, String> = "options",
        configs: Vec<ConfigDef> = "configs",
        resources: Vec<ResourceDef> = "resources",
        access_types: Vec<AccessTypeDef> = "accessTypes",
        policy_conditions: Vec<ConditionDef> = "policyConditions",
        context_enrichers: Vec<EnricherDef> = "contextEnrichers",
        enums: Vec<EnumDef> = "enums",
        data_mask_def: Option<MaskDef> = "dataMaskDef",
        row_filter_def: Option<FilterDef> = "rowFilterDef",
        marker_access_types: Vec<AccessTypeDef> = "markerAccessTypes",
    }

    /// RangerResourceDef; in a mask or filter definition only what differs from the base is given.
    ResourceDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        kind: Option<String> = "type",
        level: Option<i64> = "level",
        parent: Option<String> = "parent",
        mandatory: Option<bool> = "mandatory",
        lookup_supported: Option<bool> = "lookupSupported",
        recursive_supported: Option<bool> = "recursiveSupported",
        excludes_supported: Option<bool> = "excludesSupported",
        matcher: Option<String> = "matcher",
        matcher_options: BTreeMap<String, String> = "matcherOptions",
        validation_reg_ex: Option<String> = "validationRegEx",
        validation_message: Option<String> = "validationMessage",
        ui_hint: Option<String> = "uiHint",
        label: Option<String> = "label",
        description: Option<String> = "description",
        rb_key_label: Option<String> = "rbKeyLabel",
        rb_key_description: Option<String> = "rbKeyDescription",
        rb_key_validation_message: Option<String> = "rbKeyValidationMessage",
        access_type_restrictions: Vec<String> = "accessTypeRestrictions",
        is_valid_leaf: Option<bool> = "isValidLeaf",
    }

    /// RangerAccessTypeDef.
    AccessTypeDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        label: Option<String> = "label",
        rb_key_label: Option<String> = "rbKeyLabel",
        implied_grants: Vec<String> = "impliedGrants",
        category: Option<String> = "category",
    }

    /// RangerPolicyConditionDef.
    ConditionDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        evaluator: Option<String> = "evaluator",
        evaluator_options: BTreeMap<String, String> = "evaluatorOptions",
        validation_reg_ex: Option<String> = "validationRegEx",
        validation_message: Option<String> = "validationMessage",
        ui_hint: Option<String> = "uiHint",
        label: Option<String> = "label",
        description: Option<String> = "description",
        rb_key_label: Option<String> = "rbKeyLabel",
        rb_key_description: Option<String> = "rbKeyDescription",
        rb_key_validation_message: Option<String> = "rbKeyValidationMessage",
    }

    /// RangerContextEnricherDef.
    EnricherDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        enricher: Option<String> = "enricher",
        enricher_options: BTreeMap<String, String> = "enricherOptions",
    }

    /// RangerServiceConfigDef.
    ConfigDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        kind: Option<String> = "type",
        sub_type: Option<String> = "subType",
        mandatory: Option<bool> = "mandatory",
        default_value: Option<String> = "defaultValue",
        validation_reg_ex: Option<String> = "validationRegEx",
        validation_message: Option<String> = "validationMessage",
        ui_hint: Option<String> = "uiHint",
        label: Option<String> = "label",
        description: Option<String> = "description",
        rb_key_label: Option<String> = "rbKeyLabel",
        rb_key_description: Option<String> = "rbKeyDescription",
        rb_key_validation_message: Option<String> = "rbKeyValidationMessage",
    }

    /// RangerEnumDef.
    EnumDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        elements: Vec<EnumElementDef> = "elements",
        default_index: Option<i64> = "defaultIndex",
    }

    /// RangerEnumElementDef.
    EnumElementDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        label: Option<String> = "label",
        rb_key_label: Option<String> = "rbKeyLabel",
    }

    /// RangerDataMaskDef.
    MaskDef {
        mask_types: Vec<MaskTypeDef> = "maskTypes",
        access_types: Vec<AccessTypeDef> = "accessTypes",
        resources: Vec<ResourceDef> = "resources",
    }

    /// RangerDataMaskTypeDef.
    MaskTypeDef {
        item_id: Option<i64> = "itemId",
        name: Option<String> = "name",
        label: Option<String> = "label",
        description: Option<String> = "description",
        transformer: Option<String> = "transformer",
        data_mask_options: BTreeMap<String, String> = "dataMaskOptions",
        rb_key_label: Option<String> = "rbKeyLabel",
        rb_key_description: Option<String> = "rbKeyDescription",
    }

    /// RangerRowFilterDef.
    FilterDef {
        access_types: Vec<AccessTypeDef> = "accessTypes",
        resources: Vec<ResourceDef> = "resources",
    }
}
