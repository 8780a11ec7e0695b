//! Statements that nobody would write by hand: over every form that the engine accepts, in every place.

mod aggregate;
mod expression;
mod query;
mod relation;
mod scope;
mod subquery;
mod write;

pub(crate) use write::write;

use crate::dice::Dice;
use crate::lake::{Kind, Lake};
use crate::tree::{Part, Tree};
use scope::Scope;

/// Makes one statement.
pub(crate) struct Maker<'a> {
    pub(crate) dice: Dice,
    lake: &'a Lake,
    /// Counts aliases, so that each is named once in a statement.
    n_aliases: usize,
    /// Whether expressions may fail on some values.
    may_fail: bool,
    /// Tables of WITH that stand in scope.
    ctes: Vec<scope::Named>,
    /// How many more sub-queries may be made.
    n_queries_left: usize,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(lake: &'a Lake, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let may_fail = dice.once_in(3);
        Self { dice, lake, n_aliases: 0, may_fail, ctes: Vec::new(), n_queries_left: 5 }
    }

    /// A whole query.
    pub(crate) fn query(&mut self) -> Tree {
        let n = 1 + self.dice.roll(3);
        let kinds: Vec<Kind> = (0..n).map(|_| self.kind()).collect();
        self.whole_query(&kinds)
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.may_fail
    }

    fn kind(&mut self) -> Kind {
        match self.dice.roll(14) {
            0..=4 => Kind::Int,
            5..=7 => Kind::Str,
            8 => Kind::List,
            9 => Kind::Who,
            _ => *self.dice.pick(&Kind::PLAIN),
        }
    }

    fn plain_kind(&mut self) -> Kind {
        if self.dice.once_in(2) { Kind::Int } else { *self.dice.pick(&Kind::PLAIN) }
    }

    fn alias(&mut self) -> String {
        self.n_aliases += 1;
        format!("q{}", self.n_aliases)
    }

    /// Takes one of the sub-queries that are left.
    fn may_nest(&mut self) -> bool {
        let may = self.n_queries_left > 0;
        self.n_queries_left = self.n_queries_left.saturating_sub(1);
        may
    }
}

/// Puts a text between parts.
fn joined(parts: Vec<Part>, between: &str) -> Vec<Part> {
    let mut out = Vec::new();
    for part in parts {
        if !out.is_empty() {
            out.push(Part::from(between));
        }
        out.push(part);
    }
    out
}
