//! Which plans the logical verifier lets through.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion_common::{DFSchemaRef, Result};
use datafusion_expr::{
    Expr, Extension, LogicalPlan, LogicalPlanBuilder, TableScan, TableSource, UserDefinedLogicalNodeCore,
    col, exists, in_subquery, lit, scalar_subquery,
};

use super::{SourceKind, verify_logical};
use crate::error::EnforceError;
use crate::sealed::{QueryId, Relation, SealedSource, SealedView};
use crate::verdict::TableVerdict;

const MINE: QueryId = QueryId(1);

/// A source whose kind the test chooses.
struct Source(SourceKind);

impl TableSource for Source {
    fn schema(&self) -> SchemaRef {
        schema()
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("c", DataType::Int64, true)]))
}

fn kind_of(source: &dyn TableSource) -> SourceKind {
    source.downcast_ref::<Source>().map_or(SourceKind::Unknown, |source| source.0)
}

fn relation() -> Relation {
    Relation {
        catalog: "lake".to_owned(),
        namespace: vec!["s".to_owned()],
        name: "secret".to_owned(),
        uuid: "u".to_owned(),
    }
}

fn sealed() -> Arc<dyn TableSource> {
    Arc::new(SealedSource::new(relation(), schema(), schema(), Arc::new(())))
}

fn scan(source: Arc<dyn TableSource>) -> LogicalPlan {
    LogicalPlan::TableScan(TableScan::try_new("secret", source, None, Vec::new(), None).unwrap())
}

fn verified(plan: &LogicalPlan) -> std::result::Result<(), EnforceError> {
    verify_logical(plan, MINE, &kind_of)
}

fn refused(plan: &LogicalPlan) {
    let error = verified(plan).expect_err(&plan.display_indent().to_string());
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn only_this_querys_clearance_and_what_stores_nothing_may_be_read() {
    assert!(verified(&scan(Arc::new(Source(SourceKind::Governed(MINE))))).is_ok());
    assert!(verified(&scan(Arc::new(Source(SourceKind::Virtual)))).is_ok());
    refused(&scan(Arc::new(Source(SourceKind::Governed(QueryId(2))))));
    refused(&scan(Arc::new(Source(SourceKind::Unknown))));
    refused(&scan(sealed()));
    let inner = scan(Arc::new(Source(SourceKind::Governed(MINE))));
    refused(&scan(Arc::new(SealedView::new(relation(), inner))));
}

/// Plans with `inner` in every place where a plan can stand.
fn around(inner: &LogicalPlan) -> Vec<LogicalPlan> {
    let values = || LogicalPlanBuilder::values(vec![vec![lit(1_i64)]]).unwrap();
    let inner = || LogicalPlanBuilder::from(inner.clone());
    let arc = || Arc::new(inner().build().unwrap());
    let built = |builder: LogicalPlanBuilder| builder.build().unwrap();
    vec![
        built(inner().filter(col("c").gt(lit(0_i64))).unwrap()),
        built(inner().project(vec![lit(1)]).unwrap()),
        built(inner().limit(0, Some(1)).unwrap()),
        built(inner().distinct().unwrap()),
        built(inner().alias("a").unwrap()),
        built(inner().sort_by(vec![col("c")]).unwrap()),
        built(values().union(inner().build().unwrap()).unwrap()),
        built(values().cross_join(inner().build().unwrap()).unwrap()),
        built(values().filter(exists(arc())).unwrap()),
        built(values().filter(in_subquery(col("column1"), arc())).unwrap()),
        built(values().project(vec![scalar_subquery(arc())]).unwrap()),
        built(values().sort_by(vec![scalar_subquery(arc())]).unwrap()),
        built(values().filter(exists(Arc::new(built(values().filter(exists(arc())).unwrap())))).unwrap()),
        built(
            LogicalPlanBuilder::from(built(values().project(vec![col("column1").alias("c")]).unwrap()))
                .to_recursive_query("r".to_owned(), inner().build().unwrap(), false)
                .unwrap(),
        ),
    ]
}

#[test]
fn a_sealed_scan_is_found_wherever_it_hides() {
    for plan in around(&scan(sealed())) {
        refused(&plan);
    }
    for plan in around(&scan(Arc::new(Source(SourceKind::Governed(MINE))))) {
        assert!(verified(&plan).is_ok(), "{}", plan.display_indent());
    }
}

#[test]
fn governing_leaves_no_sealed_scan_anywhere() {
    let verdict = Arc::new(TableVerdict::open(1, 1));
    let leaf = |clearance: crate::Clearance| -> Arc<dyn TableSource> {
        Arc::new(Source(SourceKind::Governed(clearance.query())))
    };
    for plan in around(&scan(sealed())) {
        let governed = crate::govern(plan.clone(), MINE, &|_| Some(Arc::clone(&verdict)), &leaf).unwrap();
        assert!(verified(&governed).is_ok(), "{}", governed.display_indent());
        // Without a verdict there is no plan.
        assert!(crate::govern(plan, MINE, &|_| None, &leaf).is_err());
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Unknown {
    schema: DFSchemaRef,
}

impl PartialOrd for Unknown {
    fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
        None
    }
}

impl UserDefinedLogicalNodeCore for Unknown {
    fn name(&self) -> &str {
        "Unknown"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unknown")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(Self { schema: Arc::clone(&self.schema) })
    }
}

#[test]
fn nodes_off_the_list_are_refused() {
    let inner = scan(Arc::new(Source(SourceKind::Governed(MINE))));
    let schema = Arc::clone(inner.schema());
    let extension = LogicalPlan::Extension(Extension { node: Arc::new(Unknown { schema }) });
    let explain = LogicalPlanBuilder::from(inner.clone()).explain(false, false).unwrap().build().unwrap();
    let analyze = LogicalPlanBuilder::from(inner).explain(false, true).unwrap().build().unwrap();
    for plan in [extension, explain, analyze] {
        assert!(
            matches!(verified(&plan), Err(EnforceError::Ungovernable { .. })),
            "{}",
            plan.display_indent()
        );
        // Inside another node it is refused no less.
        let above = LogicalPlanBuilder::from(plan).limit(0, Some(1)).unwrap().build().unwrap();
        assert!(verified(&above).is_err());
    }
}

#[test]
fn a_sealed_source_tells_no_value_when_it_is_printed() {
    let source = SealedSource::new(relation(), schema(), schema(), Arc::new("handle"));
    let shown = format!("{source:?}");
    assert!(!shown.contains("handle"), "{shown}");
}
