//! Ranger's model as plain data: definitions, services, policies, zones, tags, roles, groups and users.

mod audit;
mod policy;
mod principals;
mod service_def;
mod state;
mod table;
mod tag;
mod zone;

pub use audit::{AccessResult, AuditFilter};
pub use policy::{
    Access, FilterItem, Item, MaskInfo, MaskItem, Policy, PolicyCondition, PolicyId, PolicyKind, Priority,
    Recurrence, RecurrenceInterval, RecurrenceSchedule, ResourceMap, ResourceValues, ValiditySchedule,
};
pub use principals::{Group, Member, Role, User};
pub use service_def::{
    AccessTypeDef, ConditionDef, ConfigDef, EnricherDef, EnumDef, MaskTypeDef, ResourceDef, Service,
    ServiceDef,
};
pub use state::{State, Version};
pub use table::Table;
pub use tag::{
    FIELD_ID_OPTION, TABLE_UUID_OPTION, Tag, TagDef, TagId, TagOwner, TaggedResource, TaggedResourceId,
    bound_field,
};
pub use zone::{Zone, ZoneResources};
