//! Other ways to mask: what an expression of SQL, or a few lines with well-known crates, would do.

use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::builder::{StringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use hmac::{Hmac, Mac};
use regex::Regex;
use sha2::Sha256;

/// Something that masks a batch of a column of texts.
pub(crate) trait Peer {
    fn mask(&self, batch: &ArrayRef) -> Result<ArrayRef>;
}

/// `regexp_replace` within `regexp_replace`, by compiled patterns, and without an engine around them.
pub(crate) struct Chain {
    replacements: Vec<(Regex, &'static str)>,
    shown: Shown,
}

/// Which part is cut off first, and put back unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    First,
    Last,
}

const SHOWN: usize = 4;

impl Chain {
    pub(crate) fn classes() -> Result<Self> {
        Self::new(&[("[A-Z]", "X"), ("[a-z]", "x"), ("[0-9]", "n")], Shown::Nothing)
    }

    pub(crate) fn shown(shown: Shown) -> Result<Self> {
        Self::new(&[("[A-Za-z0-9]", "x")], shown)
    }

    fn new(patterns: &[(&str, &'static str)], shown: Shown) -> Result<Self> {
        let compiled = patterns.iter().map(|(pattern, with)| Ok((Regex::new(pattern)?, *with)));
        Ok(Self { replacements: compiled.collect::<Result<_>>()?, shown })
    }
}

impl Peer for Chain {
    fn mask(&self, batch: &ArrayRef) -> Result<ArrayRef> {
        if batch.data_type() == &DataType::Utf8 {
            let mut out = StringBuilder::with_capacity(batch.len(), batch.get_buffer_memory_size());
            self.each(batch.as_string::<i32>().iter(), |text| out.append_option(text))?;
            return Ok(Arc::new(out.finish()));
        }
        let mut out = StringViewBuilder::with_capacity(batch.len());
        self.each(batch.as_string_view().iter(), |text| out.append_option(text))?;
        Ok(Arc::new(out.finish()))
    }
}

impl Chain {
    fn each<'a>(
        &self,
        texts: impl Iterator<Item = Option<&'a str>>,
        mut append: impl FnMut(Option<&str>),
    ) -> Result<()> {
        for text in texts {
            let Some(text) = text else {
                append(None);
                continue;
            };
            let at = match self.shown {
                Shown::Nothing => 0,
                Shown::First => SHOWN.min(text.len()),
                Shown::Last => text.len().saturating_sub(SHOWN),
            };
            let (left, right) = text.split_at_checked(at).context("the texts are ASCII")?;
            let (masked, shown) = if self.shown == Shown::Last { (left, right) } else { (right, left) };
            let mut masked = std::borrow::Cow::Borrowed(masked);
            for (pattern, with) in &self.replacements {
                if let std::borrow::Cow::Owned(replaced) = pattern.replace_all(&masked, *with) {
                    masked = replaced.into();
                }
            }
            match self.shown {
                Shown::Nothing => append(Some(&masked)),
                Shown::First => append(Some(&format!("{shown}{masked}"))),
                Shown::Last => append(Some(&format!("{masked}{shown}"))),
            }
        }
        Ok(())
    }
}

/// HMAC by the crate of that name, whose key is taken in once.
pub(crate) struct Keyed(Hmac<Sha256>);

impl Keyed {
    pub(crate) fn new(key: &str) -> Result<Self> {
        Ok(Self(Hmac::new_from_slice(key.as_bytes())?))
    }
}

impl Peer for Keyed {
    fn mask(&self, batch: &ArrayRef) -> Result<ArrayRef> {
        let mut out = StringViewBuilder::with_capacity(batch.len());
        for text in batch.as_string_view() {
            out.append_option(text.map(|text| {
                let mut mac = self.0.clone();
                mac.update(text.as_bytes());
                hex::encode(mac.finalize().into_bytes())
            }));
        }
        Ok(Arc::new(out.finish()))
    }
}

/// What any mask of a column of texts takes at least: its bytes are moved once, and masked not at all.
pub(crate) fn copy(batch: &ArrayRef) -> Result<ArrayRef> {
    let views = batch.as_string_view();
    let buffers: Vec<Buffer> =
        views.data_buffers().iter().map(|buffer| Buffer::from_vec(buffer.as_slice().to_vec())).collect();
    let copied = ScalarBuffer::from(views.views().to_vec());
    Ok(Arc::new(StringViewArray::try_new(copied, buffers, views.nulls().cloned())?))
}
