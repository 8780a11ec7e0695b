//! Asks the tag policies and then the resource policies of one zone, or of no zone.

use policy::model::{Policy, PolicyKind};
use policy::{AuditMode, MatchType};

use super::World;
use super::asking::Asking;
use super::definition::Definition;
use super::groups::Groups;
use super::one_policy::{Entries, Place, ask};
use super::policies::{Prepared, closeness, evaluation_order, is_of, name_order};
use super::tags::TagRepository;
use crate::answer::{Answer, Rank};

impl World {
    pub(crate) fn in_zone(&self, kind: PolicyKind, asking: &Asking<'_, '_>, zone: Option<&str>) -> Answer {
        let mut answer = Answer { zone: zone.map(str::to_owned), ..Answer::default() };
        let Some(service) = self.service(asking.request.service) else { return answer };
        let Some(def) = self.state.service_defs.get(&service.service_def) else { return answer };
        let definition = Definition::of(def);
        let tag_repository = self.tag_repository(service, &definition);

        self.start_audit(asking, tag_repository.is_some(), &mut answer);
        self.start_access(asking, &mut answer);
        let groups = Groups::of(asking, &definition);
        let mut entries = Entries::new();
        if let Some(repository) = &tag_repository {
            self.ask_tags(kind, asking, zone, repository, &groups, &mut entries, &mut answer);
        }
        let is_allowed_by_tags = answer.is_determined && answer.is_allowed;
        let is_denied_by_tags = answer.is_determined && !answer.is_allowed;

        let place = Place { world: self, asking, definition: &definition, kind, tag: None, groups: &groups };
        answer.is_determined = false;
        for prepared in self.resource_policies(kind, asking, zone, &place) {
            if !self.is_valid_at(&prepared.policy.validity, asking.request.now) {
                continue;
            }
            if is_denied_by_tags {
                answer.is_determined |= answer.priority >= prepared.rank;
            } else if answer.is_allowed {
                answer.is_determined |= match kind {
                    PolicyKind::Access | PolicyKind::Audit => answer.priority > prepared.rank,
                    PolicyKind::Mask | PolicyKind::RowFilter => answer.priority >= prepared.rank,
                };
            }
            ask(&place, &prepared, &mut entries, &mut answer);
            answer.is_determined |= answer.is_allowed && !prepared.has_deny;
            if answer.is_determined && answer.is_audit_determined {
                break;
            }
        }
        if !answer.is_determined {
            if is_denied_by_tags {
                answer.set_allowed(false);
            } else if is_allowed_by_tags {
                answer.set_allowed(true);
            }
            answer.is_determined |= !answer.is_allowed && !self.settings.has_fallback;
        }
        answer.is_determined |= answer.is_allowed;
        answer
    }

    /// Who is never audited; then what the service says of all requests.
    fn start_audit(&self, asking: &Asking<'_, '_>, has_tag_service: bool, answer: &mut Answer) {
        match self.settings.audit_mode {
            AuditMode::All => answer.set_audited(true),
            AuditMode::Nothing => answer.set_audited(false),
            AuditMode::ByPolicy => {
                let service = asking.request.service;
                let is_counted = |policy: &Policy| {
                    policy.service == service
                        && policy.is_enabled
                        && policy.zone.as_ref().is_none_or(String::is_empty)
                };
                if !has_tag_service && !self.state.policies.values().any(is_counted) {
                    answer.set_audited(true);
                }
            }
        }
        let who = asking.request.who;
        let settings = &self.settings;
        let configured = |name: &str| self.configured_names(asking.request.service, name);
        let is_excluded = settings.audit_excluded_users.contains(&who.user)
            || configured("ranger.plugin.audit.exclude.users").contains(&who.user)
            || who.groups.iter().any(|group| {
                settings.audit_excluded_groups.contains(group)
                    || configured("ranger.plugin.audit.exclude.groups").contains(group)
            })
            || who.roles.iter().any(|role| {
                settings.audit_excluded_roles.contains(role)
                    || configured("ranger.plugin.audit.exclude.roles").contains(role)
            });
        if is_excluded {
            answer.set_audited(false);
        }
    }

    /// A super user may do everything, and nobody else may do what only super users may.
    fn start_access(&self, asking: &Asking<'_, '_>, answer: &mut Answer) {
        let who = asking.request.who;
        let configured = |name: &str| self.configured_names(asking.request.service, name);
        let is_super = self.settings.super_users.contains(&who.user)
            || configured("ranger.plugin.super.users").contains(&who.user)
            || who.groups.iter().any(|group| {
                self.settings.super_groups.contains(group)
                    || configured("ranger.plugin.super.groups").contains(group)
            });
        if is_super {
            answer.is_allowed = true;
            answer.is_determined = true;
            answer.priority = Rank::Highest;
            answer.reason = Some("superuser".to_owned());
        } else if asking.access == "_super_user" {
            answer.set_allowed(false);
            answer.priority = Rank::Highest;
        }
    }

    /// The names in a comma list of the service's configuration.
    fn configured_names(&self, service: &str, key: &str) -> Vec<String> {
        let text = self.service(service).and_then(|service| service.configs.get(key));
        let names = text.map_or("", String::as_str).split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    fn resource_policies(
        &self,
        kind: PolicyKind,
        asking: &Asking<'_, '_>,
        zone: Option<&str>,
        place: &Place<'_, '_>,
    ) -> Vec<Prepared> {
        let definition = place.definition;
        let own = self.state.policies.values().filter(|policy| policy.service == asking.request.service);
        let of_zone = own.filter(|policy| is_of(policy, kind, zone));
        let prepared = of_zone.map(|policy| Prepared::new(policy, definition));
        // A policy that has nothing to do with the resource must not end the search.
        let mut prepared: Vec<Prepared> = prepared
            .filter(|prepared| {
                prepared
                    .resource_maps()
                    .any(|map| place.match_type(map).is_some_and(|found| applies(found, asking)))
            })
            .collect();
        // Masks and filters keep the order of their names only where no resource narrows them down.
        if kind != PolicyKind::Access && asking.resource().levels().is_empty() {
            prepared.sort_by(name_order);
        } else {
            prepared.sort_by(evaluation_order);
        }
        prepared
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call, and each is a part of the question or of the answer"
    )]
    fn ask_tags(
        &self,
        kind: PolicyKind,
        asking: &Asking<'_, '_>,
        zone: Option<&str>,
        repository: &TagRepository,
        groups: &Groups,
        entries: &mut Entries,
        answer: &mut Answer,
    ) {
        let zone = zone.filter(|zone| self.has_tag_service(Some(zone), &repository.service));
        let mut pairs = self.tag_pairs(kind, asking, zone, repository);
        match kind {
            PolicyKind::Mask => pairs.sort_by(|(a, tag_a), (b, tag_b)| {
                closeness(tag_a.found).cmp(&closeness(tag_b.found)).then_with(|| name_order(a, b))
            }),
            PolicyKind::RowFilter => pairs.sort_by(|(a, _), (b, _)| name_order(a, b)),
            PolicyKind::Access | PolicyKind::Audit => pairs.sort_by(|(a, _), (b, _)| evaluation_order(a, b)),
        }
        for (prepared, tag) in pairs {
            let definition = &repository.definition;
            let place = Place { world: self, asking, definition, kind, tag: Some(tag), groups };
            let mut said = answer.clone();
            ask(&place, &prepared, entries, &mut said);
            said.is_determined |= said.is_allowed && !prepared.has_deny;
            if said.is_audited {
                answer.take_audit_from(&said);
            }
            let is_news = said.is_determined || (!answer.is_allowed && said.is_allowed);
            if !answer.is_determined && is_news {
                answer.take_access_from(&said);
            }
            if answer.is_determined && answer.is_audit_determined {
                break;
            }
        }
        answer.is_determined |= answer.is_allowed;
    }
}

/// Whether a tag found so counts for the request.
pub(crate) fn counts(found: MatchType, asking: &Asking<'_, '_>) -> bool {
    match found {
        MatchType::Itself | MatchType::ItselfAndAllBelow | MatchType::Above => true,
        MatchType::Below => asking.reaches_below(),
        MatchType::Nothing => false,
    }
}

/// Whether a policy found so speaks of the requested resource.
fn applies(found: MatchType, asking: &Asking<'_, '_>) -> bool {
    found.is_itself() || (found == MatchType::Below && asking.reaches_below())
}
