//! Policies as Ranger writes them (RangerPolicy and what stands in it).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};

wire! {
    /// RangerPolicy.
    Policy {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        service: Option<String> = "service",
        name: Option<String> = "name",
        policy_type: Option<i64> = "policyType",
        policy_priority: Option<i64> = "policyPriority",
        description: Option<String> = "description",
        resource_signature: Option<String> = "resourceSignature",
        is_audit_enabled: Option<bool> = "isAuditEnabled",
        resources: BTreeMap<String, ResourceValues> = "resources",
        additional_resources: Vec<BTreeMap<String, ResourceValues>> = "additionalResources",
        conditions: Vec<ItemCondition> = "conditions",
        policy_items: Vec<Item> = "policyItems",
        deny_policy_items: Vec<Item> = "denyPolicyItems",
        allow_exceptions: Vec<Item> = "allowExceptions",
        deny_exceptions: Vec<Item> = "denyExceptions",
        data_mask_policy_items: Vec<MaskItem> = "dataMaskPolicyItems",
        row_filter_policy_items: Vec<FilterItem> = "rowFilterPolicyItems",
        service_type: Option<String> = "serviceType",
        options: BTreeMap<String, String> = "options",
        validity_schedules: Vec<ValiditySchedule> = "validitySchedules",
        policy_labels: Vec<String> = "policyLabels",
        zone_name: Option<String> = "zoneName",
        is_deny_all_else: Option<bool> = "isDenyAllElse",
    }

    /// RangerPolicyResource.
    ResourceValues {
        values: Vec<String> = "values",
        is_excludes: Option<bool> = "isExcludes",
        is_recursive: Option<bool> = "isRecursive",
    }

    /// RangerPolicyItemCondition.
    ItemCondition {
        kind: Option<String> = "type",
        values: Vec<String> = "values",
    }

    /// RangerPolicyItemAccess.
    ItemAccess {
        kind: Option<String> = "type",
        is_allowed: Option<bool> = "isAllowed",
    }

    /// RangerPolicyItem.
    Item {
        accesses: Vec<ItemAccess> = "accesses",
        users: Vec<String> = "users",
        groups: Vec<String> = "groups",
        roles: Vec<String> = "roles",
        conditions: Vec<ItemCondition> = "conditions",
        delegate_admin: Option<bool> = "delegateAdmin",
    }

    /// RangerDataMaskPolicyItem: an item's members, and the mask.
    MaskItem {
        accesses: Vec<ItemAccess> = "accesses",
        users: Vec<String> = "users",
        groups: Vec<String> = "groups",
        roles: Vec<String> = "roles",
        conditions: Vec<ItemCondition> = "conditions",
        delegate_admin: Option<bool> = "delegateAdmin",
        data_mask_info: Option<MaskInfo> = "dataMaskInfo",
    }

    /// RangerPolicyItemDataMaskInfo.
    MaskInfo {
        data_mask_type: Option<String> = "dataMaskType",
        condition_expr: Option<String> = "conditionExpr",
        value_expr: Option<String> = "valueExpr",
    }

    /// RangerRowFilterPolicyItem: an item's members, and the filter.
    FilterItem {
        accesses: Vec<ItemAccess> = "accesses",
        users: Vec<String> = "users",
        groups: Vec<String> = "groups",
        roles: Vec<String> = "roles",
        conditions: Vec<ItemCondition> = "conditions",
        delegate_admin: Option<bool> = "delegateAdmin",
        row_filter_info: Option<FilterInfo> = "rowFilterInfo",
    }

    /// RangerPolicyItemRowFilterInfo.
    FilterInfo {
        filter_expr: Option<String> = "filterExpr",
    }

    /// RangerValiditySchedule.
    ValiditySchedule {
        start_time: Option<String> = "startTime",
        end_time: Option<String> = "endTime",
        time_zone: Option<String> = "timeZone",
        recurrences: Vec<Recurrence> = "recurrences",
    }

    /// RangerValidityRecurrence.
    Recurrence {
        schedule: Option<RecurrenceSchedule> = "schedule",
        interval: Option<RecurrenceInterval> = "interval",
    }

    /// RecurrenceSchedule.
    RecurrenceSchedule {
        minute: Option<String> = "minute",
        hour: Option<String> = "hour",
        day_of_month: Option<String> = "dayOfMonth",
        day_of_week: Option<String> = "dayOfWeek",
        month: Option<String> = "month",
        year: Option<String> = "year",
    }

    /// ValidityInterval.
    RecurrenceInterval {
        days: Option<i64> = "days",
        hours: Option<i64> = "hours",
        minutes: Option<i64> = "minutes",
    }
}
