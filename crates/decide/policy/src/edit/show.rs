//! Who holds what: the rows of SHOW GRANTS, and the answer of CHECK ACCESS.

use std::fmt;
use std::net::IpAddr;

use stdx::Timestamp;

use super::columns::is_of_columns;
use super::cover::{Cover, policy_covers};
use super::draft::Draft;
use super::grant::{pairs, types_at};
use super::items;
use super::pins;
use super::record::{self, LabelKind};
use super::scope::{GATE_ONE, Grantee, Scope};
use crate::evaluate::{Decision, Request, Verdict};
use crate::matching::MatchContext;
use crate::model::{Item, Policy, PolicyKind, ResourceMap};
use crate::privilege::{Level, ObjectClass, Privilege, StepTarget, WriteSet};
use crate::{Membership, Principal, Snapshot};

/// What a row says of its access type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    Allow,
    Deny,
    /// Taken out of the allowance of the same policy.
    AllowException,
    /// Taken out of the denial of the same policy.
    DenyException,
}

impl Effect {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "ALLOW",
            Self::Deny => "DENY",
            Self::AllowException => "ALLOW EXCEPTION",
            Self::DenyException => "DENY EXCEPTION",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One access type of one grantee on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    /// The access type.
    pub privilege: String,
    /// The dotted name that the policy has, wildcards included.
    pub resource: String,
    pub grantee_type: &'static str,
    pub grantee_name: String,
    pub effect: Effect,
    pub granted_by: Option<String>,
    pub granted_at: Option<Timestamp>,
}

/// Which policies speak of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those that name the object itself.
    Exact,
    /// Those that cover it by a pattern too, and those of what it is in.
    #[default]
    Covering,
}

/// Every grant and denial on an object, the object's own first.
pub fn show_grants_on(snapshot: &Snapshot, scope: &Scope, reach: Reach) -> Vec<GrantRow> {
    let levels = scope.levels(StepTarget::Named(scope.class().level()));
    let levels = pairs(&levels);
    let exact = scope.policy_resources(StepTarget::Named(scope.class().level()));
    let state = snapshot.state();
    let def = state.services.get(GATE_ONE).and_then(|s| state.service_defs.get(&s.service_def));
    let tokens = MatchContext::new("", None);
    let mut found: Vec<(u8, &Policy)> = Vec::new();
    for policy in access_policies(snapshot) {
        let is_exact = names_exactly(policy, &exact);
        match reach {
            _ if is_exact => found.push((0, policy)),
            Reach::Exact => {}
            Reach::Covering => {
                match def.map_or(Cover::No, |def| policy_covers(def, policy, &levels, &tokens)) {
                    Cover::Object => found.push((1, policy)),
                    Cover::Parent => found.push((2, policy)),
                    Cover::No => {}
                }
            }
        }
    }
    found.sort_by_key(|(rank, policy)| (*rank, policy.id));
    let rows = found.into_iter().flat_map(|(rank, policy)| {
        let shown = if rank == 0 { Some(scope.to_string()) } else { None };
        rows_of(policy, shown, |_| true)
    });
    rows.collect()
}

/// Everything that names the grantee itself.
pub fn show_grants_to(snapshot: &Snapshot, grantee: &Grantee) -> Vec<GrantRow> {
    let grantee = grantee.normal();
    access_policies(snapshot).flat_map(|p| rows_of(p, None, |g| *g == grantee)).collect()
}

/// Every grant and denial that there is.
pub fn all_grants(snapshot: &Snapshot) -> Vec<GrantRow> {
    access_policies(snapshot).flat_map(|p| rows_of(p, None, |_| true)).collect()
}

/// Everything that reaches a user, by herself, her groups, her roles at any depth, or as everyone.
pub fn effective_grants(snapshot: &Snapshot, user: &str) -> Vec<GrantRow> {
    let who = snapshot.membership(&Principal::user(user));
    let reaches = |g: &Grantee| match g {
        Grantee::User(name) => *name == who.user,
        Grantee::Role(name) => who.roles.contains(name),
        Grantee::Group(name) => who.groups.contains(name),
        Grantee::Public => true,
    };
    access_policies(snapshot).flat_map(|p| rows_of(p, None, reaches)).collect()
}

/// Whether the holder of a membership may use a privilege, and through or because of what.
pub fn check_access(
    snapshot: &Snapshot,
    privilege: Privilege,
    scope: &Scope,
    who: &Membership,
    owner: Option<&str>,
    now: Timestamp,
    client_addr: Option<IpAddr>,
) -> (bool, String) {
    if let Err(error) = privilege.plan(scope.class(), WriteSet::WithoutRead) {
        return (false, plan_reason(scope, error));
    }
    let mut reason = format!("Nothing is asked for `{privilege}` on {scope}");
    for (access, verdict) in access_verdicts(snapshot, privilege, scope, who, owner, now, client_addr) {
        reason = rendered(access, scope, &verdict);
        if !verdict.is_allowed() {
            return (false, reason);
        }
    }
    (true, reason)
}

/// What gate one says of every access type that a privilege needs on an object.
pub fn access_verdicts(
    snapshot: &Snapshot,
    privilege: Privilege,
    scope: &Scope,
    who: &Membership,
    owner: Option<&str>,
    now: Timestamp,
    client_addr: Option<IpAddr>,
) -> Vec<(&'static str, Verdict)> {
    let asked = privilege.asked(scope.class());
    let verdict = |(target, access): (StepTarget, &'static str)| {
        let request = Request {
            service: GATE_ONE,
            resource: scope.resource_at(target),
            owner,
            access,
            who,
            now,
            client_addr,
            context: &crate::NO_CONTEXT,
        };
        (access, snapshot.access(&request))
    };
    asked.into_iter().map(verdict).collect()
}

/// One verdict in words.
fn rendered(access: &str, scope: &Scope, verdict: &Verdict) -> String {
    let because = &verdict.because;
    match verdict.access {
        Decision::Allowed => {
            let by = because.via.as_ref().map_or_else(|| "a policy".to_owned(), ToString::to_string);
            format!("Allowed via {by}")
        }
        Decision::Denied => {
            let policy = because.policy_name.as_deref().unwrap_or_default();
            let via = because.via.as_ref().map(|via| format!(" via {via}")).unwrap_or_default();
            format!("Denied by policy `{policy}`{via}")
        }
        Decision::Undetermined => format!("No policy allows `{access}` on {scope}"),
    }
}

fn plan_reason(scope: &Scope, error: crate::privilege::PlanError) -> String {
    use crate::privilege::PlanError;
    match error {
        PlanError::TooDeep { privilege, level } => {
            format!("`{privilege}` binds to the {level} level, above {scope}")
        }
        PlanError::WrongClass { privilege, class } => {
            format!("A {} has no privilege `{privilege}`", class.word())
        }
    }
}

fn access_policies(snapshot: &Snapshot) -> impl Iterator<Item = &Policy> {
    snapshot
        .state()
        .policies
        .values()
        .filter(|p| p.service == GATE_ONE && p.kind == PolicyKind::Access && p.is_enabled)
}

/// Whether one of the policy's resources has the object among its literal values.
fn names_exactly(policy: &Policy, exact: &ResourceMap) -> bool {
    std::iter::once(&policy.resources).chain(&policy.additional_resources).any(|map| {
        map.len() == exact.len()
            && exact.iter().all(|(level, wanted)| {
                let wanted = wanted.values.first();
                map.get(level).is_some_and(|v| !v.is_excludes && wanted.is_some_and(|w| v.values.contains(w)))
            })
    })
}

/// The dotted name of a policy's first resource; several values of a level stand in brackets.
fn resource_name(policy: &Policy) -> String {
    let parts = ["catalog", "namespace", "table"].into_iter().filter_map(|level| policy.resources.get(level));
    let parts: Vec<String> = parts
        .map(|v| {
            let joined = v.values.join(",");
            let joined = if v.values.len() > 1 { format!("{{{joined}}}") } else { joined };
            if v.is_excludes { format!("!{joined}") } else { joined }
        })
        .collect();
    if parts.is_empty() { "*".to_owned() } else { parts.join(".") }
}

fn rows_of(policy: &Policy, resource: Option<String>, is_wanted: impl Fn(&Grantee) -> bool) -> Vec<GrantRow> {
    let mut resource = resource.unwrap_or_else(|| resource_name(policy));
    if is_of_columns(policy) {
        let columns: Vec<String> = pins::pins(policy).columns.into_iter().map(|column| column.name).collect();
        resource = format!("{resource} ({})", columns.join(", "));
    }
    let lists: [(&Vec<Item>, Effect); 4] = [
        (&policy.items, Effect::Allow),
        (&policy.deny_items, Effect::Deny),
        (&policy.allow_exceptions, Effect::AllowException),
        (&policy.deny_exceptions, Effect::DenyException),
    ];
    let mut rows: Vec<GrantRow> = Vec::new();
    for (items, effect) in lists {
        for item in items {
            for grantee in items::grantees(item).into_iter().filter(&is_wanted) {
                for access in item.accesses.iter().filter(|a| a.is_allowed) {
                    let (granted_by, granted_at) = origin(policy, &grantee, &access.kind, effect);
                    let row = GrantRow {
                        privilege: access.kind.clone(),
                        resource: resource.clone(),
                        grantee_type: grantee.type_name(),
                        grantee_name: grantee.name().to_owned(),
                        effect,
                        granted_by,
                        granted_at,
                    };
                    if !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
    }
    rows
}

/// Who gave an access type, and when: by the earliest label that stands for it, then as a way to something below, then
/// as the policy's maker.
fn origin(
    policy: &Policy,
    grantee: &Grantee,
    access: &str,
    effect: Effect,
) -> (Option<String>, Option<Timestamp>) {
    let kind = match effect {
        Effect::Allow => LabelKind::Grant,
        Effect::Deny => LabelKind::Deny,
        Effect::AllowException | Effect::DenyException => return maker(policy),
    };
    let (target, class) = place_of(policy);
    let labels = record::labels_of(policy, grantee, kind).into_iter();
    let records = labels.filter_map(|(text, privilege)| Some((privilege, record::record_of(policy, &text)?)));
    let earliest = records
        .filter(|(privilege, record)| {
            let writes = if record.has_read { WriteSet::WithRead } else { WriteSet::WithoutRead };
            types_at(*privilege, target, class, writes).contains(&access)
        })
        .map(|(_, record)| record)
        .min_by_key(|r| r.at);
    match earliest.or_else(|| record::traversal_of(policy, grantee)) {
        Some(record) => (Some(record.by), Some(record.at)),
        None => maker(policy),
    }
}

fn maker(policy: &Policy) -> (Option<String>, Option<Timestamp>) {
    let by = Some(policy.created_by.clone()).filter(|by| !by.is_empty());
    (by, Some(policy.created_at).filter(|at| *at != Timestamp::default()))
}

/// What kind of resource a policy of GRANT stands on.
fn place_of(policy: &Policy) -> (StepTarget, ObjectClass) {
    let is_any = |level: &str| policy.resources.get(level).is_some_and(|v| v.values.iter().any(|v| v == "*"));
    let has = |level: &str| policy.resources.contains_key(level);
    match (has("namespace"), has("table")) {
        (_, true) if is_any("namespace") => (StepTarget::Everything(Level::Table), ObjectClass::Catalog),
        (_, true) => (StepTarget::Named(Level::Table), ObjectClass::Table),
        (true, false) if is_any("namespace") => {
            (StepTarget::Everything(Level::Namespace), ObjectClass::Catalog)
        }
        (true, false) => (StepTarget::Named(Level::Namespace), ObjectClass::Namespace),
        (false, false) => (StepTarget::Named(Level::Catalog), ObjectClass::Catalog),
    }
}

/// The policies by which a grantee, named in them, could still use a privilege on an object.
pub(crate) fn still_held(
    draft: &Draft<'_>,
    privilege: Privilege,
    scope: &Scope,
    grantee: &Grantee,
) -> Vec<String> {
    let Some(def) = draft.def(GATE_ONE) else {
        return Vec::new();
    };
    if privilege == Privilege::All {
        return Vec::new();
    }
    let asked = privilege.asked(scope.class());
    let tokens = MatchContext::new("", None);
    draft
        .policies()
        .filter(|p| p.service == GATE_ONE && p.kind == PolicyKind::Access && p.is_enabled)
        .filter(|p| {
            asked.iter().any(|(target, access)| {
                let levels = scope.levels(*target);
                policy_covers(def, p, &pairs(&levels), &tokens) == Cover::Object
                    && items::held(&p.items, grantee).contains(*access)
            })
        })
        .map(|p| format!("policy `{}`", p.name))
        .collect()
}
