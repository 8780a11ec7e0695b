//! Whether one access is allowed, as both gates ask it, and why.

use super::asked::{Asked, Target};
use super::ranger::{Evaluator, Mode, Zoned};
use super::running::{By, EntryItem, Running};
use super::trace::Trace;
use super::{Because, DecidingItem, Decision, Request, Verdict};
use crate::Snapshot;
use crate::model::PolicyKind;
use crate::snapshot::CompiledService;

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

    /// The same answer, with every policy that was considered for it and what each came to.
    pub fn explain(&self, r: &Request<'_>) -> (Verdict, Trace) {
        let service = match self.asked_service(r) {
            Ok(service) => service,
            Err(refused) => return (refused, Trace::default()),
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
                self.decide(&Asked::new(self, service, r, self.plugin().condition_errors).asking(target))
            }
            Err(refused) => refused,
        }
    }

    pub(crate) fn access_in(&self, r: &Request<'_>, scope: Scope) -> Verdict {
        let service = match self.asked_service(r) {
            Ok(service) => service,
            Err(refused) => return refused,
        };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        self.decide(&match scope {
            Scope::Itself => asked,
            Scope::ItselfOrBelow => asked.looking_below(),
        })
    }

    fn decide(&self, asked: &Asked<'_, '_>) -> Verdict {
        verdict(asked, &Evaluator::new(asked, OF_GATE).run())
    }

    fn asked_service(&self, r: &Request<'_>) -> Result<&CompiledService, Verdict> {
        match self.service(r.service) {
            None => Err(Verdict::refused(format!("no such policy service `{}`", r.service))),
            Some(service) if !service.is_enabled => {
                Err(Verdict::refused(format!("the policy service `{}` is disabled", r.service)))
            }
            Some(service) => Ok(service),
        }
    }
}

fn verdict(asked: &Asked<'_, '_>, zoned: &Zoned<'_>) -> Verdict {
    let running = &zoned.running;
    let access = match running.by {
        By::Policy(_) | By::NotDenied if running.is_allowed => Decision::Allowed,
        By::Policy(_) => Decision::Denied,
        By::Nothing | By::SuperUser | By::NoSuperUser | By::NotDenied | By::Inline => Decision::Undetermined,
    };
    Verdict { access, because: because(asked, running) }
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
