//! Users, groups and roles that the authority itself knows.

use std::collections::BTreeMap;

use stdx::Secret;

/// A member of a role, who may also be its admin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub name: String,
    pub is_admin: bool,
}

/// A role (RangerRole): users, groups and other roles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    pub id: i64,
    pub name: String,
    pub description: String,
    /// Whether a token may claim it (`CREATE ROLE r EXTERNAL`).
    pub is_external: bool,
    pub users: Vec<Member>,
    pub groups: Vec<Member>,
    pub roles: Vec<Member>,
    pub options: BTreeMap<String, String>,
    pub created_by: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub id: i64,
    pub name: String,
    pub users: Vec<String>,
    pub attributes: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: i64,
    pub name: String,
    /// A verifier from which the password cannot be had; `None`: cannot log in with a password.
    pub credential: Option<Secret>,
    pub attributes: BTreeMap<String, String>,
}
