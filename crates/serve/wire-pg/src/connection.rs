//! One client's session: takes its requests one by one and answers each.

mod extended;
mod simple;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::response::{CommandComplete, ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::ParameterStatus;
use query_api::{Outcome, QuerySession, TransactionState};
use stdx::ErrorKind;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::{Refusal, code, notice};
use crate::backends::Registration;
use crate::encode::Zone;
use crate::frame::{self, Request};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::rows::{Progress, RowStream, counts_rows, tag_of};
use crate::wire::{Failure, Wire, guarded};

use extended::{Portal, Prepared};

/// The settings whose changes PostgreSQL tells the client by itself.
const TOLD_SETTINGS: [&str; 2] = ["application_name", "TimeZone"];

pub(crate) struct Connection {
    wire: Wire,
    session: Arc<dyn QuerySession>,
    registration: Registration,
    statements: HashMap<String, Arc<Prepared>>,
    portals: HashMap<String, Portal>,
    /// The zone that timestamps are shown in, as the session set it.
    zone: Zone,
    /// What the client was last told of each setting.
    told: HashMap<&'static str, String>,
    /// After an error of the extended protocol everything is passed over until `Sync`.
    skips_until_sync: bool,
}

/// What is to happen after a request.
enum Next {
    Go,
    Close,
}

impl Connection {
    pub(crate) fn new(wire: Wire, session: Arc<dyn QuerySession>, registration: Registration) -> Self {
        Self {
            wire,
            session,
            registration,
            statements: HashMap::new(),
            portals: HashMap::new(),
            zone: Zone::Utc,
            told: HashMap::new(),
            skips_until_sync: false,
        }
    }

    /// Serves until the client leaves, breaks the protocol, or the server stops.
    pub(crate) async fn serve(mut self, shutdown: CancellationToken) {
        match self.converse(shutdown).await {
            Ok(()) | Err(Failure::Gone) => {}
            Err(Failure::Fatal(refusal) | Failure::Refused(refusal)) => {
                tracing::warn!(code = refusal.code, "connection closed for an error");
                self.wire.farewell(refusal).await;
            }
        }
    }

    async fn converse(&mut self, shutdown: CancellationToken) -> Result<(), Failure> {
        self.ready().await?;
        loop {
            let (kind, body) = tokio::select! {
                biased;
                () = shutdown.cancelled() => {
                    return Err(Failure::Fatal(Refusal::new(
                        code::ADMIN_SHUTDOWN,
                        "terminating connection due to administrator command",
                    )));
                }
                message = self.wire.message(MESSAGE_BYTES_MAX) => message?,
            };
            let request = frame::request(kind, body).map_err(Failure::Fatal)?;
            match self.answer(request).await? {
                Next::Go => {}
                Next::Close => return Ok(()),
            }
        }
    }

    async fn answer(&mut self, request: Request) -> Result<Next, Failure> {
        if self.skips_until_sync && !matches!(request, Request::Sync | Request::Terminate) {
            return Ok(Next::Go);
        }
        let answered = match request {
            Request::Query(script) => {
                self.simple(&script).await?;
                return Ok(Next::Go);
            }
            Request::FunctionCall => {
                let refusal =
                    Refusal::of(ErrorKind::Unsupported, "function calls by message are not supported");
                self.wire.put(&refusal.error())?;
                self.ready().await?;
                return Ok(Next::Go);
            }
            Request::Sync => {
                self.sync().await?;
                return Ok(Next::Go);
            }
            Request::Terminate => return Ok(Next::Close),
            Request::Copy => Ok(()),
            Request::Flush => self.wire.flush().await,
            Request::Parse(parse) => self.parse(parse).await,
            Request::Bind(bind) => self.bind(&bind),
            Request::Describe(describe) => self.describe(&describe),
            Request::Execute(execute) => self.execute(&execute).await,
            Request::Close(close) => self.close(&close),
        };
        match answered {
            Ok(()) => {}
            Err(Failure::Refused(refusal)) => {
                self.skips_until_sync = true;
                self.refuse(refusal)?;
                self.wire.flush().await?;
            }
            Err(failure) => return Err(failure),
        }
        if self.wire.is_full() {
            self.wire.flush().await?;
        }
        Ok(Next::Go)
    }

    fn refuse(&mut self, refusal: Refusal) -> Result<(), Failure> {
        tracing::debug!(code = refusal.code, "statement refused");
        self.wire.put(&refusal.error())
    }

    /// Says that the next request may come, and how the transaction stands.
    async fn ready(&mut self) -> Result<(), Failure> {
        let status = match self.session.transaction() {
            TransactionState::Idle => TransactionStatus::Idle,
            TransactionState::Open => TransactionStatus::Transaction,
            TransactionState::Failed => TransactionStatus::Error,
        };
        // A portal lives no longer than its transaction.
        if status == TransactionStatus::Idle {
            self.portals.clear();
        }
        self.wire.put(&PgWireBackendMessage::ReadyForQuery(ReadyForQuery::new(status)))?;
        self.wire.flush().await
    }

    /// Tells a setting for the first time, or again if it has changed.
    pub(crate) fn tell(&mut self, name: &'static str, value: String) -> Result<(), Failure> {
        if self.told.get(name) == Some(&value) {
            return Ok(());
        }
        let status = ParameterStatus::new(name.to_owned(), value.replace('\0', ""));
        self.wire.put(&PgWireBackendMessage::ParameterStatus(status))?;
        self.told.insert(name, value);
        Ok(())
    }

    /// Takes over what a statement may have set.
    pub(crate) fn refresh_settings(&mut self) -> Result<(), Failure> {
        let session = Arc::clone(&self.session);
        for name in TOLD_SETTINGS {
            let value = guarded(|| session.setting(name))?;
            match (name, value) {
                ("TimeZone", value) => {
                    // A zone that is not known here is not shown in: UTC is, and that is what the client is told.
                    self.zone = value.as_deref().and_then(Zone::parse).unwrap_or(Zone::Utc);
                    self.tell(name, self.zone.name())?;
                }
                (_, Some(value)) => self.tell(name, value)?,
                (_, None) => {}
            }
        }
        Ok(())
    }

    pub(crate) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn put_notices(&mut self, notices: Vec<String>) -> Result<(), Failure> {
        notices.into_iter().try_for_each(|text| self.wire.put(&notice(text)))
    }

    fn complete(&mut self, tag: String) -> Result<(), Failure> {
        self.wire.put(&PgWireBackendMessage::CommandComplete(CommandComplete::new(tag)))
    }

    fn complete_rows(&mut self, tag: &str, progress: Progress) -> Result<(), Failure> {
        self.complete(tag_of(tag, counts_rows(tag).then_some(progress.n_rows)))
    }
}

/// What a statement gave, with its notices already told.
enum Answer {
    Rows(RowStream),
    Done { tag: String },
    Empty,
}

impl Connection {
    fn take(&mut self, outcome: Outcome, format_codes: &[i16]) -> Result<Answer, Failure> {
        Ok(match outcome {
            Outcome::Rows { rows, tag, notices } => {
                self.put_notices(notices)?;
                Answer::Rows(RowStream::new(rows, tag, format_codes)?)
            }
            Outcome::Done { tag, n_rows, notices } => {
                self.put_notices(notices)?;
                Answer::Done { tag: tag_of(tag, n_rows) }
            }
            Outcome::Empty => Answer::Empty,
        })
    }
}

/// A token for one statement, with a guard that cancels it if the statement is dropped before its end.
fn statement_token() -> (CancellationToken, DropGuard) {
    let token = CancellationToken::new();
    let guard = token.clone().drop_guard();
    (token, guard)
}
