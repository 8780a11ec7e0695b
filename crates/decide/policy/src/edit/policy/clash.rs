//! Finds masks of equal priority that would say different things of one column to one person.

use std::collections::BTreeSet;

use super::super::draft::Draft;
use super::super::items::grantees;
use super::super::scope::{Grantee, PUBLIC};
use super::create::{MASK_NONE, bare};
use crate::defs::TAG;
use crate::model::{Item, MaskInfo, Policy, PolicyKind};
use crate::{Membership, Principal};

/// Tells of each policy with which this one now clashes: where both hold, the column is restricted.
pub(super) fn tell(draft: &mut Draft<'_>, policy: &Policy) {
    if policy.kind != PolicyKind::Mask || !policy.is_enabled {
        return;
    }
    let others: Vec<Policy> = draft
        .policies()
        .filter(|p| p.id != policy.id && p.kind == PolicyKind::Mask && p.is_enabled)
        .filter(|p| p.service == policy.service && p.priority == policy.priority)
        .filter(|p| is_of_same(p, policy))
        .cloned()
        .collect();
    for other in others {
        let tags = values(policy, TAG);
        let is_of_tag = !tags.is_empty();
        let shared =
            if is_of_tag { tags.into_iter().cloned().collect() } else { shared_columns(&other, policy) };
        if shared.is_empty() {
            continue;
        }
        let what = if is_of_tag { "columns with the tag" } else { "column" };
        if candidates(draft, policy, &other).iter().any(|who| differ(policy, &other, who)) {
            draft.notice(format!(
                "policies `{}` and `{}` mask {what} `{}` differently for the same person, for whom it is now restricted; \
                 give one `WITH PRIORITY OVERRIDE`, or except somebody from it",
                policy.name,
                other.name,
                shared.join("`, `"),
            ));
        }
    }
}

/// Whether the two can name the same table, or the same tag.
fn is_of_same(a: &Policy, b: &Policy) -> bool {
    let levels: &[&str] = if values(b, TAG).is_empty() { &["database", "table"] } else { &[TAG] };
    levels.iter().all(|level| shares_value(a, b, level))
}

fn values<'p>(policy: &'p Policy, level: &str) -> Vec<&'p String> {
    let maps = std::iter::once(&policy.resources).chain(&policy.additional_resources);
    maps.filter_map(|map| map.get(level)).flat_map(|v| &v.values).collect()
}

fn shares_value(a: &Policy, b: &Policy, level: &str) -> bool {
    values(a, level)
        .iter()
        .any(|x| *x == "*" || values(b, level).iter().any(|y| *y == "*" || x.eq_ignore_ascii_case(y)))
}

fn shared_columns(a: &Policy, b: &Policy) -> Vec<String> {
    let names = |p| values(p, "column").into_iter().map(|c| c.to_lowercase()).collect::<BTreeSet<_>>();
    names(a).intersection(&names(b)).cloned().collect()
}

/// Everybody for whom both may hold: each known user, and a bare member of each grantee.
fn candidates(draft: &Draft<'_>, a: &Policy, b: &Policy) -> Vec<Membership> {
    let bare = |grantee: Grantee| {
        let mut who = Membership::default();
        match grantee {
            Grantee::User(name) => who.user = name,
            Grantee::Role(name) => drop(who.roles.insert(name)),
            Grantee::Group(name) => drop(who.groups.insert(name)),
            Grantee::Public => {}
        }
        who
    };
    let named = a.mask_items.iter().chain(&b.mask_items).flat_map(|m| grantees(&m.item)).map(bare);
    let known = draft.users().map(|u| draft.before().membership(&Principal::user(u.name.clone())));
    named.chain(known).collect()
}

fn names_member(item: &Item, who: &Membership) -> bool {
    item.users.contains(&who.user)
        || item.groups.iter().any(|g| g == PUBLIC || who.groups.contains(g))
        || item.roles.iter().any(|r| who.roles.contains(r))
}

fn mask_for<'p>(policy: &'p Policy, who: &Membership) -> Option<&'p MaskInfo> {
    let first = policy.mask_items.iter().find(|m| names_member(&m.item, who))?;
    if bare(&first.mask.mask_type) == MASK_NONE { None } else { Some(&first.mask) }
}

fn differ(a: &Policy, b: &Policy, who: &Membership) -> bool {
    match (mask_for(a, who), mask_for(b, who)) {
        (Some(a), Some(b)) => a != b,
        (None, _) | (_, None) => false,
    }
}
