//! A protection stays with its column, whatever that is called (L7).

use stdx::ErrorKind;
use testkit::{ADMIN, Client, Site};

async fn site() -> (Site, Client, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id BIGINT, region VARCHAR, ssn VARCHAR, note VARCHAR)",
        "INSERT INTO s.t VALUES (1, 'EU', '111', 'a'), (2, 'US', '222', 'b')",
        "CREATE USER ana",
        "GRANT SELECT ON s.t TO USER ana",
        "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER ana USING (region = 'EU')",
        "CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_NULL TO USER ana ON COLUMN ssn",
        "CREATE POLICY c ON TABLE s.t COLUMN MASK CUSTOM TO USER ana ON COLUMN note USING (concat(region, '-', id))",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, root, ana)
}

#[tokio::test]
async fn a_renamed_column_keeps_its_mask_and_its_filter() {
    let (_site, root, ana) = site().await;
    assert_eq!(ana.rows("SELECT * FROM s.t").await, ["1|EU|NULL|EU-1"]);
    root.all(&[
        "ALTER TABLE s.t RENAME COLUMN ssn TO number",
        "ALTER TABLE s.t RENAME COLUMN region TO place",
        "ALTER TABLE s.t RENAME COLUMN note TO remark",
    ])
    .await;
    let answer = ana.ok("SELECT * FROM s.t").await;
    assert_eq!(answer.columns, ["id", "place", "number", "remark"]);
    assert_eq!(answer.rows, ["1|EU|NULL|EU-1"]);
    assert_eq!(root.rows("SELECT count(number) FROM s.t").await, ["2"]);
}

#[tokio::test]
async fn two_columns_that_swap_their_names_both_stay_protected() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "ALTER TABLE s.t RENAME COLUMN ssn TO x",
        "ALTER TABLE s.t RENAME COLUMN id TO y",
        "ALTER TABLE s.t ADD COLUMN ssn VARCHAR",
        "INSERT INTO s.t (y, region, x, note, ssn) VALUES (4, 'EU', '444', 'd', 'new')",
    ])
    .await;
    let answer = ana.ok("SELECT x, ssn FROM s.t").await.sorted();
    assert_eq!(answer.rows, ["NULL|NULL", "NULL|NULL"], "the old column by its id, the new one by its name");
}

#[tokio::test]
async fn a_column_that_a_policy_needs_is_not_dropped() {
    let (_site, root, ana) = site().await;
    // One is read by the filter, the other by the mask of a third column.
    for column in ["region", "id"] {
        let error = root.fails(&format!("ALTER TABLE s.t DROP COLUMN {column}")).await;
        assert_eq!(error.kind(), ErrorKind::Dependent, "{column}: {error:?}");
    }
    root.ok("ALTER TABLE s.t RENAME COLUMN region TO place").await;
    let error = root.fails("ALTER TABLE s.t DROP COLUMN place").await;
    assert_eq!(error.kind(), ErrorKind::Dependent, "{error:?}");
    assert!(error.message().contains(": c, f") || error.message().contains(": f, c"), "{error:?}");
    // One who alters the table and may write no policy is not told which it is.
    root.ok("GRANT ALTER ON s.t TO USER ana").await;
    let error = ana.fails("ALTER TABLE s.t DROP COLUMN place").await;
    assert_eq!(error.kind(), ErrorKind::Dependent, "{error:?}");
    assert!(error.message().ends_with("s.t"), "{error:?}");
}

#[tokio::test]
async fn a_column_dropped_and_added_under_its_name_stays_masked() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "ALTER TABLE s.t DROP COLUMN ssn",
        "ALTER TABLE s.t ADD COLUMN ssn VARCHAR",
        "INSERT INTO s.t (id, region, note, ssn) VALUES (3, 'EU', 'c', '333')",
    ])
    .await;
    assert_eq!(ana.rows("SELECT count(*), count(ssn) FROM s.t").await, ["2|0"]);
    assert_eq!(root.rows("SELECT count(*), count(ssn) FROM s.t").await, ["3|1"]);
    // Under another type there is nothing that the mask would give away either.
    root.all(&[
        "ALTER TABLE s.t DROP COLUMN ssn",
        "ALTER TABLE s.t ADD COLUMN ssn BIGINT",
        "INSERT INTO s.t (id, region, note, ssn) VALUES (4, 'EU', 'd', 444)",
    ])
    .await;
    assert_eq!(ana.rows("SELECT count(*), count(ssn) FROM s.t").await, ["3|0"]);
}

#[tokio::test]
async fn a_table_made_anew_under_a_protected_name_is_protected_by_name() {
    let (_site, root, ana) = site().await;
    root.ok("DROP TABLE s.t").await;
    let made = root.ok("CREATE TABLE s.t (id BIGINT, region VARCHAR, ssn VARCHAR, note VARCHAR)").await;
    assert!(made.notices.iter().any(|notice| notice.contains("protected by name")), "{:?}", made.notices);
    root.all(&[
        "INSERT INTO s.t VALUES (1, 'EU', '111', 'a'), (2, 'US', '222', 'b')",
        "GRANT SELECT ON s.t TO USER ana",
    ])
    .await;
    assert_eq!(ana.rows("SELECT * FROM s.t").await, ["1|EU|NULL|EU-1"]);
    root.all(&[
        "DROP TABLE s.t",
        "CREATE TABLE s.t (id BIGINT)",
        "INSERT INTO s.t VALUES (1)",
        "GRANT SELECT ON s.t TO USER ana",
    ])
    .await;
    // The filter's column is not there: nothing can be bound, and nothing is read.
    assert_eq!(ana.fails("SELECT * FROM s.t").await.kind(), ErrorKind::Unavailable);
}
