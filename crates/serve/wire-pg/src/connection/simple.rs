//! The simple protocol: a script in, every result in text, one statement after the other until one fails.

use std::sync::Arc;

use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::response::EmptyQueryResponse;
use query_api::{QueryError, StatementText};
use tokio_util::sync::CancellationToken;

use crate::answer::Refusal;
use crate::connection::words::{copy_refused, is_copy};
use crate::connection::{Answer, Connection, statement_token};
use crate::encode::Column;
use crate::wire::{Failure, guarded};

impl Connection {
    pub(super) async fn simple(&mut self, script: &str) -> Result<(), Failure> {
        // A new query ends whatever stood under the empty name.
        self.statements.remove("");
        self.portals.remove("");
        match self.run_script(script).await {
            Ok(()) => {}
            Err(Failure::Refused(refusal)) => self.refuse(refusal)?,
            Err(failure) => return Err(failure),
        }
        self.refresh_settings()?;
        self.ready().await
    }

    async fn run_script(&mut self, script: &str) -> Result<(), Failure> {
        let session = Arc::clone(&self.session);
        let statements =
            guarded(|| session.split(script))?.map_err(|error| Refusal::in_script(&error, script, 0))?;
        if statements.is_empty() {
            return self.wire.put(&PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()));
        }
        // One cancel request ends the whole script.
        let (cancel, guard) = statement_token();
        let _running = self.registration.run(cancel.clone());
        for statement in &statements {
            self.run_one(script, statement, &cancel).await?;
        }
        guard.disarm();
        Ok(())
    }

    async fn run_one(
        &mut self,
        script: &str,
        statement: &StatementText,
        cancel: &CancellationToken,
    ) -> Result<(), Failure> {
        if is_copy(&statement.text) {
            return Err(Failure::Refused(copy_refused()));
        }
        let refuse = |error: &QueryError| Refusal::in_script(error, script, statement.offset);
        let session = Arc::clone(&self.session);
        let run = session.run(&statement.text, &[], cancel.clone());
        let outcome = self.wire.supervise(cancel, run, refuse).await?;
        match self.take(outcome, &[])? {
            Answer::Rows(mut rows) => {
                let description = Column::describe_all(&rows.columns, &rows.formats);
                self.wire.put(&PgWireBackendMessage::RowDescription(description))?;
                let progress = rows.send(&mut self.wire, None, &self.zone, cancel, refuse).await?;
                self.complete_rows(rows.tag, progress)
            }
            Answer::Done { tag } => self.complete(tag),
            Answer::Empty => {
                self.wire.put(&PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))
            }
        }
    }
}
