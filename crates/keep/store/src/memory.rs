//! A store in memory, for tests and for embedding.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use policy::edit::Change;
use policy::model::{Policy, PolicyId, State, Version};
use policy::{BuildOptions, Snapshot};
use stdx::{Secret, Timestamp};

use crate::governed::{self, GovernedEntry, GovernedKind};
use crate::{HistoryEntry, PolicyStore, StoreError};

/// Keeps everything for as long as it lives, and no longer.
#[derive(Debug)]
pub struct MemoryStore {
    current: ArcSwap<Snapshot>,
    /// Held while a commit is made, so that commits are one after the other; readers never wait for it.
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    history: BTreeMap<PolicyId, Vec<HistoryEntry>>,
    governed: BTreeMap<(GovernedKind, String), Vec<GovernedEntry>>,
    secrets: BTreeMap<String, Secret>,
}

impl MemoryStore {
    /// A store that begins with this state.
    pub fn new(state: State) -> Result<Self, StoreError> {
        Self::with_options(state, &BuildOptions::default())
    }

    /// The same, for snapshots made in another way, such as with an engine for scripts.
    pub fn with_options(state: State, build: &BuildOptions) -> Result<Self, StoreError> {
        let snapshot = Snapshot::build_with(state, build).map_err(StoreError::Unfit)?;
        let mut history = BTreeMap::new();
        for policy in snapshot.state().policies.values() {
            history.insert(policy.id, vec![first_entry(policy, snapshot.version())]);
        }
        let mut kept = Kept { history, ..Kept::default() };
        let at = snapshot.state().policies.values().map(|policy| policy.updated_at).max();
        kept.note(&State::default(), snapshot.state(), snapshot.version(), at.unwrap_or_default(), "");
        Ok(Self { current: ArcSwap::from_pointee(snapshot), kept: Mutex::new(kept) })
    }

    /// A panic while the lock was held cannot have left half a change: the last step of each is infallible.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn note(&mut self, before: &State, after: &State, version: Version, at: Timestamp, by: &str) {
        for (kind, key, thing) in governed::touched(before, after) {
            let entry = GovernedEntry { version, at, by: by.to_owned(), thing };
            self.governed.entry((kind, key)).or_default().push(entry);
        }
    }
}

fn first_entry(policy: &Policy, version: Version) -> HistoryEntry {
    HistoryEntry {
        version,
        at: policy.updated_at,
        by: policy.updated_by.clone(),
        policy: Some(policy.clone()),
    }
}

#[async_trait]
impl PolicyStore for MemoryStore {
    fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    async fn commit(
        &self,
        change: &Change,
        expected: Version,
        by: &str,
        now: Timestamp,
    ) -> Result<Version, StoreError> {
        let mut kept = self.kept();
        let before = self.current.load_full();
        let found = before.version();
        if found != expected {
            return Err(StoreError::Stale { expected, found });
        }
        let version = Version(found.0.saturating_add(1));
        let after = before.apply(change, version).map_err(StoreError::Unfit)?;
        if !differs(before.state(), after.state()) {
            return Ok(found);
        }
        for (id, policy) in touched(before.state(), after.state()) {
            let entry = HistoryEntry { version, at: now, by: by.to_owned(), policy: policy.cloned() };
            kept.history.entry(id).or_default().push(entry);
        }
        kept.note(before.state(), after.state(), version, now, by);
        self.current.store(Arc::new(after));
        Ok(version)
    }

    async fn history(&self, id: PolicyId) -> Result<Vec<HistoryEntry>, StoreError> {
        Ok(self.kept().history.get(&id).cloned().unwrap_or_default())
    }

    async fn governed_history(
        &self,
        kind: GovernedKind,
        key: &str,
    ) -> Result<Vec<GovernedEntry>, StoreError> {
        Ok(self.kept().governed.get(&(kind, key.to_owned())).cloned().unwrap_or_default())
    }

    async fn secret(
        &self,
        name: &str,
        make: &(dyn for<'a> Fn(&'a str) -> Secret + Send + Sync),
    ) -> Result<Secret, StoreError> {
        Ok(self.kept().secrets.entry(name.to_owned()).or_insert_with(|| make(name)).clone())
    }
}

/// Whether anything but the version changed.
fn differs(before: &State, after: &State) -> bool {
    let State {
        version: _,
        service_defs,
        services,
        policies,
        zones,
        tag_defs,
        tags,
        tagged_resources,
        roles,
        groups,
        users,
        next_policy_id,
    } = before;
    *service_defs != after.service_defs
        || *services != after.services
        || *policies != after.policies
        || *zones != after.zones
        || *tag_defs != after.tag_defs
        || *tags != after.tags
        || *tagged_resources != after.tagged_resources
        || *roles != after.roles
        || *groups != after.groups
        || *users != after.users
        || *next_policy_id != after.next_policy_id
}

/// The policies that an edit put or deleted (`None`), by number.
fn touched<'a>(before: &'a State, after: &'a State) -> Vec<(PolicyId, Option<&'a Policy>)> {
    after.policies.changes_since(&before.policies).into_iter().map(|(id, policy)| (*id, policy)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::MemoryStore;
    use crate::{PolicyStore, contract};

    #[tokio::test]
    async fn keeps_the_contract() {
        let open = async |state| MemoryStore::new(state).map(|store| Arc::new(store) as Arc<dyn PolicyStore>);
        contract::check(open).await.unwrap();
    }
}
