//! Hashes in the place of values.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_schema::DataType;
use md5::{Digest as _, Md5};
use sha2::Sha256;

use crate::error::{MaskError, not_taken};
use crate::keyed::Keyed;

/// What a value is hashed with, and how the digest is written.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Digest {
    /// HMAC-SHA-256 in lower-case hexadecimal digits; binary values get the bytes themselves.
    Keyed(Keyed),
    /// SHA-256 in lower case, as Hive writes it.
    Sha256,
    /// SHA-256 in upper case, as Trino writes it.
    Sha256Upper,
    /// MD5 in lower case, as Spark writes it.
    Md5,
}

impl Digest {
    fn n_digits(&self) -> usize {
        match self {
            Self::Keyed(_) | Self::Sha256 | Self::Sha256Upper => 64,
            Self::Md5 => 32,
        }
    }

    fn write(&self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Keyed(keyed) => hex(&keyed.digest(value), b'a', out),
            Self::Sha256 => hex(&Sha256::digest(value).into(), b'a', out),
            Self::Sha256Upper => hex(&Sha256::digest(value).into(), b'A', out),
            Self::Md5 => hex::<16>(&Md5::digest(value).into(), b'a', out),
        }
    }

    pub(crate) fn mask(&self, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
        match (array.data_type(), self) {
            (DataType::Utf8, _) => self.texts(array, array.as_string::<i32>().iter()),
            (DataType::LargeUtf8, _) => self.texts(array, array.as_string::<i64>().iter()),
            (DataType::Utf8View, _) => self.texts(array, array.as_string_view().iter()),
            (DataType::Binary, Self::Keyed(keyed)) => {
                let mut out = BinaryBuilder::with_capacity(array.len(), 32 * array.len());
                array.as_binary::<i32>().iter().for_each(|v| out.append_option(v.map(|v| keyed.digest(v))));
                Ok(Arc::new(out.finish()))
            }
            (DataType::LargeBinary, Self::Keyed(keyed)) => {
                let mut out = LargeBinaryBuilder::with_capacity(array.len(), 32 * array.len());
                array.as_binary::<i64>().iter().for_each(|v| out.append_option(v.map(|v| keyed.digest(v))));
                Ok(Arc::new(out.finish()))
            }
            (DataType::BinaryView, Self::Keyed(keyed)) => {
                let mut out = BinaryBuilder::with_capacity(array.len(), 32 * array.len());
                array.as_binary_view().iter().for_each(|v| out.append_option(v.map(|v| keyed.digest(v))));
                Ok(cast(&out.finish(), array.data_type())?)
            }
            (DataType::FixedSizeBinary(n_bytes), Self::Keyed(keyed)) => {
                let mut out = FixedSizeBinaryBuilder::with_capacity(array.len(), *n_bytes);
                let n_bytes = usize::try_from(*n_bytes).unwrap_or_default();
                for value in array.as_fixed_size_binary() {
                    match value.map(|value| keyed.digest(value)) {
                        Some(digest) => out.append_value(digest.get(..n_bytes).unwrap_or_default())?,
                        None => out.append_null(),
                    }
                }
                Ok(Arc::new(out.finish()))
            }
            (other, _) => Err(not_taken("texts and bytes", other)),
        }
    }

    /// Every digest is longer than a view could hold, so all stand in one buffer.
    fn texts<'a>(
        &self,
        array: &ArrayRef,
        texts: impl Iterator<Item = Option<&'a str>>,
    ) -> Result<ArrayRef, MaskError> {
        let n_digits = self.n_digits();
        let mut out = Vec::with_capacity(n_digits * array.len());
        let mut views = Vec::with_capacity(array.len());
        for text in texts {
            let Some(text) = text else {
                views.push(0);
                continue;
            };
            let at = out.len();
            let Ok(offset) = u32::try_from(at) else {
                return Err(MaskError::Size);
            };
            self.write(text.as_bytes(), &mut out);
            let prefix = out.get(at..).and_then(|bytes| bytes.first_chunk::<4>());
            let prefix = u128::from(prefix.map_or(0, |bytes| u32::from_le_bytes(*bytes)));
            views.push(u128::from(offset) << 96 | prefix << 32 | n_digits as u128);
        }
        let buffers = vec![Buffer::from_vec(out)];
        let views = StringViewArray::try_new(ScalarBuffer::from(views), buffers, array.nulls().cloned())?;
        match array.data_type() {
            DataType::Utf8View => Ok(Arc::new(views)),
            other => Ok(cast(&views, other)?),
        }
    }
}

/// Hexadecimal digits, of which those above nine begin at `ten`.
fn hex<const N: usize>(bytes: &[u8; N], ten: u8, out: &mut Vec<u8>) {
    let above_nine = ten - b'9' - 1;
    let digit = |nibble: u8| nibble + b'0' + if nibble > 9 { above_nine } else { 0 };
    let mut digits = [[0_u8; 2]; N];
    for (pair, byte) in digits.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    out.extend_from_slice(digits.as_flattened());
}
