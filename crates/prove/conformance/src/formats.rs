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

use anyhow::{Context as _, Result, ensure};
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

/// How a file is read. Its members tell; where those of two formats are the same, the group of the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    EngineTest,
    /// The same, for a plug-in that names tables of one namespace in two ways.
    ExpandedEngineTest,
    Plugin,
    Records,
    Inline,
    Administration,
    Acls,
    /// Lists that an older Ranger made.
    OlderAcls,
    Levels,
    Schedules,
    Authorizer,
    Enricher,
    Polaris,
    RecordedPolaris,
    Normalising,
    Comparison,
    Capability,
    Sharing,
    /// No tests, but something that Ranger writes and that must be understood.
    Material,
}

/// The cases of a file, by the driver of its format.
///
/// # Errors
/// The file has no format that is known, or no case, or is not what its format asks for.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, options: &Options, view: View) -> Result<Vec<Case>> {
    let setup = Setup { engine: options.engine, settings: view.settings(), now: SystemClock.now() };
    let format = format_of(corpus, file)?.context("no format that is known")?;
    let cases = match format {
        Format::EngineTest => engine_test::drive(corpus, file, setup)?,
        Format::ExpandedEngineTest => engine_test::drive_expanded(corpus, file, setup)?,
        Format::Plugin => plugin::drive(corpus, file, &setup)?,
        Format::Records => records::drive(corpus, file, &setup)?,
        Format::Inline => inline::drive(corpus, file, &setup)?,
        Format::Administration => administration::drive(corpus, file)?,
        Format::Acls => acls::drive(corpus, file, &setup)?,
        Format::OlderAcls => acls::drive_older(corpus, file, &setup)?,
        Format::Levels => resource_matcher::drive(corpus, file)?,
        Format::Schedules => schedules::drive(file, &setup),
        Format::Authorizer => authorizer::drive(corpus, file, &setup)?,
        Format::Enricher => enricher::drive(corpus, file, &setup)?,
        Format::Polaris => polaris::drive(corpus, file, &setup)?,
        Format::RecordedPolaris => polaris::drive_recorded(corpus, file, &setup)?,
        Format::Normalising => definitions::drive(file)?,
        Format::Comparison => comparison::drive(corpus, file, &setup),
        Format::Capability => {
            skipped(file, "neither abilities of Java plug-ins nor their request context decide anything")
        }
        Format::Sharing => gds::drive(file),
        Format::Material => loads::drive(corpus, file, &setup).context("no format that is known")?,
    };
    ensure!(!cases.is_empty(), "not one case, so that nothing would be judged");
    Ok(cases)
}

fn format_of(corpus: &Corpus, file: &DataFile) -> Result<Option<Format>> {
    let json = &file.json;
    let group = file.group();
    if let Some(list) = json.as_array() {
        return Ok(format_of_list(list));
    }
    let has = |name: &str| json.get(name).is_some_and(|member| !member.is_null());
    let has_list = |name: &str| json.get(name).is_some_and(Value::is_array);
    let has_tests = has_list("tests") || has("testsInfo") || has_list("updatedTests");
    let found = if has_list("testCases") {
        format_of_groups(group, json)
    } else if group == "capability" {
        Some(Format::Capability)
    } else if has_tests {
        format_of_tests(group, json)
    } else if group == "servicedef-normalize" && has("serviceDef") && has("tagPolicies") {
        Some(Format::Normalising)
    } else if has("policies") && group == "polaris" && !corpus.texts_beside(file)?.is_empty() {
        Some(Format::RecordedPolaris)
    } else {
        Some(Format::Material)
    };
    Ok(found)
}

fn format_of_list(list: &[Value]) -> Option<Format> {
    let has = |place: &str| list.iter().any(|entry| entry.pointer(place).is_some());
    if has("/validitySchedules") {
        Some(Format::Schedules)
    } else if has("/request/access") || has("/request/accesses") || (has("/resource") && has("/context")) {
        Some(Format::Authorizer)
    } else if has("/request") {
        Some(Format::Material)
    } else {
        None
    }
}

/// Of a file whose tests stand in groups.
fn format_of_groups(group: &str, json: &Value) -> Option<Format> {
    let has = |name: &str| objects(json.get("testCases")).any(|case| case.get(name).is_some());
    let mut tests = objects(json.get("testCases")).flat_map(|case| objects(case.get("tests")));
    let asks_for_resources = tests.any(|test| test.get("resource").is_some());
    if group == "capability" {
        Some(Format::Capability)
    } else if has("servicePolicies") && asks_for_resources {
        Some(if group == "hdfs-agent" { Format::OlderAcls } else { Format::Acls })
    } else if has("resourceDef") || has("policyResources") {
        Some(Format::Levels)
    } else if has("me") && has("other") {
        Some(Format::Comparison)
    } else if has("myCapabilities") || has("otherCapabilities") || has("servicePolicies") {
        Some(Format::Capability)
    } else {
        None
    }
}

/// Of a file with one list of tests.
fn format_of_tests(group: &str, json: &Value) -> Option<Format> {
    let has = |name: &str| json.get(name).is_some_and(|member| !member.is_null());
    let any_has = |place: &str| objects(json.get("tests")).any(|test| test.pointer(place).is_some());
    let shares = || {
        let shared = ["/sharedWith", "/resourceIds", "/datasetId", "/projectId", "/dataShareId"];
        shared.iter().any(|name| any_has(name))
    };
    if any_has("/request/authzOp") {
        Some(Format::Polaris)
    } else if has("servicePolicies") {
        Some(if any_has("/request") { Format::Inline } else { Format::Administration })
    } else if any_has("/schema") || any_has("/json") {
        Some(Format::Records)
    } else if group == "gds" || shares() {
        Some(Format::Sharing)
    } else if has("policiesFilename") || json.get("policies").is_some_and(Value::is_object) {
        Some(Format::Plugin)
    } else if has("policies") {
        Some(if group == "hbase-agent" { Format::ExpandedEngineTest } else { Format::EngineTest })
    } else if has("serviceResources") {
        Some(Format::Enricher)
    } else if has("gdsInfo") || has("gdsInfoFilename") {
        Some(Format::Sharing)
    } else {
        None
    }
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

/// Adds a line where two values differ.
fn expect<T: PartialEq + Debug>(what: &str, expected: &T, actual: &T, lines: &mut Vec<String>) {
    if expected != actual {
        lines.push(format!("{what}: expected {expected:?}, was {actual:?}"));
    }
}
