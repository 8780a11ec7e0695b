//! The laws of gate one's table.

use super::{Need, Object, Operation, required};
use crate::defs;
use crate::evaluate::Decision;
use crate::evaluate::fixture::{Draft, NOW, snapshot, who};
use crate::{Membership, Snapshot};

const CATALOG: &str = "root=* catalog=wh";
const NAMESPACE: &str = "root=* catalog=wh namespace=sales";
const TABLE: &str = "root=* catalog=wh namespace=sales table=orders";

fn grant(id: i64, on: &str, who: &str) -> Draft {
    Draft::access(id, on).allow(who).gate_one()
}

fn sales() -> Vec<String> {
    vec!["sales".to_owned()]
}

fn orders() -> Object {
    Object::Table { catalog: "wh".to_owned(), namespace: sales(), table: "orders".to_owned() }
}

fn may(snapshot: &Snapshot, who: &Membership, operation: Operation, object: &Object) -> bool {
    snapshot.may(operation, object, who, None, NOW, None).is_allowed()
}

/// Every operation; a new one must be added to the match, and so to the list.
fn every_operation() -> Vec<Operation> {
    use Operation as O;
    let mut all = vec![O::SeeCatalog];
    let next = |operation| match operation {
        O::SeeCatalog => Some(O::ListNamespaces),
        O::ListNamespaces => Some(O::CreateSchema),
        O::CreateSchema => Some(O::SeeNamespace),
        O::SeeNamespace => Some(O::DropSchema),
        O::DropSchema => Some(O::AlterSchemaProperties),
        O::AlterSchemaProperties => Some(O::ListTables),
        O::ListTables => Some(O::SeeTable),
        O::SeeTable => Some(O::DescribeTable),
        O::DescribeTable => Some(O::SelectTable),
        O::SelectTable => Some(O::InsertInto),
        O::InsertInto => Some(O::UpdateTable),
        O::UpdateTable => Some(O::DeleteFrom),
        O::DeleteFrom => Some(O::MergeInto),
        O::MergeInto => Some(O::TruncateTable),
        O::TruncateTable => Some(O::CreateTable),
        O::CreateTable => Some(O::ReplaceTable),
        O::ReplaceTable => Some(O::DropTable),
        O::DropTable => Some(O::DropTablePurge),
        O::DropTablePurge => Some(O::RenameTable),
        O::RenameTable => Some(O::RenameTableInto),
        O::RenameTableInto => Some(O::AlterTableAddColumn),
        O::AlterTableAddColumn => Some(O::AlterTableDropColumn),
        O::AlterTableDropColumn => Some(O::AlterTableRenameColumn),
        O::AlterTableRenameColumn => Some(O::AlterTableAlterColumn),
        O::AlterTableAlterColumn => Some(O::AlterTablePartitioning),
        O::AlterTablePartitioning => Some(O::AlterTableSortOrder),
        O::AlterTableSortOrder => Some(O::SetTableProperties),
        O::SetTableProperties => Some(O::RemoveTableProperties),
        O::RemoveTableProperties => Some(O::SetTableLocation),
        O::SetTableLocation => Some(O::UpgradeTableFormat),
        O::UpgradeTableFormat => Some(O::ExpireSnapshots),
        O::ExpireSnapshots => Some(O::SetSnapshotRef),
        O::SetSnapshotRef => Some(O::RemoveSnapshotRef),
        O::RemoveSnapshotRef => Some(O::AttachTablePolicy),
        O::AttachTablePolicy => Some(O::DetachTablePolicy),
        O::DetachTablePolicy => Some(O::ListViews),
        O::ListViews => Some(O::SeeView),
        O::SeeView => Some(O::SelectView),
        O::SelectView => Some(O::CreateView),
        O::CreateView => Some(O::ReplaceView),
        O::ReplaceView => Some(O::DropView),
        O::DropView => Some(O::RenameView),
        O::RenameView => Some(O::RenameViewInto),
        O::RenameViewInto => None,
    };
    while let Some(operation) = all.last().copied().and_then(next) {
        all.push(operation);
    }
    all
}

#[test]
fn every_access_type_that_an_operation_needs_is_defined() {
    let polaris = defs::polaris();
    for operation in every_operation() {
        let (Need::All(types) | Need::Any(types)) = required(operation).1;
        assert!(!types.is_empty(), "{operation:?}");
        for needed in types {
            assert!(
                polaris.access_types.iter().any(|access| access.name == *needed),
                "{operation:?}: {needed}"
            );
        }
    }
}

#[test]
fn the_admin_may_everything_and_a_stranger_nothing() {
    let snapshot = snapshot([]);
    let (root, zoe) = (who(&snapshot, "root"), who(&snapshot, "zoe"));
    let objects = [
        Object::Catalog { catalog: "wh".to_owned() },
        Object::Namespace { catalog: "wh".to_owned(), namespace: sales() },
        orders(),
        Object::View { catalog: "wh".to_owned(), namespace: sales(), view: "v".to_owned() },
    ];
    for operation in every_operation() {
        let fitting: Vec<_> = objects.iter().filter(|object| object.fits(required(operation).0)).collect();
        assert!(!fitting.is_empty(), "{operation:?}");
        for object in fitting {
            assert!(may(&snapshot, &root, operation, object), "{operation:?} on {object}");
            assert!(!may(&snapshot, &zoe, operation, object), "{operation:?} on {object}");
        }
    }
}

#[test]
fn reading_needs_the_one_access_type_of_reading() {
    let snapshot =
        snapshot([grant(1, TABLE, "alice/table-data-read"), grant(2, TABLE, "bob/table-data-write")]);
    let (alice, bob) = (who(&snapshot, "alice"), who(&snapshot, "bob"));
    assert!(may(&snapshot, &alice, Operation::SelectTable, &orders()));
    assert!(!may(&snapshot, &alice, Operation::InsertInto, &orders()));
    assert!(may(&snapshot, &bob, Operation::InsertInto, &orders()));
    assert!(!may(&snapshot, &bob, Operation::SelectTable, &orders()), "writing does not give reading");
    assert!(
        !may(&snapshot, &bob, Operation::DeleteFrom, &orders()),
        "a statement that reads its target needs both"
    );
}

#[test]
fn denying_one_thing_leaves_what_others_need() {
    let bundle = "alice/catalog-content-manage";
    let snapshot = snapshot([
        grant(1, TABLE, bundle),
        grant(2, NAMESPACE, bundle),
        grant(3, CATALOG, bundle),
        Draft::access(4, TABLE).deny("alice/table-data-write view-properties-write").gate_one(),
        Draft::access(5, NAMESPACE).deny("alice/table-create view-create").gate_one(),
        Draft::access(6, CATALOG).deny("alice/namespace-create").gate_one(),
    ]);
    let alice = who(&snapshot, "alice");
    let in_sales = Object::Namespace { catalog: "wh".to_owned(), namespace: sales() };
    assert!(!may(&snapshot, &alice, Operation::InsertInto, &orders()));
    assert!(may(&snapshot, &alice, Operation::SelectTable, &orders()));
    assert!(may(&snapshot, &alice, Operation::SeeTable, &orders()));
    assert!(may(&snapshot, &alice, Operation::AlterTableAddColumn, &orders()));
    assert!(!may(&snapshot, &alice, Operation::CreateTable, &in_sales));
    assert!(may(&snapshot, &alice, Operation::ListTables, &in_sales));
    assert!(snapshot.sees_catalog("wh", &alice, NOW, None));
}

#[test]
fn a_grant_on_a_namespace_or_catalog_does_not_reach_the_tables_in_it() {
    let snapshot =
        snapshot([grant(1, NAMESPACE, "alice/table-data-read"), grant(2, CATALOG, "alice/table-data-read")]);
    assert!(!may(&snapshot, &who(&snapshot, "alice"), Operation::SelectTable, &orders()));
}

#[test]
fn a_grant_without_discovery_opens_the_table_and_lists_nothing() {
    let snapshot = snapshot([grant(1, TABLE, "alice/table-data-read table-list table-properties-read")]);
    let alice = who(&snapshot, "alice");
    assert!(snapshot.sees_table("wh", &sales(), "orders", &alice, None, NOW, None));
    assert!(!snapshot.sees_namespace("wh", &sales(), &alice, NOW, None));
    assert!(!snapshot.sees_catalog("wh", &alice, NOW, None));
}

#[test]
fn discovery_shows_the_namespace_and_the_catalog_above_it() {
    let snapshot = snapshot([grant(1, NAMESPACE, "alice/namespace-list")]);
    let alice = who(&snapshot, "alice");
    assert!(snapshot.sees_namespace("wh", &sales(), &alice, NOW, None));
    assert!(snapshot.sees_catalog("wh", &alice, NOW, None));
    assert!(!snapshot.sees_catalog("other", &alice, NOW, None));
    assert!(!snapshot.sees_namespace("wh", &["sales".to_owned(), "eu".to_owned()], &alice, NOW, None));
    assert!(!snapshot.sees_table("wh", &sales(), "orders", &alice, None, NOW, None));
}

#[test]
fn tables_and_views_of_one_name_have_rights_of_their_own() {
    let snapshot = snapshot([grant(1, TABLE, "alice/view-properties-read view-list")]);
    let alice = who(&snapshot, "alice");
    let view = Object::View { catalog: "wh".to_owned(), namespace: sales(), view: "orders".to_owned() };
    assert!(may(&snapshot, &alice, Operation::SelectView, &view));
    assert!(!may(&snapshot, &alice, Operation::SelectTable, &orders()));
    assert!(snapshot.sees_view("wh", &sales(), "orders", &alice, None, NOW, None));
}

#[test]
fn an_owner_may_do_everything_with_the_own_table() {
    let snapshot = snapshot([]);
    let zoe = who(&snapshot, "zoe");
    let may = |operation, owner| snapshot.may(operation, &orders(), &zoe, owner, NOW, None).is_allowed();
    for operation in [Operation::SelectTable, Operation::DropTable, Operation::AlterTableAddColumn] {
        assert!(may(operation, Some("zoe")));
        assert!(!may(operation, Some("somebody else")));
        assert!(!may(operation, None));
    }
}

#[test]
fn an_object_of_the_wrong_kind_or_without_a_name_is_denied() {
    let snapshot = snapshot([]);
    let root = who(&snapshot, "root");
    let catalog = Object::Catalog { catalog: "wh".to_owned() };
    let verdict = snapshot.may(Operation::SelectTable, &catalog, &root, None, NOW, None);
    assert_eq!(verdict.access, Decision::Denied);
    for table in ["", "*"] {
        let all = Object::Table { catalog: "wh".to_owned(), namespace: sales(), table: table.to_owned() };
        assert!(!may(&snapshot, &root, Operation::SelectTable, &all));
    }
    let no_namespace = Object::Table { catalog: "wh".to_owned(), namespace: vec![], table: "t".to_owned() };
    assert!(!may(&snapshot, &root, Operation::SelectTable, &no_namespace));
}

#[test]
fn a_nested_namespace_is_one_name_with_dots() {
    let nested =
        Object::Namespace { catalog: "wh".to_owned(), namespace: vec!["a".to_owned(), "b".to_owned()] };
    assert_eq!(nested.resource().level("namespace"), Some(&crate::LevelValue::One("a.b".into())));
    assert_eq!(nested.to_string(), "wh.a.b");
}
