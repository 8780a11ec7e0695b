//! Writes see visible rows and masked values, and leave nothing that the writer could not see (L9).

use stdx::ErrorKind;
use testkit::{ADMIN, Client, Site};

async fn site() -> (Site, Client, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id BIGINT, region VARCHAR, ssn VARCHAR)",
        "INSERT INTO s.t VALUES (1, 'EU', '111'), (2, 'US', '222'), (3, 'EU', '333')",
        "CREATE TABLE s.sink (id BIGINT, region VARCHAR, ssn VARCHAR)",
        "CREATE USER ana",
        "GRANT SELECT, INSERT ON s.t TO USER ana",
        "GRANT SELECT, INSERT ON s.sink TO USER ana",
        "GRANT CREATE TABLE, CREATE VIEW ON SCHEMA s TO USER ana",
        "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER ana USING (region = 'EU')",
        "CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_NULL TO USER ana ON COLUMN ssn",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, root, ana)
}

#[tokio::test]
async fn a_row_that_its_writer_could_not_see_is_refused_and_nothing_is_written() {
    let (_site, root, ana) = site().await;
    for sql in [
        "INSERT INTO s.t VALUES (9, 'US', 'x')",
        "INSERT INTO s.t VALUES (8, 'EU', 'x'), (9, 'US', 'x')",
        "INSERT INTO s.t (id, ssn) VALUES (9, 'x')",
        "INSERT INTO s.t VALUES (9, NULL, 'x')",
        "INSERT INTO s.t SELECT value, CASE WHEN value < 9000 THEN 'EU' ELSE 'US' END, 'x' FROM generate_series(1, 10000)",
    ] {
        let error = ana.fails(sql).await;
        assert_eq!(error.kind(), ErrorKind::Denied, "{sql}: {error:?}");
        assert!(!error.message().contains("US") && !error.message().contains("region"), "{error:?}");
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.t").await, ["3"]);
    assert_eq!(ana.ok("INSERT INTO s.t VALUES (8, 'EU', '888')").await.n_written, Some(1));
    assert_eq!(root.rows("SELECT * FROM s.t WHERE id = 8").await, ["8|EU|888"]);
    // One without a filter may write the very same.
    root.ok("INSERT INTO s.t VALUES (9, 'US', 'x')").await;
}

#[tokio::test]
async fn a_copy_holds_visible_rows_and_masked_values() {
    let (_site, root, ana) = site().await;
    let copies = [
        "INSERT INTO s.sink SELECT * FROM s.t",
        "INSERT INTO s.sink (ssn, id) SELECT ssn, id FROM s.t WHERE ssn IS NULL",
        "CREATE TABLE s.copy AS SELECT * FROM s.t",
        "CREATE TABLE s.kept AS WITH c AS (SELECT * FROM s.t) SELECT max(ssn) AS ssn, count(*) AS n FROM c",
    ];
    for sql in copies {
        ana.ok(sql).await;
    }
    assert_eq!(
        root.ok("SELECT * FROM s.sink").await.sorted().rows,
        ["1|EU|NULL", "1|NULL|NULL", "3|EU|NULL", "3|NULL|NULL"]
    );
    assert_eq!(root.ok("SELECT * FROM s.copy").await.sorted().rows, ["1|EU|NULL", "3|EU|NULL"]);
    assert_eq!(root.rows("SELECT * FROM s.kept").await, ["NULL|2"]);
}

#[tokio::test]
async fn masked_values_are_not_written_back_into_their_table() {
    let (_site, root, ana) = site().await;
    for sql in [
        "INSERT INTO s.t SELECT * FROM s.t",
        "INSERT INTO s.t SELECT 7, 'EU', (SELECT max(ssn) FROM s.t)",
        "INSERT INTO s.t WITH c AS (SELECT * FROM s.t) SELECT * FROM c",
    ] {
        let error = ana.fails(sql).await;
        assert_eq!(error.kind(), ErrorKind::Denied, "{sql}: {error:?}");
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.t").await, ["3"]);
}

#[tokio::test]
async fn an_insert_needs_to_read_what_it_reads() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.shut (id BIGINT, region VARCHAR, ssn VARCHAR)",
        "CREATE TABLE s.box (id BIGINT)",
        "GRANT INSERT ON s.box TO USER ana",
    ])
    .await;
    assert_eq!(ana.fails("INSERT INTO s.t SELECT * FROM s.shut").await.kind(), ErrorKind::TableNotFound);
    // The right to write does not let the target be read.
    assert_eq!(ana.fails("INSERT INTO s.box SELECT id FROM s.box").await.kind(), ErrorKind::TableNotFound);
    assert_eq!(ana.ok("INSERT INTO s.box VALUES (1)").await.n_written, Some(1));
}

#[tokio::test]
async fn a_source_that_fails_writes_nothing() {
    let (_site, root, ana) = site().await;
    let error = ana.fails("INSERT INTO s.sink SELECT 1/(id-3), region, ssn FROM s.t").await;
    assert_eq!(error.kind(), ErrorKind::DivisionByZero, "{error:?}");
    assert_eq!(root.rows("SELECT count(*) FROM s.sink").await, ["0"]);
    // The hidden row is the one that would fail here.
    assert_eq!(ana.ok("INSERT INTO s.sink SELECT 1/(id-2), region, ssn FROM s.t").await.n_written, Some(2));
}

#[tokio::test]
async fn other_writes_are_refused_by_name() {
    let (_site, root, ana) = site().await;
    for client in [&root, &ana] {
        for sql in [
            "REPLACE INTO s.t VALUES (1, 'EU', 'x')",
            "INSERT OVERWRITE TABLE s.t PARTITION (region = 'EU') SELECT id, ssn FROM s.sink",
            "INSERT INTO s.t VALUES (1, 'EU', 'x') ON CONFLICT DO NOTHING",
            "INSERT INTO s.t VALUES (1, 'EU', 'x') RETURNING ssn",
            "COPY s.t TO '/tmp/out.parquet'",
            "COPY (SELECT * FROM s.t) TO '/tmp/out.parquet'",
        ] {
            let error = client.fails(sql).await;
            assert!(matches!(error.kind().sqlstate(), "0A000" | "42601"), "{sql}: {error:?}");
        }
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.t").await, ["3"]);
}
