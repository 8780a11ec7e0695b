//! Times of many decisions, in turns between the contenders.

use std::hint::black_box;

use anyhow::{Result, bail};
use bench_report::{Busy, Watch, own_nanos};

use crate::contenders::{Answer, Contender};

/// The time of every timed call, and of all calls of untimed runs together, round by round.
///
/// What other work on the machine does to a round only makes it longer, so that the least of all rounds counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// Of every round, in ascending order.
    calls: Vec<Vec<u64>>,
    /// Nanoseconds a decision, one for each round.
    rounds: Vec<f64>,
}

impl Times {
    /// The time that this share of a round's calls does not exceed, without what the watch itself takes.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let of_round = |calls: &Vec<u64>| {
            let at = (share * calls.len().saturating_sub(1) as f64) as usize;
            calls.get(at).copied().unwrap_or_default()
        };
        let least = self.calls.iter().map(of_round).min().unwrap_or_default();
        least.saturating_sub(own_nanos()) as f64
    }

    pub(crate) fn per_second(&self) -> f64 {
        let nanos = self.mean();
        if nanos > 0.0 { 1e9 / nanos } else { 0.0 }
    }

    /// Nanoseconds a decision in the untimed runs.
    pub(crate) fn mean(&self) -> f64 {
        self.rounds.iter().copied().min_by(f64::total_cmp).unwrap_or_default()
    }
}

/// Lets each contender answer all requests that it is to be measured with, and holds the answers against the first's.
///
/// # Errors
/// An answer that differs, or an engine that fails.
pub(crate) fn agree(contenders: &mut [Box<dyn Contender + '_>]) -> Result<String> {
    let Some((first, others)) = contenders.split_first_mut() else { bail!("nobody to ask") };
    let answers: Vec<Answer> =
        (0..first.n_requests()).map(|request| first.ask(request)).collect::<Result<_>>()?;
    for other in others {
        let n = other.n_requests().min(answers.len());
        for (request, ours) in answers.iter().take(n).enumerate() {
            let theirs = other.ask(request)?;
            let is_same = if other.tells_denials() {
                theirs == *ours
            } else {
                theirs.is_allowed() == ours.is_allowed()
            };
            if !is_same {
                bail!(
                    "the run is void: `{}` answers {theirs:?} where `{}` answers {ours:?} (request {request}: {})",
                    other.name(),
                    first.name(),
                    first.describe(request)
                );
            }
        }
    }
    Ok(checksum(&answers))
}

/// Equal for equal answers.
pub(crate) fn checksum(answers: &[Answer]) -> String {
    let hash = answers.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, answer| {
        (hash ^ (*answer as u64 + 1)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Runs every contender `n_rounds` times, forwards and backwards in turns.
///
/// # Errors
/// An engine that fails.
pub(crate) fn rounds(contenders: &mut [Box<dyn Contender + '_>], n_rounds: usize) -> Result<Vec<Times>> {
    let mut times = vec![Times::default(); contenders.len()];
    for round in 0..n_rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            if let (Some(contender), Some(times)) = (contenders.get_mut(at), times.get_mut(at)) {
                one_round(contender.as_mut(), times)?;
            }
        }
    }
    Ok(times)
}

fn one_round(contender: &mut dyn Contender, times: &mut Times) -> Result<()> {
    let n = contender.n_requests();
    // What the others left in the processor's caches is no part of a decision.
    contender.ask_all()?;
    let busy = Busy::start();
    contender.ask_all()?;
    times.rounds.push(busy.nanos() as f64 / n as f64);
    let mut calls = Vec::with_capacity(n);
    contender.ask_timed(&mut calls)?;
    calls.sort_unstable();
    times.calls.push(calls);
    Ok(())
}

/// Times each call of `ask`.
pub(crate) fn timed(
    n: usize,
    calls: &mut Vec<u64>,
    mut ask: impl FnMut(usize) -> Result<Answer>,
) -> Result<()> {
    for request in 0..n {
        let watch = Watch::start();
        let answer = ask(request);
        let nanos = watch.nanos();
        black_box(answer)?;
        calls.push(nanos);
    }
    Ok(())
}
