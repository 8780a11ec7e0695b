//! CREATE, ALTER and DROP POLICY: masks and row filters of gate two.

mod clash;
mod create;

use std::collections::BTreeSet;

use super::Actor;
use super::cover::not_delegated;
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::identity::items_of;
use super::items::grantees;
use super::names::{check_grantee, check_text};
use super::pins::{self, AUTHOR};
use super::scope::{Grantee, Validity};
use crate::Snapshot;
use crate::model::{MaskItem, Policy, PolicyKind, Priority, ResourceMap};

pub(crate) use create::create;

/// A column by its name, and by its field id where the relation has such.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnRef {
    pub name: String,
    pub field_id: Option<i32>,
}

/// An expression that was checked against its relation, with what it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedExpr {
    pub text: String,
    pub columns: Vec<ColumnRef>,
    pub functions: Vec<String>,
    pub tables: Vec<String>,
    /// See [`Pins::reads`](super::Pins::reads).
    pub reads: Vec<String>,
}

/// What a policy protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyTarget {
    /// A table or view; `database` is the full dotted namespace.
    Relation {
        service: String,
        database: String,
        table: String,
        uuid: Option<String>,
    },
    Tag(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyBody {
    Mask { mask_type: String, columns: Vec<ColumnRef>, using: Option<CheckedExpr> },
    Filter { using: CheckedExpr },
}

/// What to do if the name is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CreateMode {
    #[default]
    Create,
    OrReplace,
    IfNotExists,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyEdit {
    pub name: String,
    pub mode: CreateMode,
    pub target: PolicyTarget,
    pub body: PolicyBody,
    pub grantees: Vec<Grantee>,
    /// Grantees whom the policy passes over.
    pub except: Vec<Grantee>,
    pub priority: Priority,
    pub validity: Option<Validity>,
    pub comment: Option<String>,
}

/// What ALTER POLICY does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyAction {
    Enable,
    Disable,
    RenameTo(String),
    SetComment(String),
    SetUsing(CheckedExpr),
    SetPriority(Priority),
    /// The policy no longer names this table, which must not be its only one.
    ForgetName {
        table: String,
    },
    /// Pins the policy anew to the table that stands under its name, with the field ids of that table's columns.
    Rebind {
        uuid: Option<String>,
        columns: Vec<ColumnRef>,
    },
}

/// Whether the actor may write policies for a table of a gate-two service: as admin, or by the grant option on that
/// table in that service.
pub fn may_write_policies(
    snapshot: &Snapshot,
    actor: &Actor,
    service: &str,
    database: &str,
    table: &str,
) -> bool {
    let draft = Draft::new(snapshot, &actor.membership.user, stdx::Timestamp::default());
    may_write(&draft, actor, service, database, table, &["*"])
}

/// The access types that masks and filters of a service are written for.
fn accesses<'d>(draft: &Draft<'d>, service: &str, kind: PolicyKind) -> Vec<&'d str> {
    let Some(def) = draft.def(service) else {
        return Vec::new();
    };
    let types = match kind {
        PolicyKind::Mask => &def.mask_access_types,
        PolicyKind::RowFilter => &def.filter_access_types,
        PolicyKind::Access | PolicyKind::Audit => return Vec::new(),
    };
    types.iter().map(String::as_str).collect()
}

pub(crate) fn may_write(
    draft: &Draft<'_>,
    actor: &Actor,
    service: &str,
    database: &str,
    table: &str,
    columns: &[&str],
) -> bool {
    let types = accesses(draft, service, PolicyKind::RowFilter);
    actor.is_admin()
        || (!types.is_empty()
            && columns.iter().all(|column| {
                let levels = [("database", database), ("table", table), ("column", *column)];
                not_delegated(draft, actor, service, &levels, false, &types).is_empty()
            }))
}

/// Whether the actor may write a policy that is there already, on every table that it names.
pub(crate) fn may_write_existing(draft: &Draft<'_>, actor: &Actor, policy: &Policy) -> bool {
    let values =
        |map: &ResourceMap, level: &str| map.get(level).map(|v| v.values.clone()).unwrap_or_default();
    let mut maps = std::iter::once(&policy.resources).chain(&policy.additional_resources);
    actor.is_admin()
        || maps.all(|map| {
            let (databases, tables) = (values(map, "database"), values(map, "table"));
            let columns =
                if policy.kind == PolicyKind::Mask { values(map, "column") } else { vec!["*".to_owned()] };
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            !databases.is_empty()
                && !tables.is_empty()
                && databases
                    .iter()
                    .all(|d| tables.iter().all(|t| may_write(draft, actor, &policy.service, d, t, &columns)))
        })
}

/// A mask or filter by its name. To somebody who may not write it, it is not there.
fn find(draft: &Draft<'_>, name: &str, actor: &Actor, faults: &mut Faults) -> Option<Policy> {
    let policy = draft.policy_named(name).filter(|p| may_write_existing(draft, actor, p)).cloned();
    match policy {
        None => {
            faults.add(FaultKind::NotFound, format!("no such policy `{name}`"));
            None
        }
        Some(policy) if !is_gate_two(&policy) => {
            faults.add_with_hint(
                FaultKind::Invalid,
                format!("policy `{name}` is no mask and no row filter"),
                "change it by `GRANT`, `REVOKE` and `DENY`",
            );
            None
        }
        Some(policy) => Some(policy),
    }
}

fn is_gate_two(policy: &Policy) -> bool {
    matches!(policy.kind, PolicyKind::Mask | PolicyKind::RowFilter)
}

pub(crate) fn drop(draft: &mut Draft<'_>, name: &str, if_exists: bool, actor: &Actor, faults: &mut Faults) {
    let is_there = draft.policy_named(name).is_some_and(|p| may_write_existing(draft, actor, p));
    if !is_there && if_exists {
        draft.notice(format!("no such policy `{name}`, skipped"));
    } else if let Some(policy) = find(draft, name, actor, faults) {
        draft.delete_policy(policy.id);
    }
}

pub(crate) fn alter(
    draft: &mut Draft<'_>,
    name: &str,
    action: &PolicyAction,
    actor: &Actor,
    faults: &mut Faults,
) {
    let Some(mut policy) = find(draft, name, actor, faults) else {
        return;
    };
    match action {
        PolicyAction::Enable => policy.is_enabled = true,
        PolicyAction::Disable => policy.is_enabled = false,
        PolicyAction::RenameTo(to) => rename(draft, &mut policy, to, faults),
        PolicyAction::SetComment(text) => policy.description.clone_from(text),
        PolicyAction::SetUsing(expr) => set_using(&mut policy, expr, faults),
        PolicyAction::SetPriority(priority) => policy.priority = *priority,
        PolicyAction::ForgetName { table } => forget(&mut policy, table, faults),
        PolicyAction::Rebind { uuid, columns } => rebind(&mut policy, uuid.as_deref(), columns),
    }
    if *action != PolicyAction::Disable {
        clash::tell(draft, &policy);
    }
    policy.options.insert(AUTHOR.to_owned(), draft.by.to_owned());
    draft.put_policy(policy);
}

/// Puts an earlier version back, as a new version: its number goes on counting from the newest.
pub(crate) fn restore(draft: &mut Draft<'_>, earlier: &Policy, actor: &Actor, faults: &mut Faults) {
    let current = draft.policies().find(|p| p.id == earlier.id).cloned();
    let may = |p: &Policy| actor.is_admin() || (is_gate_two(p) && may_write_existing(draft, actor, p));
    if !may(earlier) || !current.as_ref().is_none_or(may) {
        faults.add(FaultKind::NotFound, format!("no such policy `{}`", earlier.name));
        return;
    }
    if draft.policy_named(&earlier.name).is_some_and(|p| p.id != earlier.id) {
        faults.add(FaultKind::Exists, format!("another policy has the name `{}` now", earlier.name));
    }
    if draft.def(&earlier.service).is_none() {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", earlier.service));
    }
    let named: BTreeSet<Grantee> = items_of(earlier).flat_map(grantees).collect();
    for grantee in named.iter().filter(|g| !g.name().starts_with('{')) {
        check_grantee(draft, grantee, faults);
    }
    let newest = current.as_ref().unwrap_or(earlier);
    let mut policy = Policy {
        version: newest.version,
        updated_by: newest.updated_by.clone(),
        updated_at: newest.updated_at,
        ..earlier.clone()
    };
    super::rename::keep_names(&mut policy, newest);
    clash::tell(draft, &policy);
    draft.put_policy(policy);
}

fn rename(draft: &Draft<'_>, policy: &mut Policy, to: &str, faults: &mut Faults) {
    check_text("policy", to, faults);
    match draft.policy_named(to) {
        Some(other) if other.id != policy.id => {
            faults.add(FaultKind::Exists, format!("policy `{}` is present", other.name));
        }
        Some(_) | None => to.clone_into(&mut policy.name),
    }
}

/// Puts another expression in place of the one that the policy has, for all whom it does not pass over.
fn set_using(policy: &mut Policy, expr: &CheckedExpr, faults: &mut Faults) {
    let mut n_set = 0_usize;
    for item in policy.filter_items.iter_mut().filter(|i| !create::is_exempting_filter(&i.filter_expr)) {
        item.filter_expr.clone_from(&expr.text);
        n_set += 1;
    }
    let has_text = |item: &&mut MaskItem| create::has_text(&item.mask.mask_type);
    for item in policy.mask_items.iter_mut().filter(has_text) {
        item.mask.value_expr = Some(expr.text.clone());
        n_set += 1;
    }
    if n_set == 0 {
        faults.add(FaultKind::Invalid, format!("policy `{}` has no expression", policy.name));
    }
    let mut pins = pins::pins(policy);
    create::pin_expr(&mut pins, expr);
    pins::set_pins(policy, &pins);
}

fn forget(policy: &mut Policy, table: &str, faults: &mut Faults) {
    let tables = |p: &Policy| -> Vec<String> {
        let maps = std::iter::once(&p.resources).chain(&p.additional_resources);
        maps.filter_map(|m| m.get("table")).flat_map(|v| v.values.clone()).collect()
    };
    let named = tables(policy);
    if !named.iter().any(|t| t == table) {
        faults.add(FaultKind::NotFound, format!("policy `{}` names no table `{table}`", policy.name));
        return;
    }
    if named.iter().all(|t| t == table) {
        faults.add_with_hint(
            FaultKind::Invalid,
            format!("policy `{}` would name no table", policy.name),
            "drop the policy instead",
        );
        return;
    }
    let without = |map: &mut ResourceMap| {
        let Some(values) = map.get_mut("table") else {
            return true;
        };
        values.values.retain(|v| v != table);
        !values.values.is_empty()
    };
    policy.additional_resources.retain_mut(without);
    if !without(&mut policy.resources) && !policy.additional_resources.is_empty() {
        policy.resources = policy.additional_resources.remove(0);
    }
}

fn rebind(policy: &mut Policy, uuid: Option<&str>, columns: &[ColumnRef]) {
    let mut pins = pins::pins(policy);
    pins.table_uuid = uuid.map(str::to_owned);
    for pinned in pins.columns.iter_mut().chain(&mut pins.needs) {
        let now = columns.iter().find(|c| c.name.eq_ignore_ascii_case(&pinned.name));
        pinned.field_id = now.and_then(|c| c.field_id);
    }
    pins::set_pins(policy, &pins);
}
