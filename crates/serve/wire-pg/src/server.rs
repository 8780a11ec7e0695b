//! Listens for clients, keeps count of them, and sees them all off when the server stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::{fmt, io};

use identity::Identity;
use query_api::QueryService;
use stdx::ErrorKind;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::backends::Backends;
use crate::limits::{ACCEPT_PAUSE, SHUTDOWN_DRAIN, SHUTDOWN_GRACE, SPARE_SOCKETS, STARTUP_DEADLINE};
use crate::startup;
use crate::wire::Failure;

/// How this door listens.
#[derive(Clone)]
pub struct PgConfig {
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Certificate and key; without it no client can ask for TLS.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Refuses clients that do not ask for TLS.
    pub require_tls: bool,
    /// Sessions at one time.
    pub connections_max: usize,
}

// The TLS part prints as a fact, not as keys.
impl fmt::Debug for PgConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgConfig")
            .field("listen", &self.listen)
            .field("tls", &self.tls.is_some())
            .field("require_tls", &self.require_tls)
            .field("connections_max", &self.connections_max)
            .finish()
    }
}

/// The door, open.
#[derive(Debug)]
pub struct PgServer {
    pub local_addr: SocketAddr,
    /// Ends once the shutdown token is cancelled and every client is gone.
    pub join: JoinHandle<()>,
}

/// Why the door could not be opened.
#[derive(Debug, Error)]
pub enum PgDoorError {
    #[error("cannot listen on `{listen}`")]
    Listen { listen: SocketAddr, source: io::Error },
    #[error("TLS is required, but no certificate is configured")]
    NoCertificate,
    #[error("at least one connection must be allowed")]
    NoConnections,
}

impl PgDoorError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Listen { .. } => ErrorKind::Unavailable,
            Self::NoCertificate | Self::NoConnections => ErrorKind::Invalid,
        }
    }
}

/// What all connections have in common.
pub(crate) struct Door {
    pub(crate) service: Arc<dyn QueryService>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) require_tls: bool,
    pub(crate) backends: Arc<Backends>,
    /// One permit for each session.
    pub(crate) seats: Arc<Semaphore>,
}

/// Opens the door: listens, and serves every client in a task of its own until `shutdown` is cancelled.
///
/// Then nobody new is let in, idle clients are told to go, running statements may end within a bound, and are
/// cancelled after it.
pub async fn bind(
    config: PgConfig,
    service: Arc<dyn QueryService>,
    identity: Arc<Identity>,
    shutdown: CancellationToken,
) -> Result<PgServer, PgDoorError> {
    if config.require_tls && config.tls.is_none() {
        return Err(PgDoorError::NoCertificate);
    }
    if config.connections_max == 0 {
        return Err(PgDoorError::NoConnections);
    }
    let listen = config.listen;
    let unheard = |source| PgDoorError::Listen { listen, source };
    let listener = TcpListener::bind(listen).await.map_err(unheard)?;
    let local_addr = listener.local_addr().map_err(unheard)?;
    let n_seats = config.connections_max.min(Semaphore::MAX_PERMITS - SPARE_SOCKETS);
    let door = Arc::new(Door {
        service,
        identity,
        tls: config.tls.map(TlsAcceptor::from),
        require_tls: config.require_tls,
        backends: Arc::new(Backends::default()),
        seats: Arc::new(Semaphore::new(n_seats)),
    });
    let n_sockets = n_seats + SPARE_SOCKETS;
    tracing::info!(%local_addr, tls = door.tls.is_some(), "postgres door open");
    let join = tokio::spawn(listen_on(listener, door, n_sockets, shutdown));
    Ok(PgServer { local_addr, join })
}

async fn listen_on(listener: TcpListener, door: Arc<Door>, n_sockets: usize, shutdown: CancellationToken) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(ended) = clients.join_next(), if !clients.is_empty() => note_end(ended),
            accepted = listener.accept(), if clients.len() < n_sockets => match accepted {
                Ok((socket, peer)) => {
                    let span = tracing::info_span!(
                        "connection",
                        door = "postgres",
                        client_addr = %peer,
                        principal = tracing::field::Empty
                    );
                    clients.spawn(serve(socket, peer, Arc::clone(&door), shutdown.clone()).instrument(span));
                }
                Err(error) => {
                    // Mostly too many open files: the clients already here must go on.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    see_off(clients, &door).await;
    tracing::info!("postgres door closed");
}

async fn see_off(mut clients: JoinSet<()>, door: &Door) {
    let mut drain = async || {
        while let Some(ended) = clients.join_next().await {
            note_end(ended);
        }
    };
    if tokio::time::timeout(SHUTDOWN_DRAIN, drain()).await.is_ok() {
        return;
    }
    door.backends.cancel_all();
    if tokio::time::timeout(SHUTDOWN_GRACE, drain()).await.is_err() {
        clients.shutdown().await;
    }
}

fn note_end(ended: Result<(), tokio::task::JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        tracing::error!("a connection panicked");
    }
}

async fn serve(socket: TcpStream, peer: SocketAddr, door: Arc<Door>, shutdown: CancellationToken) {
    // Answers are small and awaited; waiting to fill a packet only slows them.
    let _ = socket.set_nodelay(true);
    let opened = tokio::select! {
        biased;
        () = shutdown.cancelled() => return,
        opened = tokio::time::timeout(STARTUP_DEADLINE, startup::open(Box::new(socket), peer, &door)) => opened,
    };
    match opened {
        Ok(Ok(Some((connection, _seat)))) => {
            tracing::info!("session opened");
            connection.serve(shutdown).await;
            tracing::info!("session closed");
        }
        Ok(Ok(None) | Err(Failure::Gone)) => {}
        // Told already, while the socket was at hand.
        Ok(Err(Failure::Refused(refusal) | Failure::Fatal(refusal))) => {
            tracing::info!(code = refusal.code, "connection refused");
        }
        Err(_elapsed) => tracing::info!("startup took too long"),
    }
}
