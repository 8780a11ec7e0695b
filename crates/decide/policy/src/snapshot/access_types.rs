//! The access types of a service as numbers, with what each grants besides.

use std::collections::HashMap;

use crate::model::{Access, Item, Policy, ServiceDef};

/// The marker access types, which stand for a category.
const MARKERS: [(&str, &str); 5] = [
    ("_create", "CREATE"),
    ("_read", "READ"),
    ("_update", "UPDATE"),
    ("_delete", "DELETE"),
    ("_manage", "MANAGE"),
];

/// Access types by number. Names compare without regard to case.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessTypes {
    numbers: HashMap<String, usize>,
    /// By number: what it grants besides, one level deep.
    implied: Vec<Vec<usize>>,
    n_defined: usize,
}

impl AccessTypes {
    /// The types of a definition, the markers, and every type that a policy names without being asked.
    pub(crate) fn new<'p>(def: &ServiceDef, policies: impl Iterator<Item = &'p Policy>) -> Self {
        let mut types = Self { n_defined: def.access_types.len(), ..Self::default() };
        let defined: Vec<usize> = def.access_types.iter().map(|access| types.intern(&access.name)).collect();
        for (access, number) in def.access_types.iter().zip(&defined) {
            let implied = access.implied_grants.iter().map(|name| types.intern(name)).collect();
            types.set_implied(*number, implied);
        }
        for (marker, category) in MARKERS {
            let of_category = def.access_types.iter().zip(&defined).filter(|(access, _)| {
                access.category.as_deref().is_some_and(|c| c.eq_ignore_ascii_case(category))
            });
            let implied = of_category.map(|(_, number)| *number).collect();
            let number = types.intern(marker);
            types.set_implied(number, implied);
        }
        let all = types.intern("_all");
        types.set_implied(all, defined);
        for access in policies.flat_map(items_of).flat_map(|item| &item.accesses) {
            types.intern(&access.kind);
        }
        types
    }

    fn intern(&mut self, name: &str) -> usize {
        let next = self.implied.len();
        let number = *self.numbers.entry(name.to_lowercase()).or_insert(next);
        if number == next {
            self.implied.push(Vec::new());
        }
        number
    }

    fn set_implied(&mut self, number: usize, implied: Vec<usize>) {
        if let Some(slot) = self.implied.get_mut(number) {
            *slot = implied;
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        match self.numbers.get(name) {
            Some(number) => Some(*number),
            None => self.numbers.get(&name.to_lowercase()).copied(),
        }
    }

    /// How many the definition itself names; they have the first numbers.
    pub(crate) fn n_defined(&self) -> usize {
        self.n_defined
    }

    /// What these accesses grant, one level of implied grants included.
    pub(crate) fn granted(&self, accesses: &[Access]) -> AccessSet {
        let mut set = AccessSet::default();
        for number in accesses.iter().filter(|a| a.is_allowed).filter_map(|a| self.number(&a.kind)) {
            set.insert(number);
            for implied in self.implied.get(number).into_iter().flatten() {
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessSet(Vec<u64>);

impl AccessSet {
    fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(word) {
            *bits |= 1 << (number % 64);
        }
    }

    pub(crate) fn has(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|bits| bits & (1 << (number % 64)) != 0)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|bits| bits.count_ones()).sum()
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
}
