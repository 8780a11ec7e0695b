//! TPC-H, governed: what filters and masks cost over writing them by hand, and what Iceberg costs over Parquet.

mod beyond;
pub(crate) mod contenders;
pub(crate) mod data;
mod duckdb;
pub(crate) mod figures;
pub(crate) mod governance;
mod rounds;
pub(crate) mod text;
mod verdict;

use anyhow::{Context, Result, bail};
use bench_report::{Machine, Report};
use duckdb_peer::Duckdb;
use serde_json::{Map, Value, json};
use stdx::{Clock, SystemClock};

use crate::THREADS;
use contenders::{Contenders, Side};
use data::Data;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    name: &'static str,
    scale: f64,
    n_rounds: usize,
}

impl Form {
    pub(crate) const FULL: Self = Self { name: "full", scale: 1.0, n_rounds: 7 };
    pub(crate) const QUICK: Self = Self { name: "quick", scale: 0.1, n_rounds: 3 };

    fn command(self, has_duckdb: bool) -> String {
        let quick = if self.name == Self::QUICK.name { " --quick" } else { "" };
        let without = if has_duckdb { "" } else { " --without duckdb" };
        format!("cargo xtask bench query{quick}{without}")
    }
}

/// Measures; answers that differ where they may not make the run void, and nothing is told of its figures.
pub(crate) async fn run(form: Form, has_duckdb: bool) -> Result<Report> {
    let began = SystemClock.now().to_rfc3339();
    let load_before = bench_report::load();
    let mut duckdb = match has_duckdb {
        false => None,
        true => Some(Duckdb::start(THREADS).context(
            "the peer duckdb did not come up; it needs python3 with venv and a package index (`--without duckdb` \
             leaves it out)",
        )?),
    };
    eprintln!("loading TPC-H at scale {}…", form.scale);
    let data = data::make(form.scale).await?;
    let (mut versions, mut settings) = (engine_versions(), settings(form, &data)?);
    if let Some(duckdb) = &mut duckdb {
        for statement in contenders::duckdb_views(&data) {
            duckdb.run(&statement)?;
        }
        versions.append(&mut duckdb.versions.clone());
        settings.append(&mut duckdb.settings.clone());
    }
    let mut contenders = Contenders::start(&data, form.scale, duckdb).await?;
    let measured = rounds::run(&mut contenders, form.n_rounds).await;
    let beyond = beyond::run(&contenders, form.n_rounds).await;
    contenders.stop().await?;
    let (measured, beyond) = (measured?, beyond?);
    let faults = verdict::faults(&measured);
    if !faults.is_empty() {
        bail!("the run is void, and its figures are not told:\n  {}", faults.join("\n  "));
    }
    let load = (load_before, bench_report::load());
    let details =
        measured.iter().map(|measured| (measured.query.name(), detail(measured))).collect::<Map<_, _>>();
    Ok(Report {
        suite: "query",
        title: format!("TPC-H at scale {}, governed", form.scale),
        began,
        command: form.command(has_duckdb),
        machine: Machine::look(),
        remarks: remarks(form, has_duckdb, load_before),
        load,
        versions,
        settings,
        figures: figures::figures(&measured, &beyond),
        details: Value::Object(details),
        grid: figures::grid(&measured),
        sums: figures::sums(&measured, &beyond),
    })
}

pub(crate) fn engine_versions() -> Map<String, Value> {
    bench_report::versions(&[("datafusion", datafusion::DATAFUSION_VERSION), ("arrow", arrow::ARROW_VERSION)])
}

fn settings(form: Form, data: &Data) -> Result<Map<String, Value>> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let Value::Object(settings) = json!({
        "form": form.name,
        "profile": profile,
        "scale": form.scale,
        "rounds": form.n_rounds,
        "warm_ups": rounds::N_WARM_UPS,
        "threads": THREADS,
        "target_partitions": THREADS,
        "parquet": "zstd, 524288 rows a group",
        "parquet_bytes": data::size_bytes(data)?,
    }) else {
        bail!("the settings are a map");
    };
    Ok(settings)
}

fn detail(measured: &rounds::Measured) -> Value {
    let rows = measured.n_rows(Side::Governed);
    let hashes: Map<String, Value> =
        measured.answers().map(|(side, answer)| (side.name().to_owned(), answer.hash().into())).collect();
    json!({ "governed_rows": rows, "ungoverned_rows": measured.n_rows(Side::Iceberg), "hashes": hashes })
}

fn remarks(form: Form, has_duckdb: bool, load: Option<f64>) -> Vec<String> {
    let mut remarks = bench_report::remarks(form.name == Form::QUICK.name, load);
    if !has_duckdb {
        remarks.push("DuckDB was left out.".to_owned());
    }
    remarks
}
