//! Known differences that tell of nothing hidden: each has a name, and is counted where it is met.

use crate::lake::Settings;

/// The name of what a statement that was made as small as can be runs into, where it is known.
///
/// A leak does not need these forms, so that it is made smaller until it is without them, and is told.
pub(crate) fn why(sql: &str, settings: Settings) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| sql.contains(word));
    let is_null_aware = has(&[" NOT IN (SELECT", " <> ALL (SELECT"]);
    if is_null_aware && settings.is_pushing {
        return Some("DataFusion: a join filter pushed into a scan takes the NULL of NOT IN away");
    }
    let makes_nulls =
        has(&[" LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", "ROLLUP (", "CUBE (", "GROUPING SETS ("]);
    let groups =
        has(&["GROUP BY", "DISTINCT", " INTERSECT ", " EXCEPT ", " UNION SELECT", "OVER (PARTITION"]);
    if makes_nulls && groups {
        return Some(
            "DataFusion: a constant column is taken for one where an outer join or a grouping set made NULLs",
        );
    }
    None
}
