//! Whether one access is allowed, as both gates ask it, and why.

use super::asked::{Asked, Target};
use super::ranger::{Evaluator, Mode, Zoned};
use super::running::{By, Entry};
use super::trace::Trace;
use super::{Because, Decision, Request, Verdict};
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
    match running.by {
        By::Policy(entry) if running.is_allowed => decided(Decision::Allowed, &entry, asked),
        By::Policy(entry) => decided(Decision::Denied, &entry, asked),
        By::NotDenied if running.is_allowed => {
            undecided(Decision::Allowed, "no policy denies it, and nothing more is needed")
        }
        By::Nothing | By::SuperUser | By::NoSuperUser | By::NotDenied | By::Inline => {
            let what = if asked.is_any() { "no policy allows anything" } else { "no policy allows it" };
            undecided(Decision::Undetermined, what)
        }
    }
}

fn decided(access: Decision, entry: &Entry<'_>, asked: &Asked<'_, '_>) -> Verdict {
    let word = if access == Decision::Allowed { "Allowed" } else { "Denied" };
    let via = entry.item().and_then(|item| asked.via(item));
    let reason = match &via {
        Some(via) => format!("{word} via {via}"),
        None => format!("{word} by a policy that admits nobody else"),
    };
    let because = Because {
        policy: Some(entry.policy.id),
        policy_name: Some(entry.policy.name.to_string()),
        policy_version: Some(entry.policy.version),
        via,
        reason,
    };
    Verdict { access, because }
}

fn undecided(access: Decision, reason: &str) -> Verdict {
    let because = Because {
        policy: None,
        policy_name: None,
        policy_version: None,
        via: None,
        reason: reason.to_owned(),
    };
    Verdict { access, because }
}

#[cfg(test)]
mod tests;
