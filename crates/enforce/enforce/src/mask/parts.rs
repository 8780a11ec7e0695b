//! Masks of parts of a nested column: fields of structs, elements of lists, keys and values of maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, LargeListArray, ListArray, MapArray, StructArray,
    new_null_array,
};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Column, DataFusionError, Result, internal_err};
use datafusion_expr::{Expr, ScalarUDF};
use masks::{Cover, Mask, MaskSettings, MaskType, cover};

use super::kernel::Kernel;

/// What stands for a part's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartCover<'a> {
    /// NULL, as for a restricted column.
    Null,
    Mask {
        kind: MaskType,
        number: Option<&'a str>,
    },
}

/// The part of a type that a word names: a field of a struct, `element` of a list, `key` or `value` of a map.
fn part_of<'t>(data_type: &'t DataType, word: &str) -> Option<(usize, &'t FieldRef)> {
    parts_in(data_type)
        .into_iter()
        .enumerate()
        .find(|(_, (name, _))| *name == word)
        .map(|(at, (_, field))| (at, field))
}

/// The parts that a type consists of, each with the word that names it.
pub fn parts_in(data_type: &DataType) -> Vec<(&str, &FieldRef)> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| (field.name().as_str(), field)).collect(),
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            vec![("element", element)]
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => ["key", "value"].into_iter().zip(fields.iter()).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A nested column with masks over parts of it. `None`: one of them does not fit its part, or the part must have a
/// value where the mask gives none, so that the whole column is to be restricted.
pub fn parts_expr(
    field: &Field,
    parts: &[(&[String], PartCover<'_>)],
    settings: &MaskSettings,
) -> Option<Expr> {
    let mut shape = Shape::Parts(BTreeMap::new());
    for (path, cover) in parts {
        shape.put(field, path, *cover, settings)?;
    }
    let column = Expr::Column(Column::from_name(field.name()));
    Some(ScalarUDF::from(Kernel::new(shape)).call(vec![column]))
}

/// What is done to a value, or where in a nested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Mask(Mask),
    /// By the number of the part.
    Parts(BTreeMap<usize, Shape>),
}

impl Shape {
    /// What it shows of itself in plans.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Mask(mask) => mask.name(),
            Self::Null | Self::Parts(_) => "mask_parts",
        }
    }

    fn put(
        &mut self,
        field: &Field,
        path: &[String],
        covered: PartCover<'_>,
        settings: &MaskSettings,
    ) -> Option<()> {
        let Self::Parts(parts) = self else { return None };
        let (word, below) = path.split_first()?;
        let (at, part) = part_of(field.data_type(), word)?;
        if !below.is_empty() {
            return parts
                .entry(at)
                .or_insert_with(|| Self::Parts(BTreeMap::new()))
                .put(part, below, covered, settings);
        }
        let cover = match covered {
            PartCover::Null => Cover::Null,
            PartCover::Mask { kind, number } => cover(kind, part.data_type(), number, settings)?,
        };
        let shape = match cover {
            Cover::Nothing => return Some(()),
            Cover::Null if !part.is_nullable() => return None,
            Cover::Null => Self::Null,
            Cover::Mask(mask) => Self::Mask(mask),
        };
        parts.insert(at, shape);
        Some(())
    }

    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let parts = match self {
            Self::Null => return Ok(new_null_array(array.data_type(), array.len())),
            Self::Mask(mask) => {
                return mask.apply(array).map_err(|error| DataFusionError::External(Box::new(error)));
            }
            Self::Parts(parts) => parts,
        };
        let part = |at: usize, own: &ArrayRef| match parts.get(&at) {
            Some(shape) => shape.apply(own),
            None => Ok(Arc::clone(own)),
        };
        Ok(match array.data_type() {
            DataType::Struct(fields) => {
                let whole = array.as_struct();
                let columns = whole.columns().iter().enumerate().map(|(at, own)| part(at, own));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let nulls = whole.nulls().cloned();
                Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, whole.len())?)
            }
            DataType::List(element) => {
                let (whole, element) = (array.as_list::<i32>(), Arc::clone(element));
                let (offsets, nulls) = (whole.offsets().clone(), whole.nulls().cloned());
                Arc::new(ListArray::try_new(element, offsets, part(0, whole.values())?, nulls)?)
            }
            DataType::LargeList(element) => {
                let (whole, element) = (array.as_list::<i64>(), Arc::clone(element));
                let (offsets, nulls) = (whole.offsets().clone(), whole.nulls().cloned());
                Arc::new(LargeListArray::try_new(element, offsets, part(0, whole.values())?, nulls)?)
            }
            DataType::FixedSizeList(element, size) => {
                let (whole, element) = (array.as_fixed_size_list(), Arc::clone(element));
                let values = part(0, whole.values())?;
                Arc::new(FixedSizeListArray::try_new(element, *size, values, whole.nulls().cloned())?)
            }
            DataType::Map(entries, is_sorted) => {
                let whole = array.as_map();
                let pairs: ArrayRef = Arc::new(whole.entries().clone());
                let pairs = self.apply(&pairs)?.as_struct().clone();
                let (offsets, nulls) = (whole.offsets().clone(), whole.nulls().cloned());
                Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *is_sorted)?)
            }
            other => return internal_err!("{other} has no parts"),
        })
    }
}
