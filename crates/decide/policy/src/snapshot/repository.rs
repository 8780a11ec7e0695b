//! The policies of one service, or of one zone of it, by kind and resource.

use std::cmp::Ordering;
use std::sync::Arc;

use smallvec::SmallVec;

use super::CompiledPolicy;
use super::index::{self, Index, Reach, Slot};
use super::names::Marks;
use crate::matching::{MatchType, Outline, RequestPath};
use crate::model::PolicyKind;

/// Candidates that are held without memory of their own.
pub(crate) type Candidates<'s> = SmallVec<[&'s CompiledPolicy; 32]>;

/// The policies of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyIndex {
    policies: Slots,
    /// The outlines that occur, each once.
    outlines: Vec<Outline>,
    index: Index,
    /// Those that cannot be read well enough to say what they are about, and so are about everything.
    everywhere: Vec<Slot>,
}

/// A policy that can match, with what is known of it without looking at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'s> {
    pub(crate) policy: &'s CompiledPolicy,
    /// How its resource lies to the request; `None`: that must still be tried.
    pub(crate) lies: Option<MatchType>,
    rank: u32,
}

impl Found<'_> {
    /// Ranger's order of evaluation.
    pub(crate) fn evaluated_before(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.policy.evaluated_before(other.policy))
    }
}

/// What is found, without memory of its own.
pub(crate) type FoundAll<'s> = SmallVec<[Found<'s>; 8]>;

/// A policy in its slot. Two of them fill a line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Slotted {
    policy: Arc<CompiledPolicy>,
    marks: Marks,
    rank: u32,
    /// Its place among the outlines.
    outline: Option<u8>,
}

const _: () = assert!(size_of::<Option<Slotted>>() == 32, "two slots fill one line of the processor's cache");

fn outline_of(policy: &CompiledPolicy) -> Option<Outline> {
    match &*policy.resources {
        [only] if !policy.is_everywhere && Index::is_sorted_in(only) => only.outline(),
        _ => None,
    }
}

/// Policies by slot, in chunks that copies share.
#[derive(Clone, Debug, Default)]
struct Slots {
    chunks: Vec<Arc<[Option<Slotted>]>>,
    /// How many slots have ever been taken.
    n_slots: usize,
    free: Vec<Slot>,
    n_filled: usize,
}

const CHUNK: usize = 256;

impl Slots {
    fn get(&self, slot: Slot) -> Option<&Slotted> {
        let slot = usize::try_from(slot).ok()?;
        self.chunks.get(slot / CHUNK)?.get(slot % CHUNK)?.as_ref()
    }

    fn all(&self) -> impl Iterator<Item = &CompiledPolicy> {
        let slotted = self.chunks.iter().flat_map(|chunk| chunk.iter()).flatten();
        slotted.map(|slotted| &*slotted.policy)
    }

    fn add(&mut self, policy: Slotted) -> Slot {
        self.n_filled += 1;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                if self.n_slots == self.chunks.len() * CHUNK {
                    self.chunks.push(std::iter::repeat_n(None, CHUNK).collect());
                }
                self.n_slots += 1;
                Slot::try_from(self.n_slots - 1).unwrap_or(Slot::MAX)
            }
        };
        if let Some(place) = self.place(slot) {
            *place = Some(policy);
        }
        slot
    }

    fn place(&mut self, slot: Slot) -> Option<&mut Option<Slotted>> {
        let slot = usize::try_from(slot).ok()?;
        Arc::make_mut(self.chunks.get_mut(slot / CHUNK)?).get_mut(slot % CHUNK)
    }

    fn take(&mut self, slot: Slot) -> Option<Slotted> {
        let taken = self.place(slot)?.take()?;
        self.n_filled -= 1;
        self.free.push(slot);
        Some(taken)
    }
}

impl PolicyIndex {
    /// Returns where the policy stands from now on.
    pub(crate) fn insert(&mut self, policy: CompiledPolicy) -> Slot {
        let outline = outline_of(&policy).and_then(|outline| self.outline_number(outline));
        let (rank, marks, policy) = (policy.order.rank(), policy.marks(), Arc::new(policy));
        let slotted = Slotted { rank, marks, outline, policy: Arc::clone(&policy) };
        let slot = self.policies.add(slotted);
        for resource in &policy.resources {
            self.index.insert(resource, slot);
        }
        if policy.is_everywhere {
            self.everywhere.push(slot);
        }
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        let Some(Slotted { policy, .. }) = self.policies.take(slot) else { return };
        for resource in &policy.resources {
            self.index.remove(resource, slot);
        }
        self.everywhere.retain(|other| *other != slot);
    }

    /// A definition has few outlines; what has one too many is compared.
    fn outline_number(&mut self, outline: Outline) -> Option<u8> {
        let known = self.outlines.iter().position(|known| *known == outline);
        let at = u8::try_from(known.unwrap_or(self.outlines.len())).ok()?;
        if known.is_none() {
            self.outlines.push(outline);
        }
        Some(at)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.policies.n_filled == 0
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.policies.all()
    }

    /// The policies that can match the request, in no order. Each must still be tried.
    pub(crate) fn candidates(&self, request: &RequestPath<'_>, reach: Reach) -> Candidates<'_> {
        let mut found = index::Slots::new();
        self.index.find(request, reach, &mut found);
        self.slotted(&found).map(|slotted| &*slotted.policy).collect()
    }

    fn slotted<'s>(&'s self, found: &[Slot]) -> impl Iterator<Item = &'s Slotted> {
        let slots = found.iter().copied().chain(self.everywhere.iter().copied());
        slots.filter_map(|slot| self.policies.get(slot))
    }

    /// Adds the same, with what is known of each; those whose marks do not count are left out.
    pub(crate) fn find<'s>(
        &'s self,
        request: &RequestPath<'_>,
        reach: Reach,
        counts: impl Fn(Marks) -> bool,
        all: &mut FoundAll<'s>,
    ) {
        let mut found = index::Slots::new();
        self.index.find(request, reach, &mut found);
        // All of them are fetched before any is looked at, so that memory is waited for once.
        let counted: SmallVec<[(&Slotted, bool); 32]> =
            self.slotted(&found).map(|slotted| (slotted, counts(slotted.marks))).collect();
        let has_keys = request.has_keys();
        for (slotted, _) in counted.iter().filter(|(_, counts)| *counts) {
            let Slotted { policy, rank, outline, .. } = slotted;
            let outline = outline.filter(|_| has_keys).and_then(|at| self.outlines.get(usize::from(at)));
            let lies = outline.map(|outline| outline.match_type(request));
            all.push(Found { policy, lies, rank: *rank });
        }
    }
}

/// The policies of one service, or of one zone of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repository {
    pub(crate) access: PolicyIndex,
    pub(crate) masks: PolicyIndex,
    pub(crate) filters: PolicyIndex,
}

impl Repository {
    /// `None`: policies of this kind decide nothing.
    pub(crate) fn of_kind(&self, kind: PolicyKind) -> Option<&PolicyIndex> {
        match kind {
            PolicyKind::Access => Some(&self.access),
            PolicyKind::Mask => Some(&self.masks),
            PolicyKind::RowFilter => Some(&self.filters),
            PolicyKind::Audit => None,
        }
    }

    pub(crate) fn of_kind_mut(&mut self, kind: PolicyKind) -> Option<&mut PolicyIndex> {
        match kind {
            PolicyKind::Access => Some(&mut self.access),
            PolicyKind::Mask => Some(&mut self.masks),
            PolicyKind::RowFilter => Some(&mut self.filters),
            PolicyKind::Audit => None,
        }
    }

    pub(crate) fn has_policies(&self) -> bool {
        let enabled = |index: &PolicyIndex| index.all().any(|policy| policy.is_enabled);
        enabled(&self.access) || enabled(&self.masks) || enabled(&self.filters)
    }
}
