//! What a user may not see is not found, in the very words of what does not exist (L8).

use testkit::{ADMIN, Client, Site};

async fn site() -> (Site, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE SCHEMA den",
        "CREATE SCHEMA side.far",
        "CREATE TABLE s.open (id BIGINT)",
        "CREATE TABLE s.shut (id BIGINT)",
        "CREATE VIEW s.veil AS SELECT id FROM s.shut",
        "CREATE TABLE den.t (id BIGINT)",
        "CREATE TABLE side.far.t (id BIGINT)",
        "CREATE USER ana",
        "GRANT SELECT ON s.open TO USER ana",
        "GRANT USAGE ON SCHEMA s TO USER ana",
        "GRANT CREATE VIEW ON SCHEMA s TO USER ana",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, ana)
}

/// Runs `template` with a hidden name and with one that does not exist, in the place of `@`.
async fn alike(user: &Client, template: &str, hidden: &str, missing: &str) {
    assert_eq!(hidden.len(), missing.len(), "positions in the text must agree");
    let one = user.fails(&template.replace('@', hidden)).await;
    let other = user.fails(&template.replace('@', missing)).await;
    assert_eq!(one.kind(), other.kind(), "{template} on {hidden}: {one:?} {other:?}");
    assert_eq!(one.message().replace(hidden, missing), other.message(), "{template}");
    assert_eq!(one.hint(), other.hint(), "{template}");
    assert_eq!(one.position(), other.position(), "{template}");
}

const STATEMENTS: &[&str] = &[
    "SELECT * FROM @",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM @)",
    "WITH c AS (SELECT * FROM @) SELECT 1",
    "SELECT (SELECT max(id) FROM @) FROM s.open",
    "EXPLAIN SELECT * FROM @",
    "INSERT INTO @ VALUES (1)",
    "INSERT INTO @ SELECT * FROM s.open",
    "DROP TABLE @",
    "DROP VIEW @",
    "ALTER TABLE @ ADD COLUMN c INT",
    "ALTER TABLE @ RENAME COLUMN id TO n",
    "ALTER TABLE @ DROP COLUMN id",
    "DESCRIBE @",
    "SHOW COLUMNS FROM @",
    "SHOW CREATE TABLE @",
    "GRANT SELECT ON @ TO USER ana",
    "REVOKE SELECT ON @ FROM USER ana",
    "DENY SELECT ON @ TO USER ana",
    "CREATE VIEW s.mine AS SELECT * FROM @",
    "CREATE TABLE s.mine AS SELECT * FROM @",
    "CREATE POLICY p ON TABLE @ ROW FILTER TO USER ana USING (id > 0)",
    "SHOW EFFECTIVE POLICY ON @",
    "CHECK ACCESS SELECT ON @",
];

#[tokio::test]
async fn a_hidden_relation_is_not_found_in_the_words_of_a_missing_one() {
    let (_site, ana) = site().await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.open").await, ["0"]);
    for template in STATEMENTS {
        for (hidden, missing) in [
            ("s.shut", "s.none"),
            ("s.veil", "s.none"),
            ("den.t", "dim.t"),
            ("side.far.t", "side.fog.t"),
            ("side.far.t", "tide.far.t"),
        ] {
            alike(&ana, template, hidden, missing).await;
        }
    }
}

#[tokio::test]
async fn a_hidden_schema_is_not_found_in_the_words_of_a_missing_one() {
    let (_site, ana) = site().await;
    for template in [
        "CREATE TABLE @.t2 (id BIGINT)",
        "CREATE TABLE @.t2 AS SELECT 1 AS id",
        "CREATE VIEW @.v2 AS SELECT 1 AS id",
        "DROP SCHEMA @",
        "USE @",
        "GRANT USAGE ON SCHEMA @ TO USER ana",
        "SHOW TABLES IN @",
        "SELECT * FROM @.nothing",
    ] {
        alike(&ana, template, "den", "dim").await;
        alike(&ana, template, "side.far", "side.fog").await;
    }
}

#[tokio::test]
async fn a_hidden_catalog_is_not_found_in_the_words_of_a_missing_one() {
    let (_site, ana) = site().await;
    for template in [
        "SELECT * FROM @.far.t",
        "USE CATALOG @",
        "CREATE SCHEMA @.more",
        "DROP SCHEMA @.far",
        "INSERT INTO @.far.t VALUES (1)",
    ] {
        alike(&ana, template, "side", "tide").await;
    }
}

#[tokio::test]
async fn a_table_granted_without_discovery_is_found_by_its_full_name() {
    let (site, ana) = site().await;
    site.client(ADMIN).await.ok("GRANT SELECT ON side.far.t TO USER ana WITHOUT DISCOVERY").await;
    assert_eq!(ana.rows("SELECT count(*) FROM side.far.t").await, ["0"]);
    assert_eq!(
        ana.rows("SELECT count(*) FROM information_schema.tables WHERE table_name = 't'").await,
        ["0"]
    );
}

#[tokio::test]
async fn if_exists_tells_no_more() {
    let (_site, ana) = site().await;
    for (hidden, missing) in [("s.shut", "s.none"), ("den.t", "dim.t")] {
        for template in ["DROP TABLE IF EXISTS @", "ALTER TABLE IF EXISTS @ ADD COLUMN c INT"] {
            let one = ana.ok(&template.replace('@', hidden)).await;
            let other = ana.ok(&template.replace('@', missing)).await;
            let told = one.notices.iter().map(|notice| notice.replace(hidden, missing)).collect::<Vec<_>>();
            assert_eq!(told, other.notices, "{template}");
        }
    }
}

#[tokio::test]
async fn listings_show_only_what_may_be_seen() {
    let (_site, ana) = site().await;
    for sql in [
        "SHOW TABLES IN s",
        "SELECT table_catalog, table_schema, table_name FROM information_schema.tables",
        "SELECT column_name, table_name FROM information_schema.columns",
        "SELECT schema_name FROM information_schema.schemata",
        "SELECT nspname FROM pg_catalog.pg_namespace",
        "SELECT relname FROM pg_catalog.pg_class",
    ] {
        let told = ana.rows(sql).await.join("\n");
        for word in ["shut", "veil", "den", "far", "side"] {
            assert!(!told.split(['|', '\n']).any(|value| value == word), "{word} in {sql}: {told}");
        }
    }
    let completed = ana.session().complete("").await.unwrap();
    assert!(completed.iter().all(|name| !name.contains("shut") && !name.contains("den")), "{completed:?}");
}

#[tokio::test]
async fn a_view_does_not_name_the_table_that_its_reader_may_not_see() {
    let (site, ana) = site().await;
    site.client(ADMIN).await.ok("GRANT SELECT ON VIEW s.veil TO USER ana").await;
    let error = ana.fails("SELECT * FROM s.veil").await;
    assert_eq!(error.kind().sqlstate(), "42P01");
    assert!(!error.message().contains("shut"), "{error:?}");
}
