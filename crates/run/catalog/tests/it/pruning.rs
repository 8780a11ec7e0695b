//! Scans read in parallel, and only what a filter needs.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::{ExecutionPlan, collect};

use crate::fixture::{Lake, field, lake, show, small};

/// The scan of a plan that has one.
pub(crate) fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<FileScanConfig> {
    if let Some(exec) = plan.downcast_ref::<DataSourceExec>() {
        return exec.data_source().downcast_ref::<FileScanConfig>().cloned();
    }
    plan.children().into_iter().find_map(scan_of)
}

/// Rows and the number of files that the plan names.
async fn read(lake: &Lake, sql: &str) -> (String, usize) {
    let session = lake.session(small()).await;
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let names: std::collections::BTreeSet<String> = scan_of(&plan)
        .into_iter()
        .flat_map(|scan| scan.file_groups)
        .flat_map(|group| group.into_inner())
        .map(|file| file.object_meta.location.to_string())
        .collect();
    (show(&collect(plan, session.task_ctx()).await.unwrap()), names.len())
}

async fn three_files() -> Lake {
    let lake = lake().await;
    let decimal = DataType::Decimal128(10, 2);
    let fields = vec![
        field("p", DataType::Utf8),
        field("n", DataType::Int64),
        field("d", DataType::Date32),
        field("m", decimal),
        field("f", DataType::Float64),
    ];
    lake.create("t", fields, &["p"]).await;
    for (p, n) in [("a", 1), ("b", 2), ("c", 3)] {
        let sql = format!(
            "SELECT '{p}', {n}, DATE '2024-01-0{n}', {n}.50, CASE WHEN {n} = 2 THEN 'NaN'::double ELSE {n} END"
        );
        lake.insert("t", &sql).await;
    }
    lake
}

#[tokio::test]
async fn filters_leave_files_unread() {
    let lake = three_files().await;
    for (filter, rows, files) in [
        ("p = 'b'", "2", 1),
        ("p IN ('a', 'c')", "1\n3", 2),
        ("p LIKE 'c%'", "3", 1),
        ("n > 2", "3", 1),
        ("n BETWEEN 1 AND 2", "1\n2", 2),
        ("d >= DATE '2024-01-03'", "3", 1),
        ("m < 2.00", "1", 1),
        ("n = 9", "", 0),
        ("p IS NULL", "", 0),
        ("n + 1 = 3", "2", 3),
    ] {
        let sql = format!("SELECT n FROM t WHERE {filter} ORDER BY n");
        assert_eq!(read(&lake, &sql).await, (rows.to_owned(), files), "{filter}");
    }
}

#[tokio::test]
async fn a_file_with_nan_is_read_for_every_number() {
    let lake = three_files().await;
    assert_eq!(read(&lake, "SELECT n FROM t WHERE f > 100 ORDER BY n").await.0, "2");
    assert_eq!(read(&lake, "SELECT n FROM t WHERE f > 2.5 ORDER BY n").await, ("2\n3".to_owned(), 2));
}

#[tokio::test]
async fn one_file_is_read_by_several_partitions() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "SELECT value FROM generate_series(1, 1200000)").await;
    let session = lake.session(small()).await;
    let plan = session.sql("SELECT a FROM t").await.unwrap().create_physical_plan().await.unwrap();
    let scan = scan_of(&plan).unwrap();
    assert_eq!(scan.file_groups.len(), 4);
    assert_eq!(lake.query("SELECT count(a), sum(a) FROM t WHERE a > 0").await, "1200000 720000600000");
}

#[tokio::test]
async fn row_groups_outside_of_a_filter_are_not_read() {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("t", "SELECT value FROM generate_series(1, 1200000)").await;
    let session = lake.session(small()).await;
    let plan =
        session.sql("SELECT a FROM t WHERE a = 1100000").await.unwrap().create_physical_plan().await.unwrap();
    let rows = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
    assert_eq!(show(&rows), "1100000");
    let scanned = scanned_rows(&plan);
    assert!(scanned < 200_000, "{scanned} rows were read");
}

fn scanned_rows(plan: &Arc<dyn ExecutionPlan>) -> usize {
    if plan.is::<DataSourceExec>() {
        return plan.metrics().and_then(|m| m.output_rows()).unwrap_or_default();
    }
    plan.children().into_iter().map(scanned_rows).sum()
}

#[tokio::test]
async fn the_filter_of_a_join_reaches_the_scan() {
    let lake = lake().await;
    lake.create("big", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("big", "SELECT value FROM generate_series(1, 1200000)").await;
    lake.create("little", vec![field("a", DataType::Int64)], &[]).await;
    lake.insert("little", "VALUES (5), (6)").await;
    let session = lake.session(small()).await;
    let sql = "SELECT big.a FROM big JOIN little ON big.a = little.a ORDER BY big.a";
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let rows = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
    assert_eq!(show(&rows), "5\n6");
    let scanned = scanned_rows(&plan);
    assert!(scanned < 1_200_000, "{scanned} rows were read");
}

#[tokio::test]
async fn counts_come_from_the_manifests() {
    let lake = three_files().await;
    let (rows, files) = read(&lake, "SELECT count(*), min(n), max(n) FROM t").await;
    assert_eq!((rows.as_str(), files), ("3 1 3", 0));
}

/// The scan is planned with the filter, and is given it again by the filter that stands above.
#[tokio::test]
async fn a_filter_stands_once_in_the_scan() {
    let lake = three_files().await;
    let session = lake.session(small()).await;
    let sql = "SELECT n FROM t WHERE n > 1 AND p <> 'c'";
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let scan = scan_of(&plan).unwrap();
    let predicate = scan.file_source.filter().unwrap();
    let parts = datafusion::physical_expr::split_conjunction(&predicate);
    assert_eq!(parts.len(), 2, "{predicate}");
}

/// A join of two narrow columns is not one of two whole files.
#[tokio::test]
async fn columns_have_sizes_and_the_file_has_none() {
    let lake = three_files().await;
    let session = lake.session(small()).await;
    let plan = session.sql("SELECT p, n FROM t").await.unwrap().create_physical_plan().await.unwrap();
    let statistics = plan.partition_statistics(None).unwrap();
    assert_eq!(statistics.total_byte_size.get_value(), None);
    assert_eq!(statistics.column_statistics[1].byte_size.get_value(), Some(&24));
    assert!(statistics.column_statistics[0].byte_size.get_value().is_some_and(|bytes| *bytes > 0));
    let plan = session.sql("SELECT n FROM t").await.unwrap().create_physical_plan().await.unwrap();
    assert_eq!(plan.partition_statistics(None).unwrap().total_byte_size.get_value(), Some(&24));
}
