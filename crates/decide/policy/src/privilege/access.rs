//! The table of privileges: which access types each writes at which level, and which of them a denial takes away.

use super::{Level, ObjectClass, Privilege};

/// Whether the privileges that write a table bring reading along (`write_implies_read`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WriteSet {
    /// Reading stays a privilege of its own.
    #[default]
    WithoutRead,
    /// The larger set of an outside Polaris profile, `table-data-read` included.
    WithRead,
}

/// Which resource of a scope a step is written on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepTarget {
    /// The scope's own name at this level.
    Named(Level),
    /// Everything at this level in the scope's catalog.
    Everything(Level),
}

/// One policy of a plan: access types on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub target: StepTarget,
    pub types: Vec<&'static str>,
    /// Whether it only makes the way to the object visible, and is no part of the privilege itself.
    pub is_traversal: bool,
}

/// The policies behind one privilege on one object, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub privilege: Privilege,
    pub steps: Vec<Step>,
    /// Whether the object stands above the privilege's level, so that the plan ends before it.
    pub is_cut_short: bool,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The privilege binds to a level above the object: a policy there would be wider than what was named.
    TooDeep { privilege: Privilege, level: Level },
    /// The object has no such privilege.
    WrongClass { privilege: Privilege, class: ObjectClass },
}

const TRAVERSE_CATALOG: &[&str] = &["namespace-list"];
const TRAVERSE_NAMESPACE: &[&str] = &["namespace-list", "namespace-properties-read"];

const SELECT: &[&str] = &["table-data-read", "table-properties-read", "table-list"];
const SELECT_VIEW: &[&str] = &["view-properties-read", "view-list"];
const ALTER_VIEW: &[&str] = &["view-properties-write", "view-properties-read", "view-list"];
const MONITOR: &[&str] = &["table-properties-read", "table-list"];

/// What committing an Iceberg snapshot fans out into. Moving the table, changing its identity or its format is not
/// in it: somebody who may append must not be able to point the table at other files.
const COMMIT: &[&str] = &[
    "table-data-write",
    "table-list",
    "table-properties-read",
    "table-properties-set",
    "table-properties-remove",
    "table-schema-add",
    "table-schema-set-current",
    "table-snapshot-add",
    "table-snapshot-ref-set",
    "table-snapshot-ref-remove",
    "table-snapshots-remove",
    "table-sort-order-add",
    "table-sort-order-set-default",
    "table-partition-spec-add",
    "table-partition-specs-remove",
    "table-statistics-set",
    "table-statistics-remove",
];
const MODIFY_BESIDES: &[&str] = &["table-location-set", "table-uuid-assign", "table-format-version-upgrade"];
const ALTER: &[&str] = &[
    "table-list",
    "table-properties-read",
    "table-properties-set",
    "table-properties-remove",
    "table-schema-add",
    "table-schema-set-current",
    "table-sort-order-add",
    "table-sort-order-set-default",
    "table-partition-spec-add",
    "table-partition-specs-remove",
    "table-statistics-set",
    "table-statistics-remove",
    "table-location-set",
    "table-uuid-assign",
    "table-format-version-upgrade",
];

const ALL_CATALOG: &[&str] = &[
    "catalog-content-manage",
    "catalog-list",
    "catalog-metadata-manage",
    "catalog-properties-read",
    "catalog-properties-write",
    "catalog-policy-attach",
    "catalog-policy-detach",
];
const ALL_NAMESPACE: &[&str] = &[
    "namespace-create",
    "namespace-drop",
    "namespace-list",
    "namespace-metadata-full",
    "namespace-properties-read",
    "namespace-properties-write",
    "namespace-policy-attach",
    "namespace-policy-detach",
    "table-create",
    "view-create",
    "policy-create",
    "policy-list",
];
const ALL_TABLE: &[&str] = &[
    "table-drop",
    "table-list",
    "table-data-read",
    "table-data-write",
    "table-metadata-full",
    "table-properties-read",
    "table-properties-write",
    "table-properties-set",
    "table-properties-remove",
    "table-uuid-assign",
    "table-format-version-upgrade",
    "table-schema-add",
    "table-schema-set-current",
    "table-partition-spec-add",
    "table-partition-specs-remove",
    "table-policy-attach",
    "table-policy-detach",
    "table-sort-order-add",
    "table-sort-order-set-default",
    "table-snapshot-add",
    "table-snapshots-remove",
    "table-snapshot-ref-set",
    "table-snapshot-ref-remove",
    "table-location-set",
    "table-statistics-set",
    "table-statistics-remove",
    "table-structure-manage",
    "view-drop",
    "view-list",
    "view-metadata-full",
    "view-properties-read",
    "view-properties-write",
];
/// Types that the catalog level of ALL has besides the three lists above.
const ALL_BESIDES: &[&str] =
    &["policy-drop", "policy-read", "policy-write", "policy-attach", "policy-detach"];

impl Privilege {
    /// The policies behind this privilege on an object of this class.
    ///
    /// An object above the privilege's level gets the plan up to that object, which is discovery only; an object
    /// below it is refused.
    pub fn plan(self, class: ObjectClass, writes: WriteSet) -> Result<Plan, PlanError> {
        let Some(privilege) = self.for_class(class) else {
            return Err(PlanError::WrongClass { privilege: self, class });
        };
        let (bound, named) = (privilege.level(), class.level());
        if named > bound {
            return Err(PlanError::TooDeep { privilege, level: bound });
        }
        let mut steps = Vec::new();
        for level in [Level::Catalog, Level::Namespace, Level::Table] {
            if level > named {
                break;
            }
            let is_traversal = level < named;
            let types =
                if is_traversal || level < bound { traversal(level).to_vec() } else { privilege.own(writes) };
            if level <= bound && !(is_traversal && privilege.stands_alone()) {
                steps.push(Step { target: StepTarget::Named(level), types, is_traversal });
            }
        }
        if privilege.stands_alone() {
            for (level, types) in [(Level::Namespace, ALL_NAMESPACE), (Level::Table, ALL_TABLE)] {
                let target = StepTarget::Everything(level);
                steps.push(Step { target, types: types.to_vec(), is_traversal: false });
            }
        }
        // USAGE has a meaning of its own on a catalog, so there it is whole.
        let is_cut_short = named < bound && privilege != Self::Usage;
        Ok(Plan { privilege, steps, is_cut_short })
    }

    /// Whether there is nothing above to add, because it binds to a whole catalog and all that is in it.
    const fn stands_alone(self) -> bool {
        matches!(self, Self::All | Self::Manage)
    }

    /// The access types at the level that the privilege binds to, the telling one first.
    fn own(self, writes: WriteSet) -> Vec<&'static str> {
        let with_discovery = |own: &[&'static str]| [own, TRAVERSE_NAMESPACE].concat();
        match self {
            Self::Select => SELECT.to_vec(),
            Self::SelectView => SELECT_VIEW.to_vec(),
            Self::Monitor => MONITOR.to_vec(),
            Self::Insert | Self::Update | Self::Delete | Self::Truncate | Self::Merge => {
                [COMMIT, read(writes)].concat()
            }
            Self::Modify => [COMMIT, MODIFY_BESIDES, read(writes)].concat(),
            Self::Alter => ALTER.to_vec(),
            Self::AlterView => ALTER_VIEW.to_vec(),
            Self::Drop => vec!["table-drop"],
            Self::DropView => vec!["view-drop"],
            Self::ApplyPolicy => vec!["table-policy-attach", "table-policy-detach"],
            Self::DropSchema => with_discovery(&["namespace-drop"]),
            Self::CreateTable => with_discovery(&["table-create", "table-list"]),
            Self::CreateView => with_discovery(&["view-create", "view-list"]),
            Self::Usage => TRAVERSE_NAMESPACE.to_vec(),
            Self::CreateSchema => vec!["namespace-create", "namespace-list"],
            Self::All | Self::Manage => {
                let mut all = ALL_CATALOG.to_vec();
                all.extend([ALL_NAMESPACE, ALL_TABLE, ALL_BESIDES].concat());
                all
            }
        }
    }

    /// What Sluice's own gate one asks for when the privilege is used; CHECK ACCESS asks for the same.
    pub fn asked(self, class: ObjectClass) -> Vec<(StepTarget, &'static str)> {
        let privilege = self.for_class(class).unwrap_or(self);
        let at = StepTarget::Named(class.level());
        let types: &[&'static str] = if class.level() < privilege.level() {
            traversal(class.level())
        } else {
            match privilege {
                Self::Select => &["table-data-read"],
                Self::SelectView => &["view-properties-read"],
                Self::Monitor => &["table-properties-read"],
                Self::Insert | Self::Truncate | Self::Modify => &["table-data-write"],
                // They read what they change.
                Self::Update | Self::Delete | Self::Merge => &["table-data-write", "table-data-read"],
                Self::Alter => {
                    &["table-schema-add", "table-schema-set-current", "table-format-version-upgrade"]
                }
                Self::AlterView => &["view-properties-write"],
                Self::Drop => &["table-drop"],
                Self::DropView => &["view-drop"],
                Self::ApplyPolicy => &["table-policy-attach", "table-policy-detach"],
                Self::DropSchema => &["namespace-drop"],
                Self::CreateTable => &["table-create"],
                Self::CreateView => &["view-create"],
                Self::Usage => &["namespace-list"],
                Self::CreateSchema => &["namespace-create"],
                Self::All | Self::Manage => &["catalog-content-manage"],
            }
        };
        types.iter().map(|t| (at, *t)).collect()
    }

    /// The access types without which the privilege could not be used, here or behind an outside Polaris. A denial of
    /// another privilege leaves these alone.
    fn needed(self) -> &'static [&'static str] {
        match self {
            Self::Select => SELECT,
            Self::SelectView => SELECT_VIEW,
            Self::Monitor => MONITOR,
            Self::Insert | Self::Update | Self::Delete | Self::Truncate | Self::Merge | Self::Modify => {
                &["table-data-write", "table-snapshot-add", "table-snapshot-ref-set", "table-properties-read"]
            }
            Self::Alter => ALTER,
            Self::AlterView => &["view-properties-write"],
            Self::Drop => &["table-drop"],
            Self::DropView => &["view-drop"],
            Self::ApplyPolicy => &["table-policy-attach", "table-policy-detach"],
            Self::DropSchema => &["namespace-drop"],
            Self::CreateTable => &["table-create", "table-list"],
            Self::CreateView => &["view-create", "view-list"],
            Self::Usage => TRAVERSE_NAMESPACE,
            Self::CreateSchema => &["namespace-create"],
            // They are made of all the others, so a denial of any one narrows them by what it says.
            Self::All | Self::Manage => &[],
        }
    }

    /// Privileges that no access type tells apart are denied together.
    pub(super) fn is_denied_with(self, other: Self) -> bool {
        self == other || (self.is_write() && other.is_write())
    }

    pub(crate) const fn is_write(self) -> bool {
        matches!(
            self,
            Self::Insert | Self::Update | Self::Delete | Self::Truncate | Self::Merge | Self::Modify
        )
    }

    /// Of a step's access types, those that a denial takes away: not those that a privilege which the statement does
    /// not name needs.
    ///
    /// So DENY SELECT takes `table-data-read` alone, since MONITOR and INSERT need `table-properties-read`; DENY INSERT
    /// takes `table-data-write` and the snapshot types, and leaves what ALTER needs. The privileges that write cannot
    /// be told apart by access type, and are denied together. MONITOR has nothing that SELECT does not need, so that
    /// nothing is left of its denial.
    pub fn denied(self, step: &Step, named: &[Self]) -> Vec<&'static str> {
        let is_spared = |access: &str| {
            !self.stands_alone()
                && Self::EVERY
                    .into_iter()
                    .filter(|other| !named.iter().any(|n| n.is_denied_with(*other)))
                    .any(|other| other.needed().contains(&access))
        };
        step.types.iter().copied().filter(|access| !is_spared(access)).collect()
    }
}

const fn traversal(level: Level) -> &'static [&'static str] {
    match level {
        Level::Catalog => TRAVERSE_CATALOG,
        Level::Namespace => TRAVERSE_NAMESPACE,
        Level::Table => &[],
    }
}

const fn read(writes: WriteSet) -> &'static [&'static str] {
    match writes {
        WriteSet::WithoutRead => &[],
        WriteSet::WithRead => &["table-data-read"],
    }
}
