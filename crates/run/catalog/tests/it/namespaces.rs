//! Names: what there is, what may be called how, and what survives reopening.

use arrow::datatypes::DataType;
use catalog::{NewView, OnExisting, ViewSecurity};
use stdx::ErrorKind;

use crate::fixture::{field, lake, ns, open, rows};

fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

fn view(sql: &str) -> NewView {
    NewView {
        sql: sql.to_owned(),
        default_catalog: "lake".to_owned(),
        default_namespace: ns(),
        columns: vec!["a".to_owned()],
        security: ViewSecurity::Definer,
        owner: "ann".to_owned(),
        reads: vec!["of lake.ns.t 1 a".to_owned()],
    }
}

#[tokio::test]
async fn a_reopened_catalog_has_what_it_had() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "VALUES (1), (2)").await;
    lake.catalog.create_view(&ns(), "v", view("SELECT a FROM t"), OnExisting::Fail).await.unwrap();
    let before = lake.load("t").await;

    let again = open(&lake.folder).await;
    assert_eq!(again.namespaces().await.unwrap(), vec![ns()]);
    assert_eq!(again.tables(&ns()).await.unwrap(), ["t"]);
    assert_eq!(again.views(&ns()).await.unwrap(), ["v"]);
    let after = again.load(&ns(), "t").await.unwrap().unwrap();
    assert_eq!((after.uuid, after.snapshot_id), (before.uuid, before.snapshot_id));
    let stored = again.load_view(&ns(), "v").await.unwrap().unwrap();
    assert_eq!((stored.sql.as_str(), stored.security), ("SELECT a FROM t", ViewSecurity::Definer));
}

#[tokio::test]
async fn what_is_not_there_is_none() {
    let lake = lake().await;
    assert!(lake.catalog.load(&ns(), "t").await.unwrap().is_none());
    assert!(lake.catalog.load(&path("other"), "t").await.unwrap().is_none());
    assert!(lake.catalog.load_view(&ns(), "v").await.unwrap().is_none());
    let missing = lake.catalog.drop_table(&ns(), "t").await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::TableNotFound);
}

#[tokio::test]
async fn ambiguous_names_are_refused() {
    let lake = lake().await;
    let schema = arrow::datatypes::Schema::new(vec![field("a", DataType::Int64)]);
    for name in ["", "a/b", "a*", "a?", "{a}", "a$", "a.b", "a\n", " a"] {
        let made = lake.catalog.create_table(&ns(), name, &schema, &[], Default::default()).await;
        assert_eq!(made.unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
        let made = lake.catalog.create_namespace(&[name.to_owned()]).await;
        assert_eq!(made.unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
    }
}

#[tokio::test]
async fn names_that_differ_by_case_alone_are_refused() {
    let lake = lake().await;
    lake.create("Orders", vec![field("a", DataType::Int64)], &[]).await;
    let schema = arrow::datatypes::Schema::new(vec![field("a", DataType::Int64)]);
    let made = lake.catalog.create_table(&ns(), "orders", &schema, &[], Default::default()).await;
    assert_eq!(made.unwrap_err().to_string(), "`orders` differs from the existing `Orders` by case alone");
    let made = lake.catalog.create_namespace(&path("Sales")).await;
    assert_eq!(made.unwrap_err().kind(), ErrorKind::ObjectExists);
    let twins = arrow::datatypes::Schema::new(vec![field("a", DataType::Int64), field("A", DataType::Int64)]);
    let made = lake.catalog.create_table(&ns(), "t", &twins, &[], Default::default()).await;
    assert_eq!(made.unwrap_err().kind(), ErrorKind::ObjectExists);
}

#[tokio::test]
async fn a_view_and_a_table_never_share_a_name() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    let made = lake.catalog.create_view(&ns(), "t", view("SELECT 1"), OnExisting::Replace).await;
    assert_eq!(made.unwrap_err().kind(), ErrorKind::TableExists);
    lake.catalog.create_view(&ns(), "v", view("SELECT 1"), OnExisting::Fail).await.unwrap();
    let schema = arrow::datatypes::Schema::new(vec![field("a", DataType::Int64)]);
    let made = lake.catalog.create_table(&ns(), "v", &schema, &[], Default::default()).await;
    assert_eq!(made.unwrap_err().to_string(), "view `sales.v` already exists");
}

#[tokio::test]
async fn a_view_is_replaced_only_when_asked() {
    let lake = lake().await;
    let replaced = lake.catalog.replace_view(&ns(), "v", view("SELECT 2")).await;
    assert_eq!(replaced.unwrap_err().kind(), ErrorKind::TableNotFound);
    lake.catalog.create_view(&ns(), "v", view("SELECT 1"), OnExisting::Fail).await.unwrap();
    let again = lake.catalog.create_view(&ns(), "v", view("SELECT 2"), OnExisting::Fail).await;
    assert_eq!(again.unwrap_err().kind(), ErrorKind::TableExists);
    lake.catalog.create_view(&ns(), "v", view("SELECT 3"), OnExisting::Replace).await.unwrap();
    assert_eq!(lake.catalog.load_view(&ns(), "v").await.unwrap().unwrap().sql, "SELECT 3");
    lake.catalog.drop_view(&ns(), "v").await.unwrap();
    assert!(lake.catalog.views(&ns()).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_an_empty_namespace_can_be_dropped() {
    let lake = lake().await;
    let orphan = lake.catalog.create_namespace(&path("eu.de")).await;
    assert_eq!(orphan.unwrap_err().kind(), ErrorKind::SchemaNotFound);
    lake.catalog.create_namespace(&path("sales.eu")).await.unwrap();
    assert_eq!(lake.catalog.drop_namespace(&ns()).await.unwrap_err().kind(), ErrorKind::Dependent);
    lake.catalog.drop_namespace(&path("sales.eu")).await.unwrap();
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    assert_eq!(lake.catalog.drop_namespace(&ns()).await.unwrap_err().kind(), ErrorKind::Dependent);
    lake.catalog.drop_table(&ns(), "t").await.unwrap();
    lake.catalog.drop_namespace(&ns()).await.unwrap();
    assert_eq!(lake.catalog.tables(&ns()).await.unwrap_err().kind(), ErrorKind::SchemaNotFound);
}

#[tokio::test]
async fn no_error_names_a_path() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "VALUES (1)").await;
    let handle = lake.load("t").await;
    let session = lake.session(crate::fixture::small()).await;
    std::fs::remove_dir_all(format!("{}/data", handle.location.trim_start_matches("file://"))).unwrap();
    let read = session.sql("SELECT a FROM t").await.unwrap().collect().await.unwrap_err().to_string();
    assert!(read.contains("a data file of the table cannot be read"), "{read}");
    std::fs::remove_dir_all(lake.folder.path().join("warehouse")).unwrap();
    let write = lake.catalog.append(&handle, rows("VALUES ('x')").await).await.unwrap_err().to_string();
    let load = open(&lake.folder).await.load(&ns(), "t").await.unwrap_err().to_string();
    for text in [read, write, load] {
        assert!(
            !text.contains("warehouse/") && !text.contains(".parquet") && !text.contains("/tmp"),
            "{text}"
        );
    }
}
