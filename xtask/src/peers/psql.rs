//! One psql for each session, spoken to statement by statement.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::{Context, Result};

use super::answer::{Answer, NULL};
use crate::psql::lines;

/// How long a statement may take, in a build without optimization on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(120);

/// What psql says after each statement.
const MARK: &str = "-- that was all --";

/// Runs the program that follows, and ends it when this one ends, however it does.
pub(crate) fn bound() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    command
}

/// A session of one user; it ends with the value.
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Session {
    pub(crate) fn open(host: &str, port: u16, user: &str, database: &str, password: &str) -> Result<Self> {
        // Both outputs in one stream, and line by line, so that an error stands where it was said.
        let script = "exec stdbuf -oL psql \"$@\" 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script, "psql", "-X", "-A", "-t", "-v", "VERBOSITY=verbose", "-P"])
            .arg(format!("null={NULL}"))
            .args(["-h", host, "-p", &port.to_string(), "-U", user, "-d", database])
            .env("PGPASSWORD", password)
            .env("PGCONNECT_TIMEOUT", "20")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("psql did not start")?;
        let input = child.stdin.take().context("psql has no standard input")?;
        let output = child.stdout.take().context("psql has no standard output")?;
        let mut session = Self { child, input, lines: lines(output) };
        session.say("SELECT 1").with_context(|| format!("`{user}` cannot log in"))?;
        Ok(session)
    }

    pub(crate) fn say(&mut self, statement: &str) -> Result<Answer> {
        let statement = statement.trim_end().trim_end_matches(';');
        writeln!(self.input, "{statement};\n\\echo {MARK}").context("psql is gone")?;
        self.input.flush().context("psql is gone")?;
        let mut said = Vec::new();
        loop {
            let line = self
                .lines
                .recv_timeout(ANSWER_MAX)
                .with_context(|| format!("no answer to `{statement}`; psql said: {}", said.join("\n")))?;
            if line == MARK {
                return Ok(Answer::of_psql(&said));
            }
            said.push(line);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing can be done where the child is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
