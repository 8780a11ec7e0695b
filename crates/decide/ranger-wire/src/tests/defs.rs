//! The definitions that are written here against those that Ranger ships: what decides must be the same.

use std::collections::{BTreeMap, BTreeSet};

use policy::defs;
use policy::edit::Change;
use policy::model::{self, AccessTypeDef, ResourceDef, State};
use policy::validate::{self, By, Checks, Severity};

use super::corpus;
use crate::ServiceDef;

/// What a level means for matching and for the shape of policies.
#[derive(Debug, PartialEq, Eq)]
struct Level {
    level: i64,
    parent: Option<String>,
    is_valid_leaf: bool,
    is_recursive_supported: bool,
    is_excludes_supported: bool,
    is_mandatory: bool,
    matcher: String,
    options: BTreeMap<String, String>,
    offered: BTreeSet<String>,
}

fn levels(def: &model::ServiceDef) -> BTreeMap<String, Level> {
    def.resources
        .iter()
        .map(|level| {
            let full = |matcher: &str| matcher.rsplit('.').next().unwrap_or_default().to_owned();
            let matcher = Some(full(&level.matcher)).filter(|name| !name.is_empty());
            let mut options = BTreeMap::from(
                [("wildCard", "true"), ("ignoreCase", "true")].map(|(k, v)| (k.to_owned(), v.to_owned())),
            );
            options.extend(level.matcher_options.clone());
            let level_ = Level {
                level: level.level,
                parent: level.parent.clone(),
                // Whatever nothing stands below may be last, said or not.
                is_valid_leaf: level.is_valid_leaf.unwrap_or(!is_parent(def, &level.name)),
                is_recursive_supported: level.is_recursive_supported,
                is_excludes_supported: level.is_excludes_supported,
                is_mandatory: level.is_mandatory,
                matcher: matcher.unwrap_or_else(|| "RangerDefaultResourceMatcher".to_owned()),
                options,
                offered: level.access_type_restrictions.iter().cloned().collect(),
            };
            (level.name.clone(), level_)
        })
        .collect()
}

fn is_parent(def: &model::ServiceDef, name: &str) -> bool {
    def.resources.iter().any(|level| level.parent.as_deref() == Some(name))
}

fn access_types(of: &[AccessTypeDef]) -> BTreeMap<String, (Option<String>, BTreeSet<String>)> {
    of.iter()
        .map(|access| {
            let implied = access.implied_grants.iter().cloned().collect();
            (access.name.clone(), (access.category.clone(), implied))
        })
        .collect()
}

fn differences(of: &[ResourceDef]) -> Vec<(String, BTreeMap<String, String>)> {
    of.iter().map(|level| (level.name.clone(), level.matcher_options.clone())).collect()
}

/// The mask types that Ranger does not have.
const OURS: [&str; 6] =
    ["MASK_DATE_SHOW_MONTH", "MASK_DATE_SHIFT", "MASK_BUCKET", "MASK_TOKEN", "MASK_EMAIL", "MASK_CARD"];

fn masks(def: &model::ServiceDef) -> BTreeMap<String, Option<String>> {
    def.mask_types.iter().map(|mask| (mask.name.clone(), mask.transformer.clone())).collect()
}

fn conditions(def: &model::ServiceDef) -> BTreeMap<String, String> {
    def.conditions.iter().map(|condition| (condition.name.clone(), condition.evaluator.clone())).collect()
}

fn shipped(name: &str) -> Option<model::ServiceDef> {
    let file = corpus()?.join(format!("service-defs/ranger-servicedef-{name}.json"));
    let text = std::fs::read_to_string(file).ok()?;
    Some(ServiceDef::from_json(&text).unwrap().to_model().unwrap())
}

fn check(ours: &model::ServiceDef) {
    let Some(theirs) = shipped(&ours.name) else {
        println!("skipped: no conformance data beside this checkout");
        return;
    };
    assert_eq!(levels(ours), levels(&theirs), "{}", ours.name);
    assert_eq!(access_types(&ours.access_types), access_types(&theirs.access_types), "{}", ours.name);
    assert_eq!(differences(&ours.mask_resources), differences(&theirs.mask_resources), "{}", ours.name);
    assert_eq!(differences(&ours.filter_resources), differences(&theirs.filter_resources), "{}", ours.name);
    assert_eq!(ours.mask_access_types, theirs.mask_access_types, "{}", ours.name);
    assert_eq!(ours.filter_access_types, theirs.filter_access_types, "{}", ours.name);
    let (more, same) =
        masks(ours).into_iter().partition::<BTreeMap<_, _>, _>(|(name, _)| OURS.contains(&name.as_str()));
    assert_eq!(same, masks(&theirs), "{}", ours.name);
    let hides = |transformer: &Option<String>| transformer.as_deref() == Some("NULL");
    assert!(
        more.values().all(hides),
        "an engine that knows a mask by its transformer alone shows nothing: {more:?}"
    );
    for (name, evaluator) in conditions(&theirs) {
        assert_eq!(conditions(ours).get(&name), Some(&evaluator), "{}: {name}", ours.name);
    }
}

#[test]
fn our_definitions_decide_as_rangers_do() {
    for def in [defs::hive(), defs::trino(), defs::hdfs(), defs::kafka(), defs::polaris_2_9()] {
        check(&def);
    }
}

#[test]
fn our_tag_definition_is_rangers_with_the_components_added() {
    let mut ours = defs::tag();
    for component in ["polaris", "hive", "trino", "hdfs", "kafka"] {
        defs::remove_component(&mut ours, component);
    }
    check(&ours);
}

#[test]
fn nothing_is_wrong_with_what_ranger_ships() {
    let Some(folder) = corpus() else {
        println!("skipped: no conformance data beside this checkout");
        return;
    };
    let checks = Checks {
        now: stdx::Timestamp::default(),
        time_zone: chrono_tz::Tz::UTC,
        scripts: None,
        by: By::Admin,
    };
    let mut n_defs = 0;
    for entry in std::fs::read_dir(folder.join("service-defs")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let def = ServiceDef::from_json(&text).unwrap().to_model().unwrap();
        let change = Change { put_service_defs: vec![def], ..Change::default() };
        let found = validate::change(&State::default(), &change, &checks);
        let errors: Vec<_> = found.iter().filter(|fault| fault.severity == Severity::Error).collect();
        // Ranger ships this one with names that it never defines, past its own validator.
        let is_known = |subject: &str, code: u32| {
            subject == "service definition `elasticsearch`" && code == validate::DEF_IMPLIED_UNKNOWN
        };
        assert!(errors.iter().all(|fault| is_known(&fault.subject, fault.code)), "{errors:#?}");
        n_defs += 1;
    }
    assert!(n_defs > 0);
}
