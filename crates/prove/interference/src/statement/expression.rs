//! Expressions over what is in scope, by the kind that is asked for.

use super::scope::Found;
use super::{Maker, Scope, joined};
use crate::lake::Kind;
use crate::tree::{Part, Tree, parts};

impl Maker<'_> {
    pub(super) fn value(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Tree {
        if depth == 0 || self.dice.once_in(4) {
            return self.leaf(kind, scope);
        }
        if self.dice.once_in(10) {
            return self.any_kind(kind, scope, depth - 1);
        }
        if self.dice.once_in(14) && !matches!(kind, Kind::List | Kind::Who) && self.may_nest() {
            return self.scalar_subquery(kind, scope);
        }
        match kind {
            Kind::Bool => self.condition(scope, depth - 1),
            Kind::Int => self.integer(scope, depth - 1),
            Kind::Str => self.string(scope, depth - 1),
            Kind::Dec | Kind::Dbl => self.number(kind, scope, depth - 1),
            Kind::Date | Kind::Ts => self.moment(kind, scope, depth - 1),
            Kind::List => self.list(scope, depth - 1),
            Kind::Who => self.leaf(kind, scope),
        }
    }

    pub(super) fn leaf(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let mut found = scope.columns(kind);
        if let Some(outer) = &scope.outer
            && self.dice.once_in(3)
        {
            found.extend(outer.columns(kind));
        }
        if !found.is_empty() && !self.dice.once_in(5) {
            let text = self.dice.pick(&found).text.clone();
            return Tree::value(kind, parts![text]);
        }
        self.literal(kind)
    }

    pub(super) fn literal(&mut self, kind: Kind) -> Tree {
        let text = match kind {
            Kind::Int => self.dice.pick(&["1", "2", "3", "5", "7", "10", "12"]).to_string(),
            Kind::Dec => format!("CAST('{}.50' AS DECIMAL(10, 2))", self.dice.between(1, 9)),
            Kind::Dbl => format!("CAST({} AS DOUBLE)", self.dice.between(1, 9)),
            Kind::Str => format!("'{}'", self.dice.pick(&["a", "ab", "5", "12", "north", "xxx", "x@y.de"])),
            Kind::Date => format!("DATE '20{}-03-01'", self.dice.between(19, 22)),
            Kind::Ts => format!("TIMESTAMP '20{}-03-01 12:00:00'", self.dice.between(18, 21)),
            Kind::Bool => self.dice.pick(&["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"]).to_string(),
            Kind::List | Kind::Who => kind.least().to_owned(),
        };
        // A value that an oracle reads where it stands may come to the engine as a parameter.
        Tree::value(kind, parts![text])
    }

    /// A text that a cast to a number does not fail on, where it stands in scope.
    fn digits(&mut self, scope: &Scope) -> Tree {
        let found: Vec<Found> =
            scope.columns(Kind::Str).into_iter().filter(|found| found.is_digits).collect();
        if found.is_empty() {
            return Tree::value(Kind::Str, parts!["'12'"]);
        }
        let text = self.dice.pick(&found).text.clone();
        Tree::value(Kind::Str, parts![text])
    }

    /// Forms that there are of every kind.
    fn any_kind(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Tree {
        let one = self.value(kind, scope, depth);
        let two = self.value(kind, scope, depth);
        let is_nested = matches!(kind, Kind::List | Kind::Who);
        let parts = match self.dice.roll(5) {
            0 if !is_nested => parts!["coalesce(", one, ", ", two, ")"],
            1 if !is_nested => parts!["nullif(", one, ", ", two, ")"],
            2 if !is_nested => {
                let (of, when) = (self.value(Kind::Int, scope, 0), self.literal(Kind::Int));
                parts!["CASE ", of, " WHEN ", when, " THEN ", one, " ELSE ", two, " END"]
            }
            3 if !is_nested => parts!["greatest(", one, ", ", two, ")"],
            _ => {
                let when = self.value(Kind::Bool, scope, depth);
                let otherwise = if self.dice.once_in(3) { parts![] } else { parts![" ELSE ", two] };
                parts!["CASE WHEN ", when, " THEN ", one, Tree::clause(otherwise), " END"]
            }
        };
        Tree::value(kind, parts)
    }

    pub(super) fn condition(&mut self, scope: &Scope, depth: usize) -> Tree {
        let parts = match self.dice.roll(22) {
            0 | 1 => self.connected(scope, depth, " AND "),
            2 => self.connected(scope, depth, " OR "),
            3 => parts!["(NOT ", self.value(Kind::Bool, scope, depth), ")"],
            4 | 5 => {
                let kind = self.plain_kind();
                let test = *self.dice.pick(&[" IS NULL", " IS NOT NULL"]);
                parts!["(", self.value(kind, scope, depth), test, ")"]
            }
            6 => {
                let tests = [
                    " IS TRUE",
                    " IS FALSE",
                    " IS UNKNOWN",
                    " IS NOT TRUE",
                    " IS NOT FALSE",
                    " IS NOT UNKNOWN",
                ];
                let test = *self.dice.pick(&tests);
                parts!["(", self.value(Kind::Bool, scope, depth), test, ")"]
            }
            7 => {
                let kind = self.plain_kind();
                let word = *self.dice.pick(&[" BETWEEN ", " NOT BETWEEN "]);
                let value = self.value(kind, scope, depth);
                parts!["(", value, word, self.leaf(kind, scope), " AND ", self.leaf(kind, scope), ")"]
            }
            8 => {
                let kind = self.plain_kind();
                let items = (0..1 + self.dice.roll(4)).map(|_| Part::from(self.literal(kind))).collect();
                let word = *self.dice.pick(&[" IN (", " NOT IN ("]);
                let mut parts = parts!["(", self.value(kind, scope, depth), word];
                parts.extend(joined(items, ", "));
                parts.push(Part::from("))"));
                parts
            }
            9 | 10 => self.matched(scope, depth),
            11..=14 if self.may_nest() => return self.subquery_condition(scope),
            // A cast that no date far away can take, over whatever is known of the column.
            21 if !scope.columns(Kind::Date).is_empty() => {
                let day = parts![self.dice.pick(&scope.columns(Kind::Date)).text.clone()];
                let op = *self.dice.pick(&[" = ", " < ", " >= "]);
                let day = parts!["(CAST(", Tree::value(Kind::Date, day), " AS TIMESTAMP)", op];
                day.into_iter().chain(parts![self.literal(Kind::Ts), ")"]).collect()
            }
            _ => {
                let kind = self.plain_kind();
                let ops = [
                    " = ",
                    " = ",
                    " <> ",
                    " < ",
                    " <= ",
                    " > ",
                    " >= ",
                    " IS DISTINCT FROM ",
                    " IS NOT DISTINCT FROM ",
                ];
                let op = *self.dice.pick(&ops);
                parts!["(", self.value(kind, scope, depth), op, self.value(kind, scope, depth), ")"]
            }
        };
        Tree::value(Kind::Bool, parts)
    }

    fn connected(&mut self, scope: &Scope, depth: usize, with: &str) -> Vec<Part> {
        let (one, two) = (self.value(Kind::Bool, scope, depth), self.value(Kind::Bool, scope, depth));
        parts!["(", one, with, two, ")"]
    }

    fn matched(&mut self, scope: &Scope, depth: usize) -> Vec<Part> {
        let value = self.value(Kind::Str, scope, depth);
        let forms = [
            " LIKE '%1%'",
            " NOT LIKE 'a%'",
            " ILIKE 'A%'",
            " SIMILAR TO '(a|b)%'",
            " NOT SIMILAR TO 'x+'",
            " ~ '^[a-z]'",
            " !~* '2$'",
            " LIKE '_'",
        ];
        let form = *self.dice.pick(&forms);
        parts!["(", value, form, ")"]
    }

    fn integer(&mut self, scope: &Scope, depth: usize) -> Tree {
        let fails = if self.may_fail { 4 } else { 0 };
        let parts = match self.dice.roll(13 + fails) {
            0..=2 => {
                let op = *self.dice.pick(&[" + ", " - ", " * "]);
                let (one, two) = (self.value(Kind::Int, scope, depth), self.literal(Kind::Int));
                parts!["(", one, op, two, ")"]
            }
            3 => parts!["abs(", self.value(Kind::Int, scope, depth), ")"],
            4 => parts!["length(", self.value(Kind::Str, scope, depth), ")"],
            5 => parts!["CAST(", self.value(Kind::Bool, scope, depth), " AS INT)"],
            6 => parts!["CAST(extract(year FROM ", self.value(Kind::Date, scope, depth), ") AS INT)"],
            7 => parts!["(", self.value(Kind::List, scope, depth), ")[1]"],
            8 => parts!["CAST(array_length(", self.value(Kind::List, scope, depth), ") AS INT)"],
            9 => parts!["get_field(", self.leaf(Kind::Who, scope), ", 'yr')"],
            10 => parts!["(- ", self.value(Kind::Int, scope, depth), ")"],
            11 => parts!["TRY_CAST(", self.value(Kind::Str, scope, depth), " AS INT)"],
            12 => {
                let kind = *self.dice.pick(&[Kind::Dec, Kind::Dbl, Kind::Str]);
                match kind {
                    Kind::Str => parts!["strpos(", self.value(kind, scope, depth), ", '1')"],
                    _ => parts!["CAST(floor(", self.leaf(kind, scope), ") AS BIGINT)"],
                }
            }
            13 | 14 => {
                let op = *self.dice.pick(&[" / ", " % "]);
                parts!["(", self.literal(Kind::Int), op, self.value(Kind::Int, scope, depth.min(1)), ")"]
            }
            15 => parts!["CAST(", self.digits(scope), " AS INT)"],
            _ => {
                parts!["CAST(CAST(", self.value(Kind::Int, scope, depth), " AS BIGINT) * 10000 AS SMALLINT)"]
            }
        };
        Tree::value(Kind::Int, parts)
    }

    fn string(&mut self, scope: &Scope, depth: usize) -> Tree {
        let value = self.value(Kind::Str, scope, depth);
        let parts = match self.dice.roll(12) {
            0 => parts!["upper(", value, ")"],
            1 => parts!["lower(", value, ")"],
            2 => parts!["substr(", value, ", 2)"],
            3 => parts!["(", value, " || ", self.leaf(Kind::Str, scope), ")"],
            4 => parts!["concat(", value, ", ", self.leaf(Kind::Str, scope), ")"],
            5 => parts!["replace(", value, ", 'a', 'b')"],
            6 => parts!["reverse(", value, ")"],
            7 => parts!["trim(", value, ")"],
            8 => parts!["CAST(", self.value(Kind::Int, scope, depth), " AS VARCHAR)"],
            9 => {
                let kind = *self.dice.pick(&[Kind::Date, Kind::Ts, Kind::Dec, Kind::Bool]);
                parts!["CAST(", self.value(kind, scope, depth), " AS VARCHAR)"]
            }
            10 => parts!["get_field(", self.leaf(Kind::Who, scope), ", 'nm')"],
            _ => parts!["left(", value, ", 3)"],
        };
        Tree::value(Kind::Str, parts)
    }

    fn number(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Tree {
        let target = if kind == Kind::Dec { "DECIMAL(10, 2)" } else { "DOUBLE" };
        let one = self.value(kind, scope, depth);
        let parts = match self.dice.roll(4) {
            0 => parts!["CAST(", self.value(Kind::Int, scope, depth), " % 1000 AS ", target, ")"],
            1 if kind == Kind::Dbl => parts!["(", one, " + ", self.literal(kind), ")"],
            2 if kind == Kind::Dbl => parts!["abs(", one, ")"],
            3 if kind == Kind::Dbl && self.may_fail => parts!["CAST(", self.digits(scope), " AS DOUBLE)"],
            _ => parts!["CAST(", one, " AS ", target, ")"],
        };
        Tree::value(kind, parts)
    }

    fn moment(&mut self, kind: Kind, scope: &Scope, depth: usize) -> Tree {
        let parts = match (kind, self.dice.roll(4)) {
            (Kind::Date, 0) => parts!["CAST(", self.value(Kind::Ts, scope, depth), " AS DATE)"],
            (Kind::Date, 1) if self.may_fail => {
                parts!["CAST(", self.leaf(Kind::Str, scope), " AS DATE)"]
            }
            (Kind::Date, _) => {
                parts!["CAST(date_trunc('month', ", self.leaf(Kind::Date, scope), ") AS DATE)"]
            }
            (_, 0) => parts!["CAST(", self.leaf(Kind::Date, scope), " AS TIMESTAMP)"],
            (_, 1) if self.may_fail => parts!["CAST(", self.leaf(Kind::Str, scope), " AS TIMESTAMP)"],
            (_, 2) => parts!["(", self.leaf(Kind::Ts, scope), " + INTERVAL '1 day')"],
            _ => parts!["date_trunc('day', ", self.value(Kind::Ts, scope, depth), ")"],
        };
        Tree::value(kind, parts)
    }

    fn list(&mut self, scope: &Scope, depth: usize) -> Tree {
        let parts = match self.dice.roll(3) {
            0 => parts!["make_array(", self.value(Kind::Int, scope, depth), ", 2)"],
            1 => parts!["array_append(", self.value(Kind::List, scope, depth), ", 7)"],
            _ => parts!["array_distinct(", self.value(Kind::List, scope, depth), ")"],
        };
        Tree::value(Kind::List, parts)
    }
}
