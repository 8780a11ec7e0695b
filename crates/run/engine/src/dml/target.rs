//! The table that a write changes: found, allowed, and read through its own governed scan with numbered rows.

use std::sync::Arc;

use catalog::TableHandle;
use datafusion::common::{DFSchema, TableReference};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use enforce::{ColumnVerdict, SealedSource, TableVerdict, governed_schema};
use policy::operation::Operation;
use query_api::QueryError;
use sqlparser::ast;

use super::TARGET;
use crate::error::{from_datafusion, table_not_found, unsupported};
use crate::names::{RelationName, fold_ident, parts_of};
use crate::resolve::{self, Found, Resolved, TouchedTable, relation_with, verdict_for};
use crate::rules::rules_for;
use crate::running::{Running, table_object};

/// A table that may be written, as its writer sees it.
pub(crate) struct Target {
    pub(crate) name: RelationName,
    pub(crate) table: TableHandle,
    pub(crate) verdict: TableVerdict,
    /// How the statement's expressions call it.
    pub(crate) qualifier: TableReference,
}

/// The table that a statement names, if the user may do this to it; one that she may not see is not found (L8).
pub(crate) async fn allowed(
    running: &Running,
    name: &RelationName,
    operation: Operation,
    doing: &str,
) -> Result<TableHandle, QueryError> {
    let table = match resolve::find(running, name).await? {
        Found::Table(table) => table,
        Found::View(view) if running.sees_view(name, Some(&view.owner)) => {
            return Err(unsupported("a write into a view"));
        }
        Found::View(_) | Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    let (object, owner) = (table_object(name), table.owner.as_deref());
    let verdict = running.may(operation, &object, owner);
    if !verdict.is_allowed() && !running.sees_table(name, owner) {
        running.audit_denied(operation, &object, &verdict);
        return Err(table_not_found(&name.to_string()));
    }
    running.require(operation, &object, owner, &format!("{doing} table {name}"))?;
    Ok(table)
}

impl Target {
    /// The target of UPDATE, DELETE or MERGE, as one of them writes it: a name, and perhaps an alias.
    pub(crate) async fn of_factor(
        running: &Running,
        state: &SessionState,
        factor: &ast::TableFactor,
        operation: Operation,
        doing: &str,
    ) -> Result<Self, QueryError> {
        let ast::TableFactor::Table { name, alias, args: None, .. } = factor else {
            return Err(unsupported("a write into anything but a table"));
        };
        let bare = ast::TableFactor::Table {
            name: name.clone(),
            alias: alias.clone(),
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
            json_path: None,
            sample: None,
            index_hints: Vec::new(),
        };
        if bare.to_string() != factor.to_string() {
            return Err(unsupported("a clause behind the table that is written"));
        }
        if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
            return Err(unsupported("other names for the columns of the table that is written"));
        }
        let name = running.path.relation(&parts_of(name)?)?;
        let alias = alias.as_ref().map(|alias| fold_ident(&alias.name));
        Self::named(running, state, name, alias, operation, doing).await
    }

    pub(crate) async fn named(
        running: &Running,
        state: &SessionState,
        name: RelationName,
        alias: Option<String>,
        operation: Operation,
        doing: &str,
    ) -> Result<Self, QueryError> {
        let table = allowed(running, &name, operation, doing).await?;
        let (_, verdict) = verdict_for(running, state, &name, &table).await?;
        let mut target = Self::of_table(name, table, verdict);
        if let Some(alias) = alias {
            target.qualifier = TableReference::bare(alias);
        }
        Ok(target)
    }

    /// A table that may be written, under its own name.
    pub(crate) fn of_table(name: RelationName, table: TableHandle, verdict: TableVerdict) -> Self {
        let qualifier = TableReference::full(name.catalog.clone(), name.database(), name.name.clone());
        Self { name, table, verdict, qualifier }
    }

    /// What the audit record tells of a target that is read.
    pub(crate) fn touch(&self, running: &Running, operation: Operation, resolved: &mut Resolved) {
        let gate_one = running.may(operation, &table_object(&self.name), self.table.owner.as_deref());
        let rules = rules_for(running, &self.name, &self.table);
        resolved.touched.push(TouchedTable {
            name: self.name.clone(),
            is_restricting: self.verdict.is_restricting(),
            rules: Some(rules),
            columns: self.table.schema.fields().iter().map(|field| field.name().clone()).collect(),
            is_below: false,
            gate_one,
        });
    }

    /// The columns that the statement's expressions may name, as the writer sees them.
    pub(crate) fn visible_schema(&self) -> Result<DFSchema, QueryError> {
        let schema = governed_schema(&self.table.schema, &self.verdict);
        DFSchema::try_from_qualified_schema(self.qualifier.clone(), &schema)
            .map_err(|error| from_datafusion(&error))
    }

    /// The governed scan of the target, with the number of each row behind its columns.
    pub(crate) fn scan(&self, resolved: &mut Resolved) -> Result<LogicalPlan, QueryError> {
        let numbered = self.table.numbered();
        let mut columns = self.verdict.columns.clone();
        columns.push(ColumnVerdict::Raw);
        let verdict = TableVerdict { columns, ..self.verdict.clone() };
        // A relation of its own: what the statement's sub-queries read of the same table has no numbers.
        let relation = relation_with(&self.name, TARGET.to_owned());
        let schema = governed_schema(&numbered.schema, &verdict);
        let raw_schema = Arc::clone(&numbered.schema);
        resolved.judge(relation.clone(), Arc::new(verdict))?;
        let source = SealedSource::new(relation, raw_schema, schema, Arc::new(numbered));
        LogicalPlanBuilder::scan(self.qualifier.clone(), Arc::new(source), None)
            .and_then(LogicalPlanBuilder::build)
            .map_err(|error| from_datafusion(&error))
    }

    /// The position of a column that an assignment names, perhaps with the table in front.
    pub(crate) fn column(&self, written: &ast::ObjectName) -> Result<usize, QueryError> {
        let parts = parts_of(written)?;
        let not_found = || crate::error::column_not_found(&parts.join("."), &self.name);
        let (column, before) = parts.split_last().ok_or_else(not_found)?;
        let is_own = match before {
            [] => true,
            [table] => table == self.qualifier.table(),
            _ => false,
        };
        let position = self.table.schema.index_of(column).ok().filter(|_| is_own);
        position.ok_or_else(not_found)
    }
}
