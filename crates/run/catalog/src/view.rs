//! Views: a text that stands for a query, and what is needed to mean the same by it later.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{CatalogError, Doing, Result};
use crate::ledger::PutView;

/// Whose rights the body of a view is read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewSecurity {
    Invoker,
    Definer,
}

/// A view to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewView {
    pub sql: String,
    /// The catalog and namespace against which unqualified names in `sql` were resolved.
    pub default_catalog: String,
    pub default_namespace: Vec<String>,
    pub columns: Vec<String>,
    pub security: ViewSecurity,
    pub owner: String,
    /// Which columns the text reads, by field id, as it was when it was written; for the one who wrote it to know.
    pub reads: Vec<String>,
}

/// A view as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub uuid: Uuid,
    pub namespace: Vec<String>,
    pub name: String,
    pub sql: String,
    pub default_catalog: String,
    pub default_namespace: Vec<String>,
    pub columns: Vec<String>,
    pub security: ViewSecurity,
    pub owner: String,
    /// Which columns the text reads, by field id, as it was when it was written; for the one who wrote it to know.
    pub reads: Vec<String>,
}

/// What to do when a view of that name is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    Fail,
    Replace,
}

impl From<OnExisting> for PutView {
    fn from(on_existing: OnExisting) -> Self {
        match on_existing {
            OnExisting::Fail => Self::Create,
            OnExisting::Replace => Self::CreateOrReplace,
        }
    }
}

/// The form in which the catalog's database keeps a view.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StoredView {
    uuid: String,
    sql: String,
    default_catalog: String,
    default_namespace: Vec<String>,
    columns: Vec<String>,
    security: StoredSecurity,
    owner: String,
    #[serde(default)]
    reads: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum StoredSecurity {
    Invoker,
    Definer,
}

pub(crate) fn to_stored(view: NewView) -> Result<String> {
    let stored = StoredView {
        uuid: Uuid::now_v7().to_string(),
        sql: view.sql,
        default_catalog: view.default_catalog,
        default_namespace: view.default_namespace,
        columns: view.columns,
        security: match view.security {
            ViewSecurity::Invoker => StoredSecurity::Invoker,
            ViewSecurity::Definer => StoredSecurity::Definer,
        },
        owner: view.owner,
        reads: view.reads,
    };
    serde_json::to_string(&stored).doing("write the view")
}

pub(crate) fn from_stored(namespace: &[String], name: &str, body: &str) -> Result<View> {
    let stored: StoredView = serde_json::from_str(body).doing("read the view")?;
    Ok(View {
        uuid: Uuid::parse_str(&stored.uuid).map_err(|e| CatalogError::storage("read the view", e))?,
        namespace: namespace.to_vec(),
        name: name.to_owned(),
        sql: stored.sql,
        default_catalog: stored.default_catalog,
        default_namespace: stored.default_namespace,
        columns: stored.columns,
        security: match stored.security {
            StoredSecurity::Invoker => ViewSecurity::Invoker,
            StoredSecurity::Definer => ViewSecurity::Definer,
        },
        owner: stored.owner,
        reads: stored.reads,
    })
}
