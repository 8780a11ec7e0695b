//! Times of whole columns, in turns between us and the peers, once both have given the same.

use std::collections::BTreeMap;
use std::hint::black_box;

use anyhow::{Context, Result, bail};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;
use bench_report::Busy;

use crate::cases::Case;
use crate::columns::Kind;

/// A time of less than so many nanoseconds is mostly that of the clock, which may tick in milliseconds.
const LEAST_NANOS: u64 = 200_000_000;

/// Rows a second of each round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speeds(Vec<f64>);

impl Speeds {
    pub(crate) fn median(&self) -> f64 {
        bench_report::median(&self.0)
    }

    /// By how much this is faster than another, round by round.
    pub(crate) fn over(&self, other: &Self) -> f64 {
        bench_report::median(
            &self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>(),
        )
    }
}

/// A column's batches.
pub(crate) type Columns = BTreeMap<Kind, Vec<ArrayRef>>;

/// What is done to each batch.
pub(crate) type Work<'a> = Box<dyn Fn(&ArrayRef) -> Result<ArrayRef> + 'a>;

/// Something that is timed over a column.
pub(crate) struct Runner<'a> {
    column: Kind,
    work: Work<'a>,
    n_passes: u32,
    pub(crate) speeds: Speeds,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(column: Kind, work: Work<'a>) -> Self {
        Self { column, work, n_passes: 1, speeds: Speeds::default() }
    }

    /// Sets how often the column is masked in each round.
    fn warm_up(&mut self, columns: &Columns) -> Result<()> {
        let nanos = self.nanos(columns)?.max(1);
        self.n_passes = u32::try_from(LEAST_NANOS.div_ceil(nanos)).unwrap_or(u32::MAX);
        Ok(())
    }

    fn nanos(&self, columns: &Columns) -> Result<u64> {
        let batches = columns.get(&self.column).context("a column that was not made")?;
        let busy = Busy::start();
        for _ in 0..self.n_passes {
            for batch in batches {
                black_box((self.work)(black_box(batch))?);
            }
        }
        Ok(busy.nanos())
    }

    fn time(&mut self, columns: &Columns) -> Result<()> {
        let n_rows: usize = columns.get(&self.column).into_iter().flatten().map(|batch| batch.len()).sum();
        let nanos = self.nanos(columns)?.max(1) as f64;
        self.speeds.0.push(n_rows as f64 * f64::from(self.n_passes) * 1e9 / nanos);
        Ok(())
    }
}

/// Times all in turns; every second round goes the other way about.
pub(crate) fn rounds(runners: &mut [Runner<'_>], columns: &Columns, n_rounds: usize) -> Result<()> {
    for runner in runners.iter_mut() {
        runner.warm_up(columns)?;
    }
    for round in 0..n_rounds {
        if round % 2 == 0 {
            runners.iter_mut().try_for_each(|runner| runner.time(columns))?;
        } else {
            runners.iter_mut().rev().try_for_each(|runner| runner.time(columns))?;
        }
    }
    Ok(())
}

/// Holds what we make of a column against the peer's, or that of a dictionary against its rows'.
pub(crate) fn agree(case: &Case, columns: &Columns) -> Result<()> {
    let batches = columns.get(&case.column).context("a column that was not made")?;
    let mut n_changed = 0;
    for (nth, batch) in batches.iter().enumerate() {
        let ours = case.mask.apply(batch)?;
        if ours.data_type() != batch.data_type() {
            bail!("{:?} changes the type of {}", case.mask, case.column.name());
        }
        n_changed += usize::from(ours.as_ref() != batch.as_ref());
        let theirs = match (&case.peer, case.column) {
            (Some(peer), _) => peer.mask(batch)?,
            (None, Kind::Dictionary) => case.mask.apply(&cast(batch, &DataType::Utf8View)?)?,
            (None, _) => continue,
        };
        if cast(&ours, theirs.data_type())?.as_ref() != theirs.as_ref() {
            bail!("{:?} over {} differs from its peer in batch {nth}", case.mask, case.column.name());
        }
    }
    if n_changed < batches.len() {
        bail!("{:?} leaves a batch of {} as it was", case.mask, case.column.name());
    }
    Ok(())
}
