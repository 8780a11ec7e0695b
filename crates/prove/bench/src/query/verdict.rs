//! Whether the figures may be told: whoever should give the same answer gave it, and governing changed what it should.

use super::contenders::Side;
use super::rounds::Measured;

/// Queries whose answer no filter and no mask changes, each with the reason.
const SAME_ANYWAY: [(&str, &str); 0] = [];

/// Everything that makes the run void.
pub(crate) fn faults(all: &[Measured]) -> Vec<String> {
    all.iter().flat_map(faults_of).collect()
}

fn faults_of(measured: &Measured) -> Vec<String> {
    use Side::{Duckdb, Governed, Handwritten, Iceberg, Parquet, ParquetHandwritten};
    let mut faults = Vec::new();
    for (one, other) in [(Governed, Handwritten), (Handwritten, ParquetHandwritten), (Iceberg, Parquet)] {
        if !is_equal(measured, one, other) {
            faults.push(told(measured, one, "does not equal", other));
        }
    }
    if let (Some(governed), Some(duckdb)) = (measured.answer(Governed), measured.answer(Duckdb))
        && !governed.agrees_with(duckdb)
    {
        faults.push(told(measured, Governed, "does not agree with", Duckdb));
    }
    let name = measured.query.name();
    let must_differ = measured.query.is_governed() && SAME_ANYWAY.iter().all(|(same, _)| *same != name);
    match (must_differ, is_equal(measured, Governed, Iceberg)) {
        (true, true) => faults.push(told(measured, Governed, "does not differ from", Iceberg)),
        (false, false) => faults.push(told(measured, Governed, "differs, without need, from", Iceberg)),
        _ => {}
    }
    faults
}

fn is_equal(measured: &Measured, one: Side, other: Side) -> bool {
    match (measured.answer(one), measured.answer(other)) {
        (Some(one), Some(other)) => one.hash() == other.hash(),
        _ => false,
    }
}

fn told(measured: &Measured, one: Side, how: &str, other: Side) -> String {
    let about = |side: Side| match measured.answer(side) {
        Some(answer) => format!("{} ({} rows, {})", side.name(), answer.n_rows(), answer.hash()),
        None => format!("{} (no answer)", side.name()),
    };
    format!("{}: {} {how} {}", measured.query.name(), about(one), about(other))
}
