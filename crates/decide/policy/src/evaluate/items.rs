//! Which items of one policy reach the user, and what the policy says through them.

use super::asked::{Asked, TagHit, Target};
use crate::condition::Held;
use crate::snapshot::{CompiledItem, CompiledPolicy};

/// What one policy says of one access; numbers are places in its lists of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Nothing,
    Allow(u16),
    Deny(u16),
    /// It admits nobody but those whom it allows.
    DenyElse,
    /// A denial that an exception takes back.
    DenyExcepted(u16),
}

/// How a condition that cannot be evaluated counts on a list of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfUnknown {
    Met,
    NotMet,
}

/// The order within one policy. Exceptions belong to their whole list, not to an item of it. `all` is what the policy's
/// own conditions say.
pub(crate) fn policy_says(
    policy: &CompiledPolicy,
    all: Held,
    target: Target<'_>,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> Says {
    if all == Held::NotMet {
        return Says::Nothing;
    }
    let first = |items: &[CompiledItem], if_unknown: IfUnknown| {
        first_item(items, all, target, if_unknown, asked, tag)
    };

    // 1. Denials, unless any exception speaks for the user. What cannot be evaluated counts against her.
    let mut excepted = None;
    if let Some(at) = first(policy.denies(), IfUnknown::Met) {
        match first(policy.deny_exceptions(), IfUnknown::NotMet) {
            None => return Says::Deny(at),
            exception => excepted = exception,
        }
    }
    // 2. Allows, unless any exception speaks against her.
    if let Some(at) = first(policy.allows(), IfUnknown::NotMet)
        && first(policy.allow_exceptions(), IfUnknown::Met).is_none()
    {
        return Says::Allow(at);
    }
    // 3. Whatever is left, an allow that an exception cancelled included.
    if policy.is_deny_all_else {
        return Says::DenyElse;
    }
    excepted.map_or(Says::Nothing, Says::DenyExcepted)
}

fn first_item(
    items: &[CompiledItem],
    all: Held,
    target: Target<'_>,
    if_unknown: IfUnknown,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> Option<u16> {
    let at = items.iter().position(|item| {
        if !is_wanted(item, target) || asked.reached(item).is_none() {
            return false;
        }
        let own = match target {
            Target::Access(..) | Target::Delegated(_) => asked.held(item.conditions(), tag),
            Target::AnyDelegation => Held::Met,
        };
        match all.and(own) {
            Held::Met => true,
            Held::NotMet => false,
            Held::Unknown => if_unknown == IfUnknown::Met,
        }
    })?;
    u16::try_from(at).ok()
}

fn is_wanted(item: &CompiledItem, target: Target<'_>) -> bool {
    let grants = |number: Option<_>| number.is_some_and(|number| item.access.has(number));
    match target {
        Target::Access(_, number) => grants(number),
        Target::Delegated(number) => item.delegate_admin && grants(number),
        Target::AnyDelegation => item.delegate_admin,
    }
}

/// The first item of a mask or filter list that names the user for an access type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstItem {
    Nobody,
    Found(u16),
    /// It names the user, and its conditions cannot be evaluated.
    Unknown(u16),
}

/// `all` is what the policy's own conditions say.
pub(crate) fn first_rule<T>(
    items: &[(CompiledItem, T)],
    all: Held,
    target: Target<'_>,
    asked: &Asked<'_, '_>,
    tag: Option<&TagHit<'_>>,
) -> FirstItem {
    for (at, (item, _)) in items.iter().enumerate() {
        if !is_wanted(item, target) || asked.reached(item).is_none() {
            continue;
        }
        let Ok(at) = u16::try_from(at) else { return FirstItem::Nobody };
        match all.and(asked.held(item.conditions(), tag)) {
            Held::Met => return FirstItem::Found(at),
            Held::Unknown => return FirstItem::Unknown(at),
            Held::NotMet => {}
        }
    }
    FirstItem::Nobody
}
