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
use cases::{Case, Peer};
use duckdb::Duckdb;
use postgres::Postgres;
use psql::Session;
use server::Server;

const FOLDER: &str = "xtask/peers";

/// Who asks. From the first one nothing is hidden, so that her answer shows that a case asks for something.
const USERS: &[&str] = &["ana", "bo", "cy", "dee", "eve"];

/// Whoever set things up, and sees tables as they are.
const ADMIN: &str = "admin";

/// How many cases Sluice refuses, each marked `refused` in its file. It may fall, and does not grow.
const N_REFUSED: usize = 1;

/// What puts a table that a case changed back to the rows that it had.
fn restore(table: &str) -> String {
    format!("DELETE FROM {table};\nINSERT INTO {table} SELECT * FROM {table}_rows;")
}

pub(crate) fn run(context: &Context) -> Result<Report> {
    let folder = context.root.join(FOLDER);
    let cases = cases::read_all(&folder.join("cases"))?;
    let n_refused = cases.iter().filter(|case| case.is_refused).count();
    ensure!(n_refused == N_REFUSED, "{n_refused} cases are marked `refused`, and not {N_REFUSED}");
    let mut sides = Sides::start(&context.sluice()?, &folder)?;
    let mut tally = Tally::default();
    for case in &cases {
        let faults = sides.play(case).with_context(|| format!("`{}`", case.name))?;
        match faults.as_slice() {
            [] if case.is_refused => println!("refused: {}", case.name),
            [] => println!("ok: {}", case.name),
            faults => println!("not so: {}\n{}\n{}", case.name, case.text(Peer::Sluice), faults.join("\n")),
        }
        tally += if faults.is_empty() { Tally::success() } else { Tally::failure() };
    }
    println!(
        "{} cases, {} answers of PostgreSQL and {} of DuckDB held against Sluice's; refused: {n_refused}",
        cases.len(),
        sides.n_postgres,
        sides.n_duckdb
    );
    Ok(Report { tally, skipped: Vec::new() })
}

/// The three that are asked, each with the same rows and protections.
struct Sides {
    sluice: BTreeMap<&'static str, Session>,
    postgres: BTreeMap<&'static str, Session>,
    duckdb: Duckdb,
    n_postgres: usize,
    n_duckdb: usize,
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
            n_postgres: 0,
            n_duckdb: 0,
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
        let mut faults = Vec::new();
        for user in USERS.iter().filter(|user| case.users.is_empty() || case.users.iter().any(|u| u == *user)) {
            let ours = said(&mut self.sluice, user, &case.statements(Peer::Sluice))?;
            if case.is_refused {
                if !matches!(ours.last(), Some(Answer::Error { code, .. }) if code == answer::NOT_OFFERED) {
                    faults.push(format!("{user}: not refused; its mark `refused` is to go"));
                }
                continue;
            }
            if *user == "ana" && ours.iter().any(Answer::is_denied) && !case.is_denied {
                faults.push(format!("ana, from whom nothing is hidden, is denied: {}", ours.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")));
            }
            if case.peers.contains(&Peer::Postgres) {
                let theirs = said(&mut self.postgres, user, &case.statements(Peer::Postgres))?;
                faults.extend(fault(&case.marks(), &ours, &theirs).map(|f| format!("{user}, PostgreSQL: {f}")));
                self.n_postgres += 1;
            }
            if case.peers.contains(&Peer::Duckdb) {
                let theirs = self.duckdb.say(user, &case.statements(Peer::Duckdb))?;
                faults.extend(fault(&case.marks(), &ours, &theirs).map(|f| format!("{user}, DuckDB: {f}")));
                self.n_duckdb += 1;
            }
            if let Some(table) = &case.changes {
                faults.extend(self.look_and_restore(table)?.map(|f| format!("{user}, the table afterwards: {f}")));
            }
        }
        Ok(faults)
    }

    /// Holds the whole table, hidden rows and stored values too, against PostgreSQL's, and puts both back.
    fn look_and_restore(&mut self, table: &str) -> Result<Option<String>> {
        let look = [format!("SELECT * FROM {table}")];
        let restore = [restore(table)];
        let ours = said(&mut self.sluice, ADMIN, &look)?;
        let theirs = said(&mut self.postgres, ADMIN, &look)?;
        if let Some(error) = ours.iter().find(|a| matches!(a, Answer::Error { .. })) {
            bail!("`{table}` cannot be looked at: {error}");
        }
        for sessions in [&mut self.sluice, &mut self.postgres] {
            if let Some(error) = said(sessions, ADMIN, &restore)?.iter().find(|a| matches!(a, Answer::Error { .. })) {
                bail!("`{table}` cannot be put back: {error}");
            }
        }
        Ok(fault(&[false], &ours, &theirs))
    }
}

fn said(sessions: &mut BTreeMap<&'static str, Session>, user: &str, statements: &[String]) -> Result<Vec<Answer>> {
    let session = sessions.get_mut(user).with_context(|| format!("`{user}` has no session"))?;
    statements.iter().map(|statement| session.say(statement)).collect()
}

/// Says texts statement by statement, each of which must succeed.
fn set_up(session: &mut Session, texts: &[&str]) -> Result<()> {
    for statement in texts.iter().flat_map(|text| cases::statements(text)) {
        let answer = session.say(&statement)?;
        if let Answer::Error { .. } = answer {
            bail!("{answer}, on `{statement}`");
        }
    }
    Ok(())
}
