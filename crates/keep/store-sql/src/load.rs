//! Reads the whole state, and reports every row that does not read back.

use policy::model::{PolicyId, State, Table, Version};
use sqlx::SqliteConnection;
use stdx::{Secret, Timestamp};
use store::{Governed, GovernedEntry, GovernedKind, HistoryEntry, StoreError};

use crate::rows::Row;
use crate::store::unavailable;

/// Key, JSON and, for users, the credential.
type Raw = (String, String, Option<String>);

/// The version that is kept; `None` in a file that has no state yet.
pub(crate) async fn version(connection: &mut SqliteConnection) -> Result<Option<Version>, StoreError> {
    let row: Option<(i64,)> =
        sqlx::query_as("SELECT version FROM head").fetch_optional(connection).await.map_err(unavailable)?;
    Ok(row.map(|(version,)| Version(version)))
}

pub(crate) async fn state(connection: &mut SqliteConnection) -> Result<State, StoreError> {
    let (version, next_policy_id): (i64, i64) = sqlx::query_as("SELECT version, next_policy_id FROM head")
        .fetch_one(&mut *connection)
        .await
        .map_err(unavailable)?;
    let mut faults = Vec::new();
    let raw = raw(connection, "SELECT name, json, NULL FROM service_defs").await?;
    let service_defs = decoded(raw, |def: &policy::model::ServiceDef| def.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT name, json, NULL FROM services").await?;
    let services = decoded(raw, |service: &policy::model::Service| service.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT CAST(id AS TEXT), json, NULL FROM policies").await?;
    let policies = decoded(raw, |policy: &policy::model::Policy| policy.id, &mut faults);
    let raw = self::raw(connection, "SELECT name, json, NULL FROM zones").await?;
    let zones = decoded(raw, |zone: &policy::model::Zone| zone.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT name, json, NULL FROM tag_defs").await?;
    let tag_defs = decoded(raw, |def: &policy::model::TagDef| def.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT CAST(id AS TEXT), json, NULL FROM tags").await?;
    let tags = decoded(raw, |tag: &policy::model::Tag| tag.id, &mut faults);
    let raw = self::raw(connection, "SELECT CAST(id AS TEXT), json, NULL FROM tagged_resources").await?;
    let tagged_resources = decoded(raw, |resource: &policy::model::TaggedResource| resource.id, &mut faults);
    let raw = self::raw(connection, "SELECT name, json, NULL FROM roles").await?;
    let roles = decoded(raw, |role: &policy::model::Role| role.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT name, json, NULL FROM groups").await?;
    let groups = decoded(raw, |group: &policy::model::Group| group.name.clone(), &mut faults);
    let raw = self::raw(connection, "SELECT name, json, credential FROM users").await?;
    let users = decoded(raw, |user: &policy::model::User| user.name.clone(), &mut faults);
    if !faults.is_empty() {
        return Err(StoreError::Corrupt(faults.join("; ")));
    }
    let version = Version(version);
    Ok(State {
        version,
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
    })
}

async fn raw(connection: &mut SqliteConnection, sql: &'static str) -> Result<Vec<Raw>, StoreError> {
    sqlx::query_as(sql).fetch_all(connection).await.map_err(unavailable)
}

fn decoded<K: Ord + Clone, T: Row>(
    raw: Vec<Raw>,
    key_of: fn(&T) -> K,
    faults: &mut Vec<String>,
) -> Table<K, T> {
    let mut all = Table::new();
    for (key, json, credential) in raw {
        match T::from_json(&json, credential.map(Secret::new)) {
            Ok(thing) if thing.key() == key => {
                all.insert(key_of(&thing), thing);
            }
            Ok(thing) => {
                faults.push(format!("{} `{key}`: its content is that of `{}`", T::NAME, thing.key()))
            }
            Err(error) => faults.push(format!("{} `{key}`: {error}", T::NAME)),
        }
    }
    all
}

pub(crate) async fn history(
    connection: &mut SqliteConnection,
    id: PolicyId,
) -> Result<Vec<HistoryEntry>, StoreError> {
    let rows: Vec<(i64, i64, String, Option<String>)> = sqlx::query_as(
        "SELECT version, edited_at, edited_by, json FROM policy_history WHERE policy_id = ? ORDER BY version",
    )
    .bind(id.0)
    .fetch_all(connection)
    .await
    .map_err(unavailable)?;
    let entry = |(version, at, by, json): (i64, i64, String, Option<String>)| {
        let policy = json.map(|json| Row::from_json(&json, None)).transpose().map_err(|error| {
            StoreError::Corrupt(format!("policy `{}` at version {version}: {error}", id.0))
        })?;
        Ok(HistoryEntry { version: Version(version), at: Timestamp::from_millis(at), by, policy })
    };
    rows.into_iter().map(entry).collect()
}

pub(crate) async fn governed_history(
    connection: &mut SqliteConnection,
    kind: GovernedKind,
    key: &str,
) -> Result<Vec<GovernedEntry>, StoreError> {
    let rows: Vec<(i64, i64, String, Option<String>)> = sqlx::query_as(
        "SELECT version, edited_at, edited_by, json FROM governed_history \
         WHERE kind = ? AND key = ? ORDER BY version",
    )
    .bind(kind.word())
    .bind(key)
    .fetch_all(connection)
    .await
    .map_err(unavailable)?;
    let entry = |(version, at, by, json): (i64, i64, String, Option<String>)| {
        let thing = json.map(|json| governed(kind, &json)).transpose().map_err(|error| {
            StoreError::Corrupt(format!("{} `{key}` at version {version}: {error}", kind.word()))
        })?;
        Ok(GovernedEntry { version: Version(version), at: Timestamp::from_millis(at), by, thing })
    };
    rows.into_iter().map(entry).collect()
}

fn governed(kind: GovernedKind, json: &str) -> Result<Governed, ranger_wire::WireError> {
    match kind {
        GovernedKind::ServiceDef => Row::from_json(json, None).map(Governed::ServiceDef),
        GovernedKind::Service => Row::from_json(json, None).map(Governed::Service),
        GovernedKind::Zone => Row::from_json(json, None).map(Governed::Zone),
        GovernedKind::TagDef => Row::from_json(json, None).map(Governed::TagDef),
        GovernedKind::Tag => Row::from_json(json, None).map(Governed::Tag),
        GovernedKind::TaggedResource => Row::from_json(json, None).map(Governed::TaggedResource),
    }
}
