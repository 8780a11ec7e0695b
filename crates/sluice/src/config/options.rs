//! Every option: its name, what values it takes, its default, and what it does.

use std::collections::BTreeMap;
use std::fmt;

use super::fault::Place;
use super::{Config, EffectiveSetting};

/// The values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Path,
    Paths,
    /// `host:port`, or `off`.
    Address,
    Flag,
    Count {
        min: u64,
        max: u64,
    },
    OneOf(&'static [&'static str]),
    Secret,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionDef {
    pub(crate) section: &'static str,
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    /// As it would be written in the file; `None` where it depends on others, which `about` then tells.
    pub(crate) default: Option<&'static str>,
    pub(crate) about: &'static str,
    /// Other spellings: `section.key`, with `-` written `_`.
    pub(crate) aliases: &'static [&'static str],
}

/// The section whose tables are named by the user.
pub(crate) const CATALOGS: &str = "catalogs";

const fn option(
    section: &'static str,
    key: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> OptionDef {
    OptionDef { section, key, kind, default, about, aliases: &[] }
}

const fn aliased(def: OptionDef, aliases: &'static [&'static str]) -> OptionDef {
    OptionDef { aliases, ..def }
}

const GIB: u64 = 1 << 30;

/// The whole of what can be set, in the order in which the reference tells it.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option(
        "server",
        "data_dir",
        Kind::Path,
        Some("\"sluice-data\""),
        "Folder that holds the policy store, the catalogs and, unless set elsewhere, the warehouse and the audit file. One process at a time.",
    ),
    option(
        "server",
        "log_level",
        Kind::Text,
        Some("\"info\""),
        "What is logged: `error`, `warn`, `info`, `debug` or `trace`, or directives such as `info,engine=debug`.",
    ),
    option(
        "server",
        "log_format",
        Kind::OneOf(&["text", "json"]),
        Some("\"text\""),
        "How log lines look, on stderr.",
    ),
    option(
        "postgres",
        "listen",
        Kind::Address,
        Some("\"127.0.0.1:5433\""),
        "Where the PostgreSQL protocol is spoken: `host:port`, port 0 for any free one, or `off`. 5433 stands beside a PostgreSQL on the same machine.",
    ),
    option(
        "postgres",
        "tls_cert",
        Kind::Path,
        None,
        "Certificate chain (PEM). With `tls_key` it switches TLS on.",
    ),
    option("postgres", "tls_key", Kind::Path, None, "Private key (PEM) of `tls_cert`."),
    option(
        "postgres",
        "require_tls",
        Kind::Flag,
        Some("false"),
        "Refuse clients that do not encrypt. Needs `tls_cert` and `tls_key`.",
    ),
    option(
        "postgres",
        "connections_max",
        Kind::Count { min: 1, max: 100_000 },
        Some("200"),
        "How many clients may be connected at once; further ones are refused with an error.",
    ),
    option(
        "http",
        "listen",
        Kind::Address,
        Some("\"127.0.0.1:8090\""),
        "Where `/healthz` and `/readyz` are answered: `host:port`, port 0 for any free one, or `off`.",
    ),
    option(
        CATALOGS,
        "warehouse",
        Kind::Path,
        None,
        "Folder of the catalog's table data. Default: `warehouse/<name>` under `server.data_dir`.",
    ),
    option(
        "engine",
        "target_partitions",
        Kind::Count { min: 1, max: 4096 },
        None,
        "How many parts of a query run at once. Default: the number of processors.",
    ),
    option(
        "engine",
        "batch_rows",
        Kind::Count { min: 64, max: 1 << 20 },
        Some("8192"),
        "Rows that operators hand on at a time.",
    ),
    option(
        "engine",
        "memory_limit_bytes",
        Kind::Count { min: 16 << 20, max: 1024 * GIB },
        None,
        "Memory that running queries may hold together; beyond it they spill to disk, or end in an error. Default: no limit.",
    ),
    aliased(
        option(
            "engine",
            "mask_key",
            Kind::Secret,
            None,
            "Key of `MASK_HASH`. Default: one made at first start and kept in the policy store.",
        ),
        &["policy.mask_key"],
    ),
    option(
        "engine",
        "restricted_columns",
        Kind::OneOf(&["null", "error"]),
        Some("\"null\""),
        "What a restricted column does: reads as NULL, or refuses the query, naming the column.",
    ),
    option(
        "engine",
        "row_filter_combine",
        Kind::OneOf(&["and", "ranger-first-match"]),
        Some("\"and\""),
        "How filters of several policies on one relation meet.",
    ),
    option(
        "engine",
        "mask_combine",
        Kind::OneOf(&["restrict", "ranger-first-match"]),
        Some("\"restrict\""),
        "What happens where two policies of one kind mask a column differently: the column is restricted, or the first one counts.",
    ),
    aliased(
        option(
            "engine",
            "mask_precedence",
            Kind::OneOf(&["tag", "resource"]),
            Some("\"tag\""),
            "Which mask wins where both a tag and the column itself have one.",
        ),
        &["policy.mask_precedence"],
    ),
    option(
        "engine",
        "condition_errors",
        Kind::OneOf(&["against-user", "ranger"]),
        Some("\"against-user\""),
        "What a policy condition that cannot be evaluated does: counts against the user, or as in Ranger, where it is not met, and one of a type that its service lacks is passed over.",
    ),
    aliased(
        option(
            "engine",
            "grant_authority",
            Kind::OneOf(&["ranger-delegate"]),
            Some("\"ranger-delegate\""),
            "Who may grant: administrators, and whoever holds the grant option on the object. There is no other value.",
        ),
        &["access_control.grant_authority"],
    ),
    option(
        "engine",
        "mask_profile",
        Kind::OneOf(&["sluice", "hive", "spark", "trino"]),
        Some("\"sluice\""),
        "Whose bytes Ranger's mask types come out as, see the page of masks; all but `sluice` hash without a key and show more.",
    ),
    option(
        "engine",
        "show_short_values",
        Kind::Flag,
        Some("false"),
        "Show values of four characters or fewer under `MASK_SHOW_LAST_4` and `MASK_SHOW_FIRST_4`, which are masked whole otherwise.",
    ),
    option(
        "engine",
        "write_implies_read",
        Kind::Flag,
        Some("false"),
        "Let GRANT INSERT, UPDATE and DELETE also write the read privilege, for an outside Polaris.",
    ),
    aliased(
        option(
            "engine",
            "project_tags",
            Kind::Flag,
            Some("true"),
            "Keep the tags of columns in the authority's tag store, beside the table property `sqe.column-tags`.",
        ),
        &["policy.ranger.project_tags", "policy.project_tags"],
    ),
    option(
        "engine",
        "check_option",
        Kind::Flag,
        Some("true"),
        "Refuse a write of a row that its writer could not see afterwards under the row filters of the table.",
    ),
    option(
        "engine",
        "pushdown_filters",
        Kind::Flag,
        Some("false"),
        "Evaluate harmless predicates inside the Parquet reader, on the columns they need, before the others are read.",
    ),
    option(
        "engine",
        "reorder_filters",
        Kind::Flag,
        Some("false"),
        "Let the Parquet reader choose the order of the predicates that `pushdown_filters` gives it.",
    ),
    option(
        "engine",
        "load_roots",
        Kind::Paths,
        Some("[]"),
        "Folders from which `read_parquet` and its like may read files. None: no statement may.",
    ),
    option(
        "engine",
        "load_role",
        Kind::Text,
        Some("\"admin\""),
        "The role whose members may read files under `load_roots`.",
    ),
    aliased(
        option(
            "audit",
            "path",
            Kind::Path,
            None,
            "File that gets one JSON record per decision. Default: `audit.jsonl` under `server.data_dir`.",
        ),
        &["metrics.audit_log_path"],
    ),
];

pub(crate) fn find(section: &str, key: &str) -> Option<&'static OptionDef> {
    OPTIONS.iter().find(|def| def.section == section && def.key == key)
}

/// The option that another product's name for it means.
pub(crate) fn find_alias(dotted: &str) -> Option<&'static OptionDef> {
    OPTIONS.iter().find(|def| def.aliases.contains(&dotted))
}

/// Section names, each once.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = OPTIONS.iter().map(|def| def.section).collect();
    names.dedup();
    names
}

pub(crate) fn keys(section: &str) -> Vec<&'static str> {
    OPTIONS.iter().filter(|def| def.section == section).map(|def| def.key).collect()
}

/// A value that has its option's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Count(u64),
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    At(Place),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::At(place) => place.fmt(f),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// What was set, without the defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    fixed: BTreeMap<(&'static str, &'static str), Setting>,
    /// In the order in which they were named: the first one is where sessions start.
    pub(crate) catalogs: Vec<CatalogSettings>,
}

#[derive(Clone, Debug)]
pub(crate) struct CatalogSettings {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) warehouse: Option<Setting>,
}

impl Settings {
    pub(crate) fn get(&self, section: &'static str, key: &'static str) -> Option<&Setting> {
        self.fixed.get(&(section, key))
    }

    /// Sets an option; the setting that stood there before, if any.
    pub(crate) fn put(&mut self, def: &OptionDef, setting: Setting) -> Option<Setting> {
        self.fixed.insert((def.section, def.key), setting)
    }

    /// The catalog of that name, made where there is none yet.
    pub(crate) fn catalog(&mut self, name: &str, place: &Place) -> Option<&mut CatalogSettings> {
        if !self.catalogs.iter().any(|catalog| catalog.name == name) {
            self.catalogs.push(CatalogSettings {
                name: name.to_owned(),
                place: place.clone(),
                warehouse: None,
            });
        }
        self.catalogs.iter_mut().find(|catalog| catalog.name == name)
    }

    /// Every setting as it stands, in the reference's order.
    pub(crate) fn effective(&self, config: &Config) -> Vec<EffectiveSetting> {
        let mut all = Vec::new();
        for def in OPTIONS {
            if def.section == CATALOGS {
                all.extend(self.effective_catalogs(config));
                continue;
            }
            let setting = self.get(def.section, def.key);
            let source = setting.map_or(Source::Default, |setting| Source::At(setting.place.clone()));
            let value = match (def.kind, setting) {
                (Kind::Secret, Some(_)) => "(set, not shown)".to_owned(),
                (Kind::Secret, None) => "(made at first start)".to_owned(),
                _ => config.rendered(def.section, def.key).unwrap_or_else(|| "(none)".to_owned()),
            };
            all.push(EffectiveSetting { name: format!("{}.{}", def.section, def.key), value, source });
        }
        all
    }

    fn effective_catalogs(&self, config: &Config) -> Vec<EffectiveSetting> {
        config
            .catalogs
            .iter()
            .map(|catalog| {
                let set = self.catalogs.iter().find(|settings| settings.name == catalog.name);
                let source = match set {
                    None => Source::Default,
                    Some(set) => match &set.warehouse {
                        Some(warehouse) => Source::At(warehouse.place.clone()),
                        None => Source::At(set.place.clone()),
                    },
                };
                EffectiveSetting {
                    name: format!("{CATALOGS}.{}.warehouse", catalog.name),
                    value: format!("{:?}", catalog.warehouse.display().to_string()),
                    source,
                }
            })
            .collect()
    }
}
