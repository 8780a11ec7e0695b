//! What plug-ins download (ServicePolicies, RangerRoles, RangerUserStore), and the one state that it makes together.

use std::collections::BTreeMap;

use crate::field::{Millis, wire};
use crate::{Policy, Role, ServiceDef};

mod deltas;
mod state;

pub use deltas::{SERVICE_TYPE_TAG, zones};
pub use state::{Download, Downloaded, state};

wire! {
    /// ServicePolicies.
    ServicePolicies {
        service_name: Option<String> = "serviceName",
        service_id: Option<i64> = "serviceId",
        policy_version: Option<i64> = "policyVersion",
        policy_update_time: Option<Millis> = "policyUpdateTime",
        policies: Vec<Policy> = "policies",
        service_def: Option<ServiceDef> = "serviceDef",
        /// `audit-all`, `audit-none` or `audit-default`.
        audit_mode: Option<String> = "auditMode",
        tag_policies: Option<TagPolicies> = "tagPolicies",
        security_zones: BTreeMap<String, ZoneInfo> = "securityZones",
        policy_deltas: Vec<PolicyDelta> = "policyDeltas",
        service_config: BTreeMap<String, String> = "serviceConfig",
    }

    /// ServicePolicies.TagPolicies.
    TagPolicies {
        service_name: Option<String> = "serviceName",
        service_id: Option<i64> = "serviceId",
        policy_version: Option<i64> = "policyVersion",
        policy_update_time: Option<Millis> = "policyUpdateTime",
        policies: Vec<Policy> = "policies",
        service_def: Option<ServiceDef> = "serviceDef",
        audit_mode: Option<String> = "auditMode",
        service_config: BTreeMap<String, String> = "serviceConfig",
    }

    /// ServicePolicies.SecurityZoneInfo: the part of a zone that concerns the service.
    ZoneInfo {
        zone_name: Option<String> = "zoneName",
        resources: Vec<BTreeMap<String, Vec<String>>> = "resources",
        policies: Vec<Policy> = "policies",
        policy_deltas: Vec<PolicyDelta> = "policyDeltas",
        contains_associated_tag_service: Option<bool> = "containsAssociatedTagService",
    }

    /// RangerPolicyDelta.
    PolicyDelta {
        id: Option<i64> = "id",
        /// 0 create, 1 update, 2 delete; every other number asks for a whole download.
        change_type: Option<i64> = "changeType",
        policies_version: Option<i64> = "policiesVersion",
        policy: Option<Policy> = "policy",
    }

    /// RangerRoles.
    Roles {
        service_name: Option<String> = "serviceName",
        role_version: Option<i64> = "roleVersion",
        role_update_time: Option<Millis> = "roleUpdateTime",
        ranger_roles: Vec<Role> = "rangerRoles",
    }

    /// RangerUserStore.
    UserStore {
        user_store_version: Option<i64> = "userStoreVersion",
        user_store_update_time: Option<Millis> = "userStoreUpdateTime",
        user_attr_mapping: BTreeMap<String, BTreeMap<String, String>> = "userAttrMapping",
        group_attr_mapping: BTreeMap<String, BTreeMap<String, String>> = "groupAttrMapping",
        user_group_mapping: BTreeMap<String, Vec<String>> = "userGroupMapping",
        user_cloud_id_mapping: BTreeMap<String, String> = "userCloudIdMapping",
        group_cloud_id_mapping: BTreeMap<String, String> = "groupCloudIdMapping",
    }
}

#[cfg(test)]
mod tests;
