//! CREATE VIEW: a text that is planned for its reader at each use, with her rights or with its owner's.

use std::collections::BTreeSet;

use catalog::{NewView, OnExisting, ViewSecurity};
use datafusion::logical_expr::LogicalPlan;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast;
use stdx::ErrorKind;

use super::{done, in_the_way, name_refused, named_twice, require_namespace};
use crate::error::unsupported;
use crate::names::{RelationName, fold_ident, parts_of};
use crate::resolve::{self, Found, Resolved, find};
use crate::running::{Running, view_object};
use crate::session::invalid;
use crate::statement::Call;

pub(crate) async fn create_view(
    running: &Running,
    create: ast::CreateView,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    refuse_unknown_clauses(&create)?;
    let name = running.path.relation(&parts_of(&create.name)?)?;
    if name.is_virtual() {
        return Err(invalid("views cannot be made in this schema"));
    }
    require_namespace(running, &name, Operation::CreateView, "create a view").await?;
    let found = find(running, &name).await?;
    let error = in_the_way(running, &name, &found, "create a view");
    match found {
        Found::Nothing => {}
        _ if error.kind() != ErrorKind::TableExists => return Err(error),
        Found::View(_) if create.if_not_exists => {
            return Ok(done(
                "CREATE VIEW",
                vec![format!("relation \"{}\" already exists, skipping", name.name)],
            ));
        }
        Found::View(view) if create.or_replace => {
            running.require(
                Operation::ReplaceView,
                &view_object(&name),
                Some(&view.owner),
                &format!("replace view {name}"),
            )?;
        }
        _ => return Err(error),
    }
    // Planned once, for its maker: a view over what she may not see, or with a fault in it, is not made.
    let columns: Vec<String> = create.columns.iter().map(|column| fold_ident(&column.name)).collect();
    let mut statement = ast::Statement::Query(create.query.clone());
    let sql = statement.to_string();
    let mut resolved = Resolved::default();
    let plan = resolve::plan(running, &running.state(), &mut statement, &mut resolved).await?;
    check_columns(&columns, &plan)?;
    if !resolved.files.is_empty() {
        return Err(unsupported("a view over files"));
    }
    if !plan.get_parameter_names().map_err(|error| crate::error::from_datafusion(&error))?.is_empty() {
        return Err(QueryError::new(ErrorKind::Invalid, "a view cannot have parameters"));
    }
    if resolved.touched.iter().any(|touched| touched.name == name) {
        return Err(invalid(format!("view {name} cannot read itself")));
    }
    refuse_lost(running, &name, &columns, &plan)?;
    let reads = crate::view::reads_of(&crate::view::aliased(plan, &columns)?, &resolved)?;
    let view = NewView {
        sql,
        default_catalog: running.path.catalog.clone(),
        default_namespace: running.path.namespace.clone(),
        columns,
        security: security_of(&create),
        owner: running.who.user.clone(),
        reads,
    };
    let on_existing = if create.or_replace { OnExisting::Replace } else { OnExisting::Fail };
    let catalog = running.catalog(&name.catalog)?;
    if let Err(error) = catalog.create_view(&name.namespace, &name.name, view, on_existing).await {
        return Err(name_refused(running, &name, &error, "create a view").await);
    }
    running.audit_change("create", &name.to_string(), "view", call.text, None);
    Ok(done("CREATE VIEW", super::create::protected_by_name(running, "view", &name)))
}

/// A column that a policy on the view masks or reads must be there in its new text, too: under another name it would
/// be shown again (L7).
fn refuse_lost(
    running: &Running,
    name: &RelationName,
    columns: &[String],
    plan: &LogicalPlan,
) -> Result<(), QueryError> {
    let own: Vec<&str> = match columns {
        [] => plan.schema().fields().iter().map(|field| crate::titles::shown(field.name())).collect(),
        listed => listed.iter().map(String::as_str).collect(),
    };
    let service = running.snapshot.gate_two_service(&name.catalog);
    for policy in policy::edit::policies_on(&running.snapshot, service, &name.database(), &name.name) {
        let pins = policy::edit::pins(policy);
        let needed = pins.columns.iter().chain(&pins.needs).map(|column| column.name.as_str());
        if let Some(lost) = needed.into_iter().find(|needed| !own.contains(needed)) {
            // Only who may see policies learns their names (L7, L8).
            let which = if running.is_admin() { format!(": {}", policy.name) } else { String::new() };
            return Err(QueryError::new(
                ErrorKind::Dependent,
                format!("column `{lost}` is needed by a policy on view {name}{which}"),
            )
            .with_hint("drop or change the policy first"));
        }
    }
    Ok(())
}

/// A view's columns are as many as its query's, and each is named once.
fn check_columns(columns: &[String], plan: &LogicalPlan) -> Result<(), QueryError> {
    if !columns.is_empty() && columns.len() != plan.schema().fields().len() {
        return Err(invalid(format!(
            "the view lists {} columns, and its query gives {}",
            columns.len(),
            plan.schema().fields().len()
        )));
    }
    let twice = match columns {
        [] => first_twice(plan.schema().fields().iter().map(|field| crate::titles::shown(field.name()))),
        listed => first_twice(listed.iter().map(String::as_str)),
    };
    if let Some(twice) = twice {
        return Err(named_twice(twice));
    }
    Ok(())
}

fn first_twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Whoever writes a view is its owner, also where she replaces another's: nobody gives away rights that are not hers.
fn security_of(create: &ast::CreateView) -> ViewSecurity {
    match create.params.as_ref().and_then(|params| params.security.as_ref()) {
        Some(ast::CreateViewSecurity::Definer) => ViewSecurity::Definer,
        Some(ast::CreateViewSecurity::Invoker) | None => ViewSecurity::Invoker,
    }
}

fn refuse_unknown_clauses(create: &ast::CreateView) -> Result<(), QueryError> {
    let is_plain = !create.or_alter
        && !create.materialized
        && !create.secure
        && matches!(create.options, ast::CreateTableOptions::None)
        && create.cluster_by.is_empty()
        && create.comment.is_none()
        && !create.with_no_schema_binding
        && !create.temporary
        && !create.copy_grants
        && create.to.is_none()
        && create.columns.iter().all(|column| column.data_type.is_none() && column.options.is_none());
    if !is_plain {
        return Err(unsupported("a clause of this CREATE VIEW"));
    }
    match &create.params {
        None => Ok(()),
        Some(ast::CreateViewParams { algorithm: None, definer: None, security: _ }) => Ok(()),
        Some(_) => Err(unsupported("ALGORITHM or DEFINER of a view")),
    }
}
