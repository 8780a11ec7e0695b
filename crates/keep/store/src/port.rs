//! What a policy store does, whatever it stands on.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use policy::Snapshot;
use policy::edit::Change;
use policy::model::{Policy, PolicyId, Version};
use stdx::{Secret, Timestamp};

use crate::{GovernedEntry, GovernedKind, StoreError};

/// One version of one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The store version of the edit.
    pub version: Version,
    pub at: Timestamp,
    pub by: String,
    /// `None`: the edit deleted it.
    pub policy: Option<Policy>,
}

/// Keeps the authority's state. An edit is durable before `commit` answers.
#[async_trait]
pub trait PolicyStore: Send + Sync + fmt::Debug {
    /// The newest snapshot. No await: a query pins one and keeps it.
    fn current(&self) -> Arc<Snapshot>;

    /// Makes a change durable and current, if the state is still at `expected`.
    ///
    /// Everything in the change takes effect, or nothing. `by` is kept in the history.
    async fn commit(
        &self,
        change: &Change,
        expected: Version,
        by: &str,
        now: Timestamp,
    ) -> Result<Version, StoreError>;

    /// Every version of a policy, oldest first.
    async fn history(&self, id: PolicyId) -> Result<Vec<HistoryEntry>, StoreError>;

    /// Every version of a service, definition, zone or tag, oldest first; `key` is its name, or its number as a text.
    async fn governed_history(&self, kind: GovernedKind, key: &str)
    -> Result<Vec<GovernedEntry>, StoreError>;

    /// A secret of the installation, such as the mask key; made by `make` on first use and kept for good.
    async fn secret(
        &self,
        name: &str,
        make: &(dyn for<'a> Fn(&'a str) -> Secret + Send + Sync),
    ) -> Result<Secret, StoreError>;
}
