//! A map whose copies share what they have in common, so that an edit of one thing costs what that thing costs.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use imbl::OrdMap;

/// An ordered map from keys to things. Copying it takes no time, however large it is.
pub struct Table<K, V>(OrdMap<K, Arc<V>>);

impl<K: Ord + Clone, V> Table<K, V> {
    pub fn new() -> Self {
        Self(OrdMap::new())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).map(Arc::as_ref)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Puts a thing in the place of what had the key before.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, Arc::new(value));
    }

    /// Returns whether there was such a thing.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key).is_some()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> + Clone {
        self.0.iter().map(|(key, value)| (key, value.as_ref()))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.0.iter().map(|(_, value)| value.as_ref())
    }

    /// What is in this table and not, or not so, in another, and the keys that only the other has.
    pub fn changes_since<'a>(&'a self, before: &'a Self) -> Vec<(&'a K, Option<&'a V>)>
    where
        V: PartialEq,
    {
        let deleted = before.keys().filter(|key| !self.contains_key(*key)).map(|key| (key, None));
        let put =
            self.0.iter().filter(|(key, value)| before.0.get(*key).is_none_or(|old| !is_same(old, value)));
        deleted.chain(put.map(|(key, value)| (key, Some(value.as_ref())))).collect()
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    /// A thing to be changed; other copies of the table keep the old one.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key).map(Arc::make_mut)
    }
}

/// Copies share things, so that most are the same without being looked at.
fn is_same<V: PartialEq>(a: &Arc<V>, b: &Arc<V>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Ord + Clone, V> Default for Table<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Clone, V: PartialEq> PartialEq for Table<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
            || (self.len() == other.len()
                && self.0.iter().zip(other.0.iter()).all(|(a, b)| a.0 == b.0 && is_same(a.1, b.1)))
    }
}

impl<K: Ord + Clone, V: Eq> Eq for Table<K, V> {}

impl<K: Ord + Clone + fmt::Debug, V: fmt::Debug> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(all: I) -> Self {
        Self(all.into_iter().map(|(key, value)| (key, Arc::new(value))).collect())
    }
}

impl<K: Ord + Clone, V> Extend<(K, V)> for Table<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, all: I) {
        all.into_iter().for_each(|(key, value)| self.insert(key, value));
    }
}

impl<K: Ord + Clone, V, const N: usize> From<[(K, V); N]> for Table<K, V> {
    fn from(all: [(K, V); N]) -> Self {
        all.into_iter().collect()
    }
}

impl<'t, K: Ord + Clone, V> IntoIterator for &'t Table<K, V> {
    type Item = (&'t K, &'t V);
    type IntoIter = Box<dyn Iterator<Item = Self::Item> + 't>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl<K: Ord + Clone + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for Table<K, V> {
    type Output = V;

    #[expect(
        clippy::expect_used,
        reason = "what stands in brackets is known to be there, as with a BTreeMap"
    )]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_copy_keeps_what_it_had() {
        let mut table: Table<i64, String> = (0..1000).map(|n| (n, n.to_string())).collect();
        let copy = table.clone();
        assert!(table == copy);
        table.insert(7, "seven".to_owned());
        if let Some(text) = table.get_mut(&8) {
            text.push('!');
        }
        table.remove(&9);
        assert_eq!(copy[&7], "7");
        assert_eq!(copy[&8], "8");
        assert!(table != copy);
        let changes: Vec<(i64, Option<&str>)> = table
            .changes_since(&copy)
            .into_iter()
            .map(|(key, new)| (*key, new.map(String::as_str)))
            .collect();
        assert_eq!(changes, [(9, None), (7, Some("seven")), (8, Some("8!"))]);
    }

    #[test]
    fn keys_are_in_order() {
        let table = Table::from([(3, 'c'), (1, 'a'), (2, 'b')]);
        assert_eq!(table.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(table.keys().next_back(), Some(&3));
    }
}
