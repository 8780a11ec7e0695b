//! Proves who is calling, by a password checked against a verifier from which the password cannot be had.

mod error;
mod identity;
mod scram;
mod verifier;

pub use error::{CredentialError, IdentityError, ScramError};
pub use identity::Identity;
pub use scram::{MECHANISM, Proved, ServerExchange};
pub use verifier::{ITERATIONS, PASSWORD_BYTES_MAX, Verifier, make_verifier, verify_plain};
