//! Ratios of planning times, equal plans, and verdicts, as figures.

use bench_report::Grid;
use serde_json::{Map, Value, json};

use super::{Measured, Planned};
use crate::query::figures::geomean;

/// Every figure by name: the sums, then each query's times.
pub(crate) fn figures(measured: &Measured) -> Vec<(String, f64)> {
    let mut figures: Vec<(String, f64)> =
        sums(measured).into_iter().map(|(name, value, _)| (name, value)).collect();
    for planned in &measured.queries {
        let name = planned.query.name();
        figures.push((format!("{name}_governed_planning_us"), planned.governed.least()));
        figures.push((format!("{name}_handwritten_planning_us"), planned.handwritten.least()));
    }
    figures
}

pub(crate) fn sums(measured: &Measured) -> Vec<(String, f64, String)> {
    let queries = &measured.queries;
    let ratios = || queries.iter().map(ratio);
    let is_governed = |planned: &&Planned| planned.query.is_governed();
    let n_of = |is: fn(&Planned) -> bool| queries.iter().filter(|planned| is(planned)).count() as f64;
    let mut sums: Vec<(String, f64, &str)> = Vec::new();
    for wide in &measured.wide {
        let (name, meaning) = match wide.n_tables {
            1 => ("rewrite_us_one_table", "the same where the statement reads one table alone"),
            _ => (
                "rewrite_us_per_table",
                "microseconds of planning that the policies of a table add: 16 columns, 3 masks, 1 filter; goal: at most 30",
            ),
        };
        sums.push((name.to_owned(), wide.us_per_table(), meaning));
    }
    sums.reverse();
    let mut add = |name: &str, value: Option<f64>, meaning| {
        sums.extend(value.map(|value| (name.to_owned(), value, meaning)));
    };
    add(
        "governed_over_handwritten_planning",
        geomean(ratios()),
        "planning with policies over planning with filters and masks typed in; goal: at most 1.10",
    );
    add(
        "governed_over_handwritten_planning_governed_only",
        geomean(queries.iter().filter(is_governed).map(ratio)),
        "the same over the queries alone that read a governed table",
    );
    add(
        "governed_over_handwritten_planning_median_rounds",
        geomean(queries.iter().map(|planned| planned.governed.median() / planned.handwritten.median())),
        "the same by the median of the rounds and not by the quickest",
    );
    add(
        "governed_over_handwritten_planning_max",
        ratios().reduce(f64::max),
        "of the query with the greatest",
    );
    add(
        "plans_identical",
        Some(n_of(|planned| planned.difference.is_none())),
        "of 22 queries, those planned line by line as by hand, the barrier aside",
    );
    add(
        "plans_of_one_shape",
        Some(n_of(|planned| planned.shape_difference.is_none())),
        "of 22 queries, those with the same operators, tables and joins in the same order as by hand",
    );
    let is_whole = measured.n_policies == 100_000;
    add(
        "cold_verdict_us_100k",
        is_whole.then_some(measured.verdicts.whole_us),
        "microseconds to judge a table of 250 columns for the first time, with 100,000 policies, as the engine asks; goal: at most 100",
    );
    add(
        "cold_verdict_one_column_us_100k",
        is_whole.then_some(measured.verdicts.one_column_us),
        "the same about one column alone, which the engine does not ask",
    );
    sums.into_iter().map(|(name, value, meaning)| (name, value, meaning.to_owned())).collect()
}

fn ratio(planned: &Planned) -> f64 {
    planned.governed.least() / planned.handwritten.least()
}

/// Where plans first differ, and how much the verdicts hid.
pub(crate) fn details(measured: &Measured) -> Value {
    let told = |difference: &Option<(String, String)>| {
        difference.as_ref().map(|(governed, by_hand)| json!({ "governed": governed, "by_hand": by_hand }))
    };
    let mut details: Map<String, Value> = measured
        .queries
        .iter()
        .map(|planned| {
            let both = json!({ "plan": told(&planned.difference), "shape": told(&planned.shape_difference) });
            (planned.query.name(), both)
        })
        .collect();
    details.insert("verdicts_that_hide".to_owned(), json!(measured.verdicts.hidden));
    Value::Object(details)
}

pub(crate) fn grid(measured: &Measured) -> Grid {
    let head = ["planning", "governed µs", "by hand µs", "ratio", "plan", "shape"];
    let same = |difference: &Option<_>| if difference.is_none() { "same" } else { "differs" }.to_owned();
    let mut rows: Vec<Vec<String>> = measured
        .queries
        .iter()
        .map(|planned| {
            vec![
                planned.query.name(),
                format!("{:.0}", planned.governed.least()),
                format!("{:.0}", planned.handwritten.least()),
                format!("{:.2}", ratio(planned)),
                same(&planned.difference),
                same(&planned.shape_difference),
            ]
        })
        .collect();
    rows.extend(measured.wide.iter().map(|wide| {
        let (governed, ungoverned) = (wide.governed.least(), wide.ungoverned.least());
        let name = match wide.n_tables {
            1 => "one wide table, without policies in the place of by hand".to_owned(),
            n => format!("{n} wide tables, without policies in the place of by hand"),
        };
        let ratio = format!("{:.2}", governed / ungoverned);
        vec![name, format!("{governed:.0}"), format!("{ungoverned:.0}"), ratio, String::new(), String::new()]
    }));
    Grid { head: head.iter().map(|text| (*text).to_owned()).collect(), rows }
}
