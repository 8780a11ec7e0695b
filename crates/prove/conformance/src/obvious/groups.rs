//! Which access types a request asks for, and how what was decided for each makes one answer.

use std::collections::BTreeSet;

use super::asking::Asking;
use super::definition::Definition;
use super::one_policy::{Entries, Entry};
use crate::answer::Answer;

/// Groups of access types: of each group one is enough, and every group is needed.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    groups: Vec<BTreeSet<String>>,
    ignored_if_not_denied: BTreeSet<String>,
}

impl Groups {
    pub(crate) fn of(asking: &Asking<'_, '_>, definition: &Definition) -> Self {
        let context = asking.request.context;
        let ignored_if_not_denied = context.ignored_if_not_denied.clone();
        let one = |access: &String| BTreeSet::from([access.clone()]);
        let groups = if asking.is_any() {
            let all = &definition.access_types;
            if context.ignores_denials_below {
                vec![all.iter().cloned().collect()]
            } else {
                all.iter().map(one).collect()
            }
        } else if !context.access_groups.is_empty() {
            context.access_groups.clone()
        } else if !context.access_types.is_empty() {
            vec![context.access_types.clone()]
        } else {
            vec![one(&asking.access)]
        };
        Self { groups, ignored_if_not_denied }
    }

    pub(crate) fn access_types(&self) -> impl Iterator<Item = &str> {
        let all: BTreeSet<&str> = self.groups.iter().flatten().map(String::as_str).collect();
        all.into_iter()
    }
}

/// What is known of one group.
enum State<'a> {
    Allowed(&'a Entry),
    Denied(&'a Entry),
    Open,
}

fn state<'a>(group: &BTreeSet<String>, entries: &'a Entries) -> State<'a> {
    let known: Vec<&Entry> = group.iter().filter_map(|access| entries.get(access)).collect();
    if let Some(allowed) = known.iter().find(|entry| entry.is_allowed) {
        return State::Allowed(allowed);
    }
    match known.first() {
        Some(denied) if known.len() == group.len() => State::Denied(denied),
        _ => State::Open,
    }
}

/// Writes the groups' common answer; leaves it as it is while a group is open.
pub(crate) fn conclude(groups: &Groups, entries: &Entries, answer: &mut Answer) {
    let mut allowed = None;
    let mut is_open = false;
    for group in &groups.groups {
        match state(group, entries) {
            State::Denied(entry) => return decide(answer, entry),
            State::Allowed(entry) => allowed = allowed.or(Some(entry)),
            State::Open if group.is_subset(&groups.ignored_if_not_denied) => {}
            State::Open => is_open = true,
        }
    }
    if is_open {
        return;
    }
    match allowed {
        Some(entry) => decide(answer, entry),
        None => answer.set_allowed(true),
    }
}

fn decide(answer: &mut Answer, entry: &Entry) {
    answer.set_allowed(entry.is_allowed);
    answer.policy = Some(entry.policy);
    answer.policy_version = Some(entry.version);
    answer.priority = entry.rank;
    answer.mask.clone_from(&entry.mask);
    answer.filter.clone_from(&entry.filter);
}
