//! Listens for HTTP clients until the server stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use stdx::ErrorKind;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::health::Readiness;
use crate::routes::routes;

/// How long answers that are under way may take once the server is told to stop.
const SHUTDOWN_DRAIN: Duration = Duration::from_secs(5);

/// The door, open.
#[derive(Debug)]
pub struct HttpServer {
    pub local_addr: SocketAddr,
    /// Ends once the shutdown token is cancelled and the answers under way are given.
    pub join: JoinHandle<()>,
}

/// Why the door could not be opened.
#[derive(Debug, Error)]
pub enum HttpDoorError {
    #[error("cannot listen on `{listen}`")]
    Listen { listen: SocketAddr, source: io::Error },
}

impl HttpDoorError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Listen { .. } => ErrorKind::Unavailable,
        }
    }
}

/// Opens the door; port 0 takes a free one.
///
/// `readiness` is asked anew for each request to `/readyz`, and must not block.
pub async fn bind(
    listen: SocketAddr,
    readiness: Arc<dyn Fn() -> Readiness + Send + Sync>,
    shutdown: CancellationToken,
) -> Result<HttpServer, HttpDoorError> {
    let unheard = |source| HttpDoorError::Listen { listen, source };
    let listener = TcpListener::bind(listen).await.map_err(unheard)?;
    let local_addr = listener.local_addr().map_err(unheard)?;
    tracing::info!(%local_addr, "http door open");
    let join = tokio::spawn(serve(listener, readiness, shutdown));
    Ok(HttpServer { local_addr, join })
}

async fn serve(
    listener: TcpListener,
    readiness: Arc<dyn Fn() -> Readiness + Send + Sync>,
    shutdown: CancellationToken,
) {
    let stop = shutdown.clone().cancelled_owned();
    let served = axum::serve(listener, routes(readiness)).with_graceful_shutdown(stop);
    let overdue = async {
        shutdown.cancelled().await;
        tokio::time::sleep(SHUTDOWN_DRAIN).await;
    };
    tokio::select! {
        ended = async { served.await } => {
            if let Err(error) = ended {
                tracing::error!(%error, "http door failed");
            }
        }
        () = overdue => tracing::warn!("http answers were cut off at shutdown"),
    }
    tracing::info!("http door closed");
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    struct Door {
        server: HttpServer,
        shutdown: CancellationToken,
    }

    async fn open(readiness: impl Fn() -> Readiness + Send + Sync + 'static) -> Door {
        let shutdown = CancellationToken::new();
        let server = bind(([127, 0, 0, 1], 0).into(), Arc::new(readiness), shutdown.clone()).await.unwrap();
        Door { server, shutdown }
    }

    async fn ask(door: &Door, method: &str, path: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(door.server.local_addr).await.unwrap();
        let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    async fn check(door: &Door, method: &str, path: &str, status: u16, body: &str) {
        assert_eq!(ask(door, method, path).await, (status, body.to_owned()), "{method} {path}");
    }

    #[tokio::test]
    async fn health_and_readiness_are_told_apart() {
        let state = Arc::new(AtomicU8::new(0));
        let probed = Arc::clone(&state);
        let door = open(move || match probed.load(Ordering::SeqCst) {
            0 => Readiness::Waiting { parts: vec!["policy store", "catalog"] },
            1 => Readiness::Ready,
            _ => panic!("secret"),
        })
        .await;
        let waiting = r#"{"status":"not ready","waiting_for":["policy store","catalog"]}"#;
        check(&door, "GET", "/healthz", 200, "ok").await;
        check(&door, "GET", "/readyz", 503, waiting).await;
        state.store(1, Ordering::SeqCst);
        check(&door, "GET", "/readyz", 200, r#"{"status":"ready"}"#).await;
        state.store(2, Ordering::SeqCst);
        let broken = r#"{"status":"not ready","waiting_for":["readiness probe"]}"#;
        check(&door, "GET", "/readyz", 503, broken).await;
    }

    #[tokio::test]
    async fn unknown_paths_and_methods_are_refused_in_json() {
        let door = open(|| Readiness::Ready).await;
        check(&door, "GET", "/secret", 404, r#"{"error":{"code":404,"message":"no such path"}}"#).await;
        let refused = r#"{"error":{"code":405,"message":"this path does not take this method"}}"#;
        check(&door, "POST", "/healthz", 405, refused).await;
    }

    #[tokio::test]
    async fn shutdown_ends_the_door() {
        let door = open(|| Readiness::Ready).await;
        door.shutdown.cancel();
        door.server.join.await.unwrap();
        assert!(TcpStream::connect(door.server.local_addr).await.is_err());
    }

    #[tokio::test]
    async fn an_address_in_use_is_an_error_with_a_kind() {
        let door = open(|| Readiness::Ready).await;
        let error =
            bind(door.server.local_addr, Arc::new(|| Readiness::Ready), CancellationToken::new()).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unavailable);
    }
}
