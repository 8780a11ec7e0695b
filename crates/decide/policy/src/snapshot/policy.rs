//! One policy, read once so that each request only compares.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::SmallVec;
use stdx::Timestamp;

use super::Strictness;
use super::access_types::{AccessSet, AccessTypes, Implied, items_of};
use super::names::{MarkKind, Marks, Names, Numbers};
use super::order::{self, ANY_USER, EvalOrder, OWNER};
use crate::condition::{Condition, ConditionCompiler};
use crate::edit::PUBLIC;
use crate::expression::{ExpressionTable, has_expressions};
use crate::matching::{Levels, MatchContext, MatchType, RequestPath, ResourceMatcher};
use crate::model::{Item, MaskInfo, MaskItem, Policy, PolicyCondition, PolicyId, PolicyKind, ServiceDef};
use crate::normalise::policy_for_component;
use crate::schedule::{Schedule, ScheduleReading};
use crate::script::ScriptError;

/// A policy in the form in which requests are compared with it. What most requests look at stands close together at the
/// beginning, so that it takes few lines of the processor's cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct CompiledPolicy {
    rest: Option<Box<Rest>>,
    pub(crate) order: EvalOrder,
    pub(crate) is_enabled: bool,
    pub(crate) is_audit_enabled: bool,
    pub(crate) is_deny_all_else: bool,
    /// Its resource cannot be read, so that it is taken to be about everything.
    pub(crate) is_everywhere: bool,
    /// Whether the policy or an item of it has conditions.
    pub(crate) has_conditions: bool,
    /// Where in `items` each of the lists ends.
    ends: [u32; 3],
    /// Denials, exceptions from them, allows, exceptions from those.
    items: SmallVec<[CompiledItem; 1]>,
    pub(crate) id: PolicyId,
    pub(crate) version: i64,
    pub(crate) name: Box<str>,
    /// Of the zone with this name; empty: of none.
    pub(crate) zone: Box<str>,
    pub(crate) resources: Box<[ResourceMatcher]>,
    pub(crate) masks: Box<[(CompiledItem, MaskInfo)]>,
    pub(crate) filters: Box<[(CompiledItem, Box<str>)]>,
}

/// What few policies have.
#[derive(Clone, Debug, Default)]
struct Rest {
    /// It cannot be honoured; why. What it gives is not given, and what it takes is taken.
    broken: Option<Box<str>>,
    conditions: Box<[Condition]>,
    schedules: Box<[Schedule]>,
    /// The access types that its items name, as written, where that is not how the definition writes them.
    spelled: Option<Box<[Box<str>]>>,
}

impl Rest {
    fn is_empty(&self) -> bool {
        let Self { broken, conditions, schedules, spelled } = self;
        broken.is_none() && conditions.is_empty() && schedules.is_empty() && spelled.is_none()
    }
}

/// What a policy is read with.
pub(crate) struct Reading<'a> {
    pub(crate) def: &'a ServiceDef,
    /// Of a tag policy: whose engine asks.
    pub(crate) component: Option<&'a str>,
    pub(crate) levels: &'a Levels,
    pub(crate) implied: &'a Implied,
    pub(crate) types: &'a mut AccessTypes,
    pub(crate) names: &'a mut Names,
    pub(crate) conditions: ConditionCompiler<'a>,
    pub(crate) strictness: Strictness,
    pub(crate) expressions: &'a mut Arc<ExpressionTable>,
}

/// What of a policy cannot be honoured.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyFaults {
    /// The policy as a whole counts against its principals.
    pub(crate) whole: Vec<String>,
    /// A condition cannot be evaluated, which counts where it stands.
    pub(crate) conditions: Vec<String>,
}

impl CompiledPolicy {
    /// With everything in it that cannot be honoured; then it counts against its principals.
    pub(crate) fn new(policy: &Policy, with: &mut Reading<'_>) -> (Self, PolicyFaults) {
        let narrowed;
        let policy = match with.component {
            None => policy,
            Some(component) => {
                narrowed = policy_for_component(policy, component);
                &narrowed
            }
        };
        let mut faults = PolicyFaults::default();
        for access in items_of(policy).flat_map(|item| &item.accesses) {
            with.types.intern(&access.kind);
        }
        let resources = resources(policy, with, &mut faults.whole);
        let is_everywhere = resources.len() <= policy.additional_resources.len() && !faults.whole.is_empty();
        let schedules = schedules(policy, with, &mut faults.whole);
        let can_deny = can_deny(with.def);
        let mut sorted = |items, counts| sorted(items, counts, with, &mut faults.conditions);
        let allows = sorted(&policy.items, true);
        let denies = sorted(&policy.deny_items, can_deny);
        let allow_exceptions = sorted(&policy.allow_exceptions, can_deny);
        let deny_exceptions = sorted(&policy.deny_exceptions, can_deny);
        let masks = policy.mask_items.iter().map(|mask| (&mask.item, mask.mask.clone()));
        let masks = listed(masks, with, &mut faults.conditions);
        let filters = policy.filter_items.iter().map(|f| (&f.item, f.filter_expr.as_str().into()));
        let filters = listed(filters, with, &mut faults.conditions);
        let is_dynamic = resources.first().is_some_and(ResourceMatcher::is_dynamic);
        let order = EvalOrder {
            priority: policy.priority,
            cannot_deny: !can_deny || (denies.is_empty() && !policy.is_deny_all_else),
            score: order::policy_score(policy, with.implied, with.types, is_dynamic),
        };
        for text in texts(policy) {
            let found = add_expressions(with.expressions, text);
            faults.conditions.extend(found.iter().map(ToString::to_string));
        }
        let rest = Rest {
            broken: (!faults.whole.is_empty()).then(|| faults.whole.join("; ").into()),
            conditions: conditions(&policy.conditions, &with.conditions, &mut faults.conditions),
            schedules,
            spelled: spelled(policy, with),
        };
        let lists = [denies, deny_exceptions, allows, allow_exceptions];
        let mut ends = [0; 3];
        let mut end = 0;
        for (place, list) in ends.iter_mut().zip(&lists) {
            end += list.len();
            *place = u32::try_from(end).unwrap_or(u32::MAX);
        }
        let compiled = Self {
            id: policy.id,
            name: policy.name.as_str().into(),
            version: policy.version,
            zone: policy.zone.as_deref().unwrap_or_default().into(),
            order,
            is_enabled: policy.is_enabled,
            is_audit_enabled: policy.is_audit_enabled,
            is_deny_all_else: policy.is_deny_all_else && policy.kind == PolicyKind::Access,
            is_everywhere,
            has_conditions: !policy.conditions.is_empty()
                || items_of(policy).any(|item| !item.conditions.is_empty()),
            resources,
            items: lists.into_iter().flatten().collect(),
            ends,
            masks,
            filters,
            rest: (!rest.is_empty()).then(|| Box::new(rest)),
        };
        (compiled, faults)
    }

    pub(crate) fn denies(&self) -> &[CompiledItem] {
        self.list(0)
    }

    pub(crate) fn deny_exceptions(&self) -> &[CompiledItem] {
        self.list(1)
    }

    pub(crate) fn allows(&self) -> &[CompiledItem] {
        self.list(2)
    }

    pub(crate) fn allow_exceptions(&self) -> &[CompiledItem] {
        self.list(3)
    }

    fn list(&self, number: usize) -> &[CompiledItem] {
        let at = |number: usize| self.ends.get(number).and_then(|end| usize::try_from(*end).ok());
        let start = number.checked_sub(1).and_then(at).unwrap_or(0);
        let end = at(number).unwrap_or(self.items.len());
        self.items.get(start..end).unwrap_or_default()
    }

    /// Why it cannot be honoured, if it cannot.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.rest.as_ref()?.broken.as_deref()
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        self.rest.as_ref().map_or(&[], |rest| &rest.conditions)
    }

    pub(crate) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.rest.as_ref().is_none_or(|rest| {
            rest.schedules.is_empty() || rest.schedules.iter().any(|schedule| schedule.holds(now))
        })
    }

    /// Whom an item of it may name.
    pub(crate) fn marks(&self) -> Marks {
        if self.is_deny_all_else {
            return Marks::EVERYBODY;
        }
        let of_rules =
            self.masks.iter().map(|(item, _)| item).chain(self.filters.iter().map(|(item, _)| item));
        self.items.iter().chain(of_rules).fold(Marks::default(), |marks, item| item.add_to(marks))
    }

    pub(crate) fn can_deny(&self) -> bool {
        !self.order.cannot_deny
    }

    pub(crate) fn priority(&self) -> i32 {
        match self.order.priority {
            crate::model::Priority::Normal => 0,
            crate::model::Priority::Override => 1,
        }
    }

    /// Whether any of the policy's resources lies to the request as `fits` wants it.
    pub(crate) fn matches(
        &self,
        request: &RequestPath<'_>,
        context: &MatchContext<'_>,
        fits: impl Fn(MatchType) -> bool,
    ) -> bool {
        self.resources.iter().any(|resource| fits(resource.match_type(request, context)))
    }

    /// Ranger's order of evaluation.
    pub(crate) fn evaluated_before(&self, other: &Self) -> Ordering {
        self.order.compare(&other.order).then_with(|| self.named_before(other))
    }

    pub(crate) fn named_before(&self, other: &Self) -> Ordering {
        order::by_name((&self.name, self.id), (&other.name, other.id))
    }

    /// Whether Ranger's quick look at a policy's access types, which regards case, lets this name through.
    pub(crate) fn spells(&self, name: &str, is_as_defined: bool) -> bool {
        match self.rest.as_ref().and_then(|rest| rest.spelled.as_ref()) {
            None => is_as_defined,
            Some(spelled) => spelled.iter().any(|known| &**known == name),
        }
    }
}

fn conditions(
    all: &[PolicyCondition],
    with: &ConditionCompiler<'_>,
    faults: &mut Vec<String>,
) -> Box<[Condition]> {
    let compiled = with.all(all);
    faults.extend(compiled.iter().filter_map(Condition::fault).map(str::to_owned));
    compiled.into_boxed_slice()
}

/// The table is copied only if there is something to add.
fn add_expressions(table: &mut Arc<ExpressionTable>, text: &str) -> Vec<ScriptError> {
    if has_expressions(text) { Arc::make_mut(table).add(text) } else { Vec::new() }
}

/// The texts of masks and filters.
fn texts(policy: &Policy) -> impl Iterator<Item = &str> {
    fn of_mask(mask: &MaskItem) -> impl Iterator<Item = &str> {
        [&mask.mask.value_expr, &mask.mask.condition_expr].into_iter().filter_map(|text| text.as_deref())
    }
    policy
        .mask_items
        .iter()
        .flat_map(of_mask)
        .chain(policy.filter_items.iter().map(|filter| filter.filter_expr.as_str()))
}

fn can_deny(def: &ServiceDef) -> bool {
    let option = def.options.get("enableDenyAndExceptionsInPolicies");
    !option.is_some_and(|text| text.trim().eq_ignore_ascii_case("false"))
}

fn schedules(policy: &Policy, with: &Reading<'_>, faults: &mut Vec<String>) -> Box<[Schedule]> {
    let reading = with.conditions.schedules;
    let mut schedules = Vec::new();
    let mut is_broken = false;
    for schedule in &policy.validity {
        match Schedule::new(schedule, reading) {
            Ok(schedule) => schedules.push(schedule),
            Err(fault) => {
                is_broken = true;
                faults.push(fault);
            }
        }
    }
    // When the policy counts is not known, so that what it takes is taken at all times. Ranger goes on with the rest.
    if is_broken && reading == ScheduleReading::OwnZone {
        schedules.clear();
    }
    schedules.into_boxed_slice()
}

/// The items of a list that counts, in the order in which Ranger tries them.
fn sorted(
    items: &[Item],
    counts: bool,
    with: &mut Reading<'_>,
    faults: &mut Vec<String>,
) -> Box<[CompiledItem]> {
    let items = items.iter().enumerate().filter(|_| counts);
    let compiled = items.map(|(place, item)| {
        let compiled = CompiledItem::new(item, place, with, faults);
        (order::item_score(item, &compiled.access, with.implied), compiled)
    });
    let mut compiled: Vec<(i32, CompiledItem)> = compiled.collect();
    compiled.sort_by_key(|(score, _)| *score);
    compiled.into_iter().map(|(_, item)| item).collect()
}

/// The items of a mask or filter policy, in the order in which they are written.
fn listed<'p, T>(
    items: impl Iterator<Item = (&'p Item, T)>,
    with: &mut Reading<'_>,
    faults: &mut Vec<String>,
) -> Box<[(CompiledItem, T)]> {
    let items = items.enumerate();
    items.map(|(place, (item, rule))| (CompiledItem::new(item, place, with, faults), rule)).collect()
}

fn resources(policy: &Policy, with: &mut Reading<'_>, faults: &mut Vec<String>) -> Box<[ResourceMatcher]> {
    let mut resources = Vec::new();
    for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
        match ResourceMatcher::new(with.levels, map) {
            Ok(Some(matcher)) => {
                if matcher.needs_expressions() {
                    if with.conditions.scripts.is_none() {
                        faults.push(
                            "the expression in its resource cannot be evaluated: nothing here runs scripts"
                                .to_owned(),
                        );
                    }
                    for text in map.values().flat_map(|values| &values.values) {
                        faults
                            .extend(add_expressions(with.expressions, text).iter().map(ToString::to_string));
                    }
                }
                resources.push(matcher);
            }
            // From outside, what it takes must be taken; here, whoever writes such a policy is told.
            Ok(None) if with.strictness == Strictness::Report => {
                faults.push("the levels of its resource make no path of the definition".to_owned());
            }
            Ok(None) => {}
            Err(fault) => faults.push(fault),
        }
    }
    resources.into_boxed_slice()
}

fn spelled(policy: &Policy, with: &Reading<'_>) -> Option<Box<[Box<str>]>> {
    let types = &with.types;
    let is_as_defined = |name: &str| types.number(name).is_some_and(|number| types.is_spelled(number, name));
    let mut written = items_of(policy).flat_map(|item| &item.accesses).map(|access| access.kind.as_str());
    if written.all(is_as_defined) {
        return None;
    }
    let accesses = items_of(policy).flat_map(|item| &item.accesses);
    let mut names: Vec<Box<str>> = Vec::new();
    for access in accesses {
        names.push(access.kind.as_str().into());
        let number = types.number(&access.kind);
        let implied = number.into_iter().flat_map(|number| with.implied.of(number));
        names.extend(implied.map(|number| types.name(*number).into()));
    }
    Some(names.into_boxed_slice())
}

/// Who gets which accesses.
#[derive(Clone, Debug)]
pub(crate) struct CompiledItem {
    pub(crate) access: AccessSet,
    conditions: Option<Box<Conditions>>,
    pub(crate) delegate_admin: bool,
    /// The numbers of users, then those of groups, then those of roles, each in ascending order.
    named: Named,
    n_users: u32,
    n_users_and_groups: u32,
    is_any_user: bool,
    is_owner: bool,
    is_public: bool,
    /// Its place in the policy's own list, from 0.
    pub(crate) place: u16,
}

const _: () =
    assert!(size_of::<CompiledItem>() == 64, "an item is no larger than a line of the processor's cache");

/// Behind one thin pointer, because few items have any.
#[derive(Clone, Debug)]
struct Conditions(Box<[Condition]>);

/// Principals of an item that are held without memory of their own.
const NAMED_INLINE: usize = 4;

/// The numbers of principals.
#[derive(Clone, Debug)]
enum Named {
    Few(u8, [u32; NAMED_INLINE]),
    Many(Box<[u32]>),
}

impl Named {
    fn new(numbers: &[u32]) -> Self {
        let mut few = [0; NAMED_INLINE];
        match (u8::try_from(numbers.len()), few.get_mut(..numbers.len())) {
            (Ok(n), Some(place)) => {
                place.copy_from_slice(numbers);
                Self::Few(n, few)
            }
            _ => Self::Many(numbers.into()),
        }
    }

    fn all(&self) -> &[u32] {
        match self {
            Self::Few(n, numbers) => numbers.get(..usize::from(*n)).unwrap_or(numbers),
            Self::Many(numbers) => numbers,
        }
    }
}

/// By which of its principals an item reaches somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    User,
    Owner,
    Group(u32),
    Public,
    Role(u32),
}

impl CompiledItem {
    fn new(item: &Item, place: usize, with: &mut Reading<'_>, faults: &mut Vec<String>) -> Self {
        let access = with.implied.granted(&item.accesses, with.types);
        let names = &mut *with.names;
        let mut named: SmallVec<[u32; NAMED_INLINE]> = SmallVec::new();
        let mut add = |found: &mut dyn Iterator<Item = u32>| {
            let mut found: SmallVec<[u32; NAMED_INLINE]> = found.collect();
            found.sort_unstable();
            found.dedup();
            named.extend(found);
            u32::try_from(named.len()).unwrap_or(u32::MAX)
        };
        let users = item.users.iter().filter(|name| *name != ANY_USER && *name != OWNER);
        let n_users = add(&mut users.map(|name| names.intern_user(name)));
        let groups = item.groups.iter().filter(|name| *name != PUBLIC);
        let n_users_and_groups = add(&mut groups.map(|name| names.intern_group(name)));
        add(&mut item.roles.iter().map(|name| names.intern_role(name)));
        let conditions = conditions(&item.conditions, &with.conditions, faults);
        Self {
            access,
            conditions: (!conditions.is_empty()).then(|| Box::new(Conditions(conditions))),
            delegate_admin: item.delegate_admin,
            named: Named::new(&named),
            n_users,
            n_users_and_groups,
            is_any_user: item.users.iter().any(|name| name == ANY_USER),
            is_owner: item.users.iter().any(|name| name == OWNER),
            is_public: item.groups.iter().any(|name| name == PUBLIC),
            place: u16::try_from(place).unwrap_or(u16::MAX),
        }
    }

    fn add_to(&self, mut marks: Marks) -> Marks {
        if self.is_any_user || self.is_owner || self.is_public {
            return Marks::EVERYBODY;
        }
        self.users().iter().for_each(|number| marks.add(MarkKind::User, *number));
        self.groups().iter().for_each(|number| marks.add(MarkKind::Group, *number));
        self.roles().iter().for_each(|number| marks.add(MarkKind::Role, *number));
        marks
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        self.conditions.as_ref().map_or(&[], |conditions| &conditions.0)
    }

    fn users(&self) -> &[u32] {
        self.named.all().get(..as_usize(self.n_users)).unwrap_or_default()
    }

    fn groups(&self) -> &[u32] {
        self.named.all().get(as_usize(self.n_users)..as_usize(self.n_users_and_groups)).unwrap_or_default()
    }

    fn roles(&self) -> &[u32] {
        self.named.all().get(as_usize(self.n_users_and_groups)..).unwrap_or_default()
    }

    /// Whether the item lists this user, also by a name that stands for somebody.
    pub(crate) fn lists_user(&self, names: &Names, name: &str) -> bool {
        let is_listed =
            || names.user_number(name).is_some_and(|user| self.users().binary_search(&user).is_ok());
        match name {
            ANY_USER => self.is_any_user,
            OWNER => self.is_owner,
            _ => is_listed(),
        }
    }

    /// Whether the item lists this group.
    pub(crate) fn lists_group(&self, names: &Names, name: &str) -> bool {
        let is_listed =
            || names.group_number(name).is_some_and(|group| self.groups().binary_search(&group).is_ok());
        match name {
            PUBLIC => self.is_public,
            _ => is_listed(),
        }
    }

    /// Through what the item names somebody, if it does. `user` is whether there is a user at all.
    pub(crate) fn reached(&self, who: &Numbers, has_user: bool, is_owner: bool) -> Option<Reached> {
        let is_named = || who.user.is_some_and(|user| self.users().binary_search(&user).is_ok());
        if has_user && (self.is_any_user || is_named()) {
            return Some(Reached::User);
        }
        if self.is_owner && is_owner {
            return Some(Reached::Owner);
        }
        if let Some(group) = common(self.groups(), who.groups()) {
            return Some(Reached::Group(group));
        }
        if self.is_public {
            return Some(Reached::Public);
        }
        common(self.roles(), who.roles()).map(Reached::Role)
    }
}

fn as_usize(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// A number that two ascending lists share.
fn common(few: &[u32], many: &[u32]) -> Option<u32> {
    if few.len() > many.len() {
        return many.iter().copied().find(|number| few.binary_search(number).is_ok());
    }
    few.iter().copied().find(|number| many.binary_search(number).is_ok())
}
