//! The configuration: what can be set, where each value came from, and everything that is wrong with it at once.
//!
//! A value comes from the built-in default, then the file, then the environment (`SLUICE_<SECTION>__<KEY>`), then
//! the command line; the last one wins. A name that means nothing is refused, wherever it stands.

mod fault;
mod options;
mod read;
mod reference;
mod typed;

pub use fault::{ConfigError, Fault, Place};
pub use options::Source;
pub use reference::reference;
pub use typed::{
    AuditConfig, CatalogConfig, Config, EngineConfig, HttpConfig, LogFormat, PostgresConfig, ServerConfig,
    TlsFiles,
};

use std::path::{Path, PathBuf};

/// One setting as it stands, for `sluice config show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// `section.key`.
    pub name: String,
    /// As it would be written in the file; a secret is not shown.
    pub value: String,
    pub source: Source,
}

/// A configuration that was read and found right.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    pub effective: Vec<EffectiveSetting>,
}

/// Where settings are taken from.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    /// The environment, whole; only names that begin with `SLUICE_` matter.
    pub env: Vec<(String, String)>,
    /// `section.key` and value from command line flags; the flag is told in `config show`.
    pub flags: Vec<(String, String)>,
}

impl Inputs {
    /// The process's own environment with the given file.
    pub fn of_process(file: Option<PathBuf>) -> Self {
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self { file, env, flags: Vec::new() }
    }

    #[must_use]
    pub fn with_flag(mut self, name: &str, value: impl Into<String>) -> Self {
        self.flags.push((name.to_owned(), value.into()));
        self
    }
}

/// Reads the configuration, or says everything that is wrong with it.
pub fn load(inputs: &Inputs) -> Result<Loaded, ConfigError> {
    let mut settings = options::Settings::default();
    let mut faults = Vec::new();
    if let Some(file) = &inputs.file {
        match std::fs::read_to_string(file) {
            Ok(text) => read::file(file, &text, &mut settings, &mut faults),
            Err(error) => {
                faults.push(Fault::new(Place::File(file.clone()), format!("cannot be read: {error}")))
            }
        }
    }
    read::env(&inputs.env, &mut settings, &mut faults);
    read::flags(&inputs.flags, &mut settings, &mut faults);
    if !faults.is_empty() {
        return Err(ConfigError::new(faults));
    }
    let config = typed::config(&settings, &mut faults);
    if !faults.is_empty() {
        return Err(ConfigError::new(faults));
    }
    Ok(Loaded { effective: settings.effective(&config), config })
}

/// The file to read when none is named: `sluice.toml` in the working directory, if it is there.
pub fn default_file(working_dir: &Path) -> Option<PathBuf> {
    let file = working_dir.join("sluice.toml");
    file.is_file().then_some(file)
}

#[cfg(test)]
mod tests;
