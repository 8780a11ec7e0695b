//! One statement and everything that its caller can observe of it.

use std::fmt;
use std::panic::AssertUnwindSafe;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{FutureExt, TryStreamExt};
use query_api::{Outcome, QueryError};
use testkit::Client;
use tokio_util::sync::CancellationToken;

/// What came of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Rows { columns: Vec<String>, rows: Vec<String>, notices: Vec<String> },
    Done { tag: String, n_rows: Option<u64>, notices: Vec<String> },
    Failed { sqlstate: String, message: String, hint: Option<String>, position: Option<usize> },
}

impl Told {
    /// The same without the values that an error names, and for expressions that fail on some value without more than
    /// that: which of several values and expressions is met first is open where the rows have no order.
    pub(crate) fn without_values(mut self) -> Self {
        if let Self::Failed { message, sqlstate, hint, .. } = &mut self {
            if sqlstate.starts_with("22") && sqlstate != "22023" || sqlstate == "panic" {
                "22…".clone_into(sqlstate);
                message.clear();
                *hint = None;
            }
            *message = message
                .split_inclusive([' ', ','])
                .filter(|word| !word.contains(|c: char| c.is_ascii_digit() || c == '\''))
                .collect();
        }
        self
    }

    /// The same with its rows in an order of their own.
    pub(crate) fn sorted(mut self) -> Self {
        if let Self::Rows { rows, .. } = &mut self {
            rows.sort();
        }
        self
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { columns, rows, notices } => {
                write!(f, "{} rows of ({})", rows.len(), columns.join(", "))?;
                for row in rows.iter().take(12) {
                    write!(f, "\n      {}", row.replace('\n', "\n      "))?;
                }
                if notices.is_empty() { Ok(()) } else { write!(f, "\n      told {notices:?}") }
            }
            Self::Done { tag, n_rows, notices } => write!(f, "{tag} {n_rows:?} {notices:?}"),
            Self::Failed { sqlstate, message, hint, position } => {
                write!(f, "error {sqlstate} at {position:?}: {message} (hint {hint:?})")
            }
        }
    }
}

/// Says the statements in turn; all but the last must succeed, or the first that does not is what is told.
pub(crate) async fn ask_all(client: &Client, statements: &[String]) -> Told {
    let mut last = Told::Done { tag: String::new(), n_rows: None, notices: Vec::new() };
    for statement in statements {
        last = ask(client, statement).await;
        if last.is_failure() {
            break;
        }
    }
    last
}

pub(crate) async fn ask(client: &Client, sql: &str) -> Told {
    caught(answer(client, sql)).await
}

/// What breaks a statement's task is told to its caller as a failure, too.
async fn caught(told: impl Future<Output = Told>) -> Told {
    AssertUnwindSafe(told).catch_unwind().await.unwrap_or_else(|_| Told::Failed {
        sqlstate: "panic".to_owned(),
        message: String::new(),
        hint: None,
        position: None,
    })
}

async fn answer(client: &Client, sql: &str) -> Told {
    match client.session().run(sql, &[], CancellationToken::new()).await {
        Err(error) => failed(&error),
        Ok(Outcome::Empty) => Told::Done { tag: "empty".to_owned(), n_rows: None, notices: Vec::new() },
        Ok(Outcome::Done { tag, n_rows, notices }) => Told::Done { tag: tag.to_owned(), n_rows, notices },
        Ok(Outcome::Rows { rows, notices, .. }) => {
            let columns = columns_of(&rows.schema);
            match rows.batches.try_collect::<Vec<_>>().await {
                Err(error) => failed(&error),
                Ok(batches) => {
                    let is_plan = columns.first().is_some_and(|column| column.starts_with("plan_type "));
                    let rows = batches.iter().flat_map(rows_of);
                    let rows = rows.map(|row| if is_plan { without_ids(&row) } else { row }).collect();
                    Told::Rows { columns, rows, notices }
                }
            }
        }
    }
}

/// The columns that a client is told of before a statement runs.
pub(crate) async fn describe(client: &Client, sql: &str) -> Told {
    caught(description(client, sql)).await
}

async fn description(client: &Client, sql: &str) -> Told {
    match client.session().describe(sql, &[]).await {
        Err(error) => failed(&error),
        Ok(description) => Told::Rows {
            columns: description.columns.map(|schema| columns_of(&schema)).unwrap_or_default(),
            rows: description.parameters.iter().map(|kind| kind.to_string()).collect(),
            notices: Vec::new(),
        },
    }
}

fn columns_of(schema: &Schema) -> Vec<String> {
    let one = |field: &arrow::datatypes::FieldRef| {
        format!(
            "{} {}{}",
            field.name(),
            field.data_type(),
            if field.is_nullable() { "" } else { " not null" }
        )
    };
    schema.fields().iter().map(one).collect()
}

/// Each row as one text.
pub(crate) fn rows_of(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let columns: Vec<_> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect();
    let value = |column: &Result<ArrayFormatter<'_>, _>, row: usize| match column {
        Ok(column) => column.value(row).try_to_string().unwrap_or_else(|error| error.to_string()),
        Err(_) => "?".to_owned(),
    };
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| value(column, row)).collect::<Vec<_>>().join("|"))
        .collect()
}

fn failed(error: &QueryError) -> Told {
    Told::Failed {
        sqlstate: error.kind().sqlstate().to_owned(),
        message: without_ids(error.message()),
        hint: error.hint().map(without_ids),
        position: error.position(),
    }
}

/// The number of a statement is another each time, and so are those that the optimizer gives to what it makes up.
pub(crate) fn without_ids(message: &str) -> String {
    const MADE_UP: [&str; 4] =
        ["__common_expr_", "__correlated_sq_", "__scalar_sq_", "__datafusion_extracted_"];
    let mut message = message.to_owned();
    for name in MADE_UP {
        let mut pieces = message.split(name);
        let mut bare = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            bare.push_str(name);
            bare.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        message = bare;
    }
    let is_id = |word: &str| word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    message.split(' ').map(|word| if is_id(&bare(word)) { "…" } else { word }).collect::<Vec<_>>().join(" ")
}
