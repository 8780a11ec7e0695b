//! The second evaluator: Ranger's semantics read out loud, with no index, no cache and no haste.

mod asking;
mod audit;
mod conditions;
mod definition;
mod groups;
mod inline;
mod level_match;
mod one_policy;
mod path_match;
mod policies;
mod repository;
mod resource_match;
mod scripts;
mod tags;
mod text_match;
mod tokens;
mod zones;

use std::collections::BTreeSet;
use std::sync::Arc;

use policy::model::{PolicyKind, ResourceMap, Service, State, ValiditySchedule};
use policy::schedule::{Schedule, ScheduleReading};
use policy::script::ScriptEngine;
use policy::{ConditionErrors, Membership, PluginSettings, Request};

use crate::answer::Answer;
pub(crate) use asking::client_addr;
use asking::{Asking, FoundTag};
use definition::Definition;
use resource_match::{Asked, match_type};

/// Everything that answers depend on, as plain data.
#[derive(Clone, Debug)]
pub struct World {
    state: State,
    settings: PluginSettings,
    scripts: Option<Arc<dyn ScriptEngine>>,
}

impl World {
    /// Without a script engine no script can be evaluated.
    pub fn new(state: State, settings: PluginSettings, scripts: Option<Arc<dyn ScriptEngine>>) -> Self {
        Self { state, settings, scripts }
    }

    /// Ranger's whole result for one kind of policy.
    pub fn evaluate(&self, kind: PolicyKind, request: &Request<'_>) -> Answer {
        let Some(asking) = self.prepare(request) else { return Answer::default() };
        let mut answer = self.in_zones(kind, &asking);
        self.inline(kind, &asking, &mut answer);
        self.audit_filters(&asking, &mut answer);
        answer
    }

    /// The user with every role that counts: her own, those of her groups and of `public`, and those that have one of
    /// these as a member.
    pub fn membership(&self, user: &str, groups: &BTreeSet<String>) -> Membership {
        let mut roles: BTreeSet<String> = BTreeSet::new();
        loop {
            let is_in = |members: &[policy::model::Member], holds: &dyn Fn(&str) -> bool| {
                members.iter().any(|member| holds(&member.name))
            };
            let more: BTreeSet<String> = self
                .state
                .roles
                .values()
                .filter(|role| {
                    is_in(&role.users, &|name| !user.is_empty() && name == user)
                        || is_in(&role.groups, &|name| name == "public" || groups.contains(name))
                        || is_in(&role.roles, &|name| roles.contains(name))
                })
                .map(|role| role.name.clone())
                .collect();
            if more == roles {
                return Membership::new(user, groups.clone(), roles);
            }
            roles = more;
        }
    }

    /// Everything that is looked up once for a request; none where there is no such service.
    fn prepare<'a, 'r>(&self, request: &'a Request<'r>) -> Option<Asking<'a, 'r>> {
        self.service(request.service)?;
        let access = if request.access.is_empty() { "_any" } else { request.access };
        let context = request.context;
        let mut asking = Asking {
            request,
            access: access.to_owned(),
            client_addr: asking::client_addr(request, &self.settings),
            cluster_name: context.cluster_name.clone().or_else(|| self.settings.cluster_name.clone()),
            cluster_type: context.cluster_type.clone().or_else(|| self.settings.cluster_type.clone()),
            tags: Vec::new(),
            tokens: asking::tokens(request),
        };
        asking.tags = self.tags(&asking);
        // A tag outside of its time is not there, for conditions neither.
        asking.tags.retain(|tag| self.tag_counts(tag, request.now));
        Some(asking)
    }

    /// The kinds of the tags that the requested resource carries.
    pub fn tags_of(&self, request: &Request<'_>) -> Vec<String> {
        let asking = self.prepare(request);
        asking.into_iter().flat_map(|asking| asking.tags).map(|tag| tag.kind).collect()
    }

    /// Whether the requested resource and a map have anything to do with each other.
    pub(crate) fn touches(&self, map: &ResourceMap, request: &Request<'_>) -> bool {
        let def = self
            .service(request.service)
            .and_then(|service| self.state.service_defs.get(&service.service_def));
        let (Some(def), Some(asking)) = (def, self.prepare(request)) else { return false };
        let fillings = asking.fillings(None);
        let asked =
            Asked { resource: asking.resource(), scopes: asking.element_scopes(), fillings: &fillings };
        match_type(&Definition::of(def), PolicyKind::Access, map, &asked).is_some()
    }

    fn service(&self, name: &str) -> Option<&Service> {
        self.state.services.get(name)
    }

    /// A tag of which it is not known when it counts is there at all times.
    pub(crate) fn tag_counts(&self, tag: &FoundTag, now: stdx::Timestamp) -> bool {
        self.is_doubtful(tag) || self.is_valid_at(&tag.validity, now)
    }

    /// Whether a schedule of the tag cannot be read, where that counts against the user.
    pub(crate) fn is_doubtful(&self, tag: &FoundTag) -> bool {
        let is_broken = |schedule| Schedule::new(schedule, ScheduleReading::OwnZone).is_err();
        self.settings.condition_errors == ConditionErrors::AgainstUser && tag.validity.iter().any(is_broken)
    }

    /// Whether there is no schedule, or one of them holds.
    fn is_valid_at(&self, schedules: &[ValiditySchedule], now: stdx::Timestamp) -> bool {
        let reading = match self.settings.condition_errors {
            ConditionErrors::Ranger => ScheduleReading::Ranger { server: self.settings.time_zone },
            ConditionErrors::AgainstUser => ScheduleReading::OwnZone,
        };
        let holds = |schedule| Schedule::new(schedule, reading).is_ok_and(|schedule| schedule.holds(now));
        schedules.is_empty() || schedules.iter().any(holds)
    }
}
