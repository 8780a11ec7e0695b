//! A table as it was: at a snapshot, a branch, a tag or a time, or what was added between two snapshots.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema};
use iceberg::spec::{Operation, Schema as IcebergSchema, SnapshotRef, TableMetadata};

use crate::error::{CatalogError, Result};
use crate::scan::adapter::field_id;
use crate::scan::{IcebergTableProvider, Reads};
use crate::schema;
use crate::table::{TableHandle, with_defaults};

/// The branch that a table is written on.
const MAIN: &str = "main";

/// Which state of a table is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Version {
    Snapshot(i64),
    /// A branch or tag, else a snapshot's number as a text.
    Named(String),
    /// The last state that was current at this time, in milliseconds since 1970.
    AtMillis(i64),
    /// The rows that were added after one snapshot, up to another.
    Between {
        after: i64,
        through: i64,
    },
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(id) => write!(f, "snapshot {id}"),
            Self::Named(name) => write!(f, "branch, tag or snapshot `{name}`"),
            Self::AtMillis(_) => f.write_str("state of that time"),
            Self::Between { after, through } => {
                write!(f, "history of additions alone from snapshot {after} to snapshot {through}")
            }
        }
    }
}

/// That a handle stands for a former state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The first columns of the handle's schema are those of that state; behind them stand columns of today, empty,
    /// for policies to read.
    pub n_columns: usize,
    /// Tells states of one table from each other.
    pub key: String,
    /// Of each column of the handle's schema, the name that it has today; of one that was dropped since, the one that
    /// it had, made different where another column has that name today.
    pub names: Vec<String>,
    /// Columns of that state that the table has no more, by position.
    pub dropped: Vec<usize>,
}

/// What is read, and under which columns.
struct State {
    reads: Reads,
    schema: Arc<IcebergSchema>,
}

impl TableHandle {
    /// The table as it was, with the columns that it had then.
    pub fn at(&self, version: &Version) -> Result<Self> {
        let unknown = || CatalogError::NoSuchVersion { table: self.shown(), version: version.to_string() };
        let State { reads, schema } = state(self.table.metadata(), version).ok_or_else(unknown)?;
        let own = with_defaults(schema::shown_schema(&schema)?, &schema, &self.shown())?;
        let n_columns = own.fields().len();
        let ids: HashSet<i32> = own.fields().iter().filter_map(|field| field_id(field)).collect();
        let mut fields: Vec<FieldRef> = own.fields().iter().cloned().collect();
        for field in self.schema.fields() {
            if field_id(field).is_none_or(|id| ids.contains(&id)) {
                continue;
            }
            // Rows of that state are older than the column.
            let name = apart(field.name(), |name| fields.iter().any(|field| field.name() == name));
            fields.push(Arc::new(field.as_ref().clone().with_name(name).with_nullable(true)));
        }
        let wide = Arc::new(Schema::new(fields));
        let (names, dropped) = self.names_today(&wide, n_columns);
        let Some(provider) = self.provider.downcast_ref::<IcebergTableProvider>() else {
            return Err(CatalogError::Unsupported(format!("a former state of table `{}`", self.shown())));
        };
        let key = format!("{reads:?} {}", schema.schema_id());
        Ok(Self {
            field_ids: wide.fields().iter().filter_map(|field| field_id(field)).collect(),
            snapshot_id: reads.snapshot,
            provider: Arc::new(provider.reading(Arc::clone(&wide), reads)),
            past: Some(Past { n_columns, key, names, dropped }),
            schema: wide,
            ..self.clone()
        })
    }

    fn names_today(&self, wide: &Schema, n_columns: usize) -> (Vec<String>, Vec<usize>) {
        let today = |id: Option<i32>| self.schema.fields().iter().find(|field| field_id(field) == id);
        let mut names: Vec<String> = Vec::with_capacity(wide.fields().len());
        let mut dropped = Vec::new();
        for (at, field) in wide.fields().iter().enumerate() {
            names.push(match today(field_id(field)) {
                Some(now) => now.name().clone(),
                None => {
                    if at < n_columns {
                        dropped.push(at);
                    }
                    let is_taken = |name: &str| {
                        self.schema.index_of(name).is_ok() || names.iter().any(|known| known == name)
                    };
                    apart(field.name(), is_taken)
                }
            });
        }
        (names, dropped)
    }
}

/// The name, or one like it that is not taken.
fn apart(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut apart = name.to_owned();
    while is_taken(&apart) {
        apart.push('\u{b7}');
    }
    apart
}

fn state(metadata: &TableMetadata, version: &Version) -> Option<State> {
    match version {
        Version::Snapshot(id) => at_snapshot(metadata, metadata.snapshot_by_id(*id)?),
        Version::Named(name) => match metadata.snapshot_for_ref(name) {
            // A branch goes on, and its columns are those of today; a tag stands still.
            Some(snapshot) if is_branch(metadata, name) => {
                let reads = Reads::snapshot(Some(snapshot.snapshot_id()));
                Some(State { reads, schema: Arc::clone(metadata.current_schema()) })
            }
            Some(snapshot) => at_snapshot(metadata, snapshot),
            None if name == MAIN => Some(empty(metadata)),
            None => at_snapshot(metadata, metadata.snapshot_by_id(name.parse().ok()?)?),
        },
        Version::AtMillis(millis) => {
            let history = metadata.history();
            let entry = history.iter().rev().find(|entry| entry.timestamp_ms() <= *millis);
            match entry {
                Some(entry) => at_snapshot(metadata, metadata.snapshot_by_id(entry.snapshot_id)?),
                // The table was there and nothing had been written; whether something was written later is not told.
                None => (*millis >= made_at(metadata)).then(|| empty(metadata)),
            }
        }
        Version::Between { after, through } => {
            let last = metadata.snapshot_by_id(*through)?;
            metadata.snapshot_by_id(*after)?;
            let mut added = HashSet::new();
            let mut at = Some(last);
            while let Some(snapshot) = at.filter(|snapshot| snapshot.snapshot_id() != *after) {
                if snapshot.summary().operation != Operation::Append {
                    return None;
                }
                added.insert(snapshot.snapshot_id());
                at = snapshot.parent_snapshot_id().and_then(|id| metadata.snapshot_by_id(id));
            }
            at?;
            let State { reads, schema } = at_snapshot(metadata, last)?;
            Some(State { reads: Reads { added_by: Some(added), ..reads }, schema })
        }
    }
}

fn at_snapshot(metadata: &TableMetadata, snapshot: &SnapshotRef) -> Option<State> {
    let schema = match snapshot.schema_id() {
        Some(id) => Arc::clone(metadata.schema_by_id(id)?),
        None => Arc::clone(metadata.current_schema()),
    };
    Some(State { reads: Reads::snapshot(Some(snapshot.snapshot_id())), schema })
}

fn empty(metadata: &TableMetadata) -> State {
    State { reads: Reads::snapshot(None), schema: Arc::clone(metadata.current_schema()) }
}

fn is_branch(metadata: &TableMetadata, name: &str) -> bool {
    refs(metadata).iter().any(|(known, reference)| known == name && reference.is_branch)
}

/// When the table was made, as far as its metadata still tells.
fn made_at(metadata: &TableMetadata) -> i64 {
    // An identity of the seventh kind begins with the time.
    if let Some((seconds, nanos)) = metadata.uuid().get_timestamp().map(|time| time.to_unix()) {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return millis.saturating_add(i64::from(nanos / 1_000_000));
    }
    let logged = metadata.metadata_log().iter().map(|entry| entry.timestamp_ms);
    logged.chain([metadata.last_updated_ms()]).min().unwrap_or(i64::MAX)
}

/// A branch or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSnapshot {
    pub snapshot_id: i64,
    pub is_branch: bool,
    pub max_reference_age_ms: Option<i64>,
    pub min_snapshots_to_keep: Option<i64>,
    pub max_snapshot_age_ms: Option<i64>,
}

/// The branches and tags by name. Iceberg keeps the map to itself, and shows it in the metadata's text.
pub(crate) fn refs(metadata: &TableMetadata) -> Vec<(String, NamedSnapshot)> {
    let text = serde_json::to_value(metadata).unwrap_or_default();
    let Some(refs) = text.get("refs").and_then(serde_json::Value::as_object) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, reference) in refs {
        let number = |key: &str| reference.get(key).and_then(serde_json::Value::as_i64);
        let Some(snapshot_id) = number("snapshot-id") else { continue };
        let named = NamedSnapshot {
            snapshot_id,
            is_branch: reference.get("type").and_then(serde_json::Value::as_str) == Some("branch"),
            max_reference_age_ms: number("max-ref-age-ms"),
            min_snapshots_to_keep: number("min-snapshots-to-keep"),
            max_snapshot_age_ms: number("max-snapshot-age-ms"),
        };
        found.push((name.clone(), named));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
