//! Writes the difference between two states, with its history.

use std::fmt::Display;

use policy::model::{Policy, PolicyId, State, Table, TagId, TaggedResourceId, Version};
use sqlx::SqliteConnection;
use stdx::Timestamp;
use store::StoreError;

use crate::rows::Row;
use crate::store::unavailable;

/// The summary of a large edit is cut; the history has the whole of it.
const SUMMARY_CHARS_MAX: usize = 1_000;

/// What an edit puts and deletes, told from the two states, so that nothing in a change can be overlooked.
pub(crate) struct Difference<'a> {
    service_defs: Touched<'a, String, policy::model::ServiceDef>,
    services: Touched<'a, String, policy::model::Service>,
    policies: Touched<'a, PolicyId, Policy>,
    zones: Touched<'a, String, policy::model::Zone>,
    tag_defs: Touched<'a, String, policy::model::TagDef>,
    tags: Touched<'a, TagId, policy::model::Tag>,
    tagged_resources: Touched<'a, TaggedResourceId, policy::model::TaggedResource>,
    roles: Touched<'a, String, policy::model::Role>,
    groups: Touched<'a, String, policy::model::Group>,
    users: Touched<'a, String, policy::model::User>,
    moves_next_policy_id: bool,
}

/// The new thing, or `None` where it is deleted.
type Touched<'a, K, T> = Vec<(&'a K, Option<&'a T>)>;

impl<'a> Difference<'a> {
    pub(crate) fn between(before: &'a State, after: &'a State) -> Self {
        Self {
            service_defs: touched(&before.service_defs, &after.service_defs),
            services: touched(&before.services, &after.services),
            policies: touched(&before.policies, &after.policies),
            zones: touched(&before.zones, &after.zones),
            tag_defs: touched(&before.tag_defs, &after.tag_defs),
            tags: touched(&before.tags, &after.tags),
            tagged_resources: touched(&before.tagged_resources, &after.tagged_resources),
            roles: touched(&before.roles, &after.roles),
            groups: touched(&before.groups, &after.groups),
            users: touched(&before.users, &after.users),
            moves_next_policy_id: before.next_policy_id != after.next_policy_id,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.service_defs.is_empty()
            && self.services.is_empty()
            && self.policies.is_empty()
            && self.zones.is_empty()
            && self.tag_defs.is_empty()
            && self.tags.is_empty()
            && self.tagged_resources.is_empty()
            && self.roles.is_empty()
            && self.groups.is_empty()
            && self.users.is_empty()
            && !self.moves_next_policy_id
    }

    /// Such as `put policy 3, delete role auditor`.
    pub(crate) fn summary(&self) -> String {
        let mut parts = Vec::new();
        tell(&self.service_defs, |name| name, &mut parts);
        tell(&self.services, |name| name, &mut parts);
        tell(&self.policies, |id| &id.0, &mut parts);
        tell(&self.zones, |name| name, &mut parts);
        tell(&self.tag_defs, |name| name, &mut parts);
        tell(&self.tags, |id| &id.0, &mut parts);
        tell(&self.tagged_resources, |id| &id.0, &mut parts);
        tell(&self.roles, |name| name, &mut parts);
        tell(&self.groups, |name| name, &mut parts);
        tell(&self.users, |name| name, &mut parts);
        let whole = parts.join(", ");
        match whole.char_indices().nth(SUMMARY_CHARS_MAX) {
            None => whole,
            Some((cut, _)) => format!("{}…", whole.get(..cut).unwrap_or_default()),
        }
    }
}

fn touched<'a, K: Ord + Clone, T: PartialEq>(
    before: &'a Table<K, T>,
    after: &'a Table<K, T>,
) -> Touched<'a, K, T> {
    after.changes_since(before)
}

fn tell<K, T: Row, D: Display>(touched: &Touched<'_, K, T>, key: fn(&K) -> &D, parts: &mut Vec<String>) {
    parts.extend(touched.iter().map(|(thing_key, thing)| {
        let verb = if thing.is_some() { "put" } else { "delete" };
        format!("{verb} {} {}", T::NAME, key(thing_key))
    }));
}

/// Who made an edit, and when. Without one, each policy's own last editor stands in its history.
pub(crate) struct Edited<'a> {
    pub(crate) by: &'a str,
    pub(crate) at: Timestamp,
}

/// Brings the rows from one state to the next; the caller's transaction makes it one step.
pub(crate) async fn difference(
    connection: &mut SqliteConnection,
    difference: &Difference<'_>,
    after: &State,
    edited: &Edited<'_>,
    is_first: bool,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO head (one, version, next_policy_id) VALUES (1, ?1, ?2) \
         ON CONFLICT (one) DO UPDATE SET version = ?1, next_policy_id = ?2",
    )
    .bind(after.version.0)
    .bind(after.next_policy_id)
    .execute(&mut *connection)
    .await
    .map_err(unavailable)?;
    sqlx::query("INSERT INTO edits (version, edited_at, edited_by, summary) VALUES (?, ?, ?, ?)")
        .bind(after.version.0)
        .bind(edited.at.millis())
        .bind(edited.by)
        .bind(difference.summary())
        .execute(&mut *connection)
        .await
        .map_err(unavailable)?;
    let version = after.version;
    named(connection, &difference.service_defs, "service_defs").await?;
    governed(connection, &difference.service_defs, Clone::clone, version, edited).await?;
    named(connection, &difference.services, "services").await?;
    governed(connection, &difference.services, Clone::clone, version, edited).await?;
    named(connection, &difference.zones, "zones").await?;
    governed(connection, &difference.zones, Clone::clone, version, edited).await?;
    named(connection, &difference.tag_defs, "tag_defs").await?;
    governed(connection, &difference.tag_defs, Clone::clone, version, edited).await?;
    numbered(connection, &difference.tags, |id| id.0, "tags").await?;
    governed(connection, &difference.tags, |id| id.0.to_string(), version, edited).await?;
    numbered(connection, &difference.tagged_resources, |id| id.0, "tagged_resources").await?;
    governed(connection, &difference.tagged_resources, |id| id.0.to_string(), version, edited).await?;
    named(connection, &difference.roles, "roles").await?;
    named(connection, &difference.groups, "groups").await?;
    users(connection, &difference.users).await?;
    for (id, policy) in &difference.policies {
        policy_row(connection, **id, *policy).await?;
        let edited = match policy {
            Some(policy) if is_first => Edited { by: &policy.updated_by, at: policy.updated_at },
            _ => Edited { ..*edited },
        };
        history_row(connection, **id, *policy, after.version, &edited).await?;
    }
    Ok(())
}

/// `table` is one of our own names, and never a text from outside.
async fn named<T: Row>(
    connection: &mut SqliteConnection,
    touched: &Touched<'_, String, T>,
    table: &'static str,
) -> Result<(), StoreError> {
    let put = format!(
        "INSERT INTO {table} (name, json) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET json = ?2"
    );
    let delete = format!("DELETE FROM {table} WHERE name = ?");
    for (name, thing) in touched {
        let query = match thing {
            Some(thing) => sqlx::query(&put).bind(name.as_str()).bind(thing.encoded()?),
            None => sqlx::query(&delete).bind(name.as_str()),
        };
        query.execute(&mut *connection).await.map_err(unavailable)?;
    }
    Ok(())
}

/// As [`named`], for what has a number in place of a name.
async fn numbered<K, T: Row>(
    connection: &mut SqliteConnection,
    touched: &Touched<'_, K, T>,
    number: fn(&K) -> i64,
    table: &'static str,
) -> Result<(), StoreError> {
    let put =
        format!("INSERT INTO {table} (id, json) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET json = ?2");
    let delete = format!("DELETE FROM {table} WHERE id = ?");
    for (key, thing) in touched {
        let query = match thing {
            Some(thing) => sqlx::query(&put).bind(number(key)).bind(thing.encoded()?),
            None => sqlx::query(&delete).bind(number(key)),
        };
        query.execute(&mut *connection).await.map_err(unavailable)?;
    }
    Ok(())
}

/// One row of history for each thing that was touched.
async fn governed<K, T: Row>(
    connection: &mut SqliteConnection,
    touched: &Touched<'_, K, T>,
    key: fn(&K) -> String,
    version: Version,
    edited: &Edited<'_>,
) -> Result<(), StoreError> {
    for (thing_key, thing) in touched {
        sqlx::query(
            "INSERT INTO governed_history (kind, key, version, edited_at, edited_by, json) \
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(T::NAME)
        .bind(key(thing_key))
        .bind(version.0)
        .bind(edited.at.millis())
        .bind(edited.by)
        .bind(thing.map(Row::encoded).transpose()?)
        .execute(&mut *connection)
        .await
        .map_err(unavailable)?;
    }
    Ok(())
}

async fn users(
    connection: &mut SqliteConnection,
    touched: &Touched<'_, String, policy::model::User>,
) -> Result<(), StoreError> {
    for (name, user) in touched {
        let query = match user {
            Some(user) => sqlx::query(
                "INSERT INTO users (name, json, credential) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (name) DO UPDATE SET json = ?2, credential = ?3",
            )
            .bind(name.as_str())
            .bind(user.encoded()?)
            .bind(user.credential.as_ref().map(|secret| secret.reveal().to_owned())),
            None => sqlx::query("DELETE FROM users WHERE name = ?").bind(name.as_str()),
        };
        query.execute(&mut *connection).await.map_err(unavailable)?;
    }
    Ok(())
}

async fn policy_row(
    connection: &mut SqliteConnection,
    id: PolicyId,
    policy: Option<&Policy>,
) -> Result<(), StoreError> {
    let query = match policy {
        Some(policy) => sqlx::query(
            "INSERT INTO policies (id, json) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET json = ?2",
        )
        .bind(id.0)
        .bind(policy.encoded()?),
        None => sqlx::query("DELETE FROM policies WHERE id = ?").bind(id.0),
    };
    query.execute(connection).await.map_err(unavailable)?;
    Ok(())
}

async fn history_row(
    connection: &mut SqliteConnection,
    id: PolicyId,
    policy: Option<&Policy>,
    version: Version,
    edited: &Edited<'_>,
) -> Result<(), StoreError> {
    let json = policy.map(Row::encoded).transpose()?;
    sqlx::query(
        "INSERT INTO policy_history (policy_id, version, edited_at, edited_by, json) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(id.0)
    .bind(version.0)
    .bind(edited.at.millis())
    .bind(edited.by)
    .bind(json)
    .execute(connection)
    .await
    .map_err(unavailable)?;
    Ok(())
}
