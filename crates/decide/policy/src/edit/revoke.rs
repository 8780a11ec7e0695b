//! REVOKE: takes a privilege back, and nothing that another privilege of the same grantee still needs.
//!
//! Only the object's own level is touched. What was written above it for discovery is shared with every other grant in
//! the catalog, and goes by `REVOKE USAGE` alone.

use std::collections::BTreeSet;

use super::Actor;
use super::draft::Draft;
use super::error::Faults;
use super::grant::{
    Planned, RevokeEdit, RevokeWhat, check_scopes, is_exactly, may_pass_on, needed_by_others,
    parse_privileges, plan_all, types_at,
};
use super::items::{self, Taking};
use super::names::check_grantee;
use super::record::{self, LabelKind};
use super::scope::{Grantee, Scope};
use super::show;
use crate::model::{Policy, ResourceMap};
use crate::privilege::{Level, ObjectClass, Plan, Privilege, Step, StepTarget, WriteSet};

pub(crate) fn apply(draft: &mut Draft<'_>, edit: &RevokeEdit, actor: &Actor, faults: &mut Faults) {
    let privileges = parse_privileges(&edit.privileges, faults);
    check_scopes(&edit.scopes, faults);
    // ALL PRIVILEGES is whatever is held, so that it may be named at every level.
    let (all, single): (Vec<_>, Vec<_>) = privileges.into_iter().partition(|p| *p == Privilege::All);
    let planned = plan_all(&single, &edit.scopes, WriteSet::WithRead, faults);
    for planned in &planned {
        check_rights(draft, planned, actor, faults);
    }
    if !all.is_empty() && !actor.is_admin() {
        for scope in &edit.scopes {
            faults.denied(format!("revoke all privileges on `{scope}`"));
        }
    }
    if !faults.is_empty() {
        return;
    }
    for grantee in edit.grantees.iter().map(Grantee::normal) {
        for planned in &planned {
            let mut is_changed = false;
            for step in planned.plan.steps.iter().filter(|s| !s.is_traversal) {
                is_changed |= take_step(draft, edit.what, planned, step, &grantee, actor);
            }
            let (privilege, scope) = (planned.plan.privilege, planned.scope);
            conclude(draft, edit.what, &grantee, privilege, scope, is_changed, faults);
        }
        if !all.is_empty() {
            for scope in &edit.scopes {
                let is_changed = take_all(draft, edit.what, scope, &grantee);
                conclude(draft, edit.what, &grantee, Privilege::All, scope, is_changed, faults);
            }
        }
    }
}

fn check_rights(draft: &Draft<'_>, planned: &Planned<'_>, actor: &Actor, faults: &mut Faults) {
    for step in planned.plan.steps.iter().filter(|s| !s.is_traversal) {
        let types: Vec<&str> = types_at_least(planned, step);
        if !may_pass_on(draft, planned.scope, step, actor, &types) {
            faults.denied(format!("revoke `{}` on `{}`", planned.plan.privilege, planned.scope));
        }
    }
}

/// The access types of a step without those that only some settings add.
fn types_at_least(planned: &Planned<'_>, step: &Step) -> Vec<&'static str> {
    types_at(planned.plan.privilege, step.target, planned.scope.class(), WriteSet::WithoutRead)
}

/// Tells what did not happen, and what still stands.
fn conclude(
    draft: &mut Draft<'_>,
    what: RevokeWhat,
    grantee: &Grantee,
    privilege: Privilege,
    scope: &Scope,
    is_changed: bool,
    faults: &mut Faults,
) {
    let option = if what == RevokeWhat::GrantOption { "the grant option for " } else { "" };
    if !is_changed {
        if check_grantee(draft, grantee, faults) {
            draft.notice(format!("{grantee} does not hold {option}`{privilege}` on `{scope}`"));
        }
        return;
    }
    if what == RevokeWhat::Privilege {
        let by = show::still_held(draft, privilege, scope, grantee);
        if !by.is_empty() {
            draft.notice(format!("{grantee} still holds `{privilege}` on `{scope}` by {}", by.join(", ")));
        }
    }
}

/// Every access policy that names exactly this resource, whoever wrote it.
fn policies_on(draft: &Draft<'_>, resources: &ResourceMap) -> Vec<Policy> {
    let exact = |p: &&Policy| is_exactly(p, resources) && p.additional_resources.is_empty();
    draft.policies().filter(exact).cloned().collect()
}

/// Keeps a changed policy, or deletes it once nobody is named in it any more.
fn keep(draft: &mut Draft<'_>, policy: Policy) {
    let has_items = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions]
        .into_iter()
        .any(|items| !items.is_empty());
    if has_items || policy.is_deny_all_else {
        draft.put_policy(policy);
    } else {
        draft.delete_policy(policy.id);
    }
}

/// Takes one level of one privilege, wherever the resource is named; `true` if something was there to take.
fn take_step(
    draft: &mut Draft<'_>,
    what: RevokeWhat,
    planned: &Planned<'_>,
    step: &Step,
    grantee: &Grantee,
    actor: &Actor,
) -> bool {
    let mut is_changed = false;
    for policy in policies_on(draft, &planned.scope.policy_resources(step.target)) {
        let mut changed = policy.clone();
        match what {
            RevokeWhat::GrantOption => take_option(&mut changed, planned, step, grantee),
            RevokeWhat::Privilege => {
                take_privilege(&mut changed, planned, step, grantee);
                if actor.is_admin() {
                    take_denial(&mut changed, &planned.plan, step, grantee);
                }
            }
        }
        if changed != policy {
            is_changed = true;
            keep(draft, changed);
        }
    }
    is_changed
}

fn set(types: &[&str]) -> BTreeSet<String> {
    types.iter().map(|t| (*t).to_owned()).collect()
}

fn take_privilege(policy: &mut Policy, planned: &Planned<'_>, step: &Step, grantee: &Grantee) {
    let privilege = planned.plan.privilege;
    let labels = record::labels_of(policy, grantee, LabelKind::Grant);
    let own: Vec<&String> = labels.iter().filter(|(_, p)| *p == privilege).map(|(text, _)| text).collect();
    let has_read = own.iter().any(|text| record::record_of(policy, text).is_some_and(|r| r.has_read));
    let writes = if has_read { WriteSet::WithRead } else { WriteSet::WithoutRead };
    let class = planned.scope.class();
    let mut types = set(&types_at(privilege, step.target, class, writes));
    for kept in needed_by_others(policy, grantee, privilege, step.target, class, |_| true) {
        types.remove(&kept);
    }
    if privilege == Privilege::Usage {
        record::drop_traversal(policy, grantee);
    } else if record::traversal_of(policy, grantee).is_some() {
        for access in discovery(step.target) {
            types.remove(*access);
        }
    }
    // A privilege that some tool gave without a label goes by its access types.
    items::take(&mut policy.items, grantee, Taking::These(&types));
    for text in own {
        record::drop_label(policy, text);
    }
}

/// The access types by which a level is seen.
fn discovery(target: StepTarget) -> &'static [&'static str] {
    match target {
        StepTarget::Named(Level::Catalog) => &["namespace-list"],
        StepTarget::Named(Level::Namespace) => &["namespace-list", "namespace-properties-read"],
        StepTarget::Named(Level::Table) | StepTarget::Everything(_) => &[],
    }
}

/// Takes the denial that DENY of the same privilege writes.
fn take_denial(policy: &mut Policy, plan: &Plan, step: &Step, grantee: &Grantee) {
    let labels = record::labels_of(policy, grantee, LabelKind::Deny);
    let others: Vec<Privilege> = labels.iter().map(|(_, p)| *p).filter(|p| *p != plan.privilege).collect();
    let together: Vec<Privilege> = others.iter().copied().chain([plan.privilege]).collect();
    let mut types = set(&plan.privilege.denied(step, &together));
    for other in &others {
        let Ok(other_plan) = other.plan(class_of(step.target, *other), WriteSet::WithoutRead) else {
            continue;
        };
        for step in other_plan.steps.iter().filter(|s| s.target == step.target && !s.is_traversal) {
            for kept in other.denied(step, &others) {
                types.remove(kept);
            }
        }
    }
    items::take(&mut policy.deny_items, grantee, Taking::These(&types));
    for (text, _) in labels.iter().filter(|(_, p)| *p == plan.privilege) {
        record::drop_label(policy, text);
    }
}

/// The class of object by which a privilege is written on a resource of this kind.
fn class_of(target: StepTarget, privilege: Privilege) -> ObjectClass {
    match target {
        StepTarget::Named(Level::Catalog) | StepTarget::Everything(_) => ObjectClass::Catalog,
        StepTarget::Named(Level::Namespace) => ObjectClass::Namespace,
        StepTarget::Named(Level::Table) => match privilege.for_class(ObjectClass::Table) {
            Some(_) => ObjectClass::Table,
            None => ObjectClass::View,
        },
    }
}

fn take_option(policy: &mut Policy, planned: &Planned<'_>, step: &Step, grantee: &Grantee) {
    let privilege = planned.plan.privilege;
    let class = planned.scope.class();
    let mut types = set(&step.types);
    let with_option = |r: Option<&record::Record>| r.is_some_and(|r| r.has_grant_option);
    for kept in needed_by_others(policy, grantee, privilege, step.target, class, with_option) {
        types.remove(&kept);
    }
    items::take_delegation(&mut policy.items, grantee, &types);
    for (text, _) in
        record::labels_of(policy, grantee, LabelKind::Grant).iter().filter(|(_, p)| *p == privilege)
    {
        if let Some(old) = record::record_of(policy, text) {
            record::put_record(policy, text, &record::Record { has_grant_option: false, ..old });
        }
    }
}

/// Takes everything that the grantee holds or is denied on exactly this object; on a catalog also what ALL wrote below
/// it.
fn take_all(draft: &mut Draft<'_>, what: RevokeWhat, scope: &Scope, grantee: &Grantee) -> bool {
    let mut is_changed = false;
    let own = scope.policy_resources(StepTarget::Named(scope.class().level()));
    for policy in policies_on(draft, &own) {
        is_changed |= take_from(draft, what, policy, grantee);
    }
    if matches!(scope, Scope::Catalog { .. }) {
        is_changed |= take_all_below(draft, what, scope, grantee);
    }
    is_changed
}

/// Takes what ALL wrote on everything in a catalog.
fn take_all_below(draft: &mut Draft<'_>, what: RevokeWhat, scope: &Scope, grantee: &Grantee) -> bool {
    let mut is_changed = false;
    for level in [Level::Namespace, Level::Table] {
        for policy in policies_on(draft, &scope.policy_resources(StepTarget::Everything(level))) {
            // Only what a label says came from here; the rest was written for these resources themselves.
            let is_labelled = [LabelKind::Grant, LabelKind::Deny]
                .iter()
                .any(|k| !record::labels_of(&policy, grantee, *k).is_empty());
            if !is_labelled {
                continue;
            }
            is_changed |= take_from(draft, what, policy, grantee);
        }
    }
    is_changed
}

/// Takes all that one policy says of the grantee, and tells whether that was anything.
fn take_from(draft: &mut Draft<'_>, what: RevokeWhat, policy: Policy, grantee: &Grantee) -> bool {
    let mut changed = policy.clone();
    match what {
        RevokeWhat::GrantOption => take_every_option(&mut changed, grantee),
        RevokeWhat::Privilege => take_everything(&mut changed, grantee),
    }
    let is_changed = changed != policy;
    if is_changed {
        keep(draft, changed);
    }
    is_changed
}

fn take_everything(policy: &mut Policy, grantee: &Grantee) {
    let lists = [
        &mut policy.items,
        &mut policy.deny_items,
        &mut policy.allow_exceptions,
        &mut policy.deny_exceptions,
    ];
    for list in lists {
        items::take(list, grantee, Taking::All);
    }
    for kind in [LabelKind::Grant, LabelKind::Deny] {
        for (text, _) in record::labels_of(policy, grantee, kind) {
            record::drop_label(policy, &text);
        }
    }
    record::drop_traversal(policy, grantee);
}

fn take_every_option(policy: &mut Policy, grantee: &Grantee) {
    let held = items::held(&policy.items, grantee);
    items::take_delegation(&mut policy.items, grantee, &held);
    for (text, _) in record::labels_of(policy, grantee, LabelKind::Grant) {
        if let Some(old) = record::record_of(policy, &text) {
            record::put_record(policy, &text, &record::Record { has_grant_option: false, ..old });
        }
    }
}
