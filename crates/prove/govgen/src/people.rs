//! Users, their groups, and roles within roles.

use policy::model::{Group, Member, Role, State, User};

use crate::names::{group, role, user};
use crate::rng::Rng;
use crate::shape::Shape;

/// Groups that a user is in.
const GROUPS_OF_USER: u32 = 5;

/// Someone an item may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    User(u32),
    Group(u32),
    Role(u32),
}

/// Who is in what, by number.
#[derive(Clone, Debug)]
pub(crate) struct People {
    n_users: u32,
    users_of_group: Vec<Vec<u32>>,
    /// Direct members of roles; a role has members of a higher number only, three deep at most.
    members_of_role: Vec<Vec<Who>>,
}

impl People {
    pub(crate) fn new(shape: &Shape, rng: &mut Rng) -> Self {
        let mut users_of_group = vec![Vec::new(); shape.n_groups as usize];
        for number in 0..shape.n_users {
            for _ in 0..GROUPS_OF_USER {
                let of_group = users_of_group.get_mut(rng.below(shape.n_groups) as usize);
                if let Some(users) = of_group.filter(|users: &&mut Vec<u32>| !users.contains(&number)) {
                    users.push(number);
                }
            }
        }
        let third = shape.n_roles / 3;
        let members_of_role = (0..shape.n_roles)
            .map(|number| {
                let mut members: Vec<Who> = (0..10).map(|_| Who::User(rng.below(shape.n_users))).collect();
                members.extend((0..3).map(|_| Who::Group(rng.below(shape.n_groups))));
                // The first third has roles of the second as members, and the second those of the last.
                if number < 2 * third {
                    members.push(Who::Role((number / third + 1) * third + rng.below(third)));
                }
                members
            })
            .collect();
        Self { n_users: shape.n_users, users_of_group, members_of_role }
    }

    pub(crate) fn any_user(&self, rng: &mut Rng) -> u32 {
        rng.below(self.n_users)
    }

    /// Someone to be named by an item: groups more often than roles, and roles more often than users.
    pub(crate) fn any_who(&self, rng: &mut Rng) -> Who {
        let count = |n: usize| u32::try_from(n).unwrap_or_default();
        match rng.below(20) {
            0..4 => Who::User(self.any_user(rng)),
            4..13 => Who::Group(rng.below(count(self.users_of_group.len()))),
            _ => Who::Role(rng.below(count(self.members_of_role.len()))),
        }
    }

    /// A user for whom `who` stands.
    pub(crate) fn user_of(&self, who: Who, rng: &mut Rng) -> Option<u32> {
        match who {
            Who::User(number) => Some(number),
            Who::Group(number) => rng.one_of(self.users_of_group.get(number as usize)?).copied(),
            Who::Role(number) => {
                let member = *rng.one_of(self.members_of_role.get(number as usize)?)?;
                self.user_of(member, rng)
            }
        }
    }

    pub(crate) fn add(&self, state: &mut State) {
        for number in 0..self.n_users {
            let name = user(number);
            let id = i64::from(number) + 1;
            state.users.insert(
                name.clone(),
                User { id, name, credential: None, attributes: std::collections::BTreeMap::new() },
            );
        }
        for (number, users) in (1_u32..).zip(&self.users_of_group) {
            let name = group(number - 1);
            let users = users.iter().map(|number| user(*number)).collect();
            state.groups.insert(name.clone(), Group { id: number.into(), name, users, ..Group::default() });
        }
        for (number, members) in (1_u32..).zip(&self.members_of_role) {
            let mut made = Role { id: number.into(), name: role(number - 1), ..Role::default() };
            for member in members {
                let (list, name) = match member {
                    Who::User(number) => (&mut made.users, user(*number)),
                    Who::Group(number) => (&mut made.groups, group(*number)),
                    Who::Role(number) => (&mut made.roles, role(*number)),
                };
                list.push(Member { name, is_admin: false });
            }
            state.roles.insert(made.name.clone(), made);
        }
    }
}
