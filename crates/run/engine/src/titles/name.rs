//! PostgreSQL's name for an expression that nobody named.

use sqlparser::ast::{
    AccessExpr, DataType, Expr, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr, TimezoneInfo,
    TrimWhereField, Value,
};

use crate::names::fold_ident;

/// What PostgreSQL calls that which has no name.
const NONE: &str = "?column?";

/// The name of an expression's column.
pub(super) fn of(expr: &Expr) -> String {
    told(expr).unwrap_or_else(|| NONE.to_owned())
}

/// A name that says something; `None`: there is none.
fn told(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::Identifier(ident) => fold_ident(ident),
        Expr::CompoundIdentifier(parts) => fold_ident(parts.last()?),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => Some(fold_ident(field)),
                _ => None,
            });
            return field.or_else(|| told(root));
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => return told(inner),
        Expr::Function(function) => last(&function.name),
        Expr::Cast { expr, data_type, .. } => match told_by_more_than_type(expr) {
            Some(name) => name,
            None => type_name(data_type),
        },
        Expr::TypedString(typed) => type_name(&typed.data_type),
        Expr::Interval(_) => "interval".to_owned(),
        Expr::Value(value) => match value.value {
            Value::Boolean(_) => "bool".to_owned(),
            _ => return None,
        },
        Expr::Case { else_result, .. } => {
            else_result.as_deref().and_then(told_by_more_than_type).unwrap_or_else(|| "case".to_owned())
        }
        Expr::Exists { .. } => "exists".to_owned(),
        Expr::Subquery(query) => return of_query(query),
        Expr::Array(_) => "array".to_owned(),
        Expr::Tuple(_) => "row".to_owned(),
        Expr::AtTimeZone { .. } => "timezone".to_owned(),
        Expr::Extract { .. } => "extract".to_owned(),
        Expr::Ceil { .. } => "ceil".to_owned(),
        Expr::Floor { .. } => "floor".to_owned(),
        Expr::Position { .. } => "position".to_owned(),
        Expr::Substring { .. } => "substring".to_owned(),
        Expr::Overlay { .. } => "overlay".to_owned(),
        Expr::Trim { trim_where, .. } => match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            Some(TrimWhereField::Both) | None => "btrim",
        }
        .to_owned(),
        _ => return None,
    })
}

/// The name of a column, a function or a field: stronger than that of a type.
fn told_by_more_than_type(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => told_by_more_than_type(inner),
        Expr::Cast { expr: inner, .. } => told_by_more_than_type(inner),
        Expr::TypedString(_) | Expr::Interval(_) | Expr::Value(_) | Expr::Case { .. } => None,
        _ => told(expr),
    }
}

fn of_query(query: &Query) -> Option<String> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    match select.projection.first()? {
        SelectItem::UnnamedExpr(expr) => told(expr),
        SelectItem::ExprWithAlias { alias, .. } => Some(fold_ident(alias)),
        _ => None,
    }
}

fn last(name: &ObjectName) -> String {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(ident)) => fold_ident(ident),
        Some(ObjectNamePart::Function(_)) | None => NONE.to_owned(),
    }
}

/// The type as PostgreSQL's catalog calls it.
fn type_name(kind: &DataType) -> String {
    let known = match kind {
        DataType::SmallInt(_) | DataType::Int2(_) => "int2",
        DataType::Int(_) | DataType::Integer(_) | DataType::Int4(_) => "int4",
        DataType::BigInt(_) | DataType::Int8(_) => "int8",
        DataType::Real | DataType::Float4 => "float4",
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float8 | DataType::Float(_) => "float8",
        DataType::Numeric(_) | DataType::Decimal(_) | DataType::Dec(_) => "numeric",
        DataType::Varchar(_) | DataType::CharacterVarying(_) | DataType::CharVarying(_) => "varchar",
        DataType::Char(_) | DataType::Character(_) => "bpchar",
        DataType::Boolean | DataType::Bool => "bool",
        DataType::Timestamp(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => "timestamptz",
        DataType::Timestamp(..) => "timestamp",
        DataType::Time(..) => "time",
        DataType::Interval { .. } => "interval",
        other => {
            let text = other.to_string().to_lowercase();
            return text.split(['(', ' ', '[', '<']).next().unwrap_or(NONE).to_owned();
        }
    };
    known.to_owned()
}
