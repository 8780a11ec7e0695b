//! The engine's parts and settings, and the state that every query starts from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use audit::AuditLog;
use catalog::Catalog;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::{Analyzer, Optimizer};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;
use datafusion_pg_catalog::pg_catalog::PgCatalogStaticTables;
use enforce::QueryId;
use enforce::mask::{MaskSettings, Profile};
use policy::GateTwoSettings;
use query_api::QueryError;
use stdx::{Clock, ErrorKind, Secret};
use store::PolicyStore;

use crate::fence::PutFences;
use crate::scan::VerifyGoverned;
use crate::tags::{PropertyTags, TagSource};

/// What a query on a restricted column does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RestrictedColumns {
    /// The column reads as typed NULL.
    #[default]
    Null,
    /// A query that names the column is refused.
    Error,
}

/// Settings of the engine; each is honoured, and each is in `docs/reference/config.md`.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// Partitions that a scan is split into; `None`: one per processor.
    pub target_partitions: Option<usize>,
    /// Rows in a batch.
    pub batch_rows: usize,
    /// Bytes that all running queries may hold together; `None`: no limit.
    pub memory_limit_bytes: Option<usize>,
    /// Evaluate pushed predicates inside the Parquet reader, and in which order.
    pub pushdown_filters: bool,
    pub reorder_filters: bool,
    pub restricted_columns: RestrictedColumns,
    pub gate_two: GateTwoSettings,
    pub show_short_values: bool,
    pub mask_profile: Profile,
    pub write_implies_read: bool,
    /// Whether a row must be visible to its writer afterwards.
    pub check_option: bool,
    /// Keep the tags of columns in the authority's store, beside the table's property.
    pub project_tags: bool,
    /// Whence a table's own tags come.
    pub tag_source: Arc<dyn TagSource>,
    /// Folders whose files `read_parquet` and its like may read.
    pub load_roots: Vec<PathBuf>,
    /// The role whose members may read files.
    pub load_role: String,
    /// Rules of DataFusion's analyzer and optimizers that are left out, by name. No protection may rest on one of
    /// them, and only a test that sees to it has a use for this.
    pub rules_off: Vec<String>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            target_partitions: None,
            batch_rows: 8192,
            memory_limit_bytes: None,
            pushdown_filters: false,
            reorder_filters: false,
            restricted_columns: RestrictedColumns::Null,
            gate_two: GateTwoSettings::default(),
            show_short_values: false,
            mask_profile: Profile::Sluice,
            write_implies_read: false,
            check_option: true,
            project_tags: true,
            tag_source: Arc::new(PropertyTags),
            load_roots: Vec::new(),
            load_role: "admin".to_owned(),
            rules_off: Vec::new(),
        }
    }
}

/// Makes a verifier from a password, so that the engine needs to know no scheme.
pub type MakeVerifier = Arc<dyn Fn(&Secret) -> Result<Secret, String> + Send + Sync>;

/// What an engine is made of.
pub struct EngineParts {
    pub store: Arc<dyn PolicyStore>,
    /// In configured order; the first is where sessions start.
    pub catalogs: Vec<Arc<Catalog>>,
    pub audit: Arc<AuditLog>,
    pub clock: Arc<dyn Clock>,
    pub make_verifier: MakeVerifier,
    pub mask_key: Secret,
    pub settings: EngineSettings,
    /// Folders that hold governed tables or the store: no file function may read in them.
    pub closed_folders: Vec<PathBuf>,
}

/// Turns sessions and SQL texts into governed, running queries.
pub struct Engine {
    pub(crate) store: Arc<dyn PolicyStore>,
    pub(crate) catalogs: BTreeMap<String, Arc<Catalog>>,
    pub(crate) catalog_order: Vec<String>,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) make_verifier: MakeVerifier,
    pub(crate) mask_settings: MaskSettings,
    pub(crate) settings: EngineSettings,
    pub(crate) pg_tables: Arc<PgCatalogStaticTables>,
    /// How many tables and views got another name since the start.
    pub(crate) n_renames: AtomicU64,
    this: Weak<Self>,
    base: SessionState,
    rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("catalogs", &self.catalog_order).finish_non_exhaustive()
    }
}

impl Engine {
    /// Puts an engine together. At least one catalog is needed.
    pub fn new(parts: EngineParts) -> Result<Arc<Self>, QueryError> {
        if parts.catalogs.is_empty() {
            return Err(QueryError::new(ErrorKind::Invalid, "no catalog is configured"));
        }
        crate::files::check_roots(&parts.settings.load_roots, &parts.closed_folders)?;
        let runtime = runtime(&parts.settings, &parts.catalogs)?;
        let is_on = |name: &str| !parts.settings.rules_off.iter().any(|off| off == name);
        let (mut analyzer, mut optimizer) = (Analyzer::new(), Optimizer::new());
        let mut physical = PhysicalOptimizer::new();
        analyzer.rules.retain(|rule| is_on(rule.name()));
        optimizer.rules.retain(|rule| is_on(rule.name()));
        physical.rules.retain(|rule| is_on(rule.name()));
        let mut base = SessionStateBuilder::new()
            .with_default_features()
            .with_config(config(&parts.settings))
            .with_runtime_env(runtime)
            .with_analyzer_rules(analyzer.rules)
            .with_optimizer_rules(optimizer.rules)
            .build();
        for function in enforce::session_functions() {
            register(&mut base, function)?;
        }
        crate::times::register(&mut base)?;
        crate::pg::register_functions(&mut base)?;
        let catalog_order: Vec<String> =
            parts.catalogs.iter().map(|catalog| catalog.name().to_owned()).collect();
        let pg_tables = Arc::new(
            PgCatalogStaticTables::try_new().map_err(|error| crate::error::from_datafusion(&error))?,
        );
        Ok(Arc::new_cyclic(|this| Self {
            pg_tables,
            n_renames: AtomicU64::new(0),
            this: Weak::clone(this),
            store: parts.store,
            catalogs: parts
                .catalogs
                .into_iter()
                .map(|catalog| (catalog.name().to_owned(), catalog))
                .collect(),
            catalog_order,
            audit: parts.audit,
            clock: parts.clock,
            make_verifier: parts.make_verifier,
            mask_settings: MaskSettings {
                key: parts.mask_key,
                show_short_values: parts.settings.show_short_values,
                profile: parts.settings.mask_profile,
            },
            settings: parts.settings,
            base,
            rules: physical.rules,
        }))
    }

    pub(crate) fn this(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    /// The state for one query: its verifier stands before every other physical rule.
    pub(crate) fn state_for(&self, query: QueryId, time_zone: Option<&str>) -> SessionState {
        let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> =
            vec![Arc::new(VerifyGoverned::new(query)), Arc::new(PutFences)];
        rules.extend(self.rules.iter().cloned());
        let mut config = self.base.config().clone();
        if let Some(zone) = time_zone {
            config.options_mut().execution.time_zone = Some(zone.to_owned());
        }
        SessionStateBuilder::new_from_existing(self.base.clone())
            .with_config(config)
            .with_physical_optimizer_rules(rules)
            .build()
    }
}

pub(crate) fn register(
    state: &mut SessionState,
    function: Arc<datafusion::logical_expr::ScalarUDF>,
) -> Result<(), QueryError> {
    use datafusion::execution::FunctionRegistry;
    state.register_udf(function).map(|_| ()).map_err(|error| crate::error::from_datafusion(&error))
}

fn config(settings: &EngineSettings) -> SessionConfig {
    let mut config = SessionConfig::new().with_batch_size(settings.batch_rows).with_information_schema(false);
    if let Some(n) = settings.target_partitions {
        config = config.with_target_partitions(n);
    }
    let options = config.options_mut();
    options.execution.parquet.pushdown_filters = settings.pushdown_filters;
    options.execution.parquet.reorder_filters = settings.reorder_filters;
    // Statistics come from Iceberg's metadata; files are not opened for them.
    options.execution.collect_statistics = false;
    options.sql_parser.map_string_types_to_utf8view = true;
    config
}

fn runtime(settings: &EngineSettings, catalogs: &[Arc<Catalog>]) -> Result<Arc<RuntimeEnv>, QueryError> {
    let mut builder = RuntimeEnvBuilder::new();
    if let Some(bytes) = settings.memory_limit_bytes {
        builder = builder.with_memory_pool(Arc::new(FairSpillPool::new(bytes)));
    }
    let runtime = builder.build_arc().map_err(|error| crate::error::from_datafusion(&error))?;
    for catalog in catalogs {
        catalog.register(&runtime);
    }
    crate::files::register(&runtime, &settings.load_roots)?;
    Ok(runtime)
}
