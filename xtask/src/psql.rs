//! Drives the running demo with a stock psql and holds what it shows against what each user may see.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::run::Report;
use crate::suites::Context;
use crate::tally::Tally;

/// How long a server may take to come to its prompt, in a build without optimization.
pub(crate) const START_MAX: Duration = Duration::from_secs(600);

/// The demo has said all that it has to say when it has been silent for so long.
const SILENCE: Duration = Duration::from_secs(2);

/// What psql says last in a session that it could carry out.
const END: &str = "end of session";

/// What one user sees. A text that begins with `!` must not be there.
struct Case {
    user: &'static str,
    name: &'static str,
    input: &'static str,
    expected: &'static [&'static str],
}

const ORDERS: &str = "SELECT id, region, ssn FROM sales_wh.acdemo.orders ORDER BY id;";

const CASES: &[Case] = &[
    Case { user: "alice", name: "who", input: "SELECT current_user;", expected: &["alice"] },
    Case {
        user: "alice",
        name: "filter and mask",
        input: ORDERS,
        expected: &["1|EU|xxx-xx-1111", "3|EU|xxx-xx-3333", "!US"],
    },
    Case {
        user: "alice",
        name: "extended protocol",
        input: "SELECT id FROM sales_wh.acdemo.orders WHERE id = 3 \\gdesc",
        expected: &["id|"],
    },
    Case {
        user: "alice",
        name: "rows by a cursor",
        input: "\\set FETCH_COUNT 1\nSELECT id, region, ssn FROM sales_wh.acdemo.orders ORDER BY id;",
        expected: &["1|EU|xxx-xx-1111", "3|EU|xxx-xx-3333", "!US"],
    },
    Case { user: "alice", name: "databases", input: "\\l", expected: &["sales_wh"] },
    Case { user: "alice", name: "schemas", input: "\\dn", expected: &["acdemo"] },
    Case { user: "alice", name: "tables", input: "SET search_path = acdemo;\n\\dt", expected: &["orders"] },
    Case { user: "alice", name: "a table", input: "\\d acdemo.orders", expected: &["region", "ssn"] },
    Case { user: "dave", name: "no tables", input: "\\dt *.*", expected: &["!orders"] },
    Case { user: "dave", name: "not found", input: ORDERS, expected: &["42P01", "!1111"] },
    Case {
        user: "dave",
        name: "a table that is not there",
        input: "SELECT 1 FROM sales_wh.acdemo.no_such_table;",
        expected: &["42P01"],
    },
    Case { user: "alice", name: "syntax error", input: "SELEC 1;", expected: &["42601"] },
    Case {
        user: "alice",
        name: "the session survives an error",
        input: "SELECT 1/0;\nSELECT 'still here' AS x;",
        expected: &["22012", "still here"],
    },
];

pub(crate) fn run(context: &Context) -> Result<Report> {
    let version = Command::new("psql").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        bail!("psql did not start; install it (Debian: postgresql-client)");
    }
    let data_dir = tempfile::tempdir().context("no temporary folder")?;
    let demo = Demo::start(&context.sluice()?, &data_dir.path().join("data"))?;
    let mut tally = Tally::default();
    for case in CASES {
        let connection = demo.connection_of(case.user)?;
        let output = psql(&connection, case.input)?;
        let faults = faults(&output, case.expected);
        if faults.is_empty() {
            println!("ok: {} ({})", case.name, case.user);
            tally += Tally::success();
        } else {
            println!("not so: {} ({}): {}\n{output}", case.name, case.user, faults.join("; "));
            tally += Tally::failure();
        }
    }
    Ok(Report { tally, skipped: Vec::new() })
}

/// What is wrong with an output. One that lacks the end shows nothing by what it does not hold.
fn faults(output: &str, expected: &[&str]) -> Vec<String> {
    let all = std::iter::once(&END).chain(expected);
    all.filter_map(|text| match text.strip_prefix('!') {
        Some(text) => output.contains(text).then(|| format!("`{text}` is there")),
        None => (!output.contains(text)).then(|| format!("`{text}` is not there")),
    })
    .collect()
}

/// A demo that is kept running until this is dropped.
struct Demo {
    child: Child,
    /// The lines in which it says how to connect.
    connections: Vec<String>,
}

impl Demo {
    fn start(sluice: &Path, data_dir: &Path) -> Result<Self> {
        let mut child = Command::new(sluice)
            .args(["demo", "--keep", "--scale", "0", "--data-dir"])
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("`sluice demo --keep` did not start")?;
        let stdout = child.stdout.take().context("the demo has no standard output")?;
        let mut demo = Self { child, connections: Vec::new() };
        demo.connections = connections(&lines(stdout))?;
        Ok(demo)
    }

    /// How this user connects: as the demo printed it for her, or for another with the name changed.
    fn connection_of(&self, user: &str) -> Result<String> {
        let own = self.connections.iter().find(|command| user_of(command) == Some(user));
        let changed = || {
            let (command, other) = self.connections.iter().find_map(|c| Some((c, user_of(c)?)))?;
            Some(command.replacen(&format!("-U {other}"), &format!("-U {user}"), 1))
        };
        let connection = own.cloned().or_else(changed);
        connection.with_context(|| format!("the demo does not say how `{user}` connects with psql"))
    }
}

/// The user after `-U` in a psql command.
fn user_of(command: &str) -> Option<&str> {
    command.split_once("-U ")?.1.split_whitespace().next()
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Nothing can be done where the child is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The psql commands that the demo prints at its end.
fn connections(lines: &Receiver<String>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    loop {
        let patience = if found.is_empty() { START_MAX } else { SILENCE };
        match lines.recv_timeout(patience) {
            Ok(line) => found.extend(connection(&line)),
            Err(_) if found.is_empty() => {
                bail!("the demo ended or fell silent without saying how to connect with psql")
            }
            Err(_) => return Ok(found),
        }
    }
}

/// The command in a line such as `  alice: PGPASSWORD=… psql -h 127.0.0.1 …`.
fn connection(line: &str) -> Option<String> {
    let start = line.find("PGPASSWORD=").or_else(|| line.find("psql "))?;
    let command = line.get(start..)?.trim().trim_end_matches('`');
    let names_a_host = ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| command.contains(host));
    (command.contains("psql") && names_a_host).then(|| command.to_owned())
}

/// Runs psql as a person would, through a shell, and gives back both of its outputs.
fn psql(connection: &str, input: &str) -> Result<String> {
    let script = format!("{connection} -X -A -t -v VERBOSITY=verbose 2>&1");
    // A server that does not answer is a fault to tell and not one to wait for.
    let mut child = Command::new("timeout")
        .args(["120", "sh", "-c", &script])
        .env("PGCONNECT_TIMEOUT", "20")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("psql did not start")?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, format!("{input}\n\\echo {END}\n").as_bytes())
            .context("psql takes no input")?;
    }
    let output = child.wait_with_output().context("psql was lost")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_read_out_of_what_the_demo_prints() {
        let line = "  alice: PGPASSWORD=x psql -h 127.0.0.1 -p 4000 -U alice sales_wh";
        assert_eq!(connection(line).unwrap(), "PGPASSWORD=x psql -h 127.0.0.1 -p 4000 -U alice sales_wh");
        assert_eq!(connection("psql -h localhost -U alice`").unwrap(), "psql -h localhost -U alice");
        assert_eq!(connection("connect with psql:"), None);
    }

    #[test]
    fn one_printed_user_stands_for_the_others() {
        let child = Command::new("true").spawn().unwrap();
        let demo =
            Demo { child, connections: vec!["PGPASSWORD=x psql -h 127.0.0.1 -U alice -d c".to_owned()] };
        assert_eq!(demo.connection_of("alice").unwrap(), "PGPASSWORD=x psql -h 127.0.0.1 -U alice -d c");
        assert_eq!(demo.connection_of("dave").unwrap(), "PGPASSWORD=x psql -h 127.0.0.1 -U dave -d c");
    }

    #[test]
    fn what_must_not_be_there_is_a_fault() {
        assert!(faults("1|EU\nend of session\n", &["EU", "!US"]).is_empty());
        assert_eq!(faults("1|US\nend of session\n", &["EU", "!US"]).len(), 2);
        assert_eq!(faults("connection refused", &["!US"]).len(), 1);
    }
}
