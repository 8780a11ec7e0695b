//! Compares two downloads: equal ones make equal engines, and others do not.

use anyhow::{Context as _, Result};
use policy::model::State;
use serde_json::Value;

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, flag, objects, text};

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Vec<Case> {
    let case = |(idx, test): (usize, &Value)| {
        let outcome = run(corpus, file, test, setup);
        let outcome = outcome.unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name: test.get("name").and_then(text).unwrap_or_default(), outcome }
    };
    objects(file.json.get("testCases")).enumerate().map(case).collect()
}

fn run(corpus: &Corpus, file: &DataFile, test: &Value, setup: &Setup) -> Result<Outcome> {
    let load = |side: &str| -> Result<State> {
        let named = |name: &str| -> Result<Value> {
            let path = test
                .pointer(&format!("/{side}/{name}"))
                .and_then(Value::as_str)
                .context("no file is named")?;
            // The class path's folder is this folder under another name.
            let below = path.split("/comparison/").last().unwrap_or(path);
            corpus.json_beside(file, below)?.with_context(|| format!("there is no `{below}` beside it"))
        };
        let beside = Beside { tags: Some(named("serviceTagsFile")?), ..Beside::default() };
        let scene =
            Scene::of_download(corpus, file, named("servicePoliciesFile")?, &beside, setup.settings.clone())?;
        Ok(scene.downloaded.state)
    };
    let (me, other) = (load("me")?, load("other")?);
    let are_tags_equal = me.tags == other.tags && me.tagged_resources == other.tagged_resources;
    let are_policies_equal = me.policies == other.policies && me.service_defs == other.service_defs;
    let mut lines = Vec::new();
    let wanted = |name: &str| flag(test.get(name)).unwrap_or(false);
    expect("isPolicyEnginesEqual", &wanted("isPolicyEnginesEqual"), &are_policies_equal, &mut lines);
    expect("isTagsEqual", &wanted("isTagsEqual"), &are_tags_equal, &mut lines);
    Ok(Outcome::of(lines))
}
