//! One driver for each format of Ranger's test data.

mod acls;
mod administration;
mod authorizer;
mod comparison;
mod definitions;
mod engine_test;
mod enricher;
mod gds;
mod inline;
mod loads;
mod plugin;
mod polaris;
mod records;
mod resource_matcher;
mod schedules;

use std::fmt::Debug;

use anyhow::Result;
use policy::PluginSettings;
use serde_json::Value;
use stdx::{Clock as _, SystemClock, Timestamp};

use crate::corpus::{Corpus, DataFile};
use crate::report::{Case, Outcome};
use crate::run::{EngineChoice, Options};
use crate::scene::{objects, text};
use crate::settings::View;

/// How a file's cases are asked.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) engine: EngineChoice,
    pub(crate) settings: PluginSettings,
    /// When a request asks that does not say when.
    pub(crate) now: Timestamp,
}

/// The cases of a file, by the driver that its folder asks for; none for files that are only named by others.
pub(crate) fn drive(
    corpus: &Corpus,
    file: &DataFile,
    options: &Options,
    view: View,
) -> Result<Option<Vec<Case>>> {
    let setup = Setup { engine: options.engine, settings: view.settings(), now: SystemClock.now() };
    let has = |name: &str| file.json.get(name).is_some();
    let is_engine_test = has("policies") && (has("tests") || has("testsInfo"));
    let cases = match file.group() {
        "policyengine" | "contextenricher" if is_engine_test => engine_test::drive(corpus, file, setup)?,
        "hbase-agent" if is_engine_test => {
            let cases = engine_test::drive_expanded(corpus, file, setup)?;
            doubted(cases, "Ranger's driver swallows its failures, so this may be one")
        }
        "validityscheduler" => schedules::drive(file, &setup),
        "plugin" if has("tests") => plugin::drive(corpus, file, &setup)?,
        "inline" if has("tests") => inline::drive(corpus, file, &setup)?,
        "capability" => {
            skipped(file, "neither abilities of Java plug-ins nor their request context decide anything")
        }
        "gds" => gds::drive(file),
        "resourcematcher" => resource_matcher::drive(corpus, file)?,
        "servicedef-normalize" => definitions::drive(file)?,
        "admin" => administration::drive(corpus, file)?,
        "aclprovider" => acls::drive(corpus, file, &setup)?,
        "hdfs-agent" if has("testCases") => doubted(
            acls::drive(corpus, file, &setup)?,
            "nothing of Ranger's runs this file, and its lists are older",
        ),
        "embedded-authz" => return authorizer::drive(corpus, file, &setup),
        "contextenricher" if has("serviceResources") => enricher::drive(corpus, file, &setup)?,
        "polaris" if has("tests") => polaris::drive(corpus, file, &setup)?,
        "polaris" if has("policies") && !corpus.texts_beside(file)?.is_empty() => {
            polaris::drive_recorded(corpus, file, &setup)?
        }
        "nestedstructure" if has("tests") => records::drive(corpus, file, &setup)?,
        "comparison" if has("testCases") => comparison::drive(corpus, file, &setup),
        "rest-import" | "fixtures" | "service-defs" | "polaris" | "comparison" | "classpath" => {
            return Ok(loads::drive(corpus, file, &setup));
        }
        _ => return Ok(None),
    };
    Ok(Some(cases))
}

/// Every test of a file, left out.
fn skipped(file: &DataFile, why: &str) -> Vec<Case> {
    let groups = objects(file.json.get("testCases"));
    let mut tests = Vec::new();
    for group in groups {
        let inner: Vec<&Value> = objects(group.get("tests")).collect();
        if inner.is_empty() { tests.push(group) } else { tests.extend(inner) }
    }
    let case = |(idx, test): (usize, &Value)| Case {
        number: idx + 1,
        name: test.get("name").and_then(text).unwrap_or_default(),
        outcome: Outcome::Skipped(why.to_owned()),
    };
    tests.into_iter().enumerate().map(case).collect()
}

/// Failures of a file whose expectations nothing of Ranger's upholds, told and not counted.
fn doubted(mut cases: Vec<Case>, why: &str) -> Vec<Case> {
    for case in &mut cases {
        if let Outcome::Failed(lines) = &case.outcome {
            case.outcome = Outcome::Skipped(format!("{why}; {}", lines.join("; ")));
        }
    }
    cases
}

/// Adds a line where two values differ.
fn expect<T: PartialEq + Debug>(what: &str, expected: &T, actual: &T, lines: &mut Vec<String>) {
    if expected != actual {
        lines.push(format!("{what}: expected {expected:?}, was {actual:?}"));
    }
}
