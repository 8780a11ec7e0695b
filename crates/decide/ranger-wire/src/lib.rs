//! Ranger's JSON, field for field, and its checked conversion to and from the policy model.

mod fault;
mod field;
mod lenient;

mod policy;
mod principals;
mod service;
mod service_def;

mod convert;

pub use convert::EXTERNAL_ROLE_OPTION;
pub use fault::{WireError, WireFault};
pub use field::Millis;
pub use lenient::{LENIENT_BYTES_MAX, LENIENT_DEPTH_MAX, parse_lenient};
pub use policy::{
    FilterInfo, FilterItem, Item, ItemAccess, ItemCondition, MaskInfo, MaskItem, Policy, Recurrence,
    RecurrenceInterval, RecurrenceSchedule, ResourceValues, ValiditySchedule,
};
pub use principals::{Group, GroupUsers, Role, RoleMember, User};
pub use service::Service;
pub use service_def::{
    AccessTypeDef, ConditionDef, ConfigDef, EnricherDef, EnumDef, EnumElementDef, FilterDef, MaskDef,
    MaskTypeDef, ResourceDef, ServiceDef,
};

#[cfg(test)]
mod tests;
