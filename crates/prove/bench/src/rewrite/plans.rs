//! The physical plans that the engine makes, taken from what the query engine logs of them, and held against each other.

use std::sync::Mutex;

use anyhow::{Result, anyhow};
use log::{LevelFilter, Log, Metadata, Record};

/// Who logs a plan, and how its text begins. The last one of a statement is the statement's own.
const PLANNER: &str = "datafusion::physical_planner";
const OPTIMIZED: &str = "Optimized physical plan:\n";

struct Listener {
    last: Mutex<Option<String>>,
}

static LISTENER: Listener = Listener { last: Mutex::new(None) };

impl Log for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == PLANNER
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        if let (Some(plan), Ok(mut last)) = (text.strip_prefix(OPTIMIZED), self.last.lock()) {
            *last = Some(plan.to_owned());
        }
    }

    fn flush(&self) {}
}

/// To be called once in a process; nothing is listened to yet.
pub(crate) fn install() -> Result<()> {
    log::set_logger(&LISTENER).map_err(|_| anyhow!("somebody else listens to the planner"))
}

/// The plan of what is planned meanwhile.
pub(crate) async fn taken<T>(planning: impl Future<Output = Result<T>>) -> Result<String> {
    log::set_max_level(LevelFilter::Debug);
    let planned = planning.await;
    log::set_max_level(LevelFilter::Off);
    planned?;
    let mut last = LISTENER.last.lock().map_err(|_| anyhow!("the planner broke off"))?;
    last.take().ok_or_else(|| anyhow!("the planner logged no plan"))
}

/// A plan as lines, each with how deep it lies.
fn lines(plan: &str) -> impl Iterator<Item = (usize, &str)> {
    plan.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let text = line.trim_start();
        ((line.len() - text.len()) / 2, text.trim_end())
    })
}

/// The plan without the nodes that `is_left_out`; what lay below them moves up.
fn without(plan: &str, is_left_out: impl Fn(&str) -> bool, told: impl Fn(&str) -> String) -> Vec<String> {
    let mut left_out: Vec<usize> = Vec::new();
    let mut kept = Vec::new();
    for (depth, text) in lines(plan) {
        left_out.retain(|above| *above < depth);
        if is_left_out(operator(text)) {
            left_out.push(depth);
        } else {
            kept.push(format!("{:>1$}{2}", "", 2 * (depth - left_out.len()), told(text)));
        }
    }
    kept
}

fn operator(text: &str) -> &str {
    text.split([':', ' ']).next().unwrap_or_default()
}

/// Everything but the barrier.
pub(crate) fn in_full(plan: &str) -> Vec<String> {
    without(plan, |operator| operator == "BarrierExec", str::to_owned)
}

/// What the cost of a plan hangs on most: which operators run over which tables in which order, and what joins join.
/// Where filters and projections stand between them is left out.
pub(crate) fn shape(plan: &str) -> Vec<String> {
    let is_left_out = |operator: &str| {
        matches!(
            operator,
            "BarrierExec" | "FilterExec" | "ProjectionExec" | "CoalesceBatchesExec" | "CooperativeExec"
        )
    };
    without(plan, is_left_out, |text| {
        let mut told = operator(text).to_owned();
        for part in ["mode=", "join_type=", "on=[", "file_groups={"] {
            if let Some((_, after)) = text.split_once(part) {
                let end = if part.ends_with('[') || part.ends_with('{') { "]" } else { "," };
                told.push_str(&format!(
                    " {part}{}",
                    without_positions(after.split(end).next().unwrap_or_default())
                ));
            }
        }
        told
    })
}

/// Columns by name alone: `o_orderkey@3` is `o_orderkey`.
fn without_positions(text: &str) -> String {
    let mut out = String::new();
    let mut in_position = false;
    for c in text.chars() {
        in_position = c == '@' || (in_position && c.is_ascii_digit());
        if !in_position {
            out.push(c);
        }
    }
    out
}

/// The first line in which they differ, from both sides.
pub(crate) fn difference(one: &[String], other: &[String]) -> Option<(String, String)> {
    let n = one.len().max(other.len());
    (0..n).map(|at| (one.get(at), other.get(at))).find(|(one, other)| one != other).map(|(one, other)| {
        let told = |line: Option<&String>| line.map(|line| line.trim().to_owned()).unwrap_or_default();
        (told(one), told(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOVERNED: &str = "HashJoinExec: mode=CollectLeft, join_type=Inner, on=[(a@0, b@12)]\n  BarrierExec\n    \
                            DataSourceExec: file_groups={1 group: [[x]]}\n  ProjectionExec: expr=[b@1 as b]\n    \
                            DataSourceExec: file_groups={1 group: [[y]]}\n";
    const BY_HAND: &str = "HashJoinExec: mode=CollectLeft, join_type=Inner, on=[(a@0, b@1)]\n  \
                           DataSourceExec: file_groups={1 group: [[x]]}\n  \
                           DataSourceExec: file_groups={1 group: [[y]]}\n";

    #[test]
    fn what_lay_below_a_barrier_moves_up() {
        assert_eq!(
            in_full(GOVERNED),
            [
                "HashJoinExec: mode=CollectLeft, join_type=Inner, on=[(a@0, b@12)]",
                "  DataSourceExec: file_groups={1 group: [[x]]}",
                "  ProjectionExec: expr=[b@1 as b]",
                "    DataSourceExec: file_groups={1 group: [[y]]}",
            ]
        );
    }

    #[test]
    fn plans_of_one_shape_may_differ_in_projections_and_positions() {
        assert!(difference(&in_full(GOVERNED), &in_full(BY_HAND)).is_some());
        assert_eq!(difference(&shape(GOVERNED), &shape(BY_HAND)), None);
    }

    #[test]
    fn another_table_or_join_key_is_another_shape() {
        for (from, to) in [("[[y]]", "[[z]]"), ("b@1)", "c@1)"), ("Inner", "LeftSemi")] {
            assert!(difference(&shape(GOVERNED), &shape(&BY_HAND.replace(from, to))).is_some(), "{from}");
        }
    }
}
