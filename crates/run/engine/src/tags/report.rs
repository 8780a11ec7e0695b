//! Which columns bear which tags, and which tags protect nothing.

use dialect::ast::Name;
use query_api::QueryError;
use sqlparser::ast;

use super::Carried;
use crate::error::table_not_found;
use crate::names::{RelationName, parts_of_name, quoted};
use crate::query;
use crate::resolve::{Found, find};
use crate::running::Running;
use crate::statement::Call;

type Lines = Vec<Vec<Option<String>>>;

/// The tags of a table's columns, or of those that the columns of a view are made of.
pub(crate) async fn show(running: &Running, name: &Name, call: &Call<'_>) -> Result<Lines, QueryError> {
    let name = running.path.relation(&parts_of_name(name))?;
    let found = if running.is_admin() {
        find(running, &name).await?
    } else {
        crate::ddl::visible(running, &name).await?
    };
    let columns = match found {
        Found::Table(table) => {
            let rules = super::known(running, &name, &table)?;
            let names = table.schema.fields().iter().map(|field| field.name().clone());
            names.zip(rules.tags).collect()
        }
        Found::View(_) => of_view(running, &name, call).await?,
        Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    let mut lines: Lines = columns
        .into_iter()
        .flat_map(|(column, tags)| tags.into_iter().map(move |tag| vec![Some(column.clone()), Some(tag)]))
        .collect();
    lines.sort();
    Ok(lines)
}

async fn of_view(
    running: &Running,
    name: &RelationName,
    call: &Call<'_>,
) -> Result<Vec<(String, Vec<String>)>, QueryError> {
    let sql = format!("SELECT * FROM {}", quoted(name));
    let statement = match dialect::parse(&sql) {
        Ok(dialect::ast::Statement::Sql(statement)) => *statement,
        Ok(_) | Err(_) => return Err(crate::error::internal()),
    };
    let ast::Statement::Query(_) = &statement else { return Err(crate::error::internal()) };
    let governed = query::govern(running, statement, call.parameters).await?;
    let carried = Carried::of(&governed)?;
    let fields = governed.plan.schema().fields().iter();
    Ok(fields
        .zip(carried.columns)
        .map(|(field, tags)| (field.name().clone(), tags.into_iter().collect()))
        .collect())
}

/// What bears a tag that no policy in force speaks of: such a tag protects nothing.
pub(crate) fn without_policy(running: &Running) -> Lines {
    let state = running.snapshot.state();
    let is_ruled =
        |kind: &str| state.policies.values().any(|p| policy::edit::protects(&running.snapshot, p, kind));
    let mut lines: Lines = Vec::new();
    for resource in state.tagged_resources.values() {
        let level = |level: &str| resource.resource.get(level).map(|values| values.values.join(", "));
        for tag in resource.tags.iter().filter_map(|id| state.tags.get(id)).filter(|tag| !is_ruled(&tag.kind))
        {
            lines.push(vec![
                Some(tag.kind.clone()),
                Some(resource.service.clone()),
                level("database"),
                level("table"),
                level("column"),
            ]);
        }
    }
    lines.sort();
    lines
}
