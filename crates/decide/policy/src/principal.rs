//! Who is asking.

use std::collections::BTreeSet;

/// A user who has proved who she is, with what the door's authentication says of her.
///
/// Groups and roles of the authority itself are not in here: the snapshot adds them, so that a revoked role bites
/// on the next statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    pub user: String,
    /// Groups that the token or directory claims.
    pub claimed_groups: BTreeSet<String>,
    /// Roles that the token claims; one counts only if it was declared `EXTERNAL`.
    pub claimed_roles: BTreeSet<String>,
}

impl Principal {
    pub fn user(name: impl Into<String>) -> Self {
        Self { user: name.into(), claimed_groups: BTreeSet::new(), claimed_roles: BTreeSet::new() }
    }
}

/// A user with every group and role that counts for her at one snapshot. The group `public` is everyone's and is
/// not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Membership {
    pub user: String,
    pub groups: BTreeSet<String>,
    pub roles: BTreeSet<String>,
}
