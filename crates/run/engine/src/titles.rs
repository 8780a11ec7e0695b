//! What the columns of a query's result are called: PostgreSQL's names, the same one as often as it is asked for.
//!
//! The planner wants every column named once. An item of a select list that nobody named, or whose name stands there
//! already, is planned under an alias with a mark; the mark ends where the result leaves the engine, so that
//! `SELECT 1, 1` gives two columns of one name.

mod name;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use sqlparser::ast::{self, Expr, Ident, Query, Select, SelectItem, SetExpr, SetQuantifier, TableFactor};

use crate::names::fold_ident;

/// Stands between a name and what makes it unique; no text has it, for Unicode gives it to nobody.
const MARK: char = '\u{FDD0}';

/// Names the items of every select list that makes a result or a derived table.
pub(crate) fn give(statement: &mut ast::Statement) {
    match statement {
        ast::Statement::Query(query) => in_query(query, Place::Result),
        ast::Statement::Insert(insert) => {
            if let Some(source) = &mut insert.source {
                in_query(source, Place::Result);
            }
        }
        _ => {}
    }
}

/// A name as the client sees it.
pub(crate) fn shown(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(shown, _)| shown)
}

/// A message or a plan without any mark.
pub(crate) fn unmarked(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut is_mark = false;
    for c in text.chars() {
        is_mark = c == MARK || (is_mark && c.is_ascii_digit());
        if !is_mark {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A result's columns as the client sees them.
pub(crate) fn shown_schema(schema: &SchemaRef) -> SchemaRef {
    if !schema.fields().iter().any(|field| field.name().contains(MARK)) {
        return Arc::clone(schema);
    }
    let fields: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| Arc::new(field.as_ref().clone().with_name(shown(field.name()))))
        .collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Where a select list stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Its names go to the client alone.
    Result,
    /// Its names can be used by the query around it.
    Derived,
}

fn in_query(query: &mut Query, place: Place) {
    for with in query.with.iter_mut().filter(|with| with.recursive) {
        with.cte_tables.iter_mut().for_each(name_recursion);
    }
    for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        in_query(&mut table.query, Place::Derived);
    }
    in_body(&mut query.body, place);
}

/// `WITH RECURSIVE r (a, b) AS (SELECT 1, 2 UNION …)`: the recursive part knows the columns by these names, while the
/// planner gives them to the whole only. So the static part gets them, too.
fn name_recursion(table: &mut ast::Cte) {
    if table.alias.columns.is_empty() {
        return;
    }
    let SetExpr::SetOperation { left, .. } = table.query.body.as_mut() else { return };
    let Ok(dialect::ast::Statement::Sql(template)) = dialect::parse("SELECT * FROM (SELECT 1) AS x") else {
        return;
    };
    let ast::Statement::Query(mut outer) = *template else { return };
    let SetExpr::Select(select) = outer.body.as_mut() else { return };
    let Some(from) = select.from.first_mut() else { return };
    let TableFactor::Derived { subquery, alias: Some(alias), .. } = &mut from.relation else { return };
    std::mem::swap(&mut subquery.body, left);
    *alias = table.alias.clone();
    *left = outer.body;
}

fn in_body(body: &mut SetExpr, place: Place) {
    match body {
        SetExpr::Select(select) => in_select(select, place),
        SetExpr::Query(query) => in_query(query, place),
        SetExpr::SetOperation { left, right, set_quantifier, .. } => {
            // Columns that are matched by name keep the names that they have.
            let is_by_name = matches!(
                set_quantifier,
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName
            );
            if !is_by_name {
                in_body(left, place);
                in_body(right, place);
            }
        }
        SetExpr::Values(_)
        | SetExpr::Insert(_)
        | SetExpr::Update(_)
        | SetExpr::Delete(_)
        | SetExpr::Merge(_)
        | SetExpr::Table(_) => {}
    }
}

fn in_select(select: &mut Select, place: Place) {
    for from in &mut select.from {
        in_factor(&mut from.relation);
        for join in &mut from.joins {
            in_factor(&mut join.relation);
        }
    }
    let has_wildcard = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    // In HAVING and QUALIFY the planner would take a column of the table for the alias of the same name.
    let is_usable =
        place == Place::Derived && !has_wildcard && select.having.is_none() && select.qualify.is_none();
    let mut list = List { place, has_wildcard, is_usable, ..List::default() };
    // Names that were given are kept, so they come first.
    for item in &select.projection {
        if let SelectItem::ExprWithAlias { alias, .. } = item {
            list.given.insert(fold_ident(alias));
        }
    }
    for (position, item) in select.projection.iter_mut().enumerate() {
        list.name(item, position);
    }
}

fn in_factor(factor: &mut TableFactor) {
    match factor {
        TableFactor::Derived { subquery, .. } => in_query(subquery, Place::Derived),
        TableFactor::NestedJoin { table_with_joins, .. } => {
            in_factor(&mut table_with_joins.relation);
            for join in &mut table_with_joins.joins {
                in_factor(&mut join.relation);
            }
        }
        _ => {}
    }
}

/// The names of one select list so far.
struct List {
    place: Place,
    has_wildcard: bool,
    is_usable: bool,
    given: BTreeSet<String>,
    taken: BTreeSet<String>,
    /// Columns that stand in the list as they are, in full.
    columns: BTreeSet<String>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            place: Place::Result,
            has_wildcard: false,
            is_usable: false,
            given: BTreeSet::new(),
            taken: BTreeSet::new(),
            columns: BTreeSet::new(),
        }
    }
}

impl List {
    fn name(&mut self, item: &mut SelectItem, position: usize) {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => {
                let name = fold_ident(alias);
                if !self.taken.insert(name.clone()) {
                    *alias = marked(&name, position);
                }
            }
            SelectItem::UnnamedExpr(expr) => {
                let alias = match expr {
                    Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.of_column(expr, position),
                    // One item that becomes many columns.
                    Expr::Function(function) if is_unnest(function) => None,
                    _ => Some(self.of_expression(expr, position)),
                };
                if let Some(alias) = alias {
                    *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                }
            }
            SelectItem::ExprWithAliases { .. }
            | SelectItem::QualifiedWildcard(..)
            | SelectItem::Wildcard(_) => {}
        }
    }

    /// A column needs another name where the planner would meet its own one twice.
    fn of_column(&mut self, expr: &Expr, position: usize) -> Option<Ident> {
        let name = name::of(expr);
        let is_twice = !self.columns.insert(in_full(expr));
        // Columns of two tables differ by their tables, as long as they stay in the result.
        let is_told_apart = self.place == Place::Result && matches!(expr, Expr::CompoundIdentifier(_));
        let is_same = self.given.contains(&name) || (self.taken.contains(&name) && !is_told_apart);
        if self.has_wildcard || is_twice || is_same {
            return Some(marked(&name, position));
        }
        self.taken.insert(name);
        None
    }

    fn of_expression(&mut self, expr: &Expr, position: usize) -> Ident {
        let name = name::of(expr);
        let is_free = !self.given.contains(&name) && !self.taken.contains(&name);
        if !is_free || !self.is_usable {
            return marked(&name, position);
        }
        self.taken.insert(name.clone());
        Ident::with_quote('"', name)
    }
}

/// A column as its parts spell it.
fn in_full(expr: &Expr) -> String {
    match expr {
        Expr::CompoundIdentifier(parts) => parts.iter().map(fold_ident).collect::<Vec<_>>().join("."),
        other => name::of(other),
    }
}

fn marked(name: &str, position: usize) -> Ident {
    Ident::with_quote('"', format!("{name}{MARK}{position}"))
}

fn is_unnest(function: &ast::Function) -> bool {
    function.name.to_string().eq_ignore_ascii_case("unnest")
}

#[cfg(test)]
mod tests;
