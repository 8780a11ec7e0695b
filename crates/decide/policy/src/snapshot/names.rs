//! Users, groups and roles as numbers, so that who is asking can be compared without text.

use std::sync::Arc;

use imbl::{HashMap, Vector};
use smallvec::SmallVec;

use crate::Membership;

/// The names that policies mention. A name that none mentions has no number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    users: HashMap<Arc<str>, u32>,
    groups: HashMap<Arc<str>, u32>,
    roles: HashMap<Arc<str>, u32>,
    group_names: Vector<Arc<str>>,
    role_names: Vector<Arc<str>>,
}

impl Names {
    pub(crate) fn intern_user(&mut self, name: &str) -> u32 {
        intern(&mut self.users, name)
    }

    pub(crate) fn intern_group(&mut self, name: &str) -> u32 {
        let number = intern(&mut self.groups, name);
        if self.group_names.len() < self.groups.len() {
            self.group_names.push_back(name.into());
        }
        number
    }

    pub(crate) fn intern_role(&mut self, name: &str) -> u32 {
        let number = intern(&mut self.roles, name);
        if self.role_names.len() < self.roles.len() {
            self.role_names.push_back(name.into());
        }
        number
    }

    pub(crate) fn user_number(&self, name: &str) -> Option<u32> {
        self.users.get(name).copied()
    }

    pub(crate) fn group_number(&self, name: &str) -> Option<u32> {
        self.groups.get(name).copied()
    }

    pub(crate) fn group(&self, number: u32) -> &str {
        named(&self.group_names, number)
    }

    pub(crate) fn role(&self, number: u32) -> &str {
        named(&self.role_names, number)
    }

    pub(crate) fn of(&self, who: &Membership) -> Numbers {
        let sorted = |names: &std::collections::BTreeSet<String>, numbers: &HashMap<Arc<str>, u32>| {
            let mut found: SmallVec<[u32; NUMBERS_INLINE]> =
                names.iter().filter_map(|name| numbers.get(name.as_str()).copied()).collect();
            found.sort_unstable();
            found
        };
        Numbers {
            user: self.users.get(who.user.as_str()).copied(),
            groups: sorted(&who.groups, &self.groups),
            roles: sorted(&who.roles, &self.roles),
        }
    }
}

/// Numbers that are held without memory of their own.
const NUMBERS_INLINE: usize = 16;

fn named(names: &Vector<Arc<str>>, number: u32) -> &str {
    usize::try_from(number).ok().and_then(|at| names.get(at)).map_or("", |name| name)
}

fn intern(numbers: &mut HashMap<Arc<str>, u32>, name: &str) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(name.into(), next);
    next
}

/// Who asks, in numbers; groups and roles in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) user: Option<u32>,
    pub(crate) groups: SmallVec<[u32; NUMBERS_INLINE]>,
    pub(crate) roles: SmallVec<[u32; NUMBERS_INLINE]>,
}
