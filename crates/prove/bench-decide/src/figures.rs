//! The figures of a run, by their names, and as a table.

use bench_report::Grid;

use crate::measure::Times;

/// What one size of ours gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Size {
    pub(crate) n_policies: u32,
    pub(crate) times: Times,
    pub(crate) build_s: f64,
    pub(crate) build_from_json_s: Option<f64>,
    pub(crate) deltas_us: Vec<f64>,
    pub(crate) bytes_per_policy: f64,
}

pub(crate) struct Measured {
    pub(crate) sizes: Vec<Size>,
    /// Ours first.
    pub(crate) peers: Vec<(String, Times)>,
    /// Ours and our second evaluator, asked about everything.
    pub(crate) second: Vec<(String, Times)>,
    pub(crate) n_exact: u32,
    pub(crate) n_tagged: u32,
    pub(crate) above_tags: Times,
}

impl Measured {
    fn size(&self, n_policies: u32) -> Option<&Size> {
        self.sizes.iter().find(|size| size.n_policies == n_policies)
    }

    fn p50(&self, n_policies: u32) -> Option<f64> {
        self.size(n_policies).map(|size| size.times.quantile(0.5))
    }

    /// How often the peer's time holds ours, each by its mean: of several forms of one peer the fastest counts.
    fn over_ours(&self, peer: &str) -> Option<f64> {
        let (_, ours) = self.peers.first()?;
        let theirs =
            self.peers.iter().filter(|(name, _)| name.starts_with(peer)).map(|(_, times)| times.mean());
        Some(theirs.min_by(f64::total_cmp)? / ours.mean())
    }

    fn largest(&self) -> Option<&Size> {
        self.sizes.last()
    }
}

/// What a figure has to come to.
#[derive(Clone, Copy, Debug)]
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    fn is_reached(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    /// What is asked for, and whether the figure comes to it.
    fn verdict(self, value: f64) -> String {
        let (word, bound) = match self {
            Self::AtMost(bound) => ("at most", bound),
            Self::AtLeast(bound) => ("at least", bound),
        };
        let reached = if self.is_reached(value) { "reached" } else { "**not reached**" };
        format!("{word} {bound}: {reached}")
    }
}

/// The figures with goals: name, value if it was measured, what it is, and the goal.
type Aimed = (&'static str, Option<f64>, &'static str, Goal);

pub(crate) fn sums(measured: &Measured) -> Vec<(String, f64, String)> {
    let aimed = of_sizes(measured).into_iter().chain(of_peers(measured));
    aimed
        .filter_map(|(name, value, meaning, goal)| {
            let value = value?;
            Some((name.to_owned(), value, format!("{meaning}; {}", goal.verdict(value))))
        })
        .collect()
}

fn of_sizes(measured: &Measured) -> [Aimed; 8] {
    use Goal::{AtLeast, AtMost};
    let million = measured.size(1_000_000);
    let flatness = measured.p50(1_000_000).zip(measured.p50(1_000)).map(|(many, few)| many / few);
    [
        (
            "mixed_p50_ns_10k",
            measured.p50(10_000),
            "nanoseconds a mixed decision with 10,000 policies, half of all take less",
            AtMost(1_000.0),
        ),
        ("mixed_p50_ns_100k", measured.p50(100_000), "the same with 100,000 policies", AtMost(1_500.0)),
        ("mixed_p50_ns_1m", measured.p50(1_000_000), "the same with a million policies", AtMost(3_000.0)),
        (
            "decisions_per_s_10k",
            measured.size(10_000).map(|size| size.times.per_second()),
            "decisions a second on one core",
            AtLeast(1e6),
        ),
        (
            "flatness_1m_over_1k",
            flatness,
            "the time with a million policies over that with a thousand",
            AtMost(5.0),
        ),
        (
            "bytes_per_policy",
            measured.largest().map(|size| size.bytes_per_policy),
            "bytes of a compiled policy with its part of the index",
            AtMost(1_024.0),
        ),
        (
            "delta_us_1m",
            million.map(|size| bench_report::median(&size.deltas_us)),
            "microseconds until an edit of one policy of a million can be asked",
            AtMost(5_000.0),
        ),
        (
            "build_s_100k",
            measured.size(100_000).and_then(|size| size.build_from_json_s),
            "seconds from the Ranger JSON of 100,000 policies to the first answer",
            AtMost(5.0),
        ),
    ]
}

fn of_peers(measured: &Measured) -> [Aimed; 3] {
    use Goal::{AtLeast, AtMost};
    let over_ours = |peer| measured.over_ours(peer).filter(|_| measured.n_exact == 100_000);
    let above = (measured.n_tagged == 629_000).then(|| measured.above_tags.quantile(0.5));
    [
        (
            "cedar_over_ours_100k",
            over_ours("cedar"),
            "Cedar's time, sliced by table, over ours with 100,000 exact policies",
            AtLeast(5.0),
        ),
        ("casbin_over_ours_100k", over_ours("casbin"), "Casbin's time over ours", AtLeast(100.0)),
        (
            "above_tags_ns_629k",
            above,
            "nanoseconds for a database with tagged columns below it",
            AtMost(10_000.0),
        ),
    ]
}

pub(crate) fn figures(measured: &Measured) -> Vec<(String, f64)> {
    let mut figures: Vec<(String, f64)> =
        sums(measured).into_iter().map(|(name, value, _)| (name, value)).collect();
    for size in &measured.sizes {
        figures.push((format!("mixed_p99_ns_{}", short(size.n_policies)), size.times.quantile(0.99)));
    }
    figures
}

fn short(n: u32) -> String {
    match n {
        1_000_000.. => format!("{}m", n / 1_000_000),
        1_000.. => format!("{}k", n / 1_000),
        _ => n.to_string(),
    }
}

pub(crate) fn grid(measured: &Measured) -> Grid {
    let head =
        ["who", "p50 ns", "p99 ns", "decisions/s", "build s", "from JSON s", "delta µs", "bytes/policy"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for size in &measured.sizes {
        let mut row = times_of(format!("ours, {} policies", short(size.n_policies)), &size.times);
        row.push(format!("{:.2}", size.build_s));
        row.push(size.build_from_json_s.map_or_else(String::new, |s| format!("{s:.2}")));
        row.push(format!("{:.0}", bench_report::median(&size.deltas_us)));
        row.push(format!("{:.0}", size.bytes_per_policy));
        rows.push(row);
    }
    let mut row = times_of(format!("ours, above {} tagged columns", measured.n_tagged), &measured.above_tags);
    row.resize(head.len(), String::new());
    rows.push(row);
    for (name, times) in &measured.second {
        let mut row = times_of(format!("mixed 1k, few requests: {name}"), times);
        row.resize(head.len(), String::new());
        rows.push(row);
    }
    for (name, times) in &measured.peers {
        let mut row = times_of(format!("exact {}: {name}", short(measured.n_exact)), times);
        row.resize(head.len(), String::new());
        rows.push(row);
    }
    Grid { head: head.iter().map(|text| (*text).to_owned()).collect(), rows }
}

fn times_of(who: String, times: &Times) -> Vec<String> {
    vec![
        who,
        format!("{:.0}", times.quantile(0.5)),
        format!("{:.0}", times.quantile(0.99)),
        format!("{:.0}", times.per_second()),
    ]
}
