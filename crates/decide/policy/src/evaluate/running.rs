//! What has been decided so far: per access type, and for the whole request.

use smallvec::SmallVec;

use super::ItemList;
use super::asked::{Asked, Asking};
use crate::model::PolicyKind;
use crate::snapshot::{CompiledItem, CompiledPolicy};

/// What one policy said of one access type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'s> {
    pub(crate) policy: &'s CompiledPolicy,
    pub(crate) is_allowed: bool,
    pub(crate) item: EntryItem,
    /// The tag through which the policy was found, by its place among the request's tags.
    pub(crate) tag: Option<u16>,
}

/// The item that said it, by its place in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryItem {
    Allow(u16),
    Deny(u16),
    /// None: the policy admits nobody else.
    DenyElse,
    Mask(u16),
    Filter(u16),
    /// Its conditions cannot be evaluated.
    UnknownMask(u16),
    UnknownFilter(u16),
}

impl<'s> Entry<'s> {
    pub(crate) fn item(&self) -> Option<&'s CompiledItem> {
        let policy = self.policy;
        match self.item {
            EntryItem::Allow(at) => policy.allows().get(usize::from(at)),
            EntryItem::Deny(at) => policy.denies().get(usize::from(at)),
            EntryItem::DenyElse => None,
            EntryItem::Mask(at) | EntryItem::UnknownMask(at) => {
                policy.masks.get(usize::from(at)).map(|(item, _)| item)
            }
            EntryItem::Filter(at) | EntryItem::UnknownFilter(at) => {
                policy.filters.get(usize::from(at)).map(|(item, _)| item)
            }
        }
    }
}

impl Entry<'_> {
    /// The list that the item is in.
    pub(crate) fn list(&self) -> Option<ItemList> {
        match self.item {
            EntryItem::Allow(_) => Some(ItemList::Allow),
            EntryItem::Deny(_) => Some(ItemList::Deny),
            EntryItem::DenyElse => None,
            EntryItem::Mask(_) | EntryItem::UnknownMask(_) => Some(ItemList::Mask),
            EntryItem::Filter(_) | EntryItem::UnknownFilter(_) => Some(ItemList::Filter),
        }
    }
}

/// On what a result rests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By<'s> {
    Nothing,
    SuperUser,
    /// `_super_user` is asked by somebody who is none.
    NoSuperUser,
    Policy(Entry<'s>),
    /// Nothing was denied of what only counts if it is denied.
    NotDenied,
    Inline,
}

/// A result that later policies may still change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running<'s> {
    pub(crate) is_allowed: bool,
    pub(crate) is_determined: bool,
    pub(crate) is_audited: bool,
    pub(crate) is_audit_determined: bool,
    pub(crate) by: By<'s>,
    pub(crate) audit_policy: Option<&'s CompiledPolicy>,
}

impl<'s> Running<'s> {
    pub(crate) const NEW: Self = Self {
        is_allowed: false,
        is_determined: false,
        is_audited: false,
        is_audit_determined: false,
        by: By::Nothing,
        audit_policy: None,
    };

    pub(crate) fn priority(&self) -> i32 {
        match self.by {
            By::SuperUser | By::NoSuperUser => i32::MAX,
            By::Policy(entry) => entry.policy.priority(),
            By::Nothing | By::NotDenied | By::Inline => 0,
        }
    }

    pub(crate) fn audit(&mut self, is_audited: bool) {
        self.is_audited = is_audited;
        self.is_audit_determined = true;
    }

    pub(crate) fn is_final(&self) -> bool {
        self.is_determined && self.is_audit_determined
    }

    pub(crate) fn take_access(&mut self, other: &Self) {
        self.is_allowed = other.is_allowed;
        self.is_determined = other.is_determined;
        self.by = other.by;
    }

    pub(crate) fn take_audit(&mut self, other: &Self) {
        self.is_audited = other.is_audited;
        self.is_audit_determined = other.is_audit_determined;
        self.audit_policy = other.audit_policy;
    }

    fn decide(&mut self, is_allowed: bool, by: By<'s>) {
        self.is_allowed = is_allowed;
        // A denial is final unless something of a higher priority is still looked at.
        self.is_determined |= !is_allowed;
        self.by = by;
    }
}

/// Results that are held without memory of their own.
const RESULTS_INLINE: usize = 16;

/// The newest word on each of the access types asked, across policies.
#[derive(Clone, Debug)]
pub(crate) struct Results<'s> {
    by_type: SmallVec<[Option<Entry<'s>>; RESULTS_INLINE]>,
}

impl<'s> Results<'s> {
    pub(crate) fn new(asked: &Asked<'_, '_>) -> Self {
        let n_types = match &asked.asking {
            Asking::One(_) => 1,
            Asking::Any(types) => types.len(),
            Asking::Several(several) => several.targets.len(),
        };
        let mut by_type = SmallVec::new();
        by_type.resize(n_types, None);
        Self { by_type }
    }

    /// Forgets every word.
    pub(crate) fn clear(&mut self) {
        self.by_type.fill(None);
    }

    /// Takes a word in where it replaces an older one; whether what it says is what stands then.
    pub(crate) fn put(&mut self, at: usize, new: Entry<'s>, kind: PolicyKind, is_any: bool) -> bool {
        let Some(slot) = self.by_type.get_mut(at) else { return false };
        let replaces = match slot {
            None => true,
            Some(old) => {
                let (was, is) = (old.policy.priority(), new.policy.priority());
                match (old.is_allowed, new.is_allowed) {
                    (true, false) => is >= was,
                    (true, true) => is > was || (is == was && kind != PolicyKind::Access),
                    (false, true) => is > was || (is == was && is_any),
                    (false, false) => is > was,
                }
            }
        };
        let stands = slot.as_ref().is_some_and(|old| old.is_allowed == new.is_allowed);
        if replaces {
            *slot = Some(new);
        }
        replaces || stands
    }

    /// What the words on all access types come to; what is still open changes nothing.
    pub(crate) fn settle(&self, asked: &Asked<'_, '_>, running: &mut Running<'s>) {
        match &asked.asking {
            Asking::One(_) => {
                if let Some(Some(entry)) = self.by_type.first() {
                    running.decide(entry.is_allowed, By::Policy(*entry));
                }
            }
            Asking::Any(_) if asked.r.context.ignores_denials_below => {
                self.group(self.by_type.iter(), running);
            }
            // Every access type is needed by itself.
            Asking::Any(types) => {
                self.groups((0..types.len()).map(|at| at..at + 1), &[], running);
            }
            Asking::Several(several) if several.groups.is_empty() => {
                self.groups(std::iter::once(0..several.targets.len()), &several.ignorable, running);
            }
            Asking::Several(several) => {
                let groups = several.groups.iter().map(|group| group.iter().copied());
                self.groups(groups, &several.ignorable, running);
            }
        }
    }

    fn group<'r>(
        &'r self,
        of: impl Iterator<Item = &'r Option<Entry<'s>>> + Clone,
        running: &mut Running<'s>,
    ) {
        match standing(of) {
            Standing::Allowed(entry) => running.decide(true, By::Policy(entry)),
            Standing::Denied(entry) => running.decide(false, By::Policy(entry)),
            Standing::Open => {}
        }
    }

    /// Groups of places in the list of what is asked.
    fn groups<G: Iterator<Item = usize> + Clone>(
        &self,
        groups: impl Iterator<Item = G>,
        ignorable: &[bool],
        running: &mut Running<'s>,
    ) {
        let mut allowed = None;
        // No group at all says nothing.
        let mut is_open = true;
        for (nth, mut group) in groups.enumerate() {
            if nth == 0 {
                is_open = false;
            }
            let entries = group.clone().filter_map(|at| self.by_type.get(at));
            match standing(entries) {
                Standing::Denied(entry) => return running.decide(false, By::Policy(entry)),
                Standing::Allowed(entry) => allowed = allowed.or(Some(entry)),
                Standing::Open => {
                    is_open |= !group.all(|at| ignorable.get(at).copied().unwrap_or(false));
                }
            }
        }
        match allowed {
            _ if is_open => {}
            Some(entry) => running.decide(true, By::Policy(entry)),
            None => running.decide(true, By::NotDenied),
        }
    }
}

enum Standing<'s> {
    Allowed(Entry<'s>),
    Denied(Entry<'s>),
    Open,
}

/// Allowed as soon as one is; denied only when every one of them has been spoken of.
fn standing<'r, 's: 'r>(entries: impl Iterator<Item = &'r Option<Entry<'s>>> + Clone) -> Standing<'s> {
    if let Some(entry) = entries.clone().flatten().find(|entry| entry.is_allowed) {
        return Standing::Allowed(*entry);
    }
    let mut first = None;
    for entry in entries {
        match entry {
            None => return Standing::Open,
            Some(entry) => first = first.or(Some(*entry)),
        }
    }
    first.map_or(Standing::Open, Standing::Denied)
}
