//! `sluice demo`: a server of its own with data in it, and the tutorial run against it and checked.

pub mod check;
pub mod load;
pub mod steps;
pub mod tpch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::distr::{Alphanumeric, SampleString};
use stdx::Secret;
use tokio_postgres::SimpleQueryMessage;

use crate::config::{self, Config, Inputs};
use crate::server::{FIRST_ADMIN, Options, Running, Server};
use crate::shell::client::{Failure, connect};
use crate::shell::output::{Column, ValueKind, shown, write_table};
use crate::shell::tls::Tls;
use check::Came;
use steps::{
    CATALOG, COMPLETE_EXAMPLE, GATE_ONE, GATE_TWO, NOT_YET, Step, TABLES, TAGS, TPCH, USERS, identities,
};

/// How the demo runs.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// `None`: a folder of its own, gone afterwards.
    pub data_dir: Option<PathBuf>,
    /// TPC-H's scale factor; 0 loads none of it.
    pub scale: f64,
    /// Go on serving when the tutorial is through.
    pub keep: bool,
    /// Where to speak PostgreSQL; port 0 takes a free one.
    pub listen: String,
}

/// How the demo came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub n_steps: usize,
    pub n_wrong: usize,
}

/// Why the demo could not run; a step that comes out wrong is counted in [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("the folder `{}` is not empty; the demo wants one of its own", .0.display())]
    NotEmpty(PathBuf),
    #[error("the folder `{}` cannot be used: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Config(#[from] config::ConfigError),
    #[error(transparent)]
    Server(#[from] crate::server::ServerError),
    #[error("`{user}` cannot connect: {reason}")]
    Connect { user: String, reason: String },
    #[error("`{sql}` failed: {reason}")]
    SetUp { sql: String, reason: String },
    #[error("interrupted")]
    Interrupted,
    #[error("TPC-H cannot be loaded: {0}")]
    Load(#[from] load::LoadError),
}

/// Runs the demo and tells every step on the standard output.
pub async fn run(options: &DemoOptions) -> Result<Outcome, DemoError> {
    let folder = Folder::make(options.data_dir.as_deref(), options.keep)?;
    // Beside the data folder, since no statement may read files in that.
    let load = Folder::make(None, false)?;
    let config = demo_config(&folder.path, &options.listen, &load.path)?;
    let password = Secret::new(Alphanumeric.sample_string(&mut rand::rng(), 12));
    let server = Options { admin_password: Some(password.clone()), ..Options::default() };
    let running = Server::start(&config, server).await?;
    let outcome = tokio::select! {
        outcome = play(&running, &password, options, &load.path) => outcome,
        // Caught, so that the folders go away.
        () = crate::serve::stopped() => Err(DemoError::Interrupted),
    };
    drop(load);
    match &outcome {
        Ok(outcome) => conclude(&running, &password, *outcome, options, &folder.path),
        Err(error) => println!("\nthe demo stopped: {error}"),
    }
    if options.keep && outcome.is_ok() {
        crate::serve::stopped().await;
    }
    running.shutdown().await?;
    outcome
}

/// The folder of the demo; removed with the value unless it is to be kept.
struct Folder {
    path: PathBuf,
    is_removed: bool,
}

impl Folder {
    fn make(given: Option<&Path>, keep: bool) -> Result<Self, DemoError> {
        let path = match given {
            Some(path) => path.to_owned(),
            None => std::env::temp_dir().join(format!("sluice-demo-{}", uuid::Uuid::new_v4().simple())),
        };
        let failed = |source| DemoError::Folder { path: path.clone(), source };
        std::fs::create_dir_all(&path).map_err(failed)?;
        if std::fs::read_dir(&path).map_err(failed)?.next().is_some() {
            return Err(DemoError::NotEmpty(path));
        }
        Ok(Self { is_removed: given.is_none() && !keep, path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_removed {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

fn demo_config(data_dir: &Path, listen: &str, load_dir: &Path) -> Result<Config, DemoError> {
    let warehouse = data_dir.join("warehouse").join(CATALOG);
    let inputs = Inputs::default()
        .with_flag("server.data_dir", data_dir.display().to_string())
        .with_flag("postgres.listen", listen)
        .with_flag("http.listen", "127.0.0.1:0")
        .with_flag(&format!("catalogs.{CATALOG}.warehouse"), warehouse.display().to_string())
        .with_flag("engine.load_roots", load_dir.display().to_string());
    Ok(config::load(&inputs)?.config)
}

async fn play(
    running: &Running,
    password: &Secret,
    options: &DemoOptions,
    load_dir: &Path,
) -> Result<Outcome, DemoError> {
    let mut stage =
        Stage { address: Address::of(running), password: password.clone(), sessions: BTreeMap::new() };
    println!(
        "Users: carol (admin, engineer, analyst), bob (engineer, analyst), alice (analyst), dave (no role)."
    );
    for sql in identities(password.reveal()) {
        stage.set_up(FIRST_ADMIN, &sql).await?;
    }
    let mut outcome = Outcome { n_steps: 0, n_wrong: 0 };
    for part in [TABLES, GATE_ONE, GATE_TWO, TAGS, NOT_YET, COMPLETE_EXAMPLE] {
        stage.play(part, &mut outcome).await?;
    }
    if options.scale > 0.0 {
        println!("\n-- TPC-H at scale {}, made into `{CATALOG}.tpch`.", options.scale);
        stage.set_up("carol", &format!("CREATE SCHEMA {CATALOG}.tpch")).await?;
        for table in tpch::TpchTable::ALL {
            let file = load_dir.join(format!("{}.parquet", table.name()));
            let n_rows = load::write_parquet(table, options.scale, file.clone()).await?;
            stage.set_up("carol", &load::load_statement(table, &format!("{CATALOG}.tpch"), &file)).await?;
            println!("   {:<9} {n_rows} rows", table.name());
        }
        stage.play(TPCH, &mut outcome).await?;
    }
    Ok(outcome)
}

#[derive(Clone, Debug)]
struct Address {
    host: String,
    port: u16,
}

impl Address {
    fn of(running: &Running) -> Self {
        let (host, port) = match running.pg_addr {
            Some(addr) if addr.ip().is_unspecified() => ("127.0.0.1".to_owned(), addr.port()),
            Some(addr) => (addr.ip().to_string(), addr.port()),
            None => (String::new(), 0),
        };
        Self { host, port }
    }
}

/// The sessions of everybody who plays.
struct Stage {
    address: Address,
    password: Secret,
    sessions: BTreeMap<String, tokio_postgres::Client>,
}

impl Stage {
    async fn session(&mut self, user: &str) -> Result<&tokio_postgres::Client, DemoError> {
        if !self.sessions.contains_key(user) {
            let mut config = tokio_postgres::Config::new();
            config
                .host(&self.address.host)
                .port(self.address.port)
                .user(user)
                .password(self.password.reveal());
            config.application_name("sluice demo");
            let failed = |reason| DemoError::Connect { user: user.to_owned(), reason };
            let tls = Tls::off().map_err(failed)?;
            let (client, _) = connect(&config, tls).await.map_err(|failure| failed(failure.message))?;
            self.sessions.insert(user.to_owned(), client);
        }
        self.sessions.get(user).ok_or_else(|| DemoError::Connect {
            user: user.to_owned(),
            reason: "the session is gone".to_owned(),
        })
    }

    async fn set_up(&mut self, user: &str, sql: &str) -> Result<(), DemoError> {
        match self.came(user, sql).await? {
            Came::Rows { .. } => Ok(()),
            // A statement of the set-up may hold a password.
            Came::Failed { message, .. } => {
                let sql = sql.split(" PASSWORD ").next().unwrap_or_default().to_owned();
                Err(DemoError::SetUp { sql, reason: message })
            }
        }
    }

    async fn came(&mut self, user: &str, sql: &str) -> Result<Came, DemoError> {
        let session = self.session(user).await?;
        Ok(match session.simple_query(sql).await {
            Ok(messages) => rows_of(&messages),
            Err(error) => {
                let failure = Failure::from_postgres(&error);
                Came::Failed { sqlstate: failure.sqlstate.unwrap_or_default(), message: failure.message }
            }
        })
    }

    /// Runs, prints and checks steps.
    async fn play(&mut self, steps: &[Step], outcome: &mut Outcome) -> Result<(), DemoError> {
        for step in steps {
            let came = self.came(step.user, step.sql).await?;
            outcome.n_steps += 1;
            print_step(step, &came);
            if let Err(wrong) = step.expect.check(&came) {
                outcome.n_wrong += 1;
                println!("   MISMATCH: {wrong}");
            }
        }
        Ok(())
    }
}

fn rows_of(messages: &[SimpleQueryMessage]) -> Came {
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(described) => {
                columns = described.iter().map(|column| column.name().to_owned()).collect();
            }
            SimpleQueryMessage::Row(row) => {
                let value = |at| row.try_get(at).ok().flatten().map(str::to_owned);
                rows.push((0..row.len()).map(value).collect());
            }
            _ => {}
        }
    }
    Came::Rows { columns, rows }
}

fn print_step(step: &Step, came: &Came) {
    if let Some(note) = step.note {
        println!("\n-- {note}");
    }
    println!("{:>5}> {};", step.user, step.sql);
    match came {
        Came::Failed { message, .. } if matches!(step.expect, steps::Expect::NotYet) => {
            println!("       not yet: {message}");
        }
        Came::Failed { sqlstate, message } => println!("       error {sqlstate}: {message}"),
        Came::Rows { columns, .. } if columns.is_empty() => {}
        Came::Rows { columns, rows } => print_rows(step, columns, rows),
    }
}

/// Of a long result, such as a list of all grants, only the rows that were looked for are shown.
fn print_rows(step: &Step, columns: &[String], rows: &[Vec<Option<String>>]) {
    let columns: Vec<Column> =
        columns.iter().map(|name| Column { name: name.clone(), kind: ValueKind::Other }).collect();
    let shown_rows: Vec<_> = rows.iter().filter(|row| step.expect.is_about(row)).cloned().collect();
    let mut table = Vec::new();
    let _ = write_table(&mut table, &columns, &shown_rows);
    for line in String::from_utf8_lossy(&table).lines() {
        println!("      {line}");
    }
    match rows.len() - shown_rows.len() {
        0 => {}
        n_more => println!("       … and {n_more} other rows"),
    }
}

fn conclude(running: &Running, password: &Secret, outcome: Outcome, options: &DemoOptions, folder: &Path) {
    let Outcome { n_steps, n_wrong } = outcome;
    match n_wrong {
        0 => println!("\n{n_steps} steps, all as the tutorial says."),
        _ => println!("\n{n_steps} steps, {n_wrong} of them NOT as the tutorial says (see MISMATCH above)."),
    }
    let Address { host, port } = Address::of(running);
    let password = shown(Some(password.reveal()));
    println!(
        "\nConnect as any of {}:\n  PGPASSWORD={password} psql -h {host} -p {port} -U alice -d {CATALOG}\n  \
         PGPASSWORD={password} sluice sql --host {host} --port {port} --user alice",
        USERS.join(", ")
    );
    match options.keep {
        true => println!("Serving from `{}` until Ctrl-C.", folder.display()),
        false => println!("(with `--keep`, which leaves the server running)"),
    }
}
