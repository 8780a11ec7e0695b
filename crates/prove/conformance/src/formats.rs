//! One driver for each format of Ranger's test data.

mod acls;
mod administration;
mod authorizer;
mod definitions;
mod engine_test;
mod gds;
mod resource_matcher;

use std::fmt::Debug;

use anyhow::Result;
use policy::PluginSettings;
use stdx::{Clock as _, SystemClock, Timestamp};

use crate::corpus::{Corpus, DataFile};
use crate::report::Case;
use crate::run::{EngineChoice, Options};
use crate::settings;

/// How a file's cases are asked.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) engine: EngineChoice,
    pub(crate) settings: PluginSettings,
    /// When a request asks that does not say when.
    pub(crate) now: Timestamp,
}

/// The cases of a file, by the driver that its folder asks for; none for files that are only named by others.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, options: &Options) -> Result<Option<Vec<Case>>> {
    let setup = Setup { engine: options.engine, settings: settings::of_ranger(), now: SystemClock.now() };
    let has = |name: &str| file.json.get(name).is_some();
    let is_engine_test = has("policies") && (has("tests") || has("testsInfo"));
    let cases = match file.group() {
        "policyengine" | "contextenricher" | "hbase-agent" if is_engine_test => {
            engine_test::drive(corpus, file, setup)?
        }
        "gds" => gds::drive(file),
        "resourcematcher" => resource_matcher::drive(corpus, file)?,
        "servicedef-normalize" => definitions::drive(file)?,
        "admin" => administration::drive(corpus, file)?,
        "aclprovider" => acls::drive(corpus, file, &setup)?,
        "embedded-authz" => return authorizer::drive(corpus, file, &setup),
        _ => return Ok(None),
    };
    Ok(Some(cases))
}

/// Adds a line where two values differ.
fn expect<T: PartialEq + Debug>(what: &str, expected: &T, actual: &T, lines: &mut Vec<String>) {
    if expected != actual {
        lines.push(format!("{what}: expected {expected:?}, was {actual:?}"));
    }
}
