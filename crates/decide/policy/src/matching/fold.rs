//! Compares texts without regard to case, character by character, and keeps short texts without memory of their own.

use smallvec::SmallVec;

/// A text that is borrowed where it can stand as it is, and otherwise kept inline while it is short.
#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Borrowed(&'a str),
    Inline(SmallVec<[u8; INLINE]>),
}

/// Longer than most names; five levels of it still fit on a stack.
const INLINE: usize = 64;

impl<'a> Text<'a> {
    pub(crate) fn copied(text: &str) -> Self {
        Self::Inline(SmallVec::from_slice(text.as_bytes()))
    }

    /// The folded form of a text that lives long enough to be borrowed.
    pub(crate) fn folded(text: &'a str) -> Self {
        if is_folded(text) { Self::Borrowed(text) } else { Self::folded_copy(text) }
    }

    pub(crate) fn folded_copy(text: &str) -> Self {
        let mut folded = SmallVec::new();
        let mut buffer = [0; 4];
        for c in text.chars() {
            folded.extend_from_slice(fold(c).encode_utf8(&mut buffer).as_bytes());
        }
        Self::Inline(folded)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(text) => text.as_bytes(),
            Self::Inline(bytes) => bytes,
        }
    }
}

/// The text in the form in which texts compare without regard to case.
pub(crate) fn folded(text: &str) -> String {
    text.chars().map(fold).collect()
}

/// Upper case and then lower case, as Java compares; a character that would become several stays itself.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let upper = only(c.to_uppercase()).unwrap_or(c);
    only(upper.to_lowercase()).unwrap_or(upper)
}

fn only(mut all: impl Iterator<Item = char>) -> Option<char> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

fn is_folded(text: &str) -> bool {
    if text.is_ascii() {
        return !text.bytes().any(|b| b.is_ascii_uppercase());
    }
    text.chars().all(|c| fold(c) == c)
}

#[cfg(test)]
mod tests {
    use super::{Text, folded};

    #[test]
    fn texts_fold_character_by_character() {
        for (text, expected) in [
            ("Orders", "orders"),
            ("ÄÖÜ", "äöü"),
            ("straße", "straße"),
            ("\u{212a}elvin", "kelvin"),
            ("ΣΑΣ", "σασ"),
        ] {
            assert_eq!(folded(text), expected);
            assert_eq!(Text::folded(text).bytes(), expected.as_bytes());
        }
    }
}
