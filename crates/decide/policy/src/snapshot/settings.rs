//! How a snapshot is built and asked: what Ranger keeps in a plug-in's configuration.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono_tz::Tz;

use crate::evaluate::ConditionErrors;
use crate::schedule::ScheduleReading;
use crate::script::ScriptEngine;

/// How a snapshot is built.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Runs the scripts of conditions and expressions; without it they cannot be evaluated.
    pub scripts: Option<Arc<dyn ScriptEngine>>,
    pub plugin: PluginSettings,
    pub strictness: Strictness,
}

/// What becomes of a state with faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// Any fault refuses the state. This is for what is written here, where a fault can be told to its author.
    #[default]
    Strict,
    /// Faults are kept and can be asked for. A policy that cannot be honoured counts against its principals.
    Report,
}

/// `auditMode`: who decides whether a request is audited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AuditMode {
    /// `audit-default`: the policies.
    #[default]
    ByPolicy,
    /// `audit-all`.
    All,
    /// `audit-none`.
    Nothing,
}

/// The settings of one plug-in; the default is that of Sluice's own gates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginSettings {
    /// Beside those of the service's own configuration.
    pub super_users: BTreeSet<String>,
    pub super_groups: BTreeSet<String>,
    pub audit_excluded_users: BTreeSet<String>,
    pub audit_excluded_groups: BTreeSet<String>,
    pub audit_excluded_roles: BTreeSet<String>,
    pub audit_mode: AuditMode,
    /// Addresses whose word about forwarded addresses is taken; `None`: everybody's.
    pub trusted_proxies: Option<Vec<String>>,
    /// Whether forwarded addresses count at all.
    pub uses_forwarded_addr: bool,
    /// What a request that names no cluster is taken to come from.
    pub cluster_name: Option<String>,
    pub cluster_type: Option<String>,
    /// Patterns for dates in tag attributes, beside Ranger's own.
    pub extra_date_formats: Vec<String>,
    /// The clock by which recurrences and times of day are read.
    pub time_zone: Tz,
    pub condition_errors: ConditionErrors,
    /// Whether the plugged-in service has an authority of its own to ask where policies say nothing.
    pub has_fallback: bool,
}

impl PluginSettings {
    /// Whoever takes Ranger's view of conditions takes its view of clocks too.
    pub(crate) fn schedule_reading(&self) -> ScheduleReading {
        ScheduleReading::of(self.condition_errors, self.time_zone)
    }
}
