//! Policies to and from the model.

use std::collections::BTreeMap;

use policy::model;
use stdx::Timestamp;

use super::{id, required, some_text};
use crate::fault::{Faults, Path};
use crate::{
    FilterInfo, FilterItem, Item, ItemAccess, ItemCondition, MaskInfo, MaskItem, Policy, Recurrence,
    RecurrenceInterval, RecurrenceSchedule, ResourceValues, ValiditySchedule, WireError,
};

impl Policy {
    /// The policy in the model's terms.
    ///
    /// The service must be named; a door that has it from the path fills it in first. The name may be missing, since
    /// Ranger makes one up. Whether the service, its levels and access types exist is the snapshot's to say.
    pub fn to_model(&self) -> Result<model::Policy, WireError> {
        let mut faults = Faults::default();
        let read = policy(self, &Path::Root, &mut faults);
        faults.unless_any(read)
    }

    /// The policy in Ranger's terms; what the model does not hold (`resourceSignature`, `serviceType`) is left out.
    pub fn from_model(from: &model::Policy) -> Self {
        Self {
            id: Some(from.id.0),
            guid: some_text(&from.guid),
            is_enabled: Some(from.is_enabled),
            created_by: some_text(&from.created_by),
            updated_by: some_text(&from.updated_by),
            create_time: Some(from.created_at.into()),
            update_time: Some(from.updated_at.into()),
            version: Some(from.version),
            service: some_text(&from.service),
            name: some_text(&from.name),
            policy_type: Some(kind_number(from.kind)),
            policy_priority: Some(match from.priority {
                model::Priority::Normal => 0,
                model::Priority::Override => 1,
            }),
            description: some_text(&from.description),
            resource_signature: None,
            is_audit_enabled: Some(from.is_audit_enabled),
            resources: from_resources(&from.resources),
            additional_resources: from.additional_resources.iter().map(from_resources).collect(),
            conditions: from.conditions.iter().map(from_condition).collect(),
            policy_items: from.items.iter().map(from_item).collect(),
            deny_policy_items: from.deny_items.iter().map(from_item).collect(),
            allow_exceptions: from.allow_exceptions.iter().map(from_item).collect(),
            deny_exceptions: from.deny_exceptions.iter().map(from_item).collect(),
            data_mask_policy_items: from.mask_items.iter().map(from_mask_item).collect(),
            row_filter_policy_items: from.filter_items.iter().map(from_filter_item).collect(),
            service_type: None,
            options: from.options.clone(),
            validity_schedules: from.validity.iter().map(from_schedule).collect(),
            policy_labels: from.labels.clone(),
            zone_name: from.zone.clone(),
            is_deny_all_else: Some(from.is_deny_all_else),
        }
    }
}

pub(crate) fn policy(from: &Policy, at: &Path<'_>, faults: &mut Faults) -> model::Policy {
    let items = |items: &[Item], name: &str, faults: &mut Faults| -> Vec<model::Item> {
        let at = Path::Member(at, name);
        items.iter().enumerate().map(|(idx, from)| item(from, &Path::Element(&at, idx), faults)).collect()
    };
    model::Policy {
        id: model::PolicyId(id(from.id, at, faults)),
        guid: from.guid.clone().unwrap_or_default(),
        version: from.version.unwrap_or(1),
        service: required(&from.service, "service", at, faults),
        name: from.name.clone().unwrap_or_default(),
        kind: kind(from.policy_type, &Path::Member(at, "policyType"), faults),
        priority: priority(from.policy_priority, &Path::Member(at, "policyPriority"), faults),
        is_enabled: from.is_enabled.unwrap_or(true),
        is_audit_enabled: from.is_audit_enabled.unwrap_or(true),
        description: from.description.clone().unwrap_or_default(),
        resources: resources(&from.resources),
        additional_resources: from.additional_resources.iter().map(resources).collect(),
        conditions: conditions(&from.conditions, at, faults),
        items: items(&from.policy_items, "policyItems", faults),
        deny_items: items(&from.deny_policy_items, "denyPolicyItems", faults),
        allow_exceptions: items(&from.allow_exceptions, "allowExceptions", faults),
        deny_exceptions: items(&from.deny_exceptions, "denyExceptions", faults),
        mask_items: mask_items(&from.data_mask_policy_items, at, faults),
        filter_items: filter_items(&from.row_filter_policy_items, at, faults),
        is_deny_all_else: from.is_deny_all_else.unwrap_or(false),
        validity: from.validity_schedules.iter().map(schedule).collect(),
        labels: from.policy_labels.clone(),
        zone: from.zone_name.clone(),
        options: from.options.clone(),
        created_by: from.created_by.clone().unwrap_or_default(),
        updated_by: from.updated_by.clone().unwrap_or_default(),
        created_at: from.create_time.map(Timestamp::from).unwrap_or_default(),
        updated_at: from.update_time.map(Timestamp::from).unwrap_or_default(),
    }
}

const fn kind_number(kind: model::PolicyKind) -> i64 {
    match kind {
        model::PolicyKind::Access => 0,
        model::PolicyKind::Mask => 1,
        model::PolicyKind::RowFilter => 2,
        model::PolicyKind::Audit => 3,
    }
}

fn kind(number: Option<i64>, at: &Path<'_>, faults: &mut Faults) -> model::PolicyKind {
    match number {
        None | Some(0) => model::PolicyKind::Access,
        Some(1) => model::PolicyKind::Mask,
        Some(2) => model::PolicyKind::RowFilter,
        Some(3) => model::PolicyKind::Audit,
        Some(other) => {
            faults.add(at, format!("no policy type has the number `{other}`"));
            model::PolicyKind::Access
        }
    }
}

fn priority(number: Option<i64>, at: &Path<'_>, faults: &mut Faults) -> model::Priority {
    match number {
        None | Some(0) => model::Priority::Normal,
        Some(1) => model::Priority::Override,
        Some(other) => {
            faults.add(at, format!("no priority has the number `{other}`"));
            model::Priority::Normal
        }
    }
}

pub(crate) fn resources(from: &BTreeMap<String, ResourceValues>) -> model::ResourceMap {
    from.iter()
        .map(|(level, values)| {
            let values = model::ResourceValues {
                values: values.values.clone(),
                is_excludes: values.is_excludes.unwrap_or(false),
                is_recursive: values.is_recursive.unwrap_or(false),
            };
            (level.clone(), values)
        })
        .collect()
}

pub(crate) fn from_resources(from: &model::ResourceMap) -> BTreeMap<String, ResourceValues> {
    from.iter()
        .map(|(level, values)| {
            let values = ResourceValues {
                values: values.values.clone(),
                is_excludes: Some(values.is_excludes),
                is_recursive: Some(values.is_recursive),
            };
            (level.clone(), values)
        })
        .collect()
}

fn conditions(from: &[ItemCondition], at: &Path<'_>, faults: &mut Faults) -> Vec<model::PolicyCondition> {
    let at = Path::Member(at, "conditions");
    from.iter()
        .enumerate()
        .map(|(idx, condition)| model::PolicyCondition {
            kind: required(&condition.kind, "type", &Path::Element(&at, idx), faults),
            values: condition.values.clone(),
        })
        .collect()
}

fn from_condition(from: &model::PolicyCondition) -> ItemCondition {
    ItemCondition { kind: some_text(&from.kind), values: from.values.clone() }
}

fn accesses(from: &[ItemAccess], at: &Path<'_>, faults: &mut Faults) -> Vec<model::Access> {
    let at = Path::Member(at, "accesses");
    from.iter()
        .enumerate()
        .map(|(idx, access)| model::Access {
            kind: required(&access.kind, "type", &Path::Element(&at, idx), faults),
            is_allowed: access.is_allowed.unwrap_or(true),
        })
        .collect()
}

fn from_accesses(from: &[model::Access]) -> Vec<ItemAccess> {
    from.iter()
        .map(|access| ItemAccess { kind: some_text(&access.kind), is_allowed: Some(access.is_allowed) })
        .collect()
}

fn item(from: &Item, at: &Path<'_>, faults: &mut Faults) -> model::Item {
    model::Item {
        accesses: accesses(&from.accesses, at, faults),
        users: from.users.clone(),
        groups: from.groups.clone(),
        roles: from.roles.clone(),
        conditions: conditions(&from.conditions, at, faults),
        delegate_admin: from.delegate_admin.unwrap_or(false),
    }
}

fn from_item(from: &model::Item) -> Item {
    Item {
        accesses: from_accesses(&from.accesses),
        users: from.users.clone(),
        groups: from.groups.clone(),
        roles: from.roles.clone(),
        conditions: from.conditions.iter().map(from_condition).collect(),
        delegate_admin: Some(from.delegate_admin),
    }
}

/// A mask item without a mask is a fault: taken as no mask at all it would show the values.
fn mask_items(from: &[MaskItem], at: &Path<'_>, faults: &mut Faults) -> Vec<model::MaskItem> {
    let at = Path::Member(at, "dataMaskPolicyItems");
    from.iter()
        .enumerate()
        .map(|(idx, from)| {
            let at = Path::Element(&at, idx);
            let MaskItem { accesses, users, groups, roles, conditions, delegate_admin, data_mask_info } =
                from.clone();
            let item =
                item(&Item { accesses, users, groups, roles, conditions, delegate_admin }, &at, faults);
            let info = data_mask_info.unwrap_or_default();
            let mask = model::MaskInfo {
                mask_type: required(
                    &info.data_mask_type,
                    "dataMaskType",
                    &Path::Member(&at, "dataMaskInfo"),
                    faults,
                ),
                condition_expr: info.condition_expr,
                value_expr: info.value_expr,
            };
            model::MaskItem { item, mask }
        })
        .collect()
}

fn from_mask_item(from: &model::MaskItem) -> MaskItem {
    let Item { accesses, users, groups, roles, conditions, delegate_admin } = from_item(&from.item);
    let info = MaskInfo {
        data_mask_type: some_text(&from.mask.mask_type),
        condition_expr: from.mask.condition_expr.clone(),
        value_expr: from.mask.value_expr.clone(),
    };
    MaskItem { accesses, users, groups, roles, conditions, delegate_admin, data_mask_info: Some(info) }
}

/// A filter item without a text is legal: it says that those in it are not filtered by this policy.
fn filter_items(from: &[FilterItem], at: &Path<'_>, faults: &mut Faults) -> Vec<model::FilterItem> {
    let at = Path::Member(at, "rowFilterPolicyItems");
    from.iter()
        .enumerate()
        .map(|(idx, from)| {
            let at = Path::Element(&at, idx);
            let FilterItem { accesses, users, groups, roles, conditions, delegate_admin, row_filter_info } =
                from.clone();
            let item =
                item(&Item { accesses, users, groups, roles, conditions, delegate_admin }, &at, faults);
            let info = row_filter_info.unwrap_or_default();
            model::FilterItem { item, filter_expr: info.filter_expr.unwrap_or_default() }
        })
        .collect()
}

fn from_filter_item(from: &model::FilterItem) -> FilterItem {
    let Item { accesses, users, groups, roles, conditions, delegate_admin } = from_item(&from.item);
    let info = FilterInfo { filter_expr: some_text(&from.filter_expr) };
    FilterItem { accesses, users, groups, roles, conditions, delegate_admin, row_filter_info: Some(info) }
}

pub(crate) fn schedule(from: &ValiditySchedule) -> model::ValiditySchedule {
    model::ValiditySchedule {
        start_time: from.start_time.clone(),
        end_time: from.end_time.clone(),
        time_zone: from.time_zone.clone(),
        recurrences: from.recurrences.iter().map(recurrence).collect(),
    }
}

fn recurrence(from: &Recurrence) -> model::Recurrence {
    let schedule = from.schedule.clone().unwrap_or_default();
    let interval = from.interval.clone().unwrap_or_default();
    model::Recurrence {
        schedule: model::RecurrenceSchedule {
            minute: schedule.minute,
            hour: schedule.hour,
            day_of_month: schedule.day_of_month,
            day_of_week: schedule.day_of_week,
            month: schedule.month,
            year: schedule.year,
        },
        interval: model::RecurrenceInterval {
            days: interval.days.unwrap_or(0),
            hours: interval.hours.unwrap_or(0),
            minutes: interval.minutes.unwrap_or(0),
        },
    }
}

pub(crate) fn from_schedule(from: &model::ValiditySchedule) -> ValiditySchedule {
    ValiditySchedule {
        start_time: from.start_time.clone(),
        end_time: from.end_time.clone(),
        time_zone: from.time_zone.clone(),
        recurrences: from.recurrences.iter().map(from_recurrence).collect(),
    }
}

fn from_recurrence(from: &model::Recurrence) -> Recurrence {
    Recurrence {
        schedule: Some(RecurrenceSchedule {
            minute: from.schedule.minute.clone(),
            hour: from.schedule.hour.clone(),
            day_of_month: from.schedule.day_of_month.clone(),
            day_of_week: from.schedule.day_of_week.clone(),
            month: from.schedule.month.clone(),
            year: from.schedule.year.clone(),
        }),
        interval: Some(RecurrenceInterval {
            days: Some(from.interval.days),
            hours: Some(from.interval.hours),
            minutes: Some(from.interval.minutes),
        }),
    }
}
