//! Dates, timestamps and zones, there and back.

use super::*;

fn shown(write: impl FnOnce(&mut BytesMut)) -> String {
    let mut out = BytesMut::new();
    write(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

#[test]
fn every_day_is_read_back_as_it_was_written() {
    for days in (-2_500_000..3_000_000).step_by(997) {
        let text = shown(|out| write_date(days, out));
        assert_eq!(parse_date(&text), Some(days), "{text}");
    }
}

#[test]
fn the_ends_of_the_range_are_written() {
    let check = |days: i64, expected: &str| assert_eq!(shown(|out| write_date(days, out)), expected);
    check(i32::MAX.into(), "5881580-07-11");
    check(i32::MIN.into(), "5877642-06-23 BC");
    let micros = shown(|out| {
        write_timestamptz(i64::MAX, &Zone::Named(chrono_tz::Europe::Berlin), Between::Blank, out)
    });
    assert_eq!(micros, "294247-01-10 04:00:54.775807+00");
}

#[test]
fn timestamps_are_read_with_or_without_an_offset() {
    let check = |text: &str, expected: Option<(i64, Option<i32>)>| {
        assert_eq!(parse_timestamp(text), expected, "{text}")
    };
    check("1970-01-01 00:00:01", Some((1_000_000, None)));
    check("1970-01-01", Some((0, None)));
    check("1970-01-01T00:00:00.0000019Z", Some((2, Some(0))));
    check("1970-01-01 00:00:00 +01", Some((0, Some(3_600))));
    check("1970-01-01 00:00:00-0130", Some((0, Some(-5_400))));
    check("1970-01-01 00:00:00+00:53:28", Some((0, Some(3_208))));
    check("0001-12-31 23:59:59.999999 BC", Some((-62_135_596_800_000_001, None)));
    for bad in [
        "",
        "now",
        "1970-1",
        "1970-13-01",
        "1970-02-30",
        "0000-01-01",
        "1970-01-01 24:00:00",
        "1970-01-01 1:2:3x",
        "1970-01-01 00:00:00 Europe/Berlin",
    ] {
        check(bad, None);
    }
}

#[test]
fn zones_are_read_and_named() {
    let check = |name: &str, expected: Option<&str>| {
        assert_eq!(Zone::parse(name).map(|zone| zone.name()).as_deref(), expected, "{name}");
    };
    check("utc", Some("UTC"));
    check("+00:00", Some("UTC"));
    check("+02:00", Some("<+02>-02"));
    check("europe/berlin", Some("Europe/Berlin"));
    check("Nowhere", None);
}
