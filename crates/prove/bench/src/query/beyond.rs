//! What TPC-H does not ask: a row filter with a sub-query, and what is read of a table in the order of its filter.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use query_api::QuerySession;
use sluice::server::FIRST_ADMIN;

use super::contenders::{Contenders, Side, Timed, ours, timed};
use super::rounds::median;

/// A user whose row filter asks another table.
const CLERK: &str = "clerk";
/// A user whose row filter is on the column by which the table is sorted.
const KEEPER: &str = "keeper";
/// A user who sees no row.
const STRANGER: &str = "stranger";

const SORTED: &str = "lines_by_date";
const FROM: &str = "date '1998-06-01'";

pub(crate) struct Beyond {
    exists_ms: Vec<f64>,
    semijoin_ms: Vec<f64>,
    sorted_bytes: (f64, f64),
    /// What the process reads for the sorted table without any filter.
    whole_bytes: f64,
    denied_bytes: f64,
}

/// Answers that differ from those by hand are an error, and then nothing is told.
pub(crate) async fn run(contenders: &Contenders, n_rounds: usize) -> Result<Beyond> {
    eprintln!("sub-queries in filters, and bytes…");
    let schema = &contenders.schema;
    let admin = contenders.server.open_embedded(FIRST_ADMIN, None).await?;
    for statement in set_up(schema) {
        ours(&admin, &statement).await.with_context(|| format!("`{statement}`"))?;
    }
    let open = async |user| contenders.server.open_embedded(user, None).await;
    let (clerk, keeper, stranger) = (open(CLERK).await?, open(KEEPER).await?, open(STRANGER).await?);
    let author = contenders.session(Side::Handwritten)?;
    let (exists_ms, semijoin_ms) = exists(schema, &clerk, author, n_rounds).await?;
    let of_sorted = |filter: &str| {
        format!("select count(*) as n, sum(l_extendedprice) as price from {schema}.{SORTED}{filter}")
    };
    let (plain, by_hand) = (of_sorted(""), of_sorted(&format!(" where l_shipdate >= {FROM}")));
    let governed = bytes(&keeper, &plain, n_rounds).await?;
    let handwritten = bytes(author, &by_hand, n_rounds).await?;
    let whole = bytes(author, &plain, n_rounds).await?;
    ensure!(
        governed.answer.agrees_with(&handwritten.answer),
        "the run is void: the sorted table by hand differs"
    );
    ensure!(
        !governed.answer.agrees_with(&whole.answer),
        "the run is void: nothing of the sorted table is hidden"
    );
    let denied = bytes(&stranger, &format!("select l_comment from {schema}.{SORTED}"), n_rounds).await?;
    ensure!(denied.answer.n_rows() == 0, "the run is void: the stranger sees rows");
    Ok(Beyond {
        exists_ms,
        semijoin_ms,
        sorted_bytes: (governed.n_bytes, handwritten.n_bytes),
        whole_bytes: whole.n_bytes,
        denied_bytes: denied.n_bytes,
    })
}

fn set_up(schema: &str) -> Vec<String> {
    let mut statements = vec![format!(
        "CREATE TABLE {schema}.{SORTED} AS SELECT * FROM {schema}.lineitem ORDER BY l_shipdate"
    )];
    for (user, table, filter) in [
        (
            CLERK,
            "lineitem",
            format!(
                "EXISTS (SELECT 1 FROM {schema}.orders o WHERE o.o_orderkey = l_orderkey AND o.o_orderpriority = '1-URGENT')"
            ),
        ),
        (KEEPER, SORTED, format!("l_shipdate >= {FROM}")),
        (STRANGER, SORTED, "FALSE".to_owned()),
    ] {
        statements.extend([
            format!("CREATE USER {user}"),
            format!("GRANT SELECT ON TABLE {schema}.{table} TO USER {user}"),
            format!("CREATE POLICY {user}_rows ON TABLE {schema}.{table} ROW FILTER TO USER {user} USING ({filter})"),
        ]);
    }
    statements
        .push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO USER {}", super::governance::AUTHOR));
    statements
}

/// Times in turns, the first round without count.
async fn exists(
    schema: &str,
    clerk: &Arc<dyn QuerySession>,
    author: &Arc<dyn QuerySession>,
    n_rounds: usize,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let of = |lines: &str| {
        format!(
            "select l_shipmode, count(*) as n, sum(l_extendedprice) as price from {lines} group by l_shipmode"
        )
    };
    let governed = of(&format!("{schema}.lineitem"));
    let by_hand = of(&format!(
        "{schema}.lineitem l left semi join {schema}.orders o on o.o_orderkey = l.l_orderkey \
         and o.o_orderpriority = '1-URGENT'"
    ));
    let all = timed(ours(author, &governed)).await?;
    let (mut exists, mut semijoin) = (Vec::new(), Vec::new());
    for round in 0..=n_rounds {
        let (one, other): (Timed, Timed) = if round % 2 == 0 {
            let one = timed(ours(clerk, &governed)).await?;
            (one, timed(ours(author, &by_hand)).await?)
        } else {
            let other = timed(ours(author, &by_hand)).await?;
            (timed(ours(clerk, &governed)).await?, other)
        };
        ensure!(one.answer.agrees_with(&other.answer), "the run is void: `EXISTS` is not the semi-join");
        ensure!(!one.answer.agrees_with(&all.answer), "the run is void: `EXISTS` hides nothing");
        if round > 0 {
            exists.push(one.ms);
            semijoin.push(other.ms);
        }
    }
    Ok((exists, semijoin))
}

struct Read {
    n_bytes: f64,
    answer: crate::answer::Answer,
}

/// The bytes that the process reads for a query, from files of whatever kind; the least of the rounds counts.
async fn bytes(session: &Arc<dyn QuerySession>, text: &str, n_rounds: usize) -> Result<Read> {
    let mut least: Option<Read> = None;
    for _ in 0..=n_rounds {
        let before = read_so_far()?;
        let answer = timed(ours(session, text)).await?.answer;
        // The look at the counter is counted by it.
        let after = read_so_far()?;
        let own = read_so_far()? - after;
        let n_bytes = (after - before - own).max(0.0);
        if least.as_ref().is_none_or(|least| n_bytes < least.n_bytes) {
            least = Some(Read { n_bytes, answer });
        }
    }
    least.context("nothing was read")
}

fn read_so_far() -> Result<f64> {
    let counters = std::fs::read_to_string("/proc/self/io").context("the system counts no reads")?;
    let line = counters.lines().find_map(|line| line.strip_prefix("rchar:"));
    Ok(line.context("the system counts no reads")?.trim().parse()?)
}

impl Beyond {
    pub(crate) fn sums(&self) -> Vec<(String, f64, String)> {
        let exists = median(self.exists_ms.clone()).zip(median(self.semijoin_ms.clone()));
        let (governed, by_hand) = self.sorted_bytes;
        let mut sums: Vec<(&str, f64, &str)> = Vec::new();
        sums.extend(exists.map(|(exists, semijoin)| {
            let meaning = "a row filter with `EXISTS` over the semi-join typed in; goal: at most 1.10";
            ("exists_over_semijoin", exists / semijoin, meaning)
        }));
        sums.extend([
            (
                "bytes_ratio_sorted",
                governed / by_hand,
                "bytes read of a table sorted by the filter's column, with the policy over by hand; goal: 1.00",
            ),
            (
                "bytes_sorted_over_whole",
                governed / self.whole_bytes,
                "the same bytes over those of the query without a filter",
            ),
            (
                "deny_all_bytes_over_whole",
                self.denied_bytes / self.whole_bytes,
                "bytes read by a user whose filter hides every row, the catalog's own included; goal: 0.00",
            ),
        ]);
        sums.into_iter().map(|(name, value, meaning)| (name.to_owned(), value, meaning.to_owned())).collect()
    }
}
