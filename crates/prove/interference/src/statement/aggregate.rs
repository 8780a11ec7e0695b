//! Aggregates and windows whose answer does not hang on the order in which rows come.

use super::{Maker, Scope};
use crate::lake::Kind;
use crate::tree::{Tree, parts};

pub(super) fn over(maker: &mut Maker<'_>, kind: Kind, scope: &Scope) -> Tree {
    let filter = if maker.dice.once_in(6) {
        Tree::clause(parts![" FILTER (WHERE ", maker.condition(scope, 1), ")"])
    } else {
        Tree::clause(Vec::new())
    };
    let parts = match (kind, maker.dice.roll(7)) {
        (Kind::Int, 0 | 1) => parts!["count(*)", filter],
        (Kind::Int, 2) => {
            let of = maker.plain_kind();
            parts!["count(", maker.value(of, scope, 1), ")", filter]
        }
        (Kind::Int, 3) => {
            let of = maker.plain_kind();
            parts!["count(DISTINCT ", maker.value(of, scope, 1), ")"]
        }
        (Kind::Int | Kind::Dec, 4) => parts!["sum(", maker.value(kind, scope, 1), ")", filter],
        (Kind::Int, 5) => {
            let of = maker.plain_kind();
            parts!["approx_distinct(", maker.leaf(of, scope), ")"]
        }
        (Kind::Dbl, 0) => parts!["avg(", maker.leaf(Kind::Int, scope), ")", filter],
        (Kind::Str, 0) => {
            let value = maker.leaf(Kind::Str, scope).text(crate::tree::Reader::Engine);
            parts![format!("string_agg({value}, ',' ORDER BY {value})")]
        }
        (Kind::List, _) => {
            let value = maker.leaf(Kind::Int, scope).text(crate::tree::Reader::Engine);
            parts![format!("array_agg({value} ORDER BY {value})")]
        }
        (Kind::Bool, 0 | 1) => parts!["bool_and(", maker.value(kind, scope, 1), ")", filter],
        (Kind::Bool, _) => parts!["bool_or(", maker.value(kind, scope, 1), ")", filter],
        (Kind::Who, _) => return maker.literal(kind),
        (kind, n) => {
            let name = if n % 2 == 0 { "min(" } else { "max(" };
            parts![name, maker.value(kind, scope, 1), ")", filter]
        }
    };
    Tree::value(kind, parts)
}

/// A window function. Where its answer hangs on the order, it is ordered by every column there is.
pub(super) fn window(maker: &mut Maker<'_>, kind: Kind, scope: &Scope) -> Tree {
    let by = {
        let of = maker.plain_kind();
        maker.leaf(of, scope)
    };
    let partition = if maker.dice.once_in(2) {
        Tree::clause(parts!["PARTITION BY ", maker.leaf(Kind::Int, scope), " "])
    } else {
        Tree::clause(Vec::new())
    };
    let total = scope.all().join(", ");
    let can_total = scope.is_sortable() && !total.is_empty();
    let parts = match (kind, maker.dice.roll(5)) {
        (Kind::Int, 0) => {
            let name = *maker.dice.pick(&["rank()", "dense_rank()"]);
            parts!["CAST(", name, " OVER (", partition, "ORDER BY ", by, ") AS BIGINT)"]
        }
        (Kind::Int, 1) if can_total => {
            let name = *maker.dice.pick(&["row_number()", "ntile(3)"]);
            parts!["CAST(", name, " OVER (", partition, "ORDER BY ", total, ") AS BIGINT)"]
        }
        (kind, 2) if can_total => {
            let name = *maker.dice.pick(&["lag(", "lead(", "first_value(", "last_value("]);
            parts![name, maker.leaf(kind, scope), ") OVER (", partition, "ORDER BY ", total, ")"]
        }
        (Kind::Int, 3) if can_total => {
            let frame = " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING";
            parts!["sum(", maker.leaf(kind, scope), ") OVER (", partition, "ORDER BY ", total, frame, ")"]
        }
        (Kind::List | Kind::Who, _) => return maker.leaf(kind, scope),
        (kind, _) => {
            let aggregate = match kind {
                Kind::Bool => "bool_or(",
                _ => *maker.dice.pick(&["max(", "min("]),
            };
            parts![aggregate, maker.leaf(kind, scope), ") OVER (", partition, "ORDER BY ", by, ")"]
        }
    };
    Tree::value(kind, parts)
}
