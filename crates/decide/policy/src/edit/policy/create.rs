//! CREATE POLICY: checks what the statement says, and writes one mask or filter policy.

use super::super::Actor;
use super::super::draft::Draft;
use super::super::error::{FaultKind, Faults};
use super::super::items::set_grantees;
use super::super::names::{check_grantee, check_text};
use super::super::pins::{self, AUTHOR, Pins};
use super::super::record::{ORIGIN, ORIGIN_POLICY};
use super::super::scope::Grantee;
use super::{
    CheckedExpr, CreateMode, PolicyBody, PolicyEdit, PolicyTarget, accesses, clash, is_gate_two, may_write,
    may_write_existing,
};
use crate::defs::{needs_number, takes_number};
use crate::model::{
    Access, FilterItem, Item, MaskInfo, MaskItem, Policy, PolicyKind, ResourceMap, ResourceValues, ServiceDef,
};

/// The mask type with an expression of its own.
const CUSTOM: &str = "CUSTOM";
/// The mask type that exempts.
pub(super) const MASK_NONE: &str = "MASK_NONE";
/// The filter that lets every row through, for those whom a filter policy passes over.
const EVERY_ROW: &str = "true";

/// Whether a mask of this type has what follows `USING`.
pub(super) fn has_text(mask_type: &str) -> bool {
    mask_type == CUSTOM || takes_number(mask_type)
}

pub(super) fn is_exempting_filter(expr: &str) -> bool {
    expr.is_empty() || expr == EVERY_ROW
}

struct Relation<'e> {
    service: &'e str,
    database: &'e str,
    table: &'e str,
    uuid: Option<&'e str>,
}

pub(crate) fn create(draft: &mut Draft<'_>, edit: &PolicyEdit, actor: &Actor, faults: &mut Faults) {
    let (service, database, table, uuid) = match &edit.target {
        PolicyTarget::Relation { service, database, table, uuid } => {
            (service, database, table, uuid.as_deref())
        }
        PolicyTarget::Tag(tag) => {
            if !actor.is_admin() {
                faults.denied("write policies");
            }
            faults.add(FaultKind::Unsupported, format!("policies on tags, such as `{tag}`, are not offered"));
            return;
        }
    };
    let relation = Relation { service, database, table, uuid };
    let columns: Vec<&str> = match &edit.body {
        PolicyBody::Mask { columns, .. } => columns.iter().map(|c| c.name.as_str()).collect(),
        PolicyBody::Filter { .. } => vec!["*"],
    };
    if !may_write(draft, actor, service, database, table, &columns) {
        faults.denied(format!("write policies on `{database}.{table}`"));
        return;
    }
    check(draft, edit, &relation, faults);
    let kind = match &edit.body {
        PolicyBody::Mask { .. } => PolicyKind::Mask,
        PolicyBody::Filter { .. } => PolicyKind::RowFilter,
    };
    let Some(place) = place(draft, edit, service, kind, actor, faults) else {
        return;
    };
    if !faults.is_empty() {
        return;
    }
    let mut policy = match place {
        Place::Over(old) => emptied(*old, edit, draft),
        Place::New { instead_of } => {
            if let Some(old) = instead_of {
                draft.delete_policy(old);
            }
            draft.new_policy(service, &edit.name, kind)
        }
    };
    fill(draft, &mut policy, edit, &relation);
    clash::tell(draft, &policy);
    draft.put_policy(policy);
}

/// Where the policy goes.
enum Place {
    New { instead_of: Option<crate::model::PolicyId> },
    Over(Box<Policy>),
}

/// Looks the name up over all services. `None` with no fault: the policy is there, and stays.
fn place(
    draft: &mut Draft<'_>,
    edit: &PolicyEdit,
    service: &str,
    kind: PolicyKind,
    actor: &Actor,
    faults: &mut Faults,
) -> Option<Place> {
    let Some(old) = draft.policy_named(&edit.name).cloned() else {
        return Some(Place::New { instead_of: None });
    };
    match edit.mode {
        CreateMode::Create => {
            faults.add_with_hint(
                FaultKind::Exists,
                format!("policy `{}` is present", old.name),
                "use `CREATE OR REPLACE POLICY`",
            );
            None
        }
        CreateMode::IfNotExists => {
            draft.notice(format!("policy `{}` is present, skipped", old.name));
            None
        }
        CreateMode::OrReplace if !may_write_existing(draft, actor, &old) => {
            faults.denied(format!("replace the policy `{}`", old.name));
            None
        }
        CreateMode::OrReplace if !is_gate_two(&old) => {
            faults.add(FaultKind::Invalid, format!("policy `{}` is no mask and no row filter", old.name));
            None
        }
        // A policy never changes its service or kind, so that plugins need not look for it elsewhere.
        CreateMode::OrReplace if old.service != service || old.kind != kind => {
            Some(Place::New { instead_of: Some(old.id) })
        }
        CreateMode::OrReplace => Some(Place::Over(Box::new(old))),
    }
}

/// The old policy without what the statement says anew.
fn emptied(old: Policy, edit: &PolicyEdit, draft: &mut Draft<'_>) -> Policy {
    if old.options.get(ORIGIN).is_none_or(|origin| origin != ORIGIN_POLICY) {
        draft.notice(format!(
            "policy `{}` was not made by `CREATE POLICY`; everything that it said is replaced",
            edit.name
        ));
    }
    let mut policy = Policy::new(old.service, edit.name.clone(), old.kind);
    policy.id = old.id;
    policy.guid = old.guid;
    policy.version = old.version;
    policy.created_by = old.created_by;
    policy.created_at = old.created_at;
    policy.updated_by = old.updated_by;
    policy.updated_at = old.updated_at;
    policy.labels = old.labels;
    policy.zone = old.zone;
    policy
}

fn check(draft: &Draft<'_>, edit: &PolicyEdit, relation: &Relation<'_>, faults: &mut Faults) {
    check_text("policy", &edit.name, faults);
    for name in [relation.database, relation.table] {
        check_text("relation", name, faults);
    }
    if edit.grantees.is_empty() {
        faults.add(FaultKind::Invalid, "a policy needs a grantee");
    }
    for grantee in edit.grantees.iter().chain(&edit.except) {
        check_grantee(draft, &grantee.normal(), faults);
    }
    for grantee in edit.except.iter().filter(|e| edit.grantees.contains(e)) {
        faults.add(FaultKind::Invalid, format!("{grantee} is a grantee and excepted as well"));
    }
    if let Some(until) = edit.validity.and_then(|v| v.until())
        && until <= draft.now
    {
        faults.add(FaultKind::Invalid, "the validity is over already");
    }
    let Some(def) = draft.def(relation.service) else {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", relation.service));
        return;
    };
    let has_level = |name: &str| def.resources.iter().any(|r| r.name == name);
    if !["database", "table", "column"].into_iter().all(has_level) {
        faults.add(
            FaultKind::Unsupported,
            format!("service `{}` has no levels database, table and column", relation.service),
        );
    }
    check_body(def, edit, faults);
}

fn check_body(def: &ServiceDef, edit: &PolicyEdit, faults: &mut Faults) {
    match &edit.body {
        PolicyBody::Filter { using } => {
            if using.text.trim().is_empty() {
                faults.add(FaultKind::Invalid, "a row filter needs an expression after `USING`");
            }
        }
        PolicyBody::Mask { mask_type, columns, using } => {
            let known: Vec<&str> = def.mask_types.iter().map(|m| m.name.as_str()).collect();
            if !known.contains(&mask_type.as_str()) {
                let known = known.join(", ");
                faults.add(FaultKind::Invalid, format!("unknown mask type `{mask_type}`; known are {known}"));
            }
            match using {
                None if mask_type == CUSTOM => {
                    faults
                        .add(FaultKind::Invalid, "the mask type `CUSTOM` needs an expression after `USING`");
                }
                None if needs_number(mask_type) => {
                    let message = format!("the mask type `{mask_type}` needs a number after `USING`");
                    faults.add(FaultKind::Invalid, message);
                }
                Some(_) if !has_text(mask_type) => {
                    faults.add(FaultKind::Invalid, format!("the mask type `{mask_type}` takes no `USING`"));
                }
                Some(using) if using.text.trim().is_empty() => {
                    faults.add(FaultKind::Invalid, "the expression after `USING` is empty");
                }
                None | Some(_) => {}
            }
            if columns.is_empty() {
                faults.add(FaultKind::Invalid, "a column mask on a table or view needs `ON COLUMN`");
            }
            for column in columns {
                check_text("column", &column.name, faults);
            }
        }
    }
}

fn item_for(grantees: &[Grantee], accesses: &[&str]) -> Item {
    let accesses = accesses.iter().map(|a| Access::new(*a)).collect();
    let mut item = Item { accesses, ..Item::default() };
    let grantees: Vec<Grantee> = grantees.iter().map(Grantee::normal).collect();
    set_grantees(&mut item, &grantees);
    item
}

/// Writes the statement into a policy. Those excepted come first: in one policy the first item that matches decides.
fn fill(draft: &Draft<'_>, policy: &mut Policy, edit: &PolicyEdit, relation: &Relation<'_>) {
    let accesses = accesses(draft, relation.service, policy.kind);
    let mut resources = ResourceMap::from([
        ("database".to_owned(), ResourceValues::one(relation.database)),
        ("table".to_owned(), ResourceValues::one(relation.table)),
    ]);
    let mut pins = Pins { table_uuid: relation.uuid.map(str::to_owned), ..Pins::default() };
    match &edit.body {
        PolicyBody::Mask { mask_type, columns, using } => {
            let names = columns.iter().map(|c| c.name.clone()).collect();
            let values = ResourceValues { values: names, is_excludes: false, is_recursive: false };
            resources.insert("column".to_owned(), values);
            pins.columns.clone_from(columns);
            let mask = |mask_type: &str, value_expr: Option<String>| MaskInfo {
                mask_type: mask_type.to_owned(),
                condition_expr: None,
                value_expr,
            };
            if !edit.except.is_empty() {
                let item = item_for(&edit.except, &accesses);
                policy.mask_items.push(MaskItem { item, mask: mask(MASK_NONE, None) });
            }
            let item = item_for(&edit.grantees, &accesses);
            let value_expr = using.as_ref().map(|u| u.text.clone());
            policy.mask_items.push(MaskItem { item, mask: mask(mask_type, value_expr) });
            if let Some(using) = using {
                pin_expr(&mut pins, using);
            }
        }
        PolicyBody::Filter { using } => {
            if !edit.except.is_empty() {
                let item = item_for(&edit.except, &accesses);
                policy.filter_items.push(FilterItem { item, filter_expr: EVERY_ROW.to_owned() });
            }
            let item = item_for(&edit.grantees, &accesses);
            policy.filter_items.push(FilterItem { item, filter_expr: using.text.clone() });
            pin_expr(&mut pins, using);
        }
    }
    policy.resources = resources;
    policy.priority = edit.priority;
    policy.validity.extend(edit.validity.map(|v| v.schedule()));
    policy.description = edit.comment.clone().unwrap_or_default();
    policy.options.insert(ORIGIN.to_owned(), ORIGIN_POLICY.to_owned());
    policy.options.insert(AUTHOR.to_owned(), draft.by.to_owned());
    pins::set_pins(policy, &pins);
}

pub(super) fn pin_expr(pins: &mut Pins, expr: &CheckedExpr) {
    pins.needs.clone_from(&expr.columns);
    pins.functions.clone_from(&expr.functions);
    pins.tables.clone_from(&expr.tables);
}
