//! Ranger's JSON, field for field, and its checked conversion to and from the policy model.

mod fault;
mod field;
mod lenient;

mod audit;
mod policy;
mod principals;
mod service;
mod service_def;
mod tag;
mod zone;

pub mod download;

mod convert;

pub use audit::AuditFilter;
pub use convert::{EXTERNAL_ROLE_OPTION, TAG_VALIDITY_OPTION};
pub use download::{PolicyDelta, Roles, ServicePolicies, TagPolicies, UserStore, ZoneInfo};
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
pub use tag::{ServiceResource, ServiceTags, Tag, TagAttributeDef, TagDef, TagResourceMap, TaggedResource};
pub use zone::{Zone, ZoneService};

#[cfg(test)]
mod tests;
