//! Lists who may do what on a resource, as TestPolicyACLs does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use anyhow::{Context as _, Result};
use policy::evaluate::{AclAccess, AclEntry, AclRule, AclsByPrincipal, ResourceAcls};
use policy::model::MaskInfo;
use policy::{MatchingScope, Membership};
use serde_json::Value;

use super::{Setup, expect};
use crate::corpus::{Corpus, DataFile};
use crate::engines::{Engine, engines};
use crate::question::{Question, levels};
use crate::report::{Case, Outcome};
use crate::run::EngineChoice;
use crate::scene::{self, Beside, Scene, flag, objects, text, texts};

/// Why the second evaluator is not asked.
const FAST_ONLY: &str = "the second evaluator makes no lists";

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let groups = file.json.get("testCases").and_then(Value::as_array).context("no testCases")?;
    for group in groups.iter().filter(|group| group.is_object()) {
        let policies = group.get("servicePolicies").context("no servicePolicies")?.clone();
        let scene = Scene::of_download(corpus, file, policies, &Beside::default(), setup.settings.clone())?;
        let engine = fast(setup, &scene)?;
        let tests = group.get("tests").and_then(Value::as_array).into_iter().flatten();
        for test in tests.filter(|test| test.is_object()) {
            let outcome = match &engine {
                None => Outcome::Skipped(FAST_ONLY.to_owned()),
                Some(engine) => {
                    let mut question = Question::new(
                        &scene.downloaded.service,
                        levels(test.get("resource").unwrap_or(&Value::Null)),
                        "",
                        setup.now,
                    );
                    if test.get("resourceMatchingScope").and_then(text).as_deref()
                        == Some("SELF_OR_DESCENDANTS")
                    {
                        question.context.scope = MatchingScope::ItselfOrBelow;
                    }
                    let found = acls(engine, &question);
                    let expected = Expected::of_test(test);
                    let lines = differences(&expected, &found, &scene);
                    if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) }
                }
            };
            let name = test.get("name").and_then(text).unwrap_or_default();
            cases.push(Case { number: cases.len() + 1, name, outcome });
        }
    }
    Ok(cases)
}

/// As [`drive`], of a file that nothing of Ranger's runs: a case that cannot be right is left out.
pub(crate) fn drive_older(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let mut cases = drive(corpus, file, setup)?;
    let groups = objects(file.json.get("testCases"));
    let tests = groups.flat_map(|group| objects(group.get("tests")).map(move |test| (group, test)));
    for (case, (group, test)) in cases.iter_mut().zip(tests) {
        if let Outcome::Failed(_) = case.outcome
            && let Some(why) = why_impossible(group, test)
        {
            case.outcome = Outcome::Skipped(format!("nothing of Ranger's runs it, and {why}"));
        }
    }
    Ok(cases)
}

/// Why no Ranger of today can make these lists: they hold somebody whom no policy names, or an access that is neither
/// allowed, denied nor conditional.
fn why_impossible(group: &Value, test: &Value) -> Option<String> {
    let mut named = BTreeSet::from(["public".to_owned()]);
    for policy in objects(group.pointer("/servicePolicies/policies")) {
        for items in policy.as_object()?.values().filter(|member| member.is_array()) {
            for item in objects(Some(items)) {
                named.extend(["users", "groups", "roles"].iter().flat_map(|who| texts(item.get(*who))));
            }
        }
    }
    for (who, lists) in
        [("user", "userPermissions"), ("group", "groupPermissions"), ("role", "rolePermissions")]
    {
        for (name, entries) in test.get(lists).and_then(Value::as_object).into_iter().flatten() {
            if !named.contains(name) {
                return Some(format!("no policy names the {who} `{name}`"));
            }
            for (access, entry) in entries.as_object().into_iter().flatten() {
                if entry.get("result").and_then(scene::number) == Some(0) {
                    return Some(format!("a list never leaves `{access}` of `{name}` open"));
                }
            }
        }
    }
    None
}

/// The product's own evaluator, unless only the second one is to be asked.
pub(crate) fn fast(setup: &Setup, scene: &Scene) -> Result<Option<Engine>> {
    if setup.engine == EngineChoice::Obvious {
        return Ok(None);
    }
    Ok(engines(EngineChoice::Fast, &scene.downloaded.state, &scene.settings)?.pop())
}

/// The lists of the evaluator that makes them.
pub(crate) fn acls(engine: &Engine, question: &Question) -> ResourceAcls {
    let nobody = Membership::default();
    match engine {
        Engine::Fast(snapshot) => snapshot.resource_acls(&question.request(&nobody)),
        Engine::Obvious(_) => ResourceAcls::default(),
    }
}

/// What a test expects.
pub(crate) struct Expected<'j> {
    users: Option<&'j Value>,
    groups: Option<&'j Value>,
    roles: Option<&'j Value>,
    filters: Option<&'j Value>,
    masks: Option<&'j Value>,
}

impl<'j> Expected<'j> {
    fn of_test(json: &'j Value) -> Self {
        Self {
            users: json.get("userPermissions"),
            groups: json.get("groupPermissions"),
            roles: json.get("rolePermissions"),
            filters: json.get("rowFilters"),
            masks: json.get("dataMasks"),
        }
    }

    /// As RangerResourceACLs is written.
    pub(crate) fn of_acls(json: &'j Value) -> Self {
        Self {
            users: json.get("userACLs"),
            groups: json.get("groupACLs"),
            roles: json.get("roleACLs"),
            filters: json.get("rowFilters"),
            masks: json.get("dataMasks"),
        }
    }
}

pub(crate) fn differences(expected: &Expected<'_>, found: &ResourceAcls, scene: &Scene) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, expected, found) in [
        ("users", expected.users, &found.users),
        ("groups", expected.groups, &found.groups),
        ("roles", expected.roles, &found.roles),
    ] {
        compare(what, expected, found, scene, &mut lines);
    }
    let filter = |json: &Value| json.pointer("/filterInfo/filterExpr").and_then(text);
    let mask = |json: &Value| -> Mask {
        let member = |name: &str| json.get("maskInfo").and_then(|info| info.get(name)).and_then(text);
        (member("dataMaskType"), member("conditionExpr"), member("valueExpr"))
    };
    let found_mask = |mask: &MaskInfo| -> Mask {
        (Some(mask.mask_type.clone()), mask.condition_expr.clone(), mask.value_expr.clone())
    };
    rules("filters", expected.filters, &found.filters, filter, |text| Some(text.clone()), &mut lines);
    rules("masks", expected.masks, &found.masks, mask, found_mask, &mut lines);
    lines
}

type Mask = (Option<String>, Option<String>, Option<String>);

/// Principals and access types must be the very ones. Of an entry Ranger compares the policy that had the last word, or
/// where none is expected what is decided.
fn compare(
    what: &str,
    expected: Option<&Value>,
    found: &AclsByPrincipal,
    scene: &Scene,
    lines: &mut Vec<String>,
) {
    let expected: BTreeMap<&String, &Value> =
        expected.and_then(Value::as_object).into_iter().flatten().collect();
    expect(what, &expected.keys().copied().collect::<Vec<_>>(), &found.keys().collect(), lines);
    for (name, entries) in expected {
        let Some(found) = found.get(name) else { continue };
        let entries: BTreeMap<&String, &Value> = entries.as_object().into_iter().flatten().collect();
        let at = format!("{what} {name}");
        expect(&at, &entries.keys().copied().collect::<Vec<_>>(), &found.keys().collect(), lines);
        for (access, entry) in entries {
            let Some(found) = found.get(access) else { continue };
            let at = format!("{at} {access}");
            match entry.pointer("/policy/id").and_then(scene::number) {
                Some(id) => expect(&at, &id, &scene.number(Some(found.last_policy)), lines),
                None => {
                    let result = entry.get("result").and_then(scene::number);
                    let is_final = flag(entry.get("isFinal")).unwrap_or(false);
                    expect(&at, &(result, is_final), &(Some(number(found)), found.is_final), lines);
                }
            }
        }
    }
}

fn number(entry: &AclEntry) -> i64 {
    match entry.access {
        AclAccess::Allowed => 1,
        AclAccess::Denied => -1,
        AclAccess::Conditional => 2,
    }
}

fn rules<T, R: Debug + PartialEq>(
    what: &str,
    expected: Option<&Value>,
    found: &[AclRule<T>],
    read: impl Fn(&Value) -> R,
    rule: impl Fn(&T) -> R,
    lines: &mut Vec<String>,
) {
    let set = |json: &Value, key: &str| texts(json.get(key)).into_iter().collect::<BTreeSet<String>>();
    let expected: Vec<_> = objects(expected)
        .map(|json| {
            let is_conditional = flag(json.get("isConditional")).unwrap_or(false);
            let named = (set(json, "users"), set(json, "groups"), set(json, "roles"));
            (named, set(json, "accessTypes"), read(json), is_conditional)
        })
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|found| {
            let named = (found.users.clone(), found.groups.clone(), found.roles.clone());
            (named, found.accesses.clone(), rule(&found.rule), found.is_conditional)
        })
        .collect();
    expect(what, &expected, &found, lines);
}
