//! Made-up policies and requests: the product's evaluator and the obvious one must agree, and laws must hold.

mod asked;
mod cases;
mod made;

use std::sync::Arc;

use crate::answer::{Answer, Rank};
use crate::engines::{answer_of, membership_of};
use crate::obvious::World;
use policy::edit::Change;
use policy::model::{Policy, PolicyId, PolicyKind, ResourceValues, State, Version};
use policy::script::ScriptEngine;
use policy::{BuildOptions, ConditionErrors, PluginSettings, Request, Snapshot, Strictness};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use script::JavaScript;

use asked::{Asked, asked, settings};
use made::{Made, SERVICE, TAG_SERVICE, made, policy};

const KINDS: [PolicyKind; 3] = [PolicyKind::Access, PolicyKind::Mask, PolicyKind::RowFilter];

/// Few cases in every run, and many where `SLUICE_LONG` is set.
fn check<S: Strategy>(n_cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let factor = if std::env::var_os("SLUICE_LONG").is_some() { 50 } else { 1 };
    let config = Config {
        cases: n_cases * factor,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    TestRunner::new(config).run(&strategy, test).unwrap_or_else(|failure| panic!("{failure}"));
}

fn scripts() -> Option<Arc<dyn ScriptEngine>> {
    Some(Arc::new(JavaScript::default()))
}

fn snapshot(state: State, settings: &PluginSettings) -> Snapshot {
    let options =
        BuildOptions { plugin: settings.clone(), scripts: scripts(), strictness: Strictness::Report };
    Snapshot::build_with(state, &options).unwrap()
}

fn fast(snapshot: &Snapshot, kind: PolicyKind, asked: &Asked) -> Answer {
    let who = asked.who(membership_of(snapshot, &asked.user, &asked.groups));
    answer_of(snapshot.evaluate(kind, &asked.request(&who)))
}

fn obvious(world: &World, kind: PolicyKind, asked: &Asked) -> Answer {
    let who = asked.who(world.membership(&asked.user, &asked.groups));
    world.evaluate(kind, &asked.request(&who))
}

/// What both must agree in. Where several access types are asked for, any of the policies may be named.
fn comparable(answer: Answer, asked: &Asked) -> Answer {
    let mut answer = Answer { reason: None, ..answer };
    if answer.policy.is_none() {
        answer.priority = Rank::Normal;
    }
    if !answer.is_allowed {
        answer.mask = None;
        answer.filter = None;
    }
    if !asked.is_single() {
        let Answer { policy, policy_version, priority, mask, filter, .. } = &mut answer;
        (*policy, *policy_version, *priority, *mask, *filter) = (None, None, Rank::Normal, None, None);
    }
    answer
}

/// The answer without words looks at less than the whole one, and must be the same.
fn brief_agrees(
    snapshot: &Snapshot,
    kind: PolicyKind,
    settings: &PluginSettings,
    request: &Request<'_>,
) -> Result<(), TestCaseError> {
    // What only plug-ins heed is not asked where the gates ask.
    let heeds_plugin = !settings.super_users.is_empty()
        || !settings.super_groups.is_empty()
        || request.context.inline_policy.is_some()
        || request.access == "_super_user";
    if !heeds_plugin {
        let (brief, whole) = (snapshot.decide_for(kind, request), snapshot.evaluate(kind, request));
        prop_assert!(brief.access == whole.decision, "{kind:?}: {brief:?} instead of {whole:?}");
        if request.context.access_types.is_empty() {
            prop_assert_eq!(brief.policy().map(|(id, _)| id), whole.policy);
        }
    }
    Ok(())
}

fn agree(made: &Made, settings: &PluginSettings, requests: &[Asked]) -> Result<(), TestCaseError> {
    let snapshot = snapshot(made.state(), settings);
    let world = World::new(made.state(), settings.clone(), scripts());
    for asked in requests {
        // The right to pass on is a matter of access alone.
        let kinds = KINDS.iter().filter(|kind| **kind == PolicyKind::Access || asked.access != "_admin");
        for kind in kinds.copied() {
            let ours = comparable(fast(&snapshot, kind, asked), asked);
            let theirs = comparable(obvious(&world, kind, asked), asked);
            prop_assert!(ours == theirs, "{kind:?}: {asked:?}\nindex:   {ours:?}\nobvious: {theirs:?}");
            let who = asked.who(membership_of(&snapshot, &asked.user, &asked.groups));
            brief_agrees(&snapshot, kind, settings, &asked.request(&who))?;
        }
    }
    Ok(())
}

#[test]
fn the_index_answers_as_the_obvious_evaluator_does() {
    let worlds = (made(), settings(ConditionErrors::Ranger), vec(asked(), 1..12));
    check(150, worlds, |(made, settings, requests)| agree(&made, &settings, &requests));
}

#[test]
fn they_agree_where_what_cannot_be_evaluated_counts_against_the_user() {
    let worlds = (made(), settings(ConditionErrors::AgainstUser), vec(asked(), 1..12));
    check(100, worlds, |(made, settings, requests)| agree(&made, &settings, &requests));
}

/// What a step of a history does.
#[derive(Clone, Debug)]
enum Step {
    /// The policy at this place (of those that there are) takes the other's content.
    Change(usize, Box<Policy>),
    Add(Box<Policy>),
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let policy = || prop_oneof![policy(SERVICE), policy(TAG_SERVICE)].prop_map(Box::new);
    prop_oneof![
        (0_usize..8, policy()).prop_map(|(at, policy)| Step::Change(at, policy)),
        policy().prop_map(Step::Add),
        (0_usize..8).prop_map(Step::Remove),
    ]
}

/// The step as a change of the state.
fn change(step: &Step, state: &State) -> Change {
    let ids: Vec<PolicyId> = state.policies.keys().copied().collect();
    let at = |at: usize| ids.get(at % ids.len().max(1)).copied();
    let named = |policy: &Policy, id: PolicyId| {
        let mut policy = policy.clone();
        (policy.id, policy.name) = (id, format!("p{}", id.0));
        policy
    };
    let mut change = Change::default();
    match step {
        Step::Change(place, policy) => change.put_policies.extend(at(*place).map(|id| named(policy, id))),
        Step::Add(policy) => {
            let next = ids.last().map_or(1, |id| id.0 + 1);
            change.put_policies.push(named(policy, PolicyId(next)));
        }
        Step::Remove(place) => change.delete_policies.extend(at(*place)),
    }
    change
}

fn apply(state: &mut State, change: &Change) {
    for id in &change.delete_policies {
        state.policies.remove(id);
    }
    for policy in &change.put_policies {
        state.policies.insert(policy.id, policy.clone());
    }
}

#[test]
fn a_snapshot_after_changes_is_the_snapshot_of_the_changed_state() {
    let histories = (made(), settings(ConditionErrors::Ranger), vec(step(), 1..6), vec(asked(), 1..6));
    check(80, histories, |(made, settings, steps, requests)| {
        let mut state = made.state();
        let mut snapshot = snapshot(state.clone(), &settings);
        for step in &steps {
            let change = change(step, &state);
            apply(&mut state, &change);
            let next = Version(snapshot.version().0 + 1);
            snapshot = snapshot.apply(&change, next).unwrap();
        }
        let rebuilt = self::snapshot(state, &settings);
        for asked in &requests {
            for kind in KINDS {
                let (ours, theirs) = (fast(&snapshot, kind, asked), fast(&rebuilt, kind, asked));
                prop_assert!(ours == theirs, "{kind:?}: {asked:?}\nchanged: {ours:?}\nrebuilt: {theirs:?}");
            }
        }
        Ok(())
    });
}

/// A request without a policy of its own, whose answer rests on the state alone.
fn plain(asked: &Asked) -> Asked {
    let mut asked = asked.clone();
    asked.context.inline_policy = None;
    asked
}

#[test]
fn a_deny_never_widens() {
    let worlds = (made(), settings(ConditionErrors::Ranger), vec(asked(), 1..8), 0_usize..8, policy(SERVICE));
    check(80, worlds, |(made, settings, requests, at, denying)| {
        let Some(place) = made.policies.len().checked_sub(1).map(|last| at.min(last)) else { return Ok(()) };
        let mut denied = made.clone();
        denied.policies[place].deny_items.extend(denying.deny_items.iter().chain(&denying.items).cloned());
        let (before, after) = (snapshot(made.state(), &settings), snapshot(denied.state(), &settings));
        // Of several access types a denial of one may turn the question to another policy.
        for asked in requests.iter().map(plain).filter(Asked::is_single) {
            let was = fast(&before, PolicyKind::Access, &asked).is_allowed;
            let is = fast(&after, PolicyKind::Access, &asked).is_allowed;
            prop_assert!(was || !is, "{asked:?} is allowed by a deny item more in p{}", place + 1);
        }
        Ok(())
    });
}

#[test]
fn the_numbers_of_policies_do_not_matter() {
    let worlds = (made(), settings(ConditionErrors::Ranger), vec(asked(), 1..8));
    check(80, worlds, |(made, settings, requests)| {
        // The names stay, since they decide among policies that are otherwise alike.
        let mut turned = made.clone();
        let n_policies = turned.policies.len() as i64;
        turned.policies.iter_mut().for_each(|policy| policy.id.0 = n_policies + 1 - policy.id.0);
        let (before, after) = (snapshot(made.state(), &settings), snapshot(turned.state(), &settings));
        let other = |id: PolicyId| PolicyId(n_policies + 1 - id.0);
        for asked in &requests {
            for kind in KINDS {
                let mut expected = fast(&before, kind, asked);
                expected.policy = expected.policy.map(other);
                expected.audit_policy = expected.audit_policy.map(other);
                let actual = fast(&after, kind, asked);
                prop_assert!(
                    expected == actual,
                    "{kind:?}: {asked:?}\nbefore: {expected:?}\nafter: {actual:?}"
                );
            }
        }
        Ok(())
    });
}

#[test]
fn a_policy_about_something_else_changes_nothing() {
    let worlds = (made(), settings(ConditionErrors::Ranger), vec(asked(), 1..8), policy(SERVICE));
    check(80, worlds, |(made, settings, requests, unrelated)| {
        let mut more = made.clone();
        let mut unrelated = unrelated.clone();
        unrelated.id = PolicyId(1_000);
        unrelated.name = "unrelated".to_owned();
        unrelated.additional_resources.clear();
        unrelated.resources =
            ["db", "table", "column"].map(|l| (l.to_owned(), ResourceValues::one("elsewhere"))).into();
        more.policies.push(unrelated);
        let (before, after) = (snapshot(made.state(), &settings), snapshot(more.state(), &settings));
        for asked in requests.iter().filter(|asked| asked.names_a_place()) {
            for kind in KINDS {
                let (mut was, mut is) = (fast(&before, kind, asked), fast(&after, kind, asked));
                let counts =
                    |policy: &Policy| policy.service == SERVICE && policy.is_enabled && policy.zone.is_none();
                if !made.policies.iter().any(counts) {
                    // A service without a policy audits everything.
                    for answer in [&mut was, &mut is] {
                        (answer.is_audited, answer.is_audit_determined) = (false, false);
                        answer.audit_policy = None;
                    }
                }
                prop_assert!(was == is, "{kind:?}: {asked:?}\nbefore: {was:?}\nafter: {is:?}");
            }
        }
        Ok(())
    });
}

/// A folder of these files, for the caller to remove; `name` is no other test's.
pub(crate) fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let root = std::env::temp_dir().join(format!("conformance-{}-{name}", std::process::id()));
    for (path, text) in files {
        let whole = root.join(path);
        std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
        std::fs::write(whole, text).unwrap();
    }
    root
}
