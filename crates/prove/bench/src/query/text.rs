//! The 22 queries of TPC-H and a few shapes that it lacks, and their texts for each contender.

use sluice::demo::tpch::TpchTable;

use super::governance::governance_of;

/// One query, with `{table}` where it names one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    name: &'static str,
    pub(crate) set: Set,
    template: &'static str,
}

/// Which figures a query counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Tpch,
    /// What a governed scan could be slow at, each by itself.
    Shapes,
}

macro_rules! queries {
    ($set:expr, $($name:literal)*) => {
        [$(Query {
            name: $name,
            set: $set,
            template: include_str!(concat!("../../queries/", $name, ".sql")),
        }),*]
    };
}

const TPCH: [Query; 22] = queries! {
    Set::Tpch, "q01" "q02" "q03" "q04" "q05" "q06" "q07" "q08" "q09" "q10" "q11" "q12" "q13" "q14" "q15" "q16" "q17"
    "q18" "q19" "q20" "q21" "q22"
};

const SHAPES: [Query; 6] = queries! { Set::Shapes, "s1" "s2" "s3" "s4" "s5" "s6" };

/// The 22 alone.
pub(crate) fn tpch() -> impl Iterator<Item = Query> {
    TPCH.into_iter()
}

/// Every query, in the order of the report.
pub(crate) fn queries() -> impl Iterator<Item = Query> {
    TPCH.into_iter().chain(SHAPES)
}

impl Query {
    /// `q01` to `q22`, and `s1` onwards.
    pub(crate) fn name(self) -> String {
        self.name.to_owned()
    }

    /// The query over what `relation` gives for each table, with the scale's parameters.
    pub(crate) fn text(self, scale: f64, relation: impl Fn(TpchTable) -> String) -> String {
        let lines = self.template.lines().filter(|line| !line.starts_with("--"));
        let mut text = lines.collect::<Vec<_>>().join("\n");
        for table in TpchTable::ALL {
            let placeholder = format!("{{{}}}", table.name());
            if text.contains(&placeholder) {
                text = text.replace(&placeholder, &relation(table));
            }
        }
        text.replace("{fraction}", &format!("{:.10}", 0.0001 / scale))
    }

    /// Whether it reads a table that is governed.
    pub(crate) fn is_governed(self) -> bool {
        TpchTable::ALL.into_iter().any(|table| {
            governance_of(table).is_some() && self.template.contains(&format!("{{{}}}", table.name()))
        })
    }
}

/// Each table under its own name, after `prefix`.
pub(crate) fn plain(prefix: &str) -> impl Fn(TpchTable) -> String {
    move |table| format!("{prefix}{}", table.name())
}

/// Filters and masks typed in as derived tables.
pub(crate) fn by_hand(prefix: &str) -> impl Fn(TpchTable) -> String {
    move |table| {
        let source = format!("{prefix}{}", table.name());
        match governance_of(table) {
            Some(governed) => format!("({})", governed.by_hand(&source)),
            None => source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_filled_in_whole() {
        for query in queries() {
            for relation in [query.text(1.0, plain("lake.tpch.")), query.text(1.0, by_hand(""))] {
                assert!(!relation.contains(['{', '}', ';']), "{}: {relation}", query.name());
            }
        }
    }

    #[test]
    fn three_queries_read_no_governed_table() {
        let open: Vec<&str> =
            queries().filter(|query| !query.is_governed()).map(|query| query.name).collect();
        assert_eq!(open, ["q02", "q11", "q16"]);
    }

    #[test]
    fn the_fraction_follows_the_scale() {
        assert!(TPCH[10].text(1.0, plain("")).contains("* 0.0001000000"));
        assert!(TPCH[10].text(0.1, plain("")).contains("* 0.0010000000"));
    }
}
