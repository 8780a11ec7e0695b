//! What can go wrong when somebody says who she is.

use stdx::ErrorKind;
use store::StoreError;

/// Why a login fails. A wrong name and a wrong password are the same.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("password authentication failed")]
    WrongPassword,
    #[error("the user store did not answer")]
    Store(#[from] StoreError),
}

impl IdentityError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::WrongPassword => ErrorKind::Unauthenticated,
            Self::Store(error) => error.kind(),
        }
    }
}

/// Why a password cannot be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    #[error("a password must not be empty")]
    Empty,
    #[error("a verifier must ask for {} iterations at least", crate::ITERATIONS)]
    Weak,
    #[error("a password must not hold control characters")]
    ControlCharacter,
    #[error("a password must not be longer than {} bytes", crate::PASSWORD_BYTES_MAX)]
    TooLong,
}

impl CredentialError {
    pub fn kind(self) -> ErrorKind {
        ErrorKind::Invalid
    }
}

/// Why an exchange of RFC 5802 fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScramError {
    #[error("malformed message")]
    Malformed,
    #[error("the message asks for an extension that is not known")]
    ExtensionUnknown,
    #[error("channel binding is not offered")]
    ChannelBindingNotOffered,
    #[error("the channel binding does not fit the first message")]
    ChannelBindingMismatch,
    #[error("acting for another user is not offered")]
    OtherAuthorizationId,
    #[error("the nonce does not fit the exchange")]
    NonceMismatch,
    /// A wrong password, and a user that does not exist.
    #[error("password authentication failed")]
    WrongProof,
}

impl ScramError {
    pub fn kind(self) -> ErrorKind {
        ErrorKind::Unauthenticated
    }

    /// The `server-error-value` of RFC 5802, section 7.
    pub const fn server_error(self) -> &'static str {
        match self {
            Self::Malformed | Self::NonceMismatch | Self::OtherAuthorizationId => "other-error",
            Self::ExtensionUnknown => "extensions-not-supported",
            Self::ChannelBindingNotOffered => "channel-binding-not-supported",
            Self::ChannelBindingMismatch => "channel-bindings-dont-match",
            Self::WrongProof => "invalid-proof",
        }
    }

    /// The message that tells the client, for protocols that send it.
    pub fn server_final(self) -> String {
        format!("e={}", self.server_error())
    }
}
