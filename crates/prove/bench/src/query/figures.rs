//! Medians, ratios and their geometric means.

use bench_report::Grid;

use super::beyond::Beyond;
use super::contenders::Side;
use super::rounds::{Measured, median};
use super::text::Set;

/// A ratio of two contenders that is summed up over the queries.
struct Ratio {
    name: &'static str,
    over: Side,
    under: Side,
    meaning: &'static str,
}

const RATIOS: [Ratio; 4] = [
    Ratio {
        name: "governed_over_handwritten_geomean",
        over: Side::Governed,
        under: Side::Handwritten,
        meaning: "policies against filters and masks typed in, same engine; aim: at most 1.05",
    },
    Ratio {
        name: "iceberg_over_parquet_geomean",
        over: Side::Iceberg,
        under: Side::Parquet,
        meaning: "our engine and its Iceberg scan against plain DataFusion on the same files; aim: at most 1.10",
    },
    Ratio {
        name: "governed_over_parquet_handwritten_geomean",
        over: Side::Governed,
        under: Side::ParquetHandwritten,
        meaning: "both of these at once",
    },
    Ratio {
        name: "duckdb_over_ours_geomean",
        over: Side::Duckdb,
        under: Side::Governed,
        meaning: "DuckDB with filters and masks in views against ours with policies; above 1 ours is faster",
    },
];

/// Every figure by name: the sums, then how far they moved between rounds, then the medians.
pub(crate) fn figures(all: &[Measured], beyond: &Beyond) -> Vec<(String, f64)> {
    let mut figures: Vec<(String, f64)> =
        sums(all, beyond).into_iter().map(|(name, value, _)| (name, value)).collect();
    for ratio in &RATIOS {
        let by_round = by_round(all, ratio);
        for (end, value) in [
            ("least", by_round.iter().copied().reduce(f64::min)),
            ("greatest", by_round.iter().copied().reduce(f64::max)),
        ] {
            figures.extend(value.map(|value| (format!("{}_{end}_round", ratio.name), value)));
        }
    }
    for measured in all {
        for (side, _) in measured.answers() {
            let name = format!("{}_{}_ms", measured.query.name(), side.name());
            figures.extend(measured.median_ms(side).map(|ms| (name, ms)));
        }
    }
    figures
}

/// The ratios over TPC-H, and the first one over its queries that read a governed table and over the shapes.
pub(crate) fn sums(all: &[Measured], beyond: &Beyond) -> Vec<(String, f64, String)> {
    let mut sums = Vec::new();
    for ratio in &RATIOS {
        let each = of(all, Set::Tpch).filter_map(|measured| of_medians(measured, ratio.over, ratio.under));
        sums.extend(geomean(each).map(|value| (ratio.name.to_owned(), value, ratio.meaning.to_owned())));
    }
    let governed = of(all, Set::Tpch).filter(|measured| measured.query.is_governed());
    let each = governed.filter_map(|measured| of_medians(measured, Side::Governed, Side::Handwritten));
    sums.extend(geomean(each).map(|value| {
        let meaning = "the first one over the queries alone that read a governed table";
        ("governed_over_handwritten_governed_only_geomean".to_owned(), value, meaning.to_owned())
    }));
    let each = of(all, Set::Shapes);
    let each = each.filter_map(|measured| of_medians(measured, Side::Governed, Side::Handwritten));
    sums.extend(geomean(each).map(|value| {
        let meaning = "the first one over the shapes (s1 onwards), which count for no other sum";
        ("governed_over_handwritten_shapes_geomean".to_owned(), value, meaning.to_owned())
    }));
    let each = of(all, Set::Tpch);
    let each = each.filter_map(|measured| of_medians(measured, Side::Governed, Side::Handwritten));
    sums.extend(each.reduce(f64::max).map(|value| {
        let meaning = "the first one of the query with the greatest; goal: at most 1.15";
        ("governed_over_handwritten_max".to_owned(), value, meaning.to_owned())
    }));
    sums.extend(beyond.sums());
    sums
}

fn of(all: &[Measured], set: Set) -> impl Iterator<Item = &Measured> {
    all.iter().filter(move |measured| measured.query.set == set)
}

/// The geometric mean of each round on its own.
fn by_round(all: &[Measured], ratio: &Ratio) -> Vec<f64> {
    let n_rounds = all.iter().map(Measured::n_rounds).min().unwrap_or(0);
    (0..n_rounds)
        .filter_map(|round| {
            geomean(of(all, Set::Tpch).filter_map(|measured| {
                Some(measured.time_ms(ratio.over, round)? / measured.time_ms(ratio.under, round)?)
            }))
        })
        .collect()
}

fn of_medians(measured: &Measured, over: Side, under: Side) -> Option<f64> {
    Some(measured.median_ms(over)? / measured.median_ms(under)?)
}

pub(crate) fn geomean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.map(f64::ln).collect();
    let n = u32::try_from(logarithms.len()).ok().filter(|n| *n > 0)?;
    Some((logarithms.iter().sum::<f64>() / f64::from(n)).exp())
}

pub(crate) fn grid(all: &[Measured]) -> Grid {
    let mut head =
        vec!["query", "rows", "governed ms", "by hand ms", "ratio", "iceberg ms", "parquet ms", "ratio"];
    let has_duckdb = all.iter().any(|measured| measured.answer(Side::Duckdb).is_some());
    if has_duckdb {
        head.extend(["duckdb ms", "to governed"]);
    }
    let ms = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    let ratio = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    let rows = all.iter().map(|measured| {
        let n_rows = measured.n_rows(Side::Governed).unwrap_or(0);
        let mut row = vec![measured.query.name(), n_rows.to_string()];
        for (over, under) in [(Side::Governed, Side::Handwritten), (Side::Iceberg, Side::Parquet)] {
            row.push(ms(measured.median_ms(over)));
            row.push(ms(measured.median_ms(under)));
            row.push(ratio(of_medians(measured, over, under)));
        }
        if has_duckdb {
            row.push(ms(measured.median_ms(Side::Duckdb)));
            row.push(ratio(of_medians(measured, Side::Duckdb, Side::Governed)));
        }
        row
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.extend(typical(all, has_duckdb));
    Grid { head: head.into_iter().map(str::to_owned).collect(), rows }
}

/// The last row: the median of each column of times, of TPC-H alone.
fn typical(all: &[Measured], has_duckdb: bool) -> Option<Vec<String>> {
    let column =
        |side: Side| median(of(all, Set::Tpch).filter_map(|measured| measured.median_ms(side)).collect());
    let mut row = vec!["median".to_owned(), String::new()];
    for (over, under) in [(Side::Governed, Side::Handwritten), (Side::Iceberg, Side::Parquet)] {
        row.extend([format!("{:.1}", column(over)?), format!("{:.1}", column(under)?), String::new()]);
    }
    if has_duckdb {
        row.extend([format!("{:.1}", column(Side::Duckdb)?), String::new()]);
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        let mean = geomean([0.5, 2.0, 1.0].into_iter()).unwrap();
        assert!((mean - 1.0).abs() < 1e-12);
        assert_eq!(geomean(std::iter::empty()), None);
    }
}
