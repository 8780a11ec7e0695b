//! Sub-queries as values and conditions, with and without columns of the query around them.

use super::scope::Scope;
use super::{Maker, aggregate};
use crate::lake::Kind;
use crate::tree::{Part, Sort, Tree, parts};

impl Maker<'_> {
    /// One value out of a query: always by an aggregate, so that there is one row.
    pub(super) fn scalar_subquery(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let (from, inside) = self.one_relation(&scope.within());
        let value = self.leaf(kind, &inside);
        let filter = self.filter(&inside);
        let name = if kind == Kind::Bool { "bool_or" } else { *self.dice.pick(&["min", "max"]) };
        let query = Tree::new(
            Sort::Query(vec![kind]),
            parts!["SELECT ", name, "(", value, ") AS c0 FROM ", from, filter],
        );
        Tree::value(kind, parts!["(", query, ")"])
    }

    fn filter(&mut self, scope: &Scope) -> Tree {
        if self.dice.once_in(4) {
            return Tree::clause(Vec::new());
        }
        let condition = if self.dice.once_in(2) { self.correlated(scope) } else { self.condition(scope, 1) };
        Tree::clause(parts![" WHERE ", condition])
    }

    /// A condition that holds a column of this query against one of the query around it, where there is one.
    fn correlated(&mut self, scope: &Scope) -> Tree {
        let outer = scope.outer.as_ref().map(|outer| outer.columns(Kind::Int)).unwrap_or_default();
        let inner = scope.columns(Kind::Int);
        if outer.is_empty() || inner.is_empty() {
            return self.condition(scope, 1);
        }
        let op = *self.dice.pick(&[" = ", " = ", " = ", " < "]);
        let (one, two) = (self.dice.pick(&inner).text.clone(), self.dice.pick(&outer).text.clone());
        let rest = if self.dice.once_in(2) {
            Tree::clause(parts![" AND ", self.condition(scope, 1)])
        } else {
            Tree::clause(Vec::new())
        };
        Tree::value(Kind::Bool, parts!["(", one, op, two, rest, ")"])
    }

    pub(super) fn subquery_condition(&mut self, scope: &Scope) -> Tree {
        let (from, inside) = self.one_relation(&scope.within());
        let filter = self.filter(&inside);
        let kind = self.plain_kind();
        let parts = match self.dice.roll(5) {
            0 | 1 => {
                let word = *self.dice.pick(&["EXISTS (", "NOT EXISTS ("]);
                parts!["(", word, "SELECT 1 FROM ", from, filter, "))"]
            }
            2 | 3 => {
                let word = *self.dice.pick(&[" IN (", " NOT IN ("]);
                let value = self.value(kind, scope, 1);
                let inner = self.leaf(kind, &inside);
                parts!["(", value, word, "SELECT ", inner, " AS c0 FROM ", from, filter, "))"]
            }
            _ => {
                let op = *self.dice.pick(&["= ANY", "<> ALL", "> ALL", "< ANY", ">= ANY"]);
                let value = self.leaf(kind, scope);
                let inner = self.leaf(kind, &inside);
                let uncorrelated = Tree::clause(Vec::<Part>::new());
                parts!["(", value, " ", op, " (SELECT ", inner, " AS c0 FROM ", from, uncorrelated, "))"]
            }
        };
        Tree::value(Kind::Bool, parts)
    }

    /// An aggregate over what is in scope.
    pub(super) fn aggregate(&mut self, kind: Kind, scope: &Scope) -> Tree {
        aggregate::over(self, kind, scope)
    }
}
