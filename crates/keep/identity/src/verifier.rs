//! Verifiers in PostgreSQL's text form: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use stdx::Secret;
use subtle::ConstantTimeEq;

use crate::CredentialError;

/// What RFC 7677 asks for at least, and what PostgreSQL takes; a verifier made elsewhere keeps its own number.
pub const ITERATIONS: u32 = 4_096;

/// Longer passwords are refused, so that a login cannot be made to hash megabytes.
pub const PASSWORD_BYTES_MAX: usize = 1_024;

/// A verifier that asks for more is refused: checking one password would take minutes.
const ITERATIONS_MAX: u32 = 10_000_000;

const SALT_BYTES: usize = 16;

pub(crate) const KEY_BYTES: usize = 32;

pub(crate) type Key = [u8; KEY_BYTES];

/// What a server needs to check a proof: it can neither log in with it elsewhere nor tell the password.
#[derive(Clone)]
pub struct Verifier {
    pub(crate) iterations: u32,
    pub(crate) salt: Vec<u8>,
    pub(crate) stored_key: Key,
    pub(crate) server_key: Key,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verifier(…)")
    }
}

impl Verifier {
    /// Reads the text form; `None` if it is not one.
    pub fn parse(text: &Secret) -> Option<Self> {
        let rest = text.reveal().strip_prefix("SCRAM-SHA-256$")?;
        let (cost, keys) = rest.split_once('$')?;
        let (iterations, salt) = cost.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let iterations = iterations.parse().ok().filter(|n| (1..=ITERATIONS_MAX).contains(n))?;
        let salt = STANDARD.decode(salt).ok().filter(|salt| !salt.is_empty())?;
        let key = |text: &str| STANDARD.decode(text).ok().and_then(|bytes| Key::try_from(bytes).ok());
        Some(Self { iterations, salt, stored_key: key(stored_key)?, server_key: key(server_key)? })
    }

    /// The text form.
    pub fn to_text(&self) -> Secret {
        Secret::new(format!(
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            STANDARD.encode(&self.salt),
            STANDARD.encode(self.stored_key),
            STANDARD.encode(self.server_key),
        ))
    }

    pub(crate) fn of(password: &str, salt: Vec<u8>, iterations: u32) -> Self {
        let mut salted: Key = [0; KEY_BYTES];
        pbkdf2::pbkdf2_hmac::<Sha256>(prepared(password).as_bytes(), &salt, iterations, &mut salted);
        let stored_key = sha256(&hmac(&salted, &[b"Client Key"]));
        let server_key = hmac(&salted, &[b"Server Key"]);
        Self { iterations, salt, stored_key, server_key }
    }

    /// A verifier that no password fits, always the same for one user, so that she looks as if she existed.
    pub(crate) fn mock(mock_key: &Secret, user: &str) -> Self {
        let key = mock_key.reveal().as_bytes();
        let mut salt = hmac(key, &[b"salt", b"\0", user.as_bytes()]).to_vec();
        salt.truncate(SALT_BYTES);
        Self {
            iterations: ITERATIONS,
            salt,
            stored_key: hmac(key, &[b"stored", b"\0", user.as_bytes()]),
            server_key: hmac(key, &[b"server", b"\0", user.as_bytes()]),
        }
    }

    pub(crate) fn fits(&self, password: &str) -> bool {
        let made = Self::of(password, self.salt.clone(), self.iterations);
        let fits_stored = made.stored_key.ct_eq(&self.stored_key);
        let fits_server = made.server_key.ct_eq(&self.server_key);
        (fits_stored & fits_server).into()
    }
}

/// The password after SASLprep (RFC 4013); as it is where that forbids it or leaves nothing, which is PostgreSQL's rule.
fn prepared(password: &str) -> Cow<'_, str> {
    match stringprep::saslprep(password) {
        Ok(prepared) if !prepared.is_empty() => prepared,
        _ => Cow::Borrowed(password),
    }
}

/// Makes the verifier of a new password, with a new salt.
///
/// The password is normalised by SASLprep, as PostgreSQL and its clients do it. A text that is a verifier already is
/// kept as it is, so that a client (psql's `\password`) need not send the password; one that asks for less work than
/// ours is refused.
pub fn make_verifier(password: &Secret) -> Result<Secret, CredentialError> {
    let text = password.reveal();
    if text.is_empty() {
        return Err(CredentialError::Empty);
    }
    if text.len() > PASSWORD_BYTES_MAX {
        return Err(CredentialError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(CredentialError::ControlCharacter);
    }
    if let Some(made) = Verifier::parse(password) {
        return if made.iterations < ITERATIONS { Err(CredentialError::Weak) } else { Ok(made.to_text()) };
    }
    let salt: [u8; SALT_BYTES] = rand::random();
    Ok(Verifier::of(text, salt.to_vec(), ITERATIONS).to_text())
}

/// Whether the password is the one that the verifier was made from; its time does not tell how much of it is right.
///
/// False for what is no verifier. This takes some milliseconds of pure computing: leave the async runtime for it.
pub fn verify_plain(verifier: &Secret, password: &Secret) -> bool {
    password.reveal().len() <= PASSWORD_BYTES_MAX
        && Verifier::parse(verifier).is_some_and(|verifier| verifier.fits(password.reveal()))
}

pub(crate) fn sha256(bytes: &[u8]) -> Key {
    Sha256::digest(bytes).into()
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use stdx::Secret;

    use super::{ITERATIONS, PASSWORD_BYTES_MAX, Verifier, make_verifier, verify_plain};
    use crate::CredentialError;

    #[test]
    fn only_the_password_itself_fits_its_verifier() {
        for password in ["pencil", "x", "mit Leerzeichen", "pässwörd 🔑", &"a".repeat(PASSWORD_BYTES_MAX)]
        {
            let verifier = make_verifier(&Secret::new(password)).unwrap();
            assert!(verify_plain(&verifier, &Secret::new(password)));
            assert!(!verify_plain(&verifier, &Secret::new(format!("{password} "))));
            assert!(!verify_plain(&verifier, &Secret::new("")));
            assert!(!verifier.reveal().contains(password) || password == "x");
        }
    }

    /// RFC 4013, section 3, and what looks the same on two keyboards.
    #[test]
    fn a_password_is_the_same_however_its_letters_are_put_together() {
        for (stored, typed) in [
            ("I\u{ad}X", "IX"),
            ("\u{aa}", "a"),
            ("\u{2168}", "IX"),
            ("p\u{e4}ss", "pa\u{308}ss"),
            ("a\u{a0}b", "a b"),
            // Forbidden, so taken as it is.
            ("\u{627}1", "\u{627}1"),
            ("\u{ad}", "\u{ad}"),
        ] {
            let verifier = make_verifier(&Secret::new(stored)).unwrap();
            assert!(verify_plain(&verifier, &Secret::new(typed)), "{stored:?} {typed:?}");
            assert!(!verify_plain(&verifier, &Secret::new("other")));
        }
    }

    #[test]
    fn the_same_password_has_a_new_salt_each_time() {
        let password = Secret::new("pencil");
        assert_ne!(make_verifier(&password).unwrap(), make_verifier(&password).unwrap());
    }

    #[test]
    fn a_verifier_is_kept_as_it_is() {
        let made = make_verifier(&Secret::new("pencil")).unwrap();
        let kept = make_verifier(&made).unwrap();
        assert_eq!(kept, made);
        assert!(verify_plain(&kept, &Secret::new("pencil")));
        assert!(!verify_plain(&kept, &Secret::new(made.reveal())));
        let weak = Secret::new(made.reveal().replacen("4096", "1", 1));
        assert_eq!(make_verifier(&weak).err(), Some(CredentialError::Weak));
    }

    #[test]
    fn what_cannot_be_a_password_is_refused() {
        let refused = |text: &str| make_verifier(&Secret::new(text)).err();
        assert_eq!(refused(""), Some(CredentialError::Empty));
        assert_eq!(refused("a\nb"), Some(CredentialError::ControlCharacter));
        assert_eq!(refused("a\u{85}b"), Some(CredentialError::ControlCharacter));
        assert_eq!(refused(&"a".repeat(PASSWORD_BYTES_MAX + 1)), Some(CredentialError::TooLong));
    }

    /// The keys of RFC 7677's example, in PostgreSQL's form.
    #[test]
    fn the_text_form_is_postgresqls() {
        let text = Secret::new(
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:\
             wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        );
        let verifier = Verifier::parse(&text).unwrap();
        assert_eq!(verifier.iterations, ITERATIONS);
        assert_eq!(verifier.to_text(), text);
        assert!(verify_plain(&text, &Secret::new("pencil")));
    }

    #[test]
    fn what_is_no_verifier_fits_nothing() {
        for text in [
            "",
            "pencil",
            "md5abc",
            "SCRAM-SHA-256$4096:c2FsdA==",
            "SCRAM-SHA-256$0:c2FsdA==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
            "SCRAM-SHA-256$4294967295:c2FsdA==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
            "SCRAM-SHA-256$4096:$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
            "SCRAM-SHA-256$4096:c2FsdA==$c2hvcnQ=:c2hvcnQ=",
        ] {
            assert!(Verifier::parse(&Secret::new(text)).is_none(), "{text}");
            assert!(!verify_plain(&Secret::new(text), &Secret::new("pencil")), "{text}");
        }
    }
}
