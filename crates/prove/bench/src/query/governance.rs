//! What is hidden from the analyst, as policies and as the SQL that somebody without policies would write instead.

use sluice::demo::tpch::TpchTable;

/// The user whom the policies are for.
pub(crate) const ANALYST: &str = "analyst";

/// A user who may read everything, and so has to write filters and masks by hand.
pub(crate) const AUTHOR: &str = "author";

/// A table with a row filter and masks.
pub(crate) struct Governed {
    pub(crate) table: TpchTable,
    filter: &'static str,
    masks: &'static [Mask],
}

struct Mask {
    column: &'static str,
    kind: Kind,
}

/// Masks that SQL can say exactly; the masks of our own kernels would be held against something slower than they are.
enum Kind {
    Null,
    /// `{col}` stands for the column.
    Custom(&'static str),
}

const fn custom(column: &'static str, expression: &'static str) -> Mask {
    Mask { column, kind: Kind::Custom(expression) }
}

const fn null(column: &'static str) -> Mask {
    Mask { column, kind: Kind::Null }
}

pub(crate) const GOVERNED: [Governed; 3] = [
    Governed {
        table: TpchTable::Customer,
        filter: "c_mktsegment <> 'MACHINERY'",
        masks: &[
            custom("c_address", "CASE WHEN c_nationkey < 10 THEN {col} ELSE '***' END"),
            // The country code stays: query 22 asks for it.
            custom("c_phone", "concat(substr({col}, 1, 3), 'xxx-xxx-', substr({col}, 12))"),
            custom("c_acctbal", "CASE WHEN {col} < 0 THEN CAST(0 AS DECIMAL(15, 2)) ELSE {col} END"),
            null("c_comment"),
        ],
    },
    Governed {
        table: TpchTable::Orders,
        filter: "o_orderpriority <> '5-LOW'",
        masks: &[
            custom(
                "o_totalprice",
                "CASE WHEN {col} > 400000 THEN CAST(400000 AS DECIMAL(15, 2)) ELSE {col} END",
            ),
            null("o_clerk"),
            custom("o_comment", "CASE WHEN o_orderstatus = 'P' THEN NULL ELSE {col} END"),
        ],
    },
    Governed {
        table: TpchTable::LineItem,
        filter: "l_returnflag <> 'A'",
        masks: &[
            custom(
                "l_extendedprice",
                "CASE WHEN l_linenumber <= 2 THEN CAST(0 AS DECIMAL(15, 2)) ELSE {col} END",
            ),
            custom(
                "l_tax",
                "CASE WHEN {col} > CAST(0.05 AS DECIMAL(15, 2)) THEN CAST(0.05 AS DECIMAL(15, 2)) ELSE {col} END",
            ),
            null("l_comment"),
        ],
    },
];

impl Governed {
    /// The policies as statements.
    pub(crate) fn policies(&self, schema: &str) -> Vec<String> {
        let table = self.table.name();
        let mut statements = vec![format!(
            "CREATE POLICY {table}_rows ON TABLE {schema}.{table} ROW FILTER TO USER {ANALYST} USING ({})",
            self.filter
        )];
        statements.extend(self.masks.iter().map(|mask| {
            let Mask { column, kind } = mask;
            let (kind, using) = match kind {
                Kind::Null => ("MASK_NULL", String::new()),
                Kind::Custom(expression) => ("CUSTOM", format!(" USING ({expression})")),
            };
            format!(
                "CREATE POLICY {column}_mask ON TABLE {schema}.{table} COLUMN MASK {kind} TO USER {ANALYST} \
                 ON COLUMN {column}{using}"
            )
        }));
        statements
    }

    /// The same by hand, over `source`.
    pub(crate) fn by_hand(&self, source: &str) -> String {
        let columns: Vec<String> =
            self.table.schema().fields().iter().map(|field| self.column(field.name())).collect();
        format!("SELECT {} FROM {source} WHERE {}", columns.join(", "), self.filter)
    }

    fn column(&self, column: &str) -> String {
        match self.masks.iter().find(|mask| mask.column == column).map(|mask| &mask.kind) {
            None => column.to_owned(),
            Some(Kind::Null) => format!("CAST(NULL AS VARCHAR) AS {column}"),
            Some(Kind::Custom(expression)) => format!("{} AS {column}", expression.replace("{col}", column)),
        }
    }
}

/// The governance of a table; `None` for one that is open to all.
pub(crate) fn governance_of(table: TpchTable) -> Option<&'static Governed> {
    GOVERNED.iter().find(|governed| governed.table == table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_and_hand_written_text_say_the_same() {
        let orders = governance_of(TpchTable::Orders).unwrap();
        assert_eq!(
            orders.policies("lake.tpch"),
            [
                "CREATE POLICY orders_rows ON TABLE lake.tpch.orders ROW FILTER TO USER analyst \
                 USING (o_orderpriority <> '5-LOW')",
                "CREATE POLICY o_totalprice_mask ON TABLE lake.tpch.orders COLUMN MASK CUSTOM TO USER analyst \
                 ON COLUMN o_totalprice USING (CASE WHEN {col} > 400000 THEN CAST(400000 AS DECIMAL(15, 2)) \
                 ELSE {col} END)",
                "CREATE POLICY o_clerk_mask ON TABLE lake.tpch.orders COLUMN MASK MASK_NULL TO USER analyst \
                 ON COLUMN o_clerk",
                "CREATE POLICY o_comment_mask ON TABLE lake.tpch.orders COLUMN MASK CUSTOM TO USER analyst \
                 ON COLUMN o_comment USING (CASE WHEN o_orderstatus = 'P' THEN NULL ELSE {col} END)",
            ]
        );
        assert_eq!(
            orders.by_hand("orders"),
            "SELECT o_orderkey, o_custkey, o_orderstatus, CASE WHEN o_totalprice > 400000 \
             THEN CAST(400000 AS DECIMAL(15, 2)) ELSE o_totalprice END AS o_totalprice, o_orderdate, \
             o_orderpriority, CAST(NULL AS VARCHAR) AS o_clerk, o_shippriority, CASE WHEN o_orderstatus = 'P' \
             THEN NULL ELSE o_comment END AS o_comment FROM orders WHERE o_orderpriority <> '5-LOW'"
        );
    }

    #[test]
    fn every_mask_is_on_a_column_of_its_table() {
        for governed in &GOVERNED {
            let schema = governed.table.schema();
            assert!(
                governed.masks.iter().all(|mask| schema.index_of(mask.column).is_ok()),
                "{:?}",
                governed.table
            );
        }
    }
}
