//! DuckDB in a process of its own: its pinned Python package in a virtual environment, spoken to line by line.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

const CLIENT: &str = include_str!("../client.py");
const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// A running DuckDB; it ends with the value.
#[derive(Debug)]
pub struct Duckdb {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    /// Of DuckDB and of Python.
    pub versions: Map<String, Value>,
    pub settings: Map<String, Value>,
}

/// What a statement gave, with values as texts.
#[derive(Debug)]
pub struct Reply {
    /// By the client's own clock, until the result was there.
    pub ms: f64,
    pub types: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

/// What DuckDB says of a statement that it does not carry out.
#[derive(Debug)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "duckdb: {}", self.0)
    }
}

impl std::error::Error for Refusal {}

impl Duckdb {
    pub fn start(n_threads: usize) -> Result<Self> {
        let folder = environment()?;
        // Each process has its own, so that none reads what another one is writing.
        let client = folder.join(format!("client-{}.py", std::process::id()));
        fs::write(&client, CLIENT).context("the client cannot be written")?;
        let started = Self::start_client(&folder, &client, n_threads);
        let _ = fs::remove_file(&client);
        started
    }

    fn start_client(folder: &Path, client: &Path, n_threads: usize) -> Result<Self> {
        let mut child = Command::new(folder.join("bin/python"))
            .arg(client)
            .arg(n_threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the client did not start")?;
        let requests = child.stdin.take().context("the client has no standard input")?;
        let replies = BufReader::new(child.stdout.take().context("the client has no standard output")?);
        let mut duckdb = Self { child, requests, replies, versions: Map::new(), settings: Map::new() };
        let mut hello = duckdb.reply().context("the client did not answer")?;
        let mut part =
            |name: &str| hello.remove(name).and_then(|part| part.as_object().cloned()).unwrap_or_default();
        duckdb.versions = part("versions");
        duckdb.settings = part("settings");
        Ok(duckdb)
    }

    /// Runs a statement. The error is a [`Refusal`] where DuckDB refused it, and something else where DuckDB is gone.
    pub fn run(&mut self, sql: &str) -> Result<Reply> {
        writeln!(self.requests, "{}", json!({ "sql": sql })).context("duckdb is gone")?;
        self.requests.flush().context("duckdb is gone")?;
        let reply = self.reply()?;
        let ms = reply.get("ms").and_then(Value::as_f64).context("duckdb told no time")?;
        let texts = |part: &Value| part.as_str().map(str::to_owned);
        let list = |name: &str| reply.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let types: Vec<String> = list("types").iter().filter_map(texts).collect();
        let mut rows = Vec::new();
        for row in list("rows") {
            let row = row.as_array().context("a row is a list")?;
            ensure!(row.len() == types.len(), "a row has a value for each column");
            rows.push(row.iter().map(texts).collect());
        }
        Ok(Reply { ms, types, rows })
    }

    fn reply(&mut self) -> Result<Map<String, Value>> {
        let mut line = String::new();
        ensure!(self.replies.read_line(&mut line).context("duckdb is gone")? > 0, "duckdb ended");
        let Value::Object(reply) = serde_json::from_str(&line).context("duckdb said something odd")? else {
            bail!("duckdb said something odd");
        };
        match reply.get("error").and_then(Value::as_str) {
            Some(error) => Err(Refusal(error.to_owned()).into()),
            None => Ok(reply),
        }
    }
}

impl Drop for Duckdb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The virtual environment with exactly the pinned packages; made when it is not there or others are pinned.
fn environment() -> Result<PathBuf> {
    let folder = target_folder()?.join("duckdb-peer");
    let mark = folder.join("requirements.txt");
    if fs::read_to_string(&mark).is_ok_and(|text| text == REQUIREMENTS) {
        return Ok(folder);
    }
    eprintln!("installing DuckDB into a virtual environment…");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("the old environment cannot be removed")?;
    }
    fs::create_dir_all(&folder)?;
    run_to_end(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let pinned = folder.join("pinned.txt");
    fs::write(&pinned, REQUIREMENTS)?;
    let python = folder.join("bin/python");
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "-r"];
    run_to_end(Command::new(python).args(install).arg(&pinned))?;
    fs::rename(&pinned, &mark)?;
    Ok(folder)
}

fn run_to_end(command: &mut Command) -> Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("`{shown}` did not start"))?;
    ensure!(status.success(), "`{shown}` failed: {status}");
    Ok(())
}

/// Where this program was built into: the folder above that of its profile.
fn target_folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().and_then(Path::parent).context("this program lies in no target folder")?;
    Ok(folder.to_owned())
}
