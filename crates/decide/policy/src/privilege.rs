//! The privileges of GRANT and the access types of gate one behind them.
//!
//! A privilege binds to one level. What it writes there, what it writes above for discovery, and what a denial of it
//! takes away are all in [`access`](self::access), one list each.

mod access;
#[cfg(test)]
mod tests;

use std::fmt;

pub use access::{Plan, PlanError, Step, StepTarget, WriteSet};

/// A level of the gate-one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Catalog,
    Namespace,
    Table,
}

impl Level {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Namespace => "namespace",
            Self::Table => "table",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a statement names, as far as privileges care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectClass {
    Catalog,
    Namespace,
    Table,
    View,
}

impl ObjectClass {
    pub const fn level(self) -> Level {
        match self {
            Self::Catalog => Level::Catalog,
            Self::Namespace => Level::Namespace,
            Self::Table | Self::View => Level::Table,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Namespace => "namespace",
            Self::Table => "table",
            Self::View => "view",
        }
    }
}

/// A privilege of GRANT, REVOKE, DENY and CHECK ACCESS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Privilege {
    Select,
    SelectView,
    Monitor,
    Insert,
    Update,
    Delete,
    Truncate,
    Merge,
    Modify,
    Alter,
    AlterView,
    Drop,
    DropView,
    DropSchema,
    CreateTable,
    CreateView,
    CreateSchema,
    Usage,
    ApplyPolicy,
    All,
    Manage,
}

/// No privilege has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown privilege `{name}`; known are {}", Privilege::known())]
pub struct UnknownPrivilege {
    pub name: String,
}

impl Privilege {
    pub const EVERY: [Self; 21] = [
        Self::Select,
        Self::SelectView,
        Self::Monitor,
        Self::Insert,
        Self::Update,
        Self::Delete,
        Self::Truncate,
        Self::Merge,
        Self::Modify,
        Self::Alter,
        Self::AlterView,
        Self::Drop,
        Self::DropView,
        Self::DropSchema,
        Self::CreateTable,
        Self::CreateView,
        Self::CreateSchema,
        Self::Usage,
        Self::ApplyPolicy,
        Self::All,
        Self::Manage,
    ];

    /// Reads an upper-cased, single-spaced text, aliases included.
    pub fn parse(text: &str) -> Result<Self, UnknownPrivilege> {
        Self::EVERY
            .into_iter()
            .find(|p| p.name() == text || p.aliases().contains(&text))
            .ok_or_else(|| UnknownPrivilege { name: text.to_owned() })
    }

    /// The name that labels and messages use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::SelectView => "SELECT VIEW",
            Self::Monitor => "MONITOR",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Truncate => "TRUNCATE",
            Self::Merge => "MERGE",
            Self::Modify => "MODIFY",
            Self::Alter => "ALTER",
            Self::AlterView => "ALTER VIEW",
            Self::Drop => "DROP",
            Self::DropView => "DROP VIEW",
            Self::DropSchema => "DROP SCHEMA",
            Self::CreateTable => "CREATE TABLE",
            Self::CreateView => "CREATE VIEW",
            Self::CreateSchema => "CREATE SCHEMA",
            Self::Usage => "USAGE",
            Self::ApplyPolicy => "APPLY POLICY",
            Self::All => "ALL PRIVILEGES",
            Self::Manage => "MANAGE",
        }
    }

    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Select => &["READ"],
            Self::Monitor => &["DESCRIBE"],
            Self::Insert => &["APPEND"],
            Self::Modify => &["WRITE"],
            Self::Alter => &["ALTER TABLE"],
            Self::Drop => &["DROP TABLE"],
            Self::DropSchema => &["DROP NAMESPACE"],
            Self::CreateTable => &["CREATE"],
            Self::CreateSchema => &["CREATE NAMESPACE"],
            Self::Usage => &["USE"],
            Self::All => &["ALL"],
            Self::SelectView
            | Self::Update
            | Self::Delete
            | Self::Truncate
            | Self::Merge
            | Self::AlterView
            | Self::DropView
            | Self::CreateView
            | Self::ApplyPolicy
            | Self::Manage => &[],
        }
    }

    /// The level that the privilege binds to; naming anything deeper is refused.
    pub const fn level(self) -> Level {
        match self {
            Self::Select
            | Self::SelectView
            | Self::Monitor
            | Self::Insert
            | Self::Update
            | Self::Delete
            | Self::Truncate
            | Self::Merge
            | Self::Modify
            | Self::Alter
            | Self::AlterView
            | Self::Drop
            | Self::DropView
            | Self::ApplyPolicy => Level::Table,
            Self::DropSchema | Self::CreateTable | Self::CreateView | Self::Usage => Level::Namespace,
            Self::CreateSchema | Self::All | Self::Manage => Level::Catalog,
        }
    }

    /// The same privilege for a view, where a view has access types of its own; `None` where it has no such privilege.
    ///
    /// A view stands in the table slot of a resource, so that only the access types tell the two apart.
    pub const fn for_class(self, class: ObjectClass) -> Option<Self> {
        match class {
            ObjectClass::View => match self {
                Self::Select | Self::Monitor | Self::SelectView => Some(Self::SelectView),
                Self::Alter | Self::AlterView => Some(Self::AlterView),
                Self::Drop | Self::DropView => Some(Self::DropView),
                Self::Insert
                | Self::Update
                | Self::Delete
                | Self::Truncate
                | Self::Merge
                | Self::Modify
                | Self::ApplyPolicy => None,
                // These bind above a view and are refused for that reason.
                Self::DropSchema
                | Self::CreateTable
                | Self::CreateView
                | Self::CreateSchema
                | Self::Usage
                | Self::All
                | Self::Manage => Some(self),
            },
            ObjectClass::Table => match self {
                Self::SelectView | Self::AlterView | Self::DropView => None,
                Self::Select
                | Self::Monitor
                | Self::Insert
                | Self::Update
                | Self::Delete
                | Self::Truncate
                | Self::Merge
                | Self::Modify
                | Self::Alter
                | Self::Drop
                | Self::ApplyPolicy
                | Self::DropSchema
                | Self::CreateTable
                | Self::CreateView
                | Self::CreateSchema
                | Self::Usage
                | Self::All
                | Self::Manage => Some(self),
            },
            ObjectClass::Catalog | ObjectClass::Namespace => Some(self),
        }
    }

    fn known() -> String {
        Self::EVERY.map(Self::name).join(", ")
    }
}

impl fmt::Display for Privilege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
