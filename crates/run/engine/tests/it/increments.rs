//! Rows that were added between two states are read under the policies of today, by the identity of columns (L1, L2, L7).

use testkit::{ADMIN, Client, Site};

async fn site() -> (Site, Client, Vec<String>) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE USER ana",
        "CREATE USER bo",
        "CREATE TABLE s.t (id INT, region VARCHAR, ssn VARCHAR)",
        "INSERT INTO s.t VALUES (1, 'EU', '111-22-1111'), (2, 'US', '111-22-2222')",
        "INSERT INTO s.t VALUES (3, 'EU', '111-22-3333'), (4, 'US', '111-22-4444')",
        "INSERT INTO s.t VALUES (5, 'US', '111-22-5555')",
        "GRANT SELECT ON s.t TO ana, bo",
    ])
    .await;
    let states =
        root.rows("SELECT snapshot_id FROM s.\"t$snapshots\" ORDER BY committed_at, snapshot_id").await;
    assert_eq!(states.len(), 3, "{states:?}");
    (site, root, states)
}

fn between(columns: &str, from: &str, to: &str) -> String {
    format!("SELECT {columns} FROM s.t FOR INCREMENTAL BETWEEN SNAPSHOT {from} AND {to} ORDER BY 1")
}

const GOVERN: [&str; 2] = [
    "CREATE POLICY eu ON TABLE s.t ROW FILTER TO ana USING (region = 'EU')",
    "CREATE POLICY ssn ON TABLE s.t COLUMN MASK MASK_SHOW_LAST_4 TO ana ON COLUMN ssn",
];

#[tokio::test]
async fn an_increment_shows_visible_rows_and_masked_values() {
    let (site, root, states) = site().await;
    let (ana, bo) = (site.client("ana").await, site.client("bo").await);
    let increment = between("id, ssn", &states[0], &states[1]);
    assert_eq!(ana.rows(&increment).await, ["3|111-22-3333", "4|111-22-4444"]);
    root.all(&GOVERN).await;
    assert_eq!(bo.rows(&increment).await, ["3|111-22-3333", "4|111-22-4444"]);
    assert_eq!(ana.rows(&increment).await, ["3|xxx-xx-3333"]);
    // The masked value is what conditions see, and a row that is hidden is in no count.
    let counted = |condition: &str| {
        let rows = format!("s.t FOR INCREMENTAL BETWEEN SNAPSHOT {} AND {}", states[0], states[2]);
        format!("SELECT count(*) FROM {rows} WHERE {condition}")
    };
    assert_eq!(ana.rows(&counted("TRUE")).await, ["1"]);
    assert_eq!(bo.rows(&counted("TRUE")).await, ["3"]);
    assert_eq!(ana.rows(&counted("ssn = '111-22-3333'")).await, ["0"]);
    assert_eq!(ana.rows(&counted("ssn = 'xxx-xx-3333'")).await, ["1"]);
    // An increment of which nothing is visible is as one in which nothing was added.
    assert!(ana.rows(&between("id", &states[1], &states[2])).await.is_empty());
}

#[tokio::test]
async fn an_increment_is_governed_by_the_identity_of_its_columns() {
    let (site, root, states) = site().await;
    root.all(&GOVERN).await;
    root.all(&[
        "ALTER TABLE s.t RENAME COLUMN ssn TO tax_no",
        "ALTER TABLE s.t RENAME COLUMN region TO area",
        "ALTER TABLE s.t ADD COLUMN ssn VARCHAR",
    ])
    .await;
    let ana = site.client("ana").await;
    let all = |user: Client, columns: &'static str| {
        let increment = between(columns, &states[0], &states[2]);
        async move { user.run(&increment).await.map(|answer| answer.rows) }
    };
    let seen = all(ana, "*").await.unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("3|EU|xxx-xx-3333"), "{seen:?}");
    let whole = all(root, "*").await.unwrap();
    assert_eq!(whole.len(), 3, "{whole:?}");
    assert!(whole[0].starts_with("3|EU|111-22-3333"), "{whole:?}");
}
