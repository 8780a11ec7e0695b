//! Starts the parts over a data folder and stops them again; used by `serve`, `demo`, the embedded shell and tests.

mod error;
mod installation;
mod lock;
mod tls;

pub use error::ServerError;
pub use installation::FIRST_ADMIN;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use policy::Principal;
use query_api::{Door, QueryError, QueryService, QuerySession, RequestContext};
use stdx::{Clock, ErrorKind, Secret, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use installation::Installation;

/// What a caller may choose besides the configuration.
#[derive(Clone, Debug)]
pub struct Options {
    /// The first administrator's password; `None` makes one of chance, and [`Running::made_password`] tells it.
    pub admin_password: Option<Secret>,
    pub clock: Arc<dyn Clock>,
}

impl Default for Options {
    fn default() -> Self {
        Self { admin_password: None, clock: Arc::new(SystemClock) }
    }
}

/// Starts servers.
#[derive(Debug)]
pub struct Server;

/// A server that is up.
pub struct Running {
    /// Where the PostgreSQL protocol is spoken; `None` where that door is `off`.
    pub pg_addr: Option<SocketAddr>,
    /// Where HTTP is spoken; `None` where that door is `off`.
    pub http_addr: Option<SocketAddr>,
    pub service: Arc<dyn QueryService>,
    /// The password of [`FIRST_ADMIN`], when this start made the user.
    pub made_password: Option<Secret>,
    stop: CancellationToken,
    pg: Option<wire_pg::PgServer>,
    http: Option<wire_http::HttpServer>,
    installation: Installation,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("pg_addr", &self.pg_addr)
            .field("http_addr", &self.http_addr)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Opens the data folder, then the doors that are configured.
    pub async fn start(config: &Config, options: Options) -> Result<Running, ServerError> {
        let installation = installation::open(config, options.admin_password, options.clock).await?;
        let stop = CancellationToken::new();
        let pg = match &config.postgres.listen {
            None => None,
            Some(listen) => Some(open_postgres(config, listen, &installation, stop.clone()).await?),
        };
        let http = match &config.http.listen {
            None => None,
            Some(listen) => match open_http(listen, &installation, stop.clone()).await {
                Ok(http) => Some(http),
                Err(error) => {
                    stop.cancel();
                    return Err(error);
                }
            },
        };
        Ok(Running {
            pg_addr: pg.as_ref().map(|door| door.local_addr),
            http_addr: http.as_ref().map(|door| door.local_addr),
            service: Arc::clone(&installation.service),
            made_password: installation.made_password.clone(),
            stop,
            pg,
            http,
            installation,
        })
    }
}

impl Running {
    /// Lets nobody new in, lets running statements end within the doors' bounds, then closes everything.
    pub async fn shutdown(self) -> Result<(), ServerError> {
        self.stop.cancel();
        if let Some(door) = self.pg {
            let _ = door.join.await;
        }
        if let Some(door) = self.http {
            let _ = door.join.await;
        }
        let audit = Arc::clone(&self.installation.audit);
        // The disk is waited for, so not on a thread of the runtime.
        match tokio::task::spawn_blocking(move || audit.flush()).await {
            Ok(flushed) => flushed?,
            Err(error) => tracing::error!(%error, "the audit log was not flushed"),
        }
        Ok(())
    }

    /// A session in this process for a user whom the authority knows; who can read the files needs no password.
    pub async fn open_embedded(
        &self,
        user: &str,
        catalog: Option<&str>,
    ) -> Result<Arc<dyn QuerySession>, QueryError> {
        if !self.installation.store.current().state().users.contains_key(user) {
            return Err(QueryError::new(ErrorKind::ObjectNotFound, format!("no such user `{user}`")));
        }
        let context = RequestContext {
            door: Door::Embedded,
            client_addr: None,
            application: Some("sluice sql".to_owned()),
        };
        self.service.open_session(Principal::user(user), context, catalog).await
    }
}

async fn open_postgres(
    config: &Config,
    listen: &str,
    installation: &Installation,
    stop: CancellationToken,
) -> Result<wire_pg::PgServer, ServerError> {
    let listen = address(listen).await?;
    if !listen.ip().is_loopback() && config.postgres.tls.is_none() {
        tracing::warn!(%listen, "the postgres door is open to other machines and has no TLS: rows go in clear text");
    }
    let door = wire_pg::PgConfig {
        listen,
        tls: config.postgres.tls.as_ref().map(tls::read).transpose()?,
        require_tls: config.postgres.require_tls,
        connections_max: config.postgres.connections_max,
    };
    let service = Arc::clone(&installation.service);
    Ok(wire_pg::bind(door, service, Arc::clone(&installation.identity), stop).await?)
}

async fn open_http(
    listen: &str,
    installation: &Installation,
    stop: CancellationToken,
) -> Result<wire_http::HttpServer, ServerError> {
    let listen = address(listen).await?;
    let audit = Arc::clone(&installation.audit);
    let stopping = stop.clone();
    let readiness = move || {
        let mut parts = Vec::new();
        if audit.is_failing() {
            parts.push("audit log");
        }
        if stopping.is_cancelled() {
            parts.push("shutdown");
        }
        if parts.is_empty() { wire_http::Readiness::Ready } else { wire_http::Readiness::Waiting { parts } }
    };
    Ok(wire_http::bind(listen, Arc::new(readiness), stop).await?)
}

/// The address of a name such as `localhost:5433`; the first one it has.
async fn address(listen: &str) -> Result<SocketAddr, ServerError> {
    let wrong = |reason: String| ServerError::Address { listen: listen.to_owned(), reason };
    let mut found = tokio::net::lookup_host(listen).await.map_err(|error| wrong(error.to_string()))?;
    found.next().ok_or_else(|| wrong("the name has no address".to_owned()))
}
