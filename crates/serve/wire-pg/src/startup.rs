//! From the first byte to a session: TLS, the startup message, who it is, and which catalog.

use std::net::SocketAddr;
use std::sync::Arc;

use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::startup::{BackendKeyData, NegotiateProtocolVersion, SecretKey};
use query_api::{QuerySession, RequestContext};
use stdx::ErrorKind;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::answer::{Refusal, code, warning};
use crate::auth;
use crate::connection::Connection;
use crate::frame::Opening;
use crate::server::Door;
use crate::wire::{Failure, Socket, Wire};

mod settings;

use settings::Settings;

/// A client asks for GSS, then for TLS, then starts; more than this is no client.
const OPENINGS_MAX: usize = 4;

/// Minor version 2 of the protocol is the newest: it has longer keys for cancel requests.
const NEWEST_MINOR: u16 = 2;
const KEY_BYTES: usize = 32;
/// What earlier clients can hold.
const SHORT_KEY_BYTES: usize = 4;

/// Leads a client to her session; `None` where she only came to cancel a statement.
///
/// A refusal is told to the client here, and comes back for the log.
pub(crate) async fn open(
    socket: Box<dyn Socket>,
    peer: SocketAddr,
    door: &Door,
) -> Result<Option<(Connection, OwnedSemaphorePermit)>, Failure> {
    let mut wire = Wire::new(socket);
    let started = match negotiate(&mut wire, door).await {
        Ok(started) => started,
        Err(failure) => return Err(told(&mut wire, failure).await),
    };
    let Some(started) = started else { return Ok(None) };
    let seat = match take_seat(&started, door) {
        Ok(seat) => seat,
        Err(failure) => return Err(told(&mut wire, failure).await),
    };
    match admit(&mut wire, &started, peer, door).await {
        Ok((session, warnings)) => {
            let connection = welcome(wire, session, &started, warnings, door)?;
            Ok(Some((connection, seat)))
        }
        Err(failure) => Err(told(&mut wire, failure).await),
    }
}

async fn told(wire: &mut Wire, failure: Failure) -> Failure {
    match failure {
        Failure::Gone => Failure::Gone,
        Failure::Refused(refusal) | Failure::Fatal(refusal) => {
            wire.farewell(refusal.clone()).await;
            Failure::Fatal(refusal)
        }
    }
}

struct Started {
    minor: u16,
    is_tls: bool,
    settings: Settings,
}

async fn negotiate(wire: &mut Wire, door: &Door) -> Result<Option<Started>, Failure> {
    let mut is_tls = false;
    for _ in 0..OPENINGS_MAX {
        match wire.opening().await? {
            Opening::Ssl => match &door.tls {
                Some(acceptor) if !is_tls => {
                    wire.send_byte(b'S').await?;
                    wire.upgrade(acceptor).await?;
                    is_tls = true;
                }
                _ => wire.send_byte(b'N').await?,
            },
            Opening::Gss => wire.send_byte(b'N').await?,
            Opening::Cancel { pid, key } => {
                door.backends.cancel(pid, &key);
                return Ok(None);
            }
            Opening::Startup { major: 3, minor, parameters } => {
                let settings = Settings::read(parameters)?;
                return Ok(Some(Started { minor, is_tls, settings }));
            }
            Opening::Startup { major, minor, .. } => {
                let message =
                    format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2");
                return Err(Refusal::of(ErrorKind::Unsupported, message).into());
            }
        }
    }
    Err(Refusal::protocol("expected a startup message").into())
}

fn take_seat(started: &Started, door: &Door) -> Result<OwnedSemaphorePermit, Failure> {
    if door.require_tls && !started.is_tls {
        let refusal =
            Refusal::new(code::INVALID_AUTHORIZATION, "this server takes connections with TLS only");
        return Err(refusal.with_hint("connect with sslmode=require or stricter").into());
    }
    Arc::clone(&door.seats)
        .try_acquire_owned()
        .map_err(|_| Refusal::new(code::TOO_MANY_CONNECTIONS, "sorry, too many clients already").into())
}

/// Authenticates, opens the session and gives it the settings the client asked for.
async fn admit(
    wire: &mut Wire,
    started: &Started,
    peer: SocketAddr,
    door: &Door,
) -> Result<(Arc<dyn QuerySession>, Vec<String>), Failure> {
    let settings = &started.settings;
    if started.minor > NEWEST_MINOR || !settings.unknown_options.is_empty() {
        let version = (3 << 16) | i32::from(negotiated(started.minor));
        let message = NegotiateProtocolVersion::new(version, settings.unknown_options.clone());
        wire.put(&PgWireBackendMessage::NegotiateProtocolVersion(message))?;
    }
    let (exchange, proof) = auth::challenge(wire, &door.identity, &settings.user).await?;
    let (principal, server_final) =
        door.identity.finish_scram(exchange, &proof).map_err(|error| auth::refusal(error, &settings.user))?;
    auth::accept(wire, server_final)?;
    tracing::Span::current().record("principal", principal.user.as_str());
    let context = RequestContext {
        door: query_api::Door::Postgres,
        client_addr: Some(peer.ip()),
        application: settings.application_name.clone(),
    };
    let database = settings.database.as_deref();
    // libpq names the user where no database was named: if there is no such catalog, the name meant nothing.
    let is_user = database == Some(settings.user.as_str());
    let opening = async {
        match door.service.open_session(principal.clone(), context.clone(), database).await {
            Err(error) if is_user && error.kind() == ErrorKind::CatalogNotFound => {
                door.service.open_session(principal, context, None).await
            }
            opened => opened,
        }
    };
    // Not a statement yet, so no cancel request can reach it; the startup deadline bounds it.
    let never = CancellationToken::new();
    let session = wire.supervise(&never, opening, |error| no_session(error, database)).await?;
    let mut warnings = Vec::new();
    for (name, value) in &settings.for_session {
        let statement = settings::set_statement(name, value);
        let set = session.run(&statement, &[], never.clone());
        match wire.supervise(&never, set, |error| error.clone().into()).await {
            Ok(_) => {}
            // Drivers send the machine's zone unasked; without it times are shown in UTC, and the client is told so.
            Err(Failure::Refused(refusal)) if name.eq_ignore_ascii_case("timezone") => {
                warnings.push(format!("time zone `{value}` was not taken: {}", refusal.message));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok((session, warnings))
}

fn no_session(error: &query_api::QueryError, database: Option<&str>) -> Refusal {
    match (error.kind(), database) {
        (ErrorKind::CatalogNotFound, Some(database)) => {
            Refusal::of(ErrorKind::CatalogNotFound, format!("database \"{database}\" does not exist"))
        }
        _ => error.clone().into(),
    }
}

fn negotiated(minor: u16) -> u16 {
    if minor >= NEWEST_MINOR { NEWEST_MINOR } else { 0 }
}

fn welcome(
    wire: Wire,
    session: Arc<dyn QuerySession>,
    started: &Started,
    warnings: Vec<String>,
    door: &Door,
) -> Result<Connection, Failure> {
    let is_long = negotiated(started.minor) == NEWEST_MINOR;
    let registration = door.backends.register(if is_long { KEY_BYTES } else { SHORT_KEY_BYTES });
    let pid = registration.pid;
    let key = SecretKey::Bytes(registration.key.clone());
    let settings = &started.settings;
    let mut connection = Connection::new(wire, session, registration);
    for (name, value) in [
        ("server_version", concat!("16.0 (Sluice ", env!("CARGO_PKG_VERSION"), ")")),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("application_name", settings.application_name.as_deref().unwrap_or("")),
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
        ("is_superuser", "off"),
        ("session_authorization", settings.user.as_str()),
    ] {
        connection.tell(name, value.to_owned())?;
    }
    connection.refresh_settings()?;
    for text in warnings {
        connection.wire().put(&warning(text))?;
    }
    connection.wire().put(&PgWireBackendMessage::BackendKeyData(BackendKeyData::new(pid, key)))?;
    Ok(connection)
}
