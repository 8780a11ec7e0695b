//! TABLESAMPLE: a share of the rows that the reader sees, drawn anew at each reading.

use std::ops::ControlFlow;

use query_api::QueryError;
use sqlparser::ast::{
    self, Ident, TableAlias, TableFactor, TableSample, TableSampleKind, TableSampleUnit, VisitMut, VisitorMut,
};
use stdx::ErrorKind;

use crate::error::unsupported;
use crate::names::fold_ident;

/// Puts a query of its own in the place of each sampled relation: whether a row is drawn is asked of rows that are
/// already filtered and masked.
pub(crate) fn write_out(statement: &mut ast::Statement) -> Result<(), QueryError> {
    match statement.visit(&mut Writer) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Writer;

impl VisitorMut for Writer {
    type Break = QueryError;

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
        let (TableFactor::Table { sample, .. } | TableFactor::Derived { sample, .. }) = factor else {
            return ControlFlow::Continue(());
        };
        let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample.take()
        else {
            return ControlFlow::Continue(());
        };
        match sampled(factor, &sample) {
            Ok(written) => {
                *factor = written;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn sampled(factor: &TableFactor, sample: &TableSample) -> Result<TableFactor, QueryError> {
    if sample.seed.is_some() || sample.bucket.is_some() || sample.offset.is_some() {
        return Err(unsupported("TABLESAMPLE with a seed, buckets or an offset"));
    }
    let alias = match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.clone())
        }
        TableFactor::Table { name, .. } => {
            let ident = name.0.last().and_then(ast::ObjectNamePart::as_ident);
            ident.map(|ident| TableAlias {
                explicit: true,
                name: Ident::with_quote('"', fold_ident(ident)),
                columns: Vec::new(),
                at: None,
            })
        }
        _ => None,
    };
    // Columns are renamed by the alias outside, so that inside the relation needs only its name.
    let mut inner = factor.clone();
    if let TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } =
        &mut inner
    {
        alias.columns.clear();
    }
    let quantity = sample
        .quantity
        .as_ref()
        .ok_or_else(|| QueryError::new(ErrorKind::Syntax, "TABLESAMPLE needs a share of the rows"))?;
    let number = number_of(&quantity.value)?;
    let text = match quantity.unit {
        Some(TableSampleUnit::Rows) => format!("SELECT * FROM t ORDER BY random() LIMIT {}", quantity.value),
        Some(TableSampleUnit::Percent) | None if (0.0..=100.0).contains(&number) => {
            format!("SELECT * FROM t WHERE random() * 100 < {}", quantity.value)
        }
        Some(TableSampleUnit::Percent) | None => {
            return Err(QueryError::new(ErrorKind::Invalid, "a sample is between 0 and 100 percent"));
        }
    };
    let mut query = match dialect::parse(&text) {
        Ok(dialect::ast::Statement::Sql(statement)) => match *statement {
            ast::Statement::Query(query) => query,
            _ => return Err(crate::error::internal()),
        },
        Ok(_) | Err(_) => return Err(QueryError::new(ErrorKind::Syntax, "TABLESAMPLE needs a number")),
    };
    let ast::SetExpr::Select(select) = query.body.as_mut() else { return Err(crate::error::internal()) };
    match select.from.as_mut_slice() {
        [from] => from.relation = inner,
        _ => return Err(crate::error::internal()),
    }
    Ok(TableFactor::Derived { lateral: false, subquery: query, alias, sample: None })
}

fn number_of(value: &ast::Expr) -> Result<f64, QueryError> {
    let number = match value {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => text.to_string().parse::<f64>().ok(),
            _ => None,
        },
        _ => None,
    };
    number.ok_or_else(|| QueryError::new(ErrorKind::Invalid, "TABLESAMPLE takes a number"))
}
