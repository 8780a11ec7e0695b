//! Every Arrow type as a client reads it: in text by the simple protocol, in binary by a client library.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::*;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::{FromSql, Type};

use crate::door::{config, open_with};
use crate::engine::Engine;

struct Case {
    name: &'static str,
    array: ArrayRef,
    mark: Option<&'static str>,
    pg_type: Type,
    text: Vec<Option<&'static str>>,
}

fn case(
    name: &'static str,
    array: impl Array + 'static,
    pg_type: Type,
    text: &[Option<&'static str>],
) -> Case {
    Case { name, array: Arc::new(array), mark: None, pg_type, text: text.to_vec() }
}

fn marked(
    name: &'static str,
    array: impl Array + 'static,
    mark: &'static str,
    pg_type: Type,
    text: &[Option<&'static str>],
) -> Case {
    Case { mark: Some(mark), ..case(name, array, pg_type, text) }
}

fn batch(case: &Case) -> RecordBatch {
    let field = Field::new("v", case.array.data_type().clone(), true);
    let field = match case.mark {
        Some(mark) => {
            field.with_metadata(HashMap::from([("ARROW:extension:name".to_owned(), mark.to_owned())]))
        }
        None => field,
    };
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::clone(&case.array)]).unwrap()
}

const UUID: [u8; 16] =
    [0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0];

fn fixed() -> FixedSizeBinaryArray {
    FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(UUID), None].into_iter(), 16).unwrap()
}

fn numbers() -> Vec<Case> {
    vec![
        case("null", NullArray::new(2), Type::TEXT, &[None, None]),
        case(
            "bool",
            BooleanArray::from(vec![Some(true), Some(false), None]),
            Type::BOOL,
            &[Some("t"), Some("f"), None],
        ),
        case("int8", Int8Array::from(vec![Some(-128), None]), Type::INT2, &[Some("-128"), None]),
        case("int16", Int16Array::from(vec![Some(i16::MIN), None]), Type::INT2, &[Some("-32768"), None]),
        case("int32", Int32Array::from(vec![Some(i32::MAX), None]), Type::INT4, &[Some("2147483647"), None]),
        case(
            "int64",
            Int64Array::from(vec![Some(i64::MIN), None]),
            Type::INT8,
            &[Some("-9223372036854775808"), None],
        ),
        case("uint8", UInt8Array::from(vec![Some(255), None]), Type::INT2, &[Some("255"), None]),
        case("uint16", UInt16Array::from(vec![Some(65535), None]), Type::INT4, &[Some("65535"), None]),
        case(
            "uint32",
            UInt32Array::from(vec![Some(u32::MAX), None]),
            Type::INT8,
            &[Some("4294967295"), None],
        ),
        case(
            "uint64",
            UInt64Array::from(vec![Some(u64::MAX), None]),
            Type::NUMERIC,
            &[Some("18446744073709551615"), None],
        ),
        case(
            "float32",
            Float32Array::from(vec![
                Some(0.1),
                Some(1_000_000.0),
                Some(f32::NAN),
                Some(f32::NEG_INFINITY),
                None,
            ]),
            Type::FLOAT4,
            &[Some("0.1"), Some("1e+06"), Some("NaN"), Some("-Infinity"), None],
        ),
        case(
            "float64",
            Float64Array::from(vec![
                Some(0.1),
                Some(-0.0),
                Some(100.0),
                Some(123456.789),
                Some(1e15),
                Some(1e14),
                Some(0.0001),
                Some(0.00001),
                Some(-1.5e300),
                Some(f64::NAN),
                Some(f64::INFINITY),
                None,
            ]),
            Type::FLOAT8,
            &[
                Some("0.1"),
                Some("-0"),
                Some("100"),
                Some("123456.789"),
                Some("1e+15"),
                Some("100000000000000"),
                Some("0.0001"),
                Some("1e-05"),
                Some("-1.5e+300"),
                Some("NaN"),
                Some("Infinity"),
                None,
            ],
        ),
        case(
            "decimal128",
            Decimal128Array::from(vec![Some(150), Some(-5), Some(0), None])
                .with_precision_and_scale(38, 2)
                .unwrap(),
            Type::NUMERIC,
            &[Some("1.50"), Some("-0.05"), Some("0.00"), None],
        ),
        case(
            "decimal38",
            Decimal128Array::from(vec![Some(-99_999_999_999_999_999_999_999_999_999_999_999_999), None])
                .with_precision_and_scale(38, 0)
                .unwrap(),
            Type::NUMERIC,
            &[Some("-99999999999999999999999999999999999999"), None],
        ),
        case(
            "decimal_negative_scale",
            Decimal128Array::from(vec![Some(15), Some(0)]).with_precision_and_scale(10, -3).unwrap(),
            Type::NUMERIC,
            &[Some("15000"), Some("0")],
        ),
        case(
            "decimal256",
            Decimal256Array::from(vec![
                i256::from_string("123456789012345678901234567890123456789012345"),
                None,
            ])
            .with_precision_and_scale(50, 5)
            .unwrap(),
            Type::NUMERIC,
            &[Some("1234567890123456789012345678901234567890.12345"), None],
        ),
    ]
}

fn texts() -> Vec<Case> {
    let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
    let words: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    vec![
        case(
            "utf8",
            StringArray::from(vec![Some("ä€😀"), Some(""), None]),
            Type::TEXT,
            &[Some("ä€😀"), Some(""), None],
        ),
        case("large_utf8", LargeStringArray::from(vec![Some("x"), None]), Type::TEXT, &[Some("x"), None]),
        case(
            "utf8_view",
            StringViewArray::from(vec![Some("more than twelve bytes"), None]),
            Type::TEXT,
            &[Some("more than twelve bytes"), None],
        ),
        case("dictionary", DictionaryArray::new(keys, words), Type::TEXT, &[Some("b"), None, Some("a")]),
        case(
            "binary",
            BinaryArray::from(vec![Some(&b"\x00\xff\\"[..]), Some(b""), None]),
            Type::BYTEA,
            &[Some("\\x00ff5c"), Some("\\x"), None],
        ),
        case(
            "large_binary",
            LargeBinaryArray::from(vec![Some(&b"\x01"[..]), None]),
            Type::BYTEA,
            &[Some("\\x01"), None],
        ),
        case(
            "binary_view",
            BinaryViewArray::from(vec![Some(&b"\x02"[..]), None]),
            Type::BYTEA,
            &[Some("\\x02"), None],
        ),
        case("fixed", fixed(), Type::BYTEA, &[Some("\\x123e4567e89b12d3a456426614174000"), None]),
        marked(
            "uuid",
            fixed(),
            "arrow.uuid",
            Type::UUID,
            &[Some("123e4567-e89b-12d3-a456-426614174000"), None],
        ),
        marked(
            "json",
            StringArray::from(vec![Some(r#"{"a":1}"#), None]),
            "arrow.json",
            Type::JSON,
            &[Some(r#"{"a":1}"#), None],
        ),
    ]
}

const NOON: i64 = 1_709_208_000_123_456;

fn times() -> Vec<Case> {
    vec![
        case(
            "date32",
            Date32Array::from(vec![Some(0), Some(-719_163), Some(2_932_897), Some(-734_871), None]),
            Type::DATE,
            &[Some("1970-01-01"), Some("0001-12-31 BC"), Some("10000-01-01"), Some("0044-12-29 BC"), None],
        ),
        case(
            "date64",
            Date64Array::from(vec![Some(86_400_000), None]),
            Type::DATE,
            &[Some("1970-01-02"), None],
        ),
        case(
            "time64",
            Time64MicrosecondArray::from(vec![
                Some(0),
                Some(45_296_000_000),
                Some(86_399_999_999),
                Some(1),
                None,
            ]),
            Type::TIME,
            &[Some("00:00:00"), Some("12:34:56"), Some("23:59:59.999999"), Some("00:00:00.000001"), None],
        ),
        case(
            "time32",
            Time32MillisecondArray::from(vec![Some(1_500), None]),
            Type::TIME,
            &[Some("00:00:01.5"), None],
        ),
        case(
            "time_nanos",
            Time64NanosecondArray::from(vec![Some(1_999), None]),
            Type::TIME,
            &[Some("00:00:00.000001"), None],
        ),
        case(
            "timestamp",
            TimestampMicrosecondArray::from(vec![
                Some(NOON),
                Some(0),
                Some(-1),
                Some(-62_135_596_800_000_001),
                None,
            ]),
            Type::TIMESTAMP,
            &[
                Some("2024-02-29 12:00:00.123456"),
                Some("1970-01-01 00:00:00"),
                Some("1969-12-31 23:59:59.999999"),
                Some("0001-12-31 23:59:59.999999 BC"),
                None,
            ],
        ),
        case(
            "timestamp_seconds",
            TimestampSecondArray::from(vec![Some(60), None]),
            Type::TIMESTAMP,
            &[Some("1970-01-01 00:01:00"), None],
        ),
        case(
            "timestamp_millis",
            TimestampMillisecondArray::from(vec![Some(-1), None]),
            Type::TIMESTAMP,
            &[Some("1969-12-31 23:59:59.999"), None],
        ),
        case(
            "timestamp_nanos",
            TimestampNanosecondArray::from(vec![Some(NOON * 1000 + 999), Some(-1), None]),
            Type::TIMESTAMP,
            &[Some("2024-02-29 12:00:00.123456"), Some("1969-12-31 23:59:59.999999"), None],
        ),
        case(
            "timestamptz",
            TimestampMicrosecondArray::from(vec![Some(NOON), None]).with_timezone("UTC"),
            Type::TIMESTAMPTZ,
            &[Some("2024-02-29 12:00:00.123456+00"), None],
        ),
        case(
            "timestamptz_nanos",
            TimestampNanosecondArray::from(vec![Some(NOON * 1000), None]).with_timezone("+00:00"),
            Type::TIMESTAMPTZ,
            &[Some("2024-02-29 12:00:00.123456+00"), None],
        ),
        case(
            "interval",
            IntervalMonthDayNanoArray::from(vec![
                Some(IntervalMonthDayNano::new(14, -3, 14_706_700_000_000)),
                Some(IntervalMonthDayNano::new(-1, 2, -1_000_000)),
                Some(IntervalMonthDayNano::new(0, 0, 0)),
                Some(IntervalMonthDayNano::new(0, -1, 0)),
                None,
            ]),
            Type::INTERVAL,
            &[
                Some("1 year 2 mons -3 days +04:05:06.7"),
                Some("-1 mons +2 days -00:00:00.001"),
                Some("00:00:00"),
                Some("-1 days"),
                None,
            ],
        ),
        case(
            "interval_months",
            IntervalYearMonthArray::from(vec![Some(-13), None]),
            Type::INTERVAL,
            &[Some("-1 years -1 mons"), None],
        ),
        case(
            "interval_day_time",
            IntervalDayTimeArray::from(vec![Some(IntervalDayTime::new(1, 2_000)), None]),
            Type::INTERVAL,
            &[Some("1 day 00:00:02"), None],
        ),
        case(
            "duration",
            DurationSecondArray::from(vec![Some(-90_061), None]),
            Type::INTERVAL,
            &[Some("-25:01:01"), None],
        ),
    ]
}

fn list_of(items: ArrayRef, lengths: &[usize], nulls: Option<Vec<bool>>) -> ListArray {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    ListArray::new(
        field,
        OffsetBuffer::from_lengths(lengths.iter().copied()),
        items,
        nulls.map(NullBuffer::from),
    )
}

fn pair(ids: Vec<i32>, names: Vec<Option<&str>>) -> StructArray {
    let id: ArrayRef = Arc::new(Int32Array::from(ids));
    let name: ArrayRef = Arc::new(StringArray::from(names));
    StructArray::from(vec![
        (Arc::new(Field::new("id", DataType::Int32, false)), id),
        (Arc::new(Field::new("na\"me", DataType::Utf8, true)), name),
    ])
}

fn map() -> MapArray {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    builder.keys().append_value("a");
    builder.values().append_value(1);
    builder.keys().append_value("b");
    builder.values().append_null();
    builder.append(true).unwrap();
    builder.append(false).unwrap();
    builder.finish()
}

fn nested() -> Vec<Case> {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec![
        Some("plain"),
        Some("a b"),
        Some(""),
        Some("null"),
        Some("q\"\\"),
        None,
        Some("{,}"),
    ]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\x01"[..]]));
    let stamps: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![NOON]));
    let pairs = pair(vec![1, 2], vec![Some("x\n"), None]);
    let inner = list_of(Arc::clone(&ints), &[2, 1], None);
    let large = LargeListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        OffsetBuffer::from_lengths([3, 0]),
        Arc::clone(&ints),
        None,
    );
    let fixed = FixedSizeListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        3,
        Arc::clone(&ints),
        None,
    );
    let struct_with = StructArray::from(vec![
        (Arc::new(Field::new("at", stamps.data_type().clone(), true)), Arc::clone(&stamps)),
        (
            Arc::new(Field::new("n", DataType::Float64, true)),
            Arc::new(Float64Array::from(vec![f64::NAN])) as ArrayRef,
        ),
        (Arc::new(Field::new("b", DataType::Binary, true)), Arc::clone(&bytes)),
        (
            Arc::new(Field::new("l", inner.slice(0, 1).data_type().clone(), true)),
            Arc::new(inner.slice(0, 1)) as ArrayRef,
        ),
    ]);
    vec![
        case(
            "ints",
            list_of(Arc::clone(&ints), &[3, 0, 0], Some(vec![true, true, false])),
            Type::INT4_ARRAY,
            &[Some("{1,NULL,3}"), Some("{}"), None],
        ),
        case(
            "ints_sliced",
            list_of(Arc::clone(&ints), &[1, 2], None).slice(1, 1),
            Type::INT4_ARRAY,
            &[Some("{NULL,3}")],
        ),
        case("large_ints", large, Type::INT4_ARRAY, &[Some("{1,NULL,3}"), Some("{}")]),
        case("fixed_ints", fixed, Type::INT4_ARRAY, &[Some("{1,NULL,3}")]),
        case(
            "words",
            list_of(words, &[7], None),
            Type::TEXT_ARRAY,
            &[Some(r#"{plain,"a b","","null","q\"\\",NULL,"{,}"}"#)],
        ),
        case("byteas", list_of(bytes, &[1], None), Type::BYTEA_ARRAY, &[Some(r#"{"\\x01"}"#)]),
        case(
            "stamps",
            list_of(stamps, &[1], None),
            Type::TIMESTAMP_ARRAY,
            &[Some(r#"{"2024-02-29 12:00:00.123456"}"#)],
        ),
        case(
            "struct",
            pairs.clone(),
            Type::JSON,
            &[Some(r#"{"id":1,"na\"me":"x\n"}"#), Some(r#"{"id":2,"na\"me":null}"#)],
        ),
        case(
            "structs",
            list_of(Arc::new(pairs), &[2, 0], None),
            Type::JSON,
            &[Some(r#"[{"id":1,"na\"me":"x\n"},{"id":2,"na\"me":null}]"#), Some("[]")],
        ),
        case("lists", list_of(Arc::new(inner), &[2], None), Type::JSON, &[Some("[[1,null],[3]]")]),
        case("map", map(), Type::JSON, &[Some(r#"{"a":1,"b":null}"#), None]),
        case(
            "struct_with",
            struct_with,
            Type::JSON,
            &[Some(r#"{"at":"2024-02-29T12:00:00.123456","n":"NaN","b":"\\x01","l":[1,null]}"#)],
        ),
    ]
}

fn cases() -> Vec<Case> {
    [numbers(), texts(), times(), nested()].into_iter().flatten().collect()
}

fn engine() -> Engine {
    Engine { tables: cases().iter().map(|case| (case.name, batch(case))).collect(), ..Engine::default() }
}

#[tokio::test]
async fn every_type_has_its_text_form() {
    let door = open_with(config(), engine()).await;
    let client = door.connect().await;
    for case in cases() {
        let messages = client.simple_query(&format!("TABLE {}", case.name)).await.unwrap();
        let seen: Vec<Option<&str>> = messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row.get(0)),
                _ => None,
            })
            .collect();
        assert_eq!(seen, case.text, "{}", case.name);
    }
}

/// The bytes of a value, whatever its type.
#[derive(Debug, PartialEq)]
struct Bytes(Vec<u8>);

impl<'a> FromSql<'a> for Bytes {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[tokio::test]
async fn every_type_is_described_and_has_its_nulls_in_binary() {
    let door = open_with(config(), engine()).await;
    let client = door.connect().await;
    for case in cases() {
        let rows = client.query(&format!("TABLE {}", case.name), &[]).await.unwrap();
        let nulls: Vec<bool> = rows.iter().map(|row| row.get::<_, Option<Bytes>>(0).is_none()).collect();
        let expected: Vec<bool> = case.text.iter().map(Option::is_none).collect();
        assert_eq!(nulls, expected, "{}", case.name);
        assert_eq!(*rows[0].columns()[0].type_(), case.pg_type, "{}", case.name);
    }
}

#[tokio::test]
async fn a_client_library_reads_the_binary_forms() {
    async fn check<T>(client: &tokio_postgres::Client, name: &str, expected: &[Option<T>])
    where
        T: for<'a> FromSql<'a> + std::fmt::Debug + PartialEq,
    {
        let rows = client.query(&format!("TABLE {name}"), &[]).await.unwrap();
        let seen: Vec<Option<T>> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(seen, expected, "{name}");
    }
    let date = |y, m, d| NaiveDate::from_ymd_opt(y, m, d).unwrap();
    let noon: NaiveDateTime = date(2024, 2, 29).and_hms_micro_opt(12, 0, 0, 123_456).unwrap();
    let bytes = |bytes: &[u8]| Some(Bytes(bytes.to_vec()));
    let door = open_with(config(), engine()).await;
    let client = &door.connect().await;
    check(client, "bool", &[Some(true), Some(false), None]).await;
    check(client, "int8", &[Some(-128i16), None]).await;
    check(client, "uint8", &[Some(255i16), None]).await;
    check(client, "int32", &[Some(i32::MAX), None]).await;
    check(client, "int64", &[Some(i64::MIN), None]).await;
    check(client, "uint32", &[Some(i64::from(u32::MAX)), None]).await;
    check(
        client,
        "decimal128",
        &[
            bytes(b"\0\x02\0\0\0\0\0\x02\0\x01\x13\x88"),
            bytes(b"\0\x01\xff\xff\x40\0\0\x02\x01\xf4"),
            bytes(b"\0\0\0\0\0\0\0\x02"),
            None,
        ],
    )
    .await;
    check(client, "decimal_negative_scale", &[bytes(b"\0\x02\0\x01\0\0\0\0\0\x01\x13\x88"), bytes(&[0; 8])])
        .await;
    check(client, "utf8", &[Some("ä€😀".to_owned()), Some(String::new()), None]).await;
    check(client, "binary", &[Some(b"\x00\xff\\".to_vec()), Some(Vec::new()), None]).await;
    check(client, "uuid", &[bytes(&UUID), None]).await;
    check(
        client,
        "date32",
        &[
            Some(date(1970, 1, 1)),
            Some(date(0, 12, 31)),
            Some(date(10_000, 1, 1)),
            Some(date(-43, 12, 29)),
            None,
        ],
    )
    .await;
    check(client, "time32", &[Some(NaiveTime::from_hms_milli_opt(0, 0, 1, 500).unwrap()), None]).await;
    check(
        client,
        "timestamp_nanos",
        &[Some(noon), Some(date(1969, 12, 31).and_hms_micro_opt(23, 59, 59, 999_999).unwrap()), None],
    )
    .await;
    check(client, "timestamptz", &[Some(DateTime::<Utc>::from_naive_utc_and_offset(noon, Utc)), None]).await;
    check(client, "interval_day_time", &[bytes(b"\0\0\0\0\0\x1e\x84\x80\0\0\0\x01\0\0\0\0"), None]).await;
    check(client, "ints", &[Some(vec![Some(1), None, Some(3)]), Some(vec![]), None::<Vec<Option<i32>>>])
        .await;
    check(client, "stamps", &[Some(vec![noon])]).await;
    check(client, "lists", &[bytes(b"[[1,null],[3]]")]).await;
}

#[tokio::test]
async fn timestamps_are_shown_in_the_zone_of_the_session() {
    let door = open_with(config(), engine()).await;
    let client = door.connect().await;
    for (zone, expected) in [
        ("Europe/Berlin", "2024-02-29 13:00:00.123456+01"),
        ("asia/kolkata", "2024-02-29 17:30:00.123456+05:30"),
        ("-03:30", "2024-02-29 08:30:00.123456-03:30"),
        ("Nowhere/Land", "2024-02-29 12:00:00.123456+00"),
    ] {
        client.simple_query(&format!("SET TimeZone = '{zone}'")).await.unwrap();
        let messages = client.simple_query("TABLE timestamptz").await.unwrap();
        let SimpleQueryMessage::Row(row) = &messages[1] else { panic!("no row") };
        assert_eq!(row.get(0), Some(expected), "{zone}");
    }
}

#[tokio::test]
async fn a_type_that_has_no_form_is_refused_by_name() {
    let values: ArrayRef = Arc::new(RunArray::<Int32Type>::from_iter(["a", "a", "b"]));
    let schema = Schema::new(vec![Field::new("odd", values.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![values]).unwrap();
    let door =
        open_with(config(), Engine { tables: HashMap::from([("odd", batch)]), ..Engine::default() }).await;
    let client = door.connect().await;
    let expected = "the type of column `odd` cannot be sent by this protocol";
    crate::door::assert_told(client.simple_query("TABLE odd").await, "0A000", expected);
    crate::door::assert_told(client.prepare("TABLE odd").await, "0A000", expected);
}
