//! One audit filter of a service, read.

use super::access_types::Implied;
use super::order::{ANY_USER, OWNER};
use super::service::Tables;
use crate::edit::PUBLIC;
use crate::matching::{Levels, ResourceMatcher};
use crate::model::{AccessResult, AuditFilter};
use crate::normalise::name_in;

#[derive(Clone, Debug)]
pub(crate) struct CompiledAuditFilter {
    pub(crate) is_audited: Option<bool>,
    pub(crate) access_result: Option<AccessResult>,
    actions: Vec<String>,
    /// As written, with what they grant besides.
    access_types: Vec<String>,
    pub(crate) resource: FilterResource,
    users: Vec<String>,
    groups: Vec<String>,
    roles: Vec<String>,
    is_anybody: bool,
    is_owner: bool,
}

/// The resource that an audit filter names.
#[derive(Clone, Debug)]
pub(crate) enum FilterResource {
    Anything,
    Named(ResourceMatcher),
    /// It makes no path of the definition.
    Nothing,
}

impl CompiledAuditFilter {
    pub(crate) fn new(
        filter: &AuditFilter,
        levels: &Levels,
        implied: &Implied,
        component: Option<&str>,
        with: &mut Tables<'_>,
    ) -> Self {
        let resource = match ResourceMatcher::new(levels, &filter.resources) {
            _ if filter.resources.is_empty() => FilterResource::Anything,
            Ok(Some(matcher)) => FilterResource::Named(matcher),
            Ok(None) | Err(_) => FilterResource::Nothing,
        };
        let mut access_types = Vec::new();
        for name in &filter.access_types {
            let name = match component {
                Some(component) => name_in(name, component),
                None => Some(name.as_str()),
            };
            let Some(name) = name else { continue };
            access_types.push(name.to_owned());
            let number = with.types.intern(name);
            access_types.extend(implied.of(number).iter().map(|number| with.types.name(*number).to_owned()));
        }
        let names_nobody = filter.users.is_empty() && filter.groups.is_empty() && filter.roles.is_empty();
        Self {
            is_audited: filter.is_audited,
            access_result: filter.access_result,
            actions: filter.actions.clone(),
            access_types,
            resource,
            users: filter.users.clone(),
            groups: filter.groups.clone(),
            roles: filter.roles.clone(),
            is_anybody: names_nobody
                || filter.groups.iter().any(|name| name == PUBLIC)
                || filter.users.iter().any(|name| name == ANY_USER),
            is_owner: filter.users.iter().any(|name| name == OWNER),
        }
    }

    /// Whether the filter is about what is done, by action or access type; one of them is enough.
    pub(crate) fn is_about(&self, action: Option<&str>, access: &str) -> bool {
        if self.actions.is_empty() && self.access_types.is_empty() {
            return true;
        }
        action.is_some_and(|action| self.actions.iter().any(|known| known == action))
            || self.access_types.iter().any(|known| known == access)
    }

    pub(crate) fn names(&self, who: &crate::Membership, is_owner: bool) -> bool {
        self.is_anybody
            || (self.is_owner && is_owner)
            || self.users.contains(&who.user)
            || self.groups.iter().any(|name| who.groups.contains(name))
            || self.roles.iter().any(|name| who.roles.contains(name))
    }
}
