//! A statement as the tree of choices that made it, so that it can be made smaller without being parsed.

use crate::lake::Kind;

/// What a subtree may be put in the place of: another of the same sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Value(Kind),
    /// A query with columns of these kinds.
    Query(Vec<Kind>),
    /// What may stand after FROM.
    Relation,
    /// A part that can be left out.
    Clause,
    /// ORDER BY over all columns, and LIMIT with it.
    Order,
    Statement,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    /// What the engine is told, and what the oracle is told in its place.
    Either {
        governed: String,
        plain: String,
    },
    Tree(Tree),
}

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) sort: Sort,
    /// The smallest text of the sort; `None` where there is none.
    pub(crate) least: Option<String>,
    pub(crate) parts: Vec<Part>,
}

/// For whom a tree is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Engine,
    Oracle,
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Tree> for Part {
    fn from(tree: Tree) -> Self {
        Self::Tree(tree)
    }
}

/// Parts out of texts and trees, in the order in which they are written.
macro_rules! parts {
    ($($part:expr),* $(,)?) => { vec![$($crate::tree::Part::from($part)),*] };
}
pub(crate) use parts;

impl Tree {
    pub(crate) fn new(sort: Sort, parts: Vec<Part>) -> Self {
        let least = match &sort {
            Sort::Value(kind) => Some(kind.least().to_owned()),
            Sort::Clause | Sort::Order => Some(String::new()),
            Sort::Query(kinds) => {
                let columns: Vec<String> =
                    kinds.iter().enumerate().map(|(i, kind)| format!("{} AS c{i}", kind.least())).collect();
                Some(format!("SELECT {}", columns.join(", ")))
            }
            Sort::Relation | Sort::Statement => None,
        };
        Self { sort, least, parts }
    }

    pub(crate) fn value(kind: Kind, parts: Vec<Part>) -> Self {
        Self::new(Sort::Value(kind), parts)
    }

    pub(crate) fn clause(parts: Vec<Part>) -> Self {
        Self::new(Sort::Clause, parts)
    }

    pub(crate) fn text(&self, reader: Reader) -> String {
        let mut out = String::new();
        self.write(reader, &mut out);
        out
    }

    fn write(&self, reader: Reader, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Either { governed, plain } => {
                    out.push_str(if reader == Reader::Engine { governed } else { plain });
                }
                Part::Tree(tree) => tree.write(reader, out),
            }
        }
    }

    /// Whether the rows come in an order that the statement asks for: its last part is one, or a query that has one.
    pub(crate) fn is_ordered(&self) -> bool {
        match self.parts.last() {
            Some(Part::Tree(tree)) => match tree.sort {
                Sort::Order => !tree.parts.is_empty() || self.is_ordered_before(),
                Sort::Query(_) => tree.is_ordered(),
                _ => false,
            },
            _ => false,
        }
    }

    /// An order that was taken away leaves the order of the query before it.
    fn is_ordered_before(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Tree(query), _] if query.is_ordered())
    }

    fn n_nodes(&self) -> usize {
        1 + self.children().map(Self::n_nodes).sum::<usize>()
    }

    fn children(&self) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tree(tree) => Some(tree),
            _ => None,
        })
    }

    /// The node of this number, counted from above.
    fn node(&self, mut at: usize) -> Option<&Self> {
        if at == 0 {
            return Some(self);
        }
        at -= 1;
        for child in self.children() {
            let n = child.n_nodes();
            if at < n {
                return child.node(at);
            }
            at -= n;
        }
        None
    }

    fn replaced(&self, mut at: usize, with: &Self) -> Self {
        if at == 0 {
            return with.clone();
        }
        at -= 1;
        let mut copy = self.clone();
        for part in &mut copy.parts {
            let Part::Tree(child) = part else { continue };
            let n = child.n_nodes();
            if at < n {
                *child = child.replaced(at, with);
                return copy;
            }
            at -= n;
        }
        copy
    }

    fn descendants<'a>(&'a self, sort: &Sort, out: &mut Vec<&'a Self>) {
        for child in self.children() {
            if child.sort == *sort {
                out.push(child);
            } else {
                child.descendants(sort, out);
            }
        }
    }

    /// Trees that are a step smaller, the smallest first.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for at in 0..self.n_nodes() {
            let Some(node) = self.node(at) else { continue };
            let mut offers = Vec::new();
            let is_least = node.least.as_ref().is_none_or(|least| node.text(Reader::Engine) == *least);
            if !is_least && let Some(least) = &node.least {
                let parts = if least.is_empty() { Vec::new() } else { parts![least.as_str()] };
                offers.push(Self { parts, ..node.clone() });
            }
            let mut below = Vec::new();
            node.descendants(&node.sort, &mut below);
            offers.extend(below.into_iter().cloned());
            found.extend(offers.into_iter().map(|offer| self.replaced(at, &offer)));
        }
        found.sort_by_key(|tree| tree.text(Reader::Engine).len());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Tree {
        Tree::value(Kind::Int, parts![text])
    }

    #[test]
    fn smaller_trees_are_parts_of_the_same_sort_or_the_least_of_it() {
        let sum = Tree::value(Kind::Int, parts!["(", number("x"), " + ", number("y"), ")"]);
        let found: Vec<String> = sum.smaller().iter().map(|tree| tree.text(Reader::Engine)).collect();
        assert_eq!(found, ["1", "x", "y", "(1 + y)", "(x + 1)"]);
    }

    #[test]
    fn a_clause_can_go_and_takes_what_hangs_on_it_along() {
        let limit = Tree::clause(parts![" LIMIT 3"]);
        let order = Tree::new(Sort::Order, parts![" ORDER BY 1", limit]);
        let query = Tree::new(Sort::Query(vec![Kind::Int]), parts!["SELECT x AS c0 FROM t", order]);
        assert!(query.is_ordered());
        let found: Vec<String> = query.smaller().iter().map(|tree| tree.text(Reader::Engine)).collect();
        assert_eq!(found, ["SELECT 1 AS c0", "SELECT x AS c0 FROM t", "SELECT x AS c0 FROM t ORDER BY 1"]);
        assert!(!query.smaller()[1].is_ordered());
    }
}
