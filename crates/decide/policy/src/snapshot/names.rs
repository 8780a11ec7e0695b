//! Users, groups and roles as numbers, so that who is asking can be compared without text.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::byte_map::ByteMap;
use crate::{Membership, NameSet};

/// The names that policies mention. A name that none mentions has no number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    users: Numbered,
    groups: Numbered,
    roles: Numbered,
    /// Tells apart what was numbered independently of each other.
    lineage: Arc<Lineage>,
}

/// It has a size, so that no two of them lie in the same place.
#[derive(Debug, Default)]
struct Lineage(#[expect(dead_code, reason = "only its address counts")] u8);

#[derive(Clone, Debug, Default)]
struct Numbered {
    numbers: ByteMap<u32>,
    names: imbl::Vector<Arc<str>>,
}

impl Numbered {
    fn intern(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name.as_bytes()) {
            return *number;
        }
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        if let Some(number) = self.numbers.entry(name.as_bytes()) {
            *number = next;
        }
        self.names.push_back(name.into());
        next
    }

    fn name(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.names.get(at)).map_or("", |name| name)
    }

    fn sorted(&self, names: &NameSet) -> SmallVec<[u32; NUMBERS_INLINE]> {
        let numbers = names.iter().filter_map(|name| self.numbers.get(name.as_bytes()).copied());
        let mut found: SmallVec<[u32; NUMBERS_INLINE]> = numbers.collect();
        found.sort_unstable();
        found
    }
}

impl Names {
    pub(crate) fn intern_user(&mut self, name: &str) -> u32 {
        self.users.intern(name)
    }

    pub(crate) fn intern_group(&mut self, name: &str) -> u32 {
        self.groups.intern(name)
    }

    pub(crate) fn intern_role(&mut self, name: &str) -> u32 {
        self.roles.intern(name)
    }

    pub(crate) fn user_number(&self, name: &str) -> Option<u32> {
        self.users.numbers.get(name.as_bytes()).copied()
    }

    pub(crate) fn group_number(&self, name: &str) -> Option<u32> {
        self.groups.numbers.get(name.as_bytes()).copied()
    }

    pub(crate) fn group(&self, number: u32) -> &str {
        self.groups.name(number)
    }

    pub(crate) fn role(&self, number: u32) -> &str {
        self.roles.name(number)
    }

    fn n_names(&self) -> usize {
        self.users.names.len() + self.groups.names.len() + self.roles.names.len()
    }

    pub(crate) fn of<'w>(&self, who: &'w Membership) -> Cow<'w, Numbers> {
        match who.prepared.as_deref().and_then(|prepared| prepared.numbers(who, self)) {
            Some(numbers) => Cow::Borrowed(numbers),
            None => Cow::Owned(self.find(who)),
        }
    }

    fn find(&self, who: &Membership) -> Numbers {
        let user = self.users.numbers.get(who.user.as_bytes()).copied();
        let (mut groups_and_roles, roles) = (self.groups.sorted(&who.groups), self.roles.sorted(&who.roles));
        let mut marks = Marks::default();
        user.iter().for_each(|number| marks.add(MarkKind::User, *number));
        groups_and_roles.iter().for_each(|number| marks.add(MarkKind::Group, *number));
        roles.iter().for_each(|number| marks.add(MarkKind::Role, *number));
        let n_groups = groups_and_roles.len();
        groups_and_roles.extend(roles);
        Numbers { marks, user, n_groups, groups_and_roles }
    }

    /// Keeps the numbers with the names.
    pub(crate) fn prepare(&self, who: &mut Membership) {
        who.prepared = Some(Arc::new(Prepared {
            lineage: Arc::clone(&self.lineage),
            n_names: self.n_names(),
            user: who.user.as_bytes().into(),
            groups: who.groups.clone(),
            roles: who.roles.clone(),
            numbers: self.find(who),
        }));
    }
}

/// Numbers that are held without memory of their own.
const NUMBERS_INLINE: usize = 16;
/// Bytes of a user's name that are.
const USER_INLINE: usize = 24;

/// A set of principals that may hold more than was put in, and says at once of most that they are not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks([u64; 2]);

impl Marks {
    /// Whoever it is, known by a number or not.
    pub(crate) const EVERYBODY: Self = Self([0, 1 << 63]);

    /// `kind` tells numbers of users, groups and roles apart.
    pub(crate) fn add(&mut self, kind: MarkKind, number: u32) {
        let word = u64::from(number) << 2 | kind as u64;
        // The last bit stands for everybody.
        let bit = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57).min(126);
        let [low, high] = &mut self.0;
        *if bit < 64 { low } else { high } |= 1 << (bit % 64);
    }

    /// Whether one of these may be whoever has the marks `who`.
    pub(crate) fn may_name(self, who: Self) -> bool {
        let ([low, high], [who_low, who_high], [_, everybody]) = (self.0, who.0, Self::EVERYBODY.0);
        low & who_low | high & (who_high | everybody) != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    User,
    Group,
    Role,
}

/// Who asks, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) marks: Marks,
    pub(crate) user: Option<u32>,
    n_groups: usize,
    /// Groups, then roles, each in ascending order.
    groups_and_roles: SmallVec<[u32; NUMBERS_INLINE]>,
}

impl Numbers {
    pub(crate) fn groups(&self) -> &[u32] {
        self.groups_and_roles.get(..self.n_groups).unwrap_or_default()
    }

    pub(crate) fn roles(&self) -> &[u32] {
        self.groups_and_roles.get(self.n_groups..).unwrap_or_default()
    }
}

/// The numbers of one membership, with what they were made from.
#[derive(Debug)]
pub(crate) struct Prepared {
    lineage: Arc<Lineage>,
    n_names: usize,
    user: SmallVec<[u8; USER_INLINE]>,
    groups: NameSet,
    roles: NameSet,
    numbers: Numbers,
}

impl Prepared {
    /// `None`: they were made from other names, or of another membership.
    fn numbers(&self, who: &Membership, names: &Names) -> Option<&Numbers> {
        let is_current = Arc::ptr_eq(&self.lineage, &names.lineage)
            && self.n_names == names.n_names()
            && self.groups.is_same(&who.groups)
            && self.roles.is_same(&who.roles)
            && *self.user == *who.user.as_bytes();
        is_current.then_some(&self.numbers)
    }
}
