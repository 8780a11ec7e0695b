//! Opens what a data folder holds and puts the engine together over it.

use std::path::PathBuf;
use std::sync::Arc;

use audit::{AuditLog, FileSink};
use catalog::Catalog;
use enforce::mask::Profile;
use engine::{Engine, EngineParts, EngineSettings, RestrictedColumns};
use identity::Identity;
use policy::edit::Change;
use policy::model::State;
use policy::{
    BuildOptions, ConditionErrors, GateTwoSettings, MaskCombine, MaskPrecedence, PluginSettings,
    RowFilterCombine, bootstrap, defs,
};
use query_api::QueryService;
use rand::distr::{Alphanumeric, SampleString};
use script::JavaScript;
use stdx::{Clock, Secret, Timestamp};
use store::PolicyStore;
use store_sql::SqlPolicyStore;

use super::ServerError;
use super::lock::DataDir;
use crate::config::{Config, EngineConfig};

/// The user whom a first start makes.
pub const FIRST_ADMIN: &str = "admin";

/// The store's name for the key of `MASK_HASH`.
const MASK_KEY: &str = "mask-key";

const PASSWORD_CHARS: usize = 20;

/// An open data folder, and the engine over it.
pub(crate) struct Installation {
    pub(crate) service: Arc<dyn QueryService>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) store: Arc<dyn PolicyStore>,
    pub(crate) audit: Arc<AuditLog>,
    /// The password of [`FIRST_ADMIN`], when this start made it.
    pub(crate) made_password: Option<Secret>,
    // Last, so that the folder is free only when everything else is closed.
    #[expect(dead_code, reason = "held, not read: the lock goes with it")]
    pub(crate) data_dir: DataDir,
}

/// Opens the folder, or makes it with `admin_password` or a password of chance.
pub(crate) async fn open(
    config: &Config,
    admin_password: Option<Secret>,
    clock: Arc<dyn Clock>,
) -> Result<Installation, ServerError> {
    let data_dir = DataDir::take(&config.server.data_dir)?;
    let (store, made_password) = open_store(config, &data_dir, admin_password, clock.now()).await?;
    let mask_key = match &config.engine.mask_key {
        Some(key) => key.clone(),
        None => store.secret(MASK_KEY, &|_| Secret::new(random_text(64))).await?,
    };
    let catalogs = open_catalogs(config, &data_dir).await?;
    let audit = Arc::new(AuditLog::start(vec![Box::new(FileSink::open(&config.audit.path)?)])?);
    let identity = Arc::new(Identity::open(Arc::clone(&store)).await?);
    let engine = Engine::new(EngineParts {
        store: Arc::clone(&store),
        catalogs,
        audit: Arc::clone(&audit),
        clock,
        make_verifier: Arc::new(|password| {
            identity::make_verifier(password).map_err(|error| error.to_string())
        }),
        mask_key,
        settings: settings(&config.engine),
        closed_folders: closed_folders(config),
    })
    .map_err(ServerError::Engine)?;
    Ok(Installation { service: engine, identity, store, audit, made_password, data_dir })
}

/// Where governed tables and the store lie: nobody reads files there but the engine's own scans.
fn closed_folders(config: &Config) -> Vec<PathBuf> {
    let warehouses = config.catalogs.iter().map(|catalog| catalog.warehouse.clone());
    std::iter::once(config.server.data_dir.clone()).chain(warehouses).collect()
}

async fn open_store(
    config: &Config,
    data_dir: &DataDir,
    admin_password: Option<Secret>,
    now: Timestamp,
) -> Result<(Arc<dyn PolicyStore>, Option<Secret>), ServerError> {
    let password = admin_password.unwrap_or_else(|| Secret::new(random_text(PASSWORD_CHARS)));
    let verifier = identity::make_verifier(&password)?;
    let names: Vec<&str> = config.catalogs.iter().map(|catalog| catalog.name.as_str()).collect();
    let mut is_first_start = false;
    let initial = || {
        is_first_start = true;
        bootstrap::initial_state(&names, FIRST_ADMIN, Some(verifier))
    };
    let plugin =
        PluginSettings { condition_errors: condition_errors(&config.engine), ..PluginSettings::default() };
    let scripts = Some(Arc::new(JavaScript::default()) as _);
    let build = BuildOptions { scripts, plugin, ..BuildOptions::default() };
    let store: Arc<dyn PolicyStore> =
        Arc::new(SqlPolicyStore::open_with(&data_dir.join("policy.sqlite"), build, initial).await?);
    add_services(&names, store.as_ref(), now).await?;
    has_services(config, store.current().state())?;
    Ok((store, is_first_start.then_some(password)))
}

/// Catalogs that were configured after the first start get services of their own.
async fn add_services(catalogs: &[&str], store: &dyn PolicyStore, now: Timestamp) -> Result<(), ServerError> {
    let current = store.current();
    let put_services = bootstrap::services_for(current.state(), catalogs);
    if put_services.is_empty() {
        return Ok(());
    }
    let change = Change { put_services, ..Change::default() };
    store.commit(&change, current.version(), FIRST_ADMIN, now).await?;
    Ok(())
}

/// A catalog whose tables no policy can name would be read without gate two.
fn has_services(config: &Config, state: &State) -> Result<(), ServerError> {
    for catalog in &config.catalogs {
        let serves = |configs: &std::collections::BTreeMap<String, String>| {
            configs
                .get(defs::CATALOGS_CONFIG)
                .is_some_and(|names| names.split(',').any(|name| name == catalog.name))
        };
        if !state.services.values().any(|service| serves(&service.configs)) {
            return Err(ServerError::CatalogWithoutService { name: catalog.name.clone() });
        }
    }
    Ok(())
}

async fn open_catalogs(config: &Config, data_dir: &DataDir) -> Result<Vec<Arc<Catalog>>, ServerError> {
    let mut catalogs = Vec::new();
    for catalog in &config.catalogs {
        let parts = catalog::CatalogConfig {
            name: catalog.name.clone(),
            warehouse: catalog.warehouse.clone(),
            database: data_dir.join("catalogs").join(format!("{}.sqlite", catalog.name)),
        };
        let opened = Catalog::open(parts).await;
        catalogs.push(Arc::new(
            opened.map_err(|source| ServerError::Catalog { name: catalog.name.clone(), source })?,
        ));
    }
    Ok(catalogs)
}

fn random_text(n_chars: usize) -> String {
    Alphanumeric.sample_string(&mut rand::rng(), n_chars)
}

/// For gate one, gate two and whatever a snapshot is built with alike.
fn condition_errors(config: &EngineConfig) -> ConditionErrors {
    match config.condition_errors.as_str() {
        "ranger" => ConditionErrors::Ranger,
        _ => ConditionErrors::AgainstUser,
    }
}

/// The configuration in the engine's terms; its words were checked when it was read.
fn settings(config: &EngineConfig) -> EngineSettings {
    EngineSettings {
        target_partitions: config.target_partitions,
        batch_rows: config.batch_rows,
        memory_limit_bytes: config.memory_limit_bytes,
        pushdown_filters: config.pushdown_filters,
        reorder_filters: config.reorder_filters,
        restricted_columns: match config.restricted_columns.as_str() {
            "error" => RestrictedColumns::Error,
            _ => RestrictedColumns::Null,
        },
        gate_two: GateTwoSettings {
            row_filter_combine: match config.row_filter_combine.as_str() {
                "ranger-first-match" => RowFilterCombine::RangerFirstMatch,
                _ => RowFilterCombine::And,
            },
            mask_combine: match config.mask_combine.as_str() {
                "ranger-first-match" => MaskCombine::RangerFirstMatch,
                _ => MaskCombine::RestrictIfDifferent,
            },
            mask_precedence: match config.mask_precedence.as_str() {
                "resource" => MaskPrecedence::Resource,
                _ => MaskPrecedence::Tag,
            },
            condition_errors: condition_errors(config),
        },
        show_short_values: config.show_short_values,
        // The configuration has let known names through only.
        mask_profile: Profile::parse(&config.mask_profile).unwrap_or(Profile::Sluice),
        write_implies_read: config.write_implies_read,
        check_option: config.check_option,
        project_tags: config.project_tags,
        load_roots: config.load_roots.clone(),
        load_role: config.load_role.clone(),
        ..EngineSettings::default()
    }
}
