//! The tags of resources, read, and found by resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use stdx::Timestamp;

use super::index::{Index, Reach, Slot};
use crate::matching::{Levels, MatchContext, MatchType, RequestPath, ResourceMatcher};
use crate::model::{Tag, TaggedResource, TaggedResourceId, ValiditySchedule};
use crate::schedule::{Schedule, ScheduleReading};

/// A tag, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct CompiledTag {
    pub(crate) kind: Box<str>,
    pub(crate) attributes: BTreeMap<String, String>,
    schedules: Box<[Schedule]>,
}

impl CompiledTag {
    pub(crate) fn new(tag: &Tag, reading: ScheduleReading) -> (Self, Vec<String>) {
        Self::of(&tag.kind, &tag.attributes, &tag.validity, reading)
    }

    /// With the faults of its schedules. A tag whose schedules all have faults always counts.
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
        let tag = Self { kind: kind.into(), attributes: attributes.clone(), schedules: schedules.into() };
        (tag, faults)
    }

    pub(crate) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.schedules.is_empty() || self.schedules.iter().any(|schedule| schedule.holds(now))
    }

    pub(crate) fn is_temporal(&self) -> bool {
        !self.schedules.is_empty()
    }
}

/// The tagged resources of one service.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaggedResources {
    index: Index,
    resources: imbl::Vector<Option<Arc<Tagged>>>,
    slots: imbl::HashMap<TaggedResourceId, Slot>,
}

#[derive(Clone, Debug)]
struct Tagged {
    matcher: ResourceMatcher,
    tags: Box<[Arc<CompiledTag>]>,
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
        self.resources.push_back(Some(Arc::new(Tagged { matcher, tags })));
        self.slots.insert(resource.id, slot);
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: TaggedResourceId) {
        let Some(slot) = self.slots.remove(&id) else { return };
        let place = usize::try_from(slot).ok().and_then(|at| self.resources.get_mut(at));
        if let Some(tagged) = place.and_then(Option::take) {
            self.index.remove(&tagged.matcher, slot);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The tags of a resource and of what it is in, and with `below` of what is in it.
    pub(crate) fn of<'s>(
        &'s self,
        request: &RequestPath<'_>,
        context: &MatchContext<'_>,
        below: bool,
        mut found: impl FnMut(&'s CompiledTag, MatchType),
    ) {
        let reach = if below { Reach::ANYWHERE } else { Reach::ABOVE };
        for slot in self.index.find(request, reach) {
            let place = usize::try_from(slot).ok().and_then(|at| self.resources.get(at));
            let Some(tagged) = place.and_then(Option::as_deref) else { continue };
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
}
