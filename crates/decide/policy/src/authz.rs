//! The authorisation API as pure questions to a snapshot: permissions on a resource and on parts of it, several
//! resources at once, and who has which permissions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use stdx::Timestamp;

use crate::evaluate::{
    AclAccess, AclsByPrincipal, Decision, ElementScope, Evaluation, LevelValue, MatchingScope, Request,
    RequestContext, Resource,
};
use crate::model::{PolicyId, PolicyKind, ServiceDef};
use crate::resource_name::{self, ResourceNameError};
use crate::{Membership, Snapshot};

/// One answer, or the common one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthzDecision {
    Allow,
    Deny,
    NotDetermined,
    /// Not the same for all.
    Partial,
}

/// What the name of a resource stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NameScope {
    #[default]
    Itself,
    /// It, or what stands directly in it.
    ItselfOrChild,
    /// It, or anything below it.
    ItselfOrBelow,
}

/// Who asks, and the circumstances.
#[derive(Clone, Debug)]
pub struct AuthzContext<'a> {
    pub service: &'a str,
    pub who: &'a Membership,
    pub now: Timestamp,
    pub client_addr: Option<IpAddr>,
    pub context: &'a RequestContext,
}

/// Permissions on one resource.
#[derive(Clone, Debug)]
pub struct AuthzAccess<'a> {
    /// `type:a/b/c`.
    pub resource: &'a str,
    pub scope: NameScope,
    pub owner: Option<&'a str>,
    /// `type:name` of parts of the resource, which are asked about instead of the whole.
    pub sub_resources: &'a [String],
    pub action: Option<&'a str>,
    pub permissions: &'a [String],
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthzError {
    #[error("`{service}`: service not found")]
    NoService { service: String },
    #[error("missing user info")]
    NoUser,
    #[error("missing access info")]
    NoAccess,
    #[error("missing resource name")]
    NoResource,
    #[error("for a resource with sub-resources the only valid scope is the resource itself")]
    ScopeWithSubResources,
    #[error("permissions is empty, nothing to authorize")]
    NoPermissions,
    #[error("{0}")]
    Name(ResourceNameError),
}

impl AuthzError {
    /// Ranger's number for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoService { .. } => "AUTHZ-400-00-001",
            Self::NoUser => "AUTHZ-400-00-003",
            Self::NoAccess => "AUTHZ-400-00-004",
            Self::NoResource => "AUTHZ-400-00-006",
            Self::ScopeWithSubResources => "AUTHZ-400-00-007",
            Self::Name(ResourceNameError::UnknownType { .. }) => "AUTHZ-400-00-009",
            Self::NoPermissions => "AUTHZ-400-00-012",
            Self::Name(ResourceNameError::Empty) => "AUTHZ-400-00-016",
            Self::Name(ResourceNameError::OtherShape { .. }) => "AUTHZ-400-00-017",
        }
    }
}

/// The policy that decided; none stands behind an answer that nothing was said of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecidedBy {
    pub policy: Option<PolicyId>,
    pub version: Option<i64>,
}

/// What is answered of one permission on one resource.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionAnswer {
    pub decision: AuthzDecision,
    pub by: DecidedBy,
    pub mask: Option<(String, Option<String>, DecidedBy)>,
    pub filter: Option<(String, DecidedBy)>,
    /// By sub-resource, as it was named.
    pub sub_resources: BTreeMap<String, PermissionAnswer>,
    /// What was evaluated, in order, for the audit of it.
    pub evaluated: Vec<Evaluated>,
}

/// One evaluation behind an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// The resource, level by level.
    pub levels: Vec<(String, String)>,
    pub kind: PolicyKind,
    pub result: Evaluation,
}

/// What is answered of several permissions on one resource.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthzAnswer {
    pub decision: AuthzDecision,
    pub permissions: BTreeMap<String, PermissionAnswer>,
}

/// What is answered of several resources.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiAuthzAnswer {
    pub decision: AuthzDecision,
    pub accesses: Vec<AuthzAnswer>,
}

/// Who has which permissions on a resource: by principal and permission.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePermissions {
    pub users: PermissionsByPrincipal,
    pub groups: PermissionsByPrincipal,
    pub roles: PermissionsByPrincipal,
}

pub type PermissionsByPrincipal = BTreeMap<String, BTreeMap<String, (AuthzDecision, DecidedBy)>>;

impl Snapshot {
    /// Whether the user has all of the permissions.
    ///
    /// # Errors
    /// The request names nothing that can be asked about.
    pub fn authorize(
        &self,
        asking: &AuthzContext<'_>,
        access: &AuthzAccess<'_>,
    ) -> Result<AuthzAnswer, AuthzError> {
        if asking.who.user.trim().is_empty() {
            return Err(AuthzError::NoUser);
        }
        check(access)?;
        let def = self.def_of(asking.service)?;
        let levels = resource_name::parse(def, access.resource).map_err(AuthzError::Name)?;
        let question = Question { snapshot: self, def, asking, access, levels };
        let permissions: BTreeMap<String, PermissionAnswer> =
            access.permissions.iter().map(|name| (name.clone(), question.permission(name))).collect();
        let decision = strictest(permissions.values().map(|answer| answer.decision));
        Ok(AuthzAnswer { decision, permissions })
    }

    /// The same for several resources at once.
    ///
    /// # Errors
    /// Any of the requests names nothing that can be asked about.
    pub fn authorize_several(
        &self,
        asking: &AuthzContext<'_>,
        accesses: &[AuthzAccess<'_>],
    ) -> Result<MultiAuthzAnswer, AuthzError> {
        if accesses.is_empty() {
            return Err(AuthzError::NoAccess);
        }
        let answers: Vec<AuthzAnswer> =
            accesses.iter().map(|access| self.authorize(asking, access)).collect::<Result<_, _>>()?;
        let mut decisions = answers.iter().map(|answer| answer.decision);
        let first = decisions.next().unwrap_or(AuthzDecision::NotDetermined);
        let decision = if decisions.all(|other| other == first) { first } else { AuthzDecision::Partial };
        Ok(MultiAuthzAnswer { decision, accesses: answers })
    }

    /// Who has which permissions on a resource. What depends on the request is not had.
    ///
    /// # Errors
    /// The name names nothing.
    pub fn resource_permissions(
        &self,
        asking: &AuthzContext<'_>,
        resource: &str,
    ) -> Result<ResourcePermissions, AuthzError> {
        let def = self.def_of(asking.service)?;
        let levels = resource_name::parse(def, resource).map_err(AuthzError::Name)?;
        let acls = self.resource_acls(&request(asking, &levels, None, "", asking.context));
        let decided = |acls: &AclsByPrincipal| -> PermissionsByPrincipal {
            let of_entry = |entry: &crate::evaluate::AclEntry| {
                let decision = match (entry.is_final, entry.access) {
                    (false, _) => AuthzDecision::NotDetermined,
                    (true, AclAccess::Allowed) => AuthzDecision::Allow,
                    (true, AclAccess::Denied | AclAccess::Conditional) => AuthzDecision::Deny,
                };
                let version = self.state().policies.get(&entry.last_policy).map(|policy| policy.version);
                (decision, DecidedBy { policy: Some(entry.last_policy), version })
            };
            let of_principal = |entries: &BTreeMap<String, crate::evaluate::AclEntry>| {
                entries.iter().map(|(access, entry)| (access.clone(), of_entry(entry))).collect()
            };
            acls.iter().map(|(name, entries)| (name.clone(), of_principal(entries))).collect()
        };
        Ok(ResourcePermissions {
            users: decided(&acls.users),
            groups: decided(&acls.groups),
            roles: decided(&acls.roles),
        })
    }

    fn def_of(&self, service: &str) -> Result<&ServiceDef, AuthzError> {
        let state = self.state();
        let def = state.services.get(service).and_then(|s| state.service_defs.get(&s.service_def));
        def.ok_or_else(|| AuthzError::NoService { service: service.to_owned() })
    }
}

fn check(access: &AuthzAccess<'_>) -> Result<(), AuthzError> {
    if access.resource.is_empty() {
        Err(AuthzError::NoResource)
    } else if !access.sub_resources.is_empty() && access.scope != NameScope::Itself {
        Err(AuthzError::ScopeWithSubResources)
    } else if access.permissions.is_empty() {
        Err(AuthzError::NoPermissions)
    } else {
        Ok(())
    }
}

/// A denial outweighs what is not determined, and that outweighs an allow.
fn strictest(decisions: impl Iterator<Item = AuthzDecision>) -> AuthzDecision {
    let rank = |decision: &AuthzDecision| match decision {
        AuthzDecision::Deny => 3,
        AuthzDecision::NotDetermined => 2,
        AuthzDecision::Partial => 1,
        AuthzDecision::Allow => 0,
    };
    decisions.max_by_key(rank).unwrap_or(AuthzDecision::NotDetermined)
}

fn request<'a>(
    asking: &AuthzContext<'a>,
    levels: &'a [(String, String)],
    owner: Option<&'a str>,
    access: &'a str,
    context: &'a RequestContext,
) -> Request<'a> {
    let value = |text: &'a str| LevelValue::One(Cow::Borrowed(text));
    let levels = levels.iter().map(|(level, text)| (Cow::Borrowed(level.as_str()), value(text)));
    Request {
        service: asking.service,
        resource: Resource::of_values(levels),
        owner,
        access,
        who: asking.who,
        now: asking.now,
        client_addr: asking.client_addr,
        context,
    }
}

struct Question<'a> {
    snapshot: &'a Snapshot,
    def: &'a ServiceDef,
    asking: &'a AuthzContext<'a>,
    access: &'a AuthzAccess<'a>,
    levels: Vec<(String, String)>,
}

impl Question<'_> {
    fn permission(&self, permission: &str) -> PermissionAnswer {
        let mut answer = self.one(&self.levels, permission);
        if !self.access.sub_resources.is_empty() {
            self.ask_parts(permission, &mut answer);
        }
        if answer.decision == AuthzDecision::Deny {
            answer.mask = None;
            answer.filter = None;
        }
        answer
    }

    /// The answer for the whole is what its parts say: a denial of any stays, and what is not determined of any
    /// overrules an allow.
    fn ask_parts(&self, permission: &str, answer: &mut PermissionAnswer) {
        let mut whole: Option<(AuthzDecision, DecidedBy)> = None;
        for name in self.access.sub_resources {
            let mut levels = self.levels.clone();
            let (kind, value) = name.split_once(':').unwrap_or((name, ""));
            levels.retain(|(level, _)| level != kind);
            levels.push((kind.to_owned(), value.to_owned()));
            let part = self.one(&levels, permission);
            whole = match (whole, part.decision) {
                (None, decision) => Some((decision, part.by)),
                (Some((AuthzDecision::Deny, by)), _) => Some((AuthzDecision::Deny, by)),
                (Some((old, _)), new) if old != new && new != AuthzDecision::Allow => Some((new, part.by)),
                (whole, _) => whole,
            };
            answer.evaluated.extend(part.evaluated.iter().cloned());
            answer.sub_resources.insert(name.clone(), part);
        }
        if let Some((decision, by)) = whole {
            answer.decision = decision;
            answer.by = by;
        }
    }

    /// One resource: access, and where the definition has them there, its filter and mask.
    fn one(&self, levels: &[(String, String)], permission: &str) -> PermissionAnswer {
        let context = self.context(levels);
        let request = request(self.asking, levels, self.access.owner, permission, &context);
        let found = self.snapshot.evaluate(PolicyKind::Access, &request);
        let decision = match (found.is_determined, found.decision) {
            (false, _) => AuthzDecision::NotDetermined,
            (true, Decision::Allowed) => AuthzDecision::Allow,
            (true, Decision::Denied | Decision::Undetermined) => AuthzDecision::Deny,
        };
        let evaluated = |kind, result| Evaluated { levels: levels.to_vec(), kind, result };
        let mut answer = PermissionAnswer {
            decision,
            by: by(&found),
            mask: None,
            filter: None,
            sub_resources: BTreeMap::new(),
            evaluated: vec![evaluated(PolicyKind::Access, found)],
        };
        if self.snapshot.has_hierarchy(self.def, PolicyKind::RowFilter, levels) {
            let found = self.snapshot.evaluate(PolicyKind::RowFilter, &request);
            let filter = found.filter.clone().filter(|text| found.is_determined && !text.trim().is_empty());
            answer.filter = filter.map(|text| (text, by(&found)));
            answer.evaluated.push(evaluated(PolicyKind::RowFilter, found));
        }
        if self.snapshot.has_hierarchy(self.def, PolicyKind::Mask, levels) {
            let found = self.snapshot.evaluate(PolicyKind::Mask, &request);
            let mask = found.mask.clone().filter(|mask| found.is_determined && !mask.mask_type.is_empty());
            answer.mask = mask.map(|mask| (mask.mask_type, mask.value_expr, by(&found)));
            answer.evaluated.push(evaluated(PolicyKind::Mask, found));
        }
        answer
    }

    fn context(&self, levels: &[(String, String)]) -> RequestContext {
        let mut context = self.asking.context.clone();
        if context.action.is_none() {
            context.action = self.access.action.map(str::to_owned);
        }
        match self.access.scope {
            NameScope::Itself => {}
            NameScope::ItselfOrBelow => context.scope = MatchingScope::ItselfOrBelow,
            NameScope::ItselfOrChild => {
                let last = levels.last().map(|(level, _)| level.clone());
                context.element_scopes.extend(last.map(|level| (level, ElementScope::ItselfOrChild)));
            }
        }
        context
    }
}

fn by(found: &Evaluation) -> DecidedBy {
    DecidedBy { policy: found.policy, version: found.policy_version }
}

#[cfg(test)]
mod tests;
