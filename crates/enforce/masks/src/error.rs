//! Why a mask could not be computed; no text here holds a value.

use arrow_schema::{ArrowError, DataType};

/// The caller gave an array of another type than the mask was made for; readers of a table never see it.
#[derive(Debug, thiserror::Error)]
pub enum MaskError {
    #[error("a mask of {mask} does not take {found}")]
    Type { mask: &'static str, found: DataType },
    #[error("a mask met more text than one array may hold")]
    Size,
    #[error("a token cipher was not made")]
    Cipher,
    #[error("a masked array was not made")]
    Array(#[source] ArrowError),
}

impl From<ArrowError> for MaskError {
    fn from(error: ArrowError) -> Self {
        Self::Array(error)
    }
}

pub(crate) fn not_taken(mask: &'static str, found: &DataType) -> MaskError {
    MaskError::Type { mask, found: found.clone() }
}
