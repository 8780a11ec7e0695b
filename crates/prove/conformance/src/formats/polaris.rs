//! Asks whether Polaris's operations are permitted: each needs access types on a target and on a secondary.

use anyhow::{Context as _, Result, bail};
use policy::model::PolicyKind;
use policy::resource_name;
use serde_json::Value;

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{Engine, engines, judge};
use crate::question::{Question, Values};
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, flag, objects, text, texts};

/// What each operation needs.
const OPERATIONS: &str = "operation-privileges.json";
/// The policies by which the tests of a folder are decided.
const POLICIES: &str = "dev_polaris.json";

/// Operations by a principal, as Polaris's own tests have them.
pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let beside = |name: &str| {
        corpus.json_beside(file, name)?.with_context(|| format!("there is no `{name}` beside it"))
    };
    let operations = beside(OPERATIONS)?;
    let scene = scene(corpus, file, beside(POLICIES)?, setup)?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let run = |test: &Value| -> Result<Outcome> {
        let request = test.get("request").context("no request")?;
        let wanted = test.pointer("/result/isAllowed").and_then(|value| flag(Some(value))).unwrap_or(false);
        let member = |name: &str| request.get(name).and_then(text);
        let user = request.pointer("/principal/name").and_then(text).unwrap_or_default();
        let operation = member("authzOp").unwrap_or_default();
        // An operation that needs nothing known is refused.
        let Some(needs) = operations.pointer(&format!("/operations/{operation}")) else {
            let mut lines = Vec::new();
            expect("isAllowed", &wanted, &false, &mut lines);
            return Ok(Outcome::of(lines));
        };
        let mut questions = Vec::new();
        for part in ["target", "secondary"] {
            for access in texts(needs.get(part)) {
                let named = member(part).with_context(|| format!("no {part}"))?;
                let name = ranger_name(&named)?;
                questions.push(question(&scene, &name, &access, &user, setup)?);
            }
        }
        Ok(judge(&engines, |engine| {
            let mut lines = Vec::new();
            expect("isAllowed", &wanted, &are_all_allowed(engine, &questions), &mut lines);
            lines
        }))
    };
    let case = |(idx, test): (usize, &Value)| {
        let name = test.pointer("/request/authzOp").and_then(text).unwrap_or_default();
        let outcome = run(test).unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        Case { number: idx + 1, name, outcome }
    };
    Ok(objects(file.json.get("tests")).enumerate().map(case).collect())
}

/// What Ranger's own engine answered with the policies of this file, as a text beside it tells:
/// `service user=u roles=[r] name [access, …] => ALLOW`.
pub(crate) fn drive_recorded(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let scene = scene(corpus, file, file.json.clone(), setup)?;
    let engines = engines(setup.engine, &scene.downloaded.state, &scene.settings)?;
    let mut cases = Vec::new();
    for recorded in corpus.texts_beside(file)? {
        for line in
            recorded.lines().filter_map(|line| line.strip_prefix(&format!("{} ", scene.downloaded.service)))
        {
            let outcome = run_recorded(&scene, &engines, line, setup)
                .unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
            cases.push(Case { number: cases.len() + 1, name: line.to_owned(), outcome });
        }
    }
    Ok(cases)
}

fn run_recorded(scene: &Scene, engines: &[Engine], line: &str, setup: &Setup) -> Result<Outcome> {
    let (asked, answer) = line.split_once(" => ").context("no ` => `")?;
    let (before, accesses) = asked.rsplit_once(" [").context("no access types")?;
    let before = before.strip_prefix("user=").context("no user")?;
    let (user, rest) = before.split_once(" roles=[").context("no roles")?;
    let (roles, name) = rest.split_once("] ").context("no name")?;
    let list = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let roles = list(roles);
    if roles.is_empty() && !is_named(scene, user) {
        return Ok(Outcome::Skipped(format!("the role by which `{user}` is named is not in the data")));
    }
    let mut questions = Vec::new();
    for access in list(accesses.trim_end_matches(']')) {
        match question(scene, name, &access, user, setup) {
            Ok(mut question) => {
                question.roles = Some(roles.iter().cloned().collect()).filter(|_| !roles.is_empty());
                questions.push(question);
            }
            Err(error) if answer.starts_with("EXC ") => {
                // The message says what is wrong with the name, in both.
                let is_same = format!("{error:#}").contains("does not match template");
                return Ok(Outcome::of(if is_same { Vec::new() } else { vec![format!("{error:#}")] }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(judge(engines, |engine| {
        let actual = if are_all_allowed(engine, &questions) { "ALLOW" } else { "DENY" };
        let mut lines = Vec::new();
        expect("answer", &answer, &actual, &mut lines);
        lines
    }))
}

fn scene(corpus: &Corpus, file: &DataFile, policies: Value, setup: &Setup) -> Result<Scene> {
    Scene::of_download(corpus, file, policies, &Beside::default(), setup.settings.clone())
}

fn is_named(scene: &Scene, user: &str) -> bool {
    let policies = scene.downloaded.state.policies.values();
    policies.flat_map(|policy| &policy.items).any(|item| item.users.iter().any(|named| named == user))
}

/// `TABLE_LIKE:a/b` is `table:a/b`, and so on.
fn ranger_name(name: &str) -> Result<String> {
    let (kind, rest) = name.split_once(':').context("no type")?;
    let kind = match kind {
        "ROOT" => "root",
        "PRINCIPAL" => "principal",
        "CATALOG" => "catalog",
        "NAMESPACE" => "namespace",
        "TABLE_LIKE" => "table",
        "POLICY" => "policy",
        other => bail!("no resource has the type `{other}`"),
    };
    Ok(format!("{kind}:{rest}"))
}

fn question(scene: &Scene, name: &str, access: &str, user: &str, setup: &Setup) -> Result<Question> {
    let state = &scene.downloaded.state;
    let service = state.services.get(&scene.downloaded.service).context("no service")?;
    let def = state.service_defs.get(&service.service_def).context("no definition")?;
    let levels = resource_name::parse(def, name)?;
    let levels = levels.into_iter().map(|(level, value)| (level, Values::One(value))).collect();
    let mut question = Question::new(&service.name, levels, access, setup.now);
    question.user = user.to_owned();
    Ok(question)
}

fn are_all_allowed(engine: &Engine, questions: &[Question]) -> bool {
    questions.iter().all(|question| engine.evaluate(PolicyKind::Access, question).is_allowed)
}
