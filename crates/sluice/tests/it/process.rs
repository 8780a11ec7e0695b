//! `sluice serve` as a process of its own: started on free ports, asked, killed or told to stop.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// How long a server may take to say where it listens, or to end.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Process {
    child: Child,
    pub(crate) pg_addr: SocketAddr,
    pub(crate) http_addr: SocketAddr,
    /// All that it said on its standard output until it listened.
    pub(crate) told: String,
    log: PathBuf,
    lines: mpsc::Receiver<String>,
}

/// `sluice serve` with everything in one folder, and nothing of this process's own settings.
pub(crate) fn serve(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    let settings = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SLUICE_"));
    for (name, _) in settings {
        command.env_remove(name);
    }
    command.current_dir(dir).args(["serve", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"]);
    command.arg("--data-dir").arg(dir.join("data"));
    command
}

impl Process {
    pub(crate) fn start(dir: &Path) -> Self {
        Self::start_as(dir, serve(dir))
    }

    /// Starts a command that [`serve`] made, with its log appended to a file.
    pub(crate) fn start_as(dir: &Path, mut command: Command) -> Self {
        let log = dir.join("log.txt");
        let stderr = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut told = String::new();
        let mut pg_addr = None;
        loop {
            let Ok(line) = lines.recv_timeout(PATIENCE) else {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the server does not listen: {told}{}", std::fs::read_to_string(&log).unwrap());
            };
            told += &format!("{line}\n");
            if let Some(addr) = line.strip_prefix("postgres ") {
                pg_addr = Some(addr.trim().parse().unwrap());
            }
            if let Some(addr) = line.strip_prefix("http ") {
                let http_addr = addr.trim().strip_prefix("http://").unwrap().parse().unwrap();
                return Self { child, pg_addr: pg_addr.unwrap(), http_addr, told, log, lines };
            }
        }
    }

    /// The password that a first start tells.
    pub(crate) fn password(&self) -> Option<String> {
        let (_, rest) = self.told.split_once("with password ")?;
        Some(rest.lines().next()?.to_owned())
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn config(&self, user: &str, password: &str) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.host(self.pg_addr.ip().to_string()).port(self.pg_addr.port());
        config.user(user).password(password);
        config
    }

    pub(crate) async fn connect(&self, user: &str, password: &str) -> Client {
        let (client, connection) = self.config(user, password).connect(NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and how the process ended.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        // Its standard output ends with it.
        let (sender, ended) = mpsc::channel();
        let lines = std::mem::replace(&mut self.lines, mpsc::channel().1);
        std::thread::spawn(move || {
            lines.iter().for_each(drop);
            sender.send(())
        });
        ended.recv_timeout(PATIENCE).expect("the server does not stop");
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done where it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The rows of a statement, each with its columns' texts.
pub(crate) async fn rows(
    client: &Client,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, tokio_postgres::Error> {
    let mut rows = Vec::new();
    for message in client.simple_query(sql).await? {
        if let SimpleQueryMessage::Row(row) = message {
            rows.push((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect());
        }
    }
    Ok(rows)
}
