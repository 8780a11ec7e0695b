//! The extended protocol: statements prepared, bound to values, described, and run in pieces.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use pgwire::messages::PgWireBackendMessage;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{
    Bind, BindComplete, Close, CloseComplete, Describe, Execute, Parse, ParseComplete, PortalSuspended,
    TARGET_TYPE_BYTE_PORTAL, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::response::EmptyQueryResponse;
use postgres_types::Type;
use query_api::QueryError;
use stdx::ErrorKind;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::{Refusal, code};
use crate::connection::words::{copy_refused, is_copy};
use crate::connection::{Answer, Connection, statement_token};
use crate::encode::{Column, Format, arrow_of, columns_of, pg_type_of_parameter};
use crate::limits::{PORTALS_MAX, STATEMENTS_MAX};
use crate::parameters;
use crate::rows::RowStream;
use crate::wire::{Failure, guarded};

/// A statement that was parsed and described, and not run.
pub(super) struct Prepared {
    /// The text the client sent, which positions of errors count in.
    script: String,
    /// The statement in it; `None` where there is none.
    statement: Option<PreparedStatement>,
}

struct PreparedStatement {
    text: String,
    offset: usize,
    parameters: Vec<Parameter>,
    /// `None` for a statement that returns no rows.
    columns: Option<Vec<Column>>,
}

struct Parameter {
    /// What the client declared, or else what she is told.
    pg_type: Type,
    /// What the statement takes.
    wanted: DataType,
}

/// A prepared statement with its values.
pub(super) struct Portal {
    prepared: Arc<Prepared>,
    parameters: Vec<ArrayRef>,
    format_codes: Vec<i16>,
    state: PortalState,
}

enum PortalState {
    Bound,
    /// Some of the rows are sent; the rest wait in the stream.
    Suspended {
        rows: RowStream,
        cancel: CancellationToken,
        guard: DropGuard,
    },
    Finished {
        rows_tag: Option<&'static str>,
    },
}

impl Connection {
    pub(super) async fn parse(&mut self, parse: Parse) -> Result<(), Failure> {
        let name = parse.name.unwrap_or_default();
        if name.is_empty() {
            self.statements.remove("");
        } else if self.statements.contains_key(&name) {
            let message = format!("prepared statement `{name}` already exists");
            return Err(Refusal::new(code::DUPLICATE_STATEMENT, message).into());
        } else if self.statements.len() >= STATEMENTS_MAX {
            let message = format!("a connection can hold at most {STATEMENTS_MAX} prepared statements");
            return Err(Refusal::of(ErrorKind::Limit, message).into());
        }
        let statement = self.prepare(&parse.query, &parse.type_oids).await?;
        self.statements.insert(name, Arc::new(Prepared { script: parse.query, statement }));
        self.wire.put(&PgWireBackendMessage::ParseComplete(ParseComplete::new()))
    }

    async fn prepare(
        &mut self,
        script: &str,
        type_oids: &[u32],
    ) -> Result<Option<PreparedStatement>, Failure> {
        let session = Arc::clone(&self.session);
        let mut statements =
            guarded(|| session.split(script))?.map_err(|error| Refusal::in_script(&error, script, 0))?;
        let Some(statement) = statements.pop() else { return Ok(None) };
        if !statements.is_empty() {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Refusal::of(ErrorKind::Syntax, message).into());
        }
        if is_copy(&statement.text) {
            return Err(copy_refused().into());
        }
        let declared =
            type_oids.iter().map(|oid| parameters::declared_type(*oid)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<Option<DataType>> =
            declared.iter().map(|declared| declared.as_ref().and_then(arrow_of)).collect();
        let (cancel, guard) = statement_token();
        let _running = self.registration.run(cancel.clone());
        let describe = session.describe(&statement.text, &types);
        let refuse = |error: &QueryError| Refusal::in_script(error, script, statement.offset);
        let description = self.wire.supervise(&cancel, describe, refuse).await?;
        guard.disarm();
        let parameters = description
            .parameters
            .into_iter()
            .zip(declared.into_iter().chain(std::iter::repeat(None)))
            .map(|(wanted, declared)| {
                let pg_type = match declared {
                    Some(pg_type) => pg_type,
                    None => pg_type_of_parameter(&wanted)?,
                };
                Ok(Parameter { pg_type, wanted })
            })
            .collect::<Result<_, Refusal>>()?;
        let columns = description.columns.map(|schema| columns_of(&schema)).transpose()?;
        Ok(Some(PreparedStatement { text: statement.text, offset: statement.offset, parameters, columns }))
    }

    pub(super) fn bind(&mut self, bind: &Bind) -> Result<(), Failure> {
        let name = bind.portal_name.clone().unwrap_or_default();
        if name.is_empty() {
            self.portals.remove("");
        } else if self.portals.contains_key(&name) {
            return Err(
                Refusal::new(code::DUPLICATE_CURSOR, format!("portal `{name}` already exists")).into()
            );
        } else if self.portals.len() >= PORTALS_MAX {
            let message = format!("a connection can hold at most {PORTALS_MAX} portals");
            return Err(Refusal::of(ErrorKind::Limit, message).into());
        }
        let prepared = self.statement(bind.statement_name.as_deref())?;
        let wanted = prepared.statement.as_ref().map_or(&[][..], |statement| statement.parameters.as_slice());
        if bind.parameters.len() != wanted.len() {
            return Err(Refusal::protocol(format!(
                "the bind message gives {} parameters, but the prepared statement takes {}",
                bind.parameters.len(),
                wanted.len()
            ))
            .into());
        }
        let formats = Format::spread(&bind.parameter_format_codes, wanted.len())?;
        let parameters = bind
            .parameters
            .iter()
            .zip(formats)
            .zip(wanted)
            .map(|((bytes, format), Parameter { pg_type, wanted })| {
                guarded(|| parameters::read(bytes.as_ref(), format, pg_type, wanted, &self.zone))?
            })
            .collect::<Result<_, Refusal>>()?;
        if let Some(columns) = prepared.statement.as_ref().and_then(|statement| statement.columns.as_ref()) {
            Format::spread(&bind.result_column_format_codes, columns.len())?;
        }
        let format_codes = bind.result_column_format_codes.clone();
        self.portals.insert(name, Portal { prepared, parameters, format_codes, state: PortalState::Bound });
        self.wire.put(&PgWireBackendMessage::BindComplete(BindComplete::new()))
    }

    pub(super) fn describe(&mut self, describe: &Describe) -> Result<(), Failure> {
        let name = describe.name.as_deref();
        let (prepared, format_codes) = match describe.target_type {
            TARGET_TYPE_BYTE_STATEMENT => {
                let prepared = self.statement(name)?;
                let types =
                    prepared.statement.iter().flat_map(|s| &s.parameters).map(|p| p.pg_type.oid()).collect();
                self.wire
                    .put(&PgWireBackendMessage::ParameterDescription(ParameterDescription::new(types)))?;
                (prepared, Vec::new())
            }
            TARGET_TYPE_BYTE_PORTAL => {
                let portal = self.portals.get(name.unwrap_or("")).ok_or_else(|| no_portal(name))?;
                (Arc::clone(&portal.prepared), portal.format_codes.clone())
            }
            other => return Err(invalid_target(other)),
        };
        let columns = prepared.statement.as_ref().and_then(|statement| statement.columns.as_ref());
        match columns {
            Some(columns) => {
                let formats = Format::spread(&format_codes, columns.len())?;
                let description = Column::describe_all(columns, &formats);
                self.wire.put(&PgWireBackendMessage::RowDescription(description))
            }
            None => self.wire.put(&PgWireBackendMessage::NoData(NoData::new())),
        }
    }

    pub(super) async fn execute(&mut self, execute: &Execute) -> Result<(), Failure> {
        let name = execute.name.clone().unwrap_or_default();
        // Taken out while it runs: a portal whose run fails is not put back.
        let portal = self.portals.remove(&name).ok_or_else(|| no_portal(Some(&name)))?;
        let Portal { prepared, parameters, format_codes, state } = portal;
        let Some(statement) = &prepared.statement else {
            self.portals.insert(name, Portal { prepared, parameters, format_codes, state });
            return self.wire.put(&PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()));
        };
        // Zero and less ask for all rows.
        let rows_max = u64::try_from(execute.max_rows).ok().filter(|max| *max > 0);
        let state = match state {
            PortalState::Bound => {
                self.start(&prepared.script, statement, &parameters, &format_codes, rows_max).await?
            }
            PortalState::Suspended { rows, cancel, guard } => {
                self.go_on(&prepared.script, statement.offset, rows, rows_max, cancel, guard).await?
            }
            PortalState::Finished { rows_tag: Some(tag) } => {
                self.complete_rows(tag, crate::rows::Progress { n_rows: 0, is_done: true })?;
                PortalState::Finished { rows_tag: Some(tag) }
            }
            PortalState::Finished { rows_tag: None } => {
                let message = format!("portal `{name}` cannot be run again");
                return Err(Refusal::new(code::NOT_IN_PREREQUISITE_STATE, message).into());
            }
        };
        self.portals.insert(name, Portal { prepared, parameters, format_codes, state });
        Ok(())
    }

    async fn start(
        &mut self,
        script: &str,
        statement: &PreparedStatement,
        parameters: &[ArrayRef],
        format_codes: &[i16],
        rows_max: Option<u64>,
    ) -> Result<PortalState, Failure> {
        let (cancel, guard) = statement_token();
        let _running = self.registration.run(cancel.clone());
        let session = Arc::clone(&self.session);
        let run = session.run(&statement.text, parameters, cancel.clone());
        let refuse = |error: &QueryError| Refusal::in_script(error, script, statement.offset);
        let outcome = self.wire.supervise(&cancel, run, refuse).await?;
        match self.take(outcome, format_codes)? {
            Answer::Rows(rows) => {
                if statement.columns.as_ref() != Some(&rows.columns) {
                    // The client reads by the description she has; other columns would be taken for those.
                    let message = "cached plan must not change result type";
                    return Err(Refusal::of(ErrorKind::Unsupported, message)
                        .with_hint("prepare the statement again")
                        .into());
                }
                self.go_on(script, statement.offset, rows, rows_max, cancel, guard).await
            }
            Answer::Done { tag } => {
                guard.disarm();
                self.complete(tag)?;
                Ok(PortalState::Finished { rows_tag: None })
            }
            Answer::Empty => {
                self.wire.put(&PgWireBackendMessage::EmptyQueryResponse(EmptyQueryResponse::new()))?;
                Ok(PortalState::Finished { rows_tag: None })
            }
        }
    }

    async fn go_on(
        &mut self,
        script: &str,
        offset: usize,
        mut rows: RowStream,
        rows_max: Option<u64>,
        cancel: CancellationToken,
        guard: DropGuard,
    ) -> Result<PortalState, Failure> {
        let _running = self.registration.run(cancel.clone());
        let refuse = |error: &QueryError| Refusal::in_script(error, script, offset);
        let progress = rows.send(&mut self.wire, rows_max, &self.zone, &cancel, refuse).await?;
        if progress.is_done {
            guard.disarm();
            self.complete_rows(rows.tag, progress)?;
            return Ok(PortalState::Finished { rows_tag: Some(rows.tag) });
        }
        self.wire.put(&PgWireBackendMessage::PortalSuspended(PortalSuspended::new()))?;
        Ok(PortalState::Suspended { rows, cancel, guard })
    }

    /// Closes a statement or portal; one that does not exist is as good as closed.
    pub(super) fn close(&mut self, close: &Close) -> Result<(), Failure> {
        let name = close.name.as_deref().unwrap_or("");
        match close.target_type {
            TARGET_TYPE_BYTE_STATEMENT => {
                if let Some(closed) = self.statements.remove(name) {
                    self.portals.retain(|_, portal| !Arc::ptr_eq(&portal.prepared, &closed));
                }
            }
            TARGET_TYPE_BYTE_PORTAL => {
                self.portals.remove(name);
            }
            other => return Err(invalid_target(other)),
        }
        self.wire.put(&PgWireBackendMessage::CloseComplete(CloseComplete::new()))
    }

    pub(super) async fn sync(&mut self) -> Result<(), Failure> {
        self.skips_until_sync = false;
        self.refresh_settings()?;
        self.ready().await
    }

    fn statement(&self, name: Option<&str>) -> Result<Arc<Prepared>, Refusal> {
        let name = name.unwrap_or("");
        self.statements.get(name).map(Arc::clone).ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement `{name}` does not exist"),
            };
            Refusal::new(code::UNDEFINED_STATEMENT, message)
        })
    }
}

fn no_portal(name: Option<&str>) -> Refusal {
    Refusal::new(code::UNDEFINED_CURSOR, format!("portal `{}` does not exist", name.unwrap_or("")))
}

fn invalid_target(target: u8) -> Failure {
    Failure::Refused(Refusal::protocol(format!("invalid target {target} in a message")))
}
