//! Every type that Iceberg has comes back as it was written.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

use crate::fixture::{batches, field, lake, small};

fn columns() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("c_bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("c_int", Arc::new(Int32Array::from(vec![Some(-7), None]))),
        ("c_long", Arc::new(Int64Array::from(vec![Some(i64::MIN), None]))),
        ("c_float", Arc::new(Float32Array::from(vec![Some(-0.0), None]))),
        ("c_double", Arc::new(Float64Array::from(vec![Some(f64::MAX), None]))),
        (
            "c_decimal",
            Arc::new(
                Decimal128Array::from(vec![Some(-12345), None]).with_precision_and_scale(38, 4).unwrap(),
            ),
        ),
        ("c_date", Arc::new(Date32Array::from(vec![Some(-1), None]))),
        ("c_time", Arc::new(Time64MicrosecondArray::from(vec![Some(86_399_999_999), None]))),
        ("c_timestamp", Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None]))),
        (
            "c_timestamptz",
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(1_700_000_000_123_456), None])
                    .with_timezone("+00:00"),
            ),
        ),
        (
            "c_string",
            Arc::new(StringArray::from(vec![
                Some("Grüße, a text longer than one view's inline bytes"),
                None,
            ])),
        ),
        ("c_binary", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\x00\xff"), None]))),
        (
            "c_fixed",
            Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                    [Some([1_u8; 16]), None].into_iter(),
                    16,
                )
                .unwrap(),
            ),
        ),
    ]
}

#[tokio::test]
async fn every_primitive_type_comes_back() {
    let lake = lake().await;
    let columns = columns();
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| field(name, array.data_type().clone())).collect();
    lake.create("t", fields.clone(), &[]).await;
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    lake.catalog.append(&lake.load("t").await, batches(vec![batch])).await.unwrap();
    let session = lake.session(small()).await;
    let back = session.sql("SELECT * FROM t").await.unwrap().collect().await.unwrap();
    let back = arrow::compute::concat_batches(&back[0].schema(), &back).unwrap();
    for (name, written) in columns {
        let read = cast(back.column_by_name(name).unwrap(), written.data_type()).unwrap();
        assert_eq!(&read, &written, "{name}");
    }
}

#[tokio::test]
async fn structs_lists_and_maps_come_back() {
    let lake = lake().await;
    let item = Arc::new(field("item", DataType::Utf8));
    let inner = DataType::Struct(
        vec![field("x", DataType::Int32), field("l", DataType::List(Arc::clone(&item)))].into(),
    );
    let entries = DataType::Struct(
        vec![Field::new("key", DataType::Utf8, false), field("value", inner.clone())].into(),
    );
    let map = DataType::Map(Arc::new(Field::new("entries", entries, false)), false);
    lake.create("t", vec![field("s", inner), field("l", DataType::List(item)), field("m", map)], &[]).await;
    let sql = "SELECT named_struct('x', 1, 'l', ['a', NULL]), ['b', 'c'],
               MAP {'k': named_struct('x', 2, 'l', ['d'])}";
    assert_eq!(lake.insert("t", sql).await, 1);
    let read = lake.query("SELECT s, l, m, s['x'], l[2] FROM t").await;
    assert_eq!(read, "{x: 1, l: [a, NULL]} [b, c] {k: {x: 2, l: [d]}} 1 c");
}

#[tokio::test]
async fn types_without_an_iceberg_twin_become_the_nearest() {
    let lake = lake().await;
    let nano = DataType::Timestamp(TimeUnit::Nanosecond, None);
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = vec![
        field("a", DataType::Int8),
        field("b", DataType::UInt64),
        field("c", nano),
        field("d", dictionary),
        field("e", DataType::Null),
    ];
    let handle = lake.create("t", fields, &[]).await;
    let types: Vec<String> = handle.schema.fields().iter().map(|f| f.data_type().to_string()).collect();
    assert_eq!(types, ["Int32", "Int64", "Timestamp(µs)", "Utf8View", "Utf8View"]);
    lake.insert("t", "SELECT 1, 2, TIMESTAMP '2024-01-01T00:00:00', 'x', NULL").await;
    assert_eq!(lake.query("SELECT * FROM t").await, "1 2 2024-01-01T00:00:00 x NULL");
    let schema = Schema::new(vec![field("i", DataType::Interval(arrow::datatypes::IntervalUnit::DayTime))]);
    let made = lake.catalog.create_table(&crate::fixture::ns(), "u", &schema, &[], Default::default()).await;
    assert_eq!(made.unwrap_err().kind(), stdx::ErrorKind::Unsupported);
}
