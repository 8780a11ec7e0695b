//! Takes away what an array holds besides its values: what lies under its NULLs, and its elements' field ids.

use datafusion::arrow::array::{Array, ArrayRef, UInt32Array};
use datafusion::arrow::compute::{cast, take};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};

/// The same array with nothing under its NULLs.
///
/// A NULL that an expression has made often lies over the value that it was made of, and kernels that work on whole
/// buffers meet that value: a cast of a date runs over, or not, by what is hidden (L4).
pub(super) fn blanked(array: ArrayRef) -> Result<ArrayRef> {
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(array) };
    let Ok(n) = u32::try_from(array.len()) else {
        return internal_err!("a batch has too many rows");
    };
    // A number beyond the end is looked up nowhere, and its slot gets the type's own zero.
    let slots = (0..n).zip(nulls.iter()).map(|(slot, is_there)| if is_there { slot } else { u32::MAX });
    let slots = UInt32Array::new(slots.collect(), Some(nulls.clone()));
    Ok(take(array.as_ref(), &slots, None)?)
}

/// A nested array under the names that the plan has for its elements; a plain one is as it is.
pub(super) fn titled(array: ArrayRef, planned: &DataType) -> Result<ArrayRef> {
    if array.data_type() == planned || !array.data_type().is_nested() {
        return Ok(array);
    }
    Ok(cast(&array, planned)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{AsArray, Int32Array, ListArray, StringArray, StructArray};
    use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
    use datafusion::arrow::datatypes::{DataType, Field, Int32Type};

    use super::*;

    fn nulls() -> Option<NullBuffer> {
        Some(NullBuffer::from(vec![true, false]))
    }

    fn ints() -> Int32Array {
        Int32Array::new(vec![1, 77].into(), nulls())
    }

    #[test]
    fn nothing_lies_under_a_null() {
        let blank = blanked(Arc::new(ints())).unwrap();
        assert_eq!(blank.as_primitive::<Int32Type>().values().as_ref(), [1, 0]);
        assert_eq!(blank.as_ref(), &ints() as &dyn Array);

        let texts = StringArray::new(OffsetBuffer::from_lengths([1, 6]), b"asecret".to_vec().into(), nulls());
        let blank = blanked(Arc::new(texts)).unwrap();
        assert_eq!(blank.as_string::<i32>().value_data(), b"a");

        let whole = Int32Array::from(vec![1, 77]);
        let item = Arc::new(Field::new("item", DataType::Int32, true));
        let lists =
            ListArray::new(item, OffsetBuffer::from_lengths([1, 1]), Arc::new(whole.clone()), nulls());
        let blank = blanked(Arc::new(lists)).unwrap();
        assert_eq!(blank.as_list::<i32>().values().as_primitive::<Int32Type>().values().as_ref(), [1]);

        let field = Arc::new(Field::new("a", DataType::Int32, true));
        let structs = StructArray::new(vec![field].into(), vec![Arc::new(whole) as ArrayRef], nulls());
        let blank = blanked(Arc::new(structs)).unwrap();
        assert_eq!(blank.as_struct().column(0).as_primitive::<Int32Type>().values().as_ref(), [1, 0]);
    }
}
