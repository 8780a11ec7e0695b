//! Proves who the client is by SCRAM-SHA-256, with the same messages for a wrong password and for no such user.

use bytes::Bytes;
use identity::{Identity, MECHANISM, ScramError, ServerExchange};
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::{Authentication, MESSAGE_TYPE_BYTE_PASSWORD_MESSAGE_FAMILY};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::frame;
use crate::limits::STARTUP_BYTES_MAX;
use crate::wire::{Failure, Wire};

/// Leads the exchange as far as the client's proof, which is still to be checked.
pub(crate) async fn challenge(
    wire: &mut Wire,
    identity: &Identity,
    user: &str,
) -> Result<(ServerExchange, String), Failure> {
    say(wire, Authentication::SASL(vec![MECHANISM.to_owned()])).await?;
    let first = frame::sasl_initial(hear(wire).await?)?;
    if first.mechanism != MECHANISM {
        return Err(Refusal::protocol("client selected an invalid SASL authentication mechanism").into());
    }
    let exchange =
        identity.start_scram(text(&first.data)?, Some(user)).map_err(|error| refusal(error, user))?;
    let server_first = Bytes::copy_from_slice(exchange.server_first().as_bytes());
    say(wire, Authentication::SASLContinue(server_first)).await?;
    let proof = text(&hear(wire).await?)?.to_owned();
    Ok((exchange, proof))
}

/// Tells the client that her proof is right, and proves the server to her.
pub(crate) fn accept(wire: &mut Wire, server_final: String) -> Result<(), Failure> {
    wire.put(&PgWireBackendMessage::Authentication(Authentication::SASLFinal(Bytes::from(server_final))))?;
    wire.put(&PgWireBackendMessage::Authentication(Authentication::Ok))
}

async fn say(wire: &mut Wire, message: Authentication) -> Result<(), Failure> {
    wire.put(&PgWireBackendMessage::Authentication(message))?;
    wire.flush().await
}

async fn hear(wire: &mut Wire) -> Result<Bytes, Failure> {
    match wire.message(STARTUP_BYTES_MAX).await? {
        (MESSAGE_TYPE_BYTE_PASSWORD_MESSAGE_FAMILY, body) => Ok(body),
        (other, _) => Err(Refusal::protocol(format!(
            "expected an answer to the SASL message, got message type {other}"
        ))
        .into()),
    }
}

fn text(message: &Bytes) -> Result<&str, Refusal> {
    std::str::from_utf8(message).map_err(|_| Refusal::protocol("malformed SCRAM message"))
}

pub(crate) fn refusal(error: ScramError, user: &str) -> Refusal {
    match error {
        ScramError::WrongProof => Refusal::of(
            ErrorKind::Unauthenticated,
            format!("password authentication failed for user \"{user}\""),
        ),
        ScramError::Malformed
        | ScramError::ExtensionUnknown
        | ScramError::ChannelBindingNotOffered
        | ScramError::ChannelBindingMismatch
        | ScramError::OtherAuthorizationId
        | ScramError::NonceMismatch => Refusal::protocol(format!("SCRAM exchange failed: {error}")),
    }
}
