//! `sluice serve`: starts a server, tells where it listens, and stops it on a signal.

use std::io::Write;

use crate::config::Config;
use crate::server::{FIRST_ADMIN, Options, Running, Server, ServerError};

/// Serves until SIGINT or SIGTERM.
pub async fn serve(config: &Config) -> Result<(), ServerError> {
    let running = Server::start(config, Options::default()).await?;
    // Before anybody is told where it listens: who knows may end it at once.
    let stopped = stopped();
    announce(config, &running);
    stopped.await;
    tracing::info!("stopping");
    running.shutdown().await?;
    tracing::info!("stopped");
    Ok(())
}

/// The password goes to the standard output, once; the log never has it.
fn announce(config: &Config, running: &Running) {
    let mut out = std::io::stdout().lock();
    if let Some(password) = &running.made_password {
        let _ = writeln!(
            out,
            "first start of `{}`: made user `{FIRST_ADMIN}` with password {}\n\
             (told only now; `ALTER USER {FIRST_ADMIN} PASSWORD '…'` changes it)",
            config.server.data_dir.display(),
            password.reveal()
        );
    }
    if let Some(addr) = running.pg_addr {
        let _ = writeln!(out, "postgres  {addr}");
        if let Some(catalog) = config.catalogs.first() {
            let (host, port) = (addr.ip(), addr.port());
            let _ = writeln!(out, "          psql -h {host} -p {port} -U {FIRST_ADMIN} -d {}", catalog.name);
        }
    }
    if let Some(addr) = running.http_addr {
        let _ = writeln!(out, "http      http://{addr}");
    }
    let _ = out.flush();
}

/// Listens for signals to stop from now on; what it gives ends with the first.
pub(crate) fn stopped() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok();
    #[cfg(unix)]
    let mut interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok();
    async move {
        #[cfg(unix)]
        if let (Some(terminate), Some(interrupt)) = (&mut terminate, &mut interrupt) {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}
