//! The suite: worlds of four sizes for our own engine, and one that the peers can express.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail};
use bench_report::{Busy, Machine, Report, Watch};
use policy::edit::Change;
use policy::model::{Access, PolicyId, State, Version};
use policy::{Membership, Snapshot};
use serde_json::{Map, Value, json};
use stdx::{Clock, SystemClock};

use crate::contenders::Contender;
use crate::figures::{self, Measured, Size};
use crate::measure::{Times, agree, rounds};
use crate::ours::{Ours, memberships};
use crate::ranger;
use govgen::{Asked, Mix, SERVICE, Shape, World, requests};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    name: &'static str,
    sizes: &'static [u32],
    /// Policies of the world that peers are asked about.
    n_exact: u32,
    n_requests: usize,
    n_rounds: usize,
    n_tagged: u32,
}

impl Form {
    pub(crate) const FULL: Self = Self {
        name: "full",
        sizes: &[1_000, 10_000, 100_000, 1_000_000],
        n_exact: 100_000,
        n_requests: 5_000,
        n_rounds: 20,
        n_tagged: 629_000,
    };
    pub(crate) const QUICK: Self = Self {
        name: "quick",
        sizes: &[1_000, 10_000, 100_000],
        n_exact: 10_000,
        n_requests: 5_000,
        n_rounds: 3,
        n_tagged: 50_000,
    };

    fn command(self) -> String {
        let quick = if self.name == Self::QUICK.name { " --quick" } else { "" };
        format!("cargo xtask bench decide{quick}")
    }
}

const SEED: u64 = 20_261_130;
/// Single-policy edits that are timed for each size.
const N_DELTAS: usize = 9;

/// A world that our engine is ready to be asked about.
struct Ready {
    world_size: u32,
    snapshot: Snapshot,
    asked: Vec<Asked>,
    who: BTreeMap<String, Membership>,
    size: Size,
}

/// Measures; answers that differ make the run void, and nothing is told of its figures.
///
/// # Errors
/// Differences, or an engine that fails.
pub(crate) fn run(form: Form) -> Result<Report> {
    let began = SystemClock.now().to_rfc3339();
    let load_before = bench_report::load();
    let mut ready = form.sizes.iter().map(|n| prepare(form, *n)).collect::<Result<Vec<_>>>()?;
    eprintln!("asking…");
    let mut contenders = ours(&ready)?;
    for contender in &mut contenders {
        contender.ask_all()?;
    }
    let times = rounds(&mut contenders, form.n_rounds)?;
    drop(contenders);
    for (ready, times) in ready.iter_mut().zip(times) {
        ready.size.times = times;
        ready.size.deltas_us = deltas(&ready.snapshot)?;
    }
    let sizes: Vec<Size> = ready.into_iter().map(|ready| ready.size).collect();
    let (peers, checksum) = peers(form)?;
    let (second, second_checksum) = second(form)?;
    let above_tags = above_tags(form)?;
    let measured =
        Measured { sizes, peers, second, n_exact: form.n_exact, n_tagged: form.n_tagged, above_tags };
    Ok(Report {
        suite: "decide",
        title: "Policy decisions".to_owned(),
        began,
        command: form.command(),
        machine: Machine::look(),
        remarks: remarks(form, load_before),
        load: (load_before, bench_report::load()),
        versions: versions(),
        settings: settings(form)?,
        figures: figures::figures(&measured),
        details: details(&measured, [checksum, second_checksum]),
        grid: figures::grid(&measured),
        sums: figures::sums(&measured),
    })
}

fn prepare(form: Form, n_policies: u32) -> Result<Ready> {
    eprintln!("{n_policies} policies…");
    let world = World::new(Shape::mixed(n_policies), SEED);
    let asked = requests(&world, Mix::All, form.n_requests, SEED + 1);
    let state = world.state;
    // A million policies of JSON would only say the same at greater length.
    let from_json = if n_policies <= 100_000 { Some(build_from_json(&state)?) } else { None };
    let mut without = state.clone();
    without.policies.clear();
    let (_, bytes_without, _) = build(without)?;
    let (snapshot, bytes, build_s) = build(state)?;
    let bytes = (bytes - bytes_without) / f64::from(n_policies);
    let who = memberships(&snapshot, &asked);
    let mut size = Size { n_policies, build_s, bytes_per_policy: bytes, ..Size::default() };
    if let Some((seconds, other)) = from_json {
        size.build_from_json_s = Some(seconds);
        let mut both: [Box<dyn Contender + '_>; 2] = [
            Box::new(Ours::new("built from the model", &snapshot, &asked, &who)?),
            Box::new(Ours::new("built from JSON", &other, &asked, &who)?),
        ];
        agree(&mut both)?;
    }
    Ok(Ready { world_size: n_policies, snapshot, asked, who, size })
}

/// The snapshot, the bytes of memory that it holds beside the state, and how many seconds it took.
fn build(state: State) -> Result<(Snapshot, f64, f64)> {
    let mut built = None;
    let mut seconds = 0.0;
    let memory = allocation_counter::measure(|| {
        let busy = Busy::start();
        built = Some(Snapshot::build(state));
        seconds = busy.nanos() as f64 / 1e9;
    });
    let snapshot = built.ok_or_else(|| anyhow!("nothing was built"))?;
    let snapshot = snapshot.map_err(|faults| anyhow!("{faults:?}")).context("the generated policies")?;
    Ok((snapshot, memory.bytes_current as f64, seconds))
}

/// How long it took from the text, and what came of it.
fn build_from_json(state: &State) -> Result<(f64, Snapshot)> {
    let text = ranger::text(state)?;
    let mut rest = state.clone();
    rest.policies.clear();
    let busy = Busy::start();
    let snapshot = Snapshot::build(ranger::read(&text, rest)?).map_err(|faults| anyhow!("{faults:?}"))?;
    Ok((busy.nanos() as f64 / 1e9, snapshot))
}

fn ours(ready: &[Ready]) -> Result<Vec<Box<dyn Contender + '_>>> {
    let mut all: Vec<Box<dyn Contender + '_>> = Vec::new();
    for ready in ready {
        let name = format!("ours, {} policies", ready.world_size);
        all.push(Box::new(Ours::new(name, &ready.snapshot, &ready.asked, &ready.who)?));
    }
    Ok(all)
}

/// Changes one policy after the other, and says how many microseconds each took.
fn deltas(snapshot: &Snapshot) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    let mut now = snapshot.clone();
    for nth in 0..N_DELTAS {
        let id = PolicyId(i64::try_from(nth)? * 97 + 1);
        let Some(mut policy) = now.state().policies.get(&id).cloned() else { bail!("no policy {}", id.0) };
        policy.version += 1;
        if let Some(item) = policy.items.first_mut() {
            item.accesses.push(Access::new("lock"));
        }
        let change = Change { put_policies: vec![policy], ..Change::default() };
        let version = Version(now.version().0 + 1);
        let watch = Watch::start();
        let next = now.apply(&change, version).map_err(|faults| anyhow!("{faults:?}"))?;
        times.push(watch.nanos() as f64 / 1_000.0);
        now = next;
    }
    Ok(times)
}

/// Times of requests for whole databases, below which columns carry tags.
fn above_tags(form: Form) -> Result<Times> {
    eprintln!("{} tagged resources…", form.n_tagged);
    let world = World::new(Shape::mixed(10_000).with_tagged(form.n_tagged), SEED);
    let asked = requests(&world, Mix::Databases, form.n_requests / 10, SEED + 3);
    let snapshot = Snapshot::build(world.state).map_err(|faults| anyhow!("{faults:?}"))?;
    let who = memberships(&snapshot, &asked);
    let mut ours: [Box<dyn Contender + '_>; 1] =
        [Box::new(Ours::new("above tags", &snapshot, &asked, &who)?)];
    let times = rounds(&mut ours, form.n_rounds.min(5))?;
    times.into_iter().next().context("nobody was asked")
}

/// Times of the peers and of ours beside them.
#[cfg(feature = "peers")]
fn peers(form: Form) -> Result<(Vec<(String, Times)>, String)> {
    use crate::peers::{Casbin, Cedar, Regorus, Slices};

    eprintln!("peers…");
    let world = World::new(Shape::exact(form.n_exact), SEED);
    let asked = requests(&world, Mix::Tables, form.n_requests, SEED + 2);
    let state: State = world.state;
    let snapshot = Snapshot::build(state.clone()).map_err(|faults| anyhow!("{faults:?}"))?;
    let who = memberships(&snapshot, &asked);
    let few = 2_000_000 / form.n_exact as usize;
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Ours::new("ours", &snapshot, &asked, &who)?),
        Box::new(Cedar::new(&state, &asked, Slices::ByTable, form.n_requests)?),
        Box::new(Cedar::new(&state, &asked, Slices::One, few / 4)?),
        Box::new(Casbin::new(&state, &asked, few.min(20))?),
        Box::new(Regorus::new(&state, &snapshot, &asked, form.n_requests / 10)?),
    ];
    let checksum = agree(&mut contenders)?;
    let names: Vec<String> = contenders.iter().map(|contender| contender.name().to_owned()).collect();
    let times = rounds(&mut contenders, form.n_rounds.min(5))?;
    Ok((names.into_iter().zip(times).collect(), checksum))
}

/// Policies of the world in which our second evaluator is asked about everything that there is.
#[cfg(feature = "peers")]
const N_SECOND: u32 = 1_000;
/// What it has the time to answer in a round.
#[cfg(feature = "peers")]
const N_SECOND_REQUESTS: usize = 10;

/// Times of ours, and of our second evaluator beside it.
#[cfg(feature = "peers")]
fn second(form: Form) -> Result<(Vec<(String, Times)>, String)> {
    use crate::peers::Obvious;

    eprintln!("our second evaluator…");
    let world = World::new(Shape::mixed(N_SECOND), SEED);
    let mut asked = requests(&world, Mix::All, form.n_requests, SEED + 1);
    asked.truncate(N_SECOND_REQUESTS);
    let snapshot = Snapshot::build(world.state.clone()).map_err(|faults| anyhow!("{faults:?}"))?;
    let who = memberships(&snapshot, &asked);
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Ours::new("ours", &snapshot, &asked, &who)?),
        Box::new(Obvious::new(&world.state, &asked, &who, N_SECOND_REQUESTS)?),
    ];
    let checksum = agree(&mut contenders)?;
    let names: Vec<String> = contenders.iter().map(|contender| contender.name().to_owned()).collect();
    let times = rounds(&mut contenders, 1)?;
    Ok((names.into_iter().zip(times).collect(), checksum))
}

#[cfg(not(feature = "peers"))]
fn second(_form: Form) -> Result<(Vec<(String, Times)>, String)> {
    Ok((Vec::new(), String::new()))
}

#[cfg(not(feature = "peers"))]
fn peers(form: Form) -> Result<(Vec<(String, Times)>, String)> {
    let world = World::new(Shape::exact(form.n_exact), SEED);
    let asked = requests(&world, Mix::Tables, form.n_requests, SEED + 2);
    let snapshot = Snapshot::build(world.state).map_err(|faults| anyhow!("{faults:?}"))?;
    let who = memberships(&snapshot, &asked);
    let mut contenders: Vec<Box<dyn Contender + '_>> =
        vec![Box::new(Ours::new("ours", &snapshot, &asked, &who)?)];
    let checksum = agree(&mut contenders)?;
    let times = rounds(&mut contenders, form.n_rounds.min(5))?;
    Ok((vec![("ours".to_owned(), times.into_iter().next().unwrap_or_default())], checksum))
}

fn details(measured: &Measured, [peers, second]: [String; 2]) -> Value {
    let by_size: Map<String, Value> = measured
        .sizes
        .iter()
        .map(|size| {
            let detail = json!({
                "p50_ns": size.times.quantile(0.5),
                "p99_ns": size.times.quantile(0.99),
                "decisions_per_s": size.times.per_second().round(),
                "build_from_state_s": size.build_s,
                "delta_us": bench_report::median(&size.deltas_us),
                "bytes_per_policy": size.bytes_per_policy.round(),
            });
            (size.n_policies.to_string(), detail)
        })
        .collect();
    json!({ "sizes": by_size, "checksum_of_peers": peers, "checksum_of_second_evaluator": second })
}

fn versions() -> Map<String, Value> {
    let peers: &[(&str, &str)] = if cfg!(feature = "peers") {
        &[("cedar-policy", "4.14"), ("casbin", "2.20"), ("regorus", "0.14")]
    } else {
        &[]
    };
    bench_report::versions(peers)
}

fn settings(form: Form) -> Result<Map<String, Value>> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let Value::Object(settings) = json!({
        "form": form.name,
        "profile": profile,
        "service": SERVICE,
        "seed": SEED,
        "requests": form.n_requests,
        "rounds": form.n_rounds,
        "tagged_resources": form.n_tagged,
        "threads": 1,
        "glibc_tunables": std::env::var("GLIBC_TUNABLES").unwrap_or_default(),
    }) else {
        bail!("the settings are a map");
    };
    Ok(settings)
}

fn remarks(form: Form, load: Option<f64>) -> Vec<String> {
    let mut remarks = Vec::new();
    if cfg!(debug_assertions) {
        remarks.push("This is a build without optimization: its figures say nothing of speed.".to_owned());
    }
    if form.name == Form::QUICK.name {
        remarks.push("A quick run is too short for its figures to be quoted.".to_owned());
    }
    if !cfg!(feature = "peers") {
        remarks.push("The peers were not built in.".to_owned());
    }
    if load.is_some_and(|load| load > 0.5) {
        remarks.push("Other work ran on the machine, so read the ratios, and not the times.".to_owned());
    }
    remarks
}

/// How often all requests are asked for a profiler.
const N_SPINS: usize = 20;

/// Asks worlds over and over, so that a profiler has something to look at.
///
/// # Errors
/// The engine fails.
pub(crate) fn spin(sizes: &[u32], n_requests: usize) -> Result<()> {
    let form = Form { n_requests, ..Form::QUICK };
    let ready = sizes.iter().map(|n| prepare(form, *n)).collect::<Result<Vec<_>>>()?;
    let mut contenders = ours(&ready)?;
    for (times, contender) in rounds(&mut contenders, N_SPINS)?.iter().zip(&contenders) {
        let (name, mean, median) = (contender.name(), times.mean(), times.quantile(0.5));
        println!("{name}: {mean:.0} ns a decision, half of all within {median:.0}");
    }
    Ok(())
}

/// Asks a small world once. What a counter of instructions is to look at stands in [`ask_counted`].
///
/// # Errors
/// The engine fails.
pub(crate) fn count() -> Result<()> {
    let shape = Shape { n_users: 300, n_groups: 50, n_roles: 30, n_databases: 100, ..Shape::mixed(500) };
    let world = World::new(shape.with_tagged(1_000), SEED);
    let asked = requests(&world, Mix::All, 500, SEED + 1);
    let snapshot = Snapshot::build(world.state).map_err(|faults| anyhow!("{faults:?}"))?;
    let who = memberships(&snapshot, &asked);
    let mut ours = Ours::new("ours", &snapshot, &asked, &who)?;
    ask_counted(&mut ours)?;
    println!("decisions: {}", ours.n_requests());
    Ok(())
}

/// By its name the counter is switched on.
#[inline(never)]
fn ask_counted(ours: &mut Ours<'_>) -> Result<()> {
    ours.ask_all()
}
