//! The keyed hash of one text value.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use stdx::Secret;

/// HMAC-SHA-256 in lower-case hex; `None` if the key is empty, for an unkeyed hash is guessed too easily.
pub(crate) fn hmac_hex(key: &Secret, text: &str, out: &mut String) -> Option<()> {
    if key.reveal().is_empty() {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(key.reveal().as_bytes()).ok()?;
    mac.update(text.as_bytes());
    out.push_str(&hex::encode(mac.finalize().into_bytes()));
    Some(())
}
