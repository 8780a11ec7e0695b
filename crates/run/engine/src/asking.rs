//! EXPLAIN POLICY and SIMULATE: what policies make of a query, for its author or, to a policy admin, for others.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dialect::ast::{Ident, QueryText};
use policy::edit::{Actor, Change};
use policy::model::Member;
use policy::{Principal, Snapshot};
use query_api::{Description, Outcome, QueryError};
use sha2::{Digest, Sha256};
use sqlparser::ast;
use stdx::ErrorKind;

use crate::error::unsupported;
use crate::governance;
use crate::query;
use crate::resolve::{self, Resolved, TouchedTable};
use crate::running::Running;
use crate::session::{invalid, syntax};
use crate::show::governance::{Lines, admin, effective_lines, known_user, self_or_admin};
use crate::show::text_rows;
use crate::statement::Call;

/// Statements of one bundle: each makes another snapshot.
const BUNDLE_STATEMENTS_MAX: usize = 100;

/// What `SIMULATE` says in front of its query.
pub(crate) struct Simulation {
    pub(crate) user: Option<Ident>,
    pub(crate) roles: Option<Vec<Ident>>,
    pub(crate) bundle: Option<String>,
    pub(crate) query: QueryText,
}

pub(crate) fn explained_columns() -> SchemaRef {
    let names = ["relation", "kind", "column", "detail", "policy", "policy_version", "reason"];
    Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::Utf8, true)).to_vec()))
}

/// `EXPLAIN POLICY query [FOR USER u]`: per relation that the query reads, what SHOW EFFECTIVE POLICY says of it.
pub(crate) async fn explain(
    running: &Running,
    query: &QueryText,
    user: Option<&Ident>,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let lines = explained(running, query, user).await;
    match &lines {
        Ok(_) => running.audit_change("explain policy", "", "policy", call.text, None),
        Err(error) => running.audit_refused("explain policy", call.text, error),
    }
    text_rows(&explained_columns(), &lines?)
}

async fn explained(running: &Running, query: &QueryText, user: Option<&Ident>) -> Result<Lines, QueryError> {
    let asked = match user {
        Some(user) => {
            self_or_admin(running, &user.value, "EXPLAIN POLICY")?;
            known_user(running, &user.value)?;
            running.as_user(&user.value)
        }
        None => running.clone(),
    };
    let mut statement = parsed(query)?;
    let mut resolved = Resolved::default();
    let planned = resolve::plan(&asked, &asked.state(), &mut statement, &mut resolved).await;
    // What a view reads with its owner's rights is told to admins alone (L8).
    let told = resolved.touched.iter().filter(|table| !table.is_below || running.is_admin());
    let mut lines: Lines = told.flat_map(|table| relation_lines(running, table)).collect();
    match planned {
        Ok(_) => Ok(lines),
        // Where the query of another ends is an answer, too.
        Err(error) if user.is_some() && running.is_admin() && is_absent(&error) => {
            let mut line = vec![None; explained_columns().fields().len()];
            for (cell, text) in line.iter_mut().skip(1).zip(["refused", "", error.message()]) {
                *cell = Some(text.to_owned()).filter(|text| !text.is_empty());
            }
            lines.push(line);
            Ok(lines)
        }
        Err(error) => Err(error),
    }
}

fn is_absent(error: &QueryError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TableNotFound | ErrorKind::SchemaNotFound | ErrorKind::CatalogNotFound | ErrorKind::Denied
    )
}

fn relation_lines(running: &Running, table: &TouchedTable) -> Lines {
    let name = Some(table.name.to_string());
    let admins = |text: Option<String>| text.filter(|_| running.is_admin());
    let because = &table.gate_one.because;
    let gate_one = vec![
        name.clone(),
        Some("access".to_owned()),
        None,
        Some("allowed".to_owned()),
        admins(
            because.policy.and_then(|id| running.snapshot.state().policies.get(&id)).map(|p| p.name.clone()),
        ),
        admins(because.policy_version.map(|version| version.to_string())),
        admins(Some(because.reason.clone()).filter(|reason| !reason.is_empty())),
    ];
    let mut lines = vec![gate_one];
    if let Some(rules) = &table.rules {
        lines.extend(effective_lines(running.is_admin(), &table.columns, rules).into_iter().map(|line| {
            let mut of_relation = vec![name.clone()];
            of_relation.extend(line);
            of_relation
        }));
    }
    lines
}

/// The query, whose errors say where in the whole statement they are.
pub(crate) fn parsed(query: &QueryText) -> Result<ast::Statement, QueryError> {
    match dialect::parse(&query.text) {
        Ok(dialect::ast::Statement::Sql(sql)) if matches!(*sql, ast::Statement::Query(_)) => Ok(*sql),
        Ok(_) => Err(unsupported("anything but a query here").with_position(query.span.start)),
        Err(mut error) => {
            error.position += query.span.start;
            Err(syntax(&error))
        }
    }
}

/// `SIMULATE`: the rows that another user, roles or policies would get, to an admin from whom nothing of them is
/// hidden.
pub(crate) async fn simulate(
    running: &Running,
    simulation: &Simulation,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let prepared = prepare(running, simulation).await;
    let (asked, statement) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            running.audit_refused("simulate", call.text, &error);
            return Err(error);
        }
    };
    let hash = simulation.bundle.as_ref().map(|bundle| format!("bundle {:x}", Sha256::digest(bundle)));
    running.audit_change("simulate", hash.as_deref().unwrap_or(""), "policy", call.text, None);
    query::run(&asked, statement, call.parameters, call.text, call.bounds.clone()).await
}

pub(crate) async fn describe(
    running: &Running,
    simulation: &Simulation,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    let (asked, statement) = prepare(running, simulation).await?;
    query::describe(&asked, statement, types).await
}

async fn prepare(
    running: &Running,
    simulation: &Simulation,
) -> Result<(Running, ast::Statement), QueryError> {
    admin(running, "SIMULATE")?;
    let user = simulation.user.as_ref().map_or(running.who.user.as_str(), |user| user.value.as_str());
    known_user(running, user)?;
    let statement = parsed(&simulation.query)?;
    refuse_hidden(running, statement.clone()).await?;
    let mut snapshot = Arc::clone(&running.snapshot);
    if let Some(bundle) = &simulation.bundle {
        snapshot = with_bundle(running, bundle).await?;
    }
    if let Some(roles) = &simulation.roles {
        snapshot = Arc::new(with_roles(&snapshot, user, roles)?);
    }
    let asked = running.simulated(snapshot, user);
    // The roles that are given stand instead of those that a login claims, too.
    Ok((if simulation.roles.is_some() { asked.without_claims() } else { asked }, statement))
}

/// A simulation shows nothing that its author could not read herself.
async fn refuse_hidden(running: &Running, mut statement: ast::Statement) -> Result<(), QueryError> {
    let mut resolved = Resolved::default();
    resolve::plan(running, &running.state(), &mut statement, &mut resolved).await?;
    if resolved.reads_catalog {
        return Err(unsupported("SIMULATE over system tables"));
    }
    if resolved.hides_anything() {
        return Err(QueryError::new(
            ErrorKind::Denied,
            "permission denied to run SIMULATE: something of what the query reads is hidden from you",
        ));
    }
    Ok(())
}

/// The policies with those of the bundle, each statement on top of the ones before it; nothing of it is kept.
async fn with_bundle(running: &Running, bundle: &str) -> Result<Arc<Snapshot>, QueryError> {
    let in_bundle = |error: QueryError| {
        QueryError::new(error.kind(), format!("in the bundle of policies: {}", error.message()))
    };
    let pieces = dialect::split(bundle).map_err(|error| in_bundle(syntax(&error)))?;
    if pieces.len() > BUNDLE_STATEMENTS_MAX {
        return Err(QueryError::new(
            ErrorKind::Limit,
            format!("a bundle of policies has at most {BUNDLE_STATEMENTS_MAX} statements"),
        ));
    }
    let mut snapshot = Arc::clone(&running.snapshot);
    for piece in pieces {
        let statement = match dialect::parse(&piece.text).map_err(|error| in_bundle(syntax(&error)))? {
            dialect::ast::Statement::Governance(statement) if governance::is_edit(&statement) => statement,
            _ => {
                return Err(invalid(
                    "a bundle of policies holds statements that change policies, grants and roles",
                ));
            }
        };
        let at = running.under(Arc::clone(&snapshot));
        let edit = governance::edit_of(&at, statement).await.map_err(in_bundle)?;
        let actor = Actor::new(running.who.clone());
        let change = policy::edit::apply(&snapshot, &edit, &actor, running.now)
            .map_err(|error| in_bundle(governance::from_edit(&error)))?;
        snapshot = Arc::new(applied(&snapshot, &change)?);
    }
    Ok(snapshot)
}

fn applied(snapshot: &Snapshot, change: &Change) -> Result<Snapshot, QueryError> {
    snapshot.apply(change, snapshot.version()).map_err(|faults| {
        let first = faults.first().map(ToString::to_string).unwrap_or_default();
        invalid(format!("the policies cannot be put into place: {first}"))
    })
}

/// The same policies, with other roles for one user: she has those given and what they stand in, and no other but what
/// everybody has.
fn with_roles(snapshot: &Snapshot, user: &str, roles: &[Ident]) -> Result<Snapshot, QueryError> {
    let state = snapshot.state();
    if let Some(unknown) = roles.iter().find(|role| !state.roles.contains_key(&role.value)) {
        let message = format!("no such role `{}`", unknown.value);
        return Err(QueryError::new(ErrorKind::ObjectNotFound, message).with_position(unknown.span.start));
    }
    let groups = snapshot.membership(&Principal::user(user)).groups;
    let mut change = Change::default();
    for role in state.roles.values() {
        let mut other = role.clone();
        other.users.retain(|member| member.name != user);
        other.groups.retain(|member| member.name == policy::edit::PUBLIC || !groups.contains(&member.name));
        if roles.iter().any(|wanted| wanted.value == role.name) {
            other.users.push(Member { name: user.to_owned(), is_admin: false });
        }
        change.put_roles.push(other);
    }
    applied(snapshot, &change)
}
