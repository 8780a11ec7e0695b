//! DuckDB in a process of its own: its pinned Python package in a virtual environment, spoken to line by line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use super::contenders::Timed;
use crate::answer::{Answer, Cell};

const CLIENT: &str = include_str!("../../duckdb/client.py");
const REQUIREMENTS: &str = include_str!("../../duckdb/requirements.txt");

/// A running DuckDB; it ends with the value.
#[derive(Debug)]
pub(crate) struct Duckdb {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    /// Of DuckDB and of Python.
    pub(crate) versions: Map<String, Value>,
    pub(crate) settings: Map<String, Value>,
}

impl Duckdb {
    pub(crate) fn start(n_threads: usize) -> Result<Self> {
        let folder = environment()?;
        let client = folder.join("client.py");
        fs::write(&client, CLIENT).context("the client cannot be written")?;
        let mut child = Command::new(folder.join("bin/python"))
            .arg(&client)
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

    /// Runs a statement; the time is the one that the client took by its own clock, until the result was there.
    pub(crate) fn run(&mut self, sql: &str) -> Result<Timed> {
        writeln!(self.requests, "{}", json!({ "sql": sql })).context("duckdb is gone")?;
        self.requests.flush().context("duckdb is gone")?;
        let reply = self.reply()?;
        let ms = reply.get("ms").and_then(Value::as_f64).context("duckdb told no time")?;
        let texts = |part: &Value| part.as_str().map(str::to_owned);
        let list = |name: &str| reply.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let types: Vec<String> = list("types").iter().filter_map(texts).collect();
        let rows = list("rows");
        let rows = rows.iter().map(|row| cells(row, &types)).collect::<Result<Vec<_>>>()?;
        Ok(Timed { ms, answer: Answer::new(rows) })
    }

    fn reply(&mut self) -> Result<Map<String, Value>> {
        let mut line = String::new();
        ensure!(self.replies.read_line(&mut line).context("duckdb is gone")? > 0, "duckdb ended");
        let Value::Object(reply) = serde_json::from_str(&line).context("duckdb said something odd")? else {
            bail!("duckdb said something odd");
        };
        match reply.get("error").and_then(Value::as_str) {
            Some(error) => bail!("duckdb: {error}"),
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

fn cells(row: &Value, types: &[String]) -> Result<Vec<Cell>> {
    let row = row.as_array().context("a row is a list")?;
    ensure!(row.len() == types.len(), "a row has a value for each column");
    row.iter()
        .zip(types)
        .map(|(value, kind)| {
            let Some(text) = value.as_str() else { return Ok(Cell::Null) };
            Ok(match kind.as_str() {
                "FLOAT" | "DOUBLE" => {
                    Cell::Float(text.parse().with_context(|| format!("`{text}` is no float"))?)
                }
                kind if kind.starts_with("DECIMAL") => Cell::Decimal(text.to_owned()),
                _ => Cell::Text(text.to_owned()),
            })
        })
        .collect()
}

/// The virtual environment with exactly the pinned packages; made when it is not there or others are pinned.
fn environment() -> Result<PathBuf> {
    let folder = target_folder()?.join("bench").join("duckdb");
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
