//! The configuration as the parts take it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use stdx::Secret;

use super::fault::{Fault, Place};
use super::options::{Settings, Value};

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: ServerConfig,
    pub postgres: PostgresConfig,
    pub http: HttpConfig,
    /// At least one; sessions start in the first.
    pub catalogs: Vec<CatalogConfig>,
    pub engine: EngineConfig,
    pub audit: AuditConfig,
}

#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub data_dir: PathBuf,
    pub log_level: String,
    pub log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Debug)]
pub struct PostgresConfig {
    /// `None`: this door stays shut.
    pub listen: Option<String>,
    pub tls: Option<TlsFiles>,
    pub require_tls: bool,
    pub connections_max: usize,
}

#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// `None`: this door stays shut.
    pub listen: Option<String>,
}

#[derive(Clone, Debug)]
pub struct CatalogConfig {
    pub name: String,
    pub warehouse: PathBuf,
}

#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// `None`: the number of processors.
    pub target_partitions: Option<usize>,
    pub batch_rows: usize,
    pub memory_limit_bytes: Option<usize>,
    pub mask_key: Option<Secret>,
    pub restricted_columns: String,
    pub row_filter_combine: String,
    pub mask_combine: String,
    pub mask_precedence: String,
    pub condition_errors: String,
    pub show_short_values: bool,
    pub mask_profile: String,
    pub write_implies_read: bool,
    pub check_option: bool,
    pub project_tags: bool,
    pub pushdown_filters: bool,
    pub reorder_filters: bool,
    pub load_roots: Vec<PathBuf>,
    pub load_role: String,
}

#[derive(Clone, Debug)]
pub struct AuditConfig {
    pub path: PathBuf,
}

/// The catalog there is when none is configured.
pub(crate) const DEFAULT_CATALOG: &str = "lake";

pub(crate) fn config(settings: &Settings, faults: &mut Vec<Fault>) -> Config {
    let data_dir =
        PathBuf::from(text(settings, "server", "data_dir").unwrap_or_else(|| "sluice-data".to_owned()));
    let log_format = match text(settings, "server", "log_format").as_deref() {
        Some("json") => LogFormat::Json,
        _ => LogFormat::Text,
    };
    Config {
        postgres: postgres(settings, faults),
        http: HttpConfig { listen: address(settings, "http", "127.0.0.1:8090") },
        catalogs: catalogs(settings, &data_dir),
        engine: engine(settings),
        audit: AuditConfig {
            path: text(settings, "audit", "path").map_or_else(|| data_dir.join("audit.jsonl"), PathBuf::from),
        },
        server: ServerConfig {
            data_dir,
            log_level: text_or(settings, "server", "log_level", "info"),
            log_format,
        },
    }
}

fn postgres(settings: &Settings, faults: &mut Vec<Fault>) -> PostgresConfig {
    let cert = text(settings, "postgres", "tls_cert");
    let key = text(settings, "postgres", "tls_key");
    let require_tls = flag(settings, "postgres", "require_tls");
    let tls = match (cert, key) {
        (Some(cert), Some(key)) => Some(TlsFiles { cert: cert.into(), key: key.into() }),
        (None, None) => None,
        (Some(_), None) => {
            faults.push(Fault::new(place_of(settings, "tls_cert"), "`tls_cert` needs `tls_key` beside it"));
            None
        }
        (None, Some(_)) => {
            faults.push(Fault::new(place_of(settings, "tls_key"), "`tls_key` needs `tls_cert` beside it"));
            None
        }
    };
    if require_tls && tls.is_none() {
        let message = "`require_tls` needs `tls_cert` and `tls_key`";
        faults.push(Fault::new(place_of(settings, "require_tls"), message));
    }
    PostgresConfig {
        listen: address(settings, "postgres", "127.0.0.1:5433"),
        tls,
        require_tls,
        connections_max: count(settings, "postgres", "connections_max").unwrap_or(200),
    }
}

fn place_of(settings: &Settings, key: &'static str) -> Place {
    settings.get("postgres", key).map_or(Place::Whole, |setting| setting.place.clone())
}

fn catalogs(settings: &Settings, data_dir: &Path) -> Vec<CatalogConfig> {
    let warehouse = |name: &str| data_dir.join("warehouse").join(name);
    if settings.catalogs.is_empty() {
        return vec![CatalogConfig {
            name: DEFAULT_CATALOG.to_owned(),
            warehouse: warehouse(DEFAULT_CATALOG),
        }];
    }
    let configured = settings.catalogs.iter().map(|catalog| CatalogConfig {
        name: catalog.name.clone(),
        warehouse: match catalog.warehouse.as_ref().map(|setting| &setting.value) {
            Some(Value::Text(path)) => PathBuf::from(path),
            _ => warehouse(&catalog.name),
        },
    });
    configured.collect()
}

fn engine(settings: &Settings) -> EngineConfig {
    let choice = |key, default| text_or(settings, "engine", key, default);
    EngineConfig {
        target_partitions: count(settings, "engine", "target_partitions"),
        batch_rows: count(settings, "engine", "batch_rows").unwrap_or(8192),
        memory_limit_bytes: count(settings, "engine", "memory_limit_bytes"),
        mask_key: text(settings, "engine", "mask_key").map(Secret::new),
        restricted_columns: choice("restricted_columns", "null"),
        row_filter_combine: choice("row_filter_combine", "and"),
        mask_combine: choice("mask_combine", "restrict"),
        mask_precedence: choice("mask_precedence", "tag"),
        condition_errors: choice("condition_errors", "against-user"),
        show_short_values: flag(settings, "engine", "show_short_values"),
        mask_profile: choice("mask_profile", "sluice"),
        write_implies_read: flag(settings, "engine", "write_implies_read"),
        check_option: is_not_off(settings, "engine", "check_option"),
        project_tags: is_not_off(settings, "engine", "project_tags"),
        pushdown_filters: flag(settings, "engine", "pushdown_filters"),
        reorder_filters: flag(settings, "engine", "reorder_filters"),
        load_role: choice("load_role", "admin"),
        load_roots: match settings.get("engine", "load_roots").map(|setting| &setting.value) {
            Some(Value::Texts(paths)) => paths.iter().map(PathBuf::from).collect(),
            _ => Vec::new(),
        },
    }
}

fn text(settings: &Settings, section: &'static str, key: &'static str) -> Option<String> {
    match &settings.get(section, key)?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn text_or(settings: &Settings, section: &'static str, key: &'static str, default: &str) -> String {
    text(settings, section, key).unwrap_or_else(|| default.to_owned())
}

fn address(settings: &Settings, section: &'static str, default: &str) -> Option<String> {
    Some(text_or(settings, section, "listen", default)).filter(|address| address != "off")
}

fn flag(settings: &Settings, section: &'static str, key: &'static str) -> bool {
    settings.get(section, key).is_some_and(|setting| setting.value == Value::Flag(true))
}

/// A flag that is on unless it is turned off.
fn is_not_off(settings: &Settings, section: &'static str, key: &'static str) -> bool {
    settings.get(section, key).is_none_or(|setting| setting.value != Value::Flag(false))
}

fn number(settings: &Settings, section: &'static str, key: &'static str) -> Option<u64> {
    match settings.get(section, key)?.value {
        Value::Count(count) => Some(count),
        _ => None,
    }
}

fn count(settings: &Settings, section: &'static str, key: &'static str) -> Option<usize> {
    number(settings, section, key).and_then(|count| usize::try_from(count).ok())
}

impl Config {
    /// A value as it would be written in the file; `None` where nothing is set. Secrets are not told.
    pub(crate) fn rendered(&self, section: &str, key: &str) -> Option<String> {
        let path = |path: &Path| format!("{:?}", path.display().to_string());
        let engine = &self.engine;
        let rendered = match (section, key) {
            ("server", "data_dir") => path(&self.server.data_dir),
            ("server", "log_level") => format!("{:?}", self.server.log_level),
            ("server", "log_format") => match self.server.log_format {
                LogFormat::Text => "\"text\"".to_owned(),
                LogFormat::Json => "\"json\"".to_owned(),
            },
            ("postgres", "listen") => format!("{:?}", self.postgres.listen.as_deref().unwrap_or("off")),
            ("postgres", "tls_cert") => path(&self.postgres.tls.as_ref()?.cert),
            ("postgres", "tls_key") => path(&self.postgres.tls.as_ref()?.key),
            ("postgres", "require_tls") => self.postgres.require_tls.to_string(),
            ("postgres", "connections_max") => self.postgres.connections_max.to_string(),
            ("http", "listen") => format!("{:?}", self.http.listen.as_deref().unwrap_or("off")),
            ("engine", "target_partitions") => engine
                .target_partitions
                .map_or_else(|| "(number of processors)".to_owned(), |n| n.to_string()),
            ("engine", "batch_rows") => engine.batch_rows.to_string(),
            ("engine", "memory_limit_bytes") => engine.memory_limit_bytes?.to_string(),
            ("engine", "restricted_columns") => format!("{:?}", engine.restricted_columns),
            ("engine", "row_filter_combine") => format!("{:?}", engine.row_filter_combine),
            ("engine", "mask_combine") => format!("{:?}", engine.mask_combine),
            ("engine", "mask_precedence") => format!("{:?}", engine.mask_precedence),
            ("engine", "condition_errors") => format!("{:?}", engine.condition_errors),
            ("engine", "grant_authority") => "\"ranger-delegate\"".to_owned(),
            ("engine", "mask_profile") => format!("{:?}", engine.mask_profile),
            ("engine", "show_short_values") => engine.show_short_values.to_string(),
            ("engine", "write_implies_read") => engine.write_implies_read.to_string(),
            ("engine", "check_option") => engine.check_option.to_string(),
            ("engine", "project_tags") => engine.project_tags.to_string(),
            ("engine", "pushdown_filters") => engine.pushdown_filters.to_string(),
            ("engine", "reorder_filters") => engine.reorder_filters.to_string(),
            ("engine", "load_role") => format!("{:?}", engine.load_role),
            ("engine", "load_roots") => rendered_paths(&engine.load_roots),
            ("audit", "path") => path(&self.audit.path),
            _ => return None,
        };
        Some(rendered)
    }
}

fn rendered_paths(paths: &[PathBuf]) -> String {
    let mut text = String::from("[");
    for (n, path) in paths.iter().enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{:?}", path.display().to_string());
    }
    text.push(']');
    text
}
