//! The commands that begin with a backslash, and the queries that some of them stand for.

use super::output::Format;

/// A backslash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    Quit,
    Help,
    /// Runs a query; the text is told instead of an empty result.
    Query {
        sql: String,
        if_empty: String,
    },
    Timing(Option<bool>),
    Expanded(Option<bool>),
    Format(Format),
    /// Results go to this file; `None` is back to the standard output.
    Output(Option<String>),
    Include(String),
}

pub(crate) const HELP: &str = "\
\\d [NAME]       tables and views, or the columns of one
\\dt \\dv \\dn    tables; views; schemas
\\l              catalogs
\\du             users (for those who may see them)
\\x [on|off]     one value a line
\\timing [on|off] tell how long statements took
\\format table|vertical|csv|json
\\i FILE         run a file
\\o [FILE]       send results to a file; without one, back to the terminal
\\q              leave (also Ctrl-D)
\\?              this text

A statement ends with a semicolon and may take several lines.
Tab completes names that you may see; Ctrl-R searches the history; Ctrl-C cancels.
A statement that begins with a space is not kept in the history.
";

/// Commands, for completion.
pub(crate) const COMMANDS: &[&str] = &[
    "\\?", "\\d", "\\dn", "\\dt", "\\du", "\\dv", "\\format", "\\i", "\\l", "\\o", "\\q", "\\timing", "\\x",
];

/// Reads a command line.
pub(crate) fn parse(line: &str) -> Result<Meta, String> {
    let line = line.trim().trim_end_matches(';').trim_end();
    let (name, rest) = match line.split_once(char::is_whitespace) {
        Some((name, rest)) => (name, rest.trim()),
        None => (line, ""),
    };
    let alone =
        |meta| if rest.is_empty() { Ok(meta) } else { Err(format!("`{name}` takes nothing after it")) };
    match name {
        "\\q" | "\\quit" => alone(Meta::Quit),
        "\\?" | "\\h" | "\\help" => alone(Meta::Help),
        "\\d" if rest.is_empty() => Ok(relations(&[])),
        "\\d" => columns(rest),
        "\\dt" => alone(relations(&["BASE TABLE", "TABLE"])),
        "\\dv" => alone(relations(&["VIEW"])),
        "\\dn" => alone(query(
            "SELECT schema_name AS \"schema\" FROM information_schema.schemata \
             WHERE schema_name NOT IN ('information_schema', 'pg_catalog') ORDER BY 1",
            "no schemas that you may see",
        )),
        "\\l" => alone(query(
            "SELECT DISTINCT catalog_name AS \"catalog\" FROM information_schema.schemata ORDER BY 1",
            "no catalogs that you may see",
        )),
        "\\du" => alone(query("SHOW USERS", "no users that you may see")),
        "\\timing" => Ok(Meta::Timing(on_off(name, rest)?)),
        "\\x" => Ok(Meta::Expanded(on_off(name, rest)?)),
        "\\format" => format(rest).map(Meta::Format),
        "\\o" => Ok(Meta::Output(Some(rest.to_owned()).filter(|file| !file.is_empty()))),
        "\\i" if !rest.is_empty() => Ok(Meta::Include(rest.to_owned())),
        "\\i" => Err("`\\i` takes a file name".to_owned()),
        _ => Err(format!("no such command `{name}`; `\\?` lists them")),
    }
}

pub(crate) fn format(name: &str) -> Result<Format, String> {
    match name {
        "table" => Ok(Format::Table),
        "vertical" => Ok(Format::Vertical),
        "csv" => Ok(Format::Csv),
        "json" => Ok(Format::Json),
        _ => Err(format!("no such format `{name}`; known are `table`, `vertical`, `csv` and `json`")),
    }
}

fn on_off(name: &str, text: &str) -> Result<Option<bool>, String> {
    match text {
        "" => Ok(None),
        "on" => Ok(Some(true)),
        "off" => Ok(Some(false)),
        _ => Err(format!("`{name}` takes `on` or `off`")),
    }
}

fn query(sql: &str, if_empty: &str) -> Meta {
    Meta::Query { sql: sql.to_owned(), if_empty: if_empty.to_owned() }
}

fn relations(types: &[&str]) -> Meta {
    let quoted: Vec<String> = types.iter().map(|kind| format!("'{kind}'")).collect();
    let of_type =
        if quoted.is_empty() { String::new() } else { format!(" AND table_type IN ({})", quoted.join(", ")) };
    query(
        &format!(
            "SELECT table_schema AS \"schema\", table_name AS \"name\", table_type AS \"type\" \
             FROM information_schema.tables \
             WHERE table_schema NOT IN ('information_schema', 'pg_catalog'){of_type} ORDER BY 1, 2"
        ),
        "nothing that you may see",
    )
}

/// The columns of a relation named by one to n parts.
fn columns(name: &str) -> Result<Meta, String> {
    let parts = name_parts(name).ok_or_else(|| format!("`{name}` is no name"))?;
    let (table, qualifiers) = parts.split_last().ok_or_else(|| format!("`{name}` is no name"))?;
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let within = match qualifiers {
        [] => String::new(),
        [schema] => format!(" AND table_schema = {}", literal(schema)),
        // The first part may be the catalog, or all of them may be one nested namespace.
        [first, rest @ ..] => format!(
            " AND (table_schema = {} OR (table_catalog = {} AND table_schema = {}))",
            literal(&qualifiers.join(".")),
            literal(first),
            literal(&rest.join("."))
        ),
    };
    Ok(query(
        &format!(
            "SELECT table_schema AS \"schema\", column_name AS \"column\", data_type AS \"type\", \
             is_nullable AS \"nullable\" FROM information_schema.columns WHERE table_name = {}{within} \
             ORDER BY table_catalog, table_schema, ordinal_position",
            literal(table)
        ),
        &format!("no such table or view `{name}`"),
    ))
}

/// `a."B.c".d` in parts, case folded as SQL folds it.
fn name_parts(name: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = name;
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (quoted.get(..end)?.to_owned(), quoted.get(end + 1..)?)
            }
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                (rest.get(..end)?.to_lowercase(), rest.get(end..)?)
            }
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        if after.is_empty() {
            return Some(parts);
        }
        rest = after.strip_prefix('.')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(line: &str) -> String {
        match parse(line) {
            Ok(Meta::Query { sql, .. }) => sql,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_are_read_with_and_without_their_argument() {
        assert_eq!(parse("\\q"), Ok(Meta::Quit));
        assert_eq!(parse("\\x on"), Ok(Meta::Expanded(Some(true))));
        assert_eq!(parse("\\timing"), Ok(Meta::Timing(None)));
        assert_eq!(parse("\\i a b.sql"), Ok(Meta::Include("a b.sql".to_owned())));
        assert_eq!(parse("\\o"), Ok(Meta::Output(None)));
        assert_eq!(parse("\\format json"), Ok(Meta::Format(Format::Json)));
        assert!(parse("\\x maybe").is_err());
        assert!(parse("\\nope").is_err_and(|message| message.contains("`\\nope`")));
    }

    #[test]
    fn a_name_is_folded_unless_quoted_and_its_quotes_are_escaped() {
        assert!(sql("\\d Orders;").contains("table_name = 'orders'"));
        assert!(sql("\\d \"Orders\"").contains("table_name = 'Orders'"));
        assert!(sql("\\d o'x").contains("table_name = 'o''x'"));
        assert!(sql("\\d acdemo.orders").contains("table_schema = 'acdemo'"));
        assert!(
            sql("\\d sales_wh.a.b.orders").contains("table_catalog = 'sales_wh' AND table_schema = 'a.b'")
        );
        assert!(parse("\\d a..b").is_err());
    }

    #[test]
    fn every_command_that_is_completed_is_known() {
        for command in COMMANDS {
            let message = parse(command).err().unwrap_or_default();
            assert!(!message.starts_with("no such command"), "{command}");
        }
    }
}
