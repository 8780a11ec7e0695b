//! Validates schedules, and asks whether they apply at a time.

use anyhow::{Context as _, Result};
use policy::schedule::{Schedule, ScheduleReading, validate};
use serde_json::Value;

use super::{Setup, expect};
use crate::corpus::DataFile;
use crate::question::time;
use crate::report::{Case, Outcome};
use crate::scene::{flag, objects, text};

/// Ranger's driver runs on a server of this zone.
const SERVER: chrono_tz::Tz = chrono_tz::America::Los_Angeles;

pub(crate) fn drive(file: &DataFile, setup: &Setup) -> Vec<Case> {
    let tests = objects(Some(&file.json));
    let case = |(idx, test): (usize, &Value)| {
        let outcome = run(test, setup).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name: test.get("name").and_then(text).unwrap_or_default(), outcome }
    };
    tests.enumerate().map(case).collect()
}

fn run(test: &Value, setup: &Setup) -> Result<Outcome> {
    let expected = test.get("result").context("no result")?;
    let mut n_faults = 0;
    let mut valid = Vec::new();
    for schedule in objects(test.get("validitySchedules")) {
        let schedule = ranger_wire::ValiditySchedule::from_value(schedule.clone())?;
        match validate(&crate::read::schedule(&schedule), setup.now, SERVER) {
            Ok(schedule) => valid.push(schedule),
            Err(faults) => n_faults += faults.len(),
        }
    }
    let at = time(&test.get("accessTime").and_then(text).context("no access time")?)?;
    let reading = ScheduleReading::of(setup.settings.condition_errors, SERVER);
    let holds = |schedule| Schedule::new(schedule, reading).is_ok_and(|schedule| schedule.holds(at));
    let is_applicable = n_faults == 0 && valid.iter().any(holds);
    let wanted =
        expected.get("validationFailureCount").and_then(text).and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut lines = Vec::new();
    expect("isValid", &flag(expected.get("isValid")).unwrap_or(false), &(n_faults == 0), &mut lines);
    expect("validationFailureCount", &wanted, &n_faults, &mut lines);
    expect("isApplicable", &flag(expected.get("isApplicable")).unwrap_or(false), &is_applicable, &mut lines);
    Ok(Outcome::of(lines))
}
