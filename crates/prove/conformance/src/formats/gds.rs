//! Counts the cases of governed data sharing, which is not offered.

use serde_json::Value;

use crate::corpus::DataFile;
use crate::report::{Case, Outcome};

/// Every test of the file, skipped by name.
pub(crate) fn drive(file: &DataFile) -> Vec<Case> {
    let tests = file.json.get("tests").and_then(Value::as_array);
    let tests = tests.into_iter().flatten().filter(|test| !test.is_null());
    tests
        .enumerate()
        .map(|(idx, test)| Case {
            number: idx + 1,
            name: test.get("name").and_then(Value::as_str).unwrap_or("").to_owned(),
            outcome: Outcome::Skipped("governed data sharing is not offered".to_owned()),
        })
        .collect()
}
