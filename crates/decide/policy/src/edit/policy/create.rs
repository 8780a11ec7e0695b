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
use crate::defs::{self, needs_number, takes_number};
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
    let bare = bare(mask_type);
    bare == CUSTOM || takes_number(bare)
}

pub(super) fn is_exempting_filter(expr: &str) -> bool {
    expr.is_empty() || expr == EVERY_ROW
}

struct Relation<'e> {
    database: &'e str,
    table: &'e str,
    uuid: Option<&'e str>,
}

/// What the policy is about, and the service that it is written to.
struct Target<'e> {
    service: &'e str,
    on: On<'e>,
}

enum On<'e> {
    Relation(Relation<'e>),
    Tag(&'e str),
}

pub(crate) fn create(draft: &mut Draft<'_>, edit: &PolicyEdit, actor: &Actor, faults: &mut Faults) {
    let Some(target) = target(draft, edit, actor, faults) else {
        return;
    };
    check(draft, edit, &target, faults);
    let kind = match &edit.body {
        PolicyBody::Mask { .. } => PolicyKind::Mask,
        PolicyBody::Filter { .. } => PolicyKind::RowFilter,
    };
    let Some(place) = place(draft, edit, target.service, kind, actor, faults) else {
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
            draft.new_policy(target.service, &edit.name, kind)
        }
    };
    fill(draft, &mut policy, edit, &target);
    clash::tell(draft, &policy);
    draft.put_policy(policy);
}

/// `None`: the actor may not write such a policy, or there is no service for it, which is a fault.
fn target<'e>(
    draft: &Draft<'e>,
    edit: &'e PolicyEdit,
    actor: &Actor,
    faults: &mut Faults,
) -> Option<Target<'e>> {
    match &edit.target {
        PolicyTarget::Relation { service, database, table, uuid } => {
            let columns: Vec<&str> = match &edit.body {
                PolicyBody::Mask { columns, .. } => columns.iter().map(|c| c.name.as_str()).collect(),
                PolicyBody::Filter { .. } => vec!["*"],
            };
            if !may_write(draft, actor, service, database, table, &columns) {
                faults.denied(format!("write policies on `{database}.{table}`"));
                return None;
            }
            let on = On::Relation(Relation { database, table, uuid: uuid.as_deref() });
            Some(Target { service, on })
        }
        PolicyTarget::Tag(tag) => {
            if !actor.is_admin() {
                faults.denied("write policies on tags");
                return None;
            }
            let services = &draft.before().state().services;
            let linked = services.get(defs::GATE_TWO_SERVICE).and_then(|s| s.tag_service.as_deref());
            let any = || services.values().find_map(|service| service.tag_service.as_deref());
            let Some(service) = linked.or_else(any) else {
                faults.add(FaultKind::NotFound, "no tag service is linked");
                return None;
            };
            Some(Target { service, on: On::Tag(tag) })
        }
    }
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

fn check(draft: &mut Draft<'_>, edit: &PolicyEdit, target: &Target<'_>, faults: &mut Faults) {
    check_text("policy", &edit.name, faults);
    match &target.on {
        On::Relation(relation) => {
            for name in [relation.database, relation.table] {
                check_text("relation", name, faults);
            }
        }
        On::Tag(tag) => {
            check_text("tag", tag, faults);
            if !draft.before().state().tag_defs.contains_key(*tag) {
                draft.notice(format!("no tag `{tag}` is defined yet; the policy holds once columns bear it"));
            }
        }
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
    let Some(def) = draft.def(target.service) else {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", target.service));
        return;
    };
    let has_level = |name: &&str| def.resources.iter().any(|r| r.name == **name);
    let levels: &[&str] = match target.on {
        On::Relation(_) => &["database", "table", "column"],
        On::Tag(_) => &[defs::TAG],
    };
    if !levels.iter().all(has_level) {
        faults.add(
            FaultKind::Unsupported,
            format!("service `{}` has no levels {}", target.service, levels.join(", ")),
        );
    }
    check_body(def, edit, &target.on, faults);
}

fn check_body(def: &ServiceDef, edit: &PolicyEdit, on: &On<'_>, faults: &mut Faults) {
    match &edit.body {
        PolicyBody::Filter { using } => {
            if using.text.trim().is_empty() {
                faults.add(FaultKind::Invalid, "a row filter needs an expression after `USING`");
            }
        }
        PolicyBody::Mask { mask_type, columns, using } => {
            let known: Vec<&str> = def.mask_types.iter().map(|m| m.name.as_str()).collect();
            if !known.contains(&qualified(mask_type, on).as_str()) {
                let known = known.join(", ");
                faults.add(FaultKind::Invalid, format!("unknown mask type `{mask_type}`; known are {known}"));
            }
            match using {
                None if bare(mask_type) == CUSTOM => {
                    faults
                        .add(FaultKind::Invalid, "the mask type `CUSTOM` needs an expression after `USING`");
                }
                None if needs_number(bare(mask_type)) => {
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
            match on {
                On::Relation(_) if columns.is_empty() => {
                    faults.add(FaultKind::Invalid, "a column mask on a table or view needs `ON COLUMN`");
                }
                On::Tag(_) if !columns.is_empty() => {
                    let reason =
                        "a column mask on a tag takes no `ON COLUMN`: it holds for every column with the tag";
                    faults.add(FaultKind::Invalid, reason);
                }
                On::Relation(_) | On::Tag(_) => {}
            }
            for column in columns {
                check_text("column", &column.name, faults);
            }
        }
    }
}

/// A mask type without the component in front of it.
pub(super) fn bare(mask_type: &str) -> &str {
    mask_type.rsplit_once(':').map_or(mask_type, |(_, bare)| bare)
}

/// The mask type as its service has it: those of tag services have the component in front.
fn qualified(mask_type: &str, on: &On<'_>) -> String {
    match on {
        On::Tag(_) if !mask_type.contains(':') => format!("{}:{mask_type}", defs::HIVE),
        On::Relation(_) | On::Tag(_) => mask_type.to_owned(),
    }
}

fn item_for(grantees: &[Grantee], accesses: &[&str]) -> Item {
    let accesses = accesses.iter().map(|a| Access::new(*a)).collect();
    let mut item = Item { accesses, ..Item::default() };
    let grantees: Vec<Grantee> = grantees.iter().map(Grantee::normal).collect();
    set_grantees(&mut item, &grantees);
    item
}

/// The access types that the policy's items name: in a tag service those of the component that the mask is for, and
/// always those of our own, for a mask that cannot be built here must be met by whom it is for.
fn accesses_for<'d>(
    draft: &Draft<'d>,
    edit: &PolicyEdit,
    target: &Target<'_>,
    kind: PolicyKind,
) -> Vec<&'d str> {
    let mut accesses = accesses(draft, target.service, kind);
    if let On::Tag(_) = target.on {
        let component = match &edit.body {
            PolicyBody::Mask { mask_type, .. } => mask_type.split_once(':').map(|(component, _)| component),
            PolicyBody::Filter { .. } => None,
        };
        let components = [defs::HIVE, component.unwrap_or(defs::HIVE)];
        accesses.retain(|access| access.split_once(':').is_some_and(|(of, _)| components.contains(&of)));
    }
    accesses
}

/// Writes the statement into a policy. Those excepted come first: in one policy the first item that matches decides.
fn fill(draft: &Draft<'_>, policy: &mut Policy, edit: &PolicyEdit, target: &Target<'_>) {
    let accesses = accesses_for(draft, edit, target, policy.kind);
    let (mut resources, mut pins) = place_named(&target.on);
    match &edit.body {
        PolicyBody::Mask { mask_type, columns, using } => {
            if !columns.is_empty() {
                let names = columns.iter().map(|c| c.name.clone()).collect();
                let values = ResourceValues { values: names, is_excludes: false, is_recursive: false };
                resources.insert("column".to_owned(), values);
            }
            pins.columns.clone_from(columns);
            let mask = |mask_type: String, value_expr: Option<String>| MaskInfo {
                mask_type,
                condition_expr: None,
                value_expr,
            };
            if !edit.except.is_empty() {
                let item = item_for(&edit.except, &accesses);
                let none = match mask_type.split_once(':') {
                    Some((component, _)) => format!("{component}:{MASK_NONE}"),
                    None => qualified(MASK_NONE, &target.on),
                };
                policy.mask_items.push(MaskItem { item, mask: mask(none, None) });
            }
            let item = item_for(&edit.grantees, &accesses);
            let value_expr = using.as_ref().map(|u| u.text.clone());
            let mask = mask(qualified(mask_type, &target.on), value_expr);
            policy.mask_items.push(MaskItem { item, mask });
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

/// What a policy names without its columns, and what it is pinned to.
fn place_named(on: &On<'_>) -> (ResourceMap, Pins) {
    let named = |pairs: &[(&str, &str)]| -> ResourceMap {
        pairs.iter().map(|(level, name)| ((*level).to_owned(), ResourceValues::one(*name))).collect()
    };
    match on {
        On::Relation(relation) => {
            let resources = named(&[("database", relation.database), ("table", relation.table)]);
            let pins = Pins { table_uuid: relation.uuid.map(str::to_owned), ..Pins::default() };
            (resources, pins)
        }
        On::Tag(tag) => (named(&[(defs::TAG, tag)]), Pins::default()),
    }
}

pub(super) fn pin_expr(pins: &mut Pins, expr: &CheckedExpr) {
    pins.needs.clone_from(&expr.columns);
    pins.functions.clone_from(&expr.functions);
    pins.tables.clone_from(&expr.tables);
    pins.reads.clone_from(&expr.reads);
}
