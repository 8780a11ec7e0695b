//! The fixture: catalogs and policies in a temporary folder, engines over them, and clients of each.

use std::path::PathBuf;
use std::sync::Arc;

use audit::{AuditLog, MemorySink};
use catalog::{Catalog, CatalogConfig};
use engine::{Engine, EngineParts, EngineSettings};
use futures::TryStreamExt;
use policy::{BuildOptions, Principal, bootstrap};
use query_api::{Door, Outcome, QueryError, QueryService, QuerySession, RequestContext};
use script::JavaScript;
use stdx::{ManualClock, Secret, Timestamp};
use store::{MemoryStore, PolicyStore};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, rows_of};

/// The user who may do everything at gate one.
pub const ADMIN: &str = "root";

/// The catalog that sessions start in; a second one is called `side`.
pub const CATALOG: &str = "lake";

/// Catalogs, policies and an audit log; engines with different settings may stand over the same ones.
pub struct Site {
    pub catalogs: Vec<Arc<Catalog>>,
    pub store: Arc<dyn PolicyStore>,
    pub clock: Arc<ManualClock>,
    pub records: MemorySink,
    audit: Arc<AuditLog>,
    // Last, so that the folder goes after everything that has files open in it.
    folder: TempDir,
}

impl Site {
    pub async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let mut catalogs = Vec::new();
        for name in [CATALOG, "side"] {
            let config = CatalogConfig {
                name: name.to_owned(),
                warehouse: folder.path().join(name),
                database: folder.path().join(format!("{name}.sqlite")),
            };
            catalogs.push(Arc::new(Catalog::open(config).await.unwrap()));
        }
        let state = bootstrap::initial_state(&[CATALOG, "side"], ADMIN, None);
        let build =
            BuildOptions { scripts: Some(Arc::new(JavaScript::default())), ..BuildOptions::default() };
        let records = MemorySink::default();
        let audit = AuditLog::start(vec![Box::new(records.clone())]).unwrap();
        Self {
            catalogs,
            store: Arc::new(MemoryStore::with_options(state, &build).unwrap()),
            clock: Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000))),
            records,
            audit: Arc::new(audit),
            folder,
        }
    }

    /// A path below the site's own folder.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Where the files of a catalog's tables lie.
    pub fn warehouse(&self, catalog: &str) -> PathBuf {
        self.path(catalog)
    }

    pub fn try_engine(&self, settings: EngineSettings) -> Result<Arc<Engine>, QueryError> {
        Engine::new(EngineParts {
            store: Arc::clone(&self.store),
            catalogs: self.catalogs.clone(),
            audit: Arc::clone(&self.audit) as _,
            clock: Arc::clone(&self.clock) as _,
            make_verifier: Arc::new(|password| Ok(password.clone())),
            mask_key: Secret::new("the key of the tests"),
            settings,
            closed_folders: [CATALOG, "side"].map(|name| self.warehouse(name)).to_vec(),
        })
    }

    pub fn engine(&self, settings: EngineSettings) -> Arc<Engine> {
        self.try_engine(settings).unwrap()
    }

    /// A client of an engine with default settings.
    pub async fn client(&self, user: &str) -> Client {
        Client::open(&self.engine(EngineSettings::default()), user).await
    }
}

/// One user's session.
#[derive(Clone)]
pub struct Client {
    session: Arc<dyn QuerySession>,
}

impl Client {
    pub async fn open(engine: &Arc<Engine>, user: &str) -> Self {
        let context = RequestContext { door: Door::Embedded, client_addr: None, application: None };
        let session = engine.open_session(Principal::user(user), context, None).await.unwrap();
        Self { session }
    }

    pub fn session(&self) -> &Arc<dyn QuerySession> {
        &self.session
    }

    /// Runs one statement to its end.
    pub async fn run(&self, sql: &str) -> Result<Answer, QueryError> {
        match self.session.run(sql, &[], CancellationToken::new()).await? {
            Outcome::Rows { rows, notices, .. } => {
                let columns = rows.schema.fields().iter().map(|field| field.name().clone()).collect();
                let batches: Vec<_> = rows.batches.try_collect().await?;
                let rows = batches.iter().flat_map(rows_of).collect();
                Ok(Answer { columns, rows, n_written: None, notices })
            }
            Outcome::Done { n_rows, notices, .. } => {
                Ok(Answer { n_written: n_rows, notices, ..Answer::default() })
            }
            Outcome::Empty => Ok(Answer::default()),
        }
    }

    /// Runs one statement that must succeed.
    pub async fn ok(&self, sql: &str) -> Answer {
        self.run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The rows of a statement that must succeed.
    pub async fn rows(&self, sql: &str) -> Vec<String> {
        self.ok(sql).await.rows
    }

    /// Runs statements that must all succeed.
    pub async fn all(&self, statements: &[&str]) {
        for sql in statements {
            self.ok(sql).await;
        }
    }

    /// The error of a statement that must fail.
    pub async fn fails(&self, sql: &str) -> QueryError {
        match self.run(sql).await {
            Err(error) => error,
            Ok(answer) => panic!("{sql}: was to fail, and gave {answer:?}"),
        }
    }
}
