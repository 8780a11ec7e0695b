//! HMAC-SHA-256 with the key's two blocks hashed once, for many short messages.

use sha2::Sha256VarCore;
use sha2::digest::Output;
use sha2::digest::core_api::{Block, Buffer, UpdateCore, VariableOutputCore};

const BLOCK: usize = 64;
const DIGEST: usize = 32;
/// Its hash tells equal keys from others, and nothing else.
const MARK: &[u8] = b"which key this is";

/// A key that has been taken in, and cannot be got back from here.
#[derive(Clone)]
pub(crate) struct Keyed {
    inner: Sha256VarCore,
    outer: Sha256VarCore,
    mark: [u8; DIGEST],
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.mark == other.mark
    }
}

impl Eq for Keyed {}

impl Keyed {
    /// `None` if the key is empty, for an unkeyed hash is guessed too easily.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        let hashed;
        let key = if key.len() > BLOCK {
            hashed = finish(Sha256VarCore::new(DIGEST).ok()?, key);
            hashed.as_slice()
        } else {
            key
        };
        let mut block = [0_u8; BLOCK];
        block.get_mut(..key.len())?.copy_from_slice(key);
        let padded = |with: u8| {
            let mut core = Sha256VarCore::new(DIGEST).ok()?;
            core.update_blocks(&[Block::<Sha256VarCore>::from(block.map(|byte| byte ^ with))]);
            Some(core)
        };
        let mut keyed = Self { inner: padded(0x36)?, outer: padded(0x5c)?, mark: [0; DIGEST] };
        keyed.mark = keyed.digest(MARK);
        Some(keyed)
    }

    /// The key of another purpose, drawn from this one as HKDF extracts keys.
    ///
    /// The purpose is the key here and the key is the message: a keyed hash of any value that a writer may choose is
    /// never such a key.
    pub(crate) fn for_purpose(key: &[u8], purpose: &str) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        Self::new(&Self::new(purpose.as_bytes())?.digest(key))
    }

    pub(crate) fn digest(&self, message: &[u8]) -> [u8; DIGEST] {
        finish(self.outer.clone(), &finish(self.inner.clone(), message))
    }

    /// A number that depends on every byte of the message.
    pub(crate) fn number(&self, message: &[u8]) -> u128 {
        let digest = self.digest(message);
        digest.first_chunk::<16>().map_or(0, |bytes| u128::from_be_bytes(*bytes))
    }
}

/// Takes in the rest of a message, and its padding.
#[inline]
fn finish(mut core: Sha256VarCore, message: &[u8]) -> [u8; DIGEST] {
    let (blocks, rest) = message.as_chunks::<BLOCK>();
    for block in blocks {
        core.update_blocks(&[Block::<Sha256VarCore>::from(*block)]);
    }
    let mut out = Output::<Sha256VarCore>::default();
    core.finalize_variable_core(&mut Buffer::<Sha256VarCore>::new(rest), &mut out);
    out.into()
}
