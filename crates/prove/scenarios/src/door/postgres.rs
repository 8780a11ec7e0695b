//! A session over the PostgreSQL protocol.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use futures::{StreamExt, TryStreamExt};
use sluice::Running;
use tokio_postgres::error::ErrorPosition;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{AsyncMessage, NoTls, SimpleQueryMessage, Statement};

use super::{PASSWORD, binary};
use crate::answer::{Answer, Failure, Outcome};
use crate::file::Argument;

pub(crate) struct Session {
    client: tokio_postgres::Client,
    notices: Arc<Mutex<Vec<String>>>,
    prepared: BTreeMap<String, Statement>,
}

impl Session {
    pub(crate) async fn open(running: &Running, user: &str) -> Result<Self, Failure> {
        let addr = running.pg_addr.ok_or_else(|| Failure::of_runner("the Postgres door is closed"))?;
        let mut config = tokio_postgres::Config::new();
        config.host(addr.ip().to_string()).port(addr.port()).user(user).password(PASSWORD);
        let (client, mut connection) = config.connect(NoTls).await.map_err(|error| failure(&error))?;
        let notices = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&notices);
        tokio::spawn(async move {
            let mut messages = futures::stream::poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notice(notice) = message {
                    heard.lock().unwrap_or_else(PoisonError::into_inner).push(notice.message().to_owned());
                }
            }
        });
        Ok(Self { client, notices, prepared: BTreeMap::new() })
    }

    fn answer(&self, outcome: Result<Outcome, Failure>) -> Answer {
        let notices = std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner));
        Answer { outcome: outcome.unwrap_or_else(Outcome::Failed), notices }
    }

    pub(crate) async fn say_simple(&self, statement: &str) -> Answer {
        let outcome = match self.client.simple_query(statement).await {
            Ok(messages) => Ok(simple_outcome(&messages)),
            Err(error) => Err(failure(&error)),
        };
        self.answer(outcome)
    }

    pub(crate) async fn say_extended(&self, statement: &str) -> Answer {
        let outcome = match self.client.prepare(statement).await {
            Ok(prepared) => self.execute(&prepared, &[]).await,
            Err(error) => Err(failure(&error)),
        };
        self.answer(outcome)
    }

    pub(crate) async fn prepare(&mut self, name: &str, statement: &str) -> Answer {
        let outcome = match self.client.prepare(statement).await {
            Ok(prepared) => {
                self.prepared.insert(name.to_owned(), prepared);
                Ok(Outcome::Done { n_rows: None })
            }
            Err(error) => Err(failure(&error)),
        };
        self.answer(outcome)
    }

    pub(crate) async fn run(&self, name: &str, arguments: &[Argument]) -> Answer {
        let outcome = match self.prepared.get(name) {
            Some(prepared) => self.execute(prepared, arguments).await,
            None => Err(Failure::of_runner(format!("`{name}` was not prepared"))),
        };
        self.answer(outcome)
    }

    async fn execute(&self, statement: &Statement, arguments: &[Argument]) -> Result<Outcome, Failure> {
        let stream = self.client.query_raw(statement, arguments).await.map_err(|error| failure(&error))?;
        let mut stream = pin!(stream);
        let mut rows = Vec::new();
        while let Some(row) = stream.try_next().await.map_err(|error| failure(&error))? {
            let cell = |at: usize| {
                let value: Option<binary::Bytes<'_>> = row.try_get(at).map_err(|error| failure(&error))?;
                match (value, statement.columns().get(at)) {
                    (Some(bytes), Some(column)) => {
                        binary::text(column.type_(), bytes.0).map(Some).map_err(Failure::of_runner)
                    }
                    _ => Ok(None),
                }
            };
            rows.push((0..row.len()).map(cell).collect::<Result<Vec<_>, _>>()?);
        }
        if statement.columns().is_empty() {
            return Ok(Outcome::Done { n_rows: stream.rows_affected() });
        }
        let columns = statement.columns().iter().map(|column| column.name().to_owned()).collect();
        Ok(Outcome::Rows { columns, rows })
    }
}

fn simple_outcome(messages: &[SimpleQueryMessage]) -> Outcome {
    let mut columns: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    let mut n_rows = None;
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(described) => {
                columns = Some(described.iter().map(|column| column.name().to_owned()).collect());
            }
            SimpleQueryMessage::Row(row) => {
                let value = |at| row.try_get(at).ok().flatten().map(str::to_owned);
                rows.push((0..row.len()).map(value).collect());
            }
            SimpleQueryMessage::CommandComplete(n) => n_rows = Some(*n),
            _ => {}
        }
    }
    match columns {
        Some(columns) => Outcome::Rows { columns, rows },
        None => Outcome::Done { n_rows },
    }
}

fn failure(error: &tokio_postgres::Error) -> Failure {
    let Some(db) = error.as_db_error() else {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(inner) = source {
            message = format!("{message}: {inner}");
            source = inner.source();
        }
        return Failure::of_runner(message);
    };
    Failure {
        sqlstate: db.code().code().to_owned(),
        message: db.message().to_owned(),
        hint: db.hint().map(str::to_owned),
        position: match db.position() {
            Some(ErrorPosition::Original(at)) => usize::try_from(*at).ok(),
            _ => None,
        },
    }
}

/// Whole numbers go in binary, everything else as its text.
impl ToSql for &Argument {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let Some(text) = &self.text else { return Ok(IsNull::Yes) };
        match *kind {
            Type::INT2 => out.extend_from_slice(&text.parse::<i16>()?.to_be_bytes()),
            Type::INT4 => out.extend_from_slice(&text.parse::<i32>()?.to_be_bytes()),
            Type::INT8 => out.extend_from_slice(&text.parse::<i64>()?.to_be_bytes()),
            _ => out.extend_from_slice(text.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, kind: &Type) -> Format {
        match *kind {
            Type::INT2 | Type::INT4 | Type::INT8 => Format::Binary,
            _ => Format::Text,
        }
    }

    to_sql_checked!();
}
