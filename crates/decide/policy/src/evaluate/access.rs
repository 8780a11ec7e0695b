//! Whether one access is allowed: the order of policies, and who overrules whom.

use super::items::{Asker, Says, Wanted, policy_says};
use super::{Because, ConditionErrors, Decision, Request, Verdict, Via};
use crate::Snapshot;
use crate::matching::{MatchType, RequestPath};
use crate::model::Priority;
use crate::snapshot::{CompiledPolicy, CompiledService, Reach};

/// The access type that any access type satisfies.
const ANY_ACCESS: &str = "_any";
/// The access type that the right to pass on satisfies.
const ADMIN_ACCESS: &str = "_admin";

/// What the requested resource stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Itself,
    /// Itself, or anything below it.
    ItselfOrBelow,
}

impl Scope {
    fn fits(self, found: MatchType) -> bool {
        match self {
            Self::Itself => found.is_itself(),
            Self::ItselfOrBelow => found.is_itself_or_below(),
        }
    }

    fn reach(self) -> Reach {
        match self {
            Self::Itself => Reach::Itself,
            Self::ItselfOrBelow => Reach::Below,
        }
    }
}

impl Snapshot {
    /// Whether a request is allowed. Super users of the model are asked like everybody else.
    pub fn access(&self, r: &Request<'_>) -> Verdict {
        self.access_in(r, Scope::Itself)
    }

    /// Whether the user may pass the requested access on to others: only items with delegated administration count.
    pub fn may_delegate(&self, r: &Request<'_>) -> Verdict {
        self.with_service(r, |service| {
            let wanted = Wanted::Delegated(service.access_types.number(r.access));
            self.decide(service, r, Scope::Itself, wanted)
        })
    }

    pub(crate) fn access_in(&self, r: &Request<'_>, scope: Scope) -> Verdict {
        self.with_service(r, |service| match r.access.to_ascii_lowercase().as_str() {
            "" | ANY_ACCESS => decide_any(service, r),
            ADMIN_ACCESS => self.decide(service, r, scope, Wanted::AnyDelegation),
            _ => self.decide(service, r, scope, Wanted::Access(service.access_types.number(r.access))),
        })
    }

    fn with_service(&self, r: &Request<'_>, decide: impl FnOnce(&CompiledService) -> Verdict) -> Verdict {
        match self.service(r.service) {
            None => undecided(Decision::Denied, format!("no such policy service `{}`", r.service)),
            Some(service) if !service.is_enabled => {
                undecided(Decision::Denied, format!("the policy service `{}` is disabled", r.service))
            }
            Some(service) => decide(service),
        }
    }

    fn decide(&self, service: &CompiledService, r: &Request<'_>, scope: Scope, wanted: Wanted) -> Verdict {
        let asker = asker(r);
        let mut allowed: Option<(Priority, Verdict)> = None;
        for (policy, found) in applicable(service, r, scope, &asker) {
            // A policy of lower priority cannot take back what one of higher priority gave.
            if allowed.as_ref().is_some_and(|(priority, _)| policy.priority < *priority) {
                break;
            }
            match policy_says(policy, wanted, &asker) {
                // A denial of something below says nothing of the whole.
                Says::Deny(_) if found == MatchType::Below => {}
                // Nothing of the same or a lower priority can take a denial back.
                Says::Deny(via) => return decided(Decision::Denied, policy, via),
                Says::Allow(via) => {
                    if allowed.is_none() {
                        allowed = Some((policy.priority, decided(Decision::Allowed, policy, Some(via))));
                    }
                    // Policies that can deny come first within a priority, so that none is left.
                    if !policy.can_deny() {
                        break;
                    }
                }
                Says::DenyExcepted(_) | Says::Nothing => {}
            }
        }
        match allowed {
            Some((_, verdict)) => verdict,
            None => undecided(Decision::Undetermined, "no policy allows it".to_owned()),
        }
    }
}

/// `_any`: allowed as soon as one access type is; denied only when every one of them is.
fn decide_any(service: &CompiledService, r: &Request<'_>) -> Verdict {
    let asker = asker(r);
    let n_types = service.access_types.n_defined();
    let mut by_type: Vec<Option<(Priority, Verdict)>> = vec![None; n_types];
    let mut allowed: Option<(Priority, Verdict)> = None;
    for (policy, found) in applicable(service, r, Scope::ItselfOrBelow, &asker) {
        if allowed.as_ref().is_some_and(|(priority, _)| policy.priority < *priority) {
            break;
        }
        for (access, slot) in by_type.iter_mut().enumerate() {
            let (access, via) = match policy_says(policy, Wanted::Access(Some(access)), &asker) {
                Says::Allow(via) => (Decision::Allowed, Some(via)),
                Says::Deny(via) if found != MatchType::Below => (Decision::Denied, via),
                Says::Deny(_) | Says::DenyExcepted(_) | Says::Nothing => continue,
            };
            let replaces = match slot {
                None => true,
                Some((priority, old)) => match (old.access, access) {
                    (Decision::Denied, Decision::Denied) | (Decision::Allowed, Decision::Allowed) => {
                        policy.priority > *priority
                    }
                    _ => policy.priority >= *priority,
                },
            };
            if replaces {
                *slot = Some((policy.priority, decided(access, policy, via)));
            }
            if access == Decision::Allowed {
                break;
            }
        }
        allowed = by_type.iter().flatten().find(|(_, verdict)| verdict.is_allowed()).cloned();
        if allowed.is_some() && !policy.can_deny() {
            break;
        }
        if allowed.is_none() && n_types > 0 && by_type.iter().all(Option::is_some) {
            break;
        }
    }
    let denied =
        || by_type.iter().all(Option::is_some).then(|| by_type.iter().flatten().next().cloned()).flatten();
    match allowed.or_else(denied) {
        Some((_, verdict)) => verdict,
        None => undecided(Decision::Undetermined, "no policy allows anything".to_owned()),
    }
}

fn asker<'a>(r: &Request<'a>) -> Asker<'a> {
    Asker {
        who: r.who,
        owner: r.owner,
        now: r.now,
        client_addr: r.client_addr,
        condition_errors: ConditionErrors::AgainstUser,
    }
}

/// The access policies that speak of the request, first to be evaluated first, with how they lie to it.
fn applicable<'s>(
    service: &'s CompiledService,
    r: &Request<'_>,
    scope: Scope,
    asker: &Asker<'_>,
) -> Vec<(&'s CompiledPolicy, MatchType)> {
    let index = &service.access;
    let Some(path) = RequestPath::new(&index.levels, &r.resource) else { return Vec::new() };
    let tokens = asker.tokens();
    index
        .candidates(&path, scope.reach())
        .filter(|policy| policy.is_enabled && policy.is_valid_at(asker.now))
        .filter_map(|policy| {
            let found = policy.resources.iter().map(|resource| resource.match_type(&path, &tokens));
            // One of several resources that names the thing itself outweighs one that names something below.
            let best =
                found.filter(|found| scope.fits(*found)).min_by_key(|found| *found == MatchType::Below)?;
            Some((policy, best))
        })
        .collect()
}

fn decided(access: Decision, policy: &CompiledPolicy, via: Option<Via>) -> Verdict {
    let word = if access == Decision::Allowed { "Allowed" } else { "Denied" };
    let reason = match &via {
        Some(via) => format!("{word} via {via}"),
        None => format!("{word} by a policy that admits nobody else"),
    };
    let because = Because {
        policy: Some(policy.id),
        policy_name: Some(policy.name.clone()),
        policy_version: Some(policy.version),
        via,
        reason,
    };
    Verdict { access, because }
}

fn undecided(access: Decision, reason: String) -> Verdict {
    let because = Because { policy: None, policy_name: None, policy_version: None, via: None, reason };
    Verdict { access, because }
}

#[cfg(test)]
mod tests;
