//! What stands after FROM: tables, former states, views, derived tables, lists, series and joins of all kinds.

use super::scope::{Column, Named, Scope};
use super::{Maker, joined};
use crate::lake::Kind;
use crate::tree::{Part, Sort, Tree, parts};

impl Maker<'_> {
    /// One relation and the scope that it makes. Columns of the query around it can be used inside.
    pub(super) fn one_relation(&mut self, around: &Scope) -> (Tree, Scope) {
        let (tree, named) = self.relation();
        let mut scope = around.clone();
        scope.relations.push(named);
        (tree, scope)
    }

    fn relation(&mut self) -> (Tree, Named) {
        let alias = self.alias();
        match self.dice.roll(20) {
            0 | 1 if self.may_nest() => self.derived(&alias),
            2 => self.listed(&alias),
            3 => {
                let tree = Tree::new(
                    Sort::Relation,
                    parts![format!("generate_series(1, {}) AS {alias}(n)", self.dice.between(1, 6))],
                );
                (tree, Named { text: alias, columns: vec![Column::new("n", Kind::Int)] })
            }
            4 => {
                let tree = Tree::new(Sort::Relation, parts![format!("g.j AS {alias}")]);
                let (t, s) = (self.lake.table("t"), self.lake.table("s"));
                let last = &t.columns[t.columns.len() - 1];
                let columns = vec![
                    Column::new("i", Kind::Int),
                    Column { is_digits: last.is_digits, ..Column::new("one", last.kind) },
                    Column { is_digits: s.columns[1].is_digits, ..Column::new("two", s.columns[1].kind) },
                ];
                (tree, Named { text: alias, columns })
            }
            5 | 6 => {
                let t = self.lake.table("t");
                let last = &t.columns[t.columns.len() - 1];
                let columns = vec![
                    Column::new("id", Kind::Int),
                    Column { is_digits: last.is_digits, ..Column::new(last.name, last.kind) },
                ];
                let tree = Tree::new(Sort::Relation, parts![format!("g.v AS {alias}")]);
                (tree, Named { text: alias, columns })
            }
            7 | 8 if !self.ctes.is_empty() => {
                let cte = self.dice.pick(&self.ctes).clone();
                let tree = Tree::new(Sort::Relation, parts![format!("{} AS {alias}", cte.text)]);
                (tree, Named { text: alias, columns: cte.columns })
            }
            n => {
                let name = *self.dice.pick(&["t", "t", "t", "s", "s", "free"]);
                let columns = self.columns_of(name);
                let part = if n < 12 {
                    Part::Either {
                        governed: format!("g.{name} FOR VERSION AS OF 'old' AS {alias}"),
                        plain: format!("g.{name}_old AS {alias}"),
                    }
                } else {
                    Part::from(format!("g.{name} AS {alias}"))
                };
                (Tree::new(Sort::Relation, vec![part]), Named { text: alias, columns })
            }
        }
    }

    fn columns_of(&self, table: &str) -> Vec<Column> {
        let columns = &self.lake.table(table).columns;
        columns
            .iter()
            .map(|column| Column { is_digits: column.is_digits, ..Column::new(column.name, column.kind) })
            .collect()
    }

    fn derived(&mut self, alias: &str) -> (Tree, Named) {
        let kinds: Vec<Kind> = (0..1 + self.dice.roll(3)).map(|_| self.kind()).collect();
        let query = self.nested_query(&kinds, &Scope::default(), 1);
        (Tree::new(Sort::Relation, parts!["(", query, ") AS ", alias]), named(alias, &kinds))
    }

    /// A list of rows, as somebody would try values out.
    fn listed(&mut self, alias: &str) -> (Tree, Named) {
        let kinds = [self.plain_kind(), Kind::Int];
        let rows = (0..1 + self.dice.roll(4))
            .map(|_| {
                let row = Tree::new(
                    Sort::Statement,
                    parts!["(", self.literal(kinds[0]), ", ", self.literal(kinds[1]), ")"],
                );
                Part::from(row)
            })
            .collect();
        let mut parts = parts!["(VALUES "];
        parts.extend(joined(rows, ", "));
        parts.push(Part::from(format!(") AS {alias}(c0, c1)")));
        (Tree::new(Sort::Relation, parts), named(alias, &kinds))
    }

    /// What stands after FROM, joins with it.
    pub(super) fn from(&mut self, around: &Scope) -> (Tree, Scope) {
        let (mut tree, mut scope) = self.one_relation(around);
        let n_joins = *self.dice.pick(&[0, 0, 0, 1, 1, 1, 2]);
        for _ in 0..n_joins {
            (tree, scope) = self.join(tree, scope);
        }
        (tree, scope)
    }

    fn join(&mut self, left: Tree, scope: Scope) -> (Tree, Scope) {
        if self.dice.once_in(8) && self.may_nest() {
            return self.lateral(left, scope);
        }
        if self.dice.once_in(10) && !scope.columns(Kind::List).is_empty() {
            return self.unnested(left, scope);
        }
        let (right, named) = self.relation();
        let mut both = scope.clone();
        both.relations.push(named.clone());
        let kinds = [
            " JOIN ",
            " JOIN ",
            " LEFT JOIN ",
            " LEFT JOIN ",
            " RIGHT JOIN ",
            " FULL JOIN ",
            " LEFT SEMI JOIN ",
            " LEFT ANTI JOIN ",
            " RIGHT SEMI JOIN ",
            " RIGHT ANTI JOIN ",
            " CROSS JOIN ",
            ", ",
        ];
        let kind = *self.dice.pick(&kinds);
        if matches!(kind, " CROSS JOIN " | ", ") {
            return (Tree::new(Sort::Relation, parts![left, kind, right]), both);
        }
        let on = self.join_condition(&scope, &named, &both);
        let tree = Tree::new(Sort::Relation, parts![left, kind, right, " ON ", on]);
        let shown = match kind {
            " LEFT SEMI JOIN " | " LEFT ANTI JOIN " => scope,
            " RIGHT SEMI JOIN " | " RIGHT ANTI JOIN " => Scope { relations: vec![named], outer: scope.outer },
            _ => both,
        };
        (tree, shown)
    }

    fn join_condition(&mut self, left: &Scope, right: &Named, both: &Scope) -> Tree {
        let kind = if self.dice.once_in(3) { self.plain_kind() } else { Kind::Int };
        let (ones, others) = (left.columns(kind), Scope::of(right.clone()).columns(kind));
        if ones.is_empty() || others.is_empty() || self.dice.once_in(8) {
            return self.condition(both, 1);
        }
        let (one, two) = (self.dice.pick(&ones).text.clone(), self.dice.pick(&others).text.clone());
        let key = match self.dice.roll(4) {
            0 if kind == Kind::Int => self.value(kind, &Scope { outer: None, ..left.clone() }, 2),
            _ => Tree::value(kind, parts![one]),
        };
        let rest = if self.dice.once_in(3) {
            Tree::clause(parts![" AND ", self.condition(both, 1)])
        } else {
            Tree::clause(Vec::new())
        };
        Tree::value(Kind::Bool, parts!["(", key, " = ", two, rest, ")"])
    }

    /// A derived table that reads columns of what stands to its left.
    fn lateral(&mut self, left: Tree, scope: Scope) -> (Tree, Scope) {
        let alias = self.alias();
        let (from, inside) = self.one_relation(&scope.within());
        let kind = self.plain_kind();
        let value = self.leaf(kind, &Scope { outer: None, ..inside.clone() });
        let filter = self.condition(&inside, 1);
        let query = Tree::new(
            Sort::Query(vec![kind]),
            parts!["SELECT ", value, " AS c0 FROM ", from, Tree::clause(parts![" WHERE ", filter])],
        );
        let word = *self.dice.pick(&[" CROSS JOIN LATERAL (", ", LATERAL (", " JOIN LATERAL ("]);
        let end = if word == " JOIN LATERAL (" { " ON TRUE" } else { "" };
        let tree = Tree::new(Sort::Relation, parts![left, word, query, ") AS ", alias.as_str(), end]);
        let mut both = scope;
        both.relations.push(named(&alias, &[kind]));
        (tree, both)
    }

    /// The elements of a list as rows, beside the rows that they come from.
    fn unnested(&mut self, left: Tree, scope: Scope) -> (Tree, Scope) {
        let alias = self.alias();
        let list = self.dice.pick(&scope.columns(Kind::List)).text.clone();
        let tree = Tree::new(
            Sort::Relation,
            parts![left, format!(" CROSS JOIN LATERAL (SELECT unnest({list}) AS c0) AS {alias}")],
        );
        let mut both = scope;
        both.relations.push(named(&alias, &[Kind::Int]));
        (tree, both)
    }
}

/// A relation whose columns are called `c0`, `c1`, ….
pub(super) fn named(alias: &str, kinds: &[Kind]) -> Named {
    let columns = kinds.iter().enumerate().map(|(i, kind)| Column::new(format!("c{i}"), *kind)).collect();
    Named { text: alias.to_owned(), columns }
}
