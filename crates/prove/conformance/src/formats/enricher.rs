//! Asks which tags a resource carries.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{engines, judge};
use crate::question::Question;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, objects, text};

/// Who asks in Ranger's driver.
const USER: &str = "testUser";

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let member = |name: &str| file.json.get(name).cloned().unwrap_or(Value::Null);
    let policies = json!({
        "serviceName": member("serviceName"),
        "serviceDef": member("serviceDef"),
        "tagPolicies": { "serviceName": "tags" },
    });
    let beside = Beside { tags: Some(file.json.clone()), ..Beside::default() };
    let scene = Scene::of_download(corpus, file, policies, &beside, setup.settings.clone())?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let run = |test: &Value| -> Result<Outcome> {
        if test.get("conditions").is_some() {
            return Ok(Outcome::Skipped("nothing of Ranger's runs a case with conditions".to_owned()));
        }
        let mut question = Question::read(&scene, test, setup.now)?;
        question.user = USER.to_owned();
        let mut wanted: Vec<String> =
            objects(test.get("result")).filter_map(|tag| tag.get("type").and_then(text)).collect();
        wanted.sort();
        Ok(judge(&engines, |engine| {
            let mut lines = Vec::new();
            expect("tags", &wanted, &engine.tags(&question), &mut lines);
            lines
        }))
    };
    let case = |(idx, test): (usize, &Value)| {
        let outcome = run(test).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name: test.get("name").and_then(text).unwrap_or_default(), outcome }
    };
    Ok(objects(file.json.get("tests")).enumerate().map(case).collect())
}
