//! The store itself: opening, committing, and the snapshot that readers pin.

use std::fs::{DirBuilder, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use policy::edit::Change;
use policy::model::{PolicyId, State, Version};
use policy::{BuildOptions, Fault, Snapshot};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, SqliteConnection, Transaction};
use stdx::{Secret, Timestamp};
use store::{GovernedEntry, GovernedKind, HistoryEntry, PolicyStore, StoreError};

use crate::write::{Difference, Edited};
use crate::{load, schema, write};

/// How long to wait for another program that writes to the same file, such as one that makes a backup.
const BUSY_TIMEOUT_MS: u64 = 5_000;

/// Takes the write lock at once, so that what was read still holds when it is written.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// A policy store in one SQLite file. One process at a time is meant to serve from it.
#[derive(Debug)]
pub struct SqlPolicyStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// One connection, so that commits queue without waiting for each other's locks.
    pool: SqlitePool,
    current: ArcSwap<Snapshot>,
    /// How a snapshot is made of what the file holds.
    options: BuildOptions,
}

impl SqlPolicyStore {
    /// Opens the file, makes it with the state that `initial` gives if there is none, and reads everything back.
    ///
    /// A new file can be read by its owner alone: it holds verifiers and keys. One that was written by a newer
    /// program, or whose content does not read back, is refused.
    pub async fn open(path: &Path, initial: impl FnOnce() -> State) -> Result<Self, StoreError> {
        Self::open_with(path, BuildOptions::default(), initial).await
    }

    /// [`SqlPolicyStore::open`], for snapshots made in another way, such as with an engine for scripts.
    pub async fn open_with(
        path: &Path,
        build: BuildOptions,
        initial: impl FnOnce() -> State,
    ) -> Result<Self, StoreError> {
        make_private(path).map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(unavailable)?;
        let mut transaction = pool.begin_with(BEGIN).await.map_err(unavailable)?;
        schema::migrate(&mut transaction).await?;
        if load::version(&mut transaction).await?.is_none() {
            begin_with_state(&mut transaction, initial(), &build).await?;
        }
        let snapshot = read_snapshot(&mut transaction, &build).await?;
        transaction.commit().await.map_err(unavailable)?;
        let n_policies = snapshot.state().policies.len();
        tracing::info!(snapshot_version = snapshot.version().0, n_policies, "policy store opened");
        let inner = Inner { pool, current: ArcSwap::from_pointee(snapshot), options: build };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Waits for what runs, and closes the file. Dropping does the same without waiting.
    pub async fn close(&self) {
        self.inner.pool.close().await;
    }
}

fn make_private(path: &Path) -> std::io::Result<()> {
    let mut folder = DirBuilder::new();
    let mut options = OpenOptions::new();
    folder.recursive(true);
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        options.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.create(parent)?;
    }
    options.open(path).map(|_| ())
}

async fn begin_with_state(
    connection: &mut SqliteConnection,
    state: State,
    build: &BuildOptions,
) -> Result<(), StoreError> {
    let snapshot = Snapshot::build_with(state, build).map_err(StoreError::Unfit)?;
    let state = snapshot.state();
    let nothing = State::default();
    let at = state.policies.values().map(|policy| policy.updated_at).max().unwrap_or_default();
    let edited = Edited { by: "", at };
    write::difference(connection, &Difference::between(&nothing, state), state, &edited, true).await?;
    verify_written(connection, state).await
}

/// What was written is read again before it counts. On a large store that takes long, so releases trust the check
/// that each row has had by itself, and the one at the next opening.
async fn verify_written(connection: &mut SqliteConnection, expected: &State) -> Result<(), StoreError> {
    if cfg!(debug_assertions) && load::state(connection).await? != *expected {
        return Err(StoreError::Corrupt("what was written reads back as something else".to_owned()));
    }
    Ok(())
}

async fn read_snapshot(
    connection: &mut SqliteConnection,
    build: &BuildOptions,
) -> Result<Snapshot, StoreError> {
    Snapshot::build_with(load::state(connection).await?, build)
        .map_err(|faults| StoreError::Corrupt(joined(&faults)))
}

fn joined(faults: &[Fault]) -> String {
    let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

pub(crate) fn unavailable(error: sqlx::Error) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

impl Inner {
    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        self.pool.begin_with(BEGIN).await.map_err(unavailable)
    }

    async fn commit(
        &self,
        change: &Change,
        expected: Version,
        by: &str,
        now: Timestamp,
    ) -> Result<Version, StoreError> {
        let mut transaction = self.begin().await?;
        let found = load::version(&mut transaction)
            .await?
            .ok_or_else(|| StoreError::Corrupt("it has no version".to_owned()))?;
        let mut before = self.current.load_full();
        if before.version() != found {
            // Somebody else wrote to the file.
            before = Arc::new(read_snapshot(&mut transaction, &self.options).await?);
            self.show(Arc::clone(&before));
        }
        if found != expected {
            return Err(StoreError::Stale { expected, found });
        }
        let version = Version(found.0.saturating_add(1));
        let after = before.apply(change, version).map_err(StoreError::Unfit)?;
        let difference = Difference::between(before.state(), after.state());
        if difference.is_empty() {
            return Ok(found);
        }
        let edited = Edited { by, at: now };
        write::difference(&mut transaction, &difference, after.state(), &edited, false).await?;
        verify_written(&mut transaction, after.state()).await?;
        if let Err(error) = transaction.commit().await {
            self.refresh().await;
            return Err(unavailable(error));
        }
        self.show(Arc::new(after));
        Ok(version)
    }

    /// Makes a snapshot current, unless a newer one is.
    fn show(&self, snapshot: Arc<Snapshot>) {
        self.current.rcu(|current| {
            if current.version() < snapshot.version() { Arc::clone(&snapshot) } else { Arc::clone(current) }
        });
    }

    /// Reads the file again where it is not known whether a transaction went through.
    async fn refresh(&self) {
        let read = async {
            let mut transaction = self.begin().await?;
            read_snapshot(&mut transaction, &self.options).await
        };
        match read.await {
            Ok(snapshot) => self.show(Arc::new(snapshot)),
            Err(error) => tracing::error!(?error, "the policy store cannot be read again"),
        }
    }
}

#[async_trait]
impl PolicyStore for SqlPolicyStore {
    fn current(&self) -> Arc<Snapshot> {
        self.inner.current.load_full()
    }

    /// Runs to its end even if the caller goes away: a policy that is in the file but not obeyed would be a leak.
    async fn commit(
        &self,
        change: &Change,
        expected: Version,
        by: &str,
        now: Timestamp,
    ) -> Result<Version, StoreError> {
        let (inner, change, by) = (Arc::clone(&self.inner), change.clone(), by.to_owned());
        let task = tokio::spawn(async move { inner.commit(&change, expected, &by, now).await });
        task.await.map_err(|error| StoreError::Unavailable(Box::new(error)))?
    }

    async fn history(&self, id: PolicyId) -> Result<Vec<HistoryEntry>, StoreError> {
        let mut connection = self.inner.pool.acquire().await.map_err(unavailable)?;
        load::history(&mut connection, id).await
    }

    async fn governed_history(
        &self,
        kind: GovernedKind,
        key: &str,
    ) -> Result<Vec<GovernedEntry>, StoreError> {
        let mut connection = self.inner.pool.acquire().await.map_err(unavailable)?;
        load::governed_history(&mut connection, kind, key).await
    }

    async fn secret(
        &self,
        name: &str,
        make: &(dyn for<'a> Fn(&'a str) -> Secret + Send + Sync),
    ) -> Result<Secret, StoreError> {
        let mut transaction = self.inner.begin().await?;
        let kept: Option<(String,)> = sqlx::query_as("SELECT value FROM secrets WHERE name = ?")
            .bind(name)
            .fetch_optional(&mut *transaction)
            .await
            .map_err(unavailable)?;
        if let Some((value,)) = kept {
            return Ok(Secret::new(value));
        }
        let made = make(name);
        sqlx::query("INSERT INTO secrets (name, value) VALUES (?, ?)")
            .bind(name)
            .bind(made.reveal())
            .execute(&mut *transaction)
            .await
            .map_err(unavailable)?;
        transaction.commit().await.map_err(unavailable)?;
        Ok(made)
    }
}

#[cfg(test)]
mod tests;
