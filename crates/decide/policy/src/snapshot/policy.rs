//! One policy, read once so that each request only compares.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use stdx::Timestamp;

use super::access_types::{AccessSet, AccessTypes, items_of};
use super::condition::Condition;
use crate::Membership;
use crate::edit::PUBLIC;
use crate::evaluate::Via;
use crate::matching::{Levels, MatchContext, MatchType, RequestPath, ResourceMatcher};
use crate::model::{Item, MaskInfo, Policy, PolicyId, Priority, ResourceMap, ServiceDef};
use crate::schedule::{Schedule, ScheduleReading};

/// The name that stands for whoever asks.
const ANY_USER: &str = "{USER}";
/// The name that stands for the owner of the resource.
const OWNER: &str = "{OWNER}";

#[derive(Clone, Debug)]
pub(crate) struct CompiledPolicy {
    pub(crate) id: PolicyId,
    pub(crate) name: String,
    pub(crate) version: i64,
    pub(crate) priority: Priority,
    pub(crate) is_enabled: bool,
    pub(crate) order: EvalOrder,
    pub(crate) resources: Vec<ResourceMatcher>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) allows: Vec<CompiledItem>,
    pub(crate) denies: Vec<CompiledItem>,
    pub(crate) allow_exceptions: Vec<CompiledItem>,
    pub(crate) deny_exceptions: Vec<CompiledItem>,
    pub(crate) masks: Vec<(CompiledItem, MaskInfo)>,
    pub(crate) filters: Vec<(CompiledItem, String)>,
    pub(crate) is_deny_all_else: bool,
    schedules: Vec<Schedule>,
}

/// Policies are evaluated in ascending order of this: priority, then those that can deny, then the wider score of
/// Ranger's, then the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EvalOrder {
    priority: Reverse<Priority>,
    cannot_deny: bool,
    score: i64,
    name: String,
    id: PolicyId,
}

impl CompiledPolicy {
    /// # Errors
    /// What the policy asks for and is not offered, or cannot be read.
    pub(crate) fn new(
        policy: &Policy,
        def: &ServiceDef,
        levels: &Levels,
        access_types: &AccessTypes,
    ) -> Result<Self, String> {
        if let Some(zone) = policy.zone.as_deref().filter(|zone| !zone.is_empty()) {
            return Err(format!("security zones are not supported (`{zone}`)"));
        }
        let mut resources = Vec::new();
        for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
            let matcher = ResourceMatcher::new(levels, map)?;
            if matcher.as_ref().is_some_and(ResourceMatcher::needs_expressions) {
                return Err("expressions in its resource values are not supported".to_owned());
            }
            resources.extend(matcher);
        }
        let schedules = policy
            .validity
            .iter()
            .map(|s| Schedule::new(s, ScheduleReading::OwnClock))
            .collect::<Result<_, _>>()?;
        let compile = |item: &Item| CompiledItem::new(item, def, access_types);
        let sorted = |items: &[Item]| {
            let mut compiled: Vec<CompiledItem> = items.iter().map(compile).collect();
            compiled.sort_by_key(|item| item.score);
            compiled
        };
        let can_deny = !def
            .options
            .get("enableDenyAndExceptionsInPolicies")
            .is_some_and(|text| text.trim().eq_ignore_ascii_case("false"));
        let if_deny = |items: &[Item]| if can_deny { sorted(items) } else { Vec::new() };
        let denies = if_deny(&policy.deny_items);
        let order = EvalOrder {
            priority: Reverse(policy.priority),
            cannot_deny: !can_deny || (denies.is_empty() && !policy.is_deny_all_else),
            score: eval_score(policy, access_types),
            name: policy.name.clone(),
            id: policy.id,
        };
        Ok(Self {
            id: policy.id,
            name: policy.name.clone(),
            version: policy.version,
            priority: policy.priority,
            is_enabled: policy.is_enabled,
            order,
            resources,
            conditions: Condition::all(&policy.conditions, def),
            allows: sorted(&policy.items),
            denies,
            allow_exceptions: if_deny(&policy.allow_exceptions),
            deny_exceptions: if_deny(&policy.deny_exceptions),
            masks: policy.mask_items.iter().map(|m| (compile(&m.item), m.mask.clone())).collect(),
            filters: policy.filter_items.iter().map(|f| (compile(&f.item), f.filter_expr.clone())).collect(),
            is_deny_all_else: policy.is_deny_all_else,
            schedules,
        })
    }

    pub(crate) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.schedules.is_empty() || self.schedules.iter().any(|schedule| schedule.holds(now))
    }

    pub(crate) fn can_deny(&self) -> bool {
        self.is_deny_all_else || !self.denies.is_empty()
    }

    /// Whether any of the policy's resources lies to the request as `fits` wants it.
    pub(crate) fn matches(
        &self,
        request: &RequestPath<'_>,
        tokens: &MatchContext<'_>,
        fits: impl Fn(MatchType) -> bool,
    ) -> bool {
        self.resources.iter().any(|resource| fits(resource.match_type(request, tokens)))
    }
}

/// Who gets which accesses.
#[derive(Clone, Debug)]
pub(crate) struct CompiledItem {
    pub(crate) access: AccessSet,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) delegate_admin: bool,
    users: BTreeSet<String>,
    groups: Vec<String>,
    roles: Vec<String>,
    is_any_user: bool,
    is_owner: bool,
    is_public: bool,
    score: i64,
}

impl CompiledItem {
    fn new(item: &Item, def: &ServiceDef, access_types: &AccessTypes) -> Self {
        let access = access_types.granted(&item.accesses);
        let is_wide = is_wide(item);
        let named = if is_wide { 100 } else { (item.users.len() + item.groups.len()).min(100) };
        let score = 1000
            - as_i64(named)
            - share_of_25(access.len(), access_types.n_defined())
            - (25 - 5 * as_i64(item.conditions.len())).max(0);
        Self {
            access,
            conditions: Condition::all(&item.conditions, def),
            delegate_admin: item.delegate_admin,
            users: item.users.iter().filter(|name| *name != ANY_USER && *name != OWNER).cloned().collect(),
            groups: item.groups.iter().filter(|name| *name != PUBLIC).cloned().collect(),
            roles: item.roles.clone(),
            is_any_user: item.users.iter().any(|name| name == ANY_USER),
            is_owner: item.users.iter().any(|name| name == OWNER),
            is_public: item.groups.iter().any(|name| name == PUBLIC),
            score,
        }
    }

    /// Through what the item names the user, if it does.
    pub(crate) fn via(&self, who: &Membership, owner: Option<&str>) -> Option<Via> {
        if self.is_any_user || self.users.contains(&who.user) {
            return Some(Via::User(who.user.clone()));
        }
        if self.is_owner && owner == Some(who.user.as_str()) {
            return Some(Via::Owner);
        }
        if let Some(group) = self.groups.iter().find(|name| who.groups.contains(*name)) {
            return Some(Via::Group(group.clone()));
        }
        if self.is_public {
            return Some(Via::Public);
        }
        self.roles.iter().find(|name| who.roles.contains(*name)).map(|role| Via::Role(role.clone()))
    }
}

fn is_wide(item: &Item) -> bool {
    item.groups.iter().any(|name| name.eq_ignore_ascii_case(PUBLIC))
        || item.users.iter().any(|name| name.eq_ignore_ascii_case(ANY_USER))
}

/// Ranger's evalOrder: the lower, the wider the policy and the earlier its turn. It decides which of several
/// policies is the one reported, and in the first-match modes which one counts.
fn eval_score(policy: &Policy, access_types: &AccessTypes) -> i64 {
    let mut score = 10_000 + if is_dynamic(&policy.resources) { 20 } else { 0 };
    score -= width(&policy.resources).min(100);

    let mut names = BTreeSet::new();
    let mut granted = AccessSet::default();
    let mut n_conditions = policy.conditions.len();
    let mut any_wide = policy.is_deny_all_else;
    for item in items_of(policy) {
        any_wide |= is_wide(item);
        names.extend(item.users.iter().map(|name| ("user", name.as_str())));
        names.extend(item.groups.iter().map(|name| ("group", name.as_str())));
        granted.extend(&access_types.granted(&item.accesses));
        n_conditions += item.conditions.len();
    }
    score -= if any_wide { 25 } else { as_i64(names.len()).min(25) };
    score -= share_of_25(granted.len(), access_types.n_defined());
    score - (25 - 5 * as_i64(n_conditions)).max(0)
}

fn is_dynamic(resources: &ResourceMap) -> bool {
    let values = resources.values().flat_map(|values| &values.values);
    values.into_iter().any(|value| value.contains('{') && value.contains('}'))
}

fn width(resources: &ResourceMap) -> i64 {
    let of_level = |values: &crate::model::ResourceValues| {
        let has = |c: char| values.values.iter().any(|value| value.contains(c));
        if values.values.is_empty() {
            0
        } else if values.values.iter().any(|value| value.is_empty() || value == "*") {
            25
        } else {
            let wildcards = match (has('*'), has('?')) {
                (true, _) => 10,
                (false, true) => 5,
                (false, false) => 0,
            };
            wildcards + if values.is_excludes { 5 } else { 0 } + if values.is_recursive { 5 } else { 0 }
        }
    };
    resources.values().map(of_level).sum()
}

/// `25 · part / whole`, halves rounded up.
fn share_of_25(part: u32, whole: usize) -> i64 {
    match as_i64(whole) {
        0 => 0,
        whole => (50 * i64::from(part) + whole) / (2 * whole),
    }
}

fn as_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
