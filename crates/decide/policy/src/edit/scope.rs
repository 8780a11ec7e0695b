//! What an edit names: resolved objects, grantees and spans of time.

use std::fmt;

use stdx::Timestamp;

use crate::evaluate::Resource;
use crate::model::{ResourceMap, ResourceValues, ValiditySchedule};
use crate::privilege::{Level, ObjectClass, StepTarget};

/// The name of the service that GRANT, REVOKE and DENY write to.
pub const GATE_ONE: &str = "polaris";
/// The group that everyone is in.
pub const PUBLIC: &str = "public";
/// The role that may make every edit.
pub const ADMIN: &str = "admin";

/// An object of gate one, its names resolved. A namespace is the full dotted name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Catalog {
        catalog: String,
    },
    Namespace {
        catalog: String,
        namespace: String,
    },
    Table {
        catalog: String,
        namespace: String,
        table: String,
    },
    /// A view stands in the table slot.
    View {
        catalog: String,
        namespace: String,
        view: String,
    },
    /// Every table of a namespace, now and later, and none of its sub-namespaces.
    AllTables {
        catalog: String,
        namespace: String,
    },
    AllViews {
        catalog: String,
        namespace: String,
    },
}

impl Scope {
    pub fn class(&self) -> ObjectClass {
        match self {
            Self::Catalog { .. } => ObjectClass::Catalog,
            Self::Namespace { .. } => ObjectClass::Namespace,
            Self::Table { .. } | Self::AllTables { .. } => ObjectClass::Table,
            Self::View { .. } | Self::AllViews { .. } => ObjectClass::View,
        }
    }

    pub fn catalog(&self) -> &str {
        match self {
            Self::Catalog { catalog }
            | Self::Namespace { catalog, .. }
            | Self::Table { catalog, .. }
            | Self::View { catalog, .. }
            | Self::AllTables { catalog, .. }
            | Self::AllViews { catalog, .. } => catalog,
        }
    }

    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Catalog { .. } => None,
            Self::Namespace { namespace, .. }
            | Self::Table { namespace, .. }
            | Self::View { namespace, .. }
            | Self::AllTables { namespace, .. }
            | Self::AllViews { namespace, .. } => Some(namespace),
        }
    }

    /// What stands in the table slot.
    pub fn table(&self) -> Option<&str> {
        match self {
            Self::Catalog { .. } | Self::Namespace { .. } => None,
            Self::Table { table, .. } => Some(table),
            Self::View { view, .. } => Some(view),
            Self::AllTables { .. } | Self::AllViews { .. } => Some("*"),
        }
    }

    /// The names that a person gave, without those that mean "all".
    pub(crate) fn given_names(&self) -> Vec<&str> {
        let slot = match self {
            Self::AllTables { .. } | Self::AllViews { .. } => None,
            Self::Catalog { .. } | Self::Namespace { .. } | Self::Table { .. } | Self::View { .. } => {
                self.table()
            }
        };
        [Some(self.catalog()), self.namespace(), slot].into_iter().flatten().collect()
    }

    /// The levels and values of the resource that a step is written on, outermost first.
    pub(crate) fn levels(&self, target: StepTarget) -> Vec<(&'static str, String)> {
        let (depth, any_below) = match target {
            StepTarget::Named(level) => (level, false),
            StepTarget::Everything(level) => (level, true),
        };
        let mut levels = vec![("root", "*".to_owned()), ("catalog", self.catalog().to_owned())];
        let value = |own: Option<&str>| if any_below { "*" } else { own.unwrap_or("*") }.to_owned();
        if depth >= Level::Namespace {
            levels.push(("namespace", value(self.namespace())));
        }
        if depth >= Level::Table {
            levels.push(("table", value(self.table())));
        }
        levels
    }

    /// The resource of gate one by which this object is asked for.
    pub fn resource<'r>(&self) -> Resource<'r> {
        self.resource_at(StepTarget::Named(self.class().level()))
    }

    pub(crate) fn resource_at<'r>(&self, target: StepTarget) -> Resource<'r> {
        Resource::new(self.levels(target))
    }

    pub(crate) fn policy_resources(&self, target: StepTarget) -> ResourceMap {
        self.levels(target)
            .into_iter()
            .map(|(level, value)| (level.to_owned(), ResourceValues::one(value)))
            .collect()
    }

    /// The dotted name of what a step is written on.
    pub(crate) fn name_at(&self, target: StepTarget) -> String {
        let values: Vec<String> = self.levels(target).into_iter().skip(1).map(|(_, value)| value).collect();
        values.join(".")
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_at(StepTarget::Named(self.class().level())))
    }
}

/// Who is granted to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grantee {
    User(String),
    Role(String),
    Group(String),
    /// Everyone; kept as the group `public`.
    Public,
}

impl Grantee {
    pub fn name(&self) -> &str {
        match self {
            Self::User(name) | Self::Role(name) | Self::Group(name) => name,
            Self::Public => PUBLIC,
        }
    }

    /// `USER`, `ROLE`, `GROUP` or `PUBLIC`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::User(_) => "USER",
            Self::Role(_) => "ROLE",
            Self::Group(_) => "GROUP",
            Self::Public => "PUBLIC",
        }
    }

    /// The group `public` by any spelling is PUBLIC.
    pub(crate) fn normal(&self) -> Self {
        match self {
            Self::Group(name) if name == PUBLIC => Self::Public,
            Self::User(_) | Self::Role(_) | Self::Group(_) | Self::Public => self.clone(),
        }
    }

    pub(crate) fn from_parts(type_name: &str, name: &str) -> Option<Self> {
        match type_name {
            "USER" => Some(Self::User(name.to_owned())),
            "ROLE" => Some(Self::Role(name.to_owned())),
            "GROUP" => Some(Self::Group(name.to_owned()).normal()),
            "PUBLIC" => Some(Self::Public),
            _ => None,
        }
    }

    /// As it stands in a statement, the name quoted.
    pub(crate) fn sql(&self) -> String {
        match self {
            Self::Public => "PUBLIC".to_owned(),
            Self::User(name) | Self::Role(name) | Self::Group(name) => {
                format!("{} \"{}\"", self.type_name(), name.replace('"', "\"\""))
            }
        }
    }
}

impl fmt::Display for Grantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("PUBLIC"),
            Self::User(name) | Self::Role(name) | Self::Group(name) => {
                write!(f, "{} `{name}`", self.type_name())
            }
        }
    }
}

/// `VALID FROM … UNTIL …`: at least one end is set, and they are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Validity {
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// Why a text is no validity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidityError {
    #[error("`{0}` is no time; write `2026-12-31`, `2026-12-31 18:00:00` or `2026-12-31T18:00:00+01:00`")]
    NoTime(String),
    #[error("the validity ends before it begins")]
    Empty,
    #[error("a validity needs a beginning or an end")]
    Unbounded,
}

impl Validity {
    pub fn new(from: Option<Timestamp>, until: Option<Timestamp>) -> Result<Self, ValidityError> {
        match (from, until) {
            (None, None) => Err(ValidityError::Unbounded),
            (Some(from), Some(until)) if until <= from => Err(ValidityError::Empty),
            _ => Ok(Self { from, until }),
        }
    }

    /// Reads the texts of a statement; a time without a zone is UTC.
    pub fn parse(from: Option<&str>, until: Option<&str>) -> Result<Self, ValidityError> {
        Self::new(from.map(parse_time).transpose()?, until.map(parse_time).transpose()?)
    }

    pub const fn until(&self) -> Option<Timestamp> {
        self.until
    }

    pub(crate) fn schedule(&self) -> ValiditySchedule {
        let text = |at: Option<Timestamp>| {
            at.and_then(Timestamp::to_utc).map(|at| at.format("%Y/%m/%d %H:%M:%S").to_string())
        };
        ValiditySchedule {
            start_time: text(self.from),
            end_time: text(self.until),
            time_zone: Some("UTC".to_owned()),
            recurrences: Vec::new(),
        }
    }
}

fn parse_time(text: &str) -> Result<Timestamp, ValidityError> {
    use chrono::{DateTime, NaiveDate, NaiveDateTime};
    let trimmed = text.trim();
    let with_zone = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z"]
        .into_iter()
        .find_map(|format| DateTime::parse_from_str(trimmed, format).ok())
        .or_else(|| DateTime::parse_from_rfc3339(trimmed).ok())
        .map(|at| at.timestamp_millis());
    let plain = || {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M"]
            .into_iter()
            .find_map(|format| NaiveDateTime::parse_from_str(trimmed, format).ok())
    };
    let day = || NaiveDate::parse_from_str(trimmed, "%Y-%m-%d").ok().and_then(|d| d.and_hms_opt(0, 0, 0));
    with_zone
        .or_else(|| plain().or_else(day).map(|at| at.and_utc().timestamp_millis()))
        .map(Timestamp::from_millis)
        .ok_or_else(|| ValidityError::NoTime(text.to_owned()))
}
