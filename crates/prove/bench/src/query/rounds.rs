//! The rounds: every contender answers every query in turn, and the order turns round from one round to the next.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::contenders::{Contenders, Side};
use super::text::{Query, queries};
use crate::answer::Answer;

/// Rounds whose times do not count: they fill caches and bring the answers that are compared.
pub(crate) const N_WARM_UPS: usize = 1;

/// What one query took, and what it gave.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) query: Query,
    by_side: BTreeMap<Side, Outcome>,
}

#[derive(Clone, Debug)]
struct Outcome {
    answer: Answer,
    /// One for each round.
    times_ms: Vec<f64>,
}

impl Measured {
    pub(crate) fn answer(&self, side: Side) -> Option<&Answer> {
        self.by_side.get(&side).map(|outcome| &outcome.answer)
    }

    pub(crate) fn answers(&self) -> impl Iterator<Item = (Side, &Answer)> {
        self.by_side.iter().map(|(side, outcome)| (*side, &outcome.answer))
    }

    pub(crate) fn n_rows(&self, side: Side) -> Option<usize> {
        self.answer(side).map(Answer::n_rows)
    }

    /// The time of one round.
    pub(crate) fn time_ms(&self, side: Side, round: usize) -> Option<f64> {
        self.by_side.get(&side)?.times_ms.get(round).copied()
    }

    pub(crate) fn n_rounds(&self) -> usize {
        self.by_side.values().map(|outcome| outcome.times_ms.len()).min().unwrap_or(0)
    }

    pub(crate) fn median_ms(&self, side: Side) -> Option<f64> {
        median(self.by_side.get(&side)?.times_ms.clone())
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2).copied()?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    values.get(values.len() / 2 - 1).map(|lower| f64::midpoint(*lower, upper))
}

pub(crate) async fn run(contenders: &mut Contenders, n_rounds: usize) -> Result<Vec<Measured>> {
    let sides = contenders.sides();
    let mut all: Vec<Measured> =
        queries().map(|query| Measured { query, by_side: BTreeMap::new() }).collect();
    for round in 0..N_WARM_UPS + n_rounds {
        match round.checked_sub(N_WARM_UPS) {
            None => eprintln!("warming up…"),
            Some(round) => eprintln!("round {} of {n_rounds}…", round + 1),
        }
        for (at, measured) in all.iter_mut().enumerate() {
            for side in order(&sides, at, round) {
                let timed = contenders.answer(side, measured.query).await?;
                let outcome = measured
                    .by_side
                    .entry(side)
                    .or_insert_with(|| Outcome { answer: timed.answer.clone(), times_ms: Vec::new() });
                if round >= N_WARM_UPS {
                    outcome.times_ms.push(timed.ms);
                }
                let name = measured.query.name();
                let is_same = outcome.answer.hash() == timed.answer.hash();
                // A float sum may come out in another order of its parts.
                let is_same = is_same || outcome.answer.agrees_with(&timed.answer);
                ensure!(is_same, "{name} as {} gave two answers", side.name());
            }
        }
    }
    Ok(all)
}

/// Forth in one round and back in the next, beginning with another contender for each query, so that whoever comes
/// after another in one round comes before it as often.
fn order(sides: &[Side], at: usize, round: usize) -> Vec<Side> {
    let n = sides.len().max(1);
    let turned = sides.iter().cycle().skip(at % n).take(n).copied();
    let mut order: Vec<Side> = turned.collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn the_order_turns_with_the_query_and_runs_back_in_every_other_round() {
        let sides = [Side::Governed, Side::Handwritten, Side::Iceberg];
        assert_eq!(order(&sides, 1, 0), [Side::Handwritten, Side::Iceberg, Side::Governed]);
        assert_eq!(order(&sides, 1, 1), [Side::Governed, Side::Iceberg, Side::Handwritten]);
    }
}
