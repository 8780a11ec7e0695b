//! Which items of one policy reach the user, and what the policy says through them.

use std::net::IpAddr;

use stdx::Timestamp;

use super::{ConditionErrors, Via};
use crate::Membership;
use crate::matching::MatchContext;
use crate::snapshot::{CompiledItem, CompiledPolicy, Condition, Held};

/// Who asks, and the circumstances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) who: &'a Membership,
    pub(crate) owner: Option<&'a str>,
    pub(crate) now: Timestamp,
    pub(crate) client_addr: Option<IpAddr>,
    pub(crate) condition_errors: ConditionErrors,
}

impl<'a> Asker<'a> {
    pub(crate) fn tokens(&self) -> MatchContext<'a> {
        MatchContext::new(&self.who.user, self.owner)
    }

    pub(crate) fn held(&self, conditions: &[Condition]) -> Held {
        match Condition::all_held(conditions, self.client_addr) {
            Held::Unknown if self.condition_errors == ConditionErrors::Ranger => Held::NotMet,
            held => held,
        }
    }
}

/// What about an item is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The item grants this access type. `None`: a type that nothing grants.
    Access(Option<usize>),
    /// The item grants it, and the right to pass it on.
    Delegated(Option<usize>),
    /// The item grants the right to pass on whatever it grants (`_admin`).
    AnyDelegation,
}

/// What one policy says of one access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    Allow(Via),
    Deny(Option<Via>),
    /// A denial that an exception takes back.
    DenyExcepted(Via),
}

/// How a condition that cannot be evaluated counts on a list of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfUnknown {
    Met,
    NotMet,
}

/// The order within one policy. Exceptions belong to their whole list, not to an item of it.
pub(crate) fn policy_says(policy: &CompiledPolicy, wanted: Wanted, asker: &Asker<'_>) -> Says {
    let all = asker.held(&policy.conditions);
    if all == Held::NotMet {
        return Says::Nothing;
    }
    let first =
        |items: &[CompiledItem], if_unknown: IfUnknown| first_item(items, all, wanted, if_unknown, asker);

    // 1. Denials, unless any exception speaks for the user. What cannot be evaluated counts against her.
    let mut excepted = None;
    if let Some(via) = first(&policy.denies, IfUnknown::Met) {
        match first(&policy.deny_exceptions, IfUnknown::NotMet) {
            None => return Says::Deny(Some(via)),
            exception => excepted = exception,
        }
    }
    // 2. Allows, unless any exception speaks against her.
    if let Some(via) = first(&policy.allows, IfUnknown::NotMet)
        && first(&policy.allow_exceptions, IfUnknown::Met).is_none()
    {
        return Says::Allow(via);
    }
    // 3. Whatever is left, an allow that an exception cancelled included.
    if policy.is_deny_all_else {
        return Says::Deny(None);
    }
    excepted.map_or(Says::Nothing, Says::DenyExcepted)
}

fn first_item(
    items: &[CompiledItem],
    all: Held,
    wanted: Wanted,
    if_unknown: IfUnknown,
    asker: &Asker<'_>,
) -> Option<Via> {
    items.iter().find_map(|item| {
        let (is_wanted, own) = match wanted {
            Wanted::Access(access) => (grants(item, access), asker.held(&item.conditions)),
            Wanted::Delegated(access) => {
                (item.delegate_admin && grants(item, access), asker.held(&item.conditions))
            }
            Wanted::AnyDelegation => (item.delegate_admin, Held::Met),
        };
        if !is_wanted {
            return None;
        }
        let counts = match all.and(own) {
            Held::Met => true,
            Held::NotMet => false,
            Held::Unknown => if_unknown == IfUnknown::Met,
        };
        if counts { item.via(asker.who, asker.owner) } else { None }
    })
}

fn grants(item: &CompiledItem, access: Option<usize>) -> bool {
    access.is_some_and(|number| item.access.has(number))
}

/// The first item of a mask or filter list that names the user for an access type.
pub(crate) enum FirstItem<'p, T> {
    Nobody,
    Found(&'p T, Via),
    /// It names the user, and its conditions cannot be evaluated.
    Unknown(&'p T),
}

/// `all` is what the policy's own conditions say.
pub(crate) fn first_rule<'p, T>(
    items: &'p [(CompiledItem, T)],
    all: Held,
    access: Option<usize>,
    asker: &Asker<'_>,
) -> FirstItem<'p, T> {
    for (item, rule) in items.iter().filter(|(item, _)| grants(item, access)) {
        let Some(via) = item.via(asker.who, asker.owner) else { continue };
        match all.and(asker.held(&item.conditions)) {
            Held::Met => return FirstItem::Found(rule, via),
            Held::Unknown => return FirstItem::Unknown(rule),
            Held::NotMet => {}
        }
    }
    FirstItem::Nobody
}
