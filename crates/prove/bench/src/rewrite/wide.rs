//! Tables of sixteen columns with three masks and a row filter, and what planning takes longer with them than without.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use query_api::QuerySession;
use sluice::server::Running;

use super::planning::{Times, planned};
use crate::answer::Answer;
use crate::query::contenders::ours;
use crate::query::governance::{ANALYST, AUTHOR};

/// How many tables a statement reads: one, and enough for the difference to stand out.
pub(crate) const N_TABLES: [usize; 2] = [1, 8];
const N_COLUMNS: usize = 16;

/// Microseconds of the quickest round with and without policies, for each number of tables.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    pub(crate) n_tables: usize,
    pub(crate) governed: Times,
    pub(crate) ungoverned: Times,
}

impl Wide {
    /// What one table's policies cost.
    pub(crate) fn us_per_table(&self) -> f64 {
        (self.governed.least() - self.ungoverned.least()) / self.n_tables as f64
    }
}

fn set_up(schema: &str) -> Vec<String> {
    let mut statements = vec![format!("CREATE SCHEMA {schema}")];
    let columns: Vec<String> = (1..N_COLUMNS)
        .map(|at| format!("c{at:02} {}", if at % 3 == 0 { "BIGINT" } else { "VARCHAR" }))
        .collect();
    let values = |row: usize| -> String {
        let value = |at: usize| match at % 3 {
            0 => format!("{}", row * 100 + at),
            _ => format!("'text {row} of {at}'"),
        };
        format!("({row}, {})", (1..N_COLUMNS).map(value).collect::<Vec<_>>().join(", "))
    };
    for table in 0..N_TABLES.into_iter().max().unwrap_or_default() {
        let name = format!("{schema}.w{table}");
        statements.extend([
            format!("CREATE TABLE {name} (id BIGINT, {})", columns.join(", ")),
            format!("INSERT INTO {name} VALUES {}, {}, {}", values(1), values(2), values(3)),
            format!("CREATE POLICY w{table}_rows ON TABLE {name} ROW FILTER TO USER {ANALYST} USING (c04 <> 'text 2 of 4')"),
            mask(&name, table, "c01", "MASK_SHOW_LAST_4", ""),
            mask(&name, table, "c02", "MASK", ""),
            mask(&name, table, "c05", "CUSTOM", " USING (concat(substr({col}, 1, 3), '…'))"),
        ]);
    }
    for user in [ANALYST, AUTHOR] {
        statements.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO USER {user}"));
    }
    statements
}

fn mask(name: &str, table: usize, column: &str, kind: &str, using: &str) -> String {
    format!(
        "CREATE POLICY w{table}_{column} ON TABLE {name} COLUMN MASK {kind} TO USER {ANALYST} ON COLUMN {column}{using}"
    )
}

/// Makes the tables; their schema stands beside TPC-H's.
pub(crate) async fn measure(
    server: &Running,
    catalog: &str,
    analyst: &Arc<dyn QuerySession>,
    author: &Arc<dyn QuerySession>,
    n_rounds: usize,
) -> Result<Vec<Wide>> {
    let schema = format!("{catalog}.wide");
    let admin = server.open_embedded(sluice::server::FIRST_ADMIN, None).await?;
    for statement in set_up(&schema) {
        ours(&admin, &statement).await.with_context(|| format!("`{statement}`"))?;
    }
    let mut measured = Vec::new();
    for n_tables in N_TABLES {
        let selects: Vec<String> = (0..n_tables).map(|at| format!("SELECT * FROM {schema}.w{at}")).collect();
        let text = selects.join(" UNION ALL ");
        let seen = |answer: &Answer| (answer.n_rows(), answer.hash());
        let governed = Answer::of_batches(&ours(analyst, &text).await?)?;
        let ungoverned = Answer::of_batches(&ours(author, &text).await?)?;
        let rows = (governed.n_rows(), ungoverned.n_rows());
        ensure!(
            rows == (2 * n_tables, 3 * n_tables),
            "the filter of a wide table hides the wrong rows: {rows:?}"
        );
        let by_hand: Vec<String> = (0..n_tables).map(|at| by_hand(&format!("{schema}.w{at}"))).collect();
        let by_hand = Answer::of_batches(&ours(author, &by_hand.join(" UNION ALL ")).await?)?;
        ensure!(
            seen(&governed) == seen(&by_hand),
            "the masks of a wide table give something else than by hand"
        );
        let mut wide = Wide { n_tables, governed: Times::default(), ungoverned: Times::default() };
        for round in 0..n_rounds {
            for is_governed in [round % 2 == 0, round % 2 == 1] {
                let (session, times) = match is_governed {
                    true => (analyst, &mut wide.governed),
                    false => (author, &mut wide.ungoverned),
                };
                times.push(planned(session, &text).await?);
            }
        }
        measured.push(wide);
    }
    Ok(measured)
}

/// What the policies say, typed in: the values are known, and so is what their masks make of them.
fn by_hand(table: &str) -> String {
    let columns: Vec<String> = (1..N_COLUMNS)
        .map(|at| match at {
            1 => "'xxxx x of 1' AS c01".to_owned(),
            2 => "'xxxx n xx n' AS c02".to_owned(),
            5 => "concat(substr(c05, 1, 3), '…') AS c05".to_owned(),
            _ => format!("c{at:02}"),
        })
        .collect();
    format!("SELECT id, {} FROM {table} WHERE c04 <> 'text 2 of 4'", columns.join(", "))
}
