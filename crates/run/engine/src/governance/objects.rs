//! The objects and grantees that a governance statement names, looked up for its author.

use dialect::ast::{GrantObject, Grantee as Written, Name};
use policy::edit::{Grantee, Scope};
use query_api::QueryError;

use crate::ddl::visible;
use crate::error::{catalog_not_found, table_not_found, unsupported};
use crate::names::parts_of_name;
use crate::resolve::{Found, find, visible_namespace};
use crate::running::Running;

/// What a relation of a statement turned out to be.
pub(crate) struct Named {
    pub(crate) scope: Scope,
    /// The owner, for `{OWNER}`.
    pub(crate) owner: Option<String>,
}

/// The object that a statement names, if it is there for its author; an admin sees every object.
pub(crate) async fn scope_of(running: &Running, object: &GrantObject) -> Result<Named, QueryError> {
    let plain = |scope| Named { scope, owner: None };
    Ok(match object {
        GrantObject::Table(name) => relation(running, name).await?,
        GrantObject::View(name) => {
            let named = relation(running, name).await?;
            match named.scope {
                Scope::View { .. } => named,
                _ => return Err(table_not_found(&running.path.relation(&parts_of_name(name))?.to_string())),
            }
        }
        GrantObject::Schema(name) => {
            let (catalog, namespace) = namespace(running, name).await?;
            plain(Scope::Namespace { catalog, namespace })
        }
        GrantObject::Catalog(name) => {
            let parts = parts_of_name(name);
            match parts.as_slice() {
                [catalog] if running.engine.catalogs.contains_key(catalog) && sees(running, catalog) => {
                    plain(Scope::Catalog { catalog: catalog.clone() })
                }
                _ => return Err(catalog_not_found(&parts.join("."))),
            }
        }
        GrantObject::AllTables { schema } | GrantObject::FutureTables { schema } => {
            let (catalog, namespace) = namespace(running, schema).await?;
            plain(Scope::AllTables { catalog, namespace })
        }
        GrantObject::AllViews { schema } | GrantObject::FutureViews { schema } => {
            let (catalog, namespace) = namespace(running, schema).await?;
            plain(Scope::AllViews { catalog, namespace })
        }
        GrantObject::AllDatasets { .. } => return Err(unsupported("ALL DATASETS")),
        GrantObject::Function(_) => return Err(unsupported("a privilege on a function")),
    })
}

fn sees(running: &Running, catalog: &str) -> bool {
    running.is_admin() || running.sees_catalog(catalog)
}

async fn relation(running: &Running, name: &Name) -> Result<Named, QueryError> {
    let full = running.path.relation(&parts_of_name(name))?;
    let found =
        if running.is_admin() { find(running, &full).await? } else { visible(running, &full).await? };
    let (catalog, namespace) = (full.catalog.clone(), full.database());
    match found {
        Found::Table(table) => {
            Ok(Named { scope: Scope::Table { catalog, namespace, table: full.name }, owner: table.owner })
        }
        Found::View(view) => {
            Ok(Named { scope: Scope::View { catalog, namespace, view: full.name }, owner: Some(view.owner) })
        }
        Found::Nothing => Err(table_not_found(&full.to_string())),
    }
}

async fn namespace(running: &Running, name: &Name) -> Result<(String, String), QueryError> {
    let (catalog, namespace) = running.path.namespace(&parts_of_name(name))?;
    let full = namespace.join(".");
    if running.is_admin() {
        let exists = match running.engine.catalogs.get(&catalog) {
            Some(found) => found
                .namespace_exists(&namespace)
                .await
                .map_err(|error| crate::error::from_catalog(&error))?,
            None => false,
        };
        if exists {
            return Ok((catalog, full));
        }
        return Err(crate::error::schema_not_found(&format!("{catalog}.{full}")));
    }
    visible_namespace(running, &catalog, &namespace).await?;
    Ok((catalog, full))
}

pub(crate) fn grantee_of(written: &Written) -> Grantee {
    match written {
        Written::User(name) => Grantee::User(name.value.clone()),
        Written::Role(name) => Grantee::Role(name.value.clone()),
        Written::Group(name) => Grantee::Group(name.value.clone()),
        Written::Public => Grantee::Public,
    }
}
