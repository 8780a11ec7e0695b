//! Refuses a logical plan that could run anything which no verdict of this query covers (L3).

use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{DataFusionError, Result};
use datafusion_expr::{DdlStatement, LogicalPlan, Statement, TableSource};

use crate::error::{EnforceError, Refused};
use crate::sealed::{QueryId, SealedSource, SealedView};

/// What a scan's source is, as the owner of the leaf knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A governed leaf with the clearance of this query.
    Governed(QueryId),
    /// Nothing stored: a working table of a recursive query, a series, metadata already cut down to what this
    /// user may see, a file that she may read.
    Virtual,
    Unknown,
}

/// Walks the plan, sub-query plans included. Called after governing and again after optimizing.
pub fn verify_logical(
    plan: &LogicalPlan,
    query: QueryId,
    kind_of: &dyn Fn(&dyn TableSource) -> SourceKind,
) -> Result<(), EnforceError> {
    plan.apply_with_subqueries(|node| {
        verify_node(node, query, kind_of)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn verify_node(
    node: &LogicalPlan,
    query: QueryId,
    kind_of: &dyn Fn(&dyn TableSource) -> SourceKind,
) -> Result<()> {
    match node {
        LogicalPlan::TableScan(scan) => {
            let source = scan.source.as_ref();
            if source.downcast_ref::<SealedSource>().is_some()
                || source.downcast_ref::<SealedView>().is_some()
            {
                return Err(uncleared(format!("still sealed: {}", scan.table_name)));
            }
            match kind_of(source) {
                SourceKind::Governed(of) if of == query => Ok(()),
                SourceKind::Governed(_) => {
                    Err(uncleared(format!("clearance of another query: {}", scan.table_name)))
                }
                SourceKind::Virtual => Ok(()),
                SourceKind::Unknown => Err(uncleared(format!("unknown source: {}", scan.table_name))),
            }
        }
        // Relational nodes: their inputs and the plans in their expressions are walked.
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Aggregate(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Join(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::EmptyRelation(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Values(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Unnest(_)
        | LogicalPlan::RecursiveQuery(_) => Ok(()),
        // Everything below is run by the engine's own modules, never by DataFusion, so it may not be in a plan.
        LogicalPlan::Explain(_) => Err(ungovernable("EXPLAIN inside a statement")),
        LogicalPlan::Analyze(_) => Err(ungovernable("EXPLAIN ANALYZE inside a statement")),
        LogicalPlan::Extension(extension) => {
            Err(ungovernable(&format!("plan node {}", extension.node.name())))
        }
        LogicalPlan::Dml(_) => Err(ungovernable("a write inside a query")),
        LogicalPlan::Copy(_) => Err(ungovernable("COPY")),
        LogicalPlan::DescribeTable(_) => Err(ungovernable("DESCRIBE inside a statement")),
        LogicalPlan::Ddl(ddl) => Err(ungovernable(ddl_name(ddl))),
        LogicalPlan::Statement(statement) => Err(ungovernable(statement_name(statement))),
    }
}

fn ddl_name(ddl: &DdlStatement) -> &'static str {
    match ddl {
        DdlStatement::CreateExternalTable(_) => "CREATE EXTERNAL TABLE",
        DdlStatement::CreateMemoryTable(_) => "CREATE TABLE inside a statement",
        DdlStatement::CreateView(_) => "CREATE VIEW inside a statement",
        DdlStatement::CreateCatalogSchema(_) => "CREATE SCHEMA inside a statement",
        DdlStatement::CreateCatalog(_) => "CREATE CATALOG",
        DdlStatement::CreateIndex(_) => "CREATE INDEX",
        DdlStatement::DropTable(_) => "DROP TABLE inside a statement",
        DdlStatement::DropView(_) => "DROP VIEW inside a statement",
        DdlStatement::DropCatalogSchema(_) => "DROP SCHEMA inside a statement",
        DdlStatement::CreateFunction(_) => "CREATE FUNCTION",
        DdlStatement::DropFunction(_) => "DROP FUNCTION",
    }
}

fn statement_name(statement: &Statement) -> &'static str {
    match statement {
        Statement::TransactionStart(_) | Statement::TransactionEnd(_) => {
            "a transaction statement inside a query"
        }
        Statement::SetVariable(_) | Statement::ResetVariable(_) => "SET inside a query",
        Statement::Prepare(_) => "PREPARE inside a query",
        Statement::Execute(_) => "EXECUTE inside a query",
        Statement::Deallocate(_) => "DEALLOCATE inside a query",
    }
}

fn uncleared(detail: String) -> DataFusionError {
    EnforceError::Uncleared { detail: Refused(detail) }.into()
}

fn ungovernable(what: &str) -> DataFusionError {
    EnforceError::Ungovernable { what: what.to_owned() }.into()
}

#[cfg(test)]
mod tests;
