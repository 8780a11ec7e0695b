//! The tables, and the steps that bring an older file up to date.

use sqlx::SqliteConnection;
use store::StoreError;

use crate::store::unavailable;

/// One step per schema version, oldest first. A step that has been released is never changed.
const STEPS: &[&str] =
    &[include_str!("../migrations/0001_first.sql"), include_str!("../migrations/0002_governed.sql")];

/// Takes the steps that are missing; a file of a newer program is refused rather than misread.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::query("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY) STRICT")
        .execute(&mut *connection)
        .await
        .map_err(unavailable)?;
    let (found,): (i64,) = sqlx::query_as("SELECT coalesce(max(version), 0) FROM schema_version")
        .fetch_one(&mut *connection)
        .await
        .map_err(unavailable)?;
    let n_known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > n_known {
        return Err(StoreError::SchemaTooNew { found, known: n_known });
    }
    for (version, step) in (1..).zip(STEPS) {
        if version <= found {
            continue;
        }
        sqlx::raw_sql(step).execute(&mut *connection).await.map_err(unavailable)?;
        sqlx::query("INSERT INTO schema_version (version) VALUES (?)")
            .bind(version)
            .execute(&mut *connection)
            .await
            .map_err(unavailable)?;
    }
    Ok(())
}
