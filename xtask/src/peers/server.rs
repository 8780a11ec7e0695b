//! The server under test: the real binary with a data folder of its own, spoken to at its Postgres door.

use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::psql::{Session, bound};
use crate::psql::{START_MAX, lines};

/// Of every user but the first administrator, who gets hers at the first start.
const PASSWORD: &str = "pw";

const CATALOG: &str = "lake";

/// A running server; it ends with the value, and its data with it.
pub(crate) struct Server {
    child: Child,
    port: u16,
    admin_password: String,
    _folder: TempDir,
}

impl Server {
    pub(crate) fn start(sluice: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let mut child = bound()
            .arg(sluice)
            .args(["serve", "--listen", "127.0.0.1:0", "--http-listen", "off", "--data-dir"])
            .arg(folder.path().join("data"))
            // A column that is not granted is an error for PostgreSQL, too.
            .env("SLUICE_ENGINE__RESTRICTED_COLUMNS", "error")
            .env("SLUICE_SERVER__LOG_LEVEL", "error")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("`sluice serve` did not start")?;
        let stdout = child.stdout.take().context("the server has no standard output")?;
        let mut server = Self { child, port: 0, admin_password: String::new(), _folder: folder };
        let said = lines(stdout);
        while server.port == 0 {
            let line = said.recv_timeout(START_MAX).context("`sluice serve` did not say where it listens")?;
            if let Some((_, password)) = line.split_once(" with password ") {
                password.clone_into(&mut server.admin_password);
            }
            if let Some(port) = port(&line) {
                server.port = port;
            }
        }
        Ok(server)
    }

    pub(crate) fn session(&self, user: &str) -> Result<Session> {
        let password = if user == super::ADMIN { &self.admin_password } else { PASSWORD };
        let mut session = Session::open("127.0.0.1", self.port, user, CATALOG, password)?;
        // In PostgreSQL each user's own path is set up with her protections.
        session.say("SET search_path = shop")?;
        Ok(session)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing can be done where the child is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port in `postgres  127.0.0.1:4000`.
fn port(line: &str) -> Option<u16> {
    line.strip_prefix("postgres ")?.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_out_of_what_the_server_prints() {
        assert_eq!(port("postgres  127.0.0.1:4000"), Some(4000));
        assert_eq!(port("          psql -h 127.0.0.1 -p 4000 -U admin -d lake"), None);
        assert_eq!(port("http      http://127.0.0.1:1"), None);
    }
}
