//! Ranger's engine for one kind of policy: zones, then in each zone tag policies, then resource policies.

use smallvec::SmallVec;

use super::asked::{Asked, Asking, ReadPath, TagHit, Target};
use super::items::{FirstItem, Says, first_rule, policy_says};
use super::running::{By, Entry, EntryItem, Results, Running};
use super::trace::{Considered, Note, Trace};
use super::{MatchType, Resource};
use crate::condition::Held;
use crate::matching::{Levels, RequestPath};
use crate::model::PolicyKind;
use crate::snapshot::{CompiledPolicy, Found, FoundAll, Policies, PolicyIndex, Reach, Repository};

/// How to evaluate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub(crate) kind: PolicyKind,
    /// Whether it matters who is audited, and who is a super user.
    pub(crate) is_plugin: bool,
}

/// One evaluation.
pub(crate) struct Evaluator<'q, 'a, 'd> {
    asked: &'q Asked<'a, 'd>,
    mode: Mode,
    path: Option<ReadPath<'q, 'd>>,
    results: Results<'a>,
    pub(crate) trace: Option<Trace>,
}

/// The outcome in one zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zoned<'a> {
    pub(crate) running: Running<'a>,
    pub(crate) zone: Option<&'a str>,
}

#[derive(Clone, Copy)]
struct TagCandidate<'a, 't> {
    policy: &'a CompiledPolicy,
    tag: &'t TagHit<'a>,
}

impl<'q, 'a, 'd> Evaluator<'q, 'a, 'd> {
    pub(crate) fn new(asked: &'q Asked<'a, 'd>, mode: Mode) -> Self {
        let path = asked.path(mode.kind);
        Self { asked, mode, path, results: Results::new(asked), trace: None }
    }

    /// The result over all zones of the resource.
    pub(crate) fn run(&mut self) -> Zoned<'a> {
        let service = self.asked.service;
        if service.zones.is_empty() {
            return self.in_zone(None);
        }
        let is_any = self.asked.is_any();
        let mut zones = self.asked.access_path().map(|path| service.zones.of(path)).unwrap_or_default();
        if zones.is_empty() || (zones.len() > 1 && !is_any) {
            return self.in_zone(None);
        }
        if is_any && !self.asked.has_resource() {
            let more: SmallVec<[&str; 8]> =
                service.zones.all().into_iter().filter(|zone| !zones.contains(zone)).collect();
            zones.extend(more);
        }
        let mut last = None;
        for zone in zones {
            self.results.clear();
            let zoned = self.in_zone(Some(zone).filter(|zone| !zone.is_empty()));
            if zoned.running.is_allowed {
                return zoned;
            }
            last = Some(zoned);
        }
        match last {
            Some(zoned) => zoned,
            None => self.in_zone(None),
        }
    }

    fn in_zone(&mut self, zone: Option<&'a str>) -> Zoned<'a> {
        let mut running = Running::NEW;
        self.begin(&mut running);
        self.tag_policies(zone, &mut running);
        let is_decided_by_tags = running.is_determined;
        let (allowed_by_tags, denied_by_tags) =
            (is_decided_by_tags && running.is_allowed, is_decided_by_tags && !running.is_allowed);
        let policies = &self.asked.service.policies;
        if let Some(repository) = policies.of_zone(zone.unwrap_or_default()) {
            running.is_determined = false;
            self.resource_policies(repository, denied_by_tags, &mut running);
            if !running.is_determined {
                if denied_by_tags {
                    running.is_allowed = false;
                    running.is_determined = true;
                } else if allowed_by_tags {
                    running.is_allowed = true;
                }
            }
        }
        if running.is_allowed || !self.asked.snapshot.plugin().has_fallback {
            running.is_determined = true;
        }
        Zoned { running, zone }
    }

    /// What holds before any policy is asked.
    fn begin(&self, running: &mut Running<'a>) {
        if !self.mode.is_plugin {
            running.audit(false);
            return;
        }
        let asked = self.asked;
        super::audit::begin(asked, running);
        if super::audit::is_super_user(asked) {
            running.is_allowed = true;
            running.is_determined = true;
            running.by = By::SuperUser;
        } else if asked.r.access.eq_ignore_ascii_case(super::asked::SUPER_USER_ACCESS) {
            running.is_allowed = false;
            running.is_determined = true;
            running.by = By::NoSuperUser;
        }
    }

    fn tag_policies(&mut self, zone: Option<&str>, running: &mut Running<'a>) {
        let service = self.asked.service;
        let Some(policies) = service.tag_policies.as_ref().filter(|policies| policies.has_policies()) else {
            return;
        };
        let asked = self.asked;
        let is_asked = policies.unzoned.of_kind(self.mode.kind).is_some_and(|index| !index.is_empty());
        let tags = if is_asked { asked.tags().as_slice() } else { &[] };
        if !tags.is_empty() {
            let zone = zone.filter(|zone| service.zones.has_tag_service(zone)).unwrap_or_default();
            let candidates = self.tag_candidates(policies, tags);
            for TagCandidate { policy, tag } in candidates.iter().copied() {
                if &*policy.zone != zone {
                    self.note(policy, Some(tag), || Note::OfAnotherZone);
                    continue;
                }
                let mut found = *running;
                self.offer(policy, std::iter::once(tag.found), Some(tag), &mut found);
                if found.is_allowed && !policy.can_deny() {
                    found.is_determined = true;
                }
                if found.is_audited {
                    running.take_audit(&found);
                }
                if !running.is_determined
                    && (found.is_determined || (!running.is_allowed && found.is_allowed))
                {
                    running.take_access(&found);
                }
                if running.is_final() && self.trace.is_none() {
                    break;
                }
            }
        }
        if running.is_allowed {
            running.is_determined = true;
        }
    }

    /// Tag policies with the tags that they are about, in their order.
    fn tag_candidates<'t>(
        &self,
        policies: &'a Policies,
        tags: &'t [TagHit<'a>],
    ) -> SmallVec<[TagCandidate<'a, 't>; 8]> {
        let mut found: SmallVec<[TagCandidate<'a, 't>; 8]> = SmallVec::new();
        let Some(index) = policies.unzoned.of_kind(self.mode.kind) else { return found };
        if index.is_empty() {
            return found;
        }
        let levels = policies.levels.of(self.mode.kind);
        // Tags of one kind, which often stand together, are what the same policies are about.
        let mut of_kind: (&str, FoundAll<'a>) = ("", FoundAll::new());
        let mut last: Option<&TagHit<'a>> = None;
        let is_brief = !self.mode.is_plugin && self.trace.is_none() && self.mode.kind == PolicyKind::Access;
        for tag in tags {
            if of_kind.0 != &*tag.kind {
                of_kind = (&tag.kind, self.about_tag(index, levels, &tag.kind, is_brief));
            }
            // Of the same policy about tags that differ only in what conditions see, one is enough.
            // One whose validity cannot be read takes and does not give, so that it is unlike one that can be.
            let is_alike = last.is_some_and(|last| {
                last.kind == tag.kind && last.found == tag.found && last.is_doubtful() == tag.is_doubtful()
            });
            last = Some(tag);
            let counts = |found: &&Found<'a>| !is_brief || !is_alike || found.policy.has_conditions;
            found.extend(
                of_kind.1.iter().filter(counts).map(|found| TagCandidate { policy: found.policy, tag }),
            );
        }
        let order = |a: &TagCandidate<'_, '_>, b: &TagCandidate<'_, '_>| match self.mode.kind {
            PolicyKind::Access | PolicyKind::Audit => a.policy.evaluated_before(b.policy),
            PolicyKind::Mask => nearness(a.tag.found)
                .cmp(&nearness(b.tag.found))
                .then_with(|| a.policy.named_before(b.policy)),
            PolicyKind::RowFilter => a.policy.named_before(b.policy),
        };
        found.sort_by(order);
        found
    }

    /// The tag policies in force about a kind of tag; in brief those alone that may name whoever asks.
    fn about_tag(&self, index: &'a PolicyIndex, levels: &Levels, kind: &str, is_brief: bool) -> FoundAll<'a> {
        let resource = Resource::new([(TAG_LEVEL, kind)]);
        let Some(path) = RequestPath::new(levels, &resource) else { return FoundAll::new() };
        let mut all = FoundAll::new();
        index.find(&path, Reach::ITSELF, |marks| !is_brief || self.asked.may_be_among(marks), &mut all);
        all.retain(|found| {
            let policy = found.policy;
            let is_named = match found.lies {
                Some(lies) => lies.is_itself(),
                None if policy.is_everywhere && self.asked.counts_everywhere() => true,
                None => policy.matches(&path, &self.asked.matching(), MatchType::is_itself),
            };
            is_named && policy.is_enabled && policy.is_valid_at(self.asked.r.now)
        });
        all
    }

    fn resource_policies(
        &mut self,
        repository: &'a Repository,
        denied_by_tags: bool,
        running: &mut Running<'a>,
    ) {
        let now = self.asked.r.now;
        let mut candidates = FoundAll::new();
        let is_decided = denied_by_tags || running.is_allowed;
        self.resource_candidates(repository, is_decided, &mut candidates);
        for found in &candidates {
            let policy = found.policy;
            if !policy.is_enabled {
                self.note(policy, None, || Note::Disabled);
                continue;
            }
            if !policy.is_valid_at(now) {
                self.note(policy, None, || Note::NotValidNow);
                continue;
            }
            // The index also finds policies that turn out to be about something else; they must not end the search.
            if (denied_by_tags || running.is_allowed) && !self.is_about(found) {
                self.note(policy, None, || Note::OtherResource);
                continue;
            }
            let (reached, own) = (running.priority(), policy.priority());
            if denied_by_tags {
                running.is_determined |= reached >= own;
            } else if running.is_allowed {
                running.is_determined |= match self.mode.kind {
                    PolicyKind::Access => reached > own,
                    PolicyKind::Mask | PolicyKind::RowFilter | PolicyKind::Audit => reached >= own,
                };
            }
            if running.is_final() && self.trace.is_none() {
                break;
            }
            self.offer_resource_policy(found, running);
            if running.is_allowed && !policy.can_deny() {
                running.is_determined = true;
            }
            if running.is_final() && self.trace.is_none() {
                break;
            }
        }
    }

    fn offer_resource_policy(&mut self, found: &Found<'a>, running: &mut Running<'a>) {
        let policy = found.policy;
        if let Some(lies) = found.lies {
            return self.offer(policy, std::iter::once(lies), None, running);
        }
        if policy.is_everywhere && self.asked.counts_everywhere() {
            return self.offer(policy, std::iter::once(MatchType::ItselfAndAllBelow), None, running);
        }
        // It is put back below, so that it need not be copied for each policy.
        let Some(path) = self.path.take() else { return };
        let matching = self.asked.matching();
        let lies = policy.resources.iter().map(|resource| resource.match_type(&path, &matching));
        self.offer(policy, lies, None, running);
        self.path = Some(path);
    }

    /// Whether the policy speaks of the requested resource.
    fn is_about(&self, found: &Found<'a>) -> bool {
        let speaks =
            |lies: MatchType| lies.is_itself() || (lies == MatchType::Below && self.asked.looks_below());
        if let Some(lies) = found.lies {
            return speaks(lies);
        }
        if found.policy.is_everywhere && self.asked.counts_everywhere() {
            return true;
        }
        let Some(path) = self.path.as_deref() else { return false };
        let matching = self.asked.matching();
        found.policy.resources.iter().any(|resource| speaks(resource.match_type(path, &matching)))
    }

    /// `is_decided`: tags have allowed or denied it already.
    fn resource_candidates(&self, repository: &'a Repository, is_decided: bool, found: &mut FoundAll<'a>) {
        let Some(index) = repository.of_kind(self.mode.kind) else { return };
        let Some(path) = self.path.as_deref().filter(|_| !index.is_empty()) else { return };
        let reach = if self.asked.looks_below() { Reach::BELOW } else { Reach::ITSELF };
        // Without a resource nothing is looked up, and masks and filters stay in the order of their names.
        let is_by_name = self.mode.kind != PolicyKind::Access && !self.asked.has_resource();
        // Where nothing is audited or traced, a policy that names nobody who asks need not be looked at: all that it
        // could do is to end the search after an allow, and what stands behind it is then no more than it is.
        let is_brief = !self.mode.is_plugin && self.trace.is_none() && !is_decided && !is_by_name;
        index.find(path, reach, |marks| !is_brief || self.asked.may_be_among(marks), found);
        match is_by_name {
            true => found.sort_unstable_by(|a, b| a.policy.named_before(b.policy)),
            false => found.sort_unstable_by(Found::evaluated_before),
        }
    }

    /// Lets one policy say what it has to say, for each of its resources that the request is about.
    fn offer(
        &mut self,
        policy: &'a CompiledPolicy,
        lies: impl Iterator<Item = MatchType>,
        tag: Option<&TagHit<'a>>,
        running: &mut Running<'a>,
    ) {
        let asked = self.asked;
        if running.is_determined {
            self.note(policy, tag, || Note::DecidedBefore);
        }
        let mut held = None;
        for lies in lies {
            if running.is_final() {
                return;
            }
            let applies = lies.is_itself()
                || (lies == MatchType::Below && asked.looks_below())
                || (lies == MatchType::Above && tag.is_some());
            if !applies {
                continue;
            }
            let held = *held.get_or_insert_with(|| asked.held_of(policy, tag));
            if held == Held::NotMet {
                return self.note(policy, tag, || Note::ConditionNotMet);
            }
            if !running.is_audit_determined && policy.is_audit_enabled {
                running.audit(true);
                running.audit_policy = Some(policy);
            }
            if !running.is_determined && asked.can_mean(policy) {
                self.ask_items(policy, held, lies, tag, running);
            }
        }
        if held.is_none() {
            self.note(policy, tag, || Note::OtherResource);
        }
    }

    fn ask_items(
        &mut self,
        policy: &'a CompiledPolicy,
        held: Held,
        lies: MatchType,
        tag: Option<&TagHit<'a>>,
        running: &mut Running<'a>,
    ) {
        let asked = self.asked;
        let ignores_below = asked.r.context.ignores_denials_below;
        let is_any = asked.is_any();
        // Of many access types asked, none needs to be looked at if no item is about whoever asks.
        if is_any
            && self.trace.is_none()
            && self.mode.kind == PolicyKind::Access
            && !says_anything(policy, asked)
        {
            return self.results.settle(asked, running);
        }
        for (at, target) in targets(&asked.asking, asked).enumerate() {
            let Some(entry) = self.says(policy, held, target, tag) else { continue };
            // A denial of something below says nothing of the whole.
            if !entry.is_allowed && lies == MatchType::Below && ignores_below {
                self.note(policy, tag, || Note::DeniesBelow);
                continue;
            }
            // A word that a higher priority overrules does not end the search.
            let stands = self.results.put(at, entry, self.mode.kind, is_any);
            if is_any && stands && entry.is_allowed == ignores_below {
                break;
            }
        }
        self.results.settle(asked, running);
    }

    fn says(
        &mut self,
        policy: &'a CompiledPolicy,
        held: Held,
        target: Target<'_>,
        tag: Option<&TagHit<'a>>,
    ) -> Option<Entry<'a>> {
        let asked = self.asked;
        let (is_allowed, item) = match self.mode.kind {
            PolicyKind::Access => match policy_says(policy, held, target, asked, tag) {
                Says::Nothing => (false, None),
                Says::Allow(at) => (true, Some(EntryItem::Allow(at))),
                Says::Deny(at) => (false, Some(EntryItem::Deny(at))),
                Says::DenyElse => (false, Some(EntryItem::DenyElse)),
                Says::DenyExcepted(at) => {
                    self.note(policy, tag, || {
                        let exception = policy.deny_exceptions().get(usize::from(at));
                        Note::Excepted(exception.and_then(|item| asked.via(item)))
                    });
                    return None;
                }
            },
            PolicyKind::Mask => match first_rule(&policy.masks, held, target, asked, tag) {
                FirstItem::Nobody => (false, None),
                FirstItem::Found(at) => (true, Some(EntryItem::Mask(at))),
                FirstItem::Unknown(at) => (true, Some(EntryItem::UnknownMask(at))),
            },
            PolicyKind::RowFilter => match first_rule(&policy.filters, held, target, asked, tag) {
                FirstItem::Nobody => (false, None),
                FirstItem::Found(at) => (true, Some(EntryItem::Filter(at))),
                FirstItem::Unknown(at) => (true, Some(EntryItem::UnknownFilter(at))),
            },
            PolicyKind::Audit => (false, None),
        };
        let Some(item) = item else {
            self.note(policy, tag, || Note::NoItem);
            return None;
        };
        let entry = Entry { policy, is_allowed, item, tag: tag.map(|tag| tag.place) };
        self.note(policy, tag, || Note::of(&entry, asked));
        Some(entry)
    }

    fn note(&mut self, policy: &CompiledPolicy, tag: Option<&TagHit<'a>>, note: impl FnOnce() -> Note) {
        if let Some(trace) = &mut self.trace {
            trace.add(Considered::new(policy, tag.map(|tag| &*tag.kind), note()));
        }
    }
}

/// Whether an access policy can have a word for whoever asks.
fn says_anything(policy: &CompiledPolicy, asked: &Asked<'_, '_>) -> bool {
    let mut items = policy.allows().iter().chain(policy.denies());
    policy.is_deny_all_else || items.any(|item| asked.reached(item).is_some())
}

/// The one level of a tag definition.
pub(crate) const TAG_LEVEL: &str = "tag";

fn targets<'t, 'a: 't>(
    asking: &'t Asking<'a>,
    asked: &'t Asked<'a, '_>,
) -> impl Iterator<Item = Target<'a>> + 't {
    let (one, any, several): (Option<Target<'a>>, &[_], &[Target<'a>]) = match asking {
        Asking::One(target) => (Some(*target), &[], &[]),
        Asking::Any(types) => (None, types, &[]),
        Asking::Several(several) => (None, &[], &several.targets),
    };
    let any = any.iter().map(|number| Target::Access(asked.service.types.name(*number), Some(*number)));
    one.into_iter().chain(any).chain(several.iter().copied())
}

/// How near a tagged resource lies to the requested one; the nearest first.
pub(crate) fn nearness(found: MatchType) -> u8 {
    match found {
        MatchType::Itself => 0,
        MatchType::ItselfAndAllBelow => 1,
        MatchType::Above => 2,
        MatchType::Below => 3,
        MatchType::Nothing => 4,
    }
}

#[cfg(test)]
mod tests;
