//! The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use stdx::Secret;
use subtle::ConstantTimeEq;

use crate::ScramError;
use crate::verifier::{KEY_BYTES, Key, Verifier, hmac, sha256};

/// The mechanism's name in SASL.
pub const MECHANISM: &str = "SCRAM-SHA-256";

const NONCE_BYTES: usize = 18;

/// An exchange that has answered the client's first message and waits for its final one.
#[derive(Debug)]
pub struct ServerExchange {
    user: String,
    gs2_header: String,
    client_first_bare: String,
    server_first: String,
    nonce: String,
    verifier: Verifier,
    /// Whether there is such a user. A mock verifier fits no password, and this is asked besides.
    is_known: bool,
}

/// A client that has proved the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    pub user: String,
    /// The message that proves to the client that the server holds the verifier.
    pub server_final: String,
}

impl ServerExchange {
    /// Answers the client's first message.
    ///
    /// `user` is whom the protocol named; without one the name in the message counts (PostgreSQL's clients leave that
    /// empty). A user for whom `lookup` has nothing gets an exchange that looks the same and fails at its end, with
    /// a salt that depends on `mock_key` and the name alone.
    pub fn start(
        client_first: &str,
        user: Option<&str>,
        lookup: &dyn Fn(&str) -> Option<Secret>,
        mock_key: &Secret,
    ) -> Result<Self, ScramError> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        Self::start_with_nonce(client_first, user, lookup, mock_key, &STANDARD.encode(nonce))
    }

    fn start_with_nonce(
        client_first: &str,
        user: Option<&str>,
        lookup: &dyn Fn(&str) -> Option<Secret>,
        mock_key: &Secret,
        server_nonce: &str,
    ) -> Result<Self, ScramError> {
        let first = ClientFirst::parse(client_first)?;
        let user = match user {
            Some(user) => user.to_owned(),
            None => first.user,
        };
        let known = lookup(&user).and_then(|text| Verifier::parse(&text));
        let is_known = known.is_some();
        let verifier = known.unwrap_or_else(|| Verifier::mock(mock_key, &user));
        let nonce = format!("{}{server_nonce}", first.nonce);
        let server_first =
            format!("r={nonce},s={},i={}", STANDARD.encode(&verifier.salt), verifier.iterations);
        Ok(Self {
            user,
            gs2_header: first.gs2_header.to_owned(),
            client_first_bare: first.bare.to_owned(),
            server_first,
            nonce,
            verifier,
            is_known,
        })
    }

    /// The message to send to the client.
    pub fn server_first(&self) -> &str {
        &self.server_first
    }

    /// Checks the client's proof.
    pub fn finish(self, client_final: &str) -> Result<Proved, ScramError> {
        let client = ClientFinal::parse(client_final)?;
        if client.channel_binding != STANDARD.encode(&self.gs2_header) {
            return Err(ScramError::ChannelBindingMismatch);
        }
        if client.nonce != self.nonce {
            return Err(ScramError::NonceMismatch);
        }
        let auth_message =
            format!("{},{},{}", self.client_first_bare, self.server_first, client.without_proof);
        let signature = hmac(&self.verifier.stored_key, &[auth_message.as_bytes()]);
        let mut client_key: Key = client.proof;
        for (byte, mask) in client_key.iter_mut().zip(signature) {
            *byte ^= mask;
        }
        let is_proved: bool = sha256(&client_key).ct_eq(&self.verifier.stored_key).into();
        if !(is_proved & self.is_known) {
            return Err(ScramError::WrongProof);
        }
        let signature = hmac(&self.verifier.server_key, &[auth_message.as_bytes()]);
        Ok(Proved { user: self.user, server_final: format!("v={}", STANDARD.encode(signature)) })
    }
}

/// `gs2-cbind-flag "," [authzid] "," [m=…,] n=user "," r=nonce [,extensions]`.
struct ClientFirst<'a> {
    gs2_header: &'a str,
    bare: &'a str,
    user: String,
    nonce: &'a str,
}

impl<'a> ClientFirst<'a> {
    fn parse(message: &'a str) -> Result<Self, ScramError> {
        let (flag, rest) = message.split_once(',').ok_or(ScramError::Malformed)?;
        match flag {
            // `y`: the client could bind and thinks that the server cannot, which is so.
            "n" | "y" => {}
            _ if flag.starts_with("p=") => return Err(ScramError::ChannelBindingNotOffered),
            _ => return Err(ScramError::Malformed),
        }
        let (other_id, bare) = rest.split_once(',').ok_or(ScramError::Malformed)?;
        let header_bytes = message.len().saturating_sub(bare.len());
        let gs2_header = message.get(..header_bytes).ok_or(ScramError::Malformed)?;
        if bare.starts_with("m=") {
            return Err(ScramError::ExtensionUnknown);
        }
        let mut attributes = bare.split(',');
        let user = attribute(attributes.next(), "n=")?;
        let user = unescaped(user).ok_or(ScramError::Malformed)?;
        let nonce = attribute(attributes.next(), "r=")?;
        if nonce.is_empty() || !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ScramError::Malformed);
        }
        if !other_id.is_empty() {
            let named = attribute(Some(other_id), "a=")?;
            if unescaped(named).as_deref() != Some(user.as_str()) {
                return Err(ScramError::OtherAuthorizationId);
            }
        }
        Ok(Self { gs2_header, bare, user, nonce })
    }
}

/// `c=channel-binding "," r=nonce [,extensions] "," p=proof`.
struct ClientFinal<'a> {
    channel_binding: &'a str,
    nonce: &'a str,
    proof: Key,
    without_proof: &'a str,
}

impl<'a> ClientFinal<'a> {
    fn parse(message: &'a str) -> Result<Self, ScramError> {
        let (without_proof, proof) = message.rsplit_once(",p=").ok_or(ScramError::Malformed)?;
        let mut attributes = without_proof.split(',');
        let channel_binding = attribute(attributes.next(), "c=")?;
        let nonce = attribute(attributes.next(), "r=")?;
        let proof = STANDARD.decode(proof).map_err(|_| ScramError::Malformed)?;
        let proof: [u8; KEY_BYTES] = proof.try_into().map_err(|_| ScramError::Malformed)?;
        Ok(Self { channel_binding, nonce, proof, without_proof })
    }
}

fn attribute<'a>(attribute: Option<&'a str>, name: &str) -> Result<&'a str, ScramError> {
    attribute.and_then(|text| text.strip_prefix(name)).ok_or(ScramError::Malformed)
}

/// A name as sent has `=2C` for `,` and `=3D` for `=`, and no other `=`.
fn unescaped(name: &str) -> Option<String> {
    let mut parts = name.split('=');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(rest) = part.strip_prefix("2C") {
            out.push(',');
            out.push_str(rest);
        } else if let Some(rest) = part.strip_prefix("3D") {
            out.push('=');
            out.push_str(rest);
        } else {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
