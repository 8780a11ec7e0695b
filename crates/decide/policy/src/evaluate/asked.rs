//! One request made ready: who asks in numbers, what is asked, and which tags the resource carries.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;

use smallvec::SmallVec;

use super::running::Entry;
use super::{ConditionErrors, FieldOf, MatchType, MatchingScope, Request, Via};
use crate::Snapshot;
use crate::condition::{Condition, ConditionContext, ConditionSettings, Held, TagFacts};
use crate::matching::{Expressions, MatchContext, RequestPath};
use crate::model::PolicyKind;
use crate::snapshot::{
    AccessNumber, CompiledItem, CompiledPolicy, CompiledService, CompiledTag, Marks, Numbers, Reached,
};

/// The access type that any access type satisfies.
pub(crate) const ANY_ACCESS: &str = "_any";
/// The access type that the right to pass on satisfies.
pub(crate) const ADMIN_ACCESS: &str = "_admin";
/// The access type that only super users have.
pub(crate) const SUPER_USER_ACCESS: &str = "_super_user";

/// One request against one service of one snapshot.
pub(crate) struct Asked<'a, 'd> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) service: &'a CompiledService,
    pub(crate) r: &'a Request<'d>,
    pub(crate) asking: Asking<'a>,
    pub(crate) errors: ConditionErrors,
    tokens: MatchContext<'a>,
    settings: Cow<'a, ConditionSettings>,
    numbers: Cow<'a, Numbers>,
    looks_below: bool,
    /// The resource as access policies are compared with it, read once.
    access_path: Option<RequestPath<'d>>,
    field: Option<FieldOf<'d>>,
    /// Tags that the request brings along beside those that are known.
    more_tags: &'d [String],
    tags: OnceCell<Tags<'a>>,
}

/// A requested resource that may have been read before.
#[expect(
    clippy::large_enum_variant,
    reason = "a path of its own stays on the stack: a warm decision allocates nothing"
)]
pub(crate) enum ReadPath<'q, 'd> {
    Before(&'q RequestPath<'d>),
    /// Of a definition whose masks or filters read it otherwise.
    Own(RequestPath<'d>),
}

impl<'d> Deref for ReadPath<'_, 'd> {
    type Target = RequestPath<'d>;

    fn deref(&self) -> &RequestPath<'d> {
        match self {
            Self::Before(path) => path,
            Self::Own(path) => path,
        }
    }
}

/// What about an item is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The item grants this access type. Without a number, nothing grants it.
    Access(&'a str, Option<AccessNumber>),
    /// The item grants it, and the right to pass it on.
    Delegated(Option<AccessNumber>),
    /// The item grants the right to pass on whatever it grants (`_admin`).
    AnyDelegation,
}

/// Everything that one request asks.
#[derive(Clone, Debug)]
pub(crate) enum Asking<'a> {
    One(Target<'a>),
    /// `_any`: every access type of the definition.
    Any(&'a [AccessNumber]),
    Several(Box<Several<'a>>),
}

/// Access types asked together.
#[derive(Clone, Debug)]
pub(crate) struct Several<'a> {
    pub(crate) targets: Vec<Target<'a>>,
    /// Places in `targets`: of every group one is needed. Empty: all of them are one group.
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) ignorable: Vec<bool>,
}

/// A tag of the requested resource, and how the resource that carries it lies to the requested one.
#[derive(Clone, Debug)]
pub(crate) struct TagHit<'a> {
    tag: TagOf<'a>,
    /// Among the request's tags.
    pub(crate) place: u16,
    pub(crate) found: MatchType,
}

#[derive(Clone, Debug)]
enum TagOf<'a> {
    Known(&'a CompiledTag),
    Given(Box<CompiledTag>),
}

impl TagHit<'_> {
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq::<CompiledTag>(&**self, &**other)
    }

    fn facts(&self) -> TagFacts<'_> {
        TagFacts { kind: &self.kind, attributes: &self.attributes, found: self.found }
    }
}

impl Expressions for Asked<'_, '_> {
    fn text(&self, expr: &str) -> Option<String> {
        self.with_circumstances(None, |context| self.snapshot.expressions().value(expr, context)).ok()?
    }
}

impl Deref for TagHit<'_> {
    type Target = CompiledTag;

    fn deref(&self) -> &CompiledTag {
        match &self.tag {
            TagOf::Known(tag) => tag,
            TagOf::Given(tag) => tag,
        }
    }
}

pub(crate) type Tags<'a> = SmallVec<[TagHit<'a>; 4]>;

impl<'a, 'd> Asked<'a, 'd> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        service: &'a CompiledService,
        r: &'a Request<'d>,
        errors: ConditionErrors,
    ) -> Self {
        let asking = asking(service, r);
        let looks_below = matches!(asking, Asking::Any(_)) || r.context.scope == MatchingScope::ItselfOrBelow;
        Self {
            snapshot,
            service,
            r,
            asking,
            errors,
            tokens: MatchContext::new(&r.who.user, r.owner).with_attributes(&r.context.attributes),
            settings: settings(snapshot, errors),
            numbers: snapshot.numbers_of(r.who),
            looks_below,
            access_path: read(service, r, PolicyKind::Access),
            field: None,
            more_tags: &[],
            tags: OnceCell::new(),
        }
    }

    /// The same asked about another resource.
    pub(crate) fn about(&self, r: &'a Request<'d>) -> Self {
        Self {
            snapshot: self.snapshot,
            service: self.service,
            r,
            asking: self.asking.clone(),
            errors: self.errors,
            tokens: self.tokens,
            settings: self.settings.clone(),
            numbers: self.numbers.clone(),
            looks_below: self.looks_below,
            access_path: read(self.service, r, PolicyKind::Access),
            field: None,
            more_tags: &[],
            tags: OnceCell::new(),
        }
    }

    /// The same, said of a column.
    pub(crate) fn of_column(mut self, field: Option<FieldOf<'d>>, more_tags: &'d [String]) -> Self {
        self.field = field;
        self.more_tags = more_tags;
        self
    }

    /// Whether a policy whose resource cannot be read is taken to be about everything.
    pub(crate) fn counts_everywhere(&self) -> bool {
        self.errors == ConditionErrors::AgainstUser
    }

    /// The same, with another thing asked.
    pub(crate) fn asking(mut self, target: Target<'a>) -> Self {
        self.asking = Asking::One(target);
        self
    }

    pub(crate) fn looking_below(mut self) -> Self {
        self.looks_below = true;
        self
    }

    pub(crate) fn is_any(&self) -> bool {
        matches!(self.asking, Asking::Any(_))
    }

    /// Whether policies about something below the resource count too.
    pub(crate) fn looks_below(&self) -> bool {
        self.looks_below
    }

    pub(crate) fn has_resource(&self) -> bool {
        !self.r.resource.levels().is_empty()
    }

    /// The resource as policies of one kind are compared with it.
    pub(crate) fn path(&self, kind: PolicyKind) -> Option<ReadPath<'_, 'd>> {
        let levels = &self.service.policies.levels;
        match self.access_path() {
            Some(path) if levels.is_read_alike(kind, path) => Some(ReadPath::Before(path)),
            None if kind == PolicyKind::Access => None,
            _ => read(self.service, self.r, kind).map(ReadPath::Own),
        }
    }

    /// The same for access policies, zones and tags.
    pub(crate) fn access_path(&self) -> Option<&RequestPath<'d>> {
        self.access_path.as_ref()
    }

    /// The tags that count at the time of the request.
    pub(crate) fn tags(&self) -> &Tags<'a> {
        let now = self.r.now;
        self.tags.get_or_init(|| self.find_tags(|tag| tag.is_valid_at(now)))
    }

    /// The tags that count now or at any other time.
    pub(crate) fn tags_at_any_time(&self) -> Tags<'a> {
        self.find_tags(|_| true)
    }

    fn find_tags(&self, counts: impl Fn(&CompiledTag) -> bool) -> Tags<'a> {
        if let Some(given) = &self.r.context.tags {
            let reading = self.snapshot.plugin().schedule_reading();
            let compiled = given.iter().map(|tag| {
                let (compiled, _) = CompiledTag::of(&tag.kind, &tag.attributes, &tag.validity, reading);
                TagHit { tag: TagOf::Given(Box::new(compiled)), place: 0, found: tag.found }
            });
            return numbered(compiled.filter(|tag| counts(tag)).collect());
        }
        let mut found = Tags::new();
        let is_asked = !self.service.tagged.is_empty() && (self.has_resource() || self.is_any());
        if is_asked && let Some(path) = self.access_path() {
            let service: &'a CompiledService = self.service;
            service.tagged.of(path, self.field, &self.tokens, self.looks_below, |tag, lies| {
                if counts(tag) {
                    found.push(TagHit { tag: TagOf::Known(tag), place: 0, found: lies });
                }
            });
        }
        for kind in self.more_tags {
            if !found.iter().any(|tag| *tag.kind == **kind) {
                let tag = TagOf::Given(Box::new(CompiledTag::plain(kind)));
                found.push(TagHit { tag, place: 0, found: MatchType::Itself });
            }
        }
        numbered(found)
    }

    /// What conditions say; `tag` is the tag whose policy they stand in.
    pub(crate) fn held(&self, conditions: &[Condition], tag: Option<&TagHit<'_>>) -> Held {
        if conditions.is_empty() {
            return Held::Met;
        }
        self.with_circumstances(tag, |context| Condition::all_held(conditions, context))
    }

    pub(crate) fn tag_of(&self, entry: &Entry<'_>) -> Option<&TagHit<'a>> {
        self.tags().get(usize::from(entry.tag?))
    }

    /// The circumstances as conditions and expressions see them.
    pub(crate) fn with_circumstances<T>(
        &self,
        tag: Option<&TagHit<'_>>,
        ask: impl FnOnce(&ConditionContext<'_>) -> T,
    ) -> T {
        let tags: SmallVec<[TagFacts<'_>; 4]> = self.tags().iter().map(TagHit::facts).collect();
        let state = self.snapshot.state();
        let zones = match self.access_path() {
            Some(path) if !self.service.zones.is_empty() => self.service.zones.of(path),
            _ => Default::default(),
        };
        let context = ConditionContext {
            tags: &tags,
            current_tag: tag.map(TagHit::facts),
            users: &state.users,
            groups: &state.groups,
            zones: &zones,
            ..ConditionContext::new(self.r, &self.settings)
        };
        ask(&context)
    }

    /// What tokens and expressions in the resources of policies stand for.
    pub(crate) fn matching(&self) -> MatchContext<'_> {
        match self.snapshot.expressions().is_empty() {
            true => self.tokens,
            false => self.tokens.with_expressions(self),
        }
    }

    /// What a policy's own conditions say, and whether it and its tag can be honoured at all.
    pub(crate) fn held_of(&self, policy: &CompiledPolicy, tag: Option<&TagHit<'_>>) -> Held {
        let held = self.held(policy.conditions(), tag);
        let is_broken = policy.broken().is_some() || tag.is_some_and(|tag| tag.is_doubtful());
        match is_broken && self.errors == ConditionErrors::AgainstUser {
            true => held.and(Held::Unknown),
            false => held,
        }
    }

    pub(crate) fn access_name(&self) -> &str {
        match self.r.access {
            "" => ANY_ACCESS,
            access => access,
        }
    }

    /// Whether any of these may be whoever asks.
    pub(crate) fn may_be_among(&self, marks: Marks) -> bool {
        marks.may_name(self.numbers.marks)
    }

    pub(crate) fn reached(&self, item: &CompiledItem) -> Option<Reached> {
        let user = self.r.who.user.as_str();
        let has_user = !user.is_empty();
        item.reached(&self.numbers, has_user, has_user && self.r.owner == Some(user))
    }

    /// Through what an item reaches whoever asks, in words.
    pub(crate) fn via(&self, item: &CompiledItem) -> Option<Via> {
        let names = self.snapshot.names();
        Some(match self.reached(item)? {
            Reached::User => Via::User(self.r.who.user.clone()),
            Reached::Owner => Via::Owner,
            Reached::Group(number) => Via::Group(names.group(number).to_owned()),
            Reached::Public => Via::Public,
            Reached::Role(number) => Via::Role(names.role(number).to_owned()),
        })
    }

    /// Ranger's quick look at a policy's access types, which regards case where its items do not.
    pub(crate) fn can_mean(&self, policy: &CompiledPolicy) -> bool {
        if policy.is_deny_all_else || self.errors == ConditionErrors::AgainstUser {
            return true;
        }
        let types = &self.service.types;
        let spells = |target: &Target<'_>| match target {
            Target::Access(name, number) => {
                policy.spells(name, number.is_some_and(|number| types.is_spelled(number, name)))
            }
            Target::Delegated(_) | Target::AnyDelegation => true,
        };
        match &self.asking {
            Asking::Any(_) => true,
            Asking::One(target) => spells(target),
            Asking::Several(several) => several.targets.iter().any(spells),
        }
    }
}

fn read<'d>(service: &CompiledService, r: &Request<'d>, kind: PolicyKind) -> Option<RequestPath<'d>> {
    RequestPath::with_scopes(service.policies.levels.of(kind), &r.resource, &r.context.element_scopes)
}

fn numbered(mut tags: Tags<'_>) -> Tags<'_> {
    for (place, tag) in tags.iter_mut().enumerate() {
        tag.place = u16::try_from(place).unwrap_or(u16::MAX);
    }
    tags
}

/// The snapshot's own settings, unless this request has another view of conditions that cannot be evaluated.
fn settings(snapshot: &Snapshot, errors: ConditionErrors) -> Cow<'_, ConditionSettings> {
    let settings = snapshot.condition_settings();
    match settings.errors == errors {
        true => Cow::Borrowed(settings),
        false => Cow::Owned(ConditionSettings { errors, ..settings.clone() }),
    }
}

fn asking<'a>(service: &'a CompiledService, r: &'a Request<'_>) -> Asking<'a> {
    let target = |name: &'a str| Target::Access(name, service.types.number(name));
    if r.access.is_empty() || r.access.eq_ignore_ascii_case(ANY_ACCESS) {
        return Asking::Any(service.types.defined());
    }
    if r.access.eq_ignore_ascii_case(ADMIN_ACCESS) {
        return Asking::One(Target::AnyDelegation);
    }
    let context = r.context;
    if context.access_types.is_empty() && context.access_groups.is_empty() {
        return Asking::One(target(r.access));
    }
    let mut names: Vec<&str> = context.access_types.iter().map(String::as_str).collect();
    for name in context.access_groups.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let place = |name: &String| names.iter().position(|known| *known == name.as_str());
    let groups = context.access_groups.iter().map(|group| group.iter().filter_map(place).collect());
    Asking::Several(Box::new(Several {
        groups: groups.collect(),
        ignorable: names.iter().map(|name| context.ignored_if_not_denied.contains(*name)).collect(),
        targets: names.into_iter().map(target).collect(),
    }))
}
