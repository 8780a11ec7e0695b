//! Values that clients bind, in text and binary, come back as they were given.

use std::error::Error;

use bytes::BytesMut;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use tokio_postgres::Client;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::door::{assert_told, open};

/// A value in its text form, for whatever type.
#[derive(Debug)]
struct InText(&'static str);

impl ToSql for InText {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// The binary form of a value, whatever its type.
#[derive(Debug, PartialEq, Clone)]
struct InBinary(Vec<u8>);

impl ToSql for InBinary {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for InBinary {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

async fn echo<T>(client: &Client, name: &str, value: T)
where
    T: ToSql + Sync + for<'a> FromSql<'a> + std::fmt::Debug + PartialEq,
{
    let row = client.query_one(&format!("ECHO {name}"), &[&value]).await.unwrap();
    assert_eq!(row.get::<_, T>(0), value, "{name}");
    let row = client.query_one(&format!("ECHO {name}"), &[&None::<T>]).await.unwrap();
    assert_eq!(row.get::<_, Option<T>>(0), None, "{name}");
}

#[tokio::test]
async fn binary_values_come_back() {
    let door = open().await;
    let client = &door.connect().await;
    let date = NaiveDate::from_ymd_opt(-43, 3, 15).unwrap();
    let at = NaiveDate::from_ymd_opt(2024, 2, 29).unwrap().and_hms_micro_opt(12, 0, 0, 1).unwrap();
    echo(client, "bool", true).await;
    echo(client, "int2", -2i16).await;
    echo(client, "int4", i32::MIN).await;
    echo(client, "int8", i64::MAX).await;
    echo(client, "float4", 0.1f32).await;
    echo(client, "float8", f64::NEG_INFINITY).await;
    echo(client, "text", "ä'\"\\".to_owned()).await;
    echo(client, "view", "x".to_owned()).await;
    echo(client, "open", "x".to_owned()).await;
    echo(client, "bytea", b"\x00\xff".to_vec()).await;
    echo(client, "uuid", InBinary((0..16).collect())).await;
    echo(client, "date", date).await;
    echo(client, "time", NaiveTime::from_hms_micro_opt(23, 59, 59, 999_999).unwrap()).await;
    echo(client, "timestamp", at).await;
    echo(client, "nanos", at).await;
    echo(client, "timestamptz", DateTime::<Utc>::from_naive_utc_and_offset(at, Utc)).await;
    echo(client, "numeric", InBinary(b"\0\x02\0\0\0\0\0\x04\0\x01\x13\x88".to_vec())).await;
    echo(client, "int4s", vec![Some(1), None]).await;
    echo(client, "int8s", Vec::<i64>::new()).await;
    echo(client, "texts", vec!["a,b".to_owned(), String::new()]).await;
}

#[tokio::test]
async fn text_values_are_read_as_the_type_that_is_wanted() {
    let door = open().await;
    let client = &door.connect().await;
    let check = async |name: &str, given: &'static str, expected: &str| {
        let statement = client.prepare(&format!("ECHO {name}")).await.unwrap();
        let row = client.query_one(&statement, &[&InText(given)]).await.unwrap();
        let again = client.query_one(&statement, &[&InText(expected.to_owned().leak())]).await.unwrap();
        assert_eq!(row.get::<_, InBinary>(0), again.get::<_, InBinary>(0), "{name} {given}");
    };
    check("bool", " YES ", "t").await;
    check("int4", " +7 ", "7").await;
    check("float8", "Infinity", "inf").await;
    check("numeric", "15e-1", "1.5000").await;
    check("bytea", "a\\\\\\001", "\\x615c01").await;
    check("uuid", "{123E4567E89B12D3A456426614174000}", "123e4567-e89b-12d3-a456-426614174000").await;
    check("date", "2024-02-29 13:00:00", "2024-02-29").await;
    check("time", "12:34", "12:34:00.0000004").await;
    check("timestamp", "2024-02-29T12:00:00.5+05", "2024-02-29 12:00:00.500").await;
    check("timestamptz", "2024-02-29 12:00:00+05:30", "2024-02-29 06:30:00Z").await;
    check("timestamptz", "2024-02-29 12:00:00", "2024-02-29 12:00:00+00").await;
    check("int4s", " { 1 , null } ", "{1,NULL}").await;
    check("texts", "{\"a \\\" b\",null,\"null\"}", "{\"a \\\" b\",NULL,\"null\"}").await;
    client.simple_query("SET TimeZone = 'Europe/Berlin'").await.unwrap();
    check("timestamptz", "2024-02-29 12:00:00", "2024-02-29 11:00:00+00").await;
    check("timestamptz", "2024-03-31 02:30:00", "2024-03-31 01:30:00+00").await;
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_refused_and_never_bent() {
    let door = open().await;
    let client = &door.connect().await;
    let check = async |name: &str, given: &'static str, code: &str, message: &str| {
        let statement = client.prepare(&format!("ECHO {name}")).await.unwrap();
        assert_told(client.query(&statement, &[&InText(given)]).await, code, message);
    };
    check("int4", "abc", "22P02", "`abc` is no value of type int4").await;
    check("int4", "3000000000", "22003", "`3000000000` is out of range for type int4").await;
    check("bool", "o", "22P02", "`o` is no value of type bool").await;
    check("numeric", "1.00001", "22003", "`1.00001` does not fit numeric(20,4)").await;
    check("numeric", "NaN", "22003", "numeric has no value `NaN` here").await;
    check("numeric", "1e999999999", "22003", "a numeric has more than 76 digits").await;
    check("date", "2023-02-29", "22P02", "`2023-02-29` is no value of type date").await;
    check("timestamp", "infinity", "22P02", "`infinity` is no value of type timestamp").await;
    check("uuid", "123", "22P02", "`123` is no value of type uuid").await;
    check("int4s", "{1,2", "22P02", "`{1,2` is no array").await;
    check("bytea", "\\xabc", "22P02", "`\\xabc` is no value of type bytea").await;
    let statement = client.prepare("ECHO int4").await.unwrap();
    let short = client.query(&statement, &[&InBinary(vec![0, 1])]).await;
    assert_told(short, "22P03", "incorrect binary data format in a parameter");
    let statement = client.prepare("ECHO int4s").await.unwrap();
    let bytes = [&[0, 0, 0, 1][..], &[0; 4], &[0, 0, 0, 23], &[0x7f; 4], &[0; 4]].concat();
    let huge = client.query(&statement, &[&InBinary(bytes)]).await;
    assert_told(huge, "54000", "an array parameter has more than 1048576 elements");
}

#[tokio::test]
async fn a_declared_type_is_kept_and_its_value_cast() {
    let door = open().await;
    let client = &door.connect().await;
    let check =
        async |name: &str, declared: Type, given: &'static str, expected: Result<&'static str, &str>| {
            let statement =
                client.prepare_typed(&format!("ECHO {name}"), std::slice::from_ref(&declared)).await.unwrap();
            assert_eq!(statement.params(), [declared]);
            let seen = client.query_one(&statement, &[&InText(given)]).await;
            match (seen, expected) {
                (Ok(row), Ok(expected)) => {
                    let plain = client.prepare(&format!("ECHO {name}")).await.unwrap();
                    let again = client.query_one(&plain, &[&InText(expected)]).await.unwrap();
                    assert_eq!(row.get::<_, InBinary>(0), again.get::<_, InBinary>(0), "{name} {given}");
                }
                (Err(error), Err(code)) => assert_eq!(crate::door::told(&error).0, code, "{name} {given}"),
                (seen, expected) => panic!("{name} {given}: {seen:?} {expected:?}"),
            }
        };
    check("int8", Type::INT2, "7", Ok("7")).await;
    check("int2", Type::INT8, "7", Ok("7")).await;
    check("int2", Type::INT8, "70000", Err("42804")).await;
    check("numeric", Type::INT4, "7", Ok("7")).await;
    check("numeric", Type::FLOAT8, "0.5", Ok("0.5")).await;
    check("int4", Type::NUMERIC, "7.0", Ok("7")).await;
    check("int4", Type::NUMERIC, "7.5", Err("22003")).await;
    check("float8", Type::NUMERIC, "7.5", Ok("7.5")).await;
    check("text", Type::NUMERIC, "7.50", Ok("7.50")).await;
    check("int4", Type::VARCHAR, "7", Ok("7")).await;
    check("date", Type::VARCHAR, "2024-02-29", Ok("2024-02-29")).await;
    check("date", Type::TIMESTAMP, "2024-02-29 00:00:00", Ok("2024-02-29")).await;
    check("date", Type::TIMESTAMP, "2024-02-29 10:00:00", Err("42804")).await;
    check("timestamp", Type::DATE, "2024-02-29", Ok("2024-02-29 00:00:00")).await;
    check("timestamptz", Type::TIMESTAMP, "2024-02-29 10:00:00", Ok("2024-02-29 10:00:00+00")).await;
    check("text", Type::UUID, "123E4567E89B12D3A456426614174000", Ok("123e4567-e89b-12d3-a456-426614174000"))
        .await;
    check("text", Type::JSONB, "{}", Ok("{}")).await;
    check("int8s", Type::INT4_ARRAY, "{1,NULL}", Ok("{1,NULL}")).await;
    check("int4", Type::INT4_ARRAY, "{1}", Err("42804")).await;
    assert_told(
        client.prepare_typed("ECHO int4", &[Type::POINT]).await,
        "0A000",
        "parameters of the type with oid 600 are not supported",
    );
}
