//! What only the key decides: hashes, tokens and shifts.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, Date32Array, Decimal128Array, Int64Array, StringViewArray};
use arrow_schema::DataType;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::{MaskType, check_number, masked, run, run_using, settings};
use crate::keyed::Keyed;

#[test]
fn the_keyed_hash_is_hmac_for_every_length_of_key_and_message() {
    let bytes: Vec<u8> = (0..300_u16).map(|n| (n * 7 % 251) as u8).collect();
    for n_key in [1, 5, 31, 63, 64, 65, 200] {
        for n_message in (0..=140).chain([300]) {
            let mut mac = Hmac::<Sha256>::new_from_slice(&bytes[..n_key]).unwrap();
            mac.update(&bytes[..n_message]);
            let expected: [u8; 32] = mac.finalize().into_bytes().into();
            let ours = Keyed::new(&bytes[..n_key]).unwrap().digest(&bytes[..n_message]);
            assert_eq!(ours, expected, "{n_key} {n_message}");
        }
    }
}

#[test]
fn no_hash_of_a_chosen_value_is_the_key_of_tokens_or_shifts() {
    for purpose in ["token", "date shift"] {
        let of_purpose = Keyed::for_purpose(b"key", purpose).unwrap();
        for chosen in [purpose.as_bytes(), b"key", b""] {
            let told = Keyed::new(b"key").unwrap().digest(chosen);
            assert!(Keyed::new(&told).unwrap() != of_purpose, "{purpose}");
        }
        assert!(Keyed::for_purpose(b"", purpose).is_none());
    }
    assert!(Keyed::for_purpose(b"key", "token") != Keyed::for_purpose(b"key", "date shift"));
}

#[test]
fn tokens_keep_the_format_and_depend_on_the_key() {
    for value in ["4012-8888-8888-1881", "Ann Example 1970", "AB-12", "", "x", "Иван 北京 ٣"] {
        let token = masked(MaskType::Token, value, &settings(false, "key"));
        assert_eq!(token, masked(MaskType::Token, value, &settings(false, "key")), "the same each time");
        assert_eq!(token.chars().count(), value.chars().count());
        for (from, to) in value.chars().zip(token.chars()) {
            assert!(to.is_ascii(), "{token}");
            if from.is_ascii() && !from.is_ascii_alphanumeric() {
                assert_eq!(from, to);
            }
            assert_eq!(from.is_numeric(), to.is_ascii_digit(), "{value} {token}");
            assert_eq!(from.is_uppercase(), to.is_ascii_uppercase(), "{value} {token}");
        }
        if value.len() > 8 {
            assert_ne!(token, value);
            assert_ne!(token, masked(MaskType::Token, value, &settings(false, "yek")));
        }
    }
}

#[test]
fn tokens_of_long_numbers_are_as_many_as_the_numbers() {
    let values: Vec<i64> = (100_000..102_000).chain([-100_000, i64::MAX, i64::MIN + 1]).collect();
    let array: ArrayRef = Arc::new(Int64Array::from(values.clone()));
    let tokens = run(MaskType::Token, array, &settings(false, "key"));
    let tokens = tokens.as_primitive::<Int64Type>();
    let distinct: BTreeSet<i64> = tokens.values().iter().copied().collect();
    assert_eq!(distinct.len(), values.len());
    for (value, token) in values.iter().zip(tokens.values()) {
        assert_eq!(value.to_string().len(), token.to_string().len());
        assert_eq!(value.signum(), token.signum());
    }
    let short: ArrayRef = Arc::new(Int64Array::from(vec![0, 7, -42, 99_999]));
    let tokens = run(MaskType::Token, short, &settings(false, "key"));
    let lengths: Vec<_> = tokens
        .as_primitive::<Int64Type>()
        .values()
        .iter()
        .map(|n| n.unsigned_abs().to_string().len())
        .collect();
    assert_eq!(lengths, [1, 1, 2, 5]);
    let money = Decimal128Array::from(vec![123_456_789]).with_precision_and_scale(9, 2).unwrap();
    let token = run(MaskType::Token, Arc::new(money), &settings(false, "key"));
    assert_eq!(token.data_type(), &DataType::Decimal128(9, 2));
    assert_eq!(token.as_primitive::<Decimal128Type>().value(0).to_string().len(), 9);
}

#[test]
fn shifts_stay_within_their_days_and_never_leave_a_date() {
    let days: Vec<i32> = (-2_000..2_000).collect();
    for (number, largest) in [(Some("1"), 1), (Some("30"), 30), (None, 365)] {
        let array: ArrayRef = Arc::new(Date32Array::from(days.clone()));
        let moved = run_using(MaskType::DateShift, array, number, &settings(false, "key"));
        let moved: Vec<i32> = moved.as_primitive::<Date32Type>().values().to_vec();
        let by: BTreeSet<i32> = days.iter().zip(&moved).map(|(from, to)| to - from).collect();
        assert!(by.iter().all(|n| *n != 0 && n.abs() <= largest), "{by:?}");
        assert!(by.len() as i32 > largest, "both ways: {by:?}");
    }
}

#[test]
fn numbers_after_using_are_checked() {
    let check = |kind, data_type: &DataType, text| check_number(kind, data_type, text).is_ok();
    let money = DataType::Decimal128(9, 2);
    for (data_type, good, bad) in [
        (&DataType::Int64, vec!["1", "10", "10.0"], vec!["0", "-5", "0.5", "ten", "", "1e3"]),
        (&money, vec!["10", "0.25"], vec!["0.125", "0.00"]),
        (&DataType::Float64, vec!["0.125", "3"], vec!["0", "-1", "inf", "NaN"]),
    ] {
        assert!(good.iter().all(|text| check(MaskType::Bucket, data_type, Some(text))), "{data_type}");
        assert!(!bad.iter().any(|text| check(MaskType::Bucket, data_type, Some(text))), "{data_type}");
    }
    assert!(!check(MaskType::Bucket, &DataType::Int64, None));
    assert!(check(MaskType::DateShift, &DataType::Date32, None));
    assert!(check(MaskType::DateShift, &DataType::Date32, Some("30")));
    assert!(!check(MaskType::DateShift, &DataType::Date32, Some("0")));
}

#[test]
fn equal_texts_have_equal_hashes_in_every_layout() {
    let array = StringViewArray::from(vec![Some("abc"), None, Some("a longer text than a view holds")]);
    let views: ArrayRef = Arc::new(array);
    let expected = run(MaskType::Hash, Arc::clone(&views), &settings(false, "key"));
    for data_type in [DataType::Utf8, DataType::LargeUtf8] {
        let other = arrow_cast::cast(&views, &data_type).unwrap();
        let hashed = run(MaskType::Hash, other, &settings(false, "key"));
        assert_eq!(hashed.data_type(), &data_type);
        assert_eq!(&arrow_cast::cast(&hashed, &DataType::Utf8View).unwrap(), &expected);
    }
}
