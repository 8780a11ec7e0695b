//! Who may do what on a resource, without a request of anybody's (Ranger's resource ACLs and resource access info).

mod list;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use list::Speaker;
pub use list::{AclAccess, AclEntry, AclRule, AclsByPrincipal, ResourceAcls};
use summary::{Summary, Types};

use super::asked::{ADMIN_ACCESS, ANY_ACCESS, Asked};
use super::ranger::TAG_LEVEL;
use super::{MatchType, MatchingScope, Request, Resource};
use crate::condition::Held;
use crate::matching::{Levels, RequestPath, ResourceMatcher};
use crate::model::{Policy, PolicyId, PolicyKind, ServiceDef};
use crate::normalise;
use crate::snapshot::{CompiledItem, CompiledPolicy, CompiledService, Policies, Reach};
use crate::{Membership, Snapshot};

/// Users and groups that are named for one access type on a resource (RangerResourceAccessInfo).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceAccess {
    pub allowed_users: BTreeSet<String>,
    pub allowed_groups: BTreeSet<String>,
    pub denied_users: BTreeSet<String>,
    pub denied_groups: BTreeSet<String>,
}

/// Lists are made for nobody in particular.
static NOBODY: LazyLock<Membership> = LazyLock::new(Membership::default);

/// A policy that may speak of the resource.
struct Candidate<'a> {
    policy: &'a CompiledPolicy,
    /// Of a tag policy: how the resource that carries the tag lies to the requested one.
    tagged: Option<MatchType>,
    /// Whether it counts at times only because its tag does.
    is_temporal: bool,
}

impl Snapshot {
    /// Who may do what on a resource, by name. What depends on who asks and when is conditional.
    pub fn resource_acls(&self, r: &Request<'_>) -> ResourceAcls {
        let Some(service) = self.service(r.service) else { return ResourceAcls::default() };
        let request = Request { access: ANY_ACCESS, who: &NOBODY, ..r.clone() };
        let asked = Asked::new(self, service, &request, self.plugin().condition_errors);
        let mut acls = ResourceAcls::default();
        for kind in [PolicyKind::Access, PolicyKind::Mask, PolicyKind::RowFilter] {
            self.add_kind(&asked, kind, &mut acls);
        }
        acls
    }

    fn add_kind(&self, asked: &Asked<'_, '_>, kind: PolicyKind, acls: &mut ResourceAcls) {
        let service = asked.service;
        let levels = service.policies.levels.of(kind);
        let names = asked.r.resource.levels().iter().map(|(name, _)| name.as_ref());
        // Masks and filters stand only where they may end.
        if kind != PolicyKind::Access && !levels.is_hierarchy(names) {
            return;
        }
        let Some(path) = asked.path(kind) else { return };
        let zone = zone_of(asked);
        let mut candidates = tag_candidates(asked, kind, zone);
        if let Some(index) = service.policies.of_zone(zone).and_then(|repository| repository.of_kind(kind)) {
            for policy in index.candidates(&path, Reach::BELOW) {
                candidates.push(Candidate { policy, tagged: None, is_temporal: false });
            }
        }
        candidates.retain(|candidate| candidate.policy.is_enabled);
        candidates.sort_by(|a, b| a.policy.evaluated_before(b.policy));
        if candidates.is_empty() {
            return;
        }
        let mut priority = candidates.first().map(|candidate| candidate.policy.priority());
        for candidate in &candidates {
            if priority != Some(candidate.policy.priority()) {
                priority = Some(candidate.policy.priority());
                if kind == PolicyKind::Access {
                    acls.finish();
                }
            }
            self.speak(asked, levels, &path, candidate, acls);
        }
        acls.finish();
    }

    /// Lets one policy say what it has to say, if it is about the resource.
    fn speak(
        &self,
        asked: &Asked<'_, '_>,
        levels: &Levels,
        path: &RequestPath<'_>,
        candidate: &Candidate<'_>,
        acls: &mut ResourceAcls,
    ) {
        let scope = asked.r.context.scope;
        let Some(policy) = self.state().policies.get(&candidate.policy.id) else { return };
        let matched = match candidate.tagged {
            // What a thing is in carries its tags for it too.
            Some(MatchType::Above) => Matched::Surely,
            Some(lies) if takes(scope, lies) => Matched::Surely,
            Some(_) => Matched::Not,
            None => matched(asked, levels, path, candidate.policy, policy),
        };
        let depends = candidate.is_temporal
            || !policy.conditions.is_empty()
            || !policy.validity.is_empty()
            || candidate.policy.broken().is_some();
        let is_conditional = match matched {
            Matched::Not => return,
            Matched::ForSome => true,
            Matched::Surely => depends,
        };
        let (id, version) = (policy.id, policy.version);
        let summary = match candidate.tagged {
            None => self.summary(asked, policy),
            Some(_) => self.summary_of_tag_policy(asked, policy),
        };
        if let Some(summary) = summary {
            acls.add(&Speaker { policy: id, version, summary: &summary, is_conditional });
        }
    }

    fn summary(&self, asked: &Asked<'_, '_>, policy: &Policy) -> Option<Summary> {
        let state = self.state();
        let service = state.services.get(asked.r.service)?;
        let def = state.service_defs.get(&service.service_def)?;
        Some(with_types(def, |types| Summary::new(policy, types)))
    }

    fn summary_of_tag_policy(&self, asked: &Asked<'_, '_>, policy: &Policy) -> Option<Summary> {
        let state = self.state();
        let service = state.services.get(asked.r.service)?;
        let component = &service.service_def;
        let tags = state.services.get(&policy.service)?;
        let def = normalise::for_component(state.service_defs.get(&tags.service_def)?, component);
        let policy = normalise::policy_for_component(policy, component);
        Some(with_types(&def, |types| Summary::new(&policy, types)))
    }

    /// The users and groups that items name for one access type on a resource, without regard to who asks.
    pub fn resource_access(&self, r: &Request<'_>) -> ResourceAccess {
        let mut found = ResourceAccess::default();
        let Some(service) = self.service(r.service) else { return found };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        let Some(path) = asked.path(PolicyKind::Access) else { return found };
        let mut zones = service.zones.of(&path);
        if zones.is_empty() {
            zones.push("");
        }
        for zone in zones {
            for candidate in tag_candidates(&asked, PolicyKind::Access, zone) {
                let lies = candidate.tagged.unwrap_or(MatchType::Nothing);
                self.add_access(&asked, candidate.policy, lies, &mut found);
            }
            let Some(repository) = service.policies.of_zone(zone) else { continue };
            for policy in repository.access.candidates(&path, Reach::ANYWHERE) {
                for resource in &policy.resources {
                    let lies = resource.match_type(&path, &asked.matching());
                    self.add_access(&asked, policy, lies, &mut found);
                }
            }
        }
        let ResourceAccess { allowed_users, allowed_groups, denied_users, denied_groups } = &mut found;
        allowed_users.retain(|name| !denied_users.contains(name));
        allowed_groups.retain(|name| !denied_groups.contains(name));
        found
    }

    fn add_access(
        &self,
        asked: &Asked<'_, '_>,
        policy: &CompiledPolicy,
        lies: MatchType,
        found: &mut ResourceAccess,
    ) {
        if lies == MatchType::Nothing || !policy.is_enabled {
            return;
        }
        let Some(written) = self.state().policies.get(&policy.id) else { return };
        let named = |items: &[CompiledItem], exceptions: &[CompiledItem]| {
            let (mut users, mut groups) = self.named(asked, written, items);
            let (except_users, except_groups) = self.named(asked, written, exceptions);
            users.retain(|name| !except_users.contains(name));
            groups.retain(|name| !except_groups.contains(name));
            (users, groups)
        };
        let (users, groups) = named(policy.allows(), policy.allow_exceptions());
        found.allowed_users.extend(users);
        found.allowed_groups.extend(groups);
        // A denial of something below says nothing of the whole.
        if lies != MatchType::Below {
            let (users, groups) = named(policy.denies(), policy.deny_exceptions());
            found.denied_users.extend(users);
            found.denied_groups.extend(groups);
        }
    }

    /// Of the users and groups that the policy names, those whom these items give or take what is asked.
    fn named(
        &self,
        asked: &Asked<'_, '_>,
        written: &Policy,
        items: &[CompiledItem],
    ) -> (BTreeSet<String>, BTreeSet<String>) {
        let is_asked = |item: &&CompiledItem| match asked.access_name() {
            ANY_ACCESS => item.access.len() > 0,
            ADMIN_ACCESS => item.delegate_admin,
            name => asked.service.types.number(name).is_some_and(|number| item.access.has(number)),
        };
        let counts: Vec<&CompiledItem> = items
            .iter()
            .filter(is_asked)
            .filter(|item| asked.held(item.conditions(), None) == Held::Met)
            .collect();
        let lists =
            [&written.items, &written.deny_items, &written.allow_exceptions, &written.deny_exceptions];
        let names = self.names();
        let mut users = BTreeSet::new();
        let mut groups = BTreeSet::new();
        for item in lists.into_iter().flatten() {
            let is_listed = |name: &&String| counts.iter().any(|item| item.lists_user(names, name));
            users.extend(item.users.iter().filter(is_listed).cloned());
            let is_listed = |name: &&String| counts.iter().any(|item| item.lists_group(names, name));
            groups.extend(item.groups.iter().filter(is_listed).cloned());
        }
        (users, groups)
    }

    /// Whether policies of a kind may end where these levels end.
    pub(crate) fn has_hierarchy(
        &self,
        def: &ServiceDef,
        kind: PolicyKind,
        levels: &[(String, String)],
    ) -> bool {
        let names = levels.iter().map(|(level, _)| level.as_str());
        Levels::of(def, kind).is_ok_and(|offered| offered.is_hierarchy(names))
    }
}

/// Whether a policy is about the resource.
enum Matched {
    Not,
    Surely,
    /// For some users it is, because of a token or an expression.
    ForSome,
}

fn matched(
    asked: &Asked<'_, '_>,
    levels: &Levels,
    path: &RequestPath<'_>,
    compiled: &CompiledPolicy,
    policy: &Policy,
) -> Matched {
    let scope = asked.r.context.scope;
    let context = asked.matching();
    let is_dynamic = compiled.resources.iter().any(ResourceMatcher::is_dynamic);
    let mut for_some = false;
    for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
        let Ok(Some(matcher)) = ResourceMatcher::new(levels, map) else { continue };
        if takes(scope, matcher.match_type(path, &context)) {
            return if for_some { Matched::ForSome } else { Matched::Surely };
        }
        if is_dynamic && !for_some && matcher.is_dynamic() {
            let widest = ResourceMatcher::for_any_macro(levels, map);
            for_some = widest.is_some_and(|widest| takes(scope, widest.match_type(path, &context)));
        }
    }
    if for_some { Matched::ForSome } else { Matched::Not }
}

fn takes(scope: MatchingScope, lies: MatchType) -> bool {
    match scope {
        MatchingScope::Itself => lies.is_itself(),
        MatchingScope::ItselfOrBelow => lies.is_itself_or_below(),
    }
}

/// The one zone that the resource is in; of a resource in several, what is in none counts.
fn zone_of<'a>(asked: &Asked<'a, '_>) -> &'a str {
    let service: &'a CompiledService = asked.service;
    let Some(path) = asked.path(PolicyKind::Access) else { return "" };
    match service.zones.of(&path)[..] {
        [zone] => zone,
        _ => "",
    }
}

/// Tag policies about the tags of the resource, each once, by the nearest of its tags.
fn tag_candidates<'a>(asked: &Asked<'a, '_>, kind: PolicyKind, zone: &str) -> Vec<Candidate<'a>> {
    let service: &'a CompiledService = asked.service;
    let Some(policies) = &service.tag_policies else { return Vec::new() };
    let zone = if service.zones.has_tag_service(zone) { zone } else { "" };
    let mut found: BTreeMap<PolicyId, Candidate<'a>> = BTreeMap::new();
    for tag in asked.tags_at_any_time() {
        for policy in about_tag(policies, kind, &tag.kind, asked) {
            if &*policy.zone != zone {
                continue;
            }
            let lies = tag.found;
            let new = Candidate { policy, tagged: Some(lies), is_temporal: false };
            let candidate = found.entry(policy.id).or_insert(new);
            candidate.is_temporal |= tag.is_temporal();
            candidate.tagged = candidate.tagged.into_iter().chain([lies]).min_by_key(|lies| distance(*lies));
        }
    }
    found.into_values().collect()
}

/// The policies of a kind that name a tag.
fn about_tag<'a>(
    policies: &'a Policies,
    kind: PolicyKind,
    tag: &str,
    asked: &Asked<'a, '_>,
) -> Vec<&'a CompiledPolicy> {
    let Some(index) = policies.unzoned.of_kind(kind) else { return Vec::new() };
    let resource = Resource::new([(TAG_LEVEL, tag)]);
    let Some(path) = RequestPath::new(policies.levels.of(kind), &resource) else { return Vec::new() };
    let found = index.candidates(&path, Reach::ITSELF).into_iter();
    found.filter(|policy| policy.matches(&path, &asked.matching(), MatchType::is_itself)).collect()
}

/// How far the resource that carries a tag is from the requested one.
fn distance(lies: MatchType) -> u8 {
    match lies {
        MatchType::Itself => 0,
        MatchType::ItselfAndAllBelow => 1,
        MatchType::Above => 2,
        MatchType::Below => 3,
        MatchType::Nothing => 4,
    }
}

fn with_types<T>(def: &ServiceDef, make: impl FnOnce(&Types<'_>) -> T) -> T {
    let markers = normalise::markers(&def.access_types);
    let all = def.access_types.iter().chain(&markers).chain(&def.marker_access_types);
    let implied: BTreeMap<String, Vec<String>> =
        all.map(|access| (access.name.to_lowercase(), access.implied_grants.clone())).collect();
    let names: Vec<String> = def.access_types.iter().map(|access| access.name.clone()).collect();
    let can_deny = !def
        .options
        .get("enableDenyAndExceptionsInPolicies")
        .is_some_and(|text| text.trim().eq_ignore_ascii_case("false"));
    make(&Types { implied: &implied, all: &names, can_deny })
}

#[cfg(test)]
mod tests;
