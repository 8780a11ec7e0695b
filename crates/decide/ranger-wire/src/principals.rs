//! Roles, groups and users as Ranger writes them (RangerRole, VXGroup, VXUser, VXGroupUserInfo).

use std::collections::BTreeMap;

use crate::field::{Millis, wire};

wire! {
    /// RangerRole.
    Role {
        id: Option<i64> = "id",
        guid: Option<String> = "guid",
        is_enabled: Option<bool> = "isEnabled",
        created_by: Option<String> = "createdBy",
        updated_by: Option<String> = "updatedBy",
        create_time: Option<Millis> = "createTime",
        update_time: Option<Millis> = "updateTime",
        version: Option<i64> = "version",
        name: Option<String> = "name",
        description: Option<String> = "description",
        options: BTreeMap<String, String> = "options",
        users: Vec<RoleMember> = "users",
        groups: Vec<RoleMember> = "groups",
        roles: Vec<RoleMember> = "roles",
        created_by_user: Option<String> = "createdByUser",
    }

    /// RoleMember.
    RoleMember {
        name: Option<String> = "name",
        is_admin: Option<bool> = "isAdmin",
    }

    /// VXGroup.
    Group {
        id: Option<i64> = "id",
        create_date: Option<Millis> = "createDate",
        update_date: Option<Millis> = "updateDate",
        owner: Option<String> = "owner",
        updated_by: Option<String> = "updatedBy",
        name: Option<String> = "name",
        description: Option<String> = "description",
        group_type: Option<i64> = "groupType",
        group_source: Option<i64> = "groupSource",
        is_visible: Option<i64> = "isVisible",
        /// A JSON object, as a text.
        other_attributes: Option<String> = "otherAttributes",
        sync_source: Option<String> = "syncSource",
    }

    /// VXUser, without the password: nothing here carries one.
    User {
        id: Option<i64> = "id",
        create_date: Option<Millis> = "createDate",
        update_date: Option<Millis> = "updateDate",
        owner: Option<String> = "owner",
        updated_by: Option<String> = "updatedBy",
        name: Option<String> = "name",
        first_name: Option<String> = "firstName",
        last_name: Option<String> = "lastName",
        email_address: Option<String> = "emailAddress",
        description: Option<String> = "description",
        group_name_list: Vec<String> = "groupNameList",
        user_role_list: Vec<String> = "userRoleList",
        status: Option<i64> = "status",
        is_visible: Option<i64> = "isVisible",
        user_source: Option<i64> = "userSource",
        /// A JSON object, as a text.
        other_attributes: Option<String> = "otherAttributes",
        sync_source: Option<String> = "syncSource",
    }

    /// VXGroupUserInfo: a group and the users in it.
    GroupUsers {
        group: Option<Group> = "xgroupInfo",
        users: Vec<User> = "xuserInfo",
    }
}
