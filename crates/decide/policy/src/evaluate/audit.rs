//! Whether a request is recorded, and whether whoever asks is a super user: what Ranger's plug-ins are configured with.

use super::asked::Asked;
use super::running::Running;
use super::{MatchType, Resource};
use crate::matching::RequestPath;
use crate::model::{AccessResult, PolicyKind};
use crate::snapshot::{AuditMode, CompiledAuditFilter, FilterResource};

/// What is known before any policy has been asked.
pub(crate) fn begin(asked: &Asked<'_, '_>, running: &mut Running<'_>) {
    let service = asked.service;
    match asked.snapshot.plugin().audit_mode {
        AuditMode::All => running.audit(true),
        AuditMode::Nothing => running.audit(false),
        AuditMode::ByPolicy => {
            if service.tag_policies.is_none() && !service.policies.unzoned.has_policies() {
                running.audit(true);
            }
        }
    }
    if is_excluded(asked) {
        running.audit(false);
    }
}

fn is_excluded(asked: &Asked<'_, '_>) -> bool {
    let (who, plugin) = (asked.r.who, asked.snapshot.plugin());
    let service = &asked.service.audit_excluded;
    let has = |names: &std::collections::BTreeSet<String>, name: &String| names.contains(name);
    has(&plugin.audit_excluded_users, &who.user)
        || has(&service.users, &who.user)
        || who.groups.iter().any(|g| has(&plugin.audit_excluded_groups, g) || has(&service.groups, g))
        || who.roles.iter().any(|r| has(&plugin.audit_excluded_roles, r) || has(&service.roles, r))
}

pub(crate) fn is_super_user(asked: &Asked<'_, '_>) -> bool {
    let (who, plugin, service) = (asked.r.who, asked.snapshot.plugin(), asked.service);
    plugin.super_users.contains(&who.user)
        || service.super_users.contains(&who.user)
        || who.groups.iter().any(|g| plugin.super_groups.contains(g) || service.super_groups.contains(g))
}

/// The word of the first audit filter that fits: those of the tag service come first.
pub(crate) fn filtered(asked: &Asked<'_, '_>, running: &Running<'_>) -> Option<bool> {
    let result = match (running.is_allowed, running.is_determined) {
        (true, _) => AccessResult::Allowed,
        (false, true) => AccessResult::Denied,
        (false, false) => AccessResult::NotDetermined,
    };
    if let Some(policies) = &asked.service.tag_policies
        && !policies.audit_filters.is_empty()
    {
        let levels = policies.levels.of(PolicyKind::Audit);
        for filter in policies.audit_filters.iter().filter(|filter| fits(filter, asked, result)) {
            let is_about = |kind: &str, found: MatchType| match &filter.resource {
                FilterResource::Anything => true,
                FilterResource::Nothing => false,
                FilterResource::Named(matcher) => {
                    let resource = Resource::new([("tag", kind)]);
                    lies_well(found, asked)
                        && RequestPath::new(levels, &resource)
                            .is_some_and(|path| matcher.match_type(&path, &asked.matching()).is_itself())
                }
            };
            if asked.tags().iter().any(|tag| is_about(&tag.kind, tag.found)) {
                return filter.is_audited;
            }
        }
    }
    if asked.service.policies.audit_filters.is_empty() {
        return None;
    }
    let path = asked.path(PolicyKind::Audit);
    let is_about = |filter: &&CompiledAuditFilter| match (&filter.resource, &path) {
        (FilterResource::Anything, _) => true,
        (FilterResource::Nothing, _) | (FilterResource::Named(_), None) => false,
        (FilterResource::Named(matcher), Some(path)) => {
            let found = matcher.match_type(path, &asked.matching());
            found != MatchType::Above && lies_well(found, asked)
        }
    };
    let filters = asked.service.policies.audit_filters.iter();
    filters.filter(|filter| fits(filter, asked, result)).find(is_about)?.is_audited
}

fn lies_well(found: MatchType, asked: &Asked<'_, '_>) -> bool {
    match found {
        MatchType::Itself | MatchType::ItselfAndAllBelow | MatchType::Above => true,
        MatchType::Below => asked.looks_below(),
        MatchType::Nothing => false,
    }
}

fn fits(filter: &CompiledAuditFilter, asked: &Asked<'_, '_>, result: AccessResult) -> bool {
    let who = asked.r.who;
    let is_owner = !who.user.is_empty() && asked.r.owner == Some(who.user.as_str());
    filter.is_audited.is_some()
        && filter.access_result.is_none_or(|wanted| wanted == result)
        && filter.is_about(asked.r.context.action.as_deref(), asked.access_name())
        && filter.names(who, is_owner)
}
