//! Applies audit filters: what a service's configuration says about which accesses are recorded.

use policy::MatchType;
use policy::Resource;
use policy::model::{AccessResult, AuditFilter, PolicyKind};

use super::World;
use super::asking::Asking;
use super::definition::Definition;
use super::resource_match::{Asked, match_type};
use crate::answer::Answer;

impl World {
    /// The tag service's filters, then the service's own; the first that fits decides.
    pub(crate) fn audit_filters(&self, asking: &Asking<'_, '_>, answer: &mut Answer) {
        let Some(service) = self.service(asking.request.service) else { return };
        let Some(def) = self.state.service_defs.get(&service.service_def) else { return };
        let definition = Definition::of(def);
        if let Some(repository) = self.tag_repository(service, &definition) {
            let filters = self.service(&repository.service).map_or(&[][..], |service| &service.audit_filters);
            for filter in filters {
                for tag in &asking.tags {
                    let resource = Resource::new([("tag", tag.kind.as_str())]);
                    let found = |definition: &Definition| filter_match(filter, definition, &resource, asking);
                    if self.decides(filter, asking, answer, &repository.definition, &found) {
                        return;
                    }
                }
            }
        }
        for filter in &service.audit_filters {
            let found = |definition: &Definition| filter_match(filter, definition, asking.resource(), asking);
            if self.decides(filter, asking, answer, &definition, &found) {
                return;
            }
        }
    }

    /// Whether the filter fits the access; then it says whether it is recorded.
    fn decides(
        &self,
        filter: &AuditFilter,
        asking: &Asking<'_, '_>,
        answer: &mut Answer,
        definition: &Definition,
        is_found: &dyn Fn(&Definition) -> bool,
    ) -> bool {
        let Some(is_audited) = filter.is_audited else { return false };
        let fits = fits_result(filter, answer)
            && is_found(definition)
            && is_for(filter, asking)
            && fits_action(filter, asking, definition);
        if fits {
            answer.set_audited(is_audited);
        }
        fits
    }
}

fn filter_match(
    filter: &AuditFilter,
    definition: &Definition,
    resource: &Resource<'_>,
    asking: &Asking<'_, '_>,
) -> bool {
    if filter.resources.is_empty() {
        return true;
    }
    let fillings = asking.fillings(None);
    let asked = Asked { resource, scopes: asking.element_scopes(), fillings: &fillings };
    match match_type(definition, PolicyKind::Access, &filter.resources, &asked) {
        Some(MatchType::Itself | MatchType::ItselfAndAllBelow) => true,
        Some(MatchType::Below) => asking.reaches_below(),
        Some(MatchType::Above | MatchType::Nothing) | None => false,
    }
}

fn fits_result(filter: &AuditFilter, answer: &Answer) -> bool {
    match filter.access_result {
        None => true,
        Some(AccessResult::Allowed) => answer.is_allowed,
        Some(AccessResult::Denied) => answer.is_determined && !answer.is_allowed,
        Some(AccessResult::NotDetermined) => !answer.is_determined,
    }
}

/// Without principals, for everybody.
fn is_for(filter: &AuditFilter, asking: &Asking<'_, '_>) -> bool {
    if filter.users.is_empty() && filter.groups.is_empty() && filter.roles.is_empty() {
        return true;
    }
    let who = asking.request.who;
    let user = asking.user();
    let is_user = |named: &String| match named.as_str() {
        "{USER}" => true,
        "{OWNER}" => user.is_some() && asking.request.owner == user,
        name => user == Some(name),
    };
    filter.users.iter().any(is_user)
        || filter.groups.iter().any(|group| group == "public" || who.groups.contains(group))
        || filter.roles.iter().any(|role| who.roles.contains(role))
}

/// The action or the access type is listed; where neither list is given, all are.
fn fits_action(filter: &AuditFilter, asking: &Asking<'_, '_>, definition: &Definition) -> bool {
    if filter.actions.is_empty() && filter.access_types.is_empty() {
        return true;
    }
    let action = asking.request.context.action.as_ref();
    action.is_some_and(|action| filter.actions.contains(action))
        || filter
            .access_types
            .iter()
            .any(|listed| *listed == asking.access || definition.implied(listed).contains(&asking.access))
}
