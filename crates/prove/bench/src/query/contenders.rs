//! Those who answer the queries: our engine as two users, plain DataFusion, and DuckDB.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use arrow::record_batch::RecordBatch;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use duckdb_peer::Duckdb;
use futures::{StreamExt, TryStreamExt};
use query_api::{Outcome, QuerySession};
use sluice::demo::tpch::TpchTable;
use sluice::server::{FIRST_ADMIN, Options, Running, Server};
use tokio_util::sync::CancellationToken;

use super::data::Data;
use super::governance::{ANALYST, AUTHOR, GOVERNED};
use super::text::{self, Query};
use crate::THREADS;
use crate::answer::Answer;

/// One way to answer a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// Our engine, for the user whom policies govern.
    Governed,
    /// Our engine, for a user without policies who types filters and masks in.
    Handwritten,
    /// Our engine without any filter or mask.
    Iceberg,
    /// Plain DataFusion on the same files, without any filter or mask.
    Parquet,
    /// Plain DataFusion on the same files, filters and masks typed in.
    ParquetHandwritten,
    /// DuckDB on the same files, filters and masks in views.
    Duckdb,
}

impl Side {
    /// As figures name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Governed => "governed",
            Self::Handwritten => "handwritten",
            Self::Iceberg => "iceberg",
            Self::Parquet => "parquet",
            Self::ParquetHandwritten => "parquet_handwritten",
            Self::Duckdb => "duckdb",
        }
    }
}

/// An answer and how long it took, the last row included.
#[derive(Clone, Debug)]
pub(crate) struct Timed {
    pub(crate) ms: f64,
    pub(crate) answer: Answer,
}

pub(crate) struct Contenders {
    pub(crate) server: Running,
    pub(crate) schema: String,
    scale: f64,
    analyst: Arc<dyn QuerySession>,
    author: Arc<dyn QuerySession>,
    parquet: SessionContext,
    duckdb: Option<Duckdb>,
}

impl Contenders {
    pub(crate) async fn start(data: &Data, scale: f64, duckdb: Option<Duckdb>) -> Result<Self> {
        let server = Server::start(&data.config, Options::default()).await?;
        let admin = server.open_embedded(FIRST_ADMIN, None).await?;
        for statement in set_up(&data.schema) {
            ours(&admin, &statement).await.with_context(|| format!("`{statement}`"))?;
        }
        Ok(Self {
            schema: data.schema.clone(),
            scale,
            analyst: server.open_embedded(ANALYST, None).await?,
            author: server.open_embedded(AUTHOR, None).await?,
            parquet: over_parquet(data).await?,
            duckdb,
            server,
        })
    }

    /// Who takes part, in the order of an even round.
    pub(crate) fn sides(&self) -> Vec<Side> {
        let mut sides =
            vec![Side::Governed, Side::Handwritten, Side::Iceberg, Side::Parquet, Side::ParquetHandwritten];
        if self.duckdb.is_some() {
            sides.push(Side::Duckdb);
        }
        sides
    }

    /// Who asks our own engine.
    pub(crate) fn session(&self, side: Side) -> Result<&Arc<dyn QuerySession>> {
        match side {
            Side::Governed => Ok(&self.analyst),
            Side::Handwritten | Side::Iceberg => Ok(&self.author),
            _ => bail!("{} is not our engine", side.name()),
        }
    }

    /// The query as this contender has to be asked it.
    pub(crate) fn text(&self, side: Side, query: Query) -> String {
        let schema = format!("{}.", self.schema);
        match side {
            Side::Governed | Side::Iceberg => query.text(self.scale, text::plain(&schema)),
            Side::Handwritten => query.text(self.scale, text::by_hand(&schema)),
            Side::Parquet => query.text(self.scale, text::plain("")),
            Side::ParquetHandwritten => query.text(self.scale, text::by_hand("")),
            Side::Duckdb => query.text(self.scale, text::plain("governed.")),
        }
    }

    pub(crate) async fn answer(&mut self, side: Side, query: Query) -> Result<Timed> {
        let text = self.text(side, query);
        let answered = match side {
            Side::Governed | Side::Handwritten | Side::Iceberg => {
                timed(ours(self.session(side)?, &text)).await
            }
            Side::Parquet | Side::ParquetHandwritten => timed(plain(&self.parquet, &text)).await,
            Side::Duckdb => match &mut self.duckdb {
                Some(duckdb) => super::duckdb::run(duckdb, &text),
                None => Err(anyhow!("duckdb is left out")),
            },
        };
        answered.with_context(|| format!("{} as {}", query.name(), side.name()))
    }

    pub(crate) async fn stop(self) -> Result<()> {
        Ok(self.server.shutdown().await?)
    }
}

fn set_up(schema: &str) -> Vec<String> {
    let mut statements = Vec::new();
    for user in [ANALYST, AUTHOR] {
        statements.push(format!("CREATE USER {user}"));
        statements.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO USER {user}"));
    }
    statements.extend(GOVERNED.iter().flat_map(|governed| governed.policies(schema)));
    statements
}

/// DataFusion as it comes, with as many partitions as ours.
async fn over_parquet(data: &Data) -> Result<SessionContext> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(THREADS));
    for (table, folder) in &data.folders {
        let options = ParquetReadOptions::default();
        context.register_parquet(table.name(), folder.display().to_string(), options).await?;
    }
    Ok(context)
}

pub(crate) async fn timed(answer: impl Future<Output = Result<Vec<RecordBatch>>>) -> Result<Timed> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let began = Instant::now();
    let batches = answer.await?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    Ok(Timed { ms, answer: Answer::of_batches(&batches)? })
}

pub(crate) async fn ours(session: &Arc<dyn QuerySession>, text: &str) -> Result<Vec<RecordBatch>> {
    match session.run(text, &[], CancellationToken::new()).await? {
        Outcome::Rows { rows, .. } => Ok(rows.batches.try_collect().await?),
        Outcome::Done { .. } => Ok(Vec::new()),
        Outcome::Empty => bail!("there is no statement"),
    }
}

async fn plain(context: &SessionContext, text: &str) -> Result<Vec<RecordBatch>> {
    let mut stream = context.sql(text).await?.execute_stream().await?;
    let mut batches = Vec::new();
    while let Some(batch) = stream.next().await {
        batches.push(batch?);
    }
    Ok(batches)
}

/// The views that DuckDB reads: the files as they are, and the governed tables by hand.
pub(crate) fn duckdb_views(data: &Data) -> Vec<String> {
    let mut statements = vec!["CREATE SCHEMA raw".to_owned(), "CREATE SCHEMA governed".to_owned()];
    for (table, folder) in &data.folders {
        let name = table.name();
        let files = folder.join("*.parquet").display().to_string().replace('\'', "''");
        statements.push(format!("CREATE VIEW raw.{name} AS SELECT * FROM read_parquet('{files}')"));
        statements.push(format!("CREATE VIEW governed.{name} AS {}", duckdb_view(*table)));
    }
    statements
}

fn duckdb_view(table: TpchTable) -> String {
    let source = format!("raw.{}", table.name());
    match super::governance::governance_of(table) {
        Some(governed) => governed.by_hand(&source),
        None => format!("SELECT * FROM {source}"),
    }
}
