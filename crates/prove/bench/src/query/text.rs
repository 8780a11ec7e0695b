//! The 22 queries of TPC-H, and their texts for each contender.

use sluice::demo::tpch::TpchTable;

use super::governance::governance_of;

/// One query, with `{table}` where it names one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) number: u8,
    template: &'static str,
}

macro_rules! queries {
    ($($number:literal: $file:literal,)*) => {
        [$(Query { number: $number, template: include_str!(concat!("../../queries/", $file)) }),*]
    };
}

pub(crate) const QUERIES: [Query; 22] = queries! {
    1: "q01.sql", 2: "q02.sql", 3: "q03.sql", 4: "q04.sql", 5: "q05.sql", 6: "q06.sql", 7: "q07.sql",
    8: "q08.sql", 9: "q09.sql", 10: "q10.sql", 11: "q11.sql", 12: "q12.sql", 13: "q13.sql", 14: "q14.sql",
    15: "q15.sql", 16: "q16.sql", 17: "q17.sql", 18: "q18.sql", 19: "q19.sql", 20: "q20.sql", 21: "q21.sql",
    22: "q22.sql",
};

impl Query {
    /// `q01` to `q22`.
    pub(crate) fn name(self) -> String {
        format!("q{:02}", self.number)
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
        for query in QUERIES {
            for relation in [query.text(1.0, plain("lake.tpch.")), query.text(1.0, by_hand(""))] {
                assert!(!relation.contains(['{', '}', ';']), "{}: {relation}", query.name());
            }
        }
    }

    #[test]
    fn three_queries_read_no_governed_table() {
        let open: Vec<u8> =
            QUERIES.iter().filter(|query| !query.is_governed()).map(|query| query.number).collect();
        assert_eq!(open, [2, 11, 16]);
    }

    #[test]
    fn the_fraction_follows_the_scale() {
        assert!(QUERIES[10].text(1.0, plain("")).contains("* 0.0001000000"));
        assert!(QUERIES[10].text(0.1, plain("")).contains("* 0.0010000000"));
    }
}
