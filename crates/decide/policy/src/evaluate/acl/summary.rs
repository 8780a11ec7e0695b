//! What one policy says to whom, as far as that can be said without a request (Ranger's PolicyACLSummary).

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::PUBLIC;
use crate::model::{Access, Item, MaskInfo, Policy};

/// The name that stands for whoever asks.
const ANY_USER: &str = "{USER}";
/// The name that stands for the owner of the resource.
const OWNER: &str = "{OWNER}";
/// The access type of whoever may pass on.
const ADMIN_ACCESS: &str = "_admin";
/// The access type that a policy which denies all else does not deny by that name.
const ALL_ACCESS: &str = "all";

/// What a policy says of one access type to one principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Denied,
    /// Nothing that stands: what was given was taken again.
    Nothing,
    Allowed,
    /// It depends on the request.
    Conditional,
}

/// By principal, and by access type as it is written.
pub(crate) type ByPrincipal = BTreeMap<String, BTreeMap<String, Says>>;

/// What one policy says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) users: ByPrincipal,
    pub(crate) groups: ByPrincipal,
    pub(crate) roles: ByPrincipal,
    pub(crate) masks: Vec<Rule<MaskInfo>>,
    pub(crate) filters: Vec<Rule<String>>,
}

/// A mask or a filter, and for whom it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule<T> {
    pub(crate) users: BTreeSet<String>,
    pub(crate) groups: BTreeSet<String>,
    pub(crate) roles: BTreeSet<String>,
    pub(crate) accesses: BTreeSet<String>,
    pub(crate) rule: T,
    pub(crate) is_conditional: bool,
}

/// What the definition says of access types.
pub(crate) struct Types<'a> {
    /// What each grants besides, by its name in lower case.
    pub(crate) implied: &'a BTreeMap<String, Vec<String>>,
    pub(crate) all: &'a [String],
    /// Whether denials and exceptions count at all.
    pub(crate) can_deny: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Deny,
    DenyExceptions,
    Allow,
    AllowExceptions,
}

impl Summary {
    pub(crate) fn new(policy: &Policy, types: &Types<'_>) -> Self {
        let mut summary = Self::default();
        let nothing = Vec::new();
        let if_deny = |items| if types.can_deny { items } else { &nothing };
        summary.side(
            (if_deny(&policy.deny_items), List::Deny),
            (if_deny(&policy.deny_exceptions), List::DenyExceptions),
            types,
        );
        summary.side(
            (&policy.items, List::Allow),
            (if_deny(&policy.allow_exceptions), List::AllowExceptions),
            types,
        );
        summary.masks =
            policy.mask_items.iter().map(|mask| rule(&mask.item, mask.mask.clone(), types)).collect();
        summary.filters = policy
            .filter_items
            .iter()
            .map(|filter| rule(&filter.item, filter.filter_expr.clone(), types))
            .collect();
        summary.public_outweighs();
        if policy.is_deny_all_else {
            summary.deny_all_else(types);
        }
        summary
    }

    /// Items and their exceptions. Exceptions that depend on the request make the whole side depend on it.
    fn side(&mut self, items: (&[Item], List), exceptions: (&[Item], List), types: &Types<'_>) {
        let depends = exceptions.0.iter().any(|item| {
            !item.conditions.is_empty()
                || (!item.groups.is_empty() && !item.groups.iter().any(|g| g == PUBLIC))
        });
        let is_open = |items: &[Item]| items.iter().any(names_everybody);
        let depends = depends || (!exceptions.0.is_empty() && is_open(items.0) && !is_open(exceptions.0));
        for item in items.0 {
            self.item(item, items.1, depends, types);
        }
        if !depends {
            for item in exceptions.0 {
                self.item(item, exceptions.1, false, types);
            }
        }
    }

    fn item(&mut self, item: &Item, list: List, depends: bool, types: &Types<'_>) {
        let depends = depends || !item.conditions.is_empty();
        let says = match list {
            List::Allow | List::Deny if depends => Says::Conditional,
            List::DenyExceptions | List::AllowExceptions if depends => return,
            List::Allow | List::DenyExceptions => Says::Allowed,
            List::Deny | List::AllowExceptions => Says::Denied,
        };
        let mut accesses = granted(&item.accesses, types);
        if item.delegate_admin {
            accesses.insert(0, ADMIN_ACCESS.to_owned());
        }
        for access in &accesses {
            for user in item.users.iter().filter(|name| *name != ANY_USER && !name.trim().is_empty()) {
                add(&mut self.users, user, access, says, list);
            }
            for group in item.groups.iter().filter(|name| *name != PUBLIC) {
                add(&mut self.groups, group, access, says, list);
            }
            if names_everybody(item) {
                add(&mut self.groups, PUBLIC, access, says, list);
            }
            for role in &item.roles {
                add(&mut self.roles, role, access, says, list);
            }
        }
    }

    /// What is said to everybody need not be said to each user and group.
    fn public_outweighs(&mut self) {
        let Some(public) = self.groups.get(PUBLIC) else { return };
        let settled: BTreeSet<String> = public
            .iter()
            .filter(|(_, says)| matches!(says, Says::Allowed | Says::Denied))
            .map(|(access, _)| access.clone())
            .collect();
        let groups = self.groups.iter_mut().filter(|(name, _)| *name != PUBLIC);
        for (_, said) in self.users.iter_mut().chain(groups) {
            said.retain(|access, _| !settled.contains(access));
        }
        if !settled.is_empty() {
            self.users.retain(|_, said| !said.is_empty());
            self.groups.retain(|name, said| name == PUBLIC || !said.is_empty());
        }
    }

    /// Whatever is not allowed is denied, to whom the policy names and to everybody else.
    fn deny_all_else(&mut self, types: &Types<'_>) {
        let others: Vec<&String> =
            types.all.iter().filter(|name| !name.eq_ignore_ascii_case(ALL_ACCESS)).collect();
        for said in self.users.values_mut().chain(self.groups.values_mut()) {
            for says in said.values_mut().filter(|says| **says == Says::Nothing) {
                *says = Says::Denied;
            }
        }
        for said in self.users.values_mut().chain(self.groups.values_mut()) {
            for access in &others {
                said.entry((*access).clone()).or_insert(Says::Denied);
            }
        }
        if self.groups.contains_key(PUBLIC) {
            return;
        }
        let is_denied_to_all = |access: &String| {
            let mut said = self.users.values().chain(self.groups.values());
            said.all(|said| said.get(access) == Some(&Says::Denied))
        };
        let of_public = others.iter().map(|access| {
            let says = if is_denied_to_all(access) { Says::Denied } else { Says::Conditional };
            ((*access).clone(), says)
        });
        let of_public = of_public.collect();
        self.groups.insert(PUBLIC.to_owned(), of_public);
    }
}

fn names_everybody(item: &Item) -> bool {
    item.groups.iter().any(|name| name == PUBLIC) || item.users.iter().any(|name| name == ANY_USER)
}

/// The access types of an item and what they grant besides, one level deep.
fn granted(accesses: &[Access], types: &Types<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let add = |name: &str, found: &mut Vec<String>| {
        if !found.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            found.push(name.to_owned());
        }
    };
    accesses.iter().for_each(|access| add(&access.kind, &mut found));
    for access in accesses {
        for name in types.implied.get(&access.kind.to_lowercase()).into_iter().flatten() {
            add(name, &mut found);
        }
    }
    found
}

fn rule<T>(item: &Item, rule: T, types: &Types<'_>) -> Rule<T> {
    let mut users: BTreeSet<String> = item.users.iter().cloned().collect();
    let mut groups: BTreeSet<String> = item.groups.iter().cloned().collect();
    let is_conditional = !item.conditions.is_empty() || users.contains(OWNER);
    if users.remove(ANY_USER) {
        groups.insert(PUBLIC.to_owned());
    }
    let accesses = granted(&item.accesses, types).into_iter().collect();
    Rule { users, groups, roles: item.roles.iter().cloned().collect(), accesses, rule, is_conditional }
}

/// Ranger's arithmetic: an entry begins with an item, exceptions only change what is there, and a denial and an allow
/// of the same policy take each other away.
fn add(all: &mut ByPrincipal, name: &str, access: &str, says: Says, list: List) {
    let said = all.entry(name.to_owned()).or_default();
    let Some(old) = said.get_mut(access) else {
        if matches!(list, List::Allow | List::Deny) {
            said.insert(access.to_owned(), says);
        }
        return;
    };
    *old = match (says, *old) {
        (Says::Denied, Says::Conditional) => Says::Denied,
        (Says::Denied, Says::Allowed) => Says::Nothing,
        (Says::Denied, Says::Nothing | Says::Denied) if list == List::Deny => Says::Denied,
        (Says::Denied, Says::Nothing | Says::Denied) => Says::Nothing,
        (Says::Allowed, Says::Conditional) if list == List::Allow => Says::Allowed,
        (Says::Allowed, Says::Conditional) => Says::Conditional,
        (Says::Allowed, Says::Denied) => Says::Nothing,
        (Says::Allowed, Says::Nothing | Says::Allowed) if list == List::Allow => Says::Allowed,
        (Says::Allowed, Says::Nothing | Says::Allowed) => Says::Nothing,
        (Says::Conditional, Says::Nothing) => Says::Conditional,
        (Says::Conditional | Says::Nothing, old) => old,
    };
}

#[cfg(test)]
mod tests;
