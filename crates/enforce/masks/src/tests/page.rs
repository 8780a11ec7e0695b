//! The reference page of masks: every example on it is run.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, ListArray, StringArray, StructArray,
    new_null_array,
};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields, TimeUnit};

use super::{MaskSettings, MaskType, Profile, Secret, cover, run_using};

const PAGE: &str = include_str!("../../../../../docs/reference/masks.md");

/// The key that the page names.
const KEY: &str = "0123456789abcdef";

fn type_of(name: &str) -> DataType {
    match name {
        "string" => DataType::Utf8View,
        "int" => DataType::Int32,
        "long" => DataType::Int64,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "decimal(9,2)" => DataType::Decimal128(9, 2),
        "boolean" => DataType::Boolean,
        "date" => DataType::Date32,
        "time" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        "binary" => DataType::Binary,
        "uuid" => DataType::FixedSizeBinary(16),
        "fixed[4]" => DataType::FixedSizeBinary(4),
        other => panic!("the page has a type that the test lacks: `{other}`"),
    }
}

fn value_of(kind: &str, value: &str) -> ArrayRef {
    let ints = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    match kind {
        "struct" => {
            Arc::new(StructArray::from(vec![(Arc::new(Field::new("a", DataType::Int32, true)), ints())]))
        }
        "list" => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])])),
        "map" => {
            let entry = Fields::from(vec![
                Field::new("keys", DataType::Utf8, false),
                Field::new("values", DataType::Int32, true),
            ]);
            let entries = Field::new("entries", DataType::Struct(entry), false);
            new_null_array(&DataType::Map(Arc::new(entries), false), 1)
        }
        "binary" => Arc::new(BinaryArray::from_vec(vec![&hex::decode(value).unwrap()])),
        "uuid" | "fixed[4]" => {
            let bytes = hex::decode(value.replace('-', "")).unwrap();
            Arc::new(FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap())
        }
        _ => cast(&StringArray::from(vec![value]), &type_of(kind)).unwrap(),
    }
}

/// As the page shows a value.
fn shown(array: &ArrayRef) -> String {
    let options = FormatOptions::new().with_null("NULL");
    ArrayFormatter::try_new(array, &options).unwrap().value(0).to_string()
}

fn come_out(mask: &str, array: &ArrayRef, profile: Profile) -> String {
    let (name, number) = match mask.split_once(" USING ") {
        Some((name, number)) => (name, Some(number.trim_matches(['(', ')']))),
        None => (mask, None),
    };
    let kind = MaskType::parse(name).unwrap_or_else(|| panic!("no mask `{name}`"));
    let settings = MaskSettings { key: Secret::new(KEY), show_short_values: false, profile };
    if cover(kind, array.data_type(), number, &settings).is_none() {
        return "restricted".to_owned();
    }
    let masked = run_using(kind, Arc::clone(array), number, &settings);
    assert_eq!(masked.data_type(), array.data_type());
    shown(&masked)
}

/// The rows of examples: mask, type, value, and what it comes out as under one profile or under each.
fn examples() -> Vec<Vec<String>> {
    let unquoted = |cell: &str| cell.trim().trim_matches('`').to_owned();
    PAGE.lines()
        .filter(|line| line.starts_with("| `MASK"))
        .map(|line| line.trim_matches('|').split(" | ").map(unquoted).collect::<Vec<_>>())
        .filter(|cells| cells.len() == 4 || cells.len() == 7)
        .collect()
}

#[test]
fn every_example_of_the_page_comes_out_as_it_says() {
    let mut faults = Vec::new();
    let examples = examples();
    for example in &examples {
        let [mask, kind, value, expected @ ..] = example.as_slice() else { panic!("{example:?}") };
        let array = value_of(kind, value);
        for ((name, profile), expected) in Profile::ALL.iter().zip(expected) {
            let actual = come_out(mask, &array, *profile);
            if actual != *expected {
                faults.push(format!("{mask} of {kind} `{value}` under {name}: `{actual}`, not `{expected}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(examples.len() > 80, "{}", examples.len());
}

#[test]
fn the_page_has_an_example_of_every_mask_and_type() {
    let examples = examples();
    for (name, kind) in MaskType::ALL {
        let is_shown = examples
            .iter()
            .any(|example| example.first().is_some_and(|mask| mask.split(' ').next() == Some(name)));
        assert!(is_shown || kind == MaskType::Custom, "{name}");
    }
    for kind in [
        "string",
        "int",
        "long",
        "float",
        "double",
        "decimal(9,2)",
        "boolean",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "binary",
        "uuid",
        "fixed[4]",
        "struct",
        "list",
        "map",
    ] {
        let has = |mask: &str| examples.iter().any(|e| e[0] == mask && e[1] == kind);
        assert!(has("MASK") && has("MASK_HASH") && has("MASK_DATE_SHOW_YEAR"), "{kind}");
    }
}
