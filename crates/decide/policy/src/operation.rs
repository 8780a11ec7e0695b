//! The gate-one table: which access types each operation needs, and on what.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use stdx::Timestamp;

use crate::defs::GATE_ONE_SERVICE;
use crate::evaluate::{Decision, Request, Resource, Scope, Verdict};
use crate::{Membership, Snapshot};

/// What somebody wants to do at gate one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    // Catalogs and namespaces.
    SeeCatalog,
    ListNamespaces,
    /// Asked of the catalog, or of the namespace that will hold the new one.
    CreateSchema,
    SeeNamespace,
    DropSchema,
    AlterSchemaProperties,
    // Tables.
    ListTables,
    SeeTable,
    /// `DESCRIBE`: schema and properties, no rows.
    DescribeTable,
    SelectTable,
    InsertInto,
    /// Reads its target as well.
    UpdateTable,
    /// Reads its target as well.
    DeleteFrom,
    /// Reads its target as well.
    MergeInto,
    TruncateTable,
    /// Asked of the namespace.
    CreateTable,
    /// The half of `CREATE OR REPLACE TABLE` that is asked of the old table.
    ReplaceTable,
    DropTable,
    DropTablePurge,
    /// The half of a rename that is asked of the table.
    RenameTable,
    /// The half of a rename that is asked of the namespace where the table will stand.
    RenameTableInto,
    AlterTableAddColumn,
    AlterTableDropColumn,
    AlterTableRenameColumn,
    AlterTableAlterColumn,
    AlterTablePartitioning,
    AlterTableSortOrder,
    SetTableProperties,
    RemoveTableProperties,
    SetTableLocation,
    UpgradeTableFormat,
    ExpireSnapshots,
    /// Creates or moves a branch or tag, rollbacks included.
    SetSnapshotRef,
    RemoveSnapshotRef,
    AttachTablePolicy,
    DetachTablePolicy,
    // Views, which stand in the table slot.
    ListViews,
    SeeView,
    SelectView,
    /// Asked of the namespace.
    CreateView,
    ReplaceView,
    DropView,
    /// The half of a rename that is asked of the view.
    RenameView,
    /// The half of a rename that is asked of the namespace where the view will stand.
    RenameViewInto,
}

/// What an operation is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Catalog,
    /// A catalog, or a namespace that holds others.
    Container,
    Namespace,
    Table,
    View,
}

/// Which access types are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    All(&'static [&'static str]),
    Any(&'static [&'static str]),
}

/// What an operation needs, and of what.
pub const fn required(operation: Operation) -> (Target, Need) {
    use Need::{All, Any};
    use Operation as O;
    use Target::{Catalog, Container, Namespace, Table, View};
    match operation {
        O::SeeCatalog => (Catalog, Any(&["namespace-list", "catalog-content-manage"])),
        O::ListNamespaces => (Container, All(&["namespace-list"])),
        O::CreateSchema => (Container, All(&["namespace-create"])),
        O::SeeNamespace => (Namespace, Any(&["namespace-list", "namespace-properties-read"])),
        O::DropSchema => (Namespace, All(&["namespace-drop"])),
        O::AlterSchemaProperties => (Namespace, All(&["namespace-properties-write"])),
        O::ListTables => (Namespace, All(&["table-list"])),
        O::SeeTable => (Table, Any(&["table-list", "table-properties-read", "table-data-read"])),
        O::DescribeTable => (Table, Any(&["table-properties-read", "table-data-read"])),
        O::SelectTable => (Table, All(&["table-data-read"])),
        O::InsertInto | O::TruncateTable => (Table, All(&["table-data-write"])),
        O::UpdateTable | O::DeleteFrom | O::MergeInto => {
            (Table, All(&["table-data-write", "table-data-read"]))
        }
        O::CreateTable => (Namespace, All(&["table-create"])),
        O::ReplaceTable | O::DropTable | O::RenameTable => (Table, All(&["table-drop"])),
        O::DropTablePurge => (Table, All(&["table-drop", "table-data-write"])),
        O::RenameTableInto => (Namespace, All(&["table-list", "table-create"])),
        // The first two stand in the commit set of INSERT as well; what else ALTER and MODIFY hold tells them apart.
        O::AlterTableAddColumn
        | O::AlterTableDropColumn
        | O::AlterTableRenameColumn
        | O::AlterTableAlterColumn => {
            (Table, All(&["table-schema-add", "table-schema-set-current", "table-format-version-upgrade"]))
        }
        O::AlterTablePartitioning => (Table, All(&["table-partition-spec-add"])),
        O::AlterTableSortOrder => (Table, All(&["table-sort-order-add", "table-sort-order-set-default"])),
        O::SetTableProperties => (Table, All(&["table-properties-set"])),
        O::RemoveTableProperties => (Table, All(&["table-properties-remove"])),
        O::SetTableLocation => (Table, All(&["table-location-set"])),
        O::UpgradeTableFormat => (Table, All(&["table-format-version-upgrade"])),
        O::ExpireSnapshots => (Table, All(&["table-snapshots-remove"])),
        O::SetSnapshotRef => (Table, All(&["table-snapshot-ref-set"])),
        O::RemoveSnapshotRef => (Table, All(&["table-snapshot-ref-remove"])),
        O::AttachTablePolicy => (Table, All(&["table-policy-attach"])),
        O::DetachTablePolicy => (Table, All(&["table-policy-detach"])),
        O::ListViews => (Namespace, All(&["view-list"])),
        O::SeeView => (View, Any(&["view-list", "view-properties-read"])),
        O::SelectView => (View, All(&["view-properties-read"])),
        O::CreateView => (Namespace, All(&["view-create"])),
        O::ReplaceView => (View, All(&["view-properties-write"])),
        O::DropView | O::RenameView => (View, All(&["view-drop"])),
        O::RenameViewInto => (Namespace, All(&["view-list", "view-create"])),
    }
}

/// A thing of gate one by its resolved name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    Catalog { catalog: String },
    Namespace { catalog: String, namespace: Vec<String> },
    Table { catalog: String, namespace: Vec<String>, table: String },
    View { catalog: String, namespace: Vec<String>, view: String },
}

impl Object {
    fn fits(&self, target: Target) -> bool {
        match target {
            Target::Catalog => matches!(self, Self::Catalog { .. }),
            Target::Container => matches!(self, Self::Catalog { .. } | Self::Namespace { .. }),
            Target::Namespace => matches!(self, Self::Namespace { .. }),
            Target::Table => matches!(self, Self::Table { .. }),
            Target::View => matches!(self, Self::View { .. }),
        }
    }

    /// The names from the catalog inwards; a nested namespace is one name in full.
    fn names(&self) -> (&str, Option<String>, Option<&str>) {
        match self {
            Self::Catalog { catalog } => (catalog, None, None),
            Self::Namespace { catalog, namespace } => (catalog, Some(namespace.join(".")), None),
            Self::Table { catalog, namespace, table: name }
            | Self::View { catalog, namespace, view: name } => {
                (catalog, Some(namespace.join(".")), Some(name))
            }
        }
    }

    /// The resource of the gate-one service. The realm is every realm; views stand in the table slot.
    pub fn resource(&self) -> Resource<'_> {
        let (catalog, namespace, table) = self.names();
        let named = [
            ("root", Some(Cow::Borrowed("*"))),
            ("catalog", Some(Cow::Borrowed(catalog))),
            ("namespace", namespace.map(Cow::Owned)),
            ("table", table.map(Cow::Borrowed)),
        ];
        Resource::new(named.into_iter().filter_map(|(level, value)| Some((level, value?))))
    }

    /// Whether every name is one that a policy can name: an empty one or `*` would ask for everything at once.
    fn is_named(&self) -> bool {
        let (catalog, namespace, table) = self.names();
        [Some(catalog), namespace.as_deref(), table]
            .into_iter()
            .flatten()
            .all(|name| !name.is_empty() && name != "*")
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (catalog, namespace, table) = self.names();
        f.write_str(catalog)?;
        for name in [namespace.as_deref(), table].into_iter().flatten() {
            write!(f, ".{name}")?;
        }
        Ok(())
    }
}

impl Snapshot {
    /// Whether gate one lets somebody do something to something.
    pub fn may(
        &self,
        operation: Operation,
        object: &Object,
        who: &Membership,
        owner: Option<&str>,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> Verdict {
        let (target, need) = required(operation);
        if !object.fits(target) || !object.is_named() {
            return Verdict::refused(format!("{operation:?} cannot be asked of `{object}`"));
        }
        let request = |access| Request {
            service: GATE_ONE_SERVICE,
            resource: object.resource(),
            owner,
            access,
            who,
            now,
            client_addr,
            context: &crate::NO_CONTEXT,
        };
        let scope = match operation {
            // Whoever may see a namespace sees the catalog that it is in.
            Operation::SeeCatalog => Scope::ItselfOrBelow,
            _ => Scope::Itself,
        };
        match need {
            Need::All(types) => {
                let mut first = None;
                for access in types {
                    let verdict = self.access_in(&request(access), scope);
                    if !verdict.is_allowed() {
                        return verdict;
                    }
                    first = first.or(Some(verdict));
                }
                first.unwrap_or_else(|| Verdict::refused(format!("{operation:?} needs no access type")))
            }
            Need::Any(types) => {
                let mut best: Option<Verdict> = None;
                for access in types {
                    let verdict = self.access_in(&request(access), scope);
                    if verdict.is_allowed() {
                        return verdict;
                    }
                    // A denial says more than that nobody said anything.
                    if best.is_none() || verdict.access == Decision::Denied {
                        best = Some(verdict);
                    }
                }
                best.unwrap_or_else(|| Verdict::refused(format!("{operation:?} needs no access type")))
            }
        }
    }

    /// Whether a catalog is there for somebody.
    pub fn sees_catalog(
        &self,
        catalog: &str,
        who: &Membership,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> bool {
        let object = Object::Catalog { catalog: catalog.to_owned() };
        self.may(Operation::SeeCatalog, &object, who, None, now, client_addr).is_allowed()
    }

    /// Whether a namespace is there for somebody. A grant on a table in it is not enough (`WITHOUT DISCOVERY`).
    pub fn sees_namespace(
        &self,
        catalog: &str,
        namespace: &[String],
        who: &Membership,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> bool {
        let object = Object::Namespace { catalog: catalog.to_owned(), namespace: namespace.to_vec() };
        self.may(Operation::SeeNamespace, &object, who, None, now, client_addr).is_allowed()
    }

    /// Whether a table is there for somebody who names it. To be listed, its namespace must be seen too.
    #[expect(
        clippy::too_many_arguments,
        reason = "the name's three parts and the circumstances, all different types"
    )]
    pub fn sees_table(
        &self,
        catalog: &str,
        namespace: &[String],
        table: &str,
        who: &Membership,
        owner: Option<&str>,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> bool {
        let (catalog, namespace, table) = (catalog.to_owned(), namespace.to_vec(), table.to_owned());
        let object = Object::Table { catalog, namespace, table };
        self.may(Operation::SeeTable, &object, who, owner, now, client_addr).is_allowed()
    }

    /// Whether a view is there for somebody who names it. To be listed, its namespace must be seen too.
    #[expect(
        clippy::too_many_arguments,
        reason = "the name's three parts and the circumstances, all different types"
    )]
    pub fn sees_view(
        &self,
        catalog: &str,
        namespace: &[String],
        view: &str,
        who: &Membership,
        owner: Option<&str>,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> bool {
        let (catalog, namespace, view) = (catalog.to_owned(), namespace.to_vec(), view.to_owned());
        let object = Object::View { catalog, namespace, view };
        self.may(Operation::SeeView, &object, who, owner, now, client_addr).is_allowed()
    }
}

#[cfg(test)]
mod tests;
