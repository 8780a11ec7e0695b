//! The shape of governed plans, and what refuses those that were not governed (L2, L3, L4).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::Int64Array;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, TableScan, TableSource, WriteOp, lit};
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use enforce::{QueryId, Relation, SealedSource, SealedView};
use policy::Principal;
use query_api::{Door, QueryError, RequestContext};
use stdx::Secret;
use testkit::{ADMIN, CATALOG, Site};

use crate::query::{self, Governed};
use crate::resolve::{self, Resolved};
use crate::running::Running;
use crate::{Engine, EngineParts, EngineSettings};

struct Bench {
    site: Site,
    engine: Arc<Engine>,
}

fn engine(site: &Site, settings: EngineSettings) -> Arc<Engine> {
    Engine::new(EngineParts {
        store: Arc::clone(&site.store),
        catalogs: site.catalogs.clone(),
        audit: Arc::new(audit::AuditLog::start(vec![Box::new(site.records.clone())]).unwrap()),
        clock: Arc::clone(&site.clock) as _,
        make_verifier: Arc::new(|password| Ok(password.clone())),
        mask_key: Secret::new("the key of the tests"),
        settings,
        closed_folders: Vec::new(),
    })
    .unwrap()
}

/// Ten files of `s.t`, apart by `id`; `hand.t` holds the same rows and is filtered by hand.
async fn bench() -> Bench {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&["CREATE SCHEMA s", "CREATE SCHEMA hand", "CREATE USER ana"]).await;
    for schema in ["s", "hand"] {
        let rows = |from: u32| {
            format!(
                "SELECT value AS id, value % 7 AS x, CASE WHEN value % 10 = 5 THEN 'US' ELSE 'EU' END AS region,
                 CAST(value AS VARCHAR) AS ssn FROM generate_series({from}, {})",
                from + 999
            )
        };
        root.ok(&format!("CREATE TABLE {schema}.t AS {}", rows(1))).await;
        for file in 1..10 {
            root.ok(&format!("INSERT INTO {schema}.t {}", rows(file * 1_000 + 1))).await;
        }
    }
    root.all(&[
        "GRANT SELECT ON s.t TO USER ana",
        "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER ana USING (region = 'EU')",
        "CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_NULL TO USER ana ON COLUMN ssn",
    ])
    .await;
    let settings = EngineSettings {
        target_partitions: Some(2),
        pushdown_filters: true,
        reorder_filters: true,
        batch_rows: 256,
        ..EngineSettings::default()
    };
    let engine = engine(&site, settings);
    Bench { site, engine }
}

impl Bench {
    fn running(&self, user: &str) -> Running {
        let principal = Principal::user(user);
        let snapshot = self.engine.store.current();
        Running {
            query: QueryId(uuid::Uuid::now_v7().as_u128()),
            now: self.engine.clock.now(),
            begun: stdx::Timestamp::from_millis(0),
            who: snapshot.membership(&principal),
            asker: None,
            n_renames: 0,
            opener: crate::running::Opener::User,
            snapshot,
            principal,
            context: RequestContext { door: Door::Embedded, client_addr: None, application: None },
            path: crate::names::SearchPath {
                catalogs: vec![CATALOG.to_owned()],
                catalog: CATALOG.to_owned(),
                namespace: vec!["s".to_owned()],
            },
            time_zone: None,
            pg: Arc::new(crate::pg::PgSession::try_new(&self.engine.pg_tables).unwrap()),
            text: Arc::from(""),
            engine: Arc::clone(&self.engine),
        }
    }

    async fn governed(&self, running: &Running, sql: &str) -> Governed {
        query::govern(running, parsed(sql), &[]).await.unwrap()
    }

    async fn planned(&self, user: &str, sql: &str) -> (Arc<dyn ExecutionPlan>, Governed) {
        let running = self.running(user);
        let governed = self.governed(&running, sql).await;
        (query::physical(&running, &governed).await.unwrap(), governed)
    }

    /// Runs a query and says what its scans read.
    async fn read(&self, user: &str, sql: &str) -> Read {
        let (plan, governed) = self.planned(user, sql).await;
        let batches = collect(Arc::clone(&plan), governed.state.task_ctx()).await.unwrap();
        let mut read = Read { rows: batches.iter().map(RecordBatch::num_rows).sum(), ..Read::default() };
        read.add(&plan);
        read
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    rows: usize,
    files: usize,
    bytes: usize,
    row_groups_pruned: usize,
    columns: BTreeSet<String>,
    n_scans: usize,
}

impl Read {
    fn add(&mut self, plan: &Arc<dyn ExecutionPlan>) {
        if let Some(exec) = plan.downcast_ref::<DataSourceExec>()
            && let Some(scan) = exec.data_source().downcast_ref::<FileScanConfig>()
        {
            let files: BTreeSet<_> = scan
                .file_groups
                .iter()
                .flat_map(|group| group.iter())
                .map(|file| file.object_meta.location.to_string())
                .collect();
            self.n_scans += 1;
            self.files += files.len();
            self.columns.extend(exec.schema().fields().iter().map(|field| field.name().clone()));
            let metrics = plan.metrics().unwrap().aggregate_by_name();
            let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |value| value.as_usize());
            self.bytes += sum("bytes_scanned");
            self.row_groups_pruned += sum("row_groups_pruned_statistics");
        }
        for child in plan.children() {
            self.add(child);
        }
    }
}

fn parsed(sql: &str) -> sqlparser::ast::Statement {
    match dialect::parse(sql).unwrap() {
        dialect::ast::Statement::Sql(statement) => *statement,
        _ => panic!("{sql} is no query"),
    }
}

fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(true).to_string()
}

#[tokio::test]
async fn a_harmless_predicate_prunes_as_in_a_query_written_by_hand() {
    let bench = bench().await;
    for (predicate, files) in [
        ("id BETWEEN 2100 AND 2200", 1),
        ("id IN (5, 9005)", 2),
        ("id > 8500 AND x = 3", 2),
        ("id < 1500 OR id > 9500", 3),
        ("id = 77777", 0),
    ] {
        let governed = bench.read("ana", &format!("SELECT id, x FROM s.t WHERE {predicate}")).await;
        let by_hand = format!("SELECT id, x FROM hand.t WHERE region = 'EU' AND ({predicate})");
        let by_hand = bench.read(ADMIN, &by_hand).await;
        assert_eq!(governed.files, files, "{predicate}");
        // The column of the row filter alone need not come out of the scan.
        let cost = |read: &Read| (read.rows, read.files, read.bytes, read.row_groups_pruned, read.n_scans);
        assert_eq!(cost(&governed), cost(&by_hand), "{predicate}");
    }
}

#[tokio::test]
async fn a_predicate_that_can_fail_prunes_nothing_and_stays_above_the_barrier() {
    let bench = bench().await;
    for predicate in ["1/(id-5) = 0", "CAST(region AS INT) = 7", "id + 1 = 3", "ssn = '7'", "1/0 = 1"] {
        let (plan, _) = bench.planned("ana", &format!("SELECT id FROM s.t WHERE {predicate}")).await;
        let text = shown(&plan);
        let (above, below) = text.split_once("BarrierExec").expect(&text);
        assert!(above.contains("FilterExec"), "{predicate}\n{text}");
        let predicate_below = below.split_once("predicate=").map_or("", |(_, predicate)| predicate);
        for part in [" - ", " + ", " / ", "CAST", "ssn", "7"] {
            assert!(!predicate_below.contains(part), "{part} of {predicate} below the barrier:\n{text}");
        }
    }
}

#[tokio::test]
async fn a_column_masked_to_null_is_not_read() {
    let bench = bench().await;
    let read = bench.read("ana", "SELECT id, ssn FROM s.t WHERE ssn IS NULL").await;
    assert_eq!(read.rows, 9_000);
    assert_eq!(read.columns, BTreeSet::from(["id".to_owned()]));
    let read = bench.read(ADMIN, "SELECT id, ssn FROM s.t").await;
    assert_eq!(read.columns, BTreeSet::from(["id".to_owned(), "ssn".to_owned()]));
}

#[tokio::test]
async fn statistics_answer_for_who_sees_every_row_and_for_nobody_else() {
    let bench = bench().await;
    for sql in
        ["SELECT count(*) FROM s.t", "SELECT min(id), max(id) FROM s.t", "SELECT count(id), max(x) FROM s.t"]
    {
        assert_eq!(bench.read(ADMIN, sql).await.n_scans, 0, "{sql}");
        assert_eq!(bench.read("ana", sql).await.n_scans, 1, "{sql}");
    }
    let root = bench.site.client(ADMIN).await;
    let ana = bench.site.client("ana").await;
    let sql = "SELECT count(*), min(id), max(id) FROM s.t";
    assert_eq!(root.rows(sql).await, ["10000|1|10000"]);
    assert_eq!(ana.rows(sql).await, ["9000|1|10000"]);
}

#[tokio::test]
async fn a_closed_barrier_has_no_exact_statistics() {
    let bench = bench().await;
    // One with a mask alone: no row filter makes the statistics inexact before the barrier does.
    let root = bench.site.client(ADMIN).await;
    root.all(&[
        "CREATE USER mia",
        "GRANT SELECT ON s.t TO USER mia",
        "CREATE POLICY mm ON TABLE s.t COLUMN MASK MASK_NULL TO USER mia ON COLUMN ssn",
    ])
    .await;
    for (user, sql) in [
        ("ana", "SELECT id FROM s.t"),
        ("ana", "SELECT id FROM s.t WHERE id = 7"),
        ("mia", "SELECT id, x, region FROM s.t"),
        ("mia", "SELECT ssn FROM s.t"),
    ] {
        let (plan, _) = bench.planned(user, sql).await;
        let mut nodes = vec![plan];
        while let Some(node) = nodes.pop() {
            if node.is::<super::BarrierExec>() {
                let statistics = node.partition_statistics(None).unwrap();
                assert_ne!(statistics.num_rows.is_exact(), Some(true), "{sql}");
                assert!(statistics.column_statistics.iter().all(|column| {
                    column.min_value.is_exact() != Some(true)
                        && column.max_value.is_exact() != Some(true)
                        && column.null_count.is_exact() != Some(true)
                }));
            }
            nodes.extend(node.children().into_iter().cloned());
        }
    }
}

#[tokio::test]
async fn filters_of_the_engine_reach_the_scan_on_bare_columns_and_not_otherwise() {
    let bench = bench().await;
    for (sql, passes) in [
        ("SELECT id FROM s.t ORDER BY id LIMIT 3", true),
        ("SELECT a.id FROM hand.t b JOIN s.t a ON a.id = b.id WHERE b.x = 3 AND b.id < 9", true),
        ("SELECT id FROM s.t ORDER BY 1/(id-5) LIMIT 3", false),
        ("SELECT id FROM s.t ORDER BY ssn LIMIT 3", false),
        ("SELECT a.id FROM hand.t b JOIN s.t a ON 1/(a.id-5) = b.id WHERE b.id < 9", false),
        ("SELECT a.id FROM hand.t b JOIN s.t a ON a.ssn = b.ssn WHERE b.id < 9", false),
    ] {
        // The exempt user may read both tables; the filter is put on her for this test.
        let user = if sql.contains("hand.t") { "lena" } else { "ana" };
        if user == "lena" && !bench.engine.store.current().state().users.contains_key("lena") {
            let root = bench.site.client(ADMIN).await;
            root.all(&[
                "CREATE USER lena",
                "GRANT SELECT ON s.t TO USER lena",
                "GRANT SELECT ON hand.t TO USER lena",
                "CREATE POLICY fl ON TABLE s.t ROW FILTER TO USER lena USING (region = 'EU')",
                "CREATE POLICY ml ON TABLE s.t COLUMN MASK MASK_NULL TO USER lena ON COLUMN ssn",
            ])
            .await;
        }
        let (plan, _) = bench.planned(user, sql).await;
        let text = shown(&plan);
        let governed: Vec<_> =
            text.lines().filter(|line| line.contains("region@") && line.contains("predicate=")).collect();
        assert!(!governed.is_empty(), "{sql}\n{text}");
        assert_eq!(governed.iter().any(|line| line.contains("DynamicFilter")), passes, "{sql}\n{text}");
    }
}

#[tokio::test]
async fn a_sealed_scan_cannot_run() {
    let bench = bench().await;
    for sql in ["SELECT * FROM s.t", "SELECT count(*) FROM s.t", "SELECT 1 WHERE EXISTS (SELECT 1 FROM s.t)"]
    {
        let running = bench.running(ADMIN);
        let state = running.state();
        let mut resolved = Resolved::default();
        let plan = resolve::plan(&running, &state, &mut parsed(sql), &mut resolved).await.unwrap();
        assert!(state.create_physical_plan(&plan).await.is_err(), "{sql}");
        let governed = Governed { plan, state, resolved };
        refused(query::physical(&running, &governed).await, sql);
    }
}

fn refused<T>(result: Result<T, QueryError>, what: &str) {
    match result {
        Ok(_) => panic!("{what}: was to be refused"),
        Err(error) => {
            assert!(
                error.message().contains("no clearance") || error.message().contains("not supported"),
                "{what}: {error:?}"
            );
            assert!(!error.message().contains("s.t"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_clearance_is_worth_nothing_in_another_query() {
    let bench = bench().await;
    let governed = bench.governed(&bench.running("ana"), "SELECT count(*) FROM s.t").await;
    refused(query::physical(&bench.running("ana"), &governed).await, "the same user's next query");
    // Past the logical verifier, the physical rule of the other query refuses it too.
    let other = bench.running("ana").state();
    assert!(other.create_physical_plan(&governed.plan).await.is_err());
}

async fn physical(bench: &Bench, plan: LogicalPlan) -> Result<Arc<dyn ExecutionPlan>, QueryError> {
    let running = bench.running(ADMIN);
    let state = running.state();
    query::physical(&running, &Governed { plan, state, resolved: Resolved::default() }).await
}

fn mem_table() -> Arc<dyn TableSource> {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(Int64Array::from(vec![1]))]).unwrap();
    provider_as_source(Arc::new(MemTable::try_new(schema, vec![vec![batch]]).unwrap()))
}

fn parquet_below(folder: &Path) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return parquet_below(&path);
        }
        path.extension().is_some_and(|end| end == "parquet").then_some(path)
    })
}

/// A listing of the warehouse's own files, as a forgotten path could make it.
async fn listing(bench: &Bench) -> Arc<dyn TableSource> {
    let state = bench.running(ADMIN).state();
    let file = parquet_below(&bench.site.warehouse(CATALOG)).unwrap();
    let url = ListingTableUrl::parse(file.to_string_lossy()).unwrap();
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let schema = options.infer_schema(&state, &url).await.unwrap();
    let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
    provider_as_source(Arc::new(ListingTable::try_new(config).unwrap()))
}

#[tokio::test]
async fn sources_that_nobody_sealed_are_refused() {
    let bench = bench().await;
    for (what, source) in [("a table in memory", mem_table()), ("files", listing(&bench).await)] {
        let scan = LogicalPlanBuilder::scan("x", source, None).unwrap();
        refused(physical(&bench, scan.clone().build().unwrap()).await, what);
        let counted =
            scan.aggregate(Vec::<datafusion::logical_expr::Expr>::new(), vec![count(lit(1))]).unwrap();
        refused(physical(&bench, counted.build().unwrap()).await, what);
    }
}

#[tokio::test]
async fn the_physical_verifier_comes_before_answers_from_statistics() {
    let bench = bench().await;
    let state = bench.running(ADMIN).state();
    assert_eq!(state.physical_optimizers().first().unwrap().name(), "verify_governed");
    let scan = LogicalPlanBuilder::scan("x", listing(&bench).await, None).unwrap();
    let counted = scan
        .aggregate(Vec::<datafusion::logical_expr::Expr>::new(), vec![count(lit(1))])
        .unwrap()
        .build()
        .unwrap();
    // DataFusion alone answers it; a verifier behind its rules would find nothing left to refuse.
    let plain = datafusion::prelude::SessionContext::new();
    let answered = plain.state().create_physical_plan(&counted).await.unwrap();
    assert!(collect(answered, plain.task_ctx()).await.is_ok());
    let error = state.create_physical_plan(&counted).await.unwrap_err().to_string();
    assert!(error.contains("bears no clearance"), "{error}");
}

#[tokio::test]
async fn a_view_that_was_not_put_in_line_is_refused() {
    let bench = bench().await;
    let inner = LogicalPlanBuilder::scan("x", mem_table(), None).unwrap().build().unwrap();
    let view = SealedView::new(relation(), inner);
    let scan = TableScan::try_new("v", Arc::new(view), None, Vec::new(), None).unwrap();
    refused(physical(&bench, LogicalPlan::TableScan(scan)).await, "a view");
}

fn relation() -> Relation {
    Relation {
        catalog: CATALOG.to_owned(),
        namespace: vec!["s".to_owned()],
        name: "t".to_owned(),
        uuid: "u".to_owned(),
    }
}

#[tokio::test]
async fn a_write_inside_a_plan_is_refused() {
    let bench = bench().await;
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
    let targets: [Arc<dyn TableSource>; 2] =
        [mem_table(), Arc::new(SealedSource::new(relation(), Arc::clone(&schema), schema, Arc::new(())))];
    for target in targets {
        let rows = LogicalPlanBuilder::values(vec![vec![lit(1_i64)]]).unwrap().build().unwrap();
        let insert = WriteOp::Insert(datafusion::logical_expr::dml::InsertOp::Append);
        for op in [insert, WriteOp::Delete] {
            let dml = datafusion::logical_expr::DmlStatement::new(
                "x".into(),
                Arc::clone(&target),
                op,
                Arc::new(rows.clone()),
            );
            refused(physical(&bench, LogicalPlan::Dml(dml)).await, "a write");
        }
    }
}
