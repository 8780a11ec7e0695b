//! Completes keywords, commands and the names that the user may see.

use std::sync::Arc;

use query_api::QuerySession;
use reedline::{Completer, Span, Suggestion};
use tokio::runtime::Handle;

use super::client::Client;
use super::meta::COMMANDS;

const KEYWORDS: &[&str] = &[
    "ACCESS",
    "ADD",
    "ALL",
    "ALTER",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CATALOG",
    "CHECK",
    "COLUMN",
    "COMMENT",
    "CREATE",
    "CROSS JOIN",
    "CURRENT ROLES",
    "DATABASE",
    "DELETE FROM",
    "DENY",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "EFFECTIVE",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FOR USER",
    "FROM",
    "FUNCTION",
    "FUTURE",
    "GRANT",
    "GRANTS",
    "GROUP",
    "GROUP BY",
    "HAVING",
    "IF EXISTS",
    "IF NOT EXISTS",
    "IN",
    "INNER",
    "INSERT INTO",
    "INTERSECT",
    "IS NULL",
    "JOIN",
    "LEFT JOIN",
    "LIKE",
    "LIMIT",
    "MASK",
    "MASKING",
    "MASK_DATE_SHOW_YEAR",
    "MASK_HASH",
    "MASK_NONE",
    "MASK_NULL",
    "MASK_SHOW_FIRST_4",
    "MASK_SHOW_LAST_4",
    "MERGE INTO",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "OR REPLACE",
    "ORDER BY",
    "OUTER",
    "PASSWORD",
    "POLICIES",
    "POLICY",
    "PRIVILEGES",
    "PUBLIC",
    "REVOKE",
    "RIGHT JOIN",
    "ROLE",
    "ROLES",
    "ROW FILTER",
    "SCHEMA",
    "SELECT",
    "SET",
    "SHOW",
    "TABLE",
    "TABLES IN SCHEMA",
    "THEN",
    "TO",
    "TRUE",
    "UNION",
    "UPDATE",
    "USAGE",
    "USER",
    "USERS",
    "USING",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WITH",
    "WITH GRANT OPTION",
];

/// What completion offers at most.
const SUGGESTIONS_MAX: usize = 200;

pub(crate) struct Names {
    pub(crate) client: Client,
    /// The line editor is not async; it runs on a thread of its own, which may wait.
    pub(crate) runtime: Handle,
}

impl Names {
    fn visible(&self, prefix: &str) -> Vec<String> {
        match &self.client {
            Client::Embedded(session) => self.runtime.block_on(complete(session, prefix)),
            Client::Remote(_) => self.runtime.block_on(self.client.names(&names_query(prefix))),
        }
    }
}

async fn complete(session: &Arc<dyn QuerySession>, prefix: &str) -> Vec<String> {
    session.complete(prefix).await.unwrap_or_default()
}

/// Schemas, relations and columns; what the user may not see is not in `information_schema` either.
fn names_query(prefix: &str) -> String {
    let (qualifier, last) = match prefix.rsplit_once('.') {
        Some((qualifier, last)) => (Some(qualifier), last),
        None => (None, prefix),
    };
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let starts = |name: &str| format!("starts_with(lower({name}), {})", literal(&last.to_lowercase()));
    match qualifier {
        None => format!(
            "SELECT DISTINCT name FROM (SELECT schema_name AS name FROM information_schema.schemata \
             UNION ALL SELECT table_name FROM information_schema.tables \
             UNION ALL SELECT column_name FROM information_schema.columns) AS names WHERE {} \
             ORDER BY name LIMIT {SUGGESTIONS_MAX}",
            starts("name")
        ),
        Some(qualifier) => {
            let inner = qualifier.rsplit('.').next().unwrap_or(qualifier).to_lowercase();
            format!(
                "SELECT DISTINCT {} || name FROM (\
                 SELECT table_schema AS inside, table_name AS name FROM information_schema.tables \
                 UNION ALL SELECT table_name, column_name FROM information_schema.columns) AS names \
                 WHERE lower(inside) = {} AND {} ORDER BY 1 LIMIT {SUGGESTIONS_MAX}",
                literal(&format!("{qualifier}.")),
                literal(&inner),
                starts("name")
            )
        }
    }
}

impl Completer for Names {
    fn complete(&mut self, line: &str, pos: usize) -> Vec<Suggestion> {
        let before = line.get(..pos).unwrap_or(line);
        let start = word_start(before);
        let word = before.get(start..).unwrap_or_default();
        if before.trim_start().starts_with('\\') && !before.trim_start().contains(char::is_whitespace) {
            let start = before.len() - before.trim_start().len();
            return suggestions(
                COMMANDS.iter().map(|name| (*name).to_owned()),
                before.trim_start(),
                start,
                pos,
            );
        }
        if word.is_empty() {
            return Vec::new();
        }
        let upper = word.to_uppercase();
        let is_lower = word.chars().all(|c| !c.is_uppercase());
        let keywords = KEYWORDS.iter().filter(|keyword| keyword.starts_with(&upper));
        let keywords =
            keywords.map(|keyword| if is_lower { keyword.to_lowercase() } else { (*keyword).to_owned() });
        let names: Vec<String> = self.visible(word).into_iter().chain(keywords).collect();
        suggestions(names, word, start, pos)
    }
}

fn suggestions(
    names: impl IntoIterator<Item = String>,
    prefix: &str,
    start: usize,
    end: usize,
) -> Vec<Suggestion> {
    let prefix = prefix.to_lowercase();
    names
        .into_iter()
        .filter(|name| name.to_lowercase().starts_with(&prefix))
        .take(SUGGESTIONS_MAX)
        .map(|value| Suggestion {
            value,
            span: Span::new(start, end),
            append_whitespace: false,
            ..Suggestion::default()
        })
        .collect()
}

/// Where the name that ends a text begins.
fn word_start(before: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"');
    before
        .rfind(|c: char| !is_part(c))
        .map_or(0, |at| at + before.get(at..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_may_be_qualified() {
        for (before, word) in
            [("select * from a.b", "a.b"), ("sel", "sel"), ("f(x, y", "y"), ("a = é", "é"), ("a ", "")]
        {
            assert_eq!(before.get(word_start(before)..), Some(word), "{before}");
        }
    }

    #[test]
    fn a_prefix_cannot_leave_its_literal() {
        assert!(names_query("x' or '1").contains("'x'' or ''1'"));
        assert!(names_query("a'b.c").contains("'a''b.' || name"));
    }
}
