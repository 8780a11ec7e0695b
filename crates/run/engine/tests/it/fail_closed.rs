//! Where a policy cannot be had, built or run, no row leaves, and the reader is told why (L6).

use stdx::ErrorKind;
use testkit::{ADMIN, Client, Site};

/// A table whose texts would be told by any error that names a value.
async fn site() -> (Site, Client, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id BIGINT, a VARCHAR, n INT, d DATE)",
        "INSERT INTO s.t VALUES (1, '10', 1, DATE '2024-05-06'), (2, 'geheim', 2, DATE '2023-05-06')",
        "CREATE USER ana",
        "GRANT SELECT ON s.t TO USER ana",
        "GRANT INSERT ON s.t TO USER ana",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, root, ana)
}

async fn unavailable(ana: &Client, sql: &str) {
    let error = ana.fails(sql).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{sql}: {error:?}");
    let told = format!("{} {:?}", error.message(), error.hint());
    assert!(error.message().starts_with("policy unavailable"), "{told}");
    for secret in ["geheim", "CAST", "Cast", "1/", "region", "rows_"] {
        assert!(!told.contains(secret), "{sql} tells {secret}: {told}");
    }
}

#[tokio::test]
async fn a_filter_that_cannot_be_bound_lets_no_row_out() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.later (id BIGINT, a VARCHAR)",
        "CREATE POLICY rows_later ON TABLE s.later ROW FILTER TO USER ana USING (a <> 'geheim')",
        // The name is protected, and the column that the filter reads is not there any more.
        "DROP TABLE s.later",
        "CREATE TABLE s.later (id BIGINT)",
        "INSERT INTO s.later VALUES (1)",
        "GRANT SELECT ON s.later TO USER ana",
        "GRANT INSERT ON s.later TO USER ana",
    ])
    .await;
    for sql in [
        "SELECT * FROM s.later",
        "SELECT count(*) FROM s.later",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM s.later)",
        "EXPLAIN SELECT * FROM s.later",
        "INSERT INTO s.later VALUES (2)",
    ] {
        unavailable(&ana, sql).await;
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.later").await, ["1"]);
}

#[tokio::test]
async fn a_filter_that_fails_when_it_runs_tells_no_value() {
    let (_site, root, ana) = site().await;
    root.ok("CREATE POLICY rows_cast ON TABLE s.t ROW FILTER TO USER ana USING (CAST(a AS INT) > 0)").await;
    // The same expression in a query of one who sees the table names the value: the text is there to be told.
    assert!(root.fails("SELECT * FROM s.t WHERE CAST(a AS INT) > 0").await.message().contains("geheim"));
    for sql in [
        "SELECT * FROM s.t",
        "SELECT count(*) FROM s.t",
        "SELECT id FROM s.t WHERE id = 2 ORDER BY n LIMIT 1",
    ] {
        unavailable(&ana, sql).await;
    }
}

#[tokio::test]
async fn a_mask_that_fails_when_it_runs_tells_no_value() {
    let (_site, root, ana) = site().await;
    root.ok("CREATE POLICY m ON TABLE s.t COLUMN MASK CUSTOM TO USER ana ON COLUMN a USING (CAST(CAST({col} AS INT) AS VARCHAR))")
        .await;
    for sql in
        ["SELECT a FROM s.t", "SELECT count(*) FROM s.t WHERE a = '10'", "SELECT max(a) FROM s.t GROUP BY id"]
    {
        unavailable(&ana, sql).await;
    }
    assert_eq!(ana.rows("SELECT id FROM s.t ORDER BY id").await, ["1", "2"]);
}

#[tokio::test]
async fn a_mask_that_cannot_be_built_restricts_its_column() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.made (id BIGINT, a VARCHAR, b VARCHAR)",
        "CREATE POLICY m ON TABLE s.made COLUMN MASK CUSTOM TO USER ana ON COLUMN a USING (concat(b, 'x'))",
        "DROP TABLE s.made",
        "CREATE TABLE s.made (id BIGINT, a VARCHAR NOT NULL)",
        "INSERT INTO s.made VALUES (1, 'geheim')",
        "GRANT SELECT ON s.made TO USER ana",
    ])
    .await;
    assert_eq!(ana.rows("SELECT id, a FROM s.made").await, ["1|NULL"]);
    assert_eq!(ana.rows("SELECT count(*) FROM s.made WHERE a IS NULL").await, ["1"]);
    assert_eq!(ana.rows("SELECT count(a) FROM s.made WHERE a = 'geheim'").await, ["0"]);
}

#[tokio::test]
async fn a_hash_does_not_fit_a_number_and_is_refused_when_written() {
    let (_site, root, _ana) = site().await;
    let error =
        root.fails("CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_HASH TO USER ana ON COLUMN n").await;
    assert_eq!(error.kind(), ErrorKind::TypeMismatch, "{error:?}");
}
