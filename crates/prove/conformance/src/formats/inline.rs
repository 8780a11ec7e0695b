//! Asks requests that bring a policy of their own along.

use anyhow::{Context as _, Result};
use policy::model::PolicyKind;
use serde_json::Value;

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{engines, judge};
use crate::question::Question;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, flag, objects, text};

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let policies = file.json.get("servicePolicies").context("no servicePolicies")?.clone();
    let scene = Scene::of_download(corpus, file, policies, &Beside::default(), setup.settings.clone())?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let run = |test: &Value| -> Result<Outcome> {
        let question = Question::read(&scene, test.get("request").unwrap_or(&Value::Null), setup.now)?;
        let expected = test.get("result").unwrap_or(&Value::Null);
        let is = |name: &str| flag(expected.get(name)).unwrap_or(false);
        let wanted = expected.get("policyId").and_then(text).and_then(|id| id.parse().ok()).unwrap_or(-1);
        Ok(judge(&engines, |engine| {
            let mut lines = Vec::new();
            let answer = engine.evaluate(PolicyKind::Access, &question);
            expect("isAllowed", &is("isAllowed"), &answer.is_allowed, &mut lines);
            expect("isAudited", &is("isAudited"), &answer.is_audited, &mut lines);
            expect("policyId", &wanted, &scene.number(answer.policy), &mut lines);
            lines
        }))
    };
    let case = |(idx, test): (usize, &Value)| {
        let outcome = run(test).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name: test.get("name").and_then(text).unwrap_or_default(), outcome }
    };
    Ok(objects(file.json.get("tests")).enumerate().map(case).collect())
}
