//! Services as Ranger writes them (RangerService).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};

wire! {
    /// RangerService.
    Service {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        /// The definition's name.
        kind: Option<String> = "type",
        name: Option<String> = "name",
        display_name: Option<String> = "displayName",
        description: Option<String> = "description",
        tag_service: Option<String> = "tagService",
        configs: BTreeMap<String, String> = "configs",
        policy_version: Option<i64> = "policyVersion",
        policy_update_time: Option<Millis> = "policyUpdateTime",
        tag_version: Option<i64> = "tagVersion",
        tag_update_time: Option<Millis> = "tagUpdateTime",
    }
}
