//! What a request may bring along beside who, what and when (RangerAccessRequest and its context).

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluate::MatchType;
use crate::model::ValiditySchedule;

/// What the requested resource stands for (ResourceMatchingScope).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatchingScope {
    #[default]
    Itself,
    /// Itself, or anything below it (`SELF_OR_DESCENDANTS`).
    ItselfOrBelow,
}

/// What the value of one level stands for (ResourceElementMatchingScope).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ElementScope {
    #[default]
    Itself,
    /// It, or what stands directly in it; path matchers only (`SELF_OR_CHILD`).
    ItselfOrChild,
    /// It, or anything that begins with it (`SELF_OR_PREFIX`).
    ItselfOrPrefix,
}

/// The value of a context attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeValue {
    Text(String),
    List(Vec<String>),
}

/// A tag that the request itself carries, so that no look-up is made (`context.TAGS`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTag {
    pub kind: String,
    pub attributes: BTreeMap<String, String>,
    pub validity: Vec<ValiditySchedule>,
    /// How the tagged resource lies to the requested one.
    pub found: MatchType,
}

/// `inlinePolicy`: a session's own policy, evaluated last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InlinePolicy {
    /// `u:name`, `g:name` or `r:name`; none: nobody needs to be asked.
    pub grantor: Option<String>,
    pub mode: InlineMode,
    pub grants: Vec<InlineGrant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InlineMode {
    /// `INLINE`: it alone decides.
    #[default]
    Alone,
    /// `RANGER_AND_INLINE`: both must allow.
    And,
    /// `RANGER_OR_INLINE`: it is asked only if policies did not allow.
    Or,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InlineGrant {
    pub principals: BTreeSet<String>,
    /// Resource names of the form `type:a/b/c`.
    pub resources: BTreeSet<String>,
    pub permissions: BTreeSet<String>,
    /// Actions, exact or as a prefix with `*`.
    pub actions: BTreeSet<String>,
}

/// What only some requests bring along; [`NO_CONTEXT`] is none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestContext {
    /// `ALLACCESSTYPES`: access types asked together; one of them is enough unless groups say otherwise.
    pub access_types: BTreeSet<String>,
    /// `ALLACCESSTYPEGROUPS`: one access type of every group is needed.
    pub access_groups: Vec<BTreeSet<String>>,
    /// `IGNOREIFNOTDENIEDACCESSTYPES`.
    pub ignored_if_not_denied: BTreeSet<String>,
    pub scope: MatchingScope,
    pub element_scopes: BTreeMap<String, ElementScope>,
    /// Whether a denial of something below says nothing of the whole; true unless the request says otherwise.
    pub ignores_denials_below: bool,
    /// The address as text, where the caller gave no address that could be read.
    pub client_addr_text: Option<String>,
    pub remote_addr: Option<String>,
    pub forwarded_addrs: Vec<String>,
    pub client_type: Option<String>,
    pub action: Option<String>,
    pub request_data: Option<String>,
    pub session_id: Option<String>,
    pub cluster_name: Option<String>,
    pub cluster_type: Option<String>,
    /// Attributes for conditions and tokens (`token:X` stands for `{X}`).
    pub attributes: BTreeMap<String, AttributeValue>,
    /// Tags in place of those that the snapshot holds for the resource.
    pub tags: Option<Vec<RequestTag>>,
    /// `REQUESTED_RESOURCES`: everything that the same query touches, each by level.
    pub requested_resources: Option<Vec<BTreeMap<String, String>>>,
    /// Attributes of users and groups in place of those that the snapshot holds.
    pub user_attributes: Option<BTreeMap<String, BTreeMap<String, String>>>,
    pub group_attributes: Option<BTreeMap<String, BTreeMap<String, String>>>,
    pub inline_policy: Option<InlinePolicy>,
}

impl RequestContext {
    pub const fn new() -> Self {
        Self {
            access_types: BTreeSet::new(),
            access_groups: Vec::new(),
            ignored_if_not_denied: BTreeSet::new(),
            scope: MatchingScope::Itself,
            element_scopes: BTreeMap::new(),
            ignores_denials_below: true,
            client_addr_text: None,
            remote_addr: None,
            forwarded_addrs: Vec::new(),
            client_type: None,
            action: None,
            request_data: None,
            session_id: None,
            cluster_name: None,
            cluster_type: None,
            attributes: BTreeMap::new(),
            tags: None,
            requested_resources: None,
            user_attributes: None,
            group_attributes: None,
            inline_policy: None,
        }
    }
}

impl Default for RequestContext {
    fn default() -> Self {
        Self::new()
    }
}

/// A request that brings nothing along.
pub static NO_CONTEXT: RequestContext = RequestContext::new();
