//! What an evaluator says of one request, in the shape that Ranger's test data expect.

use policy::model::{MaskInfo, PolicyId};

/// Ranger's access result, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub is_allowed: bool,
    /// Whether a policy (or the lack of a fallback) decided.
    pub is_determined: bool,
    pub policy: Option<PolicyId>,
    pub policy_version: Option<i64>,
    pub priority: Rank,
    pub zone: Option<String>,
    pub reason: Option<String>,
    pub is_audited: bool,
    pub is_audit_determined: bool,
    pub audit_policy: Option<PolicyId>,
    pub mask: Option<MaskInfo>,
    pub filter: Option<String>,
}

/// The priority of what decided. A super user stands above every policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    #[default]
    Normal,
    Override,
    Highest,
}

impl Answer {
    /// Ranger's way to write "no policy".
    pub fn policy_number(&self) -> i64 {
        self.policy.map_or(-1, |id| id.0)
    }

    /// A denial is always final; an allow is not, until something says so.
    pub(crate) fn set_allowed(&mut self, is_allowed: bool) {
        if !is_allowed {
            self.is_determined = true;
        }
        self.is_allowed = is_allowed;
    }

    pub(crate) fn set_audited(&mut self, is_audited: bool) {
        self.is_audited = is_audited;
        self.is_audit_determined = true;
    }

    /// Takes everything but the audit decision from another answer.
    pub(crate) fn take_access_from(&mut self, other: &Self) {
        let audit = (self.is_audited, self.is_audit_determined, self.audit_policy);
        *self = other.clone();
        (self.is_audited, self.is_audit_determined, self.audit_policy) = audit;
    }

    pub(crate) fn take_audit_from(&mut self, other: &Self) {
        self.is_audited = other.is_audited;
        self.is_audit_determined = other.is_audit_determined;
        self.audit_policy = other.audit_policy;
    }
}
