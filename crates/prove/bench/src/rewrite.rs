//! What policies add to a statement before its first row: time of planning, changes of plans, and verdicts.

mod figures;
mod planning;
mod plans;
mod verdict;
mod wide;

use anyhow::{Context, Result, bail, ensure};
use bench_report::{Machine, Report};
use serde_json::{Map, Value, json};
use stdx::{Clock, SystemClock};

use crate::THREADS;
use crate::answer::Answer;
use crate::query::contenders::{Contenders, Side, ours};
use crate::query::data;
use crate::query::text::{Query, tpch};
use planning::{Times, planned};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    name: &'static str,
    n_rounds: usize,
    n_wide_rounds: usize,
    n_policies: u32,
    n_requests: usize,
}

/// Planning depends little on how many rows there are.
const SCALE: f64 = 0.1;
/// Rounds whose times do not count.
const N_WARM_UPS: usize = 2;

impl Form {
    pub(crate) const FULL: Self =
        Self { name: "full", n_rounds: 40, n_wide_rounds: 300, n_policies: 100_000, n_requests: 2_000 };
    pub(crate) const QUICK: Self =
        Self { name: "quick", n_rounds: 5, n_wide_rounds: 20, n_policies: 1_000, n_requests: 500 };

    fn command(self) -> String {
        let quick = if self.name == Self::QUICK.name { " --quick" } else { "" };
        format!("cargo xtask bench rewrite{quick}")
    }
}

/// What planning one query took, and whether it came to the same.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) query: Query,
    pub(crate) governed: Times,
    pub(crate) handwritten: Times,
    /// The first line in which the plans differ, from both sides, the barrier aside.
    pub(crate) difference: Option<(String, String)>,
    /// The same for what they have of operators, tables and joins.
    pub(crate) shape_difference: Option<(String, String)>,
}

pub(crate) struct Measured {
    pub(crate) queries: Vec<Planned>,
    pub(crate) wide: Vec<wide::Wide>,
    pub(crate) verdicts: verdict::Verdicts,
    pub(crate) n_policies: u32,
}

/// Measures; answers that differ make the run void, and nothing is told of its figures.
pub(crate) async fn run(form: Form) -> Result<Report> {
    let began = SystemClock.now().to_rfc3339();
    let load_before = bench_report::load();
    plans::install()?;
    let verdicts = verdict::measure(form.n_policies, form.n_requests)?;
    eprintln!("loading TPC-H at scale {SCALE}…");
    let data = data::make(SCALE).await?;
    let contenders = Contenders::start(&data, SCALE, None).await?;
    let measured = statements(form, &contenders, &data.schema).await;
    contenders.stop().await?;
    let (queries, wide) = measured?;
    let measured = Measured { queries, wide, verdicts, n_policies: form.n_policies };
    Ok(Report {
        suite: "rewrite",
        title: "Planning with policies".to_owned(),
        began,
        command: form.command(),
        machine: Machine::look(),
        remarks: bench_report::remarks(form.name == Form::QUICK.name, load_before),
        load: (load_before, bench_report::load()),
        versions: crate::query::engine_versions(),
        settings: settings(form)?,
        figures: figures::figures(&measured),
        details: figures::details(&measured),
        grid: figures::grid(&measured),
        sums: figures::sums(&measured),
    })
}

async fn statements(
    form: Form,
    contenders: &Contenders,
    schema: &str,
) -> Result<(Vec<Planned>, Vec<wide::Wide>)> {
    let mut queries = Vec::new();
    for query in tpch() {
        queries.push(compared(contenders, query).await.with_context(|| query.name())?);
    }
    for round in 0..N_WARM_UPS + form.n_rounds {
        for planned in &mut queries {
            one_round(contenders, planned, round).await.with_context(|| planned.query.name())?;
        }
    }
    eprintln!("wide tables…");
    let catalog = schema.split('.').next().unwrap_or_default();
    let (analyst, author) = (contenders.session(Side::Governed)?, contenders.session(Side::Handwritten)?);
    let wide = wide::measure(&contenders.server, catalog, analyst, author, form.n_wide_rounds).await?;
    Ok((queries, wide))
}

/// The answers, which must be equal, and the plans.
async fn compared(contenders: &Contenders, query: Query) -> Result<Planned> {
    eprintln!("{}…", query.name());
    let (mut answers, mut texts) = (Vec::new(), Vec::new());
    for side in [Side::Governed, Side::Handwritten, Side::Iceberg] {
        let (session, text) = (contenders.session(side)?, contenders.text(side, query));
        answers.push(Answer::of_batches(&ours(session, &text).await?)?);
        texts.push(plans::taken(planned(session, &text)).await?);
    }
    let ([governed, by_hand, open], [one, other, _]) = (answers.as_slice(), texts.as_slice()) else {
        bail!("somebody did not answer");
    };
    ensure!(governed.agrees_with(by_hand), "the run is void: governed is not what it is by hand");
    let is_changed = !governed.agrees_with(open);
    ensure!(
        is_changed == query.is_governed(),
        "the run is void: policies hide nothing, or what they should not"
    );
    let (one, other) = (one.as_str(), other.as_str());
    Ok(Planned {
        query,
        governed: Times::default(),
        handwritten: Times::default(),
        difference: plans::difference(&plans::in_full(one), &plans::in_full(other)),
        shape_difference: plans::difference(&plans::shape(one), &plans::shape(other)),
    })
}

/// Both sides, the order turning round with each round.
async fn one_round(contenders: &Contenders, measured: &mut Planned, round: usize) -> Result<()> {
    let mut sides = [Side::Governed, Side::Handwritten];
    if round % 2 == 1 {
        sides.reverse();
    }
    for side in sides {
        let text = contenders.text(side, measured.query);
        let us = planned(contenders.session(side)?, &text).await?;
        if round >= N_WARM_UPS {
            match side {
                Side::Governed => measured.governed.push(us),
                _ => measured.handwritten.push(us),
            }
        }
    }
    Ok(())
}

fn settings(form: Form) -> Result<Map<String, Value>> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let Value::Object(settings) = json!({
        "form": form.name,
        "profile": profile,
        "scale": SCALE,
        "rounds": form.n_rounds,
        "rounds_of_wide_tables": form.n_wide_rounds,
        "warm_ups": N_WARM_UPS,
        "policies": form.n_policies,
        "requests": form.n_requests,
        "threads": THREADS,
    }) else {
        bail!("the settings are a map");
    };
    Ok(settings)
}
