//! Which kinds of plan nodes and expressions the statements reached that the engine answered.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

/// The plan nodes that the verifier lets through and that a query can make, with what there is of joins and sets.
const NODES: [&str; 27] = [
    "Projection",
    "Filter",
    "Window",
    "Aggregate",
    "Sort",
    "Join Inner",
    "Join Left",
    "Join Right",
    "Join Full",
    "Join LeftSemi",
    "Join RightSemi",
    "Join LeftAnti",
    "Join RightAnti",
    "Union",
    "TableScan",
    "EmptyRelation",
    "Subquery",
    "SubqueryAlias",
    "Limit",
    "Values",
    "Distinct All",
    "Distinct On",
    "Unnest",
    "RecursiveQuery",
    "GroupingSets ROLLUP",
    "GroupingSets CUBE",
    "GroupingSets SETS",
];

/// The expressions that a plan of an accepted statement can hold. Not among them: variables (`@x`), lambdas, which the
/// dialect has no words for, and the wildcard, which is gone before there is a plan.
const EXPRESSIONS: [&str; 30] = [
    "AggregateFunction",
    "Alias",
    "Between",
    "BinaryExpr",
    "Case",
    "Cast",
    "Column",
    "Exists",
    "GroupingSet",
    "InList",
    "InSubquery",
    "IsFalse",
    "IsNotFalse",
    "IsNotNull",
    "IsNotTrue",
    "IsNotUnknown",
    "IsNull",
    "IsTrue",
    "IsUnknown",
    "Like",
    "Literal",
    "Negative",
    "Not",
    "Outer",
    "RLike",
    "ScalarFunction",
    "ScalarSubquery",
    "SetComparison",
    "TryCast",
    "WindowFunction",
];

#[derive(Debug, Default)]
pub(crate) struct Reach {
    nodes: BTreeMap<String, usize>,
    expressions: BTreeMap<String, usize>,
    /// What plans are run by, as EXPLAIN names it.
    pub(crate) operators: BTreeSet<String>,
}

impl Reach {
    pub(crate) fn add(&mut self, other: Self) {
        for (name, n) in other.nodes {
            *self.nodes.entry(name).or_default() += n;
        }
        for (name, n) in other.expressions {
            *self.expressions.entry(name).or_default() += n;
        }
        self.operators.extend(other.operators);
    }

    /// Walks a plan as it is written, sub-queries included.
    pub(crate) fn see(&mut self, plan: &LogicalPlan) -> Result<()> {
        plan.apply_with_subqueries(|node| {
            for name in names(node) {
                *self.nodes.entry(name).or_default() += 1;
            }
            node.apply_expressions(|expr| {
                expr.apply(|part| {
                    *self.expressions.entry(part.variant_name().to_owned()).or_default() += 1;
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        Ok(())
    }

    /// The operators of a physical plan out of the text of EXPLAIN.
    pub(crate) fn see_operators(&mut self, explained: &str) {
        for line in explained.lines() {
            let words = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
            let name: String = words.chars().take_while(char::is_ascii_alphanumeric).collect();
            if name.ends_with("Exec") {
                self.operators.insert(name);
            }
        }
    }

    /// In hundredths of all that there are, and the names of what is missing.
    pub(crate) fn share(&self) -> (usize, Vec<&'static str>) {
        let missing: Vec<&'static str> = NODES
            .iter()
            .filter(|name| !self.nodes.contains_key(**name))
            .chain(EXPRESSIONS.iter().filter(|name| !self.expressions.contains_key(**name)))
            .copied()
            .collect();
        let n = NODES.len() + EXPRESSIONS.len();
        ((n - missing.len()) * 100 / n, missing)
    }

    pub(crate) fn n_reached(&self) -> (usize, usize) {
        let n = NODES.len() + EXPRESSIONS.len();
        (n - self.share().1.len(), n)
    }
}

/// A node's names; the match is exhaustive, so that a new kind of node is looked at.
fn names(node: &LogicalPlan) -> Vec<String> {
    let name = match node {
        LogicalPlan::Projection(_) => "Projection",
        LogicalPlan::Filter(_) => "Filter",
        LogicalPlan::Window(_) => "Window",
        LogicalPlan::Aggregate(aggregate) => return grouping(&aggregate.group_expr),
        LogicalPlan::Sort(_) => "Sort",
        LogicalPlan::Join(join) => return vec![format!("Join {}", join.join_type)],
        LogicalPlan::Repartition(_) => "Repartition",
        LogicalPlan::Union(_) => "Union",
        LogicalPlan::TableScan(_) => "TableScan",
        LogicalPlan::EmptyRelation(_) => "EmptyRelation",
        LogicalPlan::Subquery(_) => "Subquery",
        LogicalPlan::SubqueryAlias(_) => "SubqueryAlias",
        LogicalPlan::Limit(_) => "Limit",
        LogicalPlan::Values(_) => "Values",
        LogicalPlan::Distinct(Distinct::All(_)) => "Distinct All",
        LogicalPlan::Distinct(Distinct::On(_)) => "Distinct On",
        LogicalPlan::Unnest(_) => "Unnest",
        LogicalPlan::RecursiveQuery(_) => "RecursiveQuery",
        LogicalPlan::Statement(_)
        | LogicalPlan::Explain(_)
        | LogicalPlan::Analyze(_)
        | LogicalPlan::Extension(_)
        | LogicalPlan::Dml(_)
        | LogicalPlan::Ddl(_)
        | LogicalPlan::Copy(_)
        | LogicalPlan::DescribeTable(_) => "not of a query",
    };
    vec![name.to_owned()]
}

fn grouping(keys: &[Expr]) -> Vec<String> {
    use datafusion::logical_expr::GroupingSet;
    let mut names = vec!["Aggregate".to_owned()];
    for key in keys {
        if let Expr::GroupingSet(set) = key {
            let kind = match set {
                GroupingSet::Rollup(_) => "ROLLUP",
                GroupingSet::Cube(_) => "CUBE",
                GroupingSet::GroupingSets(_) => "SETS",
            };
            names.push(format!("GroupingSets {kind}"));
        }
    }
    names
}
