//! Why a server does not start.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("the data folder `{}` cannot be used: {source}", path.display())]
    DataDir { path: PathBuf, source: std::io::Error },
    #[error(
        "the data folder `{}` is in use by {}; stop it first, or choose another folder with `--data-dir`",
        path.display(),
        process(*pid)
    )]
    InUse { path: PathBuf, pid: Option<u32> },
    #[error("`{}` cannot be used for TLS: {reason}", path.display())]
    Tls { path: PathBuf, reason: String },
    #[error("no address `{listen}`: {reason}")]
    Address { listen: String, reason: String },
    #[error("the policy store cannot be opened: {0}")]
    Store(#[from] store::StoreError),
    #[error("the audit file cannot be used: {0}")]
    Audit(#[from] audit::AuditError),
    #[error("catalog `{name}` cannot be opened: {source}")]
    Catalog { name: String, source: catalog::CatalogError },
    #[error(
        "catalog `{name}` has no policy service in this data folder; the catalogs are those of the first start: \
         start with a new data folder, or leave `[catalogs.{name}]` out"
    )]
    CatalogWithoutService { name: String },
    #[error("passwords cannot be checked: {0}")]
    Identity(#[from] identity::IdentityError),
    #[error("the first password cannot be used: {0}")]
    Password(#[from] identity::CredentialError),
    #[error("the engine does not start: {0}")]
    Engine(query_api::QueryError),
    #[error("the postgres door does not open: {0}")]
    Postgres(#[from] wire_pg::PgDoorError),
    #[error("the http door does not open: {0}")]
    Http(#[from] wire_http::HttpDoorError),
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
