//! Branches and tags: names for snapshots, made, moved and dropped.

use iceberg::spec::{SnapshotReference, SnapshotRetention};

use crate::catalog::Catalog;
use crate::error::{CatalogError, Doing, Result};
use crate::name;
use crate::past::{Version, refs};
use crate::table::TableHandle;

const CHANGE: &str = "change the table's branches and tags";

/// What a name is to stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRef {
    pub name: String,
    pub is_branch: bool,
    /// `None`: the current snapshot.
    pub version: Option<Version>,
    pub or_replace: bool,
}

impl Catalog {
    /// Gives a snapshot a name.
    pub async fn create_ref(&self, namespace: &[String], table: &str, new: &NewRef) -> Result<TableHandle> {
        name::check(&new.name)?;
        self.evolve(namespace, table, |metadata, shown| {
            let known = refs(metadata);
            let existing = known.iter().find(|(name, _)| *name == new.name);
            let may_replace = existing.is_none_or(|(name, found)| {
                new.or_replace && found.is_branch == new.is_branch && name != "main"
            });
            if !may_replace {
                return Err(CatalogError::RefExists { table: shown.to_owned(), name: new.name.clone() });
            }
            let snapshot_id = match &new.version {
                None => metadata.current_snapshot_id(),
                Some(Version::Snapshot(id)) => metadata.snapshot_by_id(*id).map(|s| s.snapshot_id()),
                Some(Version::Named(name)) => metadata.snapshot_for_ref(name).map(|s| s.snapshot_id()),
                Some(Version::AtMillis(_) | Version::Between { .. }) => None,
            };
            let Some(snapshot_id) = snapshot_id else {
                let version = new.version.as_ref().map_or_else(|| "snapshot".to_owned(), Version::to_string);
                return Err(CatalogError::NoSuchVersion { table: shown.to_owned(), version });
            };
            let retention = match new.is_branch {
                true => SnapshotRetention::branch(None, None, None),
                false => SnapshotRetention::Tag { max_ref_age_ms: None },
            };
            let reference = SnapshotReference::new(snapshot_id, retention);
            crate::evolve::builder(metadata).set_ref(&new.name, reference).doing(CHANGE)
        })
        .await
    }

    /// Takes a name from a snapshot, which stays.
    pub async fn drop_ref(
        &self,
        namespace: &[String],
        table: &str,
        name: &str,
        is_branch: bool,
    ) -> Result<TableHandle> {
        self.evolve(namespace, table, |metadata, shown| {
            let is_there = refs(metadata).iter().any(|(n, found)| n == name && found.is_branch == is_branch);
            if !is_there || name == "main" {
                let kind = if is_branch { "branch" } else { "tag" };
                let version = format!("{kind} `{name}` to drop");
                return Err(CatalogError::NoSuchVersion { table: shown.to_owned(), version });
            }
            Ok(crate::evolve::builder(metadata).remove_ref(name))
        })
        .await
    }
}
