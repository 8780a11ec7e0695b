//! Says the same statements over the same rows and protections to Sluice, PostgreSQL and DuckDB, and compares answers.

mod answer;
mod cases;
mod duckdb;
mod postgres;
mod psql;
mod server;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use crate::run::Report;
use crate::suites::Context;
use crate::tally::Tally;
use answer::{Answer, fault};
use cases::{Case, Known, Peer};
use duckdb::Duckdb;
use postgres::Postgres;
use psql::Session;
use server::Server;

const FOLDER: &str = "xtask/peers";

/// Who asks. From the first one nothing is hidden, so that her answer shows that a case asks for something.
const USERS: &[&str] = &["ana", "bo", "cy", "dee", "eve"];

/// Whoever set things up, and sees tables as they are.
const ADMIN: &str = "admin";

/// How many cases Sluice refuses and in how many it answers otherwise, each marked in its file with the reason. Both may
/// fall, and do not grow.
const N_REFUSED: usize = 7;
const N_DIFFERS: usize = 4;

/// What puts a table that a case changed back to the rows that it had.
fn restore(table: &str) -> String {
    format!("DELETE FROM {table};\nINSERT INTO {table} SELECT * FROM {table}_rows;")
}

pub(crate) fn run(context: &Context) -> Result<Report> {
    let folder = context.root.join(FOLDER);
    let cases = cases::read_all(&folder.join("cases"))?;
    let n_refused = cases.iter().filter(|case| matches!(case.known, Some(Known::Refused(_)))).count();
    let n_differs = cases.iter().filter(|case| case.known == Some(Known::Differs)).count();
    ensure!(n_refused == N_REFUSED, "{n_refused} cases are marked `refused`, and not {N_REFUSED}");
    ensure!(n_differs == N_DIFFERS, "{n_differs} cases are marked `differs`, and not {N_DIFFERS}");
    let mut sides = Sides::start(&context.sluice()?, &folder)?;
    let mut tally = Tally::default();
    for case in &cases {
        let faults = sides.play(case).with_context(|| format!("`{}`", case.name))?;
        match (faults.as_slice(), &case.known) {
            ([], Some(Known::Refused(_))) => println!("refused: {}", case.name),
            ([], Some(Known::Differs)) => println!("differs: {}", case.name),
            ([], None) => println!("ok: {}", case.name),
            (faults, _) => {
                println!("not so: {}\n{}\n{}", case.name, case.text(Peer::Sluice), faults.join("\n"))
            }
        }
        tally += if faults.is_empty() { Tally::success() } else { Tally::failure() };
    }
    println!(
        "{} cases, {} answers of PostgreSQL and DuckDB held against Sluice's; refused: {n_refused}, known to differ: {n_differs}",
        cases.len(),
        sides.n_answers
    );
    Ok(Report { tally, skipped: Vec::new() })
}

/// The three that are asked, each with the same rows and protections.
struct Sides {
    sluice: BTreeMap<&'static str, Session>,
    postgres: BTreeMap<&'static str, Session>,
    duckdb: Duckdb,
    n_answers: usize,
    /// Kept running as long as they are asked; after the sessions, which end first.
    _servers: (Server, Postgres),
}

impl Sides {
    fn start(sluice: &Path, folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("`{}`", path.display()))
        };
        let rows = text("rows.sql")?;
        let server = Server::start(sluice)?;
        let postgres = Postgres::start()?;
        let mut sides = Self {
            sluice: BTreeMap::new(),
            postgres: BTreeMap::new(),
            duckdb: Duckdb::start()?,
            n_answers: 0,
            _servers: (server, postgres),
        };
        let (server, postgres) = &sides._servers;
        let mut admin = server.session(ADMIN)?;
        set_up(&mut admin, &[&rows, &text("sluice.sql")?]).context("setting Sluice up")?;
        sides.sluice.insert(ADMIN, admin);
        let mut admin = postgres.session(ADMIN)?;
        set_up(&mut admin, &[&rows, &text("postgres.sql")?]).context("setting PostgreSQL up")?;
        sides.postgres.insert(ADMIN, admin);
        for user in USERS {
            sides.sluice.insert(user, server.session(user)?);
            sides.postgres.insert(user, postgres.session(user)?);
        }
        for text in [rows, text("duckdb.sql")?] {
            sides.duckdb.set_up(&text).context("setting DuckDB up")?;
        }
        Ok(sides)
    }

    /// What is not as it should be, nothing where all is well.
    fn play(&mut self, case: &Case) -> Result<Vec<String>> {
        let is_named = |user: &str| case.users.is_empty() || case.users.iter().any(|named| named == user);
        let mut faults = Vec::new();
        let mut is_first = true;
        for user in USERS.iter().filter(|user| is_named(user)) {
            let ours = said(&mut self.sluice, user, &case.statements(Peer::Sluice))?;
            if std::mem::replace(&mut is_first, false) {
                if let Some(fault) = not_expected(case, &ours) {
                    return Ok(vec![format!("{user}: {fault}")]);
                }
                if let Some(Known::Refused(_)) = case.known {
                    break;
                }
            }
            faults.extend(self.compare(case, user, &ours)?);
        }
        if case.known == Some(Known::Differs) {
            return Ok(if faults.is_empty() {
                vec!["does not differ: the mark is to go".to_owned()]
            } else {
                Vec::new()
            });
        }
        Ok(faults)
    }

    fn compare(&mut self, case: &Case, user: &str, ours: &[Answer]) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        for peer in &case.peers {
            let statements = case.statements(*peer);
            let theirs = match peer {
                Peer::Postgres => said(&mut self.postgres, user, &statements)?,
                Peer::Duckdb => self.duckdb.say(user, &statements)?,
                Peer::Sluice => continue,
            };
            self.n_answers += 1;
            faults.extend(
                fault(&case.marks(), ours, &theirs).map(|fault| format!("{user}, {peer:?}: {fault}")),
            );
        }
        if let Some(table) = &case.changes {
            let fault = self.look_and_restore(table)?;
            faults.extend(fault.map(|fault| format!("{user}, the table afterwards: {fault}")));
        }
        Ok(faults)
    }

    /// Holds the whole table, hidden rows and stored values too, against PostgreSQL's, and puts back what has changed.
    fn look_and_restore(&mut self, table: &str) -> Result<Option<String>> {
        let look = [format!("SELECT * FROM {table}"), format!("SELECT * FROM {table}_rows")];
        let ours = said(&mut self.sluice, ADMIN, &look)?;
        let theirs = said(&mut self.postgres, ADMIN, &look)?;
        for (sessions, looked) in [(&mut self.sluice, &ours), (&mut self.postgres, &theirs)] {
            if let Some(error) = looked.iter().find(|answer| answer.is_any_error()) {
                bail!("`{table}` cannot be looked at: {error}");
            }
            let [now, before] = looked.as_slice() else { bail!("`{table}` was not looked at") };
            let has_changed = fault(&[], std::slice::from_ref(now), std::slice::from_ref(before)).is_some();
            let restore = if has_changed { cases::statements(&restore(table)) } else { Vec::new() };
            if let Some(error) = said(sessions, ADMIN, &restore)?.iter().find(|answer| answer.is_any_error())
            {
                bail!("`{table}` cannot be put back: {error}");
            }
        }
        Ok(fault(&[], &ours, &theirs))
    }
}

/// The first user shows that a case asks for something: she gets rows, or the error that its head names.
fn not_expected(case: &Case, ours: &[Answer]) -> Option<String> {
    let last = ours.last()?;
    let expected = match &case.known {
        Some(Known::Refused(code)) => Some(code),
        Some(Known::Differs) => return None,
        None => case.fails.as_ref(),
    };
    match expected {
        Some(code) => (!last.is_error(code)).then(|| format!("no error {code} but {last}")),
        None => ours.iter().find(|answer| answer.is_any_error()).map(ToString::to_string),
    }
}

fn said(
    sessions: &mut BTreeMap<&'static str, Session>,
    user: &str,
    statements: &[String],
) -> Result<Vec<Answer>> {
    let session = sessions.get_mut(user).with_context(|| format!("`{user}` has no session"))?;
    statements.iter().map(|statement| session.say(statement)).collect()
}

/// Says texts statement by statement, each of which must succeed.
fn set_up(session: &mut Session, texts: &[&str]) -> Result<()> {
    for statement in texts.iter().flat_map(|text| cases::statements(text)) {
        let answer = session.say(&statement)?;
        if answer.is_any_error() {
            bail!("{answer}, on `{statement}`");
        }
    }
    Ok(())
}
