//! Ranger's whole result for one request and one kind of policy (RangerAccessResult).

use super::access::because;
use super::asked::{Asked, TagHit};
use super::ranger::{Evaluator, Mode, Zoned};
use super::running::{By, Entry, EntryItem, Running};
use super::{Because, Decision, MatchType, Request, audit, inline};
use crate::Snapshot;
use crate::expression::has_expressions;
use crate::model::{MaskInfo, PolicyId, PolicyKind};

/// Ranger's result: what was decided, by which policy, whether it is audited, and the mask or filter.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    pub decision: Decision,
    /// Ranger's `isAccessDetermined`: whether the answer is final and no other authority is to be asked.
    pub is_determined: bool,
    pub policy: Option<PolicyId>,
    pub policy_version: Option<i64>,
    pub policy_priority: i32,
    pub zone: Option<String>,
    pub reason: Option<String>,
    pub is_audited: bool,
    pub is_audit_determined: bool,
    pub audit_policy: Option<PolicyId>,
    pub mask: Option<MaskInfo>,
    pub filter: Option<String>,
    /// The policy and the item that decided, in words too.
    pub because: Because,
}

impl Evaluation {
    pub fn is_allowed(&self) -> bool {
        self.decision == Decision::Allowed
    }
}

/// What stands for a mask whose condition cannot be evaluated: nothing is shown.
const MASK_NULL: &str = "MASK_NULL";
/// What stands for a filter whose condition cannot be evaluated: no row is shown.
const NO_ROW: &str = "false";

impl Snapshot {
    /// What Ranger's engine answers for one kind of policy, audit filters included.
    pub fn evaluate(&self, kind: PolicyKind, r: &Request<'_>) -> Evaluation {
        let Some(service) = self.service(r.service) else {
            return Evaluation {
                decision: Decision::Denied,
                is_determined: true,
                policy: None,
                policy_version: None,
                policy_priority: 0,
                zone: None,
                reason: Some(format!("no such policy service `{}`", r.service)),
                is_audited: true,
                is_audit_determined: true,
                audit_policy: None,
                mask: None,
                filter: None,
                because: Because::of_nothing(format!("no such policy service `{}`", r.service)),
            };
        };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        let Zoned { mut running, zone } = Evaluator::new(&asked, Mode { kind, is_plugin: true }).run();
        // A session's own policy decides who may; it does not show what a mask or filter hides.
        let ruled_by = entry_of(&running);
        inline::apply(&asked, kind, &mut running);
        if let Some(is_audited) = audit::filtered(&asked, &running) {
            running.audit(is_audited);
        }
        let entry = entry_of(&running);
        let decision = match (running.is_allowed, running.by) {
            (true, _) => Decision::Allowed,
            (false, By::Nothing) => Decision::Undetermined,
            (false, _) => Decision::Denied,
        };
        Evaluation {
            decision,
            is_determined: running.is_determined,
            policy: entry.map(|entry| entry.policy.id),
            policy_version: entry.map(|entry| entry.policy.version),
            policy_priority: running.priority(),
            zone: zone.map(str::to_owned),
            reason: match running.by {
                By::SuperUser => Some("superuser".to_owned()),
                By::Inline => Some("inline-policy".to_owned()),
                By::Nothing | By::NoSuperUser | By::NotDenied | By::Policy(_) => None,
            },
            is_audited: running.is_audited,
            is_audit_determined: running.is_audit_determined,
            audit_policy: running.audit_policy.map(|policy| policy.id),
            mask: ruled_by.and_then(|entry| mask_of(&entry, &asked)),
            filter: ruled_by.and_then(|entry| filter_of(&entry, &asked)),
            because: because(&asked, &running),
        }
    }

    /// The kinds of the tags that count for the requested resource, those that are alike once, each with how the tagged
    /// resource lies to it.
    pub fn tags_of(&self, r: &Request<'_>) -> Vec<(String, MatchType)> {
        let Some(service) = self.service(r.service) else { return Vec::new() };
        let asked = Asked::new(self, service, r, self.plugin().condition_errors);
        let mut different: Vec<&TagHit<'_>> = Vec::new();
        for tag in asked.tags() {
            let is_known = |known: &&TagHit<'_>| {
                (&known.kind, &known.attributes, known.found) == (&tag.kind, &tag.attributes, tag.found)
            };
            if !different.iter().any(is_known) {
                different.push(tag);
            }
        }
        different.into_iter().map(|tag| (tag.kind.to_string(), tag.found)).collect()
    }
}

fn entry_of<'s>(running: &Running<'s>) -> Option<Entry<'s>> {
    match running.by {
        By::Policy(entry) => Some(entry),
        By::Nothing | By::SuperUser | By::NoSuperUser | By::NotDenied | By::Inline => None,
    }
}

fn mask_of(entry: &Entry<'_>, asked: &Asked<'_, '_>) -> Option<MaskInfo> {
    match entry.item {
        EntryItem::Mask(at) => {
            let (_, mask) = entry.policy.masks.get(usize::from(at))?;
            let pasted = |text: &Option<String>| text.as_deref().map(|text| pasted(text, entry, asked));
            Some(MaskInfo {
                mask_type: mask.mask_type.clone(),
                condition_expr: pasted(&mask.condition_expr),
                value_expr: pasted(&mask.value_expr),
            })
        }
        EntryItem::UnknownMask(_) => {
            Some(MaskInfo { mask_type: MASK_NULL.to_owned(), ..MaskInfo::default() })
        }
        EntryItem::Allow(_)
        | EntryItem::Deny(_)
        | EntryItem::DenyElse
        | EntryItem::Filter(_)
        | EntryItem::UnknownFilter(_) => None,
    }
}

fn filter_of(entry: &Entry<'_>, asked: &Asked<'_, '_>) -> Option<String> {
    match entry.item {
        EntryItem::Filter(at) => {
            entry.policy.filters.get(usize::from(at)).map(|(_, text)| pasted(text, entry, asked))
        }
        EntryItem::UnknownFilter(_) => Some(NO_ROW.to_owned()),
        EntryItem::Allow(_)
        | EntryItem::Deny(_)
        | EntryItem::DenyElse
        | EntryItem::Mask(_)
        | EntryItem::UnknownMask(_) => None,
    }
}

/// The text with its expressions replaced, as Ranger's plug-ins get it. The product's own gates bind them instead.
fn pasted(text: &str, entry: &Entry<'_>, asked: &Asked<'_, '_>) -> String {
    if !has_expressions(text) {
        return text.to_owned();
    }
    let tag = asked.tag_of(entry);
    asked.with_circumstances(tag, |context| asked.snapshot.expressions().pasted(text, context))
}
