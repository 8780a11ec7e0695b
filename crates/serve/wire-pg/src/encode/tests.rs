//! Numerics in both forms, and the formats of columns.

use super::*;

#[test]
fn numerics_are_read_back_from_their_binary_form() {
    for text in [
        "0",
        "0.00",
        "1",
        "-1",
        "10000",
        "99999999",
        "0.0001",
        "0.00001",
        "-12.5",
        "12345678.87654321",
        "1.50",
        "100000000000000000000000000000000000.0000000001",
    ] {
        let numeric = parse_numeric(text).unwrap();
        let unscaled = text.replace('.', "");
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let mut out = BytesMut::new();
        numeric::write_binary(&unscaled, i64::try_from(scale).unwrap(), &mut out).unwrap();
        assert_eq!(read_numeric(&out).unwrap(), numeric, "{text}");
        assert_eq!(numeric.to_text(), text);
    }
}

#[test]
fn texts_that_are_no_numerics_are_refused() {
    let check = |text: &str, code: &str| assert_eq!(parse_numeric(text).unwrap_err().code, code, "{text}");
    for text in ["", ".", "-", "1.2.3", "1e", "--1", "0x10", "1 2"] {
        check(text, "22P02");
    }
    for text in ["NaN", "-Infinity", "1e99", "1e-2000", &"9".repeat(77)] {
        check(text, "22003");
    }
}

#[test]
fn broken_binary_numerics_are_refused() {
    for bytes in [&b""[..], b"\0\x01\0\0\0\0\0\0", b"\0\0\0\0\x12\x34\0\0", b"\0\x01\0\0\0\0\0\0\x27\x10"] {
        assert_eq!(read_numeric(bytes).unwrap_err().code, "22P03");
    }
    assert_eq!(read_numeric(b"\0\x01\x7f\xff\0\0\0\0\0\x01").unwrap_err().code, "22003");
}

#[test]
fn formats_are_spread_over_the_columns() {
    assert_eq!(Format::spread(&[], 2), Ok(vec![Format::Text; 2]));
    assert_eq!(Format::spread(&[1], 2), Ok(vec![Format::Binary; 2]));
    assert_eq!(Format::spread(&[0, 1], 2), Ok(vec![Format::Text, Format::Binary]));
    assert_eq!(Format::spread(&[0, 1], 3).unwrap_err().code, "08P01");
    assert_eq!(Format::spread(&[2], 1).unwrap_err().code, "08P01");
}
