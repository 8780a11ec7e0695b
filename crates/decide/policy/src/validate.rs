//! Says everything that is wrong with policies, services, definitions, zones, roles and tags, with Ranger's codes.
//!
//! A change is checked against the state that it would lead to, so that its parts may need each other. What arrives
//! from outside is checked by the same rules, and reported instead of refused.

mod code;
mod def;
mod items;
mod policy;
mod principals;
mod resources;
mod service;
mod tag;
mod view;
mod zone;

use std::fmt;

use chrono_tz::Tz;
use stdx::Timestamp;

pub use code::*;
pub use view::signature_matches;

use crate::edit::Change;
use crate::limits::Limit;
use crate::model::State;
use view::View;

/// Ranger's sorts of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultType {
    Missing,
    Incorrect,
    Internal,
}

/// Whether a fault refuses an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Legal, and surely not meant: such as a denial where the definition has switched denials off.
    Warning,
    Error,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Ranger's code; from 9000 on, one of ours for what Ranger does not check.
    pub code: u32,
    pub kind: FaultType,
    pub severity: Severity,
    /// Such as ``policy `p` ``.
    pub subject: String,
    pub field: String,
    pub subfield: Option<String>,
    pub reason: String,
    /// The limit that was reached, if one was.
    pub limit: Option<&'static Limit>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.reason)
    }
}

impl Fault {
    /// The fault as Ranger's REST interface words it; `at` counts the faults of one answer.
    pub fn ranger_text(&self, at: usize) -> String {
        let kind = match self.kind {
            FaultType::Missing => "missing",
            FaultType::Incorrect => "semantically incorrect",
            FaultType::Internal => "internal error",
        };
        let Self { code, reason, field, .. } = self;
        let subfield = self.subfield.as_deref().unwrap_or("null");
        format!(
            "({at}) Validation failure: error code[{code}], reason[{reason}], field[{field}], \
             subfield[{subfield}], type[{kind}] "
        )
    }
}

/// Says where a script does not parse.
pub type ScriptCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// By what a change is checked.
#[derive(Clone, Copy)]
pub struct Checks<'a> {
    /// When schedules without a start begin.
    pub now: Timestamp,
    /// The zone of schedules that name none.
    pub time_zone: Tz,
    /// Without one, scripts and expressions are only looked at from outside.
    pub scripts: Option<ScriptCheck<'a>>,
    pub by: By,
}

impl fmt::Debug for Checks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, time_zone, scripts, by } = self;
        f.debug_struct("Checks")
            .field("now", now)
            .field("time_zone", time_zone)
            .field("scripts", &scripts.is_some())
            .field("by", by)
            .finish()
    }
}

/// Who makes the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    Admin,
    /// May write policies for some resources, and none that exclude.
    Delegate,
}

/// Everything that is wrong with what a change puts in place.
pub fn change(before: &State, change: &Change, checks: &Checks<'_>) -> Vec<Fault> {
    let view = View::new(before, change);
    let mut faults = Vec::new();
    for def in &change.put_service_defs {
        def::check(def, &view, &mut Found::of(&mut faults, "service definition", &def.name));
    }
    for service in &change.put_services {
        service::check(service, &view, &mut Found::of(&mut faults, "service", &service.name));
    }
    for zone in &change.put_zones {
        zone::check(zone, &view, &mut Found::of(&mut faults, "zone", &zone.name));
    }
    for role in &change.put_roles {
        principals::check_role(role, &view, &mut Found::of(&mut faults, "role", &role.name));
    }
    for group in &change.put_groups {
        principals::check_name(&group.name, &mut Found::of(&mut faults, "group", &group.name));
    }
    for user in &change.put_users {
        principals::check_name(&user.name, &mut Found::of(&mut faults, "user", &user.name));
    }
    for def in &change.put_tag_defs {
        tag::check_def(def, &view, &mut Found::of(&mut faults, "tag definition", &def.name));
    }
    for tag in &change.put_tags {
        let name = format!("{} {}", tag.kind, tag.id.0);
        tag::check_tag(tag, &view, checks, &mut Found::of(&mut faults, "tag", &name));
    }
    for resource in &change.put_tagged_resources {
        let name = resource.id.0.to_string();
        tag::check_resource(resource, &view, &mut Found::of(&mut faults, "tagged resource", &name));
    }
    view::check_totals(&view, &mut faults);
    policy::check_all(&view, checks, &mut faults);
    faults
}

/// Everything that is wrong with a whole state, such as one that was downloaded.
pub fn state(state: &State, checks: &Checks<'_>) -> Vec<Fault> {
    let nothing = State::default();
    let State {
        version: _,
        service_defs,
        services,
        policies,
        zones,
        tag_defs,
        tags,
        tagged_resources,
        roles,
        groups,
        users,
        next_policy_id: _,
    } = state;
    let whole = Change {
        put_service_defs: service_defs.values().cloned().collect(),
        put_services: services.values().cloned().collect(),
        put_policies: policies.values().cloned().collect(),
        put_zones: zones.values().cloned().collect(),
        put_tag_defs: tag_defs.values().cloned().collect(),
        put_tags: tags.values().cloned().collect(),
        put_tagged_resources: tagged_resources.values().cloned().collect(),
        put_roles: roles.values().cloned().collect(),
        put_groups: groups.values().cloned().collect(),
        put_users: users.values().cloned().collect(),
        ..Change::default()
    };
    change(&nothing, &whole, checks)
}

/// Collects the faults of one thing. What it gives back may be used to say more of the fault, or not.
struct Found<'f> {
    faults: &'f mut Vec<Fault>,
    subject: String,
}

impl<'f> Found<'f> {
    fn of(faults: &'f mut Vec<Fault>, what: &str, name: &str) -> Self {
        Self { faults, subject: format!("{what} `{name}`") }
    }

    fn push(&mut self, kind: FaultType, code: u32, field: &str, reason: String) -> Last<'_> {
        let subject = self.subject.clone();
        let (field, severity) = (field.to_owned(), Severity::Error);
        self.faults.push(Fault { code, kind, severity, subject, field, subfield: None, reason, limit: None });
        Last(self.faults.last_mut())
    }

    fn missing(&mut self, code: u32, field: &str, reason: impl Into<String>) -> Last<'_> {
        self.push(FaultType::Missing, code, field, reason.into())
    }

    fn wrong(&mut self, code: u32, field: &str, reason: impl Into<String>) -> Last<'_> {
        self.push(FaultType::Incorrect, code, field, reason.into())
    }

    fn warn(&mut self, code: u32, field: &str, reason: impl Into<String>) {
        if let Last(Some(fault)) = self.wrong(code, field, reason) {
            fault.severity = Severity::Warning;
        }
    }

    /// Adds a fault if there are too many.
    fn limit(&mut self, limit: &'static Limit, count: usize, field: &str) {
        if let Some(exceeded) = limit.exceeded_by(count)
            && let Last(Some(fault)) = self.wrong(LIMIT_REACHED, field, exceeded.to_string())
        {
            fault.limit = Some(limit);
        }
    }

    /// Adds a fault if a name is too long.
    fn name_limit(&mut self, name: &str) {
        self.limit(&crate::limits::NAME_CHARS_MAX, name.chars().count(), "name");
    }
}

/// The fault that was added just now.
struct Last<'f>(Option<&'f mut Fault>);

impl Last<'_> {
    fn sub(self, subfield: &str) {
        if let Self(Some(fault)) = self {
            fault.subfield = Some(subfield.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
