//! Statements that could carry a scan past enforcement are governed at each run, or refused by name (L3).

use testkit::{ADMIN, Client, Site};

async fn site() -> (Site, Client, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id BIGINT, region VARCHAR, ssn VARCHAR)",
        "INSERT INTO s.t VALUES (1, 'EU', '111'), (2, 'US', '222'), (3, 'EU', '333')",
        "CREATE USER ana",
        "GRANT SELECT ON s.t TO USER ana",
        "GRANT CREATE VIEW, CREATE TABLE ON SCHEMA s TO USER ana",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, root, ana)
}

const FILTER: &str = "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER ana USING (region = 'EU')";
const MASK: &str = "CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_NULL TO USER ana ON COLUMN ssn";

#[tokio::test]
async fn a_prepared_statement_obeys_the_policy_of_the_moment_it_runs() {
    let (_site, root, ana) = site().await;
    ana.ok("PREPARE q AS SELECT id, ssn FROM s.t WHERE id < $1 ORDER BY id").await;
    assert_eq!(ana.rows("EXECUTE q(9)").await, ["1|111", "2|222", "3|333"]);
    root.ok(FILTER).await;
    assert_eq!(ana.rows("EXECUTE q(9)").await, ["1|111", "3|333"]);
    root.ok(MASK).await;
    assert_eq!(ana.rows("EXECUTE q(9)").await, ["1|NULL", "3|NULL"]);
    root.ok("REVOKE SELECT ON s.t FROM USER ana").await;
    assert_eq!(ana.fails("EXECUTE q(9)").await.kind().sqlstate(), "42P01");
    root.all(&["GRANT SELECT ON s.t TO USER ana", "DROP POLICY f", "DROP POLICY m"]).await;
    assert_eq!(ana.rows("EXECUTE q(9)").await, ["1|111", "2|222", "3|333"]);
}

#[tokio::test]
async fn a_view_obeys_the_policies_of_its_reader_at_the_moment_it_is_read() {
    let (site, root, ana) = site().await;
    root.all(&[
        "CREATE VIEW s.v AS SELECT * FROM s.t",
        "CREATE VIEW s.w AS SELECT id, ssn FROM s.v",
        "GRANT SELECT ON VIEW s.v TO USER ana",
        "GRANT SELECT ON VIEW s.w TO USER ana",
    ])
    .await;
    ana.ok("CREATE VIEW s.mine AS SELECT id, ssn FROM s.t").await;
    assert_eq!(ana.rows("SELECT count(*), count(ssn) FROM s.w").await, ["3|3"]);
    root.all(&[FILTER, MASK]).await;
    for view in ["s.v", "s.w", "s.mine"] {
        assert_eq!(ana.rows(&format!("SELECT count(*), count(ssn) FROM {view}")).await, ["2|0"], "{view}");
    }
    // Her policies are not frozen into a view of hers: another reader sees her own.
    assert_eq!(root.rows("SELECT count(*), count(ssn) FROM s.mine").await, ["3|3"]);
    root.all(&["CREATE USER bob", "GRANT SELECT ON VIEW s.mine TO USER bob"]).await;
    let bob = site.client("bob").await;
    assert_eq!(bob.fails("SELECT * FROM s.mine").await.kind().sqlstate(), "42P01");
}

#[tokio::test]
async fn a_new_policy_binds_the_next_statement_of_every_open_session() {
    let (_site, root, ana) = site().await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.t").await, ["3"]);
    root.ok(FILTER).await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.t").await, ["2"]);
    root.ok("ALTER POLICY f DISABLE").await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.t").await, ["3"]);
    root.ok("ALTER POLICY f ENABLE").await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.t").await, ["2"]);
}

#[tokio::test]
async fn what_is_not_offered_is_refused_by_name() {
    let (_site, root, ana) = site().await;
    root.all(&[FILTER, MASK]).await;
    for client in [&root, &ana] {
        for sql in [
            "CREATE TABLE s.d (id BIGINT DEFAULT (SELECT max(id) FROM s.t))",
            "CREATE TABLE s.d (id BIGINT DEFAULT 1)",
            "CREATE FUNCTION g(n BIGINT) RETURNS BIGINT RETURN (SELECT max(id) FROM s.t)",
            "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION '/tmp/x.parquet'",
            "CREATE TEMPORARY VIEW x AS SELECT * FROM s.t",
            "CREATE MATERIALIZED VIEW s.x AS SELECT * FROM s.t",
            "CREATE TEMPORARY TABLE x AS SELECT * FROM s.t",
            "SELECT * INTO s.x FROM s.t",
            "EXPLAIN ANALYZE SELECT * FROM s.t",
            "EXPLAIN FORMAT JSON SELECT * FROM s.t",
            "EXPLAIN INSERT INTO s.t SELECT * FROM s.t",
            "PREPARE p AS DROP TABLE s.t",
            "EXECUTE IMMEDIATE 'SELECT * FROM s.t'",
            "SET datafusion.optimizer.max_passes = 0",
            "SET datafusion.execution.parquet.pushdown_filters = true",
            "ANALYZE TABLE s.t COMPUTE STATISTICS",
            "LOAD DATA INPATH '/tmp/x' INTO TABLE s.t",
            "CALL system.anything()",
        ] {
            client.fails(sql).await;
        }
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.t").await, ["3"]);
}

#[tokio::test]
async fn table_functions_off_the_list_do_not_exist() {
    let (_site, _root, ana) = site().await;
    for sql in [
        "SELECT * FROM parquet_metadata('/tmp/x.parquet')",
        "SELECT * FROM metadata_cache()",
        "SELECT * FROM no_such_function(1)",
        "SELECT * FROM s.t('x')",
        "SELECT * FROM t$files",
        "SELECT * FROM s.\"t$entries\"",
        "SELECT * FROM s.t.files",
    ] {
        let error = ana.fails(sql).await;
        assert!(!matches!(error.kind().sqlstate(), "XX000"), "{sql}: {error:?}");
    }
    assert_eq!(ana.rows("SELECT count(*) FROM generate_series(1, 3)").await, ["3"]);
}

#[tokio::test]
async fn hidden_columns_of_files_are_no_columns() {
    let (_site, _root, ana) = site().await;
    for column in ["_file", "_pos", "_partition", "_row_id", "_last_updated_sequence_number", "_deleted"] {
        assert_eq!(
            ana.fails(&format!("SELECT {column} FROM s.t")).await.kind().sqlstate(),
            "42703",
            "{column}"
        );
    }
}
