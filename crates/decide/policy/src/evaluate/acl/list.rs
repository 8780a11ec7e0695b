//! Who may do what on a resource, gathered policy by policy (RangerResourceACLs).

use std::collections::{BTreeMap, BTreeSet};

use super::summary::{ByPrincipal, Rule, Says, Summary};
use crate::edit::PUBLIC;
use crate::model::{MaskInfo, PolicyId};

/// Who may do what on a resource, as far as that can be said without a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceAcls {
    pub users: AclsByPrincipal,
    /// `public` stands for everybody.
    pub groups: AclsByPrincipal,
    pub roles: AclsByPrincipal,
    /// First to count first.
    pub filters: Vec<AclRule<String>>,
    pub masks: Vec<AclRule<MaskInfo>>,
}

/// By principal and access type.
pub type AclsByPrincipal = BTreeMap<String, BTreeMap<String, AclEntry>>;

/// What one principal may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclEntry {
    pub access: AclAccess,
    /// Whether no policy of a lower priority can change it any more.
    pub is_final: bool,
    /// The policy that decided.
    pub policy: PolicyId,
    /// The last policy that had anything to say of it, whether or not that changed anything.
    pub last_policy: PolicyId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AclAccess {
    Allowed,
    Denied,
    /// It depends on the request.
    Conditional,
}

/// A mask or a filter of one policy item, and for whom it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AclRule<T> {
    pub users: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub roles: BTreeSet<String>,
    pub accesses: BTreeSet<String>,
    pub rule: T,
    /// Whether it depends on the request.
    pub is_conditional: bool,
    pub policy: PolicyId,
    pub policy_version: i64,
}

/// A policy that speaks of the resource.
pub(crate) struct Speaker<'a> {
    pub(crate) policy: PolicyId,
    pub(crate) version: i64,
    pub(crate) summary: &'a Summary,
    /// Whether it depends on the request that it speaks at all.
    pub(crate) is_conditional: bool,
}

impl ResourceAcls {
    /// Policies are added in the order of evaluation.
    pub(crate) fn add(&mut self, speaker: &Speaker<'_>) {
        add_all(&mut self.users, &speaker.summary.users, speaker);
        add_all(&mut self.groups, &speaker.summary.groups, speaker);
        add_all(&mut self.roles, &speaker.summary.roles, speaker);
        self.filters.extend(speaker.summary.filters.iter().map(|rule| rule_of(rule, speaker)));
        self.masks.extend(speaker.summary.masks.iter().map(|rule| rule_of(rule, speaker)));
    }

    /// What has been said so far stands against policies of a lower priority.
    pub(crate) fn finish(&mut self) {
        if let Some(public) = self.groups.get(PUBLIC) {
            let settled: Vec<String> = public
                .iter()
                .filter(|(_, entry)| entry.access != AclAccess::Conditional)
                .map(|(access, _)| access.clone())
                .collect();
            let groups = self.groups.iter_mut().filter(|(name, _)| *name != PUBLIC);
            for (_, entries) in self.users.iter_mut().chain(groups) {
                entries.retain(|access, entry| entry.is_final || !settled.contains(access));
            }
        }
        for all in [&mut self.users, &mut self.groups, &mut self.roles] {
            all.retain(|_, entries| !entries.is_empty());
            for entry in all.values_mut().flat_map(BTreeMap::values_mut) {
                entry.is_final = true;
            }
        }
    }
}

fn add_all(all: &mut AclsByPrincipal, said: &ByPrincipal, speaker: &Speaker<'_>) {
    for (name, said) in said {
        for (access, says) in said {
            let is = match says {
                _ if speaker.is_conditional => AclAccess::Conditional,
                Says::Conditional => AclAccess::Conditional,
                Says::Allowed => AclAccess::Allowed,
                // What was given and taken again is not given.
                Says::Denied | Says::Nothing => AclAccess::Denied,
            };
            let entries = all.entry(name.clone()).or_default();
            match entries.get_mut(access) {
                None => {
                    let (policy, is_final) = (speaker.policy, is == AclAccess::Denied);
                    let entry = AclEntry { access: is, is_final, policy, last_policy: policy };
                    entries.insert(access.clone(), entry);
                }
                // What may or may not be cannot change what is.
                Some(_) if is == AclAccess::Conditional => {}
                Some(entry) => {
                    entry.last_policy = speaker.policy;
                    if !entry.is_final {
                        entry.access = is;
                        entry.is_final = is == AclAccess::Denied;
                        entry.policy = speaker.policy;
                    }
                }
            }
        }
    }
}

fn rule_of<T: Clone>(rule: &Rule<T>, speaker: &Speaker<'_>) -> AclRule<T> {
    AclRule {
        users: rule.users.clone(),
        groups: rule.groups.clone(),
        roles: rule.roles.clone(),
        accesses: rule.accesses.clone(),
        rule: rule.rule.clone(),
        is_conditional: rule.is_conditional || speaker.is_conditional,
        policy: speaker.policy,
        policy_version: speaker.version,
    }
}
