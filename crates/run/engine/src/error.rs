//! Errors of planning and running in the caller's voice.

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use enforce::EnforceError;
use query_api::QueryError;
use stdx::ErrorKind;

use crate::scan::PolicyFailed;
use crate::titles;

/// A relation that is not there, or that the caller may not see: the same words for both (L8).
pub(crate) fn table_not_found(full_name: &str) -> QueryError {
    QueryError::new(ErrorKind::TableNotFound, format!("table '{full_name}' not found"))
}

pub(crate) fn column_not_found(column: &str, table: &crate::names::RelationName) -> QueryError {
    QueryError::new(ErrorKind::ColumnNotFound, format!("no such column `{column}` in table {table}"))
}

/// What gate two says of a table cannot be had; why stays unsaid (L6).
pub(crate) fn policy_unavailable(full_name: &str) -> QueryError {
    QueryError::new(ErrorKind::Unavailable, format!("policy unavailable for table '{full_name}'"))
}

pub(crate) fn schema_not_found(full_name: &str) -> QueryError {
    QueryError::new(ErrorKind::SchemaNotFound, format!("schema '{full_name}' not found"))
}

pub(crate) fn catalog_not_found(name: &str) -> QueryError {
    QueryError::new(ErrorKind::CatalogNotFound, format!("catalog '{name}' not found"))
}

pub(crate) fn unsupported(what: impl std::fmt::Display) -> QueryError {
    QueryError::new(ErrorKind::Unsupported, format!("{what} is not supported"))
        .with_hint("see docs/reference/limits.md")
}

/// What the caller may read of an error from DataFusion. The log keeps the rest.
pub(crate) fn from_datafusion(error: &DataFusionError) -> QueryError {
    match error {
        DataFusionError::SchemaError(inner, _) => from_schema(inner),
        DataFusionError::Plan(text) => from_plan_text(text),
        DataFusionError::NotImplemented(text) if text.contains("does not support logical expression") => {
            let what = match text.contains("OuterReferenceColumn") {
                true => "a column of the query around it in this place",
                false if text.contains("expression ScalarSubquery") => {
                    "a sub-query of one value in this place"
                }
                false => "IN or EXISTS with a sub-query in this place",
            };
            unsupported(what)
        }
        DataFusionError::NotImplemented(text) => QueryError::new(ErrorKind::Unsupported, first_line(text)),
        DataFusionError::SQL(inner, _) => QueryError::new(ErrorKind::Syntax, first_line(&inner.to_string())),
        DataFusionError::ArrowError(inner, _) => from_arrow(inner),
        DataFusionError::ResourcesExhausted(_) => QueryError::new(
            ErrorKind::Limit,
            "the query needs more memory than `engine.memory_limit_bytes` allows",
        ),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => from_datafusion(inner),
        DataFusionError::Shared(inner) => from_datafusion(inner),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => from_datafusion(first),
            None => internal(),
        },
        DataFusionError::Execution(text) => from_execution_text(text),
        DataFusionError::External(inner) => {
            if let Some(query) = inner.downcast_ref::<QueryError>() {
                query.clone()
            } else if inner.downcast_ref::<PolicyFailed>().is_some() {
                QueryError::new(ErrorKind::Unavailable, PolicyFailed.to_string())
            } else if let Some(enforce) = inner.downcast_ref::<EnforceError>() {
                QueryError::new(enforce.kind(), enforce.to_string())
            } else if let Some(catalog) = inner.downcast_ref::<catalog::CatalogError>() {
                from_catalog(catalog)
            } else if let Some(nested) = inner.downcast_ref::<DataFusionError>() {
                from_datafusion(nested)
            } else if let Some(arrow) = inner.downcast_ref::<ArrowError>() {
                from_arrow(arrow)
            } else {
                internal()
            }
        }
        _ => internal(),
    }
}

pub(crate) fn from_enforce(error: &EnforceError) -> QueryError {
    match error {
        EnforceError::Plan(inner) => from_datafusion(inner),
        other => QueryError::new(other.kind(), other.to_string()),
    }
}

pub(crate) fn from_catalog(error: &catalog::CatalogError) -> QueryError {
    match error {
        catalog::CatalogError::Input(inner) => from_datafusion(inner),
        other => QueryError::new(other.kind(), other.to_string()),
    }
}

pub(crate) fn from_store(error: &store::StoreError) -> QueryError {
    QueryError::new(error.kind(), error.to_string())
}

pub(crate) fn internal() -> QueryError {
    QueryError::new(ErrorKind::Internal, "internal error")
}

fn from_schema(error: &SchemaError) -> QueryError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let valid: Vec<String> = valid_fields
                .iter()
                .take(8)
                .map(|column| format!("`{}`", titles::shown(&column.name)))
                .collect();
            let error =
                QueryError::new(ErrorKind::ColumnNotFound, format!("no such column `{}`", field.flat_name()));
            if valid.is_empty() {
                error
            } else {
                error.with_hint(format!("columns here: {}", valid.join(", ")))
            }
        }
        other => QueryError::new(ErrorKind::Invalid, first_line(&other.to_string())),
    }
}

fn from_plan_text(text: &str) -> QueryError {
    // A plan in a message names files, and what policies and views are made of.
    if text.contains("SanityCheckPlan") || text.contains("Exec:") {
        return unsupported("this order or partitioning of what the query is made of");
    }
    let kind = if text.starts_with("table '") && text.ends_with("not found") {
        ErrorKind::TableNotFound
    } else if text.contains("Invalid function") || text.contains("table function") {
        ErrorKind::FunctionNotFound
    } else {
        ErrorKind::Invalid
    };
    let kind = if text.contains("type_coercion")
        || text.contains("Cannot coerce")
        || text.contains("No function matches")
    {
        ErrorKind::TypeMismatch
    } else {
        kind
    };
    QueryError::new(kind, first_line(text))
}

fn from_execution_text(text: &str) -> QueryError {
    let lower = text.to_lowercase();
    let kind = if lower.contains("divide by zero") || lower.contains("division by zero") {
        ErrorKind::DivisionByZero
    } else if lower.contains("overflow") || lower.contains("out of range") {
        ErrorKind::OutOfRange
    } else {
        ErrorKind::Invalid
    };
    QueryError::new(kind, first_line(text))
}

fn from_arrow(error: &ArrowError) -> QueryError {
    match error {
        ArrowError::DivideByZero => QueryError::new(ErrorKind::DivisionByZero, "division by zero"),
        ArrowError::ArithmeticOverflow(text) => QueryError::new(ErrorKind::OutOfRange, first_line(text)),
        ArrowError::CastError(text) | ArrowError::ParseError(text) => {
            QueryError::new(ErrorKind::BadText, first_line(text))
        }
        ArrowError::ComputeError(text) | ArrowError::InvalidArgumentError(text) => from_execution_text(text),
        ArrowError::NotYetImplemented(text) => QueryError::new(ErrorKind::Unsupported, first_line(text)),
        ArrowError::ExternalError(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(error) => from_datafusion(error),
            None => internal(),
        },
        _ => internal(),
    }
}

/// Errors of libraries carry back traces and advice after the first line.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    // Some print a piece of the syntax tree, which tells a person nothing.
    if line.contains("Ident {") || line.contains("ObjectName(") {
        return "this form of the statement is not supported".to_owned();
    }
    titles::unmarked(line.trim_end_matches('.')).into_owned()
}
