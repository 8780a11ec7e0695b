//! Whether one access is allowed, as both gates ask it, and why.

use super::asked::{Asked, Target};
use super::ranger::{Evaluator, Mode, Zoned};
use super::running::{By, EntryItem, Running};
use super::trace::Trace;
use super::{Because, DecidingItem, Decision, Request, Verdict};
use crate::Snapshot;
use crate::model::{PolicyId, PolicyKind};
use crate::snapshot::{CompiledPolicy, CompiledService};

/// What the requested resource stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Itself,
    /// Itself, or anything below it.
    ItselfOrBelow,
}

/// The gates ask policies alone: super users of the model are asked like everybody else, and nothing is audited here.
const OF_GATE: Mode = Mode { kind: PolicyKind::Access, is_plugin: false };

impl Snapshot {
    /// Whether a request is allowed. Super users of the model are asked like everybody else.
    pub fn access(&self, r: &Request<'_>) -> Verdict {
        self.access_in(r, Scope::Itself)
    }

    /// The same answer without words, which costs no memory: what is asked most often.
    pub fn decide<'s>(&'s self, r: &'s Request<'_>) -> Decided<'s> {
        self.decide_for(PolicyKind::Access, r)
    }

    /// What the policies of one kind decide, without words. A mask or a row filter that applies counts as allowed.
    pub fn decide_for<'s>(&'s self, kind: PolicyKind, r: &'s Request<'_>) -> Decided<'s> {
        match self.asked_service(r) {
            Err(_) => Decided { access: Decision::Denied, policy: None },
            Ok(service) => {
                let asked = Asked::new(self, service, r, self.plugin().condition_errors);
                let running = Evaluator::new(&asked, Mode { kind, ..OF_GATE }).run().running;
                let policy = match running.by {
                    By::Policy(entry) => Some(entry.policy),
                    By::Nothing | By::SuperUser | By::NoSuperUser | By::NotDenied | By::Inline => None,
                };
                Decided { access: decision(&running), policy }
            }
        }
    }

    /// The same answer, with every policy that was considered for it and what each came to.
    pub fn explain(&self, r: &Request<'_>) -> (Verdict, Trace) {
        let service = match self.asked_service(r) {
            Ok(service) => service,
            Err(why) => return (why.verdict(r), Trace::default()),
        };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        let mut evaluator = Evaluator::new(&asked, OF_GATE);
        evaluator.trace = Some(Trace::default());
        let zoned = evaluator.run();
        (verdict(&asked, &zoned), evaluator.trace.unwrap_or_default())
    }

    /// Whether the user may pass the requested access on to others: only items with delegated administration count.
    pub fn may_delegate(&self, r: &Request<'_>) -> Verdict {
        match self.asked_service(r) {
            Ok(service) => {
                let target = Target::Delegated(service.types.number(r.access));
                self.answer(&Asked::new(self, service, r, self.plugin().condition_errors).asking(target))
            }
            Err(why) => why.verdict(r),
        }
    }

    pub(crate) fn access_in(&self, r: &Request<'_>, scope: Scope) -> Verdict {
        let service = match self.asked_service(r) {
            Ok(service) => service,
            Err(why) => return why.verdict(r),
        };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        self.answer(&match scope {
            Scope::Itself => asked,
            Scope::ItselfOrBelow => asked.looking_below(),
        })
    }

    fn answer(&self, asked: &Asked<'_, '_>) -> Verdict {
        verdict(asked, &Evaluator::new(asked, OF_GATE).run())
    }

    fn asked_service(&self, r: &Request<'_>) -> Result<&CompiledService, NoService> {
        match self.service(r.service) {
            None => Err(NoService::Missing),
            Some(service) if !service.is_enabled => Err(NoService::Disabled),
            Some(service) => Ok(service),
        }
    }
}

/// Why no policies can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoService {
    Missing,
    Disabled,
}

impl NoService {
    fn verdict(self, r: &Request<'_>) -> Verdict {
        Verdict::refused(match self {
            Self::Missing => format!("no such policy service `{}`", r.service),
            Self::Disabled => format!("the policy service `{}` is disabled", r.service),
        })
    }
}

/// An answer without words.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Decided<'s> {
    pub access: Decision,
    policy: Option<&'s CompiledPolicy>,
}

impl<'s> Decided<'s> {
    pub fn is_allowed(&self) -> bool {
        self.access == Decision::Allowed
    }

    /// The policy that decided, with its version.
    pub fn policy(&self) -> Option<(PolicyId, i64)> {
        self.policy.map(|policy| (policy.id, policy.version))
    }

    pub fn policy_name(&self) -> Option<&'s str> {
        self.policy.map(|policy| &*policy.name)
    }
}

fn verdict(asked: &Asked<'_, '_>, zoned: &Zoned<'_>) -> Verdict {
    let running = &zoned.running;
    Verdict { access: decision(running), because: because(asked, running) }
}

fn decision(running: &Running<'_>) -> Decision {
    match running.by {
        By::Policy(_) | By::NotDenied if running.is_allowed => Decision::Allowed,
        By::Policy(_) => Decision::Denied,
        By::Nothing | By::SuperUser | By::NoSuperUser | By::NotDenied | By::Inline => Decision::Undetermined,
    }
}

/// On what a result rests, in words.
pub(crate) fn because(asked: &Asked<'_, '_>, running: &Running<'_>) -> Because {
    let entry = match running.by {
        By::Policy(entry) => entry,
        By::Nothing if asked.is_any() => return Because::of_nothing("no policy allows anything"),
        By::Nothing => return Because::of_nothing("no policy allows it"),
        By::SuperUser => return Because::of_nothing("superuser"),
        By::NoSuperUser => return Because::of_nothing("only super users may"),
        By::NotDenied => return Because::of_nothing("no policy denies it, and nothing more is needed"),
        By::Inline => return Because::of_nothing("inline-policy"),
    };
    let via = entry.item().and_then(|item| asked.via(item));
    let word = match entry.item {
        EntryItem::Allow(_) => "Allowed",
        EntryItem::Deny(_) | EntryItem::DenyElse => "Denied",
        EntryItem::Mask(_) | EntryItem::UnknownMask(_) => "Masked",
        EntryItem::Filter(_) | EntryItem::UnknownFilter(_) => "Filtered",
    };
    let reason = match &via {
        Some(via) => format!("{word} via {via}"),
        None => format!("{word} by a policy that admits nobody else"),
    };
    Because {
        policy: Some(entry.policy.id),
        policy_name: Some(entry.policy.name.to_string()),
        policy_version: Some(entry.policy.version),
        item: entry
            .item()
            .zip(entry.list())
            .map(|(item, list)| DecidingItem { list, place: usize::from(item.place) }),
        tag: asked.tag_of(&entry).map(|tag| tag.kind.to_string()),
        via,
        reason,
    }
}

#[cfg(test)]
mod tests;
