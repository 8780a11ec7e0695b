//! How long gate two takes to say what a user sees of a table that she never asked about.

use anyhow::{Context, Result, anyhow, ensure};
use bench_report::Watch;
use govgen::{Mix, SERVICE, Shape, World, requests};
use policy::{ColumnName, GateTwoSettings, NO_CONTEXT, Principal, Snapshot, TableRequest};
use stdx::Timestamp;

const SEED: u64 = 20_261_201;
const N_COLUMNS: u32 = 250;
/// When the requests are made: 2026-06-01T12:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_780_315_200_000);

/// Medians in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdicts {
    /// As the engine asks, about all the columns, though one is selected.
    pub(crate) whole_us: f64,
    /// About the selected column alone.
    pub(crate) one_column_us: f64,
    /// The share of the tables of which something was hidden.
    pub(crate) hidden: f64,
}

/// Asks about `n_requests` tables, each once, so that nothing of any answer is at hand.
pub(crate) fn measure(n_policies: u32, n_requests: usize) -> Result<Verdicts> {
    eprintln!("{n_policies} policies…");
    let world = World::new(Shape { n_columns: N_COLUMNS, ..Shape::mixed(n_policies) }, SEED);
    let asked = requests(&world, Mix::All, n_requests * 2, SEED + 1);
    let snapshot = Snapshot::build(world.state).map_err(|faults| anyhow!("{faults:?}"))?;
    let columns: Vec<String> = (0..N_COLUMNS).map(|number| format!("c{number:02}")).collect();
    let columns: Vec<ColumnName<'_>> =
        columns.iter().map(|name| ColumnName { name, older: &[], field: None, tags: &[] }).collect();
    let one = columns.get(..1).context("there are no columns")?;
    let settings = GateTwoSettings::default();
    let (mut wholes, mut ones, mut n_hidden) = (Vec::new(), Vec::new(), 0);
    // Each table is asked about in one of the two ways only: the second would find the first's memory warm.
    for (nth, asked) in asked.iter().enumerate() {
        let Some(table) = asked.table.as_deref() else { continue };
        let is_whole = nth % 2 == 0;
        let watch = Watch::start();
        let who = snapshot.membership(&Principal::user(asked.user.clone()));
        let rules = snapshot.table_rules(&TableRequest {
            service: SERVICE,
            database: &asked.database,
            table,
            columns: if is_whole { &columns } else { one },
            owner: None,
            who: &who,
            now: NOW,
            client_addr: None,
            context: &NO_CONTEXT,
            settings: &settings,
        });
        let us = watch.nanos() as f64 / 1e3;
        if is_whole {
            wholes.push(us);
            let is_open = rules.filters.is_empty()
                && rules.columns.iter().all(|rule| matches!(rule, policy::ColumnRule::Raw));
            n_hidden += usize::from(!is_open);
        } else {
            ones.push(us);
        }
    }
    ensure!(n_hidden > 0, "no policy hides anything of any table");
    Ok(Verdicts {
        whole_us: bench_report::median(&wholes),
        one_column_us: bench_report::median(&ones),
        hidden: n_hidden as f64 / wholes.len() as f64,
    })
}
