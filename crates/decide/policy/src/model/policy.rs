//! Policies and their items (RangerPolicy).

use std::collections::BTreeMap;

use stdx::Timestamp;

/// A policy's number, given by the store and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyId(pub i64);

/// What a policy decides (policyType 0, 1, 2; audit is 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    Access,
    Mask,
    RowFilter,
    Audit,
}

/// policyPriority 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Normal,
    Override,
}

/// The values of one level of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceValues {
    pub values: Vec<String>,
    pub is_excludes: bool,
    pub is_recursive: bool,
}

impl ResourceValues {
    pub fn one(value: impl Into<String>) -> Self {
        Self { values: vec![value.into()], is_excludes: false, is_recursive: false }
    }
}

/// Level name to values, such as `database`, `table`, `column`.
pub type ResourceMap = BTreeMap<String, ResourceValues>;

/// An access type in an item, such as `select`. `isAllowed` is true everywhere in practice and kept for the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub kind: String,
    pub is_allowed: bool,
}

impl Access {
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), is_allowed: true }
    }
}

/// A condition by its definition's name, with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCondition {
    pub kind: String,
    pub values: Vec<String>,
}

/// Who gets which accesses (RangerPolicyItem).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    pub accesses: Vec<Access>,
    pub users: Vec<String>,
    pub groups: Vec<String>,
    pub roles: Vec<String>,
    pub conditions: Vec<PolicyCondition>,
    pub delegate_admin: bool,
}

/// How a column is masked (RangerPolicyItemDataMaskInfo).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskInfo {
    /// `MASK_NULL`, `CUSTOM`, …; in tag policies with the component in front (`hive:MASK`).
    pub mask_type: String,
    pub condition_expr: Option<String>,
    /// The expression of `CUSTOM`.
    pub value_expr: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskItem {
    pub item: Item,
    pub mask: MaskInfo,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterItem {
    pub item: Item,
    pub filter_expr: String,
}

/// `schedule` of a recurrence: cron-like texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecurrenceSchedule {
    pub minute: Option<String>,
    pub hour: Option<String>,
    pub day_of_month: Option<String>,
    pub day_of_week: Option<String>,
    pub month: Option<String>,
    pub year: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecurrenceInterval {
    pub days: i64,
    pub hours: i64,
    pub minutes: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recurrence {
    pub schedule: RecurrenceSchedule,
    pub interval: RecurrenceInterval,
}

/// When a policy counts (RangerValiditySchedule): texts as `yyyy/MM/dd HH:mm:ss` in `time_zone`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValiditySchedule {
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub time_zone: Option<String>,
    pub recurrences: Vec<Recurrence>,
}

/// A policy, field for field as Ranger has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub id: PolicyId,
    pub guid: String,
    pub version: i64,
    pub service: String,
    pub name: String,
    pub kind: PolicyKind,
    pub priority: Priority,
    pub is_enabled: bool,
    pub is_audit_enabled: bool,
    pub description: String,
    pub resources: ResourceMap,
    pub additional_resources: Vec<ResourceMap>,
    pub conditions: Vec<PolicyCondition>,
    pub items: Vec<Item>,
    pub deny_items: Vec<Item>,
    pub allow_exceptions: Vec<Item>,
    pub deny_exceptions: Vec<Item>,
    pub mask_items: Vec<MaskItem>,
    pub filter_items: Vec<FilterItem>,
    pub is_deny_all_else: bool,
    pub validity: Vec<ValiditySchedule>,
    /// `chm:<TYPE>:<name>:<PRIVILEGE>` among others.
    pub labels: Vec<String>,
    pub zone: Option<String>,
    /// What Ranger's model has no field for, under keys that begin with `sluice.`.
    pub options: BTreeMap<String, String>,
    pub created_by: String,
    pub updated_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Policy {
    /// A policy without items, enabled and audited.
    pub fn new(service: impl Into<String>, name: impl Into<String>, kind: PolicyKind) -> Self {
        Self {
            id: PolicyId(0),
            guid: String::new(),
            version: 1,
            service: service.into(),
            name: name.into(),
            kind,
            priority: Priority::Normal,
            is_enabled: true,
            is_audit_enabled: true,
            description: String::new(),
            resources: ResourceMap::new(),
            additional_resources: Vec::new(),
            conditions: Vec::new(),
            items: Vec::new(),
            deny_items: Vec::new(),
            allow_exceptions: Vec::new(),
            deny_exceptions: Vec::new(),
            mask_items: Vec::new(),
            filter_items: Vec::new(),
            is_deny_all_else: false,
            validity: Vec::new(),
            labels: Vec::new(),
            zone: None,
            options: BTreeMap::new(),
            created_by: String::new(),
            updated_by: String::new(),
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        }
    }
}
