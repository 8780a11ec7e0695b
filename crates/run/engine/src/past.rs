//! Tables as they were: `FOR VERSION AS OF` and its like, taken out of a statement before it is planned.

use std::ops::ControlFlow;

use catalog::Version;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use query_api::QueryError;
use sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, TableAlias, TableFactor,
    TableVersion, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use stdx::ErrorKind;

use crate::error::unsupported;
use crate::names::{RelationName, SearchPath, parts_of, quoted};
use crate::resolve::Resolved;
use crate::running::Running;
use crate::session::invalid;

/// A former state of a relation, as one place of a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastName {
    pub(crate) name: RelationName,
    pub(crate) version: Version,
}

/// Stands between a table's name and the number of one of its states; no user can write it.
const MARK: char = '\u{0}';

/// A text of a plan, with the names that [`take`] has put into it as a reader may know them.
pub(crate) fn unmarked(plan: &str) -> String {
    let mut out = String::with_capacity(plan.len());
    for (n, piece) in plan.split(MARK).enumerate() {
        match n {
            0 => out.push_str(piece),
            _ => out.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit())),
        }
    }
    out
}

/// Puts a name of its own in the place of each former state, and keeps with `resolved` what each stands for.
pub(crate) fn take(
    running: &Running,
    statement: &mut ast::Statement,
    resolved: &mut Resolved,
    path: &SearchPath,
) -> Result<(), QueryError> {
    refuse_targets(statement)?;
    let with_queries = with_queries(statement);
    match statement.visit(&mut Taker { running, resolved, path, with_queries }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Walks a statement for former states.
struct Taker<'a> {
    running: &'a Running,
    resolved: &'a mut Resolved,
    path: &'a SearchPath,
    with_queries: Vec<String>,
}
impl VisitorMut for Taker<'_> {
    type Break = QueryError;

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
        let TableFactor::Table { name, alias, version, args, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let Some(written) = version.take() else { return ControlFlow::Continue(()) };
        if args.is_some() {
            return ControlFlow::Break(unsupported("a former state of a function"));
        }
        match self.named(name, written) {
            Ok((marked, plain)) => {
                *name = marked;
                if alias.is_none() {
                    let name = Ident::with_quote('"', plain);
                    *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
                }
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}
impl Taker<'_> {
    fn named(
        &mut self,
        name: &ObjectName,
        written: TableVersion,
    ) -> Result<(ObjectName, String), QueryError> {
        let parts = parts_of(name)?;
        if let [one] = parts.as_slice()
            && self.with_queries.contains(one)
        {
            return Err(unsupported("a former state of a WITH query"));
        }
        let name = self.path.relation(&parts)?;
        if name.is_virtual() {
            return Err(unsupported("a former state of a catalog table"));
        }
        let version = version_of(self.running, written)?;
        let plain = name.name.clone();
        let past = PastName { name, version };
        let number = match self.resolved.past.iter().position(|known| *known == past) {
            Some(number) => number,
            None => {
                self.resolved.past.push(past.clone());
                self.resolved.past.len() - 1
            }
        };
        let marked = RelationName { name: format!("{plain}{MARK}{number}"), ..past.name };
        Ok((quoted(&marked), plain))
    }
}

/// What a name that [`take`] has put into a statement stands for.
pub(crate) fn named<'a>(resolved: &'a Resolved, table: &str) -> Option<&'a PastName> {
    let (_, number) = table.split_once(MARK)?;
    resolved.past.get(number.parse::<usize>().ok()?)
}

fn with_queries(statement: &ast::Statement) -> Vec<String> {
    struct Finder(Vec<String>);
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
            let with = query.with.iter().flat_map(|with| &with.cte_tables);
            self.0.extend(with.map(|cte| crate::names::fold_ident(&cte.alias.name)));
            ControlFlow::Continue(())
        }
    }
    let mut finder = Finder(Vec::new());
    let _ = statement.visit(&mut finder);
    finder.0
}

/// What was cannot be written.
fn refuse_targets(statement: &ast::Statement) -> Result<(), QueryError> {
    let is_past = |factor: &TableFactor| match factor {
        TableFactor::Table { version, .. } => version.is_some(),
        TableFactor::NestedJoin { table_with_joins, .. } => {
            matches!(table_with_joins.relation, TableFactor::Table { version: Some(_), .. })
        }
        _ => false,
    };
    let writes_past = match statement {
        ast::Statement::Update(update) => is_past(&update.table.relation),
        ast::Statement::Delete(delete) => match &delete.from {
            ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables) => {
                tables.iter().any(|table| is_past(&table.relation))
            }
        },
        ast::Statement::Merge(merge) => is_past(&merge.table),
        _ => false,
    };
    if writes_past { Err(unsupported("writing to a former state of a table")) } else { Ok(()) }
}

fn version_of(running: &Running, written: TableVersion) -> Result<Version, QueryError> {
    match written {
        TableVersion::VersionAsOf(Expr::Value(value)) => named_or_numbered(value.value),
        TableVersion::ForSystemTimeAsOf(time) | TableVersion::TimestampAsOf(time) => {
            at_time(running, time).map(Version::AtMillis)
        }
        TableVersion::Changes { changes, at, end: Some(end) } => {
            if text_argument(&changes, "INFORMATION").as_deref() != Some("APPEND_ONLY") {
                return Err(unsupported("CHANGES other than APPEND_ONLY"));
            }
            let snapshot = |clause: &Expr| -> Option<i64> { text_argument(clause, "SNAPSHOT")?.parse().ok() };
            match (snapshot(&at), snapshot(&end)) {
                (Some(after), Some(through)) => Ok(Version::Between { after, through }),
                _ => Err(invalid("the increments of a table lie between the numbers of two snapshots")),
            }
        }
        TableVersion::VersionAsOf(_) | TableVersion::Function(_) | TableVersion::Changes { .. } => {
            Err(unsupported("this form of a table's former state"))
        }
    }
}

fn named_or_numbered(value: Value) -> Result<Version, QueryError> {
    match value {
        Value::Number(digits, _) => digits
            .to_string()
            .parse()
            .map(Version::Snapshot)
            .map_err(|_| invalid("a snapshot's number is whole")),
        Value::Placeholder(_) => Err(unsupported("a parameter as a table's version")),
        other => match other.into_string() {
            Some(name) => Ok(Version::Named(name)),
            None => Err(invalid("a version is a snapshot's number, or the name of a branch or tag")),
        },
    }
}

/// The one argument of a clause such as `AT (SNAPSHOT => 1)`.
fn text_argument(clause: &Expr, wanted: &str) -> Option<String> {
    let Expr::Function(function) = clause else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. }] = list.args.as_slice() else {
        return None;
    };
    if !name.value.eq_ignore_ascii_case(wanted) {
        return None;
    }
    match value {
        Expr::Value(value) => Some(match &value.value {
            Value::Number(digits, _) => digits.to_string(),
            other => other.clone().into_string()?,
        }),
        Expr::Identifier(word) => Some(word.value.to_uppercase()),
        _ => None,
    }
}

/// A constant time in milliseconds; one without a zone is of the session's.
fn at_time(running: &Running, time: Expr) -> Result<i64, QueryError> {
    struct Parameters;
    impl Visitor for Parameters {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    if time.visit(&mut Parameters).is_break() {
        return Err(unsupported("a parameter as a table's time"));
    }
    let zone = running.time_zone.as_deref().unwrap_or("UTC");
    let wanted = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
    let value = crate::prepared::constant(running, time, Some(&wanted), "the time of a table's state")?;
    let micros = value.as_primitive_opt::<TimestampMicrosecondType>().filter(|value| value.is_valid(0));
    match micros.and_then(|value| value.values().first().copied()) {
        Some(micros) => Ok(micros.div_euclid(1_000)),
        None => Err(QueryError::new(ErrorKind::Invalid, "the time of a table's state is null")),
    }
}
