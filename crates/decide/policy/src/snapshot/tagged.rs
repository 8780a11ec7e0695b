//! The tags of resources, read, and found by resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;
use stdx::Timestamp;

use super::byte_map::ByteMap;
use super::index::{Index, Reach, Slot, Slots};
use crate::evaluate::FieldOf;
use crate::matching::{LevelKey, Levels, MatchContext, MatchType, RequestPath, ResourceMatcher};
use crate::model::{Tag, TaggedResource, TaggedResourceId, ValiditySchedule, bound_field};
use crate::schedule::{Schedule, ScheduleReading};

/// A tag, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct CompiledTag {
    pub(crate) kind: Box<str>,
    pub(crate) attributes: BTreeMap<String, String>,
    schedules: Box<[Schedule]>,
    is_doubtful: bool,
}

impl CompiledTag {
    pub(crate) fn new(tag: &Tag, reading: ScheduleReading) -> (Self, Vec<String>) {
        Self::of(&tag.kind, &tag.attributes, &tag.validity, reading)
    }

    /// With the faults of its schedules.
    pub(crate) fn of(
        kind: &str,
        attributes: &BTreeMap<String, String>,
        validity: &[ValiditySchedule],
        reading: ScheduleReading,
    ) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let mut schedules = Vec::new();
        for schedule in validity {
            match Schedule::new(schedule, reading) {
                Ok(schedule) => schedules.push(schedule),
                Err(fault) => faults.push(format!("tag `{kind}`: {fault}")),
            }
        }
        // What its policies take is then taken at all times. Ranger goes on with the schedules that it can read.
        let is_doubtful = !faults.is_empty() && reading == ScheduleReading::OwnZone;
        if is_doubtful {
            schedules.clear();
        }
        let (kind, attributes) = (kind.into(), attributes.clone());
        let tag = Self { kind, attributes, schedules: schedules.into(), is_doubtful };
        (tag, faults)
    }

    /// A tag of which nothing but its kind is known.
    pub(crate) fn plain(kind: &str) -> Self {
        Self { kind: kind.into(), attributes: BTreeMap::new(), schedules: Box::default(), is_doubtful: false }
    }

    pub(crate) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.schedules.is_empty() || self.schedules.iter().any(|schedule| schedule.holds(now))
    }

    /// Whether a schedule of it cannot be read, so that it is not known when it counts.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    pub(crate) fn is_temporal(&self) -> bool {
        self.is_doubtful || !self.schedules.is_empty()
    }
}

/// The tagged resources of one service.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaggedResources {
    index: Index,
    /// Those among them of which `below` knows nothing.
    irregular: Index,
    below: Below,
    resources: imbl::Vector<Option<Arc<Tagged>>>,
    slots: imbl::HashMap<TaggedResourceId, Slot>,
    /// By table UUID: the fields that are bound, with the places of what is bound to them.
    bound: imbl::HashMap<Arc<str>, Vec<(i32, Slot)>>,
}

#[derive(Clone, Debug)]
struct Tagged {
    matcher: ResourceMatcher,
    tags: Box<[Arc<CompiledTag>]>,
    /// The table's UUID and the field's number.
    field: Option<(Arc<str>, i32)>,
}

impl TaggedResources {
    /// # Errors
    /// The resource asks for a matcher that is not offered.
    pub(crate) fn put(
        &mut self,
        resource: &TaggedResource,
        tags: Box<[Arc<CompiledTag>]>,
        levels: &Levels,
    ) -> Result<(), String> {
        self.remove(resource.id);
        let Some(matcher) = ResourceMatcher::new(levels, &resource.resource)? else { return Ok(()) };
        let Ok(slot) = Slot::try_from(self.resources.len()) else { return Ok(()) };
        self.index.insert(&matcher, slot);
        match Place::of(&matcher) {
            Some(place) => tags.iter().for_each(|tag| self.below.put(&place, tag)),
            None => self.irregular.insert(&matcher, slot),
        }
        let field = bound_field(resource).map(|(uuid, field_id)| (Arc::from(uuid), field_id));
        if let Some((uuid, field_id)) = &field {
            self.bound.entry(Arc::clone(uuid)).or_default().push((*field_id, slot));
        }
        self.resources.push_back(Some(Arc::new(Tagged { matcher, tags, field })));
        self.slots.insert(resource.id, slot);
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: TaggedResourceId) {
        let Some(slot) = self.slots.remove(&id) else { return };
        let place = usize::try_from(slot).ok().and_then(|at| self.resources.get_mut(at));
        let Some(tagged) = place.and_then(Option::take) else { return };
        self.index.remove(&tagged.matcher, slot);
        match Place::of(&tagged.matcher) {
            Some(place) => tagged.tags.iter().for_each(|tag| self.below.remove(&place, tag)),
            None => self.irregular.remove(&tagged.matcher, slot),
        }
        if let Some((uuid, _)) = &tagged.field
            && let Some(fields) = self.bound.get_mut(uuid)
        {
            fields.retain(|(_, bound)| *bound != slot);
            if fields.is_empty() {
                self.bound.remove(uuid);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The tags of a resource and of what it is in, and with `below` of what is in it. What is below is told once for
    /// each tag, however many resources there carry it.
    pub(crate) fn of<'s>(
        &'s self,
        request: &RequestPath<'_>,
        field: Option<FieldOf<'_>>,
        context: &MatchContext<'_>,
        below: bool,
        mut found: impl FnMut(&'s CompiledTag, MatchType),
    ) {
        let bound = field.and_then(|field| self.bound.get(field.table_uuid));
        let field_id = field.map(|field| field.field_id);
        for (bound_id, slot) in bound.into_iter().flatten() {
            if Some(*bound_id) == field_id
                && let Some(tagged) = self.at(*slot)
            {
                tagged.tags.iter().for_each(|tag| found(tag, MatchType::Itself));
            }
        }
        let asked = Asked { request, field, context, below };
        if !below {
            let mut slots = Slots::new();
            self.index.find(request, Reach::ABOVE, &mut slots);
            return self.try_all(&slots, &asked, found);
        }
        let Some(place) = Place::of_request(request) else {
            let mut slots = Slots::new();
            self.index.find(request, Reach::ANYWHERE, &mut slots);
            return self.try_all(&slots, &asked, found);
        };
        let mut slots = Slots::new();
        self.index.find(request, Reach::ABOVE, &mut slots);
        self.irregular.find(request, Reach::ANYWHERE, &mut slots);
        self.try_all(&slots, &asked, &mut found);
        self.below.of(&place).for_each(|tag| found(tag, MatchType::Below));
    }

    fn try_all<'s>(
        &'s self,
        slots: &[Slot],
        asked: &Asked<'_, '_, '_, '_>,
        mut found: impl FnMut(&'s CompiledTag, MatchType),
    ) {
        let Asked { request, field, context, below } = *asked;
        for slot in slots {
            let Some(tagged) = self.at(*slot) else { continue };
            // What is bound to a field of this very table was found by it, or is about another column of it.
            let is_of_table = |field: FieldOf<'_>| {
                tagged.field.as_ref().is_some_and(|(uuid, _)| **uuid == *field.table_uuid)
            };
            if field.is_some_and(is_of_table) {
                continue;
            }
            let lies = match request.levels().is_empty() {
                // Nothing at all is asked for, and everything is below it.
                true => MatchType::Below,
                false => tagged.matcher.match_type(request, context),
            };
            let counts = match lies {
                MatchType::Nothing => false,
                MatchType::Itself | MatchType::ItselfAndAllBelow | MatchType::Above => true,
                MatchType::Below => below,
            };
            if counts {
                tagged.tags.iter().for_each(|tag| found(tag, lies));
            }
        }
    }

    fn at(&self, slot: Slot) -> Option<&Tagged> {
        let place = usize::try_from(slot).ok().and_then(|at| self.resources.get(at));
        place.and_then(Option::as_deref)
    }
}

/// What the tags are asked for.
#[derive(Clone, Copy)]
struct Asked<'q, 'd, 'c, 'f> {
    request: &'q RequestPath<'d>,
    field: Option<FieldOf<'f>>,
    context: &'q MatchContext<'c>,
    below: bool,
}

/// By place: the tags that resources below it carry, so that a request above many of them need not look at each.
#[derive(Clone, Debug, Default)]
struct Below {
    tags: ByteMap<Arc<Vec<Counted>>>,
}

/// A tag, and how many resources carry it.
#[derive(Clone, Debug)]
struct Counted {
    tag: Arc<CompiledTag>,
    n: u32,
}

impl Below {
    fn put(&mut self, place: &Place, tag: &Arc<CompiledTag>) {
        for above in place.above() {
            let Some(tags) = self.tags.entry(above) else { continue };
            let tags = Arc::make_mut(tags);
            match position(tags, tag) {
                Ok(at) => tags.get_mut(at).into_iter().for_each(|counted| counted.n += 1),
                Err(at) => tags.insert(at, Counted { tag: Arc::clone(tag), n: 1 }),
            }
        }
    }

    fn remove(&mut self, place: &Place, tag: &Arc<CompiledTag>) {
        for above in place.above() {
            let Some(tags) = self.tags.entry(above) else { continue };
            let tags = Arc::make_mut(tags);
            if let Ok(at) = position(tags, tag) {
                match tags.get_mut(at) {
                    Some(counted) if counted.n > 1 => counted.n -= 1,
                    _ => drop(tags.remove(at)),
                }
            }
        }
    }

    fn of(&self, place: &Place) -> impl Iterator<Item = &CompiledTag> {
        self.tags.get(&place.text).into_iter().flat_map(|tags| tags.iter()).map(|counted| &*counted.tag)
    }
}

/// Tags of one kind stand together.
fn position(tags: &[Counted], tag: &Arc<CompiledTag>) -> Result<usize, usize> {
    tags.binary_search_by(|counted| {
        let by_address = || Arc::as_ptr(&counted.tag).addr().cmp(&Arc::as_ptr(tag).addr());
        counted.tag.kind.cmp(&tag.kind).then_with(by_address)
    })
}

/// A resource with one plain name at each level, as one text.
#[derive(Debug)]
struct Place {
    text: SmallVec<[u8; 128]>,
    /// Where each level begins.
    starts: SmallVec<[usize; 5]>,
}

/// No text has this byte, so that two places never make the same text.
const END: u8 = 0xFF;

impl Place {
    fn of(matcher: &ResourceMatcher) -> Option<Self> {
        let mut place = Self::root();
        for (level, values) in matcher.path() {
            let mut keys = values.keys();
            let (Some(LevelKey::Exact(name)), None) = (keys.next(), keys.next()) else { return None };
            place.push(*level, name.as_bytes())?;
        }
        Some(place)
    }

    fn of_request(request: &RequestPath<'_>) -> Option<Self> {
        let mut place = Self::root();
        for level in request.levels() {
            let mut keys = level.keys()?;
            let (Some(name), None) = (keys.next(), keys.next()) else { return None };
            place.push(level.level, name.bytes)?;
        }
        Some(place)
    }

    fn root() -> Self {
        Self { text: SmallVec::new(), starts: SmallVec::new() }
    }

    fn push(&mut self, level: usize, name: &[u8]) -> Option<()> {
        self.starts.push(self.text.len());
        self.text.push(u8::try_from(level).ok()?);
        self.text.extend_from_slice(name);
        self.text.push(END);
        Some(())
    }

    /// Everything that it is in, from the root on.
    fn above(&self) -> impl Iterator<Item = &[u8]> {
        self.starts.iter().filter_map(|end| self.text.get(..*end))
    }
}
