//! Security zones as Ranger writes them (RangerSecurityZone).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};

wire! {
    /// RangerSecurityZone.
    Zone {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        name: Option<String> = "name",
        services: BTreeMap<String, ZoneService> = "services",
        tag_services: Vec<String> = "tagServices",
        admin_users: Vec<String> = "adminUsers",
        admin_user_groups: Vec<String> = "adminUserGroups",
        admin_roles: Vec<String> = "adminRoles",
        audit_users: Vec<String> = "auditUsers",
        audit_user_groups: Vec<String> = "auditUserGroups",
        audit_roles: Vec<String> = "auditRoles",
        description: Option<String> = "description",
    }

    /// RangerSecurityZoneService: what the zone takes of one service.
    ZoneService {
        resources: Vec<BTreeMap<String, Vec<String>>> = "resources",
    }
}
