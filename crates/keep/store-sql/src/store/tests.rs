//! The store's contract, and what a file must survive.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use policy::bootstrap::initial_state;
use policy::edit::Change;
use policy::model::{PolicyId, State, Version};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use stdx::{ErrorKind, Secret, Timestamp};
use store::contract::{policy, put, put_governed, state};
use store::{GovernedKind, PolicyStore, StoreError};
use tempfile::TempDir;

use super::SqlPolicyStore;
use crate::write::{self, Difference, Edited};

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

async fn open(folder: &TempDir) -> SqlPolicyStore {
    SqlPolicyStore::open(&folder.path().join("policies.db"), state).await.unwrap()
}

/// Opens a file that must exist.
async fn reopen(path: &Path) -> Result<SqlPolicyStore, StoreError> {
    SqlPolicyStore::open(path, || panic!("an existing store must not begin anew")).await
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Does something to the file behind the store's back.
async fn tamper(path: &Path, sql: &str) {
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path)).await.unwrap();
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test]
async fn keeps_the_contract() {
    let folder = folder();
    let n_files = AtomicUsize::new(0);
    let open = async |state: State| {
        let name = format!("{}.db", n_files.fetch_add(1, Ordering::SeqCst));
        let store = SqlPolicyStore::open(&folder.path().join(name), || state).await?;
        Ok(Arc::new(store) as Arc<dyn PolicyStore>)
    };
    store::contract::check(open).await.unwrap();
}

#[tokio::test]
async fn a_reopened_store_is_the_same() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    let store = open(&folder).await;
    let change = Change {
        put_policies: vec![policy(1, "first", "renamed"), policy(2, "second", "x")],
        delete_users: vec!["alice".to_owned()],
        ..Change::default()
    };
    store.commit(&change, Version(1), "dana", at(2_000)).await.unwrap();
    let secret = store.secret("mask-key", &|_| Secret::new("made once")).await.unwrap();
    let before = store.current();
    let history = store.history(PolicyId(1)).await.unwrap();
    store.close().await;

    let again = reopen(&path).await.unwrap();
    assert_eq!(again.current().state(), before.state());
    assert_eq!(again.history(PolicyId(1)).await.unwrap(), history);
    assert_eq!(again.secret("mask-key", &|_| Secret::new("made twice")).await.unwrap(), secret);
    assert_eq!(
        again.commit(&put(policy(3, "third", "y")), Version(2), "dana", at(3_000)).await.unwrap(),
        Version(3)
    );
}

#[tokio::test]
async fn the_first_state_of_an_installation_reads_back() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    let first = initial_state(&["lake", "side"], "root", Some(Secret::new("verifier")));
    let store = SqlPolicyStore::open(&path, || first.clone()).await.unwrap();
    assert_eq!(store.current().state(), &first);
    store.close().await;
    assert_eq!(reopen(&path).await.unwrap().current().state(), &first);
}

#[tokio::test]
async fn an_edit_that_answered_survives_a_crash() {
    let folder = folder();
    let store = open(&folder).await;
    store.commit(&put(policy(2, "second", "x")), Version(1), "dana", at(2_000)).await.unwrap();
    // The files as they lie on the disk while the store runs, which is how a crash leaves them.
    let crashed = folder.path().join("crashed.db");
    std::fs::copy(folder.path().join("policies.db"), &crashed).unwrap();
    std::fs::copy(folder.path().join("policies.db-wal"), folder.path().join("crashed.db-wal")).unwrap();
    let again = reopen(&crashed).await.unwrap();
    assert_eq!(again.current().state(), store.current().state());
}

#[tokio::test]
async fn half_an_edit_leaves_nothing() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    let store = open(&folder).await;
    let after = store.current().apply(&put(policy(2, "second", "x")), Version(2)).unwrap();
    {
        let mut transaction = store.inner.begin().await.unwrap();
        let current = store.current();
        let difference = Difference::between(current.state(), after.state());
        let edited = Edited { by: "dana", at: at(2_000) };
        write::difference(&mut transaction, &difference, after.state(), &edited, false).await.unwrap();
        // Dropped before it commits.
    }
    assert!(store.history(PolicyId(2)).await.unwrap().is_empty());
    store.close().await;
    assert_eq!(reopen(&path).await.unwrap().current().state(), &state());
}

#[tokio::test]
async fn an_edit_whose_caller_went_away_is_obeyed_if_it_is_in_the_file() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    let store = open(&folder).await;
    let change = put(policy(2, "second", "x"));
    {
        let commit = store.commit(&change, Version(1), "dana", at(2_000));
        let polled = poll_once(commit).await;
        assert!(polled.is_none(), "the commit needs the disk");
    }
    // The next edit queues behind the abandoned one, and so tells how that ended.
    let next = store.commit(&put(policy(3, "third", "y")), Version(2), "dana", at(3_000)).await;
    assert_eq!(next.unwrap(), Version(3));
    assert_eq!(store.current().state().policies.len(), 3);
    let current = store.current();
    store.close().await;
    assert_eq!(reopen(&path).await.unwrap().current().state(), current.state());
}

/// Polls a future once and drops it.
async fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn an_edit_by_another_process_is_a_conflict_and_then_seen() {
    let folder = folder();
    let (one, other) = (open(&folder).await, open(&folder).await);
    one.commit(&put(policy(2, "second", "x")), Version(1), "dana", at(2_000)).await.unwrap();
    let refused = other.commit(&put(policy(3, "third", "y")), Version(1), "erin", at(3_000)).await;
    assert!(matches!(refused, Err(StoreError::Stale { found: Version(2), .. })), "{refused:?}");
    assert_eq!(other.current().state(), one.current().state());
    other.commit(&put(policy(3, "third", "y")), Version(2), "erin", at(3_000)).await.unwrap();
}

#[tokio::test]
async fn what_would_not_read_back_is_never_written() {
    let folder = folder();
    let store = open(&folder).await;
    let mut odd = policy(2, "second", "x");
    odd.zone = Some(String::new());
    let refused = store.commit(&put(odd), Version(1), "dana", at(2_000)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Corrupt(_)), "{refused}");
    assert_eq!(store.current().state(), &state());
    assert!(store.history(PolicyId(2)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    open(&folder).await.close().await;
    tamper(&path, "INSERT INTO schema_version (version) VALUES (99)").await;
    let refused = reopen(&path).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert_eq!(
        refused.to_string(),
        "the policy store was written by a newer program: its schema is 99, and this one knows up to 2"
    );
}

#[tokio::test]
async fn a_file_from_before_zones_and_tags_is_brought_up_to_date() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    open(&folder).await.close().await;
    tamper(
        &path,
        "DROP TABLE zones; DROP TABLE tag_defs; DROP TABLE tags; DROP TABLE tagged_resources;
         DROP TABLE governed_history; DELETE FROM schema_version WHERE version = 2;",
    )
    .await;
    let again = reopen(&path).await.unwrap();
    assert_eq!(again.current().state(), &state());
    let history = again.governed_history(GovernedKind::ServiceDef, "hive").await.unwrap();
    let told: Vec<_> = history.iter().map(|entry| (entry.version, entry.thing.is_some())).collect();
    assert_eq!(told, [(Version(1), true)]);
    again.commit(&put_governed(), Version(1), "dana", at(2_000)).await.unwrap();
    let current = again.current();
    again.close().await;
    assert_eq!(reopen(&path).await.unwrap().current().state(), current.state());
}

#[tokio::test]
async fn rows_that_do_not_read_back_are_all_told() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    open(&folder).await.close().await;
    tamper(
        &path,
        "UPDATE policies SET json = replace(json, '\"id\":1', '\"id\":7');
         UPDATE roles SET json = 'nonsense';
         UPDATE users SET json = '{\"id\": \"x\"}' WHERE name = 'alice';",
    )
    .await;
    let refused = reopen(&path).await.unwrap_err().to_string();
    for told in
        ["policy `1`: its content is that of `7`", "role `admin`: not JSON", "user `alice`: `id`: expected"]
    {
        assert!(refused.contains(told), "{refused}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    std::fs::write(&path, "certainly not a database, however long this text may be".repeat(100)).unwrap();
    assert_eq!(reopen(&path).await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn edits_are_logged_with_who_and_what() {
    let folder = folder();
    let path = folder.path().join("policies.db");
    let store = open(&folder).await;
    let change = Change {
        put_policies: vec![policy(2, "second", "x")],
        delete_roles: vec!["admin".to_owned()],
        ..Change::default()
    };
    store.commit(&change, Version(1), "dana", at(2_000)).await.unwrap();
    store.close().await;
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&path)).await.unwrap();
    let logged: (i64, i64, String, String) =
        sqlx::query_as("SELECT * FROM edits ORDER BY version DESC LIMIT 1").fetch_one(&pool).await.unwrap();
    pool.close().await;
    assert_eq!(logged, (2, 2_000, "dana".to_owned(), "put policy 2, delete role admin".to_owned()));
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_can_be_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    let path = folder.path().join("made/policies.db");
    let store = SqlPolicyStore::open(&path, state).await.unwrap();
    store.commit(&put(policy(2, "second", "x")), Version(1), "dana", at(2_000)).await.unwrap();
    for name in ["policies.db", "policies.db-wal", "policies.db-shm"] {
        let mode = std::fs::metadata(path.with_file_name(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
