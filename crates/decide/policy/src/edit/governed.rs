//! Edits of zones, tags, services and definitions, and who may make them.

mod columns;
mod service;
mod tag;
mod zone;

use std::collections::BTreeMap;

use super::Actor;
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::policy::ColumnRef;
use crate::model::{ResourceMap, Service, ServiceDef, TagDef, ValiditySchedule, Zone};

/// An edit of what policies stand on. What is put takes the place of what has its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GovernedEdit {
    /// Whoever administers a zone may change who does, who audits it and what it is called for, but not what is in it.
    PutZone(Box<Zone>),
    DropZone {
        name: String,
        if_exists: bool,
    },
    PutTagDef(TagDef),
    DropTagDef {
        name: String,
        if_exists: bool,
    },
    /// Whoever administers the zone that a resource is in may tag it.
    SetTags(TagsEdit),
    UnsetTags {
        service: String,
        resource: ResourceMap,
        /// Empty: all.
        kinds: Vec<String>,
    },
    /// The columns of one table are tagged, all of them or none.
    TagColumns(ColumnTagsEdit),
    /// The definition of tag services learns what the component can do.
    PutServiceDef(Box<ServiceDef>),
    DropServiceDef {
        name: String,
        if_exists: bool,
    },
    PutService(Box<Service>),
    DropService {
        name: String,
        if_exists: bool,
    },
}

/// Tags put on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagsEdit {
    pub service: String,
    pub resource: ResourceMap,
    /// Who owns the resource, where that is known.
    pub owner: Option<String>,
    pub tags: Vec<TagSpec>,
    pub others: OtherTags,
}

/// Tags set on, and taken from, columns of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTagsEdit {
    pub service: String,
    /// The full dotted namespace.
    pub database: String,
    pub table: String,
    pub uuid: Option<String>,
    pub owner: Option<String>,
    pub columns: Vec<ColumnTags>,
}

/// What becomes of one column's tags: what is unset goes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTags {
    pub column: ColumnRef,
    pub unset: UnsetColumnTags,
    pub set: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsetColumnTags {
    None,
    All,
    These(Vec<String>),
}

/// A tag to be put on a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSpec {
    pub kind: String,
    pub attributes: BTreeMap<String, String>,
    pub validity: Vec<ValiditySchedule>,
}

/// What becomes of the tags that a resource has already and that are not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OtherTags {
    Stay,
    Go,
}

pub(crate) fn apply(draft: &mut Draft<'_>, edit: &GovernedEdit, actor: &Actor, faults: &mut Faults) {
    match edit {
        GovernedEdit::PutZone(zone) => zone::put(draft, zone, actor, faults),
        GovernedEdit::DropZone { name, if_exists } => zone::drop(draft, name, *if_exists, actor, faults),
        GovernedEdit::PutTagDef(def) => tag::put_def(draft, def, actor, faults),
        GovernedEdit::DropTagDef { name, if_exists } => {
            tag::drop_def(draft, name, *if_exists, actor, faults);
        }
        GovernedEdit::SetTags(edit) => tag::set(draft, edit, actor, faults),
        GovernedEdit::UnsetTags { service, resource, kinds } => {
            tag::unset(draft, service, resource, kinds, actor, faults);
        }
        GovernedEdit::TagColumns(edit) => columns::tag(draft, edit, actor, faults),
        GovernedEdit::PutServiceDef(def) => service::put_def(draft, def, actor, faults),
        GovernedEdit::DropServiceDef { name, if_exists } => {
            service::drop_def(draft, name, *if_exists, actor, faults);
        }
        GovernedEdit::PutService(service) => service::put(draft, service, actor, faults),
        GovernedEdit::DropService { name, if_exists } => {
            service::drop(draft, name, *if_exists, actor, faults);
        }
    }
}

/// Whether the actor is an admin; if not, that is a fault.
fn must_be_admin(actor: &Actor, to_do: &str, faults: &mut Faults) -> bool {
    if !actor.is_admin() {
        faults.denied(to_do);
    }
    actor.is_admin()
}

/// What to do about something that is not there.
fn not_there(draft: &mut Draft<'_>, what: &str, name: &str, if_exists: bool, faults: &mut Faults) {
    if if_exists {
        draft.notice(format!("no such {what} `{name}`, skipped"));
    } else {
        faults.add(FaultKind::NotFound, format!("no such {what} `{name}`"));
    }
}

/// The number that a thing keeps, or the next free one.
fn number(given: i64, known: Option<i64>, all: impl Iterator<Item = i64>) -> i64 {
    match known {
        Some(known) => known,
        None if given > 0 => given,
        None => all.max().unwrap_or(0).max(0).saturating_add(1),
    }
}
