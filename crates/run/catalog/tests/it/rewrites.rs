//! Rows changed by copy: nothing else moves, deletes of other engines stay, and whoever comes second is told.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use catalog::{CatalogError, ColumnTags, ROW, RowChange, RowChanges, TableChange, TableHandle};
use datafusion::prelude::SessionContext;

use crate::deletes::{delete_positions, five_rows};
use crate::fixture::{Lake, field, files_ending, lake, rows, show, small};

const UPDATE: RowChange = RowChange::Update { action: 0, values_row: 0 };

fn changes(rows: Vec<(i64, RowChange)>, value: &str) -> TableChange {
    let schema = Schema::new(vec![Field::new("v", DataType::Utf8, true)]);
    let values =
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(StringArray::from(vec![value]))]).unwrap();
    TableChange::Rows(RowChanges { rows, values, columns: vec![1], assigned: vec![vec![true]] })
}

async fn rewrite(lake: &Lake, handle: &TableHandle, change: TableChange) -> Result<u64, CatalogError> {
    let state = SessionContext::new_with_config(small()).state();
    lake.catalog.rewrite(handle, &state, change, None, Arc::new(|_| Ok(()))).await
}

async fn numbers(handle: &TableHandle) -> String {
    let session = SessionContext::new_with_config(small());
    session.register_table("t", handle.numbered().provider).unwrap();
    let sql = format!("SELECT \"{ROW}\", a FROM t ORDER BY 1");
    show(&session.sql(&sql).await.unwrap().collect().await.unwrap())
}

#[tokio::test]
async fn chosen_rows_change_and_deleted_ones_stay_deleted() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[1, 3]).await;
    let handle = lake.load("t").await;
    assert_eq!(numbers(&handle).await, "0 1\n2 3\n4 5");
    rewrite(&lake, &handle, changes(vec![(0, RowChange::Delete), (2, UPDATE)], "new")).await.unwrap();
    assert_eq!(lake.query("SELECT a, b FROM t ORDER BY a").await, "3 new\n5 e");
    lake.insert("t", "VALUES (2, 'again')").await;
    let handle = lake.load("t").await;
    assert_eq!(lake.query("SELECT a, b FROM t ORDER BY a").await, "2 again\n3 new\n5 e");
    rewrite(&lake, &handle, TableChange::RemoveAll).await.unwrap();
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "0");
    lake.insert("t", "VALUES (4, 'd')").await;
    assert_eq!(lake.query("SELECT a, b FROM t").await, "4 d");
}

#[tokio::test]
async fn files_that_no_change_touches_stay_as_they_are() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64), field("b", DataType::Utf8)], &["b"]).await;
    lake.insert("t", "VALUES (1, 'x'), (2, 'y'), (3, NULL)").await;
    lake.insert("t", "VALUES (4, 'x'), (5, 'y')").await;
    let before = files_ending(lake.folder.path(), ".parquet");
    let handle = lake.load("t").await;
    let all = numbers(&handle).await;
    let number = |a: &str| -> i64 {
        let line = all.lines().find(|line| line.ends_with(&format!(" {a}"))).unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    };
    // The last row of its file goes without a copy; another moves to another partition.
    let mut rows = vec![(number("3"), RowChange::Delete), (number("5"), UPDATE)];
    rows.sort_by_key(|(n, _)| *n);
    rewrite(&lake, &handle, changes(rows, "z")).await.unwrap();
    assert_eq!(lake.query("SELECT a, b FROM t ORDER BY a").await, "1 x\n2 y\n4 x\n5 z");
    assert_eq!(lake.query("SELECT a FROM t WHERE b = 'z'").await, "5");
    assert_eq!(files_ending(lake.folder.path(), ".parquet"), before + 1);
}

#[tokio::test]
async fn a_change_of_what_is_no_more_is_a_conflict_and_leaves_no_file() {
    let lake = five_rows().await;
    let old = lake.load("t").await;
    lake.insert("t", "VALUES (6, 'f')").await;
    let before = files_ending(lake.folder.path(), ".parquet");
    let avro = files_ending(lake.folder.path(), ".avro");
    let error = rewrite(&lake, &old, changes(vec![(0, UPDATE)], "new")).await.unwrap_err();
    assert!(matches!(error, CatalogError::Conflict(_)), "{error}");
    assert_eq!(files_ending(lake.folder.path(), ".parquet"), before);
    assert_eq!(files_ending(lake.folder.path(), ".avro"), avro);
    assert_eq!(lake.query("SELECT count(*) FROM t WHERE b = 'new'").await, "0");
}

#[tokio::test]
async fn a_row_that_is_not_there_is_an_error() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[1]).await;
    let handle = lake.load("t").await;
    for number in [1, 5, 99] {
        assert!(rewrite(&lake, &handle, changes(vec![(number, UPDATE)], "new")).await.is_err(), "{number}");
    }
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "4");
}

#[tokio::test]
async fn a_table_that_takes_anothers_place_keeps_identity_and_ids_by_name() {
    let lake = five_rows().await;
    let old = lake.load("t").await;
    let schema = Schema::new(vec![field("c", DataType::Int64), field("b", DataType::Utf8)]);
    let mut pending =
        lake.catalog.begin_replace(&old, &schema, &["b".to_owned()], &ColumnTags::new()).unwrap();
    assert_eq!(pending.append(rows("VALUES (1, 'x'), (2, 'y')").await).await.unwrap(), 2);
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "5");
    let new = pending.commit().await.unwrap();
    assert_eq!(new.uuid, old.uuid);
    assert_eq!(new.field_ids[1], old.field_ids[1]);
    assert!(!old.field_ids.contains(&new.field_ids[0]));
    assert_eq!(lake.query("SELECT c, b FROM t ORDER BY c").await, "1 x\n2 y");
    let mut lost = lake.catalog.begin_replace(&old, &schema, &[], &ColumnTags::new()).unwrap();
    lost.append(rows("VALUES (1, 'x')").await).await.unwrap();
    assert!(matches!(lost.commit().await.unwrap_err(), CatalogError::Conflict(_)));
    let empty = lake.catalog.begin_replace(&new, &schema, &[], &ColumnTags::new()).unwrap();
    empty.commit().await.unwrap();
    assert_eq!(lake.query("SELECT count(*) FROM t").await, "0");
    lake.insert("t", "VALUES (7, 'z')").await;
    assert_eq!(lake.query("SELECT c, b FROM t").await, "7 z");
}

#[tokio::test]
async fn every_kind_of_value_is_copied_as_it_is() {
    let lake = lake().await;
    let item = Arc::new(Field::new("item", DataType::Utf8, true));
    let inner = vec![field("x", DataType::Int64), field("y", DataType::Utf8)];
    let fields = vec![
        field("a", DataType::Int64),
        field("b", DataType::Utf8),
        field("f", DataType::Float64),
        field("d", DataType::Decimal128(20, 3)),
        field("w", DataType::Date32),
        field("o", DataType::Boolean),
        field("y", DataType::LargeBinary),
        field("l", DataType::List(item)),
        field("s", DataType::Struct(inner.into())),
    ];
    lake.create("t", fields, &[]).await;
    let values = "SELECT 1, 'x', CAST('-0.0' AS DOUBLE), CAST('1.250' AS DECIMAL(20,3)), DATE '2021-05-04', true, \
                  arrow_cast('ab', 'LargeBinary'), ['p', NULL], named_struct('x', 1, 'y', 'q') \
                  UNION ALL SELECT 2, NULL, CAST('NaN' AS DOUBLE), NULL, NULL, NULL, NULL, NULL, NULL";
    lake.insert("t", values).await;
    let before = lake.query("SELECT a, f, d, w, o, y, l, s FROM t ORDER BY a").await;
    let handle = lake.load("t").await;
    rewrite(&lake, &handle, changes(vec![(0, UPDATE)], "new")).await.unwrap();
    assert_eq!(lake.query("SELECT a, f, d, w, o, y, l, s FROM t ORDER BY a").await, before);
    assert_eq!(lake.query("SELECT b FROM t ORDER BY b NULLS FIRST").await, "NULL\nnew");
}
