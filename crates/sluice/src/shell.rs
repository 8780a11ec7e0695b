//! `sluice sql`: runs statements from the command line, a file or a terminal, and shows their results.

pub(crate) mod client;
mod complete;
mod meta;
pub(crate) mod output;
mod repl;
pub(crate) mod split;
pub(crate) mod tls;

pub use output::Format;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use stdx::{Clock, SystemClock};
use tokio_util::sync::CancellationToken;

use client::{Client, Failure};
use meta::Meta;
use output::Writer;
use split::{Piece, cut};
use tls::Tls;

/// How a shell behaves.
#[derive(Clone, Debug)]
pub struct ShellOptions {
    pub format: Format,
    /// No row counts, tags or greeting.
    pub quiet: bool,
    pub timing: bool,
    /// Ends a script at its first error.
    pub on_error_stop: bool,
    /// What to run; nothing is a terminal's lines, or the standard input.
    pub inputs: Vec<Input>,
    /// What the prompt calls the user.
    pub label: String,
    pub history_file: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub enum Input {
    Text(String),
    File(PathBuf),
}

/// How a shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Clean,
    /// A statement or command failed.
    Failed,
}

/// What comes after a piece was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Stop,
}

/// Files that include each other must come to an end.
const INCLUDE_DEPTH_MAX: usize = 16;

/// A statement that takes longer than this shows how far it is.
const PROGRESS_AFTER: Duration = Duration::from_millis(1500);

/// Runs a shell over the PostgreSQL protocol; with a file of authorities the connection must be TLS, and verified.
pub async fn run_remote(
    config: &tokio_postgres::Config,
    authorities: Option<&Path>,
    options: ShellOptions,
) -> Result<Ending, String> {
    let tls = authorities.map_or_else(Tls::off, Tls::verified)?;
    let client = Client::connect(config, tls).await.map_err(|failure| failure.message)?;
    Ok(Shell::new(client, options).run().await)
}

/// Runs a shell on a session in this process.
pub async fn run_embedded(
    session: std::sync::Arc<dyn query_api::QuerySession>,
    options: ShellOptions,
) -> Ending {
    Shell::new(Client::Embedded(session), options).run().await
}

struct Shell {
    client: Client,
    options: ShellOptions,
    is_expanded: bool,
    /// Where results go; `None` is the standard output.
    file: Option<File>,
    has_failed: bool,
}

impl Shell {
    fn new(client: Client, options: ShellOptions) -> Self {
        Self { client, options, is_expanded: false, file: None, has_failed: false }
    }

    async fn run(mut self) -> Ending {
        let inputs = std::mem::take(&mut self.options.inputs);
        if inputs.is_empty() && io::stdin().is_terminal() {
            repl::run(&mut self).await;
            // An error at the prompt was seen by who made it.
            return Ending::Clean;
        }
        if inputs.is_empty() {
            match io::read_to_string(io::stdin()) {
                Ok(text) => self.script(&text, 0).await,
                Err(error) => self.fail(&format!("the standard input cannot be read: {error}")),
            };
        }
        for input in inputs {
            let flow = match input {
                Input::Text(text) => self.script(&text, 0).await,
                Input::File(path) => self.include(&path, 0).await,
            };
            if flow == Flow::Stop {
                break;
            }
        }
        if self.has_failed { Ending::Failed } else { Ending::Clean }
    }

    /// Runs every piece of a text; a last statement needs no semicolon.
    async fn script(&mut self, text: &str, depth: usize) -> Flow {
        let cut = cut(text);
        let last = Some(cut.open.trim()).filter(|open| !open.is_empty()).map(Piece::Statement);
        for piece in cut.pieces.into_iter().chain(last) {
            let flow = match piece {
                Piece::Statement(statement) => self.statement(statement, None).await,
                Piece::Command(line) => self.command(line, depth).await,
            };
            if flow == Flow::Stop {
                return flow;
            }
        }
        Flow::Continue
    }

    async fn include(&mut self, path: &Path, depth: usize) -> Flow {
        if depth >= INCLUDE_DEPTH_MAX {
            return self.fail(&format!("`{}`: files include each other too deep", path.display()));
        }
        match std::fs::read_to_string(path) {
            Ok(text) => Box::pin(self.script(&text, depth + 1)).await,
            Err(error) => self.fail(&format!("`{}` cannot be read: {error}", path.display())),
        }
    }

    async fn command(&mut self, line: &str, depth: usize) -> Flow {
        let meta = match meta::parse(line) {
            Ok(meta) => meta,
            Err(message) => return self.fail(&message),
        };
        match meta {
            Meta::Quit => return Flow::Stop,
            Meta::Help => eprint!("{}", meta::HELP),
            Meta::Query { sql, if_empty } => return self.statement(&sql, Some(&if_empty)).await,
            Meta::Timing(on) => self.options.timing = on.unwrap_or(!self.options.timing),
            Meta::Expanded(on) => self.is_expanded = on.unwrap_or(!self.is_expanded),
            Meta::Format(format) => self.options.format = format,
            Meta::Output(None) => self.file = None,
            Meta::Output(Some(path)) => match File::create(&path) {
                Ok(file) => self.file = Some(file),
                Err(error) => return self.fail(&format!("`{path}` cannot be written: {error}")),
            },
            Meta::Include(path) => return self.include(Path::new(&path), depth).await,
        }
        Flow::Continue
    }

    /// Runs one statement; Ctrl-C cancels it. `if_empty` is told when it gives no rows.
    async fn statement(&mut self, statement: &str, if_empty: Option<&str>) -> Flow {
        let start = SystemClock.now();
        let mut out: Box<dyn Write + Send> = match self.file.as_ref().map(File::try_clone) {
            None => Box::new(io::BufWriter::new(io::stdout())),
            Some(Ok(file)) => Box::new(io::BufWriter::new(file)),
            Some(Err(error)) => return self.fail(&format!("the output file cannot be written: {error}")),
        };
        let format = match (self.options.format, self.is_expanded) {
            (output::Format::Table, true) => output::Format::Vertical,
            (format, _) => format,
        };
        let mut writer = Writer::new(&mut *out, format, self.options.quiet);
        let progress = writer.progress();
        let cancel = CancellationToken::new();
        let result = {
            let run = self.client.run(statement, &mut writer, &cancel);
            let mut run = std::pin::pin!(run);
            let mut ticks = tokio::time::interval(PROGRESS_AFTER);
            ticks.tick().await;
            let mut is_shown = false;
            let result = loop {
                tokio::select! {
                    result = &mut run => break result,
                    Ok(()) = tokio::signal::ctrl_c(), if !cancel.is_cancelled() => cancel.cancel(),
                    _ = ticks.tick(), if io::stderr().is_terminal() => {
                        is_shown = true;
                        let seconds = (SystemClock.now().millis() - start.millis()) / 1000;
                        eprint!("\r{} rows, {seconds} s \u{2026}", progress.load(Ordering::Relaxed));
                    }
                }
            };
            if is_shown {
                eprint!("\r{:60}\r", "");
            }
            result
        };
        drop(out);
        let elapsed_ms = SystemClock.now().millis() - start.millis();
        match result {
            Ok(completion) => {
                for notice in completion.notices {
                    eprintln!("notice: {notice}");
                }
                if let Some(text) = if_empty.filter(|_| progress.load(Ordering::Relaxed) == 0) {
                    eprintln!("{text}");
                }
                if self.options.timing {
                    eprintln!("time: {elapsed_ms} ms");
                }
                Flow::Continue
            }
            Err(failure) => self.told(&failure, statement, cancel.is_cancelled()),
        }
    }

    /// Tells of a statement that failed.
    fn told(&mut self, failure: &Failure, statement: &str, was_cancelled: bool) -> Flow {
        if failure.is_fatal {
            self.fail(&explained(failure, statement));
            return Flow::Stop;
        }
        let flow = self.fail(&explained(failure, statement));
        // Who cancels a script does not want its next statement.
        if was_cancelled { Flow::Stop } else { flow }
    }

    fn fail(&mut self, message: &str) -> Flow {
        eprintln!("error: {message}");
        self.has_failed = true;
        if self.options.on_error_stop { Flow::Stop } else { Flow::Continue }
    }
}

/// A failure with its code, the line it is in, and what to do about it.
fn explained(failure: &Failure, statement: &str) -> String {
    let mut text = failure.message.clone();
    if let Some(sqlstate) = &failure.sqlstate {
        text = format!("{text} [{sqlstate}]");
    }
    if let Some(position) = failure.position {
        let before: String = statement.chars().take(position).collect();
        let n_line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or("").chars().count();
        if let Some(line) = statement.lines().nth(n_line) {
            let prefix = format!("line {}: ", n_line + 1);
            text = format!("{text}\n{prefix}{line}\n{}^", " ".repeat(prefix.chars().count() + column));
        }
    }
    if let Some(hint) = &failure.hint {
        text = format!("{text}\nhint: {hint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_points_at_its_place() {
        let failure = Failure {
            message: "no such column `b`".to_owned(),
            sqlstate: Some("42703".to_owned()),
            hint: Some("look".to_owned()),
            position: Some("select a,\n  ".chars().count()),
            is_fatal: false,
        };
        assert_eq!(
            explained(&failure, "select a,\n  b from t"),
            "no such column `b` [42703]\nline 2:   b from t\n          ^\nhint: look"
        );
    }
}
