//! DuckDB as a peer: it has no users, so that each one's views, filters and masks are typed into a schema of hers.

use anyhow::{Context, Result};
use duckdb_peer::{Refusal, Reply};

use super::answer::{Answer, NOT_THERE, NULL, normal};
use super::cases::statements;

pub(crate) struct Duckdb(duckdb_peer::Duckdb);

impl Duckdb {
    pub(crate) fn start() -> Result<Self> {
        let started = duckdb_peer::Duckdb::start(1);
        Ok(Self(started.context("DuckDB did not come up; it needs python3 with venv and a package index")?))
    }

    pub(crate) fn set_up(&mut self, text: &str) -> Result<()> {
        for statement in statements(text) {
            self.0.run(&statement).with_context(|| format!("on `{statement}`"))?;
        }
        Ok(())
    }

    pub(crate) fn say(&mut self, user: &str, statements: &[String]) -> Result<Vec<Answer>> {
        self.0.run(&format!("SET schema = 'as_{user}'"))?;
        statements.iter().map(|statement| answer(self.0.run(statement))).collect()
    }
}

/// What it says of a statement that it refuses begins with the kind of the error.
fn answer(said: Result<Reply>) -> Result<Answer> {
    match said {
        Ok(reply) => Ok(Answer::Lines(reply.rows.iter().map(|row| line(row, &reply.types)).collect())),
        Err(error) => {
            let Refusal(message) = error.downcast::<Refusal>()?;
            let is_hidden = message.starts_with("Catalog Error") || message.starts_with("Binder Error");
            let code = if is_hidden { NOT_THERE } else { "duckdb" };
            Ok(Answer::Error { code: code.to_owned(), message })
        }
    }
}

fn line(row: &[Option<String>], types: &[String]) -> String {
    let value = |(value, kind): (&Option<String>, &String)| match value.as_deref() {
        None => NULL.to_owned(),
        // Python's words for truth values.
        Some("True") if kind == "BOOLEAN" => "t".to_owned(),
        Some("False") if kind == "BOOLEAN" => "f".to_owned(),
        Some(text) => text.to_owned(),
    };
    normal(&row.iter().zip(types).map(value).collect::<Vec<_>>().join("|"))
}
