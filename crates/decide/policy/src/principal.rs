//! Who is asking.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::snapshot::Prepared;

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

/// A set of names. Copies are the same set until one of them is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameSet(Arc<BTreeSet<String>>);

impl NameSet {
    /// A set of its own.
    pub fn to_set(&self) -> BTreeSet<String> {
        (*self.0).clone()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for NameSet {
    type Target = BTreeSet<String>;

    fn deref(&self) -> &BTreeSet<String> {
        &self.0
    }
}

impl DerefMut for NameSet {
    /// Whoever changes a copy has another set from then on.
    fn deref_mut(&mut self) -> &mut BTreeSet<String> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<BTreeSet<String>> for NameSet {
    fn from(names: BTreeSet<String>) -> Self {
        Self(Arc::new(names))
    }
}

impl<S: Into<String>> FromIterator<S> for NameSet {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().map(Into::into).collect()))
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for NameSet {
    fn from(names: [S; N]) -> Self {
        names.into_iter().collect()
    }
}

impl<'s> IntoIterator for &'s NameSet {
    type Item = &'s String;
    type IntoIter = std::collections::btree_set::Iter<'s, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A user with every group and role that counts for her at one snapshot. The group `public` is everyone's and is
/// not listed.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    pub user: String,
    pub groups: NameSet,
    pub roles: NameSet,
    /// The same in the numbers of one snapshot, if it was made by one; it only saves time.
    pub(crate) prepared: Option<Arc<Prepared>>,
}

impl Membership {
    pub fn new(user: impl Into<String>, groups: impl Into<NameSet>, roles: impl Into<NameSet>) -> Self {
        Self { user: user.into(), groups: groups.into(), roles: roles.into(), prepared: None }
    }
}

impl PartialEq for Membership {
    fn eq(&self, other: &Self) -> bool {
        (&self.user, &self.groups, &self.roles) == (&other.user, &other.groups, &other.roles)
    }
}

impl Eq for Membership {}

impl Hash for Membership {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.user, &self.groups, &self.roles).hash(state);
    }
}
