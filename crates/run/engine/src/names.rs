//! How names of one to n parts resolve through the session's catalog and namespace.

use std::fmt;
use std::ops::ControlFlow;

use query_api::QueryError;
use sqlparser::ast::{self, Ident, ObjectName, ObjectNamePart, VisitMut, VisitorMut};
use stdx::ErrorKind;

/// The namespaces that hold no Iceberg tables.
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";
pub(crate) const PG_CATALOG: &str = "pg_catalog";
pub(crate) const SYS: &str = "sys";
/// Below `sys`, for the same tables.
const SYS_PROJECT: &str = "project";

/// A relation by its full name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RelationName {
    pub(crate) catalog: String,
    pub(crate) namespace: Vec<String>,
    pub(crate) name: String,
}

impl RelationName {
    pub(crate) fn database(&self) -> String {
        self.namespace.join(".")
    }

    pub(crate) fn is_virtual(&self) -> bool {
        self.is_in_sys()
            || matches!(self.namespace.as_slice(), [one] if one == INFORMATION_SCHEMA || one == PG_CATALOG)
    }

    pub(crate) fn is_in_sys(&self) -> bool {
        match self.namespace.as_slice() {
            [one] => one == SYS,
            [one, two] => one == SYS && two == SYS_PROJECT,
            _ => false,
        }
    }
}

impl fmt::Display for RelationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.database(), self.name)
    }
}

/// Where names are looked up: the catalogs there are, and where a session stands.
#[derive(Clone, Debug)]
pub(crate) struct SearchPath {
    pub(crate) catalogs: Vec<String>,
    pub(crate) catalog: String,
    pub(crate) namespace: Vec<String>,
}

impl SearchPath {
    /// A name in front of a dot is a catalog if there is one of that name, else a namespace of the session's catalog.
    pub(crate) fn relation(&self, parts: &[String]) -> Result<RelationName, QueryError> {
        let (name, before) = split_last(parts)?;
        if before.is_empty() {
            return Ok(RelationName {
                catalog: self.catalog.clone(),
                namespace: self.namespace.clone(),
                name: name.clone(),
            });
        }
        let (catalog, namespace) = self.namespace_of(before);
        if namespace.is_empty() {
            return Ok(RelationName {
                catalog: self.catalog.clone(),
                namespace: before.to_vec(),
                name: name.clone(),
            });
        }
        Ok(RelationName { catalog, namespace, name: name.clone() })
    }

    /// A namespace by name.
    pub(crate) fn namespace(&self, parts: &[String]) -> Result<(String, Vec<String>), QueryError> {
        let (catalog, namespace) = self.namespace_of(parts);
        if namespace.is_empty() {
            return Ok((self.catalog.clone(), parts.to_vec()));
        }
        Ok((catalog, namespace))
    }

    fn namespace_of(&self, parts: &[String]) -> (String, Vec<String>) {
        match parts.split_first() {
            Some((first, rest)) if self.catalogs.contains(first) => (first.clone(), rest.to_vec()),
            _ => (self.catalog.clone(), parts.to_vec()),
        }
    }
}

fn split_last(parts: &[String]) -> Result<(&String, &[String]), QueryError> {
    parts.split_last().ok_or_else(|| QueryError::new(ErrorKind::Syntax, "a name is missing"))
}

/// The words of an identifier as SQL folds them.
pub(crate) fn fold_ident(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The parts of an object's name.
pub(crate) fn parts_of(name: &ObjectName) -> Result<Vec<String>, QueryError> {
    name.0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) => Ok(fold_ident(ident)),
            ObjectNamePart::Function(_) => {
                Err(QueryError::new(ErrorKind::Unsupported, "a function in place of a name is not supported"))
            }
        })
        .collect()
}

pub(crate) fn parts_of_name(name: &dialect::ast::Name) -> Vec<String> {
    name.parts.iter().map(|part| part.value.clone()).collect()
}

/// Writes every name of two or more parts in full, and gives the session words without parentheses theirs.
///
/// Names of one part stay: they may be those of common table expressions.
pub(crate) fn write_in_full<T: VisitMut>(node: &mut T, path: &SearchPath) -> Result<(), QueryError> {
    struct Writer<'a> {
        path: &'a SearchPath,
    }
    impl VisitorMut for Writer<'_> {
        type Break = QueryError;

        fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<QueryError> {
            if name.0.len() < 2 {
                return ControlFlow::Continue(());
            }
            match parts_of(name).and_then(|parts| self.path.relation(&parts)) {
                Ok(full) => {
                    *name = quoted(&full);
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            }
        }

        fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<QueryError> {
            if let ast::Expr::Identifier(ident) = expr
                && ident.quote_style.is_none()
                && let Some(word) = session_word(&ident.value)
            {
                *expr = call(word);
            }
            ControlFlow::Continue(())
        }
    }
    match node.visit(&mut Writer { path }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Words that stand for a session function when they are written without parentheses.
fn session_word(word: &str) -> Option<&'static str> {
    ["current_user", "session_user", "query_user", "current_role", "current_schema", "current_catalog"]
        .into_iter()
        .find(|known| word.eq_ignore_ascii_case(known))
}

fn call(function: &str) -> ast::Expr {
    ast::Expr::Function(ast::Function {
        name: ObjectName::from(vec![Ident::new(function)]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: Vec::new(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The full name as three quoted identifiers, the namespace's parts joined by dots.
pub(crate) fn quoted(name: &RelationName) -> ObjectName {
    let ident = |text: &str| Ident::with_quote('"', text);
    ObjectName::from(vec![ident(&name.catalog), ident(&name.database()), ident(&name.name)])
}
