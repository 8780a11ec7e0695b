//! DENY: takes a privilege away from a grantee whatever else gives it to her.

use super::Actor;
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::grant::{DenyEdit, Planned, check_scopes, parse_privileges, plan_all, policy_for_deny};
use super::items::{self, Delegation};
use super::names::check_grantee;
use super::record::{self, Label, LabelKind, Record};
use super::scope::{ADMIN, Grantee};
use crate::privilege::{Privilege, StepTarget, WriteSet};

/// Admins only: a denial reaches past everything that the object's owner could grant.
pub(crate) fn apply(draft: &mut Draft<'_>, edit: &DenyEdit, actor: &Actor, faults: &mut Faults) {
    if !actor.is_admin() {
        faults.denied("deny a privilege");
        return;
    }
    let privileges = parse_privileges(&edit.privileges, faults);
    check_scopes(&edit.scopes, faults);
    let planned = plan_all(&privileges, &edit.scopes, WriteSet::WithoutRead, faults);
    let grantees: Vec<Grantee> = edit.grantees.iter().map(Grantee::normal).collect();
    for grantee in &grantees {
        check_grantee(draft, grantee, faults);
        if *grantee == Grantee::Role(ADMIN.to_owned()) {
            faults.add(
                FaultKind::Invalid,
                format!("a denial to the role `{ADMIN}` would lock every admin out"),
            );
        }
    }
    let denied = denied_types(&planned, &privileges, faults);
    if !faults.is_empty() {
        return;
    }
    for grantee in grantees.iter().filter(|g| is_member(actor, g)) {
        draft.notice(format!("the denial to {grantee} holds for you as well"));
    }
    for (planned, steps) in planned.iter().zip(denied) {
        tell_what_goes_along(draft, planned.plan.privilege, &privileges);
        for grantee in &grantees {
            for (target, types) in &steps {
                let mut policy = policy_for_deny(draft, planned.scope, *target);
                items::add(&mut policy.deny_items, grantee, types, Delegation::None);
                let label = Label { grantee: grantee.clone(), privilege: planned.plan.privilege };
                let by = draft.by.to_owned();
                let record = Record { at: draft.now, by, has_grant_option: false, has_read: false };
                record::put_label(&mut policy, &label.text(LabelKind::Deny), record);
                draft.put_policy(policy);
            }
        }
    }
}

fn is_member(actor: &Actor, grantee: &Grantee) -> bool {
    let who = &actor.membership;
    match grantee {
        Grantee::User(name) => *name == who.user,
        Grantee::Role(name) => who.roles.contains(name),
        Grantee::Group(name) => who.groups.contains(name),
        Grantee::Public => true,
    }
}

type Denied = Vec<(StepTarget, Vec<&'static str>)>;

/// The access types that each privilege loses on its own level, those left out that others need.
fn denied_types(planned: &[Planned<'_>], privileges: &[Privilege], faults: &mut Faults) -> Vec<Denied> {
    let mut all = Vec::new();
    for planned in planned {
        let (privilege, scope) = (planned.plan.privilege, planned.scope);
        if planned.plan.is_cut_short {
            faults.add_with_hint(
                FaultKind::Invalid,
                format!(
                    "privilege `{privilege}` binds to the {} level; denied on the {} `{scope}` it would hide that, \
                     and deny nothing in it",
                    privilege.level(),
                    scope.class().word()
                ),
                "deny it on a table, or on `ALL TABLES IN SCHEMA …`",
            );
            continue;
        }
        // A view's privileges stand for the ones that the statement names.
        let mut named: Vec<Privilege> =
            privileges.iter().filter_map(|p| p.for_class(scope.class())).collect();
        named.extend(privileges);
        let own = planned.plan.steps.iter().filter(|s| !s.is_traversal);
        let steps: Denied = own.map(|s| (s.target, privilege.denied(s, &named))).collect();
        if steps.iter().all(|(_, types)| types.is_empty()) {
            faults.add(
                FaultKind::Invalid,
                format!("every access type of `{privilege}` is needed by other privileges, so that it cannot be denied"),
            );
        }
        all.push(steps.into_iter().filter(|(_, types)| !types.is_empty()).collect());
    }
    all
}

/// The privileges that write cannot be told apart by access type, so that one is not denied without the others.
fn tell_what_goes_along(draft: &mut Draft<'_>, privilege: Privilege, named: &[Privilege]) {
    let others: Vec<&str> = Privilege::EVERY
        .into_iter()
        .filter(|p| privilege.is_write() && p.is_write() && !named.contains(p))
        .map(Privilege::name)
        .collect();
    if !others.is_empty() {
        let others = others.join(", ");
        draft
            .notice(format!("`{privilege}` has the same access types as {others}, which are denied with it"));
    }
}
