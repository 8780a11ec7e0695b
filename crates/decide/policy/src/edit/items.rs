//! Items of a policy, one grantee at a time: who holds what, and how that is given and taken.
//!
//! An edit never touches what other grantees hold. It takes its grantee out of shared items first, and puts items that
//! have become equal together again at the end.

use std::collections::BTreeSet;

use super::scope::{Grantee, PUBLIC};
use crate::model::{Access, Item};

/// Whether an item names the grantee itself; roles and groups are not looked into.
pub(crate) fn names(item: &Item, grantee: &Grantee) -> bool {
    match grantee {
        Grantee::User(name) => item.users.contains(name),
        Grantee::Role(name) => item.roles.contains(name),
        Grantee::Group(name) => item.groups.contains(name),
        Grantee::Public => item.groups.iter().any(|g| g == PUBLIC),
    }
}

/// Everyone whom an item names.
pub(crate) fn grantees(item: &Item) -> Vec<Grantee> {
    let users = item.users.iter().cloned().map(Grantee::User);
    let roles = item.roles.iter().cloned().map(Grantee::Role);
    let groups = item.groups.iter().map(|g| Grantee::Group(g.clone()).normal());
    users.chain(roles).chain(groups).collect()
}

pub(crate) fn set_grantees(item: &mut Item, grantees: &[Grantee]) {
    for grantee in grantees {
        let (list, name) = match grantee {
            Grantee::User(name) => (&mut item.users, name.as_str()),
            Grantee::Role(name) => (&mut item.roles, name.as_str()),
            Grantee::Group(name) => (&mut item.groups, name.as_str()),
            Grantee::Public => (&mut item.groups, PUBLIC),
        };
        if !list.iter().any(|n| n == name) {
            list.push(name.to_owned());
        }
    }
}

/// The access types that items give the grantee by name and without conditions.
pub(crate) fn held(items: &[Item], grantee: &Grantee) -> BTreeSet<String> {
    let mine = items.iter().filter(|i| i.conditions.is_empty() && names(i, grantee));
    mine.flat_map(|i| i.accesses.iter()).filter(|a| a.is_allowed).map(|a| a.kind.clone()).collect()
}

/// Whether an item lets its grantees pass it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delegation {
    None,
    /// `WITH GRANT OPTION`.
    Delegated,
}

/// Gives access types to a grantee. Those that she holds with the grant option already stay with it.
pub(crate) fn add(items: &mut Vec<Item>, grantee: &Grantee, types: &[&str], delegation: Delegation) {
    stand_apart(items, grantee);
    let is_mine = |item: &Item, delegated: bool| {
        item.conditions.is_empty() && item.delegate_admin == delegated && names(item, grantee)
    };
    let has = |items: &[Item], kind: &str, delegated: bool| {
        items.iter().any(|i| is_mine(i, delegated) && i.accesses.iter().any(|a| a.kind == kind))
    };
    let delegated = delegation == Delegation::Delegated;
    let missing: Vec<&str> = types
        .iter()
        .copied()
        .filter(|kind| !has(items, kind, true) && (delegated || !has(items, kind, false)))
        .collect();
    if delegated {
        // What was held without the grant option is now held with it.
        for item in items.iter_mut().filter(|i| is_mine(i, false)) {
            item.accesses.retain(|a| !types.contains(&a.kind.as_str()));
        }
    }
    if !missing.is_empty() {
        let accesses = missing.into_iter().map(Access::new);
        match items.iter_mut().find(|i| is_mine(i, delegated)) {
            Some(item) => item.accesses.extend(accesses),
            None => {
                let mut item =
                    Item { accesses: accesses.collect(), delegate_admin: delegated, ..Item::default() };
                set_grantees(&mut item, std::slice::from_ref(grantee));
                items.push(item);
            }
        }
    }
    join_equal(items);
}

/// Which access types to take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Taking<'a> {
    These(&'a BTreeSet<String>),
    All,
}

/// Takes access types from a grantee, conditions or not, and says which of them she held.
pub(crate) fn take(items: &mut Vec<Item>, grantee: &Grantee, taking: Taking<'_>) -> BTreeSet<String> {
    let is_taken = |access: &Access| match taking {
        Taking::These(types) => types.contains(&access.kind),
        Taking::All => true,
    };
    if !items.iter().any(|i| names(i, grantee) && i.accesses.iter().any(is_taken)) {
        return BTreeSet::new();
    }
    stand_apart(items, grantee);
    let mut taken = BTreeSet::new();
    for item in items.iter_mut().filter(|i| names(i, grantee)) {
        taken.extend(item.accesses.iter().filter(|a| is_taken(a)).map(|a| a.kind.clone()));
        item.accesses.retain(|a| !is_taken(a));
    }
    join_equal(items);
    taken
}

/// Takes the grant option for access types, and leaves the access types themselves.
pub(crate) fn take_delegation(
    items: &mut Vec<Item>,
    grantee: &Grantee,
    types: &BTreeSet<String>,
) -> BTreeSet<String> {
    let is_mine = |i: &Item| i.delegate_admin && names(i, grantee);
    if !items.iter().any(|i| is_mine(i) && i.accesses.iter().any(|a| types.contains(&a.kind))) {
        return BTreeSet::new();
    }
    stand_apart(items, grantee);
    let mut plain = Vec::new();
    let mut taken = BTreeSet::new();
    for item in items.iter_mut().filter(|i| is_mine(i)) {
        let (gone, kept): (Vec<_>, Vec<_>) = item.accesses.drain(..).partition(|a| types.contains(&a.kind));
        item.accesses = kept;
        if !gone.is_empty() {
            taken.extend(gone.iter().map(|a| a.kind.clone()));
            plain.push(Item { accesses: gone, delegate_admin: false, ..item.clone() });
        }
    }
    items.append(&mut plain);
    join_equal(items);
    taken
}

/// Takes the grantee out of items that she shares, into a copy of each.
fn stand_apart(items: &mut Vec<Item>, grantee: &Grantee) {
    let mut apart = Vec::new();
    for item in items.iter_mut() {
        if !names(item, grantee) || grantees(item).len() < 2 {
            continue;
        }
        let mut own = Item { users: Vec::new(), groups: Vec::new(), roles: Vec::new(), ..item.clone() };
        set_grantees(&mut own, std::slice::from_ref(grantee));
        apart.push(own);
        match grantee {
            Grantee::User(name) => item.users.retain(|n| n != name),
            Grantee::Role(name) => item.roles.retain(|n| n != name),
            Grantee::Group(name) => item.groups.retain(|n| n != name),
            Grantee::Public => item.groups.retain(|n| n != PUBLIC),
        }
    }
    items.append(&mut apart);
}

/// Drops items that give nothing, and joins items that differ in their grantees only, or in their access types only.
fn join_equal(items: &mut Vec<Item>) {
    let mut joined: Vec<Item> = Vec::new();
    for item in items.drain(..).filter(|i| !i.accesses.is_empty()) {
        let same_frame =
            |j: &Item| j.delegate_admin == item.delegate_admin && j.conditions == item.conditions;
        if let Some(other) = joined.iter_mut().find(|j| same_frame(j) && same_grantees(j, &item)) {
            for access in item.accesses {
                if !other.accesses.contains(&access) {
                    other.accesses.push(access);
                }
            }
        } else {
            joined.push(item);
        }
    }
    for item in joined {
        let same = |j: &Item| {
            j.delegate_admin == item.delegate_admin
                && j.conditions == item.conditions
                && same_accesses(&j.accesses, &item.accesses)
        };
        match items.iter_mut().find(|j| same(j)) {
            Some(other) => set_grantees(other, &grantees(&item)),
            None => items.push(item),
        }
    }
}

fn same_grantees(a: &Item, b: &Item) -> bool {
    let set = |i: &Item| grantees(i).into_iter().collect::<BTreeSet<_>>();
    set(a) == set(b)
}

fn same_accesses(a: &[Access], b: &[Access]) -> bool {
    let set = |list: &[Access]| list.iter().map(|a| (a.kind.clone(), a.is_allowed)).collect::<BTreeSet<_>>();
    set(a) == set(b)
}
