//! The tags that go along from the columns that a query reads to those that it makes.
//!
//! A column that is made of a tagged one bears its tags, whatever is done to the value; a mere count of rows does not.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{ColumnTags, TableHandle};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, DataFusionError};
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, TableScan};
use query_api::QueryError;

use super::project;
use crate::dml::ACTION;
use crate::error::{from_catalog, from_datafusion};
use crate::names::RelationName;
use crate::pg::VirtualTable;
use crate::query::Governed;
use crate::resolve::Resolved;
use crate::running::Running;
use crate::scan::GovernedProvider;

type Tags = BTreeSet<String>;
type Result<T> = std::result::Result<T, DataFusionError>;

/// The tags of a query's columns, in their order.
pub(crate) struct Carried {
    pub(crate) columns: Vec<Tags>,
}

impl Carried {
    pub(crate) fn of(governed: &Governed) -> std::result::Result<Self, QueryError> {
        let n_columns = governed.plan.schema().fields().len();
        let is_tagged = |rules: &policy::TableRules| rules.tags.iter().any(|tags| !tags.is_empty());
        if !governed.resolved.touched.iter().filter_map(|table| table.rules.as_ref()).any(is_tagged) {
            return Ok(Self { columns: vec![Tags::new(); n_columns] });
        }
        let mut lineage = Lineage { resolved: &governed.resolved, outer: Vec::new() };
        let columns = lineage.plan(&governed.plan).map_err(|error| from_datafusion(&error))?;
        Ok(Self { columns })
    }

    /// By the names that the columns get.
    pub(crate) fn named<'n>(&self, names: impl Iterator<Item = &'n String>) -> ColumnTags {
        let all = names.zip(&self.columns).filter(|(_, tags)| !tags.is_empty());
        all.map(|(name, tags)| (name.clone(), tags.clone())).collect()
    }
}

/// Tags the columns of a table into which a query's rows are about to be written, and says whether any was new: then
/// the table is not what it was when the write was planned.
pub(crate) async fn carry(
    running: &Running,
    name: &RelationName,
    table: &TableHandle,
    mut new: ColumnTags,
    text: &str,
) -> std::result::Result<bool, QueryError> {
    if new.is_empty() {
        return Ok(false);
    }
    let had = super::known(running, name, table)?.tags;
    for (field, had) in table.schema.fields().iter().zip(had) {
        if let Some(tags) = new.get_mut(field.name()) {
            tags.retain(|tag| !had.contains(tag));
        }
    }
    new.retain(|_, tags| !tags.is_empty());
    if new.is_empty() {
        return Ok(false);
    }
    let catalog = running.catalog(&name.catalog)?;
    let added = new.clone();
    catalog
        .change_column_tags(&name.namespace, &name.name, move |tags| {
            for (column, more) in &added {
                tags.entry(column.clone()).or_default().extend(more.iter().cloned());
            }
        })
        .await
        .map_err(|error| from_catalog(&error))?;
    project(running, name, table, &new).await?;
    running.audit_change("carry-tags", &name.to_string(), "table", text, None);
    Ok(true)
}

struct Lineage<'a> {
    resolved: &'a Resolved,
    /// The rows that a sub-query may refer to, the innermost last.
    outer: Vec<(DFSchemaRef, Vec<Tags>)>,
}

impl Lineage<'_> {
    fn plan(&mut self, plan: &LogicalPlan) -> Result<Vec<Tags>> {
        let n_columns = plan.schema().fields().len();
        let columns = match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan)?,
            LogicalPlan::Projection(node) => self.exprs(&node.expr, &node.input)?,
            LogicalPlan::Aggregate(node) => {
                let mut columns = self.exprs(&node.group_expr, &node.input)?;
                columns.extend(self.exprs(&node.aggr_expr, &node.input)?);
                columns
            }
            LogicalPlan::Window(node) => {
                let mut columns = self.plan(&node.input)?;
                columns.extend(self.exprs(&node.window_expr, &node.input)?);
                columns
            }
            LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Repartition(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Distinct(Distinct::All(_)) => match plan.inputs().as_slice() {
                [input] => self.plan(input)?,
                _ => self.everything(plan)?,
            },
            LogicalPlan::Join(join) => {
                let left = self.plan(&join.left)?;
                // What stands on the right may refer to the rows on the left (LATERAL).
                self.outer.push((std::sync::Arc::clone(join.left.schema()), left.clone()));
                let right = self.plan(&join.right);
                self.outer.pop();
                let right = right?;
                let (n_left, n_right) = (left.len(), right.len());
                match n_columns {
                    n if n == n_left + n_right => left.into_iter().chain(right).collect(),
                    _ if join.join_type.to_string().starts_with("Left") && n_columns >= n_left => {
                        left.into_iter().chain([Tags::new()]).take(n_columns).collect()
                    }
                    _ if join.join_type.to_string().starts_with("Right") && n_columns >= n_right => {
                        right.into_iter().chain([Tags::new()]).take(n_columns).collect()
                    }
                    _ => self.everything(plan)?,
                }
            }
            LogicalPlan::Subquery(subquery) => self.plan(&subquery.subquery)?,
            LogicalPlan::Union(union) => {
                let mut columns = vec![Tags::new(); n_columns];
                for input in &union.inputs {
                    for (column, more) in columns.iter_mut().zip(self.plan(input)?) {
                        column.extend(more);
                    }
                }
                columns
            }
            _ => self.everything(plan)?,
        };
        // What does not come out column by column is taken to be made of all of them.
        if columns.len() == n_columns { Ok(columns) } else { self.everything(plan) }
    }

    fn scan(&mut self, scan: &TableScan) -> Result<Vec<Tags>> {
        let provider = scan.source.downcast_ref::<DefaultTableSource>();
        let is_catalog =
            provider.is_some_and(|source| source.table_provider.downcast_ref::<VirtualTable>().is_some());
        if is_catalog {
            // What metadata tell of a column, such as its bounds, stands under other names than the column's.
            let touched = self.resolved.touched.iter().filter_map(|table| table.rules.as_ref());
            let all: Tags = touched.flat_map(|rules| rules.tags.iter().flatten().cloned()).collect();
            return Ok(vec![all; scan.projected_schema.fields().len()]);
        }
        let governed = provider.and_then(|source| source.table_provider.downcast_ref::<GovernedProvider>());
        let mut by_column: BTreeMap<String, Tags> = BTreeMap::new();
        match governed {
            None => {}
            Some(governed) => {
                let relation = governed.clearance().relation();
                let is_it = |name: &RelationName| {
                    name.catalog == relation.catalog
                        && name.namespace == relation.namespace
                        && name.name == relation.name
                };
                let touched = self.resolved.touched.iter().filter(|table| is_it(&table.name));
                // Several states of one table may stand under its name, each with columns of its own.
                for (column, tags) in touched
                    .filter_map(|table| Some((table, table.rules.as_ref()?)))
                    .flat_map(|(table, rules)| table.columns.iter().zip(&rules.tags))
                {
                    by_column.entry(column.clone()).or_default().extend(tags.iter().cloned());
                }
            }
        }
        // A view that is a leaf of its own passes on what its text reads.
        if let Some(view) = governed.and_then(GovernedProvider::view) {
            let columns = self.plan(view.below())?;
            for (field, tags) in scan.source.schema().fields().iter().zip(columns) {
                by_column.entry(field.name().clone()).or_default().extend(tags);
            }
        }
        let fields = scan.projected_schema.fields().iter();
        Ok(fields.map(|field| by_column.get(field.name()).cloned().unwrap_or_default()).collect())
    }

    fn exprs(&mut self, exprs: &[Expr], input: &LogicalPlan) -> Result<Vec<Tags>> {
        let inputs = self.plan(input)?;
        self.outer.push((std::sync::Arc::clone(input.schema()), inputs));
        let columns = exprs.iter().map(|expr| self.expr(expr)).collect::<Result<Vec<_>>>();
        self.outer.pop();
        columns
    }

    /// The tags of everything that stands in an expression over the innermost rows.
    fn expr(&mut self, expr: &Expr) -> Result<Tags> {
        let mut tags = Tags::new();
        let mut within: Vec<&LogicalPlan> = Vec::new();
        expr.apply(|part| {
            match part {
                // Which clause of a MERGE acts is no value that it writes.
                Expr::Column(column) if column.name == ACTION => {}
                Expr::Column(column) => {
                    if let Some((schema, inputs)) = self.outer.last()
                        && let Some(at) = schema.maybe_index_of_column(column)
                    {
                        tags.extend(inputs.get(at).into_iter().flatten().cloned());
                    }
                }
                Expr::OuterReferenceColumn(_, column) => {
                    let found = self.outer.iter().rev().find_map(|(schema, inputs)| {
                        schema.maybe_index_of_column(column).and_then(|at| inputs.get(at))
                    });
                    tags.extend(found.into_iter().flatten().cloned());
                }
                Expr::AggregateFunction(function) if function.func.name() == "count" => {
                    return Ok(TreeNodeRecursion::Jump);
                }
                Expr::WindowFunction(function) if function.fun.name() == "count" => {
                    return Ok(TreeNodeRecursion::Jump);
                }
                Expr::ScalarSubquery(subquery) => within.push(&subquery.subquery),
                Expr::Exists(exists) => within.push(&exists.subquery.subquery),
                Expr::InSubquery(query) => within.push(&query.subquery.subquery),
                Expr::SetComparison(set) => within.push(&set.subquery.subquery),
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        for plan in within {
            tags.extend(self.plan(plan)?.into_iter().flatten());
        }
        Ok(tags)
    }

    /// Every column made of every column below, and of what the sub-queries in its own expressions read.
    fn everything(&mut self, plan: &LogicalPlan) -> Result<Vec<Tags>> {
        let mut all = Tags::new();
        for input in plan.inputs() {
            all.extend(self.plan(input)?.into_iter().flatten());
        }
        for expr in plan.expressions() {
            all.extend(self.expr(&expr)?);
        }
        Ok(vec![all; plan.schema().fields().len()])
    }
}
