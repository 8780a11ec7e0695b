//! How long planning takes: from a statement's text to rows that only need to be asked for.

use std::sync::Arc;

use anyhow::{Result, bail};
use bench_report::Watch;
use query_api::{Outcome, QuerySession};
use tokio_util::sync::CancellationToken;

/// Times in microseconds, one for each round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn push(&mut self, us: f64) {
        self.0.push(us);
    }

    /// Other work on the machine only makes a round longer, so that the quickest counts.
    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().min_by(f64::total_cmp).unwrap_or_default()
    }

    pub(crate) fn median(&self) -> f64 {
        bench_report::median(&self.0)
    }
}

/// Plans a query in microseconds: it is parsed, judged, governed, optimized and planned physically, and no row is read.
pub(crate) async fn planned(session: &Arc<dyn QuerySession>, text: &str) -> Result<f64> {
    let watch = Watch::start();
    let outcome = session.run(text, &[], CancellationToken::new()).await?;
    let us = watch.nanos() as f64 / 1e3;
    let Outcome::Rows { rows, .. } = outcome else { bail!("a query gave no rows") };
    drop(rows);
    // What was begun for the rows hears that nobody wants them, before the next statement is timed.
    tokio::task::yield_now().await;
    Ok(us)
}
