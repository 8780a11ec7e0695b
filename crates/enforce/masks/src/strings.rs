//! Text masks over whole arrays: ASCII in bulk, anything else value by value.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_schema::DataType;

use crate::error::{MaskError, not_taken};
use crate::text::{Rule, SHOWN};

/// Views of up to so many bytes hold their text themselves.
const INLINE_MAX: usize = 12;
/// The highest bit of each of the twelve bytes that a view may hold.
const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080;

/// Masks each text of an array, whose type stays.
pub(crate) fn mask(rule: &Rule, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
    let done = match array.data_type() {
        DataType::Utf8 => by_offset::<i32>(rule, array)?,
        DataType::LargeUtf8 => by_offset::<i64>(rule, array)?,
        DataType::Utf8View => by_view(rule, array.as_string_view())?,
        other => return Err(not_taken("texts", other)),
    };
    match done {
        Some(done) => Ok(done),
        None => each(array, |text, out| rule.mask(text, out)),
    }
}

/// Puts what `write` makes of each text in its place.
pub(crate) fn each(
    array: &ArrayRef,
    mut write: impl FnMut(&str, &mut String),
) -> Result<ArrayRef, MaskError> {
    let texts: Box<dyn Iterator<Item = Option<&str>>> = match array.data_type() {
        DataType::Utf8 => Box::new(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(array.as_string_view().iter()),
        other => return Err(not_taken("texts", other)),
    };
    let mut out = LargeStringBuilder::with_capacity(array.len(), 16 * array.len());
    let mut buffer = String::new();
    for text in texts {
        buffer.clear();
        if let Some(text) = text {
            write(text, &mut buffer);
        }
        out.append_option(text.map(|_| buffer.as_str()));
    }
    Ok(cast(&out.finish(), array.data_type())?)
}

/// `None` if a text is not ASCII.
fn by_offset<O: OffsetSizeTrait>(rule: &Rule, array: &ArrayRef) -> Result<Option<ArrayRef>, MaskError> {
    let array = array.as_string::<O>();
    let offsets = array.value_offsets();
    let start = offsets.first().map_or(0, |at| at.as_usize());
    let end = offsets.last().map_or(0, |at| at.as_usize());
    let Some(stored) = array.value_data().get(start..end).filter(|bytes| bytes.is_ascii()) else {
        return Ok(None);
    };
    let mut out = stored.to_vec();
    rule.cover.ascii(&mut out);
    let mut from = 0;
    for to in offsets.iter().skip(1).map(|at| at.as_usize() - start) {
        let (skipped, n_shown) = rule.shown_of(to - from);
        show(&mut out, from + skipped, stored, from + skipped, n_shown);
        from = to;
    }
    let offsets = if start == 0 {
        array.offsets().clone()
    } else {
        let first = offsets.first().copied().unwrap_or_default();
        OffsetBuffer::new(ScalarBuffer::from_iter(offsets.iter().map(|at| *at - first)))
    };
    let masked = GenericStringArray::<O>::try_new(offsets, Buffer::from_vec(out), array.nulls().cloned())?;
    Ok(Some(Arc::new(masked)))
}

/// Writes what is shown of a stored text over its cover.
#[inline]
fn show(out: &mut [u8], at: usize, stored: &[u8], stored_at: usize, n_shown: usize) {
    if n_shown == SHOWN {
        // Of known length, so that it is one move.
        let to = out.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut::<SHOWN>());
        let from = stored.get(stored_at..).and_then(|bytes| bytes.first_chunk::<SHOWN>());
        if let (Some(to), Some(from)) = (to, from) {
            *to = *from;
        }
    } else if n_shown > 0
        && let (Some(to), Some(from)) =
            (out.get_mut(at..at + n_shown), stored.get(stored_at..stored_at + n_shown))
    {
        to.copy_from_slice(from);
    }
}

/// A view: the length, then the text itself, or its prefix, buffer and offset.
#[derive(Clone, Copy)]
struct View(u128);

impl View {
    fn n_bytes(self) -> usize {
        self.0 as u32 as usize
    }

    fn is_inline(self) -> bool {
        self.n_bytes() <= INLINE_MAX
    }

    /// Where a text that is not inline stands.
    fn stored(self, buffers: &[Buffer]) -> Option<&[u8]> {
        let offset = (self.0 >> 96) as u32 as usize;
        let buffer = (self.0 >> 64) as u32 as usize;
        buffers.get(buffer)?.get(offset..offset + self.n_bytes())
    }

    fn masked(self, rule: &Rule) -> u128 {
        let mut bytes = self.0.to_le_bytes();
        rule.cover.ascii(&mut bytes);
        let covered = u128::from_le_bytes(bytes) >> 32;
        let stored = self.0 >> 32;
        let (at, n_shown) = rule.shown_of(self.n_bytes());
        let shown = low_bytes(n_shown) << (8 * at);
        let text = ((covered & !shown) | (stored & shown)) & low_bytes(self.n_bytes());
        text << 32 | u128::from(self.0 as u32)
    }
}

/// So many bytes of ones.
fn low_bytes(n: usize) -> u128 {
    (1 << (8 * n)) - 1
}

/// `None` if a text is not ASCII, or if they are too many for one buffer.
fn by_view(rule: &Rule, array: &StringViewArray) -> Result<Option<ArrayRef>, MaskError> {
    let buffers = array.data_buffers();
    let views = || array.views().iter().map(|view| View(*view));
    let Some(mut out) = gathered(views(), buffers) else { return Ok(None) };
    rule.cover.ascii(&mut out);
    let mut masked = Vec::with_capacity(array.len());
    let mut from = 0;
    for view in views() {
        if view.is_inline() {
            masked.push(view.masked(rule));
            continue;
        }
        let n_bytes = view.n_bytes();
        let (skipped, n_shown) = rule.shown_of(n_bytes);
        if n_shown > 0
            && let Some(stored) = view.stored(buffers)
        {
            show(&mut out, from + skipped, stored, skipped, n_shown);
        }
        let prefix = out.get(from..).and_then(|bytes| bytes.first_chunk::<4>());
        let prefix = u128::from(prefix.map_or(0, |bytes| u32::from_le_bytes(*bytes)));
        masked.push((from as u128) << 96 | prefix << 32 | n_bytes as u128);
        from += n_bytes;
    }
    let buffers = if out.is_empty() { Vec::new() } else { vec![Buffer::from_vec(out)] };
    let masked = StringViewArray::try_new(ScalarBuffer::from(masked), buffers, array.nulls().cloned())?;
    Ok(Some(Arc::new(masked)))
}

/// The texts that do not stand in their views, one after the other.
fn gathered(views: impl Iterator<Item = View> + Clone, buffers: &[Buffer]) -> Option<Vec<u8>> {
    let n_bytes: usize = views.clone().map(|view| if view.is_inline() { 0 } else { view.n_bytes() }).sum();
    u32::try_from(n_bytes).ok()?;
    let mut out = Vec::with_capacity(n_bytes);
    let mut inline = 0;
    for view in views {
        if view.is_inline() {
            inline |= view.0 >> 32;
        } else {
            out.extend_from_slice(view.stored(buffers)?);
        }
    }
    (inline & HIGH_BITS == 0 && out.is_ascii()).then_some(out)
}
