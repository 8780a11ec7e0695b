//! Audit filters: what a service's configuration says about which accesses are recorded.

use super::ResourceMap;

/// How an access ended, as an audit filter asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessResult {
    Allowed,
    Denied,
    /// No policy decided, and the service has a fallback of its own.
    NotDetermined,
}

/// One entry of `ranger.plugin.audit.filters`: the first that fits an access says whether it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// `None`: the entry decides nothing.
    pub is_audited: Option<bool>,
    pub access_result: Option<AccessResult>,
    pub actions: Vec<String>,
    pub access_types: Vec<String>,
    pub resources: ResourceMap,
    pub users: Vec<String>,
    pub groups: Vec<String>,
    pub roles: Vec<String>,
}
