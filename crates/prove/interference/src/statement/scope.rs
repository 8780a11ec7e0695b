//! What names stand for at one place of a statement.

use crate::lake::Kind;

/// A column by its full text.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Of a relation: its name. Of a column: `alias.column`.
    pub(super) text: String,
    pub(super) columns: Vec<Column>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether a cast to a number does not fail on what is visible.
    pub(super) is_digits: bool,
}

impl Column {
    pub(super) fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, is_digits: false }
    }
}

/// Relations in scope, and the scope around a sub-query.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) relations: Vec<Named>,
    pub(super) outer: Option<Box<Scope>>,
}

/// A column reference.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) text: String,
    pub(super) is_digits: bool,
}

impl Scope {
    pub(super) fn of(relation: Named) -> Self {
        Self { relations: vec![relation], outer: None }
    }

    pub(super) fn within(&self) -> Self {
        Self { relations: Vec::new(), outer: Some(Box::new(self.clone())) }
    }

    pub(super) fn columns(&self, kind: Kind) -> Vec<Found> {
        let mut found = Vec::new();
        for relation in &self.relations {
            for column in relation.columns.iter().filter(|column| column.kind == kind) {
                found.push(Found {
                    text: format!("{}.{}", relation.text, column.name),
                    is_digits: column.is_digits,
                });
            }
        }
        found
    }

    /// Every column that has an order, so that ordering by all of them leaves nothing open.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all = Vec::new();
        for relation in &self.relations {
            all.extend(relation.columns.iter().map(|column| format!("{}.{}", relation.text, column.name)));
        }
        all
    }

    pub(super) fn is_sortable(&self) -> bool {
        let plain = |column: &Column| !matches!(column.kind, Kind::Who | Kind::List);
        self.relations.iter().all(|relation| relation.columns.iter().all(plain))
    }
}
