//! Columns are their field ids: renamed, dropped and added again, they keep to their own values.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Schema, Type};
use stdx::ErrorKind;

use crate::fixture::{field, lake, ns};

#[tokio::test]
async fn a_renamed_column_keeps_its_values() {
    let lake = lake().await;
    lake.create("t", vec![field("id", DataType::Int64), field("m", DataType::Utf8)], &[]).await;
    lake.insert("t", "VALUES (1, 'a'), (2, 'b')").await;
    let before = lake.load("t").await;
    let after = lake.catalog.rename_column(&ns(), "t", "m", "n").await.unwrap();
    assert_eq!(after.field_ids, before.field_ids);
    assert_eq!(after.former_names(before.field_ids[1]), ["m"]);
    lake.insert("t", "VALUES (3, 'c')").await;
    assert_eq!(lake.query("SELECT id, n FROM t WHERE n >= 'b' ORDER BY id").await, "2 b\n3 c");
}

#[tokio::test]
async fn a_column_dropped_and_added_again_shows_no_old_value() {
    let lake = lake().await;
    lake.create("t", vec![field("id", DataType::Int64), field("secret", DataType::Utf8)], &[]).await;
    lake.insert("t", "VALUES (1, 'old')").await;
    let before = lake.load("t").await;
    lake.catalog.drop_column(&ns(), "t", "secret").await.unwrap();
    let after = lake.catalog.add_column(&ns(), "t", &field("secret", DataType::Utf8)).await.unwrap();
    assert!(after.field_ids[1] > before.field_ids[1]);
    assert_eq!(lake.query("SELECT id, secret FROM t").await, "1 NULL");
    assert_eq!(lake.query("SELECT id FROM t WHERE secret = 'old'").await, "");
    assert_eq!(lake.query("SELECT max(secret), count(secret) FROM t").await, "NULL 0");
    lake.insert("t", "VALUES (2, 'new')").await;
    assert_eq!(lake.query("SELECT id, secret FROM t ORDER BY id").await, "1 NULL\n2 new");
}

#[tokio::test]
async fn columns_that_swap_names_keep_their_values() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64), field("b", DataType::Int64)], &[]).await;
    lake.insert("t", "VALUES (1, 2)").await;
    for (from, to) in [("a", "x"), ("b", "a"), ("x", "b")] {
        lake.catalog.rename_column(&ns(), "t", from, to).await.unwrap();
    }
    assert_eq!(lake.query("SELECT a, b FROM t").await, "2 1");
    assert_eq!(lake.query("SELECT b FROM t WHERE a = 2").await, "1");
    assert_eq!(lake.query("SELECT b FROM t WHERE a = 1").await, "");
}

#[tokio::test]
async fn a_handle_reads_the_snapshot_it_was_loaded_with() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "VALUES (1)").await;
    let session = lake.session(crate::fixture::small()).await;
    lake.insert("t", "VALUES (2)").await;
    lake.catalog.rename_column(&ns(), "t", "a", "b").await.unwrap();
    let old = session.sql("SELECT a FROM t").await.unwrap().collect().await.unwrap();
    assert_eq!(crate::fixture::show(&old), "1");
    assert_eq!(lake.query("SELECT b FROM t ORDER BY b").await, "1\n2");
}

#[tokio::test]
async fn a_field_of_a_struct_is_found_by_its_id() {
    let lake = lake().await;
    let inner = DataType::Struct(vec![field("x", DataType::Int64), field("y", DataType::Utf8)].into());
    lake.create("t", vec![field("id", DataType::Int64), field("s", inner)], &[]).await;
    lake.insert("t", "SELECT 1, named_struct('x', 7, 'y', 'seven')").await;
    lake.catalog.rename_column(&ns(), "t", "s", "r").await.unwrap();
    assert_eq!(lake.query("SELECT r['x'], r['y'] FROM t").await, "7 seven");
}

async fn refused(
    change: impl AsyncFnOnce(&crate::fixture::Lake) -> catalog::CatalogError,
    kind: ErrorKind,
    text: &str,
) {
    let lake = lake().await;
    let required = Field::new("id", DataType::Int64, false);
    lake.create("t", vec![required, field("p", DataType::Utf8)], &["p"]).await;
    let error = change(&lake).await;
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
}

#[tokio::test]
async fn changes_that_cannot_be_are_refused() {
    refused(
        async |lake| lake.catalog.drop_column(&ns(), "t", "p").await.unwrap_err(),
        ErrorKind::Dependent,
        "column `p` of table `sales.t` partitions the table",
    )
    .await;
    refused(
        async |lake| lake.catalog.rename_column(&ns(), "t", "q", "r").await.unwrap_err(),
        ErrorKind::ColumnNotFound,
        "no such column `q` in table `sales.t`",
    )
    .await;
    refused(
        async |lake| lake.catalog.rename_column(&ns(), "t", "p", "ID").await.unwrap_err(),
        ErrorKind::ObjectExists,
        "`ID` differs from the existing `id` by case alone",
    )
    .await;
    refused(
        async |lake| {
            let required = Field::new("r", DataType::Int64, false);
            lake.catalog.add_column(&ns(), "t", &required).await.unwrap_err()
        },
        ErrorKind::Dependent,
        "column `r` of table `sales.t` must take null, for rows are there already",
    )
    .await;
}

#[tokio::test]
async fn a_column_can_change_its_case() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.catalog.rename_column(&ns(), "t", "a", "A").await.unwrap();
    assert_eq!(lake.load("t").await.schema.field(0).name(), "A");
}

/// Widens every column as another engine would.
async fn widen(lake: &crate::fixture::Lake) {
    let ledger = crate::deletes::ledger(lake, "t").await;
    let wide = |field: &NestedFieldRef| {
        let to = match field.field_type.as_primitive_type().unwrap() {
            PrimitiveType::Int => PrimitiveType::Long,
            PrimitiveType::Float => PrimitiveType::Double,
            PrimitiveType::Decimal { scale, .. } => PrimitiveType::Decimal { precision: 20, scale: *scale },
            other => other.clone(),
        };
        Arc::new(NestedField { field_type: Box::new(Type::Primitive(to)), ..field.as_ref().clone() })
    };
    let fields: Vec<NestedFieldRef> =
        ledger.metadata.current_schema().as_struct().fields().iter().map(wide).collect();
    let schema = Schema::builder().with_fields(fields).build().unwrap();
    let builder = ledger.metadata.clone().into_builder(None).add_current_schema(schema).unwrap();
    let metadata = builder.build().unwrap().metadata;
    ledger.put(metadata).await;
}

#[tokio::test]
async fn a_widened_column_reads_old_and_new_rows() {
    let lake = lake().await;
    let fields = vec![
        field("i", DataType::Int32),
        field("f", DataType::Float32),
        field("d", DataType::Decimal128(9, 2)),
    ];
    lake.create("t", fields, &["i"]).await;
    lake.insert("t", "VALUES (1, 1.5, 10.25)").await;
    widen(&lake).await;
    lake.insert("t", "VALUES (3000000000, 2.5, 123456789012.75)").await;
    assert_eq!(
        lake.query("SELECT i, f, d FROM t ORDER BY i").await,
        "1 1.5 10.25\n3000000000 2.5 123456789012.75"
    );
    assert_eq!(lake.query("SELECT i FROM t WHERE i = 1 AND f < 2 AND d = 10.25").await, "1");
    assert_eq!(lake.query("SELECT min(i), max(i), max(d) FROM t").await, "1 3000000000 123456789012.75");
}

#[tokio::test]
async fn tags_go_with_the_field_and_not_with_the_name() {
    let lake = lake().await;
    lake.create("t", vec![field("id", DataType::Int64), field("ssn", DataType::Utf8)], &[]).await;
    let tagged = |tags: &catalog::FieldTags, id: i32| -> Vec<String> {
        tags.get(&id).into_iter().flatten().cloned().collect()
    };
    let set = |tags: &mut catalog::ColumnTags| {
        tags.entry("ssn".to_owned()).or_default().insert("PII".to_owned());
    };
    let table = lake.catalog.change_column_tags(&ns(), "t", set).await.unwrap();
    let id = table.field_ids[1];
    assert_eq!(tagged(&table.field_tags().unwrap(), id), ["PII"]);
    let table = lake.catalog.rename_column(&ns(), "t", "ssn", "tax_no").await.unwrap();
    assert_eq!(table.properties[catalog::COLUMN_TAGS], r#"{"tax_no":["PII"]}"#);
    assert_eq!(tagged(&table.field_tags().unwrap(), id), ["PII"]);
    lake.catalog.drop_column(&ns(), "t", "tax_no").await.unwrap();
    let table = lake.catalog.add_column(&ns(), "t", &field("tax_no", DataType::Utf8)).await.unwrap();
    assert_eq!(table.properties.get(catalog::COLUMN_TAGS), None);
    // Former states still have the dropped column, and its tag.
    assert_eq!(tagged(&table.field_tags().unwrap(), id), ["PII"]);
    assert!(tagged(&table.field_tags().unwrap(), table.field_ids[1]).is_empty());
}
