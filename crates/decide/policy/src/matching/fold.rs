//! Compares texts without regard to case, character by character, and keeps short texts without memory of their own.

use smallvec::SmallVec;

/// A text that is borrowed where it can stand as it is, and otherwise kept inline while it is short.
#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Borrowed(&'a str),
    Inline(SmallVec<[u8; INLINE]>),
}

/// Longer than most names; five levels of it still fit on a stack.
const INLINE: usize = 36;

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
    is_plain(text.as_bytes()) || text.chars().all(|c| fold(c) == c)
}

/// Whether there are only ASCII characters and no upper-case letters, eight bytes at a time.
fn is_plain(text: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Adding these to a byte of ASCII sets its highest bit from `A` on, and from the character after `Z` on.
    const FROM_A: u64 = 0x3F3F_3F3F_3F3F_3F3F;
    const AFTER_Z: u64 = 0x2525_2525_2525_2525;
    let is_plain = |word: u64| {
        let ascii = word & !HIGH;
        (word | (ascii.wrapping_add(FROM_A) & !ascii.wrapping_add(AFTER_Z))) & HIGH == 0
    };
    let mut rest = text;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        if !is_plain(u64::from_le_bytes(*chunk)) {
            return false;
        }
        rest = after;
    }
    is_plain(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::{Text, folded, is_plain};

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

    #[test]
    fn plain_is_ascii_without_upper_case() {
        for byte in 0..=u8::MAX {
            for length in 1..=9 {
                let mut text = vec![b'a'; length];
                text[length / 2] = byte;
                assert_eq!(is_plain(&text), byte.is_ascii() && !byte.is_ascii_uppercase(), "{byte} {length}");
            }
        }
    }
}
