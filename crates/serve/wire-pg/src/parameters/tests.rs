//! Parameters that no client library sends by itself.

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;

use super::*;

#[test]
fn nested_arrays_are_read_in_both_forms() {
    let pg_type = Type::INT4_ARRAY;
    let expected = Datum::List(vec![
        Some(Datum::List(vec![Some(Datum::Int(1)), None])),
        Some(Datum::List(vec![Some(Datum::Int(3)), Some(Datum::Int(4))])),
    ]);
    assert_eq!(datum::of_text("{{1,NULL},{3,4}}", &pg_type).unwrap(), expected);
    let words = |words: &[i32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let bytes = words(&[2, 1, 23, 2, 1, 2, 1, 4, 1, -1, 4, 3, 4, 4]);
    assert_eq!(datum::of_binary(&Bytes::from(bytes), &pg_type).unwrap(), expected);
}

#[test]
fn null_has_the_type_that_is_wanted() {
    let array = read(None, Format::Text, &Type::TEXT, &DataType::Int32, &Zone::Utc).unwrap();
    assert!(array.as_primitive::<Int32Type>().value(0) == 0 && array.null_count() == 1 && array.len() == 1);
}
