//! The policies of one service, or of one zone of it, by kind and resource.

use std::sync::Arc;

use smallvec::SmallVec;

use super::CompiledPolicy;
use super::index::{Index, Reach, Slot};
use crate::matching::RequestPath;
use crate::model::PolicyKind;

/// Candidates that are held without memory of their own.
pub(crate) type Candidates<'s> = SmallVec<[&'s CompiledPolicy; 32]>;

/// The policies of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyIndex {
    policies: Slots,
    index: Index,
    /// Those that cannot be read well enough to say what they are about, and so are about everything.
    everywhere: Vec<Slot>,
}

/// Policies by slot, in chunks that copies share.
#[derive(Clone, Debug, Default)]
struct Slots {
    chunks: Vec<Arc<Vec<Option<Arc<CompiledPolicy>>>>>,
    free: Vec<Slot>,
    n_filled: usize,
}

const CHUNK: usize = 256;

impl Slots {
    fn get(&self, slot: Slot) -> Option<&CompiledPolicy> {
        let slot = usize::try_from(slot).ok()?;
        self.chunks.get(slot / CHUNK)?.get(slot % CHUNK)?.as_deref()
    }

    fn all(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).filter_map(Option::as_deref)
    }

    fn add(&mut self, policy: Arc<CompiledPolicy>) -> Slot {
        self.n_filled += 1;
        if let Some(slot) = self.free.pop() {
            if let Some(place) = self.place(slot) {
                *place = Some(policy);
            }
            return slot;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Arc::new(Vec::with_capacity(CHUNK)));
        }
        let n_before = (self.chunks.len() - 1) * CHUNK;
        let Some(last) = self.chunks.last_mut().map(Arc::make_mut) else { return Slot::MAX };
        last.push(Some(policy));
        Slot::try_from(n_before + last.len() - 1).unwrap_or(Slot::MAX)
    }

    fn place(&mut self, slot: Slot) -> Option<&mut Option<Arc<CompiledPolicy>>> {
        let slot = usize::try_from(slot).ok()?;
        Arc::make_mut(self.chunks.get_mut(slot / CHUNK)?).get_mut(slot % CHUNK)
    }

    fn take(&mut self, slot: Slot) -> Option<Arc<CompiledPolicy>> {
        let taken = self.place(slot)?.take()?;
        self.n_filled -= 1;
        self.free.push(slot);
        Some(taken)
    }
}

impl PolicyIndex {
    /// Returns where the policy stands from now on.
    pub(crate) fn insert(&mut self, policy: CompiledPolicy) -> Slot {
        let policy = Arc::new(policy);
        let slot = self.policies.add(Arc::clone(&policy));
        for resource in &policy.resources {
            self.index.insert(resource, slot);
        }
        if policy.is_everywhere {
            self.everywhere.push(slot);
        }
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        let Some(policy) = self.policies.take(slot) else { return };
        for resource in &policy.resources {
            self.index.remove(resource, slot);
        }
        self.everywhere.retain(|other| *other != slot);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.policies.n_filled == 0
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.policies.all()
    }

    /// The policies that can match the request, in no order. Each must still be tried.
    pub(crate) fn candidates(&self, request: &RequestPath<'_>, reach: Reach) -> Candidates<'_> {
        let found = self.index.find(request, reach);
        found.iter().chain(&self.everywhere).filter_map(|slot| self.policies.get(*slot)).collect()
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
