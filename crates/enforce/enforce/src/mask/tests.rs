//! How masks stand in plans.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringViewArray};
use arrow::datatypes::{DataType, Field};
use datafusion_common::config::ConfigOptions;
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::{ColumnarValue, Expr, ScalarFunctionArgs, lit};
use stdx::Secret;

use super::{MaskSettings, MaskType, Profile, mask_expr};

fn settings() -> MaskSettings {
    MaskSettings { key: Secret::new("the-key"), show_short_values: false, profile: Profile::Sluice }
}

fn built(kind: MaskType, data_type: DataType, custom: Option<Expr>) -> Option<Expr> {
    mask_expr(kind, &Field::new("c", data_type, false), custom, None, &settings())
}

#[test]
fn a_custom_mask_is_cast_to_its_column() {
    let mask = built(MaskType::Custom, DataType::Int32, Some(lit(1_i64))).unwrap();
    assert_eq!(mask.to_string(), "CAST(Int64(1) AS Int32)");
    assert!(built(MaskType::Custom, DataType::Utf8, None).is_none(), "no expression, no mask");
}

#[test]
fn a_mask_that_says_nothing_of_its_type_reads_no_column() {
    for (kind, data_type) in [
        (MaskType::Null, DataType::Utf8View),
        (MaskType::Mask, DataType::Int64),
        (MaskType::ShowLast4, DataType::Binary),
        (MaskType::Email, DataType::Date32),
    ] {
        let mask = built(kind, data_type.clone(), None).unwrap();
        assert!(mask.column_refs().is_empty(), "{mask}");
        assert!(
            matches!(mask, Expr::Literal(ref null, _) if null.is_null() && null.data_type() == data_type)
        );
    }
    assert!(built(MaskType::Hash, DataType::Int64, None).is_none());
}

#[test]
fn a_mask_in_a_plan_masks_and_shows_no_key() {
    let mask = built(MaskType::ShowLast4, DataType::Utf8View, None).unwrap();
    let Expr::ScalarFunction(ScalarFunction { func, .. }) = &mask else { panic!("{mask}") };
    let array: ArrayRef = Arc::new(StringViewArray::from(vec![Some("123-45-6789"), None]));
    let field = Arc::new(Field::new("c", DataType::Utf8View, true));
    let args = ScalarFunctionArgs {
        args: vec![ColumnarValue::Array(array)],
        arg_fields: vec![Arc::clone(&field)],
        number_rows: 2,
        return_field: field,
        config_options: Arc::new(ConfigOptions::default()),
    };
    let masked = func.invoke_with_args(args).unwrap().to_array(2).unwrap();
    assert_eq!(masked.as_string_view().iter().collect::<Vec<_>>(), [Some("xxx-xx-6789"), None]);
    let hash = built(MaskType::Hash, DataType::Utf8View, None).unwrap();
    for shown in [format!("{hash}"), format!("{hash:?}"), format!("{hash:#?}"), format!("{:?}", settings())] {
        assert!(!shown.contains("the-key"), "{shown}");
    }
}

#[test]
fn masks_of_different_keys_are_different_expressions() {
    let field = Field::new("c", DataType::Utf8View, true);
    let of = |key: &str| {
        let settings = MaskSettings { key: Secret::new(key), ..settings() };
        mask_expr(MaskType::Hash, &field, None, None, &settings).unwrap()
    };
    assert_eq!(of("a"), of("a"));
    assert_ne!(of("a"), of("b"));
}
