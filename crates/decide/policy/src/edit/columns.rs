//! GRANT SELECT on a column list: the table at gate one, and at gate two no column but those (L10).
//!
//! Each grantee has a policy of her own for a table. What it says of columns is in its pins, by field id where the
//! table has such, so that it follows a column's name and gives no later column of that name.

use super::Actor;
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::grant::{
    Discovery, GrantEdit, GrantOption, Planned, PrivilegeSpec, check_own_steps, check_scopes, write_traversal,
};
use super::items::{self, Delegation};
use super::names::check_grantee;
use super::pins::{self, Pins};
use super::policy::ColumnRef;
use super::record::{self, Label, LabelKind, ORIGIN, ORIGIN_COLUMNS, Record};
use super::scope::{GATE_ONE, Grantee, Scope, Validity};
use crate::FieldOf;
use crate::model::{Policy, PolicyKind};
use crate::privilege::{Privilege, Step, WriteSet};

/// Columns of one table or view that grantees may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnGrant {
    pub scope: Scope,
    pub uuid: Option<String>,
    pub columns: Vec<ColumnRef>,
    pub grantees: Vec<Grantee>,
    pub discovery: Discovery,
    pub validity: Option<Validity>,
}

pub(crate) fn grant(draft: &mut Draft<'_>, grant: &ColumnGrant, actor: &Actor, faults: &mut Faults) {
    check_scopes(std::slice::from_ref(&grant.scope), faults);
    if let Some(until) = grant.validity.and_then(|v| v.until())
        && until <= draft.now
    {
        faults.add(FaultKind::Invalid, "the validity is over already");
    }
    let grantees: Vec<Grantee> = grant.grantees.iter().map(Grantee::normal).collect();
    for grantee in &grantees {
        check_grantee(draft, grantee, faults);
    }
    let Ok(plan) = Privilege::Select.plan(grant.scope.class(), WriteSet::WithoutRead) else {
        faults.add(FaultKind::Invalid, format!("a {} has no columns", grant.scope.class().word()));
        return;
    };
    let planned = Planned { scope: &grant.scope, plan };
    check_own_steps(draft, &planned, actor, faults);
    if !faults.is_empty() {
        return;
    }
    // What opens the levels above is the same as for the whole table.
    let edit = GrantEdit {
        privileges: vec![PrivilegeSpec::new("SELECT")],
        scopes: vec![grant.scope.clone()],
        grantees: grantees.clone(),
        grant_option: GrantOption::Without,
        discovery: grant.discovery,
        validity: grant.validity,
        writes: WriteSet::WithoutRead,
    };
    for grantee in &grantees {
        for step in &planned.plan.steps {
            if !step.is_traversal {
                write(draft, grant, step, grantee);
            } else if grant.discovery == Discovery::With {
                write_traversal(draft, &edit, &planned, step, grantee, actor, faults);
            }
        }
    }
}

fn write(draft: &mut Draft<'_>, grant: &ColumnGrant, step: &Step, grantee: &Grantee) {
    let resources = grant.scope.policy_resources(step.target);
    let schedule = grant.validity.map(|validity| validity.schedule());
    let found = of_grantee(draft, grantee)
        .find(|policy| policy.resources == resources && policy.validity.iter().eq(schedule.as_ref()))
        .cloned();
    let mut policy = found.unwrap_or_else(|| {
        let name = format!("grant columns of {} to {grantee}", grant.scope);
        let mut policy = draft.new_policy(GATE_ONE, &name, PolicyKind::Access);
        policy.resources = resources;
        policy.validity.extend(schedule);
        policy.options.insert(ORIGIN.to_owned(), ORIGIN_COLUMNS.to_owned());
        policy
    });
    items::add(&mut policy.items, grantee, &step.types, Delegation::None);
    let label = Label { grantee: grantee.clone(), privilege: Privilege::Select };
    let record = Record { at: draft.now, by: draft.by.to_owned(), has_grant_option: false, has_read: false };
    record::put_label(&mut policy, &label.text(LabelKind::Grant), record);
    let mut pinned = pins::pins(&policy);
    if pinned.table_uuid != grant.uuid {
        // What was granted of another table of the name has that table's numbers; of this one it gives names alone.
        pinned.columns.iter_mut().for_each(|column| column.field_id = None);
    }
    pinned.table_uuid.clone_from(&grant.uuid);
    for column in &grant.columns {
        if !pinned.columns.contains(column) {
            pinned.columns.push(column.clone());
        }
    }
    pins::set_pins(&mut policy, &pinned);
    draft.put_policy(policy);
}

/// The policies by which a grantee holds columns.
fn of_grantee<'d>(draft: &'d Draft<'_>, grantee: &Grantee) -> impl Iterator<Item = &'d Policy> {
    let grantee = grantee.clone();
    draft
        .policies()
        .filter(|policy| is_of_columns(policy))
        .filter(move |policy| policy.items.iter().any(|item| items::names(item, &grantee)))
}

/// Whether a column list in GRANT made a policy.
pub(crate) fn is_of_columns(policy: &Policy) -> bool {
    policy.service == GATE_ONE && policy.options.get(ORIGIN).is_some_and(|origin| origin == ORIGIN_COLUMNS)
}

/// Takes a column of a table from a grantee; `true` if it was there to take.
pub(crate) fn take(
    draft: &mut Draft<'_>,
    (scope, uuid): (&Scope, Option<&str>),
    column: &ColumnRef,
    grantee: &Grantee,
    actor: &Actor,
    faults: &mut Faults,
) -> bool {
    let own = uuid.zip(column.field_id).map(|(table_uuid, field_id)| FieldOf { table_uuid, field_id });
    let target = crate::privilege::StepTarget::Named(scope.class().level());
    let resources = scope.policy_resources(target);
    let held: Vec<Policy> =
        of_grantee(draft, grantee).filter(|policy| policy.resources == resources).cloned().collect();
    let mut is_taken = false;
    for mut policy in held {
        let pinned = pins::pins(&policy);
        let is_it = |held: &ColumnRef| is_column(held, pinned.table_uuid.as_deref(), &column.name, own);
        let (gone, kept): (Vec<ColumnRef>, Vec<ColumnRef>) = pinned.columns.iter().cloned().partition(is_it);
        if gone.is_empty() {
            continue;
        }
        if !actor.is_admin() {
            faults.denied(format!("take granted columns of {scope} back"));
            return false;
        }
        is_taken = true;
        if kept.is_empty() {
            draft.delete_policy(policy.id);
        } else {
            pins::set_pins(&mut policy, &Pins { columns: kept, ..pinned });
            draft.put_policy(policy);
        }
    }
    is_taken
}

/// Whether a granted column is this one: by its number in the very table that it was granted of, else by name. Another
/// table of the name has numbers of its own.
pub(crate) fn is_column(
    granted: &ColumnRef,
    table_uuid: Option<&str>,
    name: &str,
    own: Option<FieldOf<'_>>,
) -> bool {
    match (granted.field_id, own) {
        (Some(granted), Some(own)) if table_uuid == Some(own.table_uuid) => granted == own.field_id,
        _ => granted.name.eq_ignore_ascii_case(name),
    }
}

#[cfg(test)]
mod tests;
