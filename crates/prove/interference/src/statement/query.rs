//! Queries: selects, groups, sets, WITH and its recursion, lists of rows.

use super::relation::named;
use super::{Maker, Scope, aggregate, joined};
use crate::lake::Kind;
use crate::tree::{Part, Reader, Sort, Tree, parts};

impl Maker<'_> {
    /// A query with everything that may stand around its body.
    pub(super) fn whole_query(&mut self, kinds: &[Kind]) -> Tree {
        let depth_of_names = self.ctes.len();
        let with = match self.dice.roll(6) {
            0 | 1 => self.with(),
            2 if self.dice.once_in(2) => self.with_recursive(),
            _ => Tree::clause(Vec::new()),
        };
        let body = self.nested_query(kinds, &Scope::default(), 2);
        self.ctes.truncate(depth_of_names);
        if with.parts.is_empty() {
            return body;
        }
        Tree::new(Sort::Query(kinds.to_vec()), parts![with, body])
    }

    fn with(&mut self) -> Tree {
        let name = self.alias();
        let kinds = [self.kind(), Kind::Int];
        let query = self.nested_query(&kinds, &Scope::default(), 1);
        self.ctes.push(named(&name, &kinds));
        Tree::clause(parts!["WITH ", name, " AS (", query, ") "])
    }

    fn with_recursive(&mut self) -> Tree {
        let name = self.alias();
        let (from, scope) = self.one_relation(&Scope::default());
        let start = self.leaf(Kind::Int, &scope);
        let filter = Tree::clause(parts![" WHERE ", self.condition(&scope, 1)]);
        let union = *self.dice.pick(&[" UNION ALL ", " UNION "]);
        let step = match self.dice.roll(2) {
            0 => parts![format!("SELECT {name}.c0 + 1, {name}.c1 + 1 FROM {name} WHERE {name}.c1 < 4")],
            _ => {
                let (joined, inside) = self.one_relation(&Scope::default());
                let key = self.leaf(Kind::Int, &inside);
                parts![
                    format!("SELECT {name}.c0 + 1, {name}.c1 + 1 FROM {name} JOIN "),
                    joined,
                    format!(" ON {name}.c0 = "),
                    key,
                    format!(" WHERE {name}.c1 < 3")
                ]
            }
        };
        let start = Tree::value(Kind::Int, parts!["CAST(", start, " AS BIGINT)"]);
        let mut parts = parts![
            format!("WITH RECURSIVE {name} AS (SELECT "),
            start,
            " AS c0, CAST(0 AS BIGINT) AS c1 FROM ",
            from,
            filter,
            union
        ];
        parts.extend(step);
        parts.push(Part::from(") "));
        self.ctes.push(named(&name, &[Kind::Int, Kind::Int]));
        Tree::clause(parts)
    }

    /// A query with columns `c0`, `c1`, … of these kinds.
    pub(super) fn nested_query(&mut self, kinds: &[Kind], around: &Scope, depth: usize) -> Tree {
        let is_plain = kinds.iter().all(|kind| !matches!(kind, Kind::List | Kind::Who));
        let body = match self.dice.roll(12) {
            0 | 1 if depth > 0 && is_plain && self.may_nest() => self.set(kinds, around, depth - 1),
            2 => self.list_of_rows(kinds),
            3..=5 if is_plain || depth > 0 => self.grouped(kinds, around),
            6 if is_plain => self.distinct_on(kinds, around),
            _ => self.select(kinds, around),
        };
        if is_plain && self.dice.once_in(3) {
            let order = self.order(kinds.len());
            return Tree::new(Sort::Query(kinds.to_vec()), parts![body, order]);
        }
        body
    }

    /// An order over every column, so that LIMIT leaves nothing open.
    fn order(&mut self, n: usize) -> Tree {
        let columns: Vec<String> = (1..=n)
            .map(|i| {
                let way = *self.dice.pick(&["", " DESC", " DESC NULLS LAST", " NULLS FIRST"]);
                format!("{i}{way}")
            })
            .collect();
        let limit = match self.dice.roll(4) {
            0 => Tree::clause(parts![" LIMIT 3"]),
            1 => Tree::clause(parts![" LIMIT 2", Tree::clause(parts![" OFFSET 1"])]),
            2 => Tree::clause(parts![" OFFSET 1"]),
            _ => Tree::clause(Vec::new()),
        };
        Tree::new(Sort::Order, parts![format!(" ORDER BY {}", columns.join(", ")), limit])
    }

    fn items(&mut self, values: Vec<Tree>) -> Vec<Part> {
        let items = values
            .into_iter()
            .enumerate()
            .map(|(i, value)| Part::from(Tree::new(Sort::Statement, parts![value, format!(" AS c{i}")])))
            .collect();
        joined(items, ", ")
    }

    fn filter_of(&mut self, scope: &Scope) -> Tree {
        if self.dice.once_in(3) {
            return Tree::clause(Vec::new());
        }
        Tree::clause(parts![" WHERE ", self.condition(scope, 2)])
    }

    fn select(&mut self, kinds: &[Kind], around: &Scope) -> Tree {
        if self.dice.once_in(30) {
            return self.list_of_rows(kinds);
        }
        let (from, scope) = self.from(around);
        let is_windowed = self.dice.once_in(4);
        let mut values = Vec::new();
        for kind in kinds {
            let value = match self.dice.roll(2) {
                0 if is_windowed => aggregate::window(self, *kind, &scope),
                _ => self.value(*kind, &scope, 2),
            };
            values.push(value);
        }
        let can_be_distinct = kinds.iter().all(|kind| *kind != Kind::Who);
        let distinct = match self.dice.roll(6) {
            0 if can_be_distinct => Tree::clause(parts!["DISTINCT "]),
            _ => Tree::clause(Vec::new()),
        };
        let mut parts = parts!["SELECT ", distinct];
        parts.extend(self.items(values));
        parts.extend(parts![" FROM ", from, self.filter_of(&scope)]);
        if is_windowed && self.dice.once_in(3) && scope.is_sortable() {
            let window = aggregate::window(self, Kind::Int, &scope);
            parts.push(Part::from(Tree::clause(parts![" QUALIFY ", window, " < 3"])));
        }
        Tree::new(Sort::Query(kinds.to_vec()), parts)
    }

    fn distinct_on(&mut self, kinds: &[Kind], around: &Scope) -> Tree {
        let (from, scope) = self.one_relation(around);
        let key = self.leaf(Kind::Int, &scope).text(Reader::Engine);
        let total = scope.all();
        if !scope.is_sortable() || total.is_empty() || key.parse::<i64>().is_ok() {
            return self.select(kinds, around);
        }
        let values = kinds.iter().map(|kind| self.leaf(*kind, &scope)).collect();
        let mut parts = parts![format!("SELECT DISTINCT ON ({key}) ")];
        parts.extend(self.items(values));
        let filter = self.filter_of(&scope);
        parts.extend(parts![" FROM ", from, filter, format!(" ORDER BY {key}, {}", total.join(", "))]);
        // In parentheses: its own order is not that of the result.
        let inner = Tree::new(Sort::Query(kinds.to_vec()), parts);
        let alias = self.alias();
        Tree::new(Sort::Query(kinds.to_vec()), parts!["SELECT * FROM (", inner, ") AS ", alias])
    }

    fn grouped(&mut self, kinds: &[Kind], around: &Scope) -> Tree {
        let (from, scope) = self.from(around);
        let n_keys = self.dice.roll(3);
        let mut keys = Vec::new();
        for _ in 0..n_keys {
            let kind = self.plain_kind();
            let key =
                if self.dice.once_in(3) { self.value(kind, &scope, 1) } else { self.leaf(kind, &scope) };
            // What stands by itself in GROUP BY would be a number of a column.
            let text = key.text(Reader::Engine);
            if text.parse::<i64>().is_err() && key.text(Reader::Oracle) == text {
                keys.push((kind, text));
            }
        }
        let mut values = Vec::new();
        for kind in kinds {
            let key = keys.iter().find(|(of, _)| of == kind).map(|(_, text)| text.clone());
            values.push(match (key, self.dice.roll(3)) {
                (Some(text), 0 | 1) => Tree::new(Sort::Statement, parts![text]),
                _ => self.aggregate(*kind, &scope),
            });
        }
        let mut parts = parts!["SELECT "];
        parts.extend(self.items(values));
        parts.extend(parts![" FROM ", from, self.filter_of(&scope)]);
        let texts: Vec<&str> = keys.iter().map(|(_, text)| text.as_str()).collect();
        if let Some(first) = texts.first() {
            let all = texts.join(", ");
            let group = match self.dice.roll(6) {
                0 => format!("ROLLUP ({all})"),
                1 => format!("CUBE ({all})"),
                2 => format!("GROUPING SETS (({all}), ({first}), ())"),
                _ => all,
            };
            parts.push(Part::from(format!(" GROUP BY {group}")));
        }
        if self.dice.once_in(3) {
            let having = self.aggregate(Kind::Int, &scope);
            parts.push(Part::from(Tree::clause(parts![" HAVING ", having, " > 1"])));
        }
        Tree::new(Sort::Query(kinds.to_vec()), parts)
    }

    fn set(&mut self, kinds: &[Kind], around: &Scope, depth: usize) -> Tree {
        let words = [
            " UNION ALL ",
            " UNION ALL ",
            " UNION ",
            " INTERSECT ",
            " EXCEPT ",
            " INTERSECT ALL ",
            " EXCEPT ALL ",
        ];
        let word = *self.dice.pick(&words);
        let (one, two) = (self.nested_query(kinds, around, depth), self.nested_query(kinds, around, depth));
        let (left, right) = (self.alias(), self.alias());
        Tree::new(
            Sort::Query(kinds.to_vec()),
            parts![
                "SELECT * FROM (",
                one,
                format!(") AS {left}{word}SELECT * FROM ("),
                two,
                format!(") AS {right}")
            ],
        )
    }

    fn list_of_rows(&mut self, kinds: &[Kind]) -> Tree {
        let nothing = Scope::default();
        let n_rows = 1 + self.dice.roll(3);
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            let values = kinds.iter().map(|kind| Part::from(self.value(*kind, &nothing, 2))).collect();
            let mut parts = parts!["("];
            parts.extend(joined(values, ", "));
            parts.push(Part::from(")"));
            rows.push(Part::from(Tree::new(Sort::Statement, parts)));
        }
        let alias = self.alias();
        let columns: Vec<String> = (0..kinds.len()).map(|i| format!("c{i}")).collect();
        let mut parts = parts!["SELECT * FROM (VALUES "];
        parts.extend(joined(rows, ", "));
        parts.push(Part::from(format!(") AS {alias}({})", columns.join(", "))));
        Tree::new(Sort::Query(kinds.to_vec()), parts)
    }
}
