//! Whether what a statement writes was read out of a masked column of the very table that it writes into (L9).

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError, JoinType};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, TableScan};
use enforce::{ColumnVerdict, SealedSource, TableVerdict};

use super::TARGET;
use crate::resolve::{is_former_of_table, is_of_table};

type Result<T> = std::result::Result<T, DataFusionError>;

/// A table whose masked columns are looked for.
pub(crate) struct Masked<'a> {
    pub(crate) uuid: String,
    /// The names of the table's columns, in the order of the verdict.
    pub(crate) columns: Vec<&'a str>,
    pub(crate) verdict: &'a TableVerdict,
}

/// What a view reads that is a leaf of its own.
fn below(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    let LogicalPlan::TableScan(scan) = plan else { return None };
    scan.source.downcast_ref::<SealedSource>()?.below()
}

impl Masked<'_> {
    /// Whether a value over the rows of `input` is made of a masked column; what cannot be traced counts as if it were.
    pub(crate) fn is_in(&self, value: &Expr, input: &LogicalPlan) -> Result<bool> {
        self.expr(value, &[input], &mut Vec::new())
    }

    /// The same for a column of a plan.
    pub(crate) fn is_in_column(&self, plan: &LogicalPlan, column: usize) -> Result<bool> {
        self.column(plan, column, &mut Vec::new())
    }

    fn is_table(&self, plan: &LogicalPlan) -> bool {
        let LogicalPlan::TableScan(scan) = plan else { return false };
        let sealed = scan.source.downcast_ref::<SealedSource>();
        sealed.is_some_and(|sealed| {
            sealed.relation().uuid == TARGET || is_of_table(sealed.relation(), &self.uuid)
        })
    }

    /// Whether a column of a scan of the table is masked. In a former state columns had other names, so that all of
    /// them count.
    fn is_masked_in(&self, scan: &TableScan, name: &str) -> bool {
        let sealed = scan.source.downcast_ref::<SealedSource>();
        let is_past = sealed.is_some_and(|sealed| is_former_of_table(sealed.relation(), &self.uuid));
        let any_masked = self.verdict.columns.iter().any(|column| *column != ColumnVerdict::Raw);
        (is_past && any_masked) || self.is_masked(name)
    }

    fn is_masked(&self, column: &str) -> bool {
        let mut all = self.columns.iter().zip(&self.verdict.columns);
        all.any(|(name, verdict)| *name == column && *verdict != ColumnVerdict::Raw)
    }

    fn expr<'p>(
        &self,
        expr: &'p Expr,
        inputs: &[&'p LogicalPlan],
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        let mut found = false;
        expr.apply(|part| {
            found = found
                || match part {
                    Expr::Column(column) => self.named(column, inputs, outer)?,
                    Expr::OuterReferenceColumn(_, column) => self.outer(column, outer)?,
                    Expr::ScalarSubquery(subquery) => self.sub_query(&subquery.subquery, inputs, outer)?,
                    Expr::Exists(exists) => self.sub_query(&exists.subquery.subquery, inputs, outer)?,
                    Expr::InSubquery(within) => self.sub_query(&within.subquery.subquery, inputs, outer)?,
                    Expr::SetComparison(set) => self.sub_query(&set.subquery.subquery, inputs, outer)?,
                    _ => false,
                };
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(found)
    }

    fn named<'p>(
        &self,
        column: &Column,
        inputs: &[&'p LogicalPlan],
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        for input in inputs {
            if let Some(index) = input.schema().maybe_index_of_column(column) {
                return self.column(input, index, outer);
            }
        }
        Ok(true)
    }

    fn outer(&self, column: &Column, outer: &mut Vec<&LogicalPlan>) -> Result<bool> {
        let found = outer
            .iter()
            .rev()
            .find_map(|plan| plan.schema().maybe_index_of_column(column).map(|index| (*plan, index)));
        match found {
            Some((plan, index)) => self.column(plan, index, &mut Vec::new()),
            None => Ok(true),
        }
    }

    /// Whether a sub-query reads a masked column anywhere: its conditions make its value, too.
    fn sub_query<'p>(
        &self,
        plan: &'p LogicalPlan,
        inputs: &[&'p LogicalPlan],
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        let depth = outer.len();
        outer.extend(inputs);
        let found = self.anywhere(plan, outer);
        outer.truncate(depth);
        found
    }

    fn anywhere<'p>(&self, plan: &'p LogicalPlan, outer: &mut Vec<&'p LogicalPlan>) -> Result<bool> {
        if let Some(below) = below(plan) {
            return self.anywhere(below, &mut Vec::new());
        }
        let inputs = plan.inputs();
        for input in &inputs {
            if self.anywhere(input, outer)? {
                return Ok(true);
            }
        }
        let mut found = false;
        plan.apply_expressions(|expr| {
            found = found || self.loose(expr, &inputs, outer)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    }

    /// An expression that was borrowed for a moment only: its sub-queries are looked at as a whole.
    fn loose<'p>(
        &self,
        expr: &Expr,
        inputs: &[&'p LogicalPlan],
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        let mut found = false;
        expr.apply(|part| {
            found = found
                || match part {
                    Expr::Column(column) => self.named(column, inputs, outer)?,
                    Expr::OuterReferenceColumn(_, column) => self.outer(column, outer)?,
                    Expr::ScalarSubquery(subquery) => self.reads_table(&subquery.subquery)?,
                    Expr::Exists(exists) => self.reads_table(&exists.subquery.subquery)?,
                    Expr::InSubquery(within) => self.reads_table(&within.subquery.subquery)?,
                    Expr::SetComparison(set) => self.reads_table(&set.subquery.subquery)?,
                    _ => false,
                };
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(found)
    }

    /// Whether the table stands anywhere in a plan, for where nothing finer can be told.
    fn reads_table(&self, plan: &LogicalPlan) -> Result<bool> {
        let any_masked = self.verdict.columns.iter().any(|column| *column != ColumnVerdict::Raw);
        let mut found = false;
        plan.apply_with_subqueries(|node| {
            found = found || (any_masked && self.is_table(node));
            if let Some(below) = below(node) {
                found = found || self.reads_table(below)?;
            }
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(found)
    }

    /// Where a column of a plan comes from.
    fn column<'p>(
        &self,
        plan: &'p LogicalPlan,
        index: usize,
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                let name = scan.projected_schema.fields().get(index).map(|field| field.name().as_str());
                if let Some(below) = below(plan) {
                    // A view's columns are those of its text, in their order.
                    let at = name.and_then(|name| scan.source.schema().index_of(name).ok());
                    return at.map_or(Ok(true), |at| self.column(below, at, &mut Vec::new()));
                }
                Ok(self.is_table(plan) && name.is_none_or(|name| self.is_masked_in(scan, name)))
            }
            LogicalPlan::Projection(projection) => match projection.expr.get(index) {
                Some(expr) => self.expr(expr, &[&projection.input], outer),
                None => Ok(true),
            },
            LogicalPlan::SubqueryAlias(alias) => self.column(&alias.input, index, outer),
            LogicalPlan::Filter(filter) => self.column(&filter.input, index, outer),
            LogicalPlan::Sort(sort) => self.column(&sort.input, index, outer),
            LogicalPlan::Limit(limit) => self.column(&limit.input, index, outer),
            LogicalPlan::Repartition(repartition) => self.column(&repartition.input, index, outer),
            LogicalPlan::Subquery(subquery) => self.column(&subquery.subquery, index, outer),
            LogicalPlan::Distinct(Distinct::All(input)) => self.column(input, index, outer),
            LogicalPlan::Distinct(Distinct::On(on)) => match on.select_expr.get(index) {
                Some(expr) => self.expr(expr, &[&on.input], outer),
                None => Ok(true),
            },
            LogicalPlan::Join(join) => {
                let n_left = join.left.schema().fields().len();
                match join.join_type {
                    JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => {
                        match index.checked_sub(n_left) {
                            None => self.column(&join.left, index, outer),
                            Some(index) => self.column(&join.right, index, outer),
                        }
                    }
                    JoinType::LeftSemi | JoinType::LeftAnti => self.column(&join.left, index, outer),
                    JoinType::RightSemi | JoinType::RightAnti => self.column(&join.right, index, outer),
                    JoinType::LeftMark | JoinType::RightMark => self.reads_table(plan),
                }
            }
            LogicalPlan::Union(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Values(_) => self.made(plan, index, outer),
            LogicalPlan::EmptyRelation(_) => Ok(false),
            LogicalPlan::RecursiveQuery(_)
            | LogicalPlan::Unnest(_)
            | LogicalPlan::Extension(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Dml(_)
            | LogicalPlan::Copy(_)
            | LogicalPlan::DescribeTable(_)
            | LogicalPlan::Ddl(_)
            | LogicalPlan::Statement(_) => self.reads_table(plan),
        }
    }

    /// Where a column comes from that a node makes of its inputs' rows.
    fn made<'p>(
        &self,
        plan: &'p LogicalPlan,
        index: usize,
        outer: &mut Vec<&'p LogicalPlan>,
    ) -> Result<bool> {
        match plan {
            LogicalPlan::Union(union) => {
                for input in &union.inputs {
                    if self.column(input, index, outer)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            LogicalPlan::Aggregate(aggregate) => {
                let is_plain = !aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_)));
                let mut exprs = aggregate.group_expr.iter().chain(&aggregate.aggr_expr);
                match exprs.nth(index).filter(|_| is_plain) {
                    Some(expr) => self.expr(expr, &[&aggregate.input], outer),
                    None => self.reads_table(plan),
                }
            }
            LogicalPlan::Window(window) => {
                let n_input = window.input.schema().fields().len();
                match index.checked_sub(n_input) {
                    None => self.column(&window.input, index, outer),
                    Some(at) => match window.window_expr.get(at) {
                        Some(expr) => self.expr(expr, &[&window.input], outer),
                        None => Ok(true),
                    },
                }
            }
            LogicalPlan::Values(values) => {
                for row in &values.values {
                    if let Some(expr) = row.get(index)
                        && self.expr(expr, &[], outer)?
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => self.reads_table(plan),
        }
    }
}
