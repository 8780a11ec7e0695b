//! The TPC-H tables, generated row by row and handed on as Arrow batches.

use std::fmt::Display;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order, OrderGenerator,
    Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator, Supplier, SupplierGenerator,
};

/// One of the eight tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpchTable {
    Region,
    Nation,
    Supplier,
    Customer,
    Part,
    PartSupp,
    Orders,
    LineItem,
}

/// Batches as they are generated.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

impl TpchTable {
    pub const ALL: [Self; 8] = [
        Self::Region,
        Self::Nation,
        Self::Supplier,
        Self::Customer,
        Self::Part,
        Self::PartSupp,
        Self::Orders,
        Self::LineItem,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Region => "region",
            Self::Nation => "nation",
            Self::Supplier => "supplier",
            Self::Customer => "customer",
            Self::Part => "part",
            Self::PartSupp => "partsupp",
            Self::Orders => "orders",
            Self::LineItem => "lineitem",
        }
    }

    pub fn schema(self) -> SchemaRef {
        let columns = match self {
            Self::Region => region(&[]),
            Self::Nation => nation(&[]),
            Self::Supplier => supplier(&[]),
            Self::Customer => customer(&[]),
            Self::Part => part(&[]),
            Self::PartSupp => partsupp(&[]),
            Self::Orders => orders(&[]),
            Self::LineItem => lineitem(&[]),
        };
        schema_of(&columns)
    }

    /// The table's rows at a scale factor, at most `batch_rows` a batch.
    pub fn batches(self, scale: f64, batch_rows: usize) -> Batches {
        match self {
            Self::Region => batched(RegionGenerator::new(scale, 1, 1).iter(), region, batch_rows),
            Self::Nation => batched(NationGenerator::new(scale, 1, 1).iter(), nation, batch_rows),
            Self::Supplier => batched(SupplierGenerator::new(scale, 1, 1).iter(), supplier, batch_rows),
            Self::Customer => batched(CustomerGenerator::new(scale, 1, 1).iter(), customer, batch_rows),
            Self::Part => batched(PartGenerator::new(scale, 1, 1).iter(), part, batch_rows),
            Self::PartSupp => batched(PartSuppGenerator::new(scale, 1, 1).iter(), partsupp, batch_rows),
            Self::Orders => batched(OrderGenerator::new(scale, 1, 1).iter(), orders, batch_rows),
            Self::LineItem => batched(LineItemGenerator::new(scale, 1, 1).iter(), lineitem, batch_rows),
        }
    }
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn schema_of(columns: &Columns) -> SchemaRef {
    let fields: Vec<Field> =
        columns.iter().map(|(name, values)| Field::new(*name, values.data_type().clone(), true)).collect();
    Arc::new(Schema::new(fields))
}

fn batched<R: 'static>(
    mut rows: impl Iterator<Item = R> + Send + 'static,
    columns: fn(&[R]) -> Columns,
    batch_rows: usize,
) -> Batches {
    Box::new(std::iter::from_fn(move || {
        let chunk: Vec<R> = rows.by_ref().take(batch_rows).collect();
        if chunk.is_empty() {
            return None;
        }
        let columns = columns(&chunk);
        let schema = schema_of(&columns);
        Some(RecordBatch::try_new(schema, columns.into_iter().map(|(_, values)| values).collect()))
    }))
}

fn int64(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn int32(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn text(values: impl Iterator<Item = impl Display>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values.map(|value| value.to_string())))
}

fn date(values: impl Iterator<Item = TPCHDate>) -> ArrayRef {
    Arc::new(Date32Array::from_iter_values(values.map(|value| value.to_unix_epoch())))
}

/// Amounts in hundredths, as DECIMAL(15, 2).
fn decimal(values: impl Iterator<Item = i64>) -> ArrayRef {
    let kind = DataType::Decimal128(15, 2);
    Arc::new(Decimal128Array::from_iter_values(values.map(i128::from)).with_data_type(kind))
}

fn money(values: impl Iterator<Item = TPCHDecimal>) -> ArrayRef {
    decimal(values.map(|value| value.into_inner()))
}

fn region(rows: &[Region<'static>]) -> Columns {
    vec![
        ("r_regionkey", int64(rows.iter().map(|row| row.r_regionkey))),
        ("r_name", text(rows.iter().map(|row| row.r_name))),
        ("r_comment", text(rows.iter().map(|row| row.r_comment))),
    ]
}

fn nation(rows: &[Nation<'static>]) -> Columns {
    vec![
        ("n_nationkey", int64(rows.iter().map(|row| row.n_nationkey))),
        ("n_name", text(rows.iter().map(|row| row.n_name))),
        ("n_regionkey", int64(rows.iter().map(|row| row.n_regionkey))),
        ("n_comment", text(rows.iter().map(|row| row.n_comment))),
    ]
}

fn supplier(rows: &[Supplier]) -> Columns {
    vec![
        ("s_suppkey", int64(rows.iter().map(|row| row.s_suppkey))),
        ("s_name", text(rows.iter().map(|row| row.s_name))),
        ("s_address", text(rows.iter().map(|row| &row.s_address))),
        ("s_nationkey", int64(rows.iter().map(|row| row.s_nationkey))),
        ("s_phone", text(rows.iter().map(|row| &row.s_phone))),
        ("s_acctbal", money(rows.iter().map(|row| row.s_acctbal))),
        ("s_comment", text(rows.iter().map(|row| &row.s_comment))),
    ]
}

fn customer(rows: &[Customer<'static>]) -> Columns {
    vec![
        ("c_custkey", int64(rows.iter().map(|row| row.c_custkey))),
        ("c_name", text(rows.iter().map(|row| row.c_name))),
        ("c_address", text(rows.iter().map(|row| &row.c_address))),
        ("c_nationkey", int64(rows.iter().map(|row| row.c_nationkey))),
        ("c_phone", text(rows.iter().map(|row| &row.c_phone))),
        ("c_acctbal", money(rows.iter().map(|row| row.c_acctbal))),
        ("c_mktsegment", text(rows.iter().map(|row| row.c_mktsegment))),
        ("c_comment", text(rows.iter().map(|row| row.c_comment))),
    ]
}

fn part(rows: &[Part<'static>]) -> Columns {
    vec![
        ("p_partkey", int64(rows.iter().map(|row| row.p_partkey))),
        ("p_name", text(rows.iter().map(|row| &row.p_name))),
        ("p_mfgr", text(rows.iter().map(|row| row.p_mfgr))),
        ("p_brand", text(rows.iter().map(|row| row.p_brand))),
        ("p_type", text(rows.iter().map(|row| row.p_type))),
        ("p_size", int32(rows.iter().map(|row| row.p_size))),
        ("p_container", text(rows.iter().map(|row| row.p_container))),
        ("p_retailprice", money(rows.iter().map(|row| row.p_retailprice))),
        ("p_comment", text(rows.iter().map(|row| row.p_comment))),
    ]
}

fn partsupp(rows: &[PartSupp<'static>]) -> Columns {
    vec![
        ("ps_partkey", int64(rows.iter().map(|row| row.ps_partkey))),
        ("ps_suppkey", int64(rows.iter().map(|row| row.ps_suppkey))),
        ("ps_availqty", int32(rows.iter().map(|row| row.ps_availqty))),
        ("ps_supplycost", money(rows.iter().map(|row| row.ps_supplycost))),
        ("ps_comment", text(rows.iter().map(|row| row.ps_comment))),
    ]
}

fn orders(rows: &[Order<'static>]) -> Columns {
    vec![
        ("o_orderkey", int64(rows.iter().map(|row| row.o_orderkey))),
        ("o_custkey", int64(rows.iter().map(|row| row.o_custkey))),
        ("o_orderstatus", text(rows.iter().map(|row| row.o_orderstatus))),
        ("o_totalprice", money(rows.iter().map(|row| row.o_totalprice))),
        ("o_orderdate", date(rows.iter().map(|row| row.o_orderdate))),
        ("o_orderpriority", text(rows.iter().map(|row| row.o_orderpriority))),
        ("o_clerk", text(rows.iter().map(|row| row.o_clerk))),
        ("o_shippriority", int32(rows.iter().map(|row| row.o_shippriority))),
        ("o_comment", text(rows.iter().map(|row| row.o_comment))),
    ]
}

fn lineitem(rows: &[LineItem<'static>]) -> Columns {
    vec![
        ("l_orderkey", int64(rows.iter().map(|row| row.l_orderkey))),
        ("l_partkey", int64(rows.iter().map(|row| row.l_partkey))),
        ("l_suppkey", int64(rows.iter().map(|row| row.l_suppkey))),
        ("l_linenumber", int32(rows.iter().map(|row| row.l_linenumber))),
        ("l_quantity", decimal(rows.iter().map(|row| row.l_quantity * 100))),
        ("l_extendedprice", money(rows.iter().map(|row| row.l_extendedprice))),
        ("l_discount", money(rows.iter().map(|row| row.l_discount))),
        ("l_tax", money(rows.iter().map(|row| row.l_tax))),
        ("l_returnflag", text(rows.iter().map(|row| row.l_returnflag))),
        ("l_linestatus", text(rows.iter().map(|row| row.l_linestatus))),
        ("l_shipdate", date(rows.iter().map(|row| row.l_shipdate))),
        ("l_commitdate", date(rows.iter().map(|row| row.l_commitdate))),
        ("l_receiptdate", date(rows.iter().map(|row| row.l_receiptdate))),
        ("l_shipinstruct", text(rows.iter().map(|row| row.l_shipinstruct))),
        ("l_shipmode", text(rows.iter().map(|row| row.l_shipmode))),
        ("l_comment", text(rows.iter().map(|row| row.l_comment))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_the_rows_of_its_scale() {
        let expected = [5, 25, 100, 1500, 2000, 8000, 15000];
        for (table, expected) in TpchTable::ALL.into_iter().zip(expected) {
            let n_rows: usize = table.batches(0.01, 4096).map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(n_rows, expected, "{table:?}");
        }
    }

    #[test]
    fn batches_have_the_declared_schema() {
        for table in TpchTable::ALL {
            let batch = table.batches(0.001, 10).next().unwrap().unwrap();
            assert_eq!(batch.schema(), table.schema(), "{table:?}");
        }
    }
}
