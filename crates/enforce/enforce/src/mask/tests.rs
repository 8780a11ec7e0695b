//! What each mask makes of each kind of value, to the letter.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, LargeStringArray, StringArray, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Date32Type, Field, Int64Type, TimestampMicrosecondType};
use datafusion_common::config::ConfigOptions;
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::{ColumnarValue, Expr, ScalarFunctionArgs, lit};
use stdx::Secret;

use super::{MaskSettings, MaskType, fits, mask_expr};

fn settings(show_short_values: bool, key: &str) -> MaskSettings {
    MaskSettings { key: Secret::new(key), show_short_values }
}

fn built(kind: MaskType, data_type: &DataType, settings: &MaskSettings) -> Option<Expr> {
    mask_expr(kind, &Field::new("c", data_type.clone(), false), None, settings)
}

/// Runs the mask of a column over an array.
fn run(kind: MaskType, array: ArrayRef, settings: &MaskSettings) -> Result<ArrayRef, String> {
    let n_rows = array.len();
    match built(kind, array.data_type(), settings).expect("a mask") {
        Expr::Column(_) => Ok(array),
        Expr::Literal(value, _) => Ok(value.to_array_of_size(n_rows).unwrap()),
        Expr::ScalarFunction(ScalarFunction { func, .. }) => {
            let field = Arc::new(Field::new("c", array.data_type().clone(), true));
            let args = ScalarFunctionArgs {
                args: vec![ColumnarValue::Array(array)],
                arg_fields: vec![Arc::clone(&field)],
                number_rows: n_rows,
                return_field: field,
                config_options: Arc::new(ConfigOptions::default()),
            };
            match func.invoke_with_args(args) {
                Ok(value) => Ok(value.to_array(n_rows).unwrap()),
                Err(error) => Err(error.to_string()),
            }
        }
        other => panic!("{other}"),
    }
}

fn masked(kind: MaskType, value: &str, settings: &MaskSettings) -> String {
    let array = run(kind, Arc::new(StringViewArray::from(vec![Some(value), None])), settings).unwrap();
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
    let error =
        run(MaskType::Hash, Arc::new(StringViewArray::from(vec!["abc"])), &settings(false, "")).unwrap_err();
    assert!(error.contains("no key") && !error.contains("abc"), "{error}");
    let shown = format!("{:?}", built(MaskType::Hash, &DataType::Utf8, &settings(false, "the-key")));
    assert!(!shown.contains("the-key"), "{shown}");
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
            if kind != MaskType::Custom {
                let out = run(kind, Arc::clone(&array), &settings(false, "key")).unwrap();
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
        let array: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![5]));
        let out = run(kind, array, &settings(false, "key")).unwrap();
        assert!(out.as_primitive::<Int64Type>().is_null(0), "{kind:?}");
    }
    assert!(built(MaskType::Hash, &DataType::Int64, &settings(false, "key")).is_none());
    assert!(!fits(MaskType::Hash, &DataType::Int64) && fits(MaskType::Hash, &DataType::Utf8View));
    assert!(
        built(MaskType::Custom, &DataType::Utf8, &settings(false, "key")).is_none(),
        "no expression, no mask"
    );
}

#[test]
fn dates_keep_their_year_alone() {
    // 2021-05-04, 1969-12-31, 1970-01-01.
    let array: ArrayRef = Arc::new(Date32Array::from(vec![Some(18_751), Some(-1), Some(0), None]));
    let out = run(MaskType::DateShowYear, array, &settings(false, "key")).unwrap();
    let days: Vec<_> = out.as_primitive::<Date32Type>().iter().collect();
    assert_eq!(days, [Some(18_628), Some(-365), Some(0), None]);
    // 2021-05-04T01:02:03.000004Z and one microsecond before 1970.
    let stamps = TimestampMicrosecondArray::from(vec![1_620_090_123_000_004, -1]).with_timezone("+02:00");
    let out = run(MaskType::DateShowYear, Arc::new(stamps.clone()), &settings(false, "key")).unwrap();
    assert_eq!(out.data_type(), stamps.data_type());
    let micros: Vec<_> = out.as_primitive::<TimestampMicrosecondType>().values().to_vec();
    assert_eq!(micros, [1_609_459_200_000_000, -31_536_000_000_000]);
    // A value outside of the calendar tells nothing and fails nothing.
    let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX, i64::MIN]));
    assert!(run(MaskType::DateShowYear, array, &settings(false, "key")).is_ok());
    let array: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX, i32::MIN]));
    assert_eq!(run(MaskType::DateShowYear, array, &settings(false, "key")).unwrap().null_count(), 2);
}

#[test]
fn a_custom_mask_is_cast_to_its_column() {
    let field = Field::new("c", DataType::Int32, false);
    let mask = mask_expr(MaskType::Custom, &field, Some(lit(1_i64)), &settings(false, "key")).unwrap();
    assert_eq!(mask.to_string(), "CAST(Int64(1) AS Int32)");
}

#[test]
fn names_of_masks_are_read_as_ranger_writes_them() {
    for (name, kind) in MaskType::ALL {
        assert_eq!(MaskType::parse(name), Some(kind));
    }
    assert_eq!(MaskType::parse("mask_null"), None);
}
