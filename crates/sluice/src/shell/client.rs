//! Runs statements, over the PostgreSQL protocol or in this process, and brings what comes to a [`Writer`].

use std::sync::Arc;

use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{StreamExt, TryStreamExt};
use query_api::{Outcome, QueryError, QuerySession, Rows};
use tokio::sync::mpsc;
use tokio_postgres::error::ErrorPosition;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, SimpleQueryMessage, Socket};
use tokio_util::sync::CancellationToken;

use super::output::{Column, ValueKind, Values, Writer};
use super::split::first_words;
use super::tls::{Encrypted, Tls};

/// A statement that failed, as the user is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) sqlstate: Option<String>,
    pub(crate) hint: Option<String>,
    /// Counted in characters from 0.
    pub(crate) position: Option<usize>,
    /// The connection is gone; nothing further can run.
    pub(crate) is_fatal: bool,
}

impl Failure {
    pub(crate) fn local(message: impl Into<String>) -> Self {
        Self { message: message.into(), sqlstate: None, hint: None, position: None, is_fatal: false }
    }

    fn from_query(error: &QueryError, statement: &str) -> Self {
        let position =
            error.position().and_then(|bytes| statement.get(..bytes)).map(|before| before.chars().count());
        Self {
            message: error.message().to_owned(),
            sqlstate: Some(error.kind().sqlstate().to_owned()),
            hint: error.hint().map(str::to_owned),
            position,
            is_fatal: false,
        }
    }

    pub(crate) fn from_postgres(error: &tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            let mut message = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(inner) = source {
                message = format!("{message}: {inner}");
                source = inner.source();
            }
            return Self { is_fatal: error.is_closed(), ..Self::local(message) };
        };
        let position = match db.position() {
            Some(ErrorPosition::Original(at)) => usize::try_from(*at).ok().and_then(|at| at.checked_sub(1)),
            _ => None,
        };
        Self {
            message: db.message().to_owned(),
            sqlstate: Some(db.code().code().to_owned()),
            hint: db.hint().map(str::to_owned),
            position,
            is_fatal: matches!(db.severity(), "FATAL" | "PANIC"),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { is_fatal: true, ..Self::local(format!("the output cannot be written: {error}")) }
    }
}

/// What statements run on.
#[derive(Clone)]
pub(crate) enum Client {
    Remote(Remote),
    Embedded(Arc<dyn QuerySession>),
}

#[derive(Clone)]
pub(crate) struct Remote {
    client: Arc<tokio_postgres::Client>,
    notices: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>>,
    tls: Tls,
}

/// What a statement without an error left to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) notices: Vec<String>,
}

impl Client {
    /// Connects; the connection is driven by a task of its own until it ends.
    pub(crate) async fn connect(config: &tokio_postgres::Config, tls: Tls) -> Result<Self, Failure> {
        let (client, notices) = connect(config, tls.clone()).await?;
        let notices = Arc::new(tokio::sync::Mutex::new(notices));
        Ok(Self::Remote(Remote { client: Arc::new(client), notices, tls }))
    }

    /// Runs one statement and writes its result.
    pub(crate) async fn run(
        &self,
        statement: &str,
        writer: &mut Writer<'_>,
        cancel: &CancellationToken,
    ) -> Result<Completion, Failure> {
        match self {
            Self::Remote(remote) => remote.run(statement, writer, cancel).await,
            Self::Embedded(session) => {
                let outcome = session.run(statement, &[], cancel.clone()).await;
                let outcome = outcome.map_err(|error| Failure::from_query(&error, statement))?;
                write_outcome(outcome, statement, writer).await
            }
        }
    }

    /// The first column of a query's result; nothing where it fails.
    pub(crate) async fn names(&self, query: &str) -> Vec<String> {
        match self {
            Self::Remote(remote) => {
                let Ok(messages) = remote.client.simple_query(query).await else { return Vec::new() };
                let rows = messages.iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => row.try_get(0).ok().flatten().map(str::to_owned),
                    _ => None,
                });
                rows.collect()
            }
            Self::Embedded(_) => Vec::new(),
        }
    }
}

/// Connects; what the server tells meanwhile comes by the channel.
pub(crate) async fn connect(
    config: &tokio_postgres::Config,
    tls: Tls,
) -> Result<(tokio_postgres::Client, mpsc::UnboundedReceiver<String>), Failure> {
    let mut config = config.clone();
    config.ssl_mode(tls.mode);
    let (client, connection) = config.connect(tls).await.map_err(|error| Failure::from_postgres(&error))?;
    let (sender, notices) = mpsc::unbounded_channel();
    tokio::spawn(drive(connection, sender));
    Ok((client, notices))
}

async fn drive(
    mut connection: tokio_postgres::Connection<Socket, Encrypted>,
    notices: mpsc::UnboundedSender<String>,
) {
    let mut messages = futures::stream::poll_fn(move |context| connection.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        if let AsyncMessage::Notice(notice) = message {
            // Whoever does not listen still wants the connection driven.
            let _ = notices.send(notice.message().to_owned());
        }
    }
}

impl Remote {
    async fn run(
        &self,
        statement: &str,
        writer: &mut Writer<'_>,
        cancel: &CancellationToken,
    ) -> Result<Completion, Failure> {
        let kinds = self.column_kinds(statement).await;
        let stream = self.client.simple_query_raw(statement).await;
        let mut stream = std::pin::pin!(stream.map_err(|error| Failure::from_postgres(&error))?);
        let mut has_rows = false;
        let mut is_cancelled = false;
        loop {
            let message = tokio::select! {
                message = stream.try_next() => message.map_err(|error| Failure::from_postgres(&error))?,
                () = cancel.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    let token = self.client.cancel_token();
                    token.cancel_query(self.tls.clone()).await.map_err(|error| Failure::from_postgres(&error))?;
                    continue;
                }
            };
            match message {
                None => break,
                Some(SimpleQueryMessage::RowDescription(columns)) => {
                    has_rows = true;
                    let kind = |at: usize| kinds.get(at).copied().unwrap_or(ValueKind::Other);
                    let named = columns.iter().enumerate();
                    writer.columns(
                        named
                            .map(|(at, column)| Column { name: column.name().to_owned(), kind: kind(at) })
                            .collect(),
                    )?;
                }
                Some(SimpleQueryMessage::Row(row)) => {
                    let value = |at| row.try_get(at).ok().flatten().map(str::to_owned);
                    writer.row((0..row.len()).map(value).collect())?;
                }
                Some(SimpleQueryMessage::CommandComplete(_)) if has_rows => {
                    writer.end()?;
                    has_rows = false;
                }
                Some(SimpleQueryMessage::CommandComplete(n_rows)) => writer.done(&tag(statement, n_rows))?,
                Some(_) => {}
            }
        }
        Ok(Completion { notices: self.take_notices().await })
    }

    /// The simple protocol as the client library gives it tells no types, so they are asked for first.
    async fn column_kinds(&self, statement: &str) -> Vec<ValueKind> {
        let first = first_words(statement, 1);
        let is_query =
            first.first().is_some_and(|word| matches!(word.as_str(), "SELECT" | "WITH" | "VALUES" | "TABLE"));
        if !is_query {
            return Vec::new();
        }
        match self.client.prepare(statement).await {
            Ok(prepared) => {
                prepared.columns().iter().map(|column| kind_of_postgres(column.type_())).collect()
            }
            // The statement itself will tell what is wrong.
            Err(_) => Vec::new(),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn take_notices(&self) -> Vec<String> {
        let mut receiver = self.notices.lock().await;
        let mut notices = Vec::new();
        while let Ok(notice) = receiver.try_recv() {
            notices.push(notice);
        }
        notices
    }
}

/// The words of a command tag, which the client library does not hand on.
fn tag(statement: &str, n_rows: u64) -> String {
    let words = first_words(statement, 4);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match word(0) {
        "CREATE" if word(1) == "OR" => format!("CREATE {}", word(3)),
        first @ ("CREATE" | "DROP" | "ALTER") => format!("{first} {}", word(1)),
        "INSERT" => format!("INSERT 0 {n_rows}"),
        first @ ("UPDATE" | "DELETE" | "MERGE" | "COPY") => format!("{first} {n_rows}"),
        "" => "OK".to_owned(),
        first => first.to_owned(),
    }
}

fn kind_of_postgres(kind: &Type) -> ValueKind {
    match *kind {
        Type::INT2 | Type::INT4 | Type::INT8 | Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC | Type::OID => {
            ValueKind::Number
        }
        Type::BOOL => ValueKind::Flag,
        _ => ValueKind::Other,
    }
}

async fn write_outcome(
    outcome: Outcome,
    statement: &str,
    writer: &mut Writer<'_>,
) -> Result<Completion, Failure> {
    match outcome {
        Outcome::Rows { rows, notices, .. } => {
            write_rows(rows, statement, writer).await?;
            Ok(Completion { notices })
        }
        Outcome::Done { tag, n_rows, notices } => {
            let told = match (tag, n_rows) {
                ("INSERT", Some(n)) => format!("INSERT 0 {n}"),
                (tag, Some(n)) => format!("{tag} {n}"),
                (tag, None) => tag.to_owned(),
            };
            writer.done(&told)?;
            Ok(Completion { notices })
        }
        Outcome::Empty => Ok(Completion::default()),
    }
}

async fn write_rows(mut rows: Rows, statement: &str, writer: &mut Writer<'_>) -> Result<(), Failure> {
    let fields = rows.schema.fields();
    writer.columns(
        fields
            .iter()
            .map(|f| Column { name: f.name().clone(), kind: kind_of_arrow(f.data_type()) })
            .collect(),
    )?;
    while let Some(batch) = rows.batches.next().await {
        let batch = batch.map_err(|error| Failure::from_query(&error, statement))?;
        let options = value_format();
        let formatters: Result<Vec<ArrayFormatter<'_>>, _> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options)).collect();
        let formatters =
            formatters.map_err(|error| Failure::local(format!("a value cannot be shown: {error}")))?;
        for at in 0..batch.num_rows() {
            let mut values: Values = Vec::with_capacity(formatters.len());
            for (formatter, column) in formatters.iter().zip(batch.columns()) {
                let value =
                    match column.is_null(at) {
                        true => None,
                        false => {
                            let text = formatter.value(at).try_to_string();
                            Some(text.map_err(|error| {
                                Failure::local(format!("a value cannot be shown: {error}"))
                            })?)
                        }
                    };
                values.push(value);
            }
            writer.row(values)?;
        }
    }
    Ok(writer.end()?)
}

/// The texts that PostgreSQL's protocol would give.
fn value_format() -> FormatOptions<'static> {
    FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"))
}

fn kind_of_arrow(kind: &DataType) -> ValueKind {
    match kind {
        DataType::Boolean => ValueKind::Flag,
        kind if kind.is_numeric() => ValueKind::Number,
        _ => ValueKind::Other,
    }
}
