//! The suite: masks of whole columns on one core, and what they are held against.

use std::collections::btree_map::Entry;

use anyhow::Result;
use bench_report::{Grid, Machine, Report, load, versions};
use masks::MaskType;
use serde_json::{Map, Value, json};
use stdx::{Clock, SystemClock};

use crate::cases::{self, Case};
use crate::columns::{BATCH, Kind};
use crate::measure::{Columns, Runner, Speeds, agree, rounds};
use crate::peers;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    name: &'static str,
    n_rows: usize,
    n_rounds: usize,
}

impl Form {
    pub(crate) const FULL: Self = Self { name: "full", n_rows: 2_000_000, n_rounds: 9 };
    pub(crate) const QUICK: Self = Self { name: "quick", n_rows: 100_000, n_rounds: 3 };

    fn command(self) -> String {
        let quick = if self.name == Self::QUICK.name { " --quick" } else { "" };
        format!("cargo xtask bench mask{quick}")
    }
}

/// What one case gave.
struct Measured {
    name: &'static str,
    column: Kind,
    ours: Speeds,
    peer: Option<Speeds>,
}

/// Measures; results that differ make the run void, and nothing is told of its figures.
///
/// # Errors
/// Differences, or a mask that fails.
pub(crate) fn run(form: Form) -> Result<Report> {
    let began = SystemClock.now().to_rfc3339();
    let load_before = load();
    let cases = cases::all()?;
    let mut columns = Columns::new();
    for case in &cases {
        if let Entry::Vacant(column) = columns.entry(case.column) {
            column.insert(case.column.batches(form.n_rows)?);
        }
    }
    eprintln!("comparing…");
    for case in &cases {
        agree(case, &columns)?;
    }
    eprintln!("timing…");
    let (measured, copied) = time(&cases, &columns, form.n_rounds)?;
    Ok(Report {
        suite: "mask",
        title: "Masks".to_owned(),
        began,
        command: form.command(),
        machine: Machine::look(),
        load: (load_before, load()),
        versions: versions(&[]),
        settings: settings(form),
        figures: sums(&measured, &copied).into_iter().map(|(name, value, _)| (name, value)).collect(),
        details: details(&measured, &copied),
        remarks: remarks(form),
        grid: grid(&measured, &copied),
        sums: sums(&measured, &copied),
    })
}

fn time(cases: &[Case], columns: &Columns, n_rounds: usize) -> Result<(Vec<Measured>, Speeds)> {
    let mut runners = Vec::new();
    for case in cases {
        runners.push(Runner::new(case.column, Box::new(|batch| Ok(case.mask.apply(batch)?))));
        if let Some(peer) = &case.peer {
            runners.push(Runner::new(case.column, Box::new(|batch| peer.mask(batch))));
        }
    }
    runners.push(Runner::new(Kind::Views, Box::new(peers::copy)));
    rounds(&mut runners, columns, n_rounds)?;
    let mut speeds = runners.into_iter().map(|runner| runner.speeds);
    let mut measured = Vec::new();
    for case in cases {
        let ours = speeds.next().unwrap_or_default();
        let peer = case.peer.as_ref().and_then(|_| speeds.next());
        measured.push(Measured { name: case.mask.name(), column: case.column, ours, peer });
    }
    Ok((measured, speeds.next().unwrap_or_default()))
}

fn sums(measured: &[Measured], copied: &Speeds) -> Vec<(String, f64, String)> {
    let of = |mask: MaskType, column: Kind| {
        let name = MaskType::ALL.iter().find(|(_, kind)| *kind == mask).map(|(name, _)| *name);
        measured.iter().find(move |one| Some(one.name) == name && one.column == column)
    };
    // In both layouts: Iceberg's texts come with offsets, and what DataFusion makes of them may be views.
    let redacting = || {
        let columns = [Kind::Views, Kind::Offsets];
        columns
            .into_iter()
            .flat_map(|column| [of(MaskType::Mask, column), of(MaskType::ShowLast4, column)])
            .flatten()
    };
    let over = |one: &Measured| one.peer.as_ref().map(|peer| one.ours.over(peer));
    let mut sums = Vec::new();
    let mut add = |name: &str, value: Option<f64>, meaning: &str| {
        sums.extend(value.map(|value| (name.to_owned(), value, meaning.to_owned())));
    };
    let slower = redacting().map(|one| one.ours.median()).min_by(f64::total_cmp);
    add(
        "mask_rows_per_s",
        slower,
        "rows a second on one core, the slowest of `MASK` and `MASK_SHOW_LAST_4` in two layouts; at least 40,000,000",
    );
    add(
        "mask_over_regex",
        redacting().filter_map(over).min_by(f64::total_cmp),
        "how much faster they are than regular expressions, the least of the four; at least 5",
    );
    let hash = of(MaskType::Hash, Kind::Views);
    add(
        "hmac_rows_per_s",
        hash.map(|one| one.ours.median()),
        "rows a second on one core, `MASK_HASH`; at least 2,000,000",
    );
    add(
        "hmac_over_plain",
        hash.and_then(over),
        "how much faster that is than the crates `hmac` and `hex` by the row",
    );
    let dictionary = of(MaskType::Mask, Kind::Dictionary).zip(of(MaskType::Mask, Kind::Repeated));
    add(
        "mask_dictionary_over_rows",
        dictionary.map(|(values, rows)| values.ours.over(&rows.ours)),
        "how much faster `MASK` is over a dictionary with 1 % distinct values than over its rows",
    );
    add(
        "copy_rows_per_s",
        Some(copied.median()),
        "rows a second of a mere copy of the column, the limit of all masks",
    );
    sums
}

fn grid(measured: &[Measured], copied: &Speeds) -> Grid {
    let head = ["mask", "column", "million rows/s", "over peer", "copy over it"];
    let million = |speeds: &Speeds| format!("{:.1}", speeds.median() / 1e6);
    let mut rows: Vec<Vec<String>> = measured
        .iter()
        .map(|one| {
            let over =
                one.peer.as_ref().map_or_else(String::new, |peer| format!("{:.1}", one.ours.over(peer)));
            let limit = if one.column == Kind::Views {
                format!("{:.1}", copied.over(&one.ours))
            } else {
                String::new()
            };
            vec![one.name.to_owned(), one.column.name().to_owned(), million(&one.ours), over, limit]
        })
        .collect();
    rows.push(vec![
        "copy".to_owned(),
        Kind::Views.name().to_owned(),
        million(copied),
        String::new(),
        String::new(),
    ]);
    Grid { head: head.map(str::to_owned).to_vec(), rows }
}

fn details(measured: &[Measured], copied: &Speeds) -> Value {
    let cases: Vec<Value> = measured
        .iter()
        .map(|one| {
            json!({
                "mask": one.name,
                "column": one.column.name(),
                "rows_per_s": one.ours.median().round(),
                "peer_rows_per_s": one.peer.as_ref().map(|peer| peer.median().round()),
            })
        })
        .collect();
    json!({ "cases": cases, "copy_rows_per_s": copied.median().round() })
}

fn settings(form: Form) -> Map<String, Value> {
    Map::from_iter([
        ("rows".to_owned(), form.n_rows.into()),
        ("rows_of_a_batch".to_owned(), BATCH.into()),
        ("rounds".to_owned(), form.n_rounds.into()),
        ("threads".to_owned(), 1.into()),
    ])
}

fn remarks(form: Form) -> Vec<String> {
    let mut remarks = Vec::new();
    if form.name == Form::QUICK.name {
        remarks.push(
            "This is the quick form: it shows that the suite works, and its figures are not kept.".to_owned(),
        );
    }
    remarks.push("Every result was equal to its peer's before anything was timed.".to_owned());
    remarks
}
