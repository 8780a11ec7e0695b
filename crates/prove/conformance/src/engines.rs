//! The evaluators behind one face, so that every case asks them alike.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use policy::edit::Change;
use policy::evaluate::{Evaluation, ResourceAccess};
use policy::model::{PolicyKind, State, Version};
use policy::{BuildOptions, Fault, Membership, PluginSettings, Principal, Snapshot, Strictness};

use crate::answer::{Answer, Rank};
use crate::obvious::World;
use crate::question::Question;
use crate::report::Outcome;
use crate::run::EngineChoice;
use policy::script::ScriptEngine;
use script::JavaScript;

/// One evaluator with a scene.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Fast(Box<Snapshot>),
    Obvious(Box<World>),
}

impl Engine {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Fast(_) => "fast",
            Self::Obvious(_) => "obvious",
        }
    }

    pub(crate) fn evaluate(&self, kind: PolicyKind, question: &Question) -> Answer {
        let who = self.membership(question);
        let request = question.request(&who);
        match self {
            Self::Fast(snapshot) => answer_of(snapshot.evaluate(kind, &request)),
            Self::Obvious(world) => world.evaluate(kind, &request),
        }
    }

    /// The users and groups named for what is asked; the second evaluator makes no lists.
    pub(crate) fn resource_access(&self, question: &Question) -> Option<ResourceAccess> {
        match self {
            Self::Fast(snapshot) => {
                let who = self.membership(question);
                Some(snapshot.resource_access(&question.request(&who)))
            }
            Self::Obvious(_) => None,
        }
    }

    /// The evaluator after a change; `state` is what the change makes of the state.
    pub(crate) fn apply(&self, change: &Change, state: &State, settings: &PluginSettings) -> Result<Self> {
        match self {
            Self::Obvious(_) => {
                Ok(Self::Obvious(Box::new(World::new(state.clone(), settings.clone(), scripts()))))
            }
            Self::Fast(snapshot) => {
                let next = Version(snapshot.version().0.saturating_add(1));
                let changed = snapshot.apply(change, next).map_err(|faults| not_built(&faults))?;
                Ok(Self::Fast(Box::new(changed)))
            }
        }
    }

    /// The kinds of the tags that the requested resource carries, in order.
    pub(crate) fn tags(&self, question: &Question) -> Vec<String> {
        let who = self.membership(question);
        let request = question.request(&who);
        let mut kinds = match self {
            Self::Fast(snapshot) => snapshot.tags_of(&request).into_iter().map(|(kind, _)| kind).collect(),
            Self::Obvious(world) => world.tags_of(&request),
        };
        kinds.sort();
        kinds
    }

    /// Who asks: with the roles that the request names, or else with those that the user has.
    pub(crate) fn membership(&self, question: &Question) -> Membership {
        let Question { user, groups, roles, .. } = question;
        if let Some(roles) = roles {
            return Membership::new(user.clone(), groups.clone(), roles.clone());
        }
        match self {
            Self::Obvious(world) => world.membership(user, groups),
            Self::Fast(snapshot) => membership_of(snapshot, user, groups),
        }
    }
}

/// The engine that runs scripts for both.
pub(crate) fn scripts() -> Option<Arc<dyn ScriptEngine>> {
    Some(Arc::new(JavaScript::default()))
}

/// The product's result as an answer.
pub fn answer_of(said: Evaluation) -> Answer {
    Answer {
        is_allowed: said.is_allowed(),
        is_determined: said.is_determined,
        policy: said.policy,
        policy_version: said.policy_version,
        priority: match said.policy_priority {
            ..=0 => Rank::Normal,
            1 => Rank::Override,
            2.. => Rank::Highest,
        },
        zone: said.zone,
        reason: said.reason,
        is_audited: said.is_audited,
        is_audit_determined: said.is_audit_determined,
        audit_policy: said.audit_policy,
        mask: said.mask,
        filter: said.filter,
    }
}

/// A user with the groups that the request names and the roles that the snapshot finds. Groups of the user store count
/// only where a plug-in is told so.
pub fn membership_of(snapshot: &Snapshot, user: &str, groups: &BTreeSet<String>) -> Membership {
    let principal =
        Principal { user: user.to_owned(), claimed_groups: groups.clone(), claimed_roles: BTreeSet::new() };
    Membership::new(user, groups.clone(), snapshot.membership(&principal).roles)
}

fn not_built(faults: &[Fault]) -> anyhow::Error {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    anyhow!("the snapshot cannot be built: {}", faults.join("; "))
}

/// The evaluators that a run asks.
pub(crate) fn engines(choice: EngineChoice, state: &State, settings: &PluginSettings) -> Result<Vec<Engine>> {
    let mut engines = Vec::new();
    if choice != EngineChoice::Fast {
        engines.push(Engine::Obvious(Box::new(World::new(state.clone(), settings.clone(), scripts()))));
    }
    if choice != EngineChoice::Obvious {
        let options =
            BuildOptions { plugin: settings.clone(), scripts: scripts(), strictness: Strictness::Report };
        let snapshot = Snapshot::build_with(state.clone(), &options).map_err(|faults| not_built(&faults))?;
        engines.push(Engine::Fast(Box::new(snapshot)));
    }
    Ok(engines)
}

/// Passed when no evaluator differs from what is expected.
pub(crate) fn judge(engines: &[Engine], differences: impl Fn(&Engine) -> Vec<String>) -> Outcome {
    let mut lines = Vec::new();
    for engine in engines {
        lines.extend(differences(engine).into_iter().map(|line| format!("{}: {line}", engine.name())));
    }
    Outcome::of(lines)
}
