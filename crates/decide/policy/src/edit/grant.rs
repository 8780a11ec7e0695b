//! GRANT: privileges on objects for grantees, all of them or none.

use std::collections::BTreeSet;

use super::Actor;
use super::cover::{holds, not_delegated};
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::items::{self, Delegation};
use super::names::{check_grantee, check_text};
use super::record::{self, Label, LabelKind, ORIGIN, ORIGIN_GRANT, Record};
use super::scope::{GATE_ONE, Grantee, Scope, Validity};
use crate::model::{Policy, PolicyId, PolicyKind, Priority, ResourceMap, ValiditySchedule};
use crate::privilege::{ObjectClass, Plan, PlanError, Privilege, Step, StepTarget, WriteSet};

/// A privilege as written, upper-cased and single-spaced, with its column list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivilegeSpec {
    pub name: String,
    pub columns: Vec<String>,
}

impl PrivilegeSpec {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), columns: Vec::new() }
    }
}

/// Whether the levels above an object are opened for discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    #[default]
    With,
    /// `WITHOUT DISCOVERY`.
    Without,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrantOption {
    #[default]
    Without,
    /// `WITH GRANT OPTION`.
    With,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantEdit {
    pub privileges: Vec<PrivilegeSpec>,
    pub scopes: Vec<Scope>,
    pub grantees: Vec<Grantee>,
    pub grant_option: GrantOption,
    pub discovery: Discovery,
    pub validity: Option<Validity>,
    /// The setting `write_implies_read`.
    pub writes: WriteSet,
}

/// What is taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RevokeWhat {
    #[default]
    Privilege,
    /// `GRANT OPTION FOR`.
    GrantOption,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevokeEdit {
    pub what: RevokeWhat,
    pub privileges: Vec<PrivilegeSpec>,
    pub scopes: Vec<Scope>,
    pub grantees: Vec<Grantee>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenyEdit {
    pub privileges: Vec<PrivilegeSpec>,
    pub scopes: Vec<Scope>,
    pub grantees: Vec<Grantee>,
}

/// One privilege on one object, with the policies behind it.
pub(crate) struct Planned<'e> {
    pub(crate) scope: &'e Scope,
    pub(crate) plan: Plan,
}

/// The levels and values of a step's resource.
pub(crate) fn pairs<'l>(levels: &'l [(&'static str, String)]) -> Vec<(&'l str, &'l str)> {
    levels.iter().map(|(level, value)| (*level, value.as_str())).collect()
}

pub(crate) fn apply(draft: &mut Draft<'_>, edit: &GrantEdit, actor: &Actor, faults: &mut Faults) {
    let privileges = parse_privileges(&edit.privileges, faults);
    check_scopes(&edit.scopes, faults);
    let planned = plan_all(&privileges, &edit.scopes, edit.writes, faults);
    let grantees: Vec<Grantee> = edit.grantees.iter().map(Grantee::normal).collect();
    let n_known = grantees.iter().filter(|g| check_grantee(draft, g, faults)).count();
    if let Some(until) = edit.validity.and_then(|v| v.until())
        && until <= draft.now
    {
        faults.add(FaultKind::Invalid, "the validity is over already");
    }
    for planned in &planned {
        check_own_steps(draft, planned, actor, faults);
    }
    if !faults.is_empty() || n_known < grantees.len() {
        return;
    }
    for planned in &planned {
        if planned.plan.is_cut_short {
            draft.notice(cut_short_notice(planned));
        }
        for grantee in &grantees {
            write(draft, edit, planned, grantee, actor, faults);
        }
    }
}

pub(crate) fn parse_privileges(specs: &[PrivilegeSpec], faults: &mut Faults) -> Vec<Privilege> {
    let mut privileges = Vec::new();
    for spec in specs {
        if !spec.columns.is_empty() {
            faults.add_with_hint(
                FaultKind::Unsupported,
                format!("a column list after `{}` is not offered", spec.name),
                "grant the table, and hide columns by `CREATE POLICY … COLUMN MASK`",
            );
        }
        match Privilege::parse(&spec.name) {
            Ok(privilege) if !privileges.contains(&privilege) => privileges.push(privilege),
            Ok(_) => {}
            Err(unknown) => faults.add(FaultKind::Invalid, unknown.to_string()),
        }
    }
    privileges
}

/// A name with a wildcard in it would be written as a pattern, which is wider than the object named.
pub(crate) fn check_scopes(scopes: &[Scope], faults: &mut Faults) {
    for name in scopes.iter().flat_map(Scope::given_names) {
        check_text("object", name, faults);
    }
}

pub(crate) fn plan_all<'e>(
    privileges: &[Privilege],
    scopes: &'e [Scope],
    writes: WriteSet,
    faults: &mut Faults,
) -> Vec<Planned<'e>> {
    let mut all = Vec::new();
    for scope in scopes {
        for privilege in privileges {
            match privilege.plan(scope.class(), writes) {
                Ok(plan) => all.push(Planned { scope, plan }),
                Err(error) => refuse_plan(scope, error, faults),
            }
        }
    }
    all
}

fn refuse_plan(scope: &Scope, error: PlanError, faults: &mut Faults) {
    match error {
        PlanError::TooDeep { privilege, level } => {
            let wider = scope.name_at(StepTarget::Named(level));
            faults.add_with_hint(
                FaultKind::Invalid,
                format!(
                    "privilege `{privilege}` binds to the {level} level, but the statement names the {} `{scope}`; \
                     the policy would apply to `{wider}` and everything under it, which is wider than the object named",
                    scope.class().word(),
                ),
                format!(
                    "re-issue the statement against `{wider}`, or name a privilege that binds to the object you meant"
                ),
            );
        }
        PlanError::WrongClass { privilege, class } => {
            faults.add(FaultKind::Invalid, format!("a {} has no privilege `{privilege}`", class.word()));
        }
    }
}

pub(crate) fn cut_short_notice(planned: &Planned<'_>) -> String {
    let (privilege, scope) = (planned.plan.privilege, planned.scope);
    let level = privilege.level();
    let hint = match scope.class() {
        ObjectClass::Namespace => format!("; name a {level}, or `ALL TABLES IN SCHEMA {scope}`"),
        ObjectClass::Catalog | ObjectClass::Table | ObjectClass::View => format!("; name a {level}"),
    };
    format!(
        "`{privilege}` binds to the {level} level: on the {} `{scope}` it gives discovery only{hint}",
        scope.class().word()
    )
}

/// Whoever is no admin needs the grant option for every access type of the privilege itself.
pub(crate) fn check_own_steps(draft: &Draft<'_>, planned: &Planned<'_>, actor: &Actor, faults: &mut Faults) {
    for step in planned.plan.steps.iter().filter(|s| !s.is_traversal) {
        if !may_pass_on(draft, planned.scope, step, actor, &step.types) {
            faults.denied(format!("grant `{}` on `{}`", planned.plan.privilege, planned.scope));
        }
    }
}

/// Whether the actor may write these access types on the step's resource.
pub(crate) fn may_pass_on(
    draft: &Draft<'_>,
    scope: &Scope,
    step: &Step,
    actor: &Actor,
    types: &[&str],
) -> bool {
    let levels = scope.levels(step.target);
    let is_own = step.target == StepTarget::Named(scope.class().level()) && actor.owned.contains(scope);
    actor.is_admin() || not_delegated(draft, actor, GATE_ONE, &pairs(&levels), is_own, types).is_empty()
}

/// Writes every level of one privilege on one object for one grantee.
fn write(
    draft: &mut Draft<'_>,
    edit: &GrantEdit,
    planned: &Planned<'_>,
    grantee: &Grantee,
    actor: &Actor,
    faults: &mut Faults,
) {
    for step in &planned.plan.steps {
        if step.is_traversal {
            if edit.discovery == Discovery::With {
                write_traversal(draft, edit, planned, step, grantee, actor, faults);
            }
            continue;
        }
        let label = Label { grantee: grantee.clone(), privilege: planned.plan.privilege };
        let has_grant_option = edit.grant_option == GrantOption::With;
        let mut policy = policy_for(draft, planned.scope, step.target, edit.validity);
        let delegation = if has_grant_option { Delegation::Delegated } else { Delegation::None };
        items::add(&mut policy.items, grantee, &step.types, delegation);
        let has_read = planned.plan.privilege.is_write() && edit.writes == WriteSet::WithRead;
        let record = Record { at: draft.now, by: draft.by.to_owned(), has_grant_option, has_read };
        record::put_label(&mut policy, &label.text(LabelKind::Grant), record);
        draft.put_policy(policy);
    }
}

/// Opens a level above the object, unless the grantee sees it already.
pub(crate) fn write_traversal(
    draft: &mut Draft<'_>,
    edit: &GrantEdit,
    planned: &Planned<'_>,
    step: &Step,
    grantee: &Grantee,
    actor: &Actor,
    faults: &mut Faults,
) {
    let levels = planned.scope.levels(step.target);
    let levels = pairs(&levels);
    let is_held = step.types.iter().all(|access| {
        holds(draft, GATE_ONE, &levels, grantee, access)
            || (!actor.is_admin() && sees(draft, grantee, &levels, access))
    });
    let may = may_pass_on(draft, planned.scope, step, actor, &step.types);
    if !is_held && !may {
        refuse_missing_traversal(planned.scope, step, grantee, faults);
        return;
    }
    let record = Record { at: draft.now, by: draft.by.to_owned(), has_grant_option: false, has_read: false };
    if !is_held {
        let mut policy = policy_for(draft, planned.scope, step.target, edit.validity);
        items::add(&mut policy.items, grantee, &step.types, Delegation::None);
        record::put_traversal(&mut policy, grantee, &record);
        draft.put_policy(policy);
    } else if may && edit.validity.is_none() {
        // What is held here by another privilege must outlast that privilege's revocation.
        let found = sql_policy(draft, &planned.scope.policy_resources(step.target), None);
        if let Some(mut policy) = found.and_then(|id| draft.policies().find(|p| p.id == id).cloned())
            && step.types.iter().all(|t| items::held(&policy.items, grantee).contains(*t))
        {
            record::put_traversal(&mut policy, grantee, &record);
            draft.put_policy(policy);
        }
    }
}

/// Whether a user sees a level through any of her groups and roles.
fn sees(draft: &Draft<'_>, grantee: &Grantee, levels: &[(&str, &str)], access: &str) -> bool {
    let Grantee::User(name) = grantee else {
        return false;
    };
    let who = draft.before().membership(&crate::Principal::user(name.clone()));
    let groups = who.groups.iter().cloned().map(Grantee::Group);
    let roles = who.roles.iter().cloned().map(Grantee::Role);
    groups.chain(roles).any(|g| holds(draft, GATE_ONE, levels, &g, access))
}

fn refuse_missing_traversal(scope: &Scope, step: &Step, grantee: &Grantee, faults: &mut Faults) {
    let level = match step.target {
        StepTarget::Named(level) | StepTarget::Everything(level) => level,
    };
    let to = grantee.sql();
    let mut statements = vec![format!("`GRANT USAGE ON DATABASE {} TO {to}`", scope.catalog())];
    if let Some(namespace) = scope.namespace() {
        statements.push(format!("`GRANT USAGE ON SCHEMA {}.{namespace} TO {to}`", scope.catalog()));
    }
    faults.add_with_hint(
        FaultKind::Denied,
        format!(
            "{grantee} cannot see the {level} `{}`, and you may not grant that",
            scope.name_at(step.target)
        ),
        format!("have an admin run {}, or grant `WITHOUT DISCOVERY`", statements.join(" and ")),
    );
}

/// The policy that GRANT keeps for a resource, and for a validity if there is one.
fn policy_for(
    draft: &mut Draft<'_>,
    scope: &Scope,
    target: StepTarget,
    validity: Option<Validity>,
) -> Policy {
    let resources = scope.policy_resources(target);
    let schedule = validity.map(|v| v.schedule());
    let found = sql_policy(draft, &resources, schedule.as_ref());
    if let Some(policy) = found.and_then(|id| draft.policies().find(|p| p.id == id).cloned()) {
        return policy;
    }
    let name =
        format!("grant {}{}", scope.name_at(target), if validity.is_some() { " for a time" } else { "" });
    let mut policy = draft.new_policy(GATE_ONE, &name, PolicyKind::Access);
    policy.resources = resources;
    policy.validity.extend(schedule);
    policy.options.insert(ORIGIN.to_owned(), ORIGIN_GRANT.to_owned());
    policy
}

pub(crate) fn policy_for_deny(draft: &mut Draft<'_>, scope: &Scope, target: StepTarget) -> Policy {
    policy_for(draft, scope, target, None)
}

/// GRANT's own policy on exactly this resource.
pub(crate) fn sql_policy(
    draft: &Draft<'_>,
    resources: &ResourceMap,
    schedule: Option<&ValiditySchedule>,
) -> Option<PolicyId> {
    draft
        .policies()
        .filter(|p| p.options.get(ORIGIN).is_some_and(|origin| origin == ORIGIN_GRANT))
        .filter(|p| {
            p.is_enabled && p.priority == Priority::Normal && p.conditions.is_empty() && !p.is_deny_all_else
        })
        .filter(|p| p.zone.is_none() && p.additional_resources.is_empty())
        .find(|p| is_exactly(p, resources) && p.validity.iter().eq(schedule))
        .map(|p| p.id)
}

/// Whether an access policy of gate one names this resource and nothing else.
pub(crate) fn is_exactly(policy: &Policy, resources: &ResourceMap) -> bool {
    policy.service == GATE_ONE && policy.kind == PolicyKind::Access && policy.resources == *resources
}

/// Access types that a grantee's labels on this policy still need, those of `gone` aside.
pub(crate) fn needed_by_others(
    policy: &Policy,
    grantee: &Grantee,
    gone: Privilege,
    target: StepTarget,
    class: ObjectClass,
    counts: impl Fn(Option<&Record>) -> bool,
) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    for (text, privilege) in record::labels_of(policy, grantee, LabelKind::Grant) {
        let record = record::record_of(policy, &text);
        if privilege == gone || !counts(record.as_ref()) {
            continue;
        }
        let writes =
            if record.is_some_and(|r| r.has_read) { WriteSet::WithRead } else { WriteSet::WithoutRead };
        needed.extend(types_at(privilege, target, class, writes).into_iter().map(str::to_owned));
    }
    needed
}

/// What a privilege writes on a resource of this kind. A table and a view of one name share the resource, so that the
/// privilege's own class counts there, not the statement's.
pub(crate) fn types_at(
    privilege: Privilege,
    target: StepTarget,
    class: ObjectClass,
    writes: WriteSet,
) -> Vec<&'static str> {
    let class = match class {
        ObjectClass::Table | ObjectClass::View if privilege.for_class(class) == Some(privilege) => class,
        ObjectClass::Table => ObjectClass::View,
        ObjectClass::View => ObjectClass::Table,
        ObjectClass::Catalog | ObjectClass::Namespace => class,
    };
    let plan = privilege.plan(class, writes);
    let steps = plan.map(|p| p.steps).unwrap_or_default();
    steps.into_iter().filter(|s| s.target == target && !s.is_traversal).flat_map(|s| s.types).collect()
}
