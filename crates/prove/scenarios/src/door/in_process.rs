//! A session in this process, without a protocol between.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use policy::Principal;
use query_api::{Door, QueryError, QuerySession, RequestContext};
use sluice::Running;
use tokio_util::sync::CancellationToken;

use super::text;
use crate::answer::{Answer, Failure, Outcome};
use crate::file::Argument;

pub(crate) struct Session {
    session: Arc<dyn QuerySession>,
    prepared: BTreeMap<String, Prepared>,
}

struct Prepared {
    statement: String,
    parameters: Vec<DataType>,
}

impl Session {
    pub(crate) async fn open(running: &Running, principal: Principal) -> Result<Self, Failure> {
        let context = RequestContext { door: Door::Embedded, client_addr: None, application: None };
        let session = running.service.open_session(principal, context, None).await;
        Ok(Self { session: session.map_err(|error| failure(&error, ""))?, prepared: BTreeMap::new() })
    }

    pub(crate) async fn say(&self, statement: &str) -> Answer {
        self.run_with(statement, &[]).await
    }

    pub(crate) async fn prepare(&mut self, name: &str, statement: &str) -> Answer {
        match self.session.describe(statement, &[]).await {
            Err(error) => failure(&error, statement).into(),
            Ok(description) => {
                let prepared =
                    Prepared { statement: statement.to_owned(), parameters: description.parameters };
                self.prepared.insert(name.to_owned(), prepared);
                Answer { outcome: Outcome::Done { n_rows: None }, notices: Vec::new() }
            }
        }
    }

    pub(crate) async fn run(&self, name: &str, arguments: &[Argument]) -> Answer {
        let Some(prepared) = self.prepared.get(name) else {
            return Failure::of_runner(format!("`{name}` was not prepared")).into();
        };
        let parameters: Result<Vec<ArrayRef>, _> = arguments
            .iter()
            .zip(&prepared.parameters)
            .map(|(argument, data_type)| {
                let text = StringArray::from(vec![argument.text.as_deref()]);
                arrow::compute::cast(&text, data_type)
            })
            .collect();
        match parameters {
            Ok(parameters) => self.run_with(&prepared.statement, &parameters).await,
            Err(error) => Failure::of_runner(error.to_string()).into(),
        }
    }

    async fn run_with(&self, statement: &str, parameters: &[ArrayRef]) -> Answer {
        match self.session.run(statement, parameters, CancellationToken::new()).await {
            Err(error) => failure(&error, statement).into(),
            Ok(query_api::Outcome::Empty) => {
                Answer { outcome: Outcome::Done { n_rows: None }, notices: Vec::new() }
            }
            Ok(query_api::Outcome::Done { n_rows, notices, .. }) => {
                Answer { outcome: Outcome::Done { n_rows }, notices }
            }
            Ok(query_api::Outcome::Rows { rows, notices, .. }) => {
                let columns = rows.schema.fields().iter().map(|field| field.name().clone()).collect();
                match rows.batches.try_collect::<Vec<_>>().await {
                    Err(error) => failure(&error, statement).into(),
                    Ok(batches) => match text::rows(&batches) {
                        Ok(rows) => Answer { outcome: Outcome::Rows { columns, rows }, notices },
                        Err(error) => Failure::of_runner(error.to_string()).into(),
                    },
                }
            }
        }
    }
}

fn failure(error: &QueryError, statement: &str) -> Failure {
    let before = error.position().and_then(|bytes| statement.get(..bytes));
    Failure {
        sqlstate: error.kind().sqlstate().to_owned(),
        message: error.message().to_owned(),
        hint: error.hint().map(str::to_owned),
        position: before.map(|before| before.chars().count() + 1),
    }
}
