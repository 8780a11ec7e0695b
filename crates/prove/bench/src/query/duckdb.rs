//! What DuckDB answers, in the form in which all contenders' answers are compared.

use anyhow::{Context, Result, ensure};
use duckdb_peer::Duckdb;

use super::contenders::Timed;
use crate::answer::{Answer, Cell};

/// Runs a statement; the time is the one that the client took by its own clock, until the result was there.
pub(crate) fn run(duckdb: &mut Duckdb, sql: &str) -> Result<Timed> {
    let reply = duckdb.run(sql)?;
    let rows = reply.rows.into_iter().map(|row| cells(row, &reply.types)).collect::<Result<Vec<_>>>()?;
    Ok(Timed { ms: reply.ms, answer: Answer::new(rows) })
}

fn cells(row: Vec<Option<String>>, types: &[String]) -> Result<Vec<Cell>> {
    ensure!(row.len() == types.len(), "a row has a value for each column");
    row.into_iter()
        .zip(types)
        .map(|(value, kind)| {
            let Some(text) = value else { return Ok(Cell::Null) };
            Ok(match kind.as_str() {
                "FLOAT" | "DOUBLE" => {
                    Cell::Float(text.parse().with_context(|| format!("`{text}` is no float"))?)
                }
                kind if kind.starts_with("DECIMAL") => Cell::Decimal(text),
                _ => Cell::Text(text),
            })
        })
        .collect()
}
