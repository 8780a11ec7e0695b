//! Reading Parquet, CSV and JSON files, for those who hold the right and from folders that are set free for it.

mod store;

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result as DfResult;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::provider_as_source;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableSource, TableType};
use datafusion::physical_plan::ExecutionPlan;
use enforce::QueryId;
use query_api::QueryError;
use sqlparser::ast::{self, Visit, Visitor};
use stdx::ErrorKind;
use url::Url;

use self::store::{CheckedFiles, SCHEME};
use crate::error::from_datafusion;
use crate::running::Running;
use crate::scan::{BarrierExec, Passage};

/// The file-reading functions.
pub(crate) struct FileRead;

impl FileRead {
    pub(crate) fn is_function(name: &str) -> bool {
        format_of(name).is_some()
    }
}

fn format_of(function: &str) -> Option<(Arc<dyn FileFormat>, &'static str)> {
    match function {
        "read_parquet" => Some((Arc::new(ParquetFormat::default()), "parquet")),
        "read_csv" => Some((Arc::new(CsvFormat::default().with_has_header(true)), "csv")),
        "read_json" => Some((Arc::new(JsonFormat::default()), "json")),
        _ => None,
    }
}

/// Finds the file reads of a statement and opens each, once the caller's right and the path are checked.
pub(crate) async fn resolve(
    running: &Running,
    state: &SessionState,
    statement: &ast::Statement,
    files: &mut HashMap<(String, String), Arc<dyn TableSource>>,
) -> Result<(), QueryError> {
    for (function, path) in reads_of(statement)? {
        if files.contains_key(&(function.clone(), path.clone())) {
            continue;
        }
        let source = open(running, state, &function, &path).await?;
        files.insert((function, path), source);
    }
    Ok(())
}

fn reads_of(statement: &ast::Statement) -> Result<Vec<(String, String)>, QueryError> {
    struct Finder(Vec<(String, String)>);
    impl Visitor for Finder {
        type Break = QueryError;

        fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<QueryError> {
            let ast::TableFactor::Table { name, args: Some(args), .. } = factor else {
                return ControlFlow::Continue(());
            };
            let function = name.to_string().to_lowercase();
            if !FileRead::is_function(&function) {
                return ControlFlow::Continue(());
            }
            match args.args.as_slice() {
                [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Value(value)))] => {
                    match value.value.clone().into_string() {
                        Some(path) => self.0.push((function, path)),
                        None => return ControlFlow::Break(not_a_path(&function)),
                    }
                }
                _ => return ControlFlow::Break(not_a_path(&function)),
            }
            ControlFlow::Continue(())
        }
    }
    let mut finder = Finder(Vec::new());
    match statement.visit(&mut finder) {
        ControlFlow::Continue(()) => Ok(finder.0),
        ControlFlow::Break(error) => Err(error),
    }
}

fn not_a_path(function: &str) -> QueryError {
    QueryError::new(
        ErrorKind::Invalid,
        format!("`{function}` takes one text literal, the path of a file or folder"),
    )
}

async fn open(
    running: &Running,
    state: &SessionState,
    function: &str,
    path: &str,
) -> Result<Arc<dyn TableSource>, QueryError> {
    let settings = &running.engine.settings;
    if !running.who.roles.contains(&settings.load_role) {
        return Err(QueryError::new(ErrorKind::Denied, format!("permission denied to call `{function}`")));
    }
    let real = permitted(path, &settings.load_roots)?;
    let Some((format, extension)) = format_of(function) else {
        return Err(QueryError::new(
            ErrorKind::FunctionNotFound,
            format!("table function `{function}` not found"),
        ));
    };
    let url = address(&real)?;
    let extension = if real.is_dir() { format!(".{extension}") } else { String::new() };
    let options = ListingOptions::new(format).with_file_extension(extension);
    let schema = options.infer_schema(state, &url).await.map_err(|_| {
        QueryError::new(ErrorKind::Invalid, format!("`{path}` cannot be read by `{function}`"))
    })?;
    let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
    let table = ListingTable::try_new(config).map_err(|error| from_datafusion(&error))?;
    Ok(provider_as_source(Arc::new(FileProvider { inner: Arc::new(table), query: running.query })))
}

/// The path as an address in the store that looks at what it opens.
fn address(path: &Path) -> Result<ListingTableUrl, QueryError> {
    let url = if path.is_dir() { Url::from_directory_path(path) } else { Url::from_file_path(path) };
    let inside = url.ok().map(|url| format!("{SCHEME}://files{}", url.path()));
    let url = inside.and_then(|address| Url::parse(&address).ok()).ok_or_else(crate::error::internal)?;
    ListingTableUrl::try_new(url, None).map_err(|error| from_datafusion(&error))
}

/// Lets queries find the store of the folders that may be loaded from.
pub(crate) fn register(runtime: &RuntimeEnv, roots: &[PathBuf]) -> Result<(), QueryError> {
    let url = Url::parse(&format!("{SCHEME}://files")).map_err(|_| crate::error::internal())?;
    runtime.register_object_store(&url, Arc::new(CheckedFiles::new(roots)));
    Ok(())
}

/// The real path, links followed, if it lies under one of the folders set free; the folders hold no governed
/// table's files, which is checked when the engine starts.
fn permitted(path: &str, roots: &[PathBuf]) -> Result<PathBuf, QueryError> {
    let refused = || {
        QueryError::new(ErrorKind::Denied, format!("`{path}` is not under a folder of `engine.load_roots`"))
            .with_hint("an administrator lists the folders that may be loaded from in the configuration")
    };
    // A relative path would mean the server's working folder, which the caller does not know.
    if !Path::new(path).is_absolute() {
        return Err(QueryError::new(ErrorKind::Invalid, format!("`{path}` is not an absolute path")));
    }
    let real = Path::new(path).canonicalize().map_err(|_| refused())?;
    let is_permitted =
        roots.iter().filter_map(|root| root.canonicalize().ok()).any(|root| real.starts_with(&root));
    if is_permitted && !holds_links(&real).unwrap_or(true) { Ok(real) } else { Err(refused()) }
}

/// Whether a link stands anywhere below a folder: listing would follow it to wherever it leads.
fn holds_links(path: &Path) -> std::io::Result<bool> {
    if !path.is_dir() {
        return Ok(false);
    }
    for entry in path.read_dir()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_symlink() || (kind.is_dir() && holds_links(&entry.path())?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses settings under which a file function could read a governed table's own files.
pub(crate) fn check_roots(roots: &[PathBuf], closed: &[PathBuf]) -> Result<(), QueryError> {
    for root in roots {
        let Ok(root) = root.canonicalize() else {
            return Err(QueryError::new(
                ErrorKind::Invalid,
                format!("`engine.load_roots`: `{}` does not exist", root.display()),
            ));
        };
        for folder in closed.iter().filter_map(|folder| folder.canonicalize().ok()) {
            if root.starts_with(&folder) || folder.starts_with(&root) {
                return Err(QueryError::new(
                    ErrorKind::Invalid,
                    format!("`engine.load_roots`: `{}` overlaps with a catalog's warehouse", root.display()),
                ));
            }
        }
    }
    Ok(())
}

/// A file that this user may read in this query.
pub(crate) struct FileProvider {
    inner: Arc<dyn TableProvider>,
    query: QueryId,
}

impl FileProvider {
    pub(crate) fn query(&self) -> QueryId {
        self.query
    }
}

impl fmt::Debug for FileProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileProvider").finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for FileProvider {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let plan = self.inner.scan(state, projection, filters, limit).await?;
        Ok(Arc::new(BarrierExec::try_new(plan, self.query, Passage::Open)?))
    }
}
