//! A client's session: who she is, where names resolve, and what she has set.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use policy::Principal;
use query_api::{
    Description, Outcome, QueryError, QueryService, QuerySession, RequestContext, StatementText,
    TransactionState,
};
use stdx::ErrorKind;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::cursors::SessionCursor;
use crate::names::SearchPath;
use crate::running::Running;

/// The namespace that sessions start in.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// A statement that `PREPARE` has named.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) text: String,
    pub(crate) types: Vec<DataType>,
}

/// What `SET`, `USE`, `PREPARE` and `DECLARE` change.
#[derive(Clone, Debug)]
pub(crate) struct SessionVars {
    pub(crate) path: SearchPath,
    pub(crate) settings: BTreeMap<&'static str, String>,
    pub(crate) named: BTreeMap<String, Named>,
    pub(crate) cursors: BTreeMap<String, SessionCursor>,
    pub(crate) transaction: TransactionState,
}

pub(crate) struct EngineSession {
    pub(crate) engine: Arc<Engine>,
    pub(crate) principal: Principal,
    pub(crate) context: RequestContext,
    pub(crate) pg: Arc<crate::pg::PgSession>,
    vars: Mutex<SessionVars>,
}

impl fmt::Debug for EngineSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineSession").field("user", &self.principal.user).finish_non_exhaustive()
    }
}

impl EngineSession {
    pub(crate) fn vars(&self) -> MutexGuard<'_, SessionVars> {
        self.vars.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl QueryService for Engine {
    async fn open_session(
        &self,
        principal: Principal,
        context: RequestContext,
        catalog: Option<&str>,
    ) -> Result<Arc<dyn QuerySession>, QueryError> {
        let engine = self.this().ok_or_else(crate::error::internal)?;
        let first = self.catalog_order.first().cloned().unwrap_or_default();
        let path = SearchPath {
            catalogs: self.catalog_order.clone(),
            catalog: first,
            namespace: vec![DEFAULT_NAMESPACE.to_owned()],
        };
        let mut settings = BTreeMap::new();
        if let Some(application) = &context.application {
            settings.insert("application_name", application.clone());
        }
        let vars = SessionVars {
            path,
            settings,
            named: BTreeMap::new(),
            cursors: BTreeMap::new(),
            transaction: TransactionState::Idle,
        };
        let pg = Arc::new(crate::pg::PgSession::try_new(&engine.pg_tables)?);
        let session = EngineSession { engine, principal, context, pg, vars: Mutex::new(vars) };
        if let Some(catalog) = catalog {
            let running = Running::start(&session, "");
            // Sessions start in the first one unasked, so to name it tells nothing more.
            let is_first = session.vars().path.catalog == catalog;
            if !is_first && !running.sees_catalog(catalog) {
                return Err(crate::error::catalog_not_found(catalog));
            }
            catalog.clone_into(&mut session.vars().path.catalog);
        }
        Ok(Arc::new(session))
    }
}

#[async_trait]
impl QuerySession for EngineSession {
    fn split(&self, script: &str) -> Result<Vec<StatementText>, QueryError> {
        let pieces = dialect::split(script).map_err(|error| syntax(&error))?;
        Ok(pieces.into_iter().map(|piece| StatementText { text: piece.text, offset: piece.offset }).collect())
    }

    async fn describe(&self, statement: &str, types: &[Option<DataType>]) -> Result<Description, QueryError> {
        crate::statement::describe(self, statement, types).await
    }

    async fn run(
        &self,
        statement: &str,
        parameters: &[ArrayRef],
        cancel: CancellationToken,
    ) -> Result<Outcome, QueryError> {
        let outcome = crate::statement::run(self, statement, parameters, cancel).await;
        let mut vars = self.vars();
        if outcome.is_err() && vars.transaction == TransactionState::Open {
            vars.transaction = TransactionState::Failed;
        }
        outcome
    }

    fn setting(&self, name: &str) -> Option<String> {
        crate::settings::value(&self.vars(), &self.principal.user, name)
    }

    fn transaction(&self) -> TransactionState {
        self.vars().transaction
    }

    async fn complete(&self, prefix: &str) -> Result<Vec<String>, QueryError> {
        let running = Running::start(self, "");
        crate::visible::complete(&running, prefix).await
    }
}

pub(crate) fn syntax(error: &dialect::SyntaxError) -> QueryError {
    let query = QueryError::new(error.kind(), error.message.clone()).with_position(error.position);
    match &error.hint {
        Some(hint) => query.with_hint(hint.clone()),
        None => query,
    }
}

/// A statement that cannot stand where it stands.
pub(crate) fn invalid(text: impl Into<String>) -> QueryError {
    QueryError::new(ErrorKind::Invalid, text)
}
