//! Writes: all rows or none, seen only when they are committed.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::error::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::future::join_all;
use futures::stream;
use stdx::ErrorKind;

use crate::fixture::{batches, field, files_ending, lake, ns, rows};

#[tokio::test]
async fn rows_are_counted_and_read_back() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64), field("b", DataType::Utf8)], &[]).await;
    assert_eq!(lake.insert("t", "VALUES (1, 'x'), (2, NULL)").await, 2);
    assert_eq!(lake.insert("t", "SELECT 1, 'y' WHERE false").await, 0);
    assert_eq!(lake.query("SELECT a, b FROM t ORDER BY a").await, "1 x\n2 NULL");
    let statistics = lake.query("SELECT count(*), min(a), max(a) FROM t").await;
    assert_eq!(statistics, "2 1 2");
}

#[tokio::test]
async fn concurrent_appends_all_land() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    let handle = lake.load("t").await;
    let append =
        async |n: i64| lake.catalog.append(&handle, rows(&format!("VALUES ({n})")).await).await.unwrap();
    let landed = join_all((0..6).map(append)).await;
    assert_eq!(landed, [1; 6]);
    assert_eq!(lake.query("SELECT count(*), sum(a) FROM t").await, "6 15");
}

#[tokio::test]
async fn a_null_where_none_is_taken_stops_the_write() {
    let lake = lake().await;
    lake.create("t", vec![Field::new("a", DataType::Int64, false)], &[]).await;
    let handle = lake.load("t").await;
    let error = lake.catalog.append(&handle, rows("VALUES (1), (NULL)").await).await.unwrap_err();
    assert_eq!(error.to_string(), "column `a` of table `sales.t` does not take null");
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "0");
    assert_eq!(files_ending(lake.folder.path(), ".parquet"), 0);
}

#[tokio::test]
async fn a_value_that_does_not_fit_stops_the_write() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int32)], &[]).await;
    let handle = lake.load("t").await;
    for sql in ["VALUES (3000000000)", "VALUES ('x')", "SELECT interval '1 day'"] {
        let error = lake.catalog.append(&handle, rows(sql).await).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TypeMismatch, "{sql}: {error}");
    }
    let error = lake.catalog.append(&handle, rows("VALUES (1, 2)").await).await.unwrap_err();
    assert_eq!(error.to_string(), "the rows do not fit table `sales.t`: it has 1 columns, they have 2");
    assert_eq!(files_ending(lake.folder.path(), ".parquet"), 0);
}

#[tokio::test]
async fn a_table_made_from_a_query_is_seen_only_when_it_is_whole() {
    let lake = lake().await;
    let schema = Schema::new(vec![field("a", DataType::Int64)]);
    let mut pending = lake.catalog.begin_create(&ns(), "t", &schema, &[], Default::default()).await.unwrap();
    pending.append(rows("VALUES (1), (2)").await).await.unwrap();
    assert!(lake.catalog.load(&ns(), "t").await.unwrap().is_none());
    pending.append(rows("VALUES (3)").await).await.unwrap();
    let handle = pending.commit().await.unwrap();
    assert!(handle.snapshot_id.is_some());
    assert_eq!(lake.query("SELECT count(*), sum(a) FROM t").await, "3 6");
    lake.insert("t", "VALUES (4)").await;
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "4");
}

#[tokio::test]
async fn a_failed_table_from_a_query_leaves_nothing() {
    let lake = lake().await;
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Int64)]));
    let mut pending = lake.catalog.begin_create(&ns(), "t", &schema, &[], Default::default()).await.unwrap();
    let good = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(Int64Array::from(vec![1]))]).unwrap();
    let broken = stream::iter([Ok(good), Err(DataFusionError::Execution("division by zero".to_owned()))]);
    let error = pending.append(Box::pin(RecordBatchStreamAdapter::new(schema, broken))).await.unwrap_err();
    assert!(matches!(error, catalog::CatalogError::Input(_)));
    pending.abandon().await;
    assert!(lake.catalog.load(&ns(), "t").await.unwrap().is_none());
    assert_eq!(files_ending(lake.folder.path(), ".parquet") + files_ending(lake.folder.path(), ".json"), 0);
}

#[tokio::test]
async fn of_two_tables_of_one_name_the_second_is_refused_and_the_first_stays() {
    let lake = lake().await;
    let schema = Schema::new(vec![field("a", DataType::Int64)]);
    let mut late = lake.catalog.begin_create(&ns(), "t", &schema, &[], Default::default()).await.unwrap();
    late.append(rows("VALUES (9)").await).await.unwrap();
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "VALUES (1)").await;
    assert_eq!(late.commit().await.unwrap_err().kind(), ErrorKind::TableExists);
    assert_eq!(lake.query("SELECT a FROM t").await, "1");
}

#[tokio::test]
async fn rows_for_a_table_that_was_made_anew_are_refused() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    let old = lake.load("t").await;
    lake.catalog.drop_table(&ns(), "t").await.unwrap();
    let gone = lake.catalog.append(&old, rows("VALUES (1)").await).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::TableNotFound);
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    let other = lake.catalog.append(&old, rows("VALUES (1)").await).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Conflict);
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "0");
}

#[tokio::test]
async fn owner_and_properties_are_kept() {
    let lake = lake().await;
    let properties = [("owner".to_owned(), "ann".to_owned()), ("k".to_owned(), "v".to_owned())].into();
    let schema = Schema::new(vec![field("a", DataType::Int64)]);
    let made = lake.catalog.create_table(&ns(), "t", &schema, &[], properties).await.unwrap();
    assert_eq!(made.owner.as_deref(), Some("ann"));
    let set = [("owner".to_owned(), "bob".to_owned())].into();
    let changed = lake.catalog.set_properties(&ns(), "t", set, vec!["k".to_owned()]).await.unwrap();
    assert_eq!((changed.owner.as_deref(), changed.properties.get("k")), (Some("bob"), None));
}

#[tokio::test]
async fn a_batch_of_many_partitions_goes_to_one_file_each() {
    let lake = lake().await;
    lake.create("t", vec![field("p", DataType::Int64)], &["p"]).await;
    let schema = Arc::new(Schema::new(vec![field("p", DataType::Int64)]));
    let values = Int64Array::from(vec![Some(1), Some(2), None, Some(1)]);
    let batch = RecordBatch::try_new(schema, vec![Arc::new(values)]).unwrap();
    let handle = lake.load("t").await;
    assert_eq!(lake.catalog.append(&handle, batches(vec![batch.clone(), batch])).await.unwrap(), 8);
    assert_eq!(files_ending(lake.folder.path(), ".parquet"), 3);
    assert_eq!(lake.query("SELECT p, count(*) FROM t GROUP BY p ORDER BY p").await, "1 4\n2 2\nNULL 2");
}
