//! Delegated administration: which policies of a service a user may read and write by items with `delegateAdmin`.
//!
//! An item hands on its own access types, on what its policy names. Denials and exceptions with `delegateAdmin` take
//! away. Zones stand apart: a policy of a zone is administered by policies of that zone.

use std::collections::{BTreeMap, BTreeSet};

use crate::Membership;
use crate::edit::PUBLIC;
use crate::evaluate::ConditionErrors;
use crate::matching::{Levels, MatchContext, ResourceMatcher, with_everything_for_macros};
use crate::model::{Item, Policy, PolicyId, PolicyKind, ResourceMap, Service, ServiceDef, State, Zone};

/// The access type that any item with `delegateAdmin` holds.
const ADMIN_ACCESS: &str = "_admin";
/// The access type that any item holds which gives anything.
const ANY_ACCESS: &str = "_any";

/// For what the right is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Some access type of the policy, on all that it names.
    Read,
    /// Every access type of the policy, on all that it names.
    Modify,
}

/// Which items count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Only those that hand on what they give.
    Delegated,
    All,
}

/// Whether a user administers a policy, and why (not).
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// By these policies together.
    Held(BTreeSet<PolicyId>),
    /// These access types are not hers to hand on.
    Lacking(BTreeSet<String>),
    /// Only an administrator may name things by exclusion.
    Excludes,
}

impl Rights {
    pub fn are_held(&self) -> bool {
        matches!(self, Self::Held(_))
    }
}

/// The policies of one service that hand anything on, by zone.
#[derive(Clone, Debug)]
pub struct Administration {
    levels: Levels,
    /// By access type in lower case: it, and what it grants besides.
    granted: BTreeMap<String, BTreeSet<String>>,
    by_zone: BTreeMap<String, Vec<Delegation>>,
    condition_errors: ConditionErrors,
}

/// What one policy hands on.
#[derive(Clone, Debug)]
struct Delegation {
    policy: PolicyId,
    resources: Vec<ResourceMatcher>,
    allows: Vec<Grant>,
    denies: Vec<Grant>,
    allow_exceptions: Vec<Grant>,
    deny_exceptions: Vec<Grant>,
    /// It holds at times or under conditions only.
    is_conditional: bool,
}

#[derive(Clone, Debug)]
struct Grant {
    item: Item,
    /// In lower case, with what they grant besides.
    accesses: BTreeSet<String>,
}

impl Administration {
    /// Reads the policies of a service. `condition_errors` says what of a delegation that holds only at times or under
    /// conditions: against the user it gives nothing, and still takes; as Ranger has it, it counts like any other.
    ///
    /// # Errors
    /// A fault of the definition, or a policy that asks for what is not offered.
    pub fn new(
        state: &State,
        service: &str,
        items: Items,
        condition_errors: ConditionErrors,
    ) -> Result<Self, Vec<String>> {
        let def = state.services.get(service).and_then(|s| state.service_defs.get(&s.service_def));
        let Some(def) = def else { return Err(vec![format!("no such policy service `{service}`")]) };
        let levels = Levels::of(def, PolicyKind::Access).map_err(|fault| vec![fault])?;
        let mut all = Self { levels, granted: granted(def), by_zone: BTreeMap::new(), condition_errors };
        let mut faults = Vec::new();
        let policies = state.policies.values().filter(|p| p.service == service && p.is_enabled);
        for policy in policies.filter(|p| p.kind == PolicyKind::Access) {
            match all.delegation(policy, items) {
                Ok(None) => {}
                Ok(Some(delegation)) => {
                    let zone = policy.zone.clone().unwrap_or_default();
                    all.by_zone.entry(zone).or_default().push(delegation);
                }
                Err(fault) => faults.push(format!("policy `{}`: {fault}", policy.name)),
            }
        }
        if faults.is_empty() { Ok(all) } else { Err(faults) }
    }

    /// `Ok(None)`: the policy hands nothing on.
    fn delegation(&self, policy: &Policy, counted: Items) -> Result<Option<Delegation>, String> {
        let lists = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
        let counts = |item: &&Item| counted == Items::All || item.delegate_admin;
        if !lists.into_iter().flatten().any(|item| counts(&item)) {
            return Ok(None);
        }
        let [allows, denies, allow_exceptions, deny_exceptions] = lists.map(|items| {
            let of = |item: &Item| Grant { item: item.clone(), accesses: self.accesses_of(item) };
            items.iter().filter(counts).map(of).collect::<Vec<_>>()
        });
        let mut resources = Vec::new();
        for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
            resources.extend(ResourceMatcher::new(&self.levels, map)?);
        }
        let is_conditional = !(policy.conditions.is_empty() && policy.validity.is_empty());
        let policy = policy.id;
        Ok(Some(Delegation {
            policy,
            resources,
            allows,
            denies,
            allow_exceptions,
            deny_exceptions,
            is_conditional,
        }))
    }

    fn accesses_of(&self, item: &Item) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for access in item.accesses.iter().filter(|access| access.is_allowed) {
            let name = access.kind.to_lowercase();
            found.extend(self.granted.get(&name).into_iter().flatten().cloned());
            found.insert(name);
        }
        found
    }

    /// Whether the user may write a policy in place of `before` (or a new one).
    ///
    /// Where only items change, she needs what changes; where resources change, everything that either policy has.
    pub fn may_write(&self, who: &Membership, before: Option<&Policy>, after: &Policy) -> Rights {
        let maps = std::iter::once(&after.resources).chain(&after.additional_resources);
        if maps.flat_map(ResourceMap::values).any(|values| values.is_excludes) {
            return Rights::Excludes;
        }
        let Some(before) = before else { return self.holds(who, after, Purpose::Modify) };
        let is_same_resource = before.resources == after.resources
            && before.additional_resources == after.additional_resources
            && before.zone == after.zone;
        if is_same_resource {
            return self.holds_types(who, after, &self.changed_types(before, after), Purpose::Modify);
        }
        match self.holds(who, before, Purpose::Modify) {
            Rights::Held(_) => self.holds(who, after, Purpose::Modify),
            lacking => lacking,
        }
    }

    /// Whether the user administers a policy as it stands.
    pub fn holds(&self, who: &Membership, policy: &Policy, purpose: Purpose) -> Rights {
        self.holds_types(who, policy, &self.types_of(policy), purpose)
    }

    fn holds_types(
        &self,
        who: &Membership,
        policy: &Policy,
        types: &BTreeSet<String>,
        purpose: Purpose,
    ) -> Rights {
        let zone = policy.zone.as_deref().unwrap_or_default();
        let mut held = types.clone();
        let mut by = BTreeSet::new();
        for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
            let of_map = self.held_on(who, zone, map, types, &mut by);
            held.retain(|access| of_map.contains(access));
        }
        let is_enough = match purpose {
            Purpose::Read => !held.is_empty(),
            Purpose::Modify => held.len() == types.len() && !types.is_empty(),
        };
        if is_enough { Rights::Held(by) } else { Rights::Lacking(types - &held) }
    }

    /// Of the access types, those that policies of the zone together hand on for a resource map.
    fn held_on(
        &self,
        who: &Membership,
        zone: &str,
        map: &ResourceMap,
        types: &BTreeSet<String>,
        by: &mut BTreeSet<PolicyId>,
    ) -> BTreeSet<String> {
        let map = with_everything_for_macros(&self.levels, map);
        let context = MatchContext::new(&who.user, None);
        let mut held = BTreeSet::new();
        for delegation in self.by_zone.get(zone).into_iter().flatten() {
            if !delegation.covers(&self.levels, &map, &context) {
                continue;
            }
            for access in types.iter().filter(|access| delegation.gives(who, access, self.condition_errors)) {
                by.insert(delegation.policy);
                held.insert(access.clone());
            }
        }
        held
    }

    /// Whether any one policy without a zone gives an access type on all of these resources.
    pub fn gives(&self, who: &Membership, maps: &[ResourceMap], access: &str) -> bool {
        let access = access.to_lowercase();
        let context = MatchContext::new(&who.user, None);
        self.by_zone.get("").into_iter().flatten().any(|delegation| {
            delegation.gives(who, &access, self.condition_errors)
                && maps.iter().all(|map| delegation.covers(&self.levels, map, &context))
        })
    }

    /// Every access type that a policy names, with what it grants besides; `_admin` if it names none.
    fn types_of(&self, policy: &Policy) -> BTreeSet<String> {
        let mut types: BTreeSet<String> = items_of(policy).flat_map(|item| self.accesses_of(item)).collect();
        if types.is_empty() {
            types.insert(ADMIN_ACCESS.to_owned());
        }
        types
    }

    /// The access types that any principal gains or loses.
    fn changed_types(&self, before: &Policy, after: &Policy) -> BTreeSet<String> {
        let (before, after) = (self.by_principal(before), self.by_principal(after));
        let nothing = BTreeSet::new();
        let mut changed = BTreeSet::new();
        for principal in before.keys().chain(after.keys()) {
            let old = before.get(principal).unwrap_or(&nothing);
            let new = after.get(principal).unwrap_or(&nothing);
            changed.extend(old.symmetric_difference(new).cloned());
        }
        if changed.is_empty() {
            changed.insert(ADMIN_ACCESS.to_owned());
        }
        changed
    }

    fn by_principal<'p>(&self, policy: &'p Policy) -> BTreeMap<(u8, &'p str), BTreeSet<String>> {
        let mut found: BTreeMap<(u8, &str), BTreeSet<String>> = BTreeMap::new();
        for item in items_of(policy) {
            let accesses = self.accesses_of(item);
            let named = [&item.users, &item.groups, &item.roles].into_iter().zip(0..);
            for (name, kind) in named.flat_map(|(names, kind)| names.iter().map(move |name| (name, kind))) {
                found.entry((kind, name.as_str())).or_default().extend(accesses.iter().cloned());
            }
        }
        found
    }
}

impl Delegation {
    fn covers(&self, levels: &Levels, map: &ResourceMap, context: &MatchContext<'_>) -> bool {
        self.resources.iter().any(|resource| resource.covers(levels, map, context))
    }

    fn gives(&self, who: &Membership, access: &str, condition_errors: ConditionErrors) -> bool {
        let against = condition_errors == ConditionErrors::AgainstUser;
        let is_doubtful =
            |grant: &Grant| against && (self.is_conditional || !grant.item.conditions.is_empty());
        // What is doubtful counts where it takes away, and not where it gives.
        let takes = |grants: &[Grant]| grants.iter().any(|grant| grant.names(who, access));
        let gives =
            |grants: &[Grant]| grants.iter().any(|grant| !is_doubtful(grant) && grant.names(who, access));
        let is_denied = takes(&self.denies) && !gives(&self.deny_exceptions);
        !is_denied && gives(&self.allows) && !takes(&self.allow_exceptions)
    }
}

impl Grant {
    fn names(&self, who: &Membership, access: &str) -> bool {
        let has_access = match access {
            ADMIN_ACCESS => self.item.delegate_admin,
            ANY_ACCESS => !self.accesses.is_empty(),
            access => self.accesses.contains(access),
        };
        // Who owns what a policy names is not known, so that `{OWNER}` is nobody.
        let is_user = |name: &String| *name == who.user || (name == "{USER}" && !who.user.is_empty());
        has_access
            && (self.item.users.iter().any(is_user)
                || self.item.groups.iter().any(|group| group == PUBLIC || who.groups.contains(group))
                || self.item.roles.iter().any(|role| who.roles.contains(role)))
    }
}

/// Every item of a policy, of whatever kind it is.
fn items_of(policy: &Policy) -> impl Iterator<Item = &Item> {
    let lists = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
    let masks = policy.mask_items.iter().map(|mask| &mask.item);
    lists.into_iter().flatten().chain(masks).chain(policy.filter_items.iter().map(|filter| &filter.item))
}

fn granted(def: &ServiceDef) -> BTreeMap<String, BTreeSet<String>> {
    let markers = crate::normalise::markers(&def.access_types);
    let all = def.access_types.iter().chain(&markers);
    all.map(|access| {
        let implied = access.implied_grants.iter().map(|name| name.to_lowercase());
        (access.name.to_lowercase(), implied.collect())
    })
    .collect()
}

/// Whether the user is an administrator of a zone.
pub fn is_zone_admin(zone: &Zone, who: &Membership) -> bool {
    zone.admin_users.contains(&who.user)
        || !zone.admin_groups.is_disjoint(&who.groups)
        || !zone.admin_roles.is_disjoint(&who.roles)
}

/// Whether the service's configuration names the user as its administrator (`service.admin.users` and `.groups`).
pub fn is_service_admin(service: &Service, who: &Membership) -> bool {
    let names = |key: &str| {
        let text = service.configs.get(key).map_or("", String::as_str);
        text.split(',').map(str::trim).filter(|name| !name.is_empty())
    };
    names("service.admin.users").any(|name| name == who.user)
        || names("service.admin.groups").any(|name| who.groups.contains(name))
}

#[cfg(test)]
mod tests;
