//! Ranger's whole result for one request and one kind of policy (RangerAccessResult).

use super::{Decision, Request};
use crate::Snapshot;
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
}

impl Evaluation {
    pub fn is_allowed(&self) -> bool {
        self.decision == Decision::Allowed
    }
}

impl Snapshot {
    /// What Ranger's engine answers for one kind of policy, audit filters included.
    pub fn evaluate(&self, kind: PolicyKind, r: &Request<'_>) -> Evaluation {
        let verdict = match kind {
            PolicyKind::Access => Some(self.access(r)),
            PolicyKind::Mask | PolicyKind::RowFilter | PolicyKind::Audit => None,
        };
        let decision = verdict.as_ref().map_or(Decision::Undetermined, |v| v.access);
        Evaluation {
            decision,
            is_determined: true,
            policy: verdict.as_ref().and_then(|v| v.because.policy),
            policy_version: verdict.as_ref().and_then(|v| v.because.policy_version),
            policy_priority: 0,
            zone: None,
            reason: verdict.map(|v| v.because.reason),
            is_audited: false,
            is_audit_determined: false,
            audit_policy: None,
            mask: None,
            filter: None,
        }
    }
}
