//! The access types of a service as numbers, with what each grants besides.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use crate::model::{Access, Item, Policy, ServiceDef};
use crate::normalise;
use crate::quick_hash::ByteHasher;

/// An access type's number.
pub(crate) type AccessNumber = u16;

/// Access types by number. Names compare without regard to case; the tag policies that a service listens to use the
/// numbers of the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessTypes {
    /// By the name as it was first spelled, and in lower case.
    numbers: HashMap<Box<str>, AccessNumber, BuildHasherDefault<ByteHasher>>,
    spelled: Vec<Box<str>>,
    defined: Vec<AccessNumber>,
}

impl AccessTypes {
    /// The types of a definition.
    pub(crate) fn new(def: &ServiceDef) -> Self {
        let mut types = Self::default();
        let defined = def.access_types.iter().map(|access| types.intern(&access.name));
        let mut defined: Vec<AccessNumber> = defined.collect();
        let mut seen = Vec::new();
        defined.retain(|number| {
            let is_new = !seen.contains(number);
            seen.push(*number);
            is_new
        });
        types.defined = defined;
        types
    }

    pub(crate) fn intern(&mut self, name: &str) -> AccessNumber {
        if let Some(number) = self.number(name) {
            return number;
        }
        let number = AccessNumber::try_from(self.spelled.len()).unwrap_or(AccessNumber::MAX);
        self.numbers.insert(name.to_lowercase().into(), number);
        self.numbers.insert(name.into(), number);
        self.spelled.push(name.into());
        number
    }

    pub(crate) fn number(&self, name: &str) -> Option<AccessNumber> {
        match self.numbers.get(name) {
            Some(number) => Some(*number),
            None => self.numbers.get(name.to_lowercase().as_str()).copied(),
        }
    }

    /// Whether the name is written as where it was first met, which is the definition for those that it has.
    pub(crate) fn is_spelled(&self, number: AccessNumber, name: &str) -> bool {
        self.name(number) == name
    }

    pub(crate) fn name(&self, number: AccessNumber) -> &str {
        self.spelled.get(usize::from(number)).map_or("", |name| name)
    }

    /// Those of the definition, in its order and without markers.
    pub(crate) fn defined(&self) -> &[AccessNumber] {
        &self.defined
    }
}

/// What the access types of one definition grant besides, one level deep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implied {
    by_type: BTreeMap<AccessNumber, Vec<AccessNumber>>,
    n_defined: usize,
}

impl Implied {
    /// Of a tag definition, what one component reads of it.
    pub(crate) fn new(def: &ServiceDef, types: &mut AccessTypes) -> Self {
        let mut implied = Self { n_defined: def.access_types.len(), ..Self::default() };
        let markers = normalise::markers(&def.access_types);
        for access in def.access_types.iter().chain(&def.marker_access_types).chain(&markers) {
            let number = types.intern(&access.name);
            let grants = implied.by_type.entry(number).or_default();
            grants.extend(access.implied_grants.iter().map(|name| types.intern(name)));
            grants.dedup();
        }
        implied
    }

    /// How many the definition itself names.
    pub(crate) fn n_defined(&self) -> usize {
        self.n_defined
    }

    pub(crate) fn of(&self, number: AccessNumber) -> &[AccessNumber] {
        self.by_type.get(&number).map_or(&[], Vec::as_slice)
    }

    /// What these accesses grant, one level of implied grants included.
    pub(crate) fn granted(&self, accesses: &[Access], types: &AccessTypes) -> AccessSet {
        let mut set = AccessSet::default();
        for number in accesses.iter().filter(|a| a.is_allowed).filter_map(|a| types.number(&a.kind)) {
            set.insert(number);
            for implied in self.of(number) {
                set.insert(*implied);
            }
        }
        set
    }
}

/// Every item of a policy, of all six lists.
pub(crate) fn items_of(policy: &Policy) -> impl Iterator<Item = &Item> {
    let plain = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
    plain
        .into_iter()
        .flatten()
        .chain(policy.mask_items.iter().map(|m| &m.item))
        .chain(policy.filter_items.iter().map(|f| &f.item))
}

/// A set of access types.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessSet {
    /// The first 64, which are all that most definitions have.
    first: u64,
    more: Option<Box<MoreBits>>,
}

/// Behind one thin pointer, because hardly any set has it.
#[derive(Clone, Debug, Default)]
struct MoreBits(Vec<u64>);

impl AccessSet {
    pub(crate) fn insert(&mut self, number: AccessNumber) {
        let bit = 1 << (number % 64);
        match usize::from(number / 64).checked_sub(1) {
            None => self.first |= bit,
            Some(word) => {
                self.make_room(word + 1);
                self.more.iter_mut().flat_map(|more| more.0.get_mut(word)).for_each(|bits| *bits |= bit);
            }
        }
    }

    fn make_room(&mut self, n_more: usize) {
        if self.more().len() < n_more {
            self.more.get_or_insert_default().0.resize(n_more, 0);
        }
    }

    fn more(&self) -> &[u64] {
        self.more.as_ref().map_or(&[], |more| &more.0)
    }

    pub(crate) fn has(&self, number: AccessNumber) -> bool {
        let bits = match usize::from(number / 64).checked_sub(1) {
            None => self.first,
            Some(word) => self.more().get(word).copied().unwrap_or(0),
        };
        bits & (1 << (number % 64)) != 0
    }

    pub(crate) fn len(&self) -> u32 {
        self.first.count_ones() + self.more().iter().map(|bits| bits.count_ones()).sum::<u32>()
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        self.first |= other.first;
        self.make_room(other.more().len());
        let mine = self.more.iter_mut().flat_map(|more| &mut more.0);
        for (mine, theirs) in mine.zip(other.more()) {
            *mine |= theirs;
        }
    }
}
