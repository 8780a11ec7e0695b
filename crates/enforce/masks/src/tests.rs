//! What each mask makes of each kind of value, to the letter.

mod bulk;
mod keys;
mod page;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Date32Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow_schema::DataType;
use stdx::Secret;

use super::{Cover, MaskSettings, MaskType, Profile, check_number, cover, fits};

fn settings(show_short_values: bool, key: &str) -> MaskSettings {
    MaskSettings { key: Secret::new(key), show_short_values, profile: Profile::Sluice }
}

/// Runs the mask of a column over an array.
fn run(kind: MaskType, array: ArrayRef, settings: &MaskSettings) -> ArrayRef {
    run_using(kind, array, None, settings)
}

fn run_using(kind: MaskType, array: ArrayRef, number: Option<&str>, settings: &MaskSettings) -> ArrayRef {
    match cover(kind, array.data_type(), number, settings).expect("a mask") {
        Cover::Nothing => array,
        Cover::Null => new_null_array(array.data_type(), array.len()),
        Cover::Mask(mask) => mask.apply(&array).unwrap(),
    }
}

fn masked(kind: MaskType, value: &str, settings: &MaskSettings) -> String {
    let array = run(kind, Arc::new(StringViewArray::from(vec![Some(value), None])), settings);
    let array = array.as_string_view();
    assert!(array.is_null(1), "NULL stays NULL");
    array.value(0).to_owned()
}

#[test]
fn texts_come_out_as_written_here() {
    for (kind, value, expected) in [
        (MaskType::Mask, "Ann-42 x@Y.de", "Xxx-nn x@X.xx"),
        (MaskType::Mask, "", ""),
        (MaskType::Mask, "Äö٣🙂", "Xxnx"),
        (MaskType::Mask, "\u{7}a\u{1b}\u{7f}\t1\u{85}", "xxxx\tn\u{85}"),
        (MaskType::ShowLast4, "\u{1b}\u{7f}\n12345", "xx\nx2345"),
        (MaskType::ShowLast4, "123-45-6789", "xxx-xx-6789"),
        (MaskType::ShowLast4, "12345", "x2345"),
        (MaskType::ShowLast4, "1234", "xxxx"),
        (MaskType::ShowLast4, "a-1", "x-x"),
        (MaskType::ShowLast4, "", ""),
        (MaskType::ShowLast4, "äöüß12", "xxüß12"),
        (MaskType::ShowFirst4, "123-45-6789", "123-xx-xxxx"),
        (MaskType::ShowFirst4, "12345", "1234x"),
        (MaskType::ShowFirst4, "123", "xxx"),
        (MaskType::None, "as it is", "as it is"),
        (
            // Computed with `openssl dgst -sha256 -hmac key`, over the text `abc`.
            MaskType::Hash,
            "abc",
            "9c196e32dc0175f86f4b1cb89289d6619de6bee699e4c378e68309ed97a1a6ab",
        ),
    ] {
        assert_eq!(masked(kind, value, &settings(false, "key")), expected, "{kind:?} of {value}");
    }
    assert_eq!(masked(MaskType::ShowLast4, "1234", &settings(true, "key")), "1234");
    assert_eq!(masked(MaskType::ShowFirst4, "12", &settings(true, "key")), "12");
}

#[test]
fn a_hash_depends_on_its_key_and_is_refused_without_one() {
    assert_ne!(
        masked(MaskType::Hash, "abc", &settings(false, "key")),
        masked(MaskType::Hash, "abc", &settings(false, "yek"))
    );
    for kind in [MaskType::Hash, MaskType::Token, MaskType::DateShift] {
        for data_type in [DataType::Utf8View, DataType::Date32] {
            assert!(cover(kind, &data_type, None, &settings(false, "")).is_none(), "{kind:?} without a key");
        }
    }
    let Some(Cover::Mask(mask)) = cover(MaskType::Hash, &DataType::Utf8, None, &settings(false, "the-key"))
    else {
        panic!("no mask");
    };
    assert_eq!(format!("{mask:?}"), "MASK_HASH");
}

#[test]
fn a_mask_gives_the_very_type_of_its_column() {
    let texts: [ArrayRef; 3] = [
        Arc::new(StringArray::from(vec!["abcdef"])),
        Arc::new(LargeStringArray::from(vec!["abcdef"])),
        Arc::new(StringViewArray::from(vec!["abcdef"])),
    ];
    for array in texts {
        for (_, kind) in MaskType::ALL {
            if fits(kind, array.data_type()) && kind != MaskType::Custom {
                let out = run(kind, Arc::clone(&array), &settings(false, "key"));
                assert_eq!(out.data_type(), array.data_type(), "{kind:?}");
            }
        }
    }
}

#[test]
fn masks_of_texts_make_other_types_null() {
    for kind in
        [MaskType::Null, MaskType::Mask, MaskType::ShowLast4, MaskType::ShowFirst4, MaskType::DateShowYear]
    {
        let array: ArrayRef = Arc::new(Int64Array::from(vec![5]));
        let out = run(kind, array, &settings(false, "key"));
        assert!(out.as_primitive::<Int64Type>().is_null(0), "{kind:?}");
    }
    assert!(cover(MaskType::Hash, &DataType::Int64, None, &settings(false, "key")).is_none());
    assert!(!fits(MaskType::Hash, &DataType::Int64) && fits(MaskType::Hash, &DataType::Utf8View));
    assert!(
        cover(MaskType::Custom, &DataType::Utf8, None, &settings(false, "key")).is_none(),
        "an expression is not made here"
    );
}

#[test]
fn dates_keep_their_year_alone() {
    // 2021-05-04, 1969-12-31, 1970-01-01.
    let array: ArrayRef = Arc::new(Date32Array::from(vec![Some(18_751), Some(-1), Some(0), None]));
    let out = run(MaskType::DateShowYear, array, &settings(false, "key"));
    let days: Vec<_> = out.as_primitive::<Date32Type>().iter().collect();
    assert_eq!(days, [Some(18_628), Some(-365), Some(0), None]);
    // 2021-05-04T01:02:03.000004Z and one microsecond before 1970.
    let stamps = TimestampMicrosecondArray::from(vec![1_620_090_123_000_004, -1]).with_timezone("+02:00");
    let out = run(MaskType::DateShowYear, Arc::new(stamps.clone()), &settings(false, "key"));
    assert_eq!(out.data_type(), stamps.data_type());
    let micros: Vec<_> = out.as_primitive::<TimestampMicrosecondType>().values().to_vec();
    assert_eq!(micros, [1_609_459_200_000_000, -31_536_000_000_000]);
    // A value outside of the calendar tells nothing and fails nothing.
    let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX, i64::MIN]));
    assert_eq!(run(MaskType::DateShowYear, array, &settings(false, "key")).len(), 2);
    let array: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX, i32::MIN]));
    assert_eq!(run(MaskType::DateShowYear, array, &settings(false, "key")).null_count(), 2);
}

#[test]
fn names_of_masks_are_read_as_ranger_writes_them() {
    for (name, kind) in MaskType::ALL {
        assert_eq!(MaskType::parse(name), Some(kind));
    }
    assert_eq!(MaskType::parse("mask_null"), None);
}
