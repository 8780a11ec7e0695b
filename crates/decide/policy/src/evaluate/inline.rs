//! A session's own policy inside the request, which has the last word.

use std::collections::BTreeSet;

use super::asked::{ANY_ACCESS, Asked};
use super::ranger::{Evaluator, Mode};
use super::running::{By, Running};
use super::{InlineGrant, InlineMode, InlinePolicy, Request};
use crate::Membership;
use crate::matching::ResourceMatcher;
use crate::model::{PolicyKind, ResourceMap, ResourceValues, ServiceDef};
use crate::resource_name;

/// Applies the request's own policy, if it has one that is to be asked.
pub(crate) fn apply(asked: &Asked<'_, '_>, kind: PolicyKind, running: &mut Running<'_>) {
    let Some(policy) = &asked.r.context.inline_policy else { return };
    let is_asked = match policy.mode {
        InlineMode::Alone => true,
        InlineMode::And => running.is_allowed,
        InlineMode::Or => !running.is_allowed,
    };
    if is_asked {
        let is_granted = || policy.grants.is_empty() || policy.grants.iter().any(|g| grants(g, asked));
        running.is_allowed = grantor_may(policy, asked, kind) && is_granted();
        running.is_determined = true;
        running.by = By::Inline;
    }
}

/// Whether whoever lends the right has it: asked as nobody but the one user, group or role.
fn grantor_may(policy: &InlinePolicy, asked: &Asked<'_, '_>, kind: PolicyKind) -> bool {
    let Some(grantor) = policy.grantor.as_deref().filter(|text| !text.is_empty()) else { return true };
    let who = match grantor.split_once(':') {
        Some(("u", name)) => asked.snapshot.alone(name, BTreeSet::new()),
        Some(("g", name)) => asked.snapshot.alone("", BTreeSet::from([name.to_owned()])),
        Some(("r", name)) => Membership::new("", BTreeSet::new(), [name]),
        _ => return false,
    };
    let mut context = asked.r.context.clone();
    context.inline_policy = None;
    let r = asked.r;
    let request = Request {
        service: r.service,
        resource: r.resource.borrowed(),
        owner: r.owner,
        access: r.access,
        who: &who,
        now: r.now,
        client_addr: r.client_addr,
        context: &context,
    };
    let asked = Asked::new(asked.snapshot, asked.service, &request, asked.errors);
    let zoned = Evaluator::new(&asked, Mode { kind, is_plugin: true }).run();
    zoned.running.is_allowed && zoned.running.is_determined
}

fn grants(grant: &InlineGrant, asked: &Asked<'_, '_>) -> bool {
    is_for(grant, asked.r.who)
        && permits(grant, asked)
        && acts(grant, asked.r.context.action.as_deref())
        && is_about(grant, asked)
}

fn is_for(grant: &InlineGrant, who: &Membership) -> bool {
    let is_me = |principal: &String| match principal.split_once(':') {
        Some(("u", name)) => !name.is_empty() && name == who.user,
        Some(("g", "public")) => true,
        Some(("g", name)) => who.groups.contains(name),
        Some(("r", name)) => who.roles.contains(name),
        _ => false,
    };
    grant.principals.is_empty() || grant.principals.iter().any(is_me)
}

/// Permissions stand for what they grant besides; none at all permits nothing.
fn permits(grant: &InlineGrant, asked: &Asked<'_, '_>) -> bool {
    let access = match asked.r.access {
        "" => ANY_ACCESS,
        access => access,
    };
    let types = &asked.service.types;
    let implied = &asked.service.policies.implied;
    grant.permissions.iter().any(|permission| {
        permission == access
            || types
                .number(permission)
                .is_some_and(|number| implied.of(number).iter().any(|implied| types.name(*implied) == access))
    })
}

fn acts(grant: &InlineGrant, action: Option<&str>) -> bool {
    let is_meant = |pattern: &String| {
        let pattern = pattern.trim().to_lowercase();
        let Some(action) = action.map(str::to_lowercase) else { return pattern == "*" };
        match pattern.strip_suffix('*') {
            Some(prefix) => action.starts_with(prefix),
            None => action == pattern,
        }
    };
    grant.actions.iter().all(|pattern| pattern.trim().is_empty()) || grant.actions.iter().any(is_meant)
}

fn is_about(grant: &InlineGrant, asked: &Asked<'_, '_>) -> bool {
    if grant.resources.is_empty() {
        return true;
    }
    let levels = asked.service.policies.levels.of(PolicyKind::Access);
    // All that is asked for must lie in what is granted, as with the right to administer.
    let wanted: ResourceMap = asked
        .r
        .resource
        .levels()
        .iter()
        .map(|(level, value)| {
            let values = value.values().map(str::to_owned).collect();
            (level.to_string(), ResourceValues { values, is_excludes: false, is_recursive: false })
        })
        .collect();
    !wanted.is_empty()
        && grant.resources.iter().any(|name| {
            let map = resource_of(name, asked.service.policies.def());
            let matcher = map.and_then(|map| ResourceMatcher::new(levels, &map).ok().flatten());
            matcher.is_some_and(|matcher| matcher.covers(levels, &wanted, &asked.matching()))
        })
}

/// `type:a/b/c` as a resource map: the levels down to `type`.
fn resource_of(name: &str, def: &ServiceDef) -> Option<ResourceMap> {
    let levels = resource_name::parse(def, name).ok()?;
    let values = levels.into_iter().map(|(level, value)| {
        let is_recursive =
            def.resources.iter().any(|known| known.name == level && known.is_recursive_supported);
        (level, ResourceValues { values: vec![value], is_excludes: false, is_recursive })
    });
    Some(values.collect())
}
