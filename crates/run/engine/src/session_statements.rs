//! SET, RESET, USE and transaction blocks: statements that change nothing but the session.

use query_api::{Outcome, QueryError, TransactionState};
use sqlparser::ast::{self, Expr, ObjectName};
use stdx::ErrorKind;

use crate::error::{catalog_not_found, schema_not_found, unsupported};
use crate::names::{fold_ident, parts_of};
use crate::running::Running;
use crate::session::{DEFAULT_NAMESPACE, EngineSession, invalid};
use crate::{cursors, settings};

fn done(tag: &'static str) -> Outcome {
    Outcome::Done { tag, n_rows: None, notices: Vec::new() }
}

pub(crate) fn set(session: &EngineSession, set: ast::Set) -> Result<Outcome, QueryError> {
    match set {
        ast::Set::SingleAssignment { scope, hivevar: false, variable, values } => {
            if matches!(scope, Some(ast::ContextModifier::Global | ast::ContextModifier::Local)) {
                return Err(unsupported("SET GLOBAL or SET LOCAL"));
            }
            assign(session, &variable, &values)?;
            Ok(done("SET"))
        }
        ast::Set::SetTimeZone { local: false, value } => {
            let zone = text_of(&value)?;
            settings::set(&mut session.vars(), "timezone", Some(&zone))?;
            Ok(done("SET"))
        }
        ast::Set::SetNames { charset_name, collation_name: None } => {
            settings::set(&mut session.vars(), "client_encoding", Some(&fold_ident(&charset_name)))?;
            Ok(done("SET"))
        }
        ast::Set::SetTransaction { modes, snapshot: None, .. } => {
            transaction_modes(&modes)?;
            Ok(done("SET"))
        }
        _ => Err(unsupported("this form of SET")),
    }
}

fn assign(session: &EngineSession, variable: &ObjectName, values: &[Expr]) -> Result<(), QueryError> {
    let name = parts_of(variable)?.join(".");
    let texts = values.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    if name == "search_path" {
        let [namespace] = texts.as_slice() else {
            return Err(unsupported("a search path of more than one schema"));
        };
        session.vars().path.namespace = namespace.split('.').map(str::to_owned).collect();
        return Ok(());
    }
    let joined = texts.join(", ");
    let value = if joined.eq_ignore_ascii_case("default") { None } else { Some(joined.as_str()) };
    settings::set(&mut session.vars(), &name, value)
}

fn text_of(value: &Expr) -> Result<String, QueryError> {
    match value {
        Expr::Value(value) => match &value.value {
            ast::Value::Number(number, _) => Ok(number.clone()),
            ast::Value::Boolean(true) => Ok("on".to_owned()),
            ast::Value::Boolean(false) => Ok("off".to_owned()),
            other => other.clone().into_string().ok_or_else(|| invalid("a setting takes a text or a number")),
        },
        Expr::Identifier(ident) => Ok(fold_ident(ident)),
        Expr::UnaryOp { .. } | Expr::CompoundIdentifier(_) => Ok(value.to_string()),
        _ => Err(invalid("a setting takes a text or a number")),
    }
}

pub(crate) fn reset(session: &EngineSession, reset: &ast::ResetStatement) -> Result<Outcome, QueryError> {
    let mut vars = session.vars();
    match &reset.reset {
        ast::Reset::ALL => {
            vars.settings.clear();
            vars.path.namespace = vec![DEFAULT_NAMESPACE.to_owned()];
        }
        ast::Reset::ConfigurationParameter(name) => {
            let name = parts_of(name)?.join(".");
            if name == "search_path" {
                vars.path.namespace = vec![DEFAULT_NAMESPACE.to_owned()];
            } else {
                settings::set(&mut vars, &name, None)?;
            }
        }
    }
    Ok(done("RESET"))
}

/// `USE [CATALOG|SCHEMA] name`.
pub(crate) async fn use_object(
    session: &EngineSession,
    running: &Running,
    target: &ast::Use,
) -> Result<Outcome, QueryError> {
    let (name, kind) = match target {
        ast::Use::Catalog(name) | ast::Use::Database(name) => (name, Some("catalog")),
        ast::Use::Schema(name) => (name, Some("schema")),
        ast::Use::Object(name) => (name, None),
        ast::Use::Default => {
            session.vars().path.namespace = vec![DEFAULT_NAMESPACE.to_owned()];
            return Ok(done("USE"));
        }
        ast::Use::Warehouse(_) | ast::Use::Role(_) | ast::Use::SecondaryRoles(_) => {
            return Err(unsupported("USE WAREHOUSE or USE ROLE"));
        }
    };
    let parts = parts_of(name)?;
    let is_catalog = match (kind, parts.as_slice()) {
        (Some("catalog"), _) => true,
        (None, [one]) => running.path.catalogs.contains(one),
        _ => false,
    };
    if is_catalog {
        let [catalog] = parts.as_slice() else {
            return Err(invalid("a catalog's name has one part"));
        };
        if !running.sees_catalog(catalog) {
            return Err(catalog_not_found(catalog));
        }
        let mut vars = session.vars();
        catalog.clone_into(&mut vars.path.catalog);
        vars.path.namespace = vec![DEFAULT_NAMESPACE.to_owned()];
        return Ok(done("USE"));
    }
    let (catalog, namespace) = running.path.namespace(&parts)?;
    if namespace.is_empty() {
        return Err(schema_not_found(&parts.join(".")));
    }
    crate::resolve::visible_namespace(running, &catalog, &namespace).await?;
    let mut vars = session.vars();
    vars.path.catalog = catalog;
    vars.path.namespace = namespace;
    Ok(done("USE"))
}

/// BEGIN, COMMIT and ROLLBACK. A block may only read, so there is nothing to undo.
pub(crate) fn transaction(session: &EngineSession, sql: &ast::Statement) -> Result<Outcome, QueryError> {
    let mut vars = session.vars();
    match sql {
        ast::Statement::StartTransaction { modes, statements, .. } => {
            transaction_modes(modes)?;
            if !statements.is_empty() {
                return Err(unsupported("BEGIN … END blocks"));
            }
            let notices = match vars.transaction {
                TransactionState::Idle => Vec::new(),
                _ => vec!["there is already a transaction in progress".to_owned()],
            };
            vars.transaction = TransactionState::Open;
            Ok(Outcome::Done { tag: "BEGIN", n_rows: None, notices })
        }
        ast::Statement::Commit { chain: false, .. } => {
            let was = std::mem::replace(&mut vars.transaction, TransactionState::Idle);
            cursors::end_block(&mut vars, was == TransactionState::Failed);
            let tag = if was == TransactionState::Failed { "ROLLBACK" } else { "COMMIT" };
            Ok(Outcome::Done { tag, n_rows: None, notices: no_block(was) })
        }
        ast::Statement::Rollback { chain: false, savepoint: None } => {
            let was = std::mem::replace(&mut vars.transaction, TransactionState::Idle);
            cursors::end_block(&mut vars, true);
            Ok(Outcome::Done { tag: "ROLLBACK", n_rows: None, notices: no_block(was) })
        }
        _ => Err(unsupported("AND CHAIN and savepoints")),
    }
}

fn no_block(was: TransactionState) -> Vec<String> {
    match was {
        TransactionState::Idle => vec!["there is no transaction in progress".to_owned()],
        TransactionState::Open | TransactionState::Failed => Vec::new(),
    }
}

/// Each statement reads one snapshot; stronger levels over several statements would be a promise not kept.
fn transaction_modes(modes: &[ast::TransactionMode]) -> Result<(), QueryError> {
    for mode in modes {
        match mode {
            ast::TransactionMode::AccessMode(_) => {}
            ast::TransactionMode::IsolationLevel(
                ast::TransactionIsolationLevel::ReadCommitted
                | ast::TransactionIsolationLevel::ReadUncommitted,
            ) => {}
            ast::TransactionMode::IsolationLevel(level) => {
                return Err(QueryError::new(
                    ErrorKind::Unsupported,
                    format!(
                        "isolation level {level} is not supported: each statement reads its own snapshot"
                    ),
                ));
            }
        }
    }
    Ok(())
}
