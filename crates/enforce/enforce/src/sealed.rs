//! Sources that plan but cannot run, and the clearance that only `govern` can make (L3).

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::Result;
use datafusion_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableSource, TableType};

use crate::verdict::TableVerdict;

/// The number of a running statement; a clearance of one query is worth nothing in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryId(pub u128);

/// A table by name and by the identity that renames do not change (L7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    pub catalog: String,
    pub namespace: Vec<String>,
    pub name: String,
    pub uuid: String,
}

impl Relation {
    /// The namespace in one text, as policy resources name it.
    pub fn database(&self) -> String {
        self.namespace.join(".")
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.database(), self.name)
    }
}

/// What the caller of `govern` needs to read the raw table; `enforce` only carries it.
pub(crate) type RawHandle = Arc<dyn Any + Send + Sync>;

/// A table as name resolution gives it: it has a schema and no way to run.
///
/// INVARIANT: nothing in DataFusion can execute it, for no planner knows this type; only `govern` takes it apart.
pub struct SealedSource {
    relation: Arc<Relation>,
    governed_schema: SchemaRef,
    pub(crate) raw: RawHandle,
    pub(crate) raw_schema: SchemaRef,
    below: Option<LogicalPlan>,
}

impl SealedSource {
    /// `governed_schema` is what the verdict makes of `raw_schema`; see [`crate::governed_schema`].
    pub fn new(
        relation: Relation,
        raw_schema: SchemaRef,
        governed_schema: SchemaRef,
        raw: RawHandle,
    ) -> Self {
        Self { relation: Arc::new(relation), governed_schema, raw, raw_schema, below: None }
    }

    /// The source of a view that is a leaf of its own; what is below it is as sealed as itself.
    pub fn over(mut self, below: LogicalPlan) -> Self {
        self.below = Some(below);
        self
    }

    /// What a view reads, column by column, for those who ask where a value comes from.
    pub fn below(&self) -> Option<&LogicalPlan> {
        self.below.as_ref()
    }

    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// The columns as they are stored.
    pub fn raw_schema(&self) -> &SchemaRef {
        &self.raw_schema
    }
}

impl fmt::Debug for SealedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSource").field("relation", &self.relation).finish_non_exhaustive()
    }
}

impl TableSource for SealedSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.governed_schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()])
    }
}

/// A view's text, planned over sealed sources. The planner puts its plan in place of the scan; one that it forgets
/// to inline cannot run either.
pub struct SealedView {
    relation: Relation,
    schema: SchemaRef,
    plan: LogicalPlan,
}

impl SealedView {
    pub fn new(relation: Relation, plan: LogicalPlan) -> Self {
        let schema = Arc::new(plan.schema().as_arrow().clone());
        Self { relation, schema, plan }
    }

    pub fn relation(&self) -> &Relation {
        &self.relation
    }
}

impl fmt::Debug for SealedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedView").field("relation", &self.relation).finish_non_exhaustive()
    }
}

impl TableSource for SealedView {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn get_logical_plan(&'_ self) -> Option<Cow<'_, LogicalPlan>> {
        Some(Cow::Borrowed(&self.plan))
    }
}

/// The permission to read one relation in one query, with everything that the reading must apply.
///
/// INVARIANT: made by `govern` alone, from a sealed source and the verdict for its relation.
#[derive(Clone)]
pub struct Clearance {
    query: QueryId,
    relation: Arc<Relation>,
    raw: RawHandle,
    raw_schema: SchemaRef,
    governed_schema: SchemaRef,
    verdict: Arc<TableVerdict>,
}

impl Clearance {
    pub(crate) fn new(query: QueryId, sealed: &SealedSource, verdict: Arc<TableVerdict>) -> Self {
        Self {
            query,
            relation: Arc::clone(&sealed.relation),
            raw: Arc::clone(&sealed.raw),
            raw_schema: Arc::clone(&sealed.raw_schema),
            governed_schema: Arc::clone(&sealed.governed_schema),
            verdict,
        }
    }

    pub fn query(&self) -> QueryId {
        self.query
    }

    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// The raw table, as it was handed to [`SealedSource::new`].
    pub fn raw(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.raw
    }

    pub fn raw_schema(&self) -> &SchemaRef {
        &self.raw_schema
    }

    pub fn governed_schema(&self) -> &SchemaRef {
        &self.governed_schema
    }

    pub fn verdict(&self) -> &TableVerdict {
        &self.verdict
    }
}

impl fmt::Debug for Clearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clearance")
            .field("query", &self.query)
            .field("relation", &self.relation)
            .finish_non_exhaustive()
    }
}
