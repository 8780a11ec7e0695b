//! What is tagged, what its tags do, and what happens while nobody knows them (L6, L7).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalog::{COLUMN_TAGS, FieldTags, TableHandle};
use engine::{EngineSettings, PropertyTags, TagSource, TagsUnknown};
use stdx::ErrorKind;
use testkit::{ADMIN, Client, Site};

/// The property, as long as nothing is broken.
#[derive(Debug, Default)]
struct Breakable {
    is_broken: AtomicBool,
}

impl TagSource for Breakable {
    fn field_tags(&self, table: &TableHandle) -> Result<FieldTags, TagsUnknown> {
        match self.is_broken.load(Ordering::SeqCst) {
            true => Err(TagsUnknown),
            false => PropertyTags.field_tags(table),
        }
    }
}

async fn tables(root: &Client) {
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id INT, ssn VARCHAR)",
        "INSERT INTO s.t VALUES (1, '111-22-3333')",
        "CREATE TABLE s.u (id INT)",
        "CREATE VIEW s.v AS SELECT id FROM s.t",
        "CREATE USER ana",
        "CREATE USER bo",
        "GRANT SELECT ON s.t, s.u TO USER ana, USER bo",
        "GRANT SELECT ON VIEW s.v TO USER ana",
        "GRANT INSERT, UPDATE, DELETE, TRUNCATE, MERGE ON s.t, s.u TO USER ana",
        "CREATE POLICY pii ON TAG PII COLUMN MASK MASK_SHOW_LAST_4 TO USER ana",
        "ALTER TABLE s.t SET TAGS (ssn = ('PII'))",
    ])
    .await;
}

async fn unavailable(client: &Client, sql: &str) {
    let error = client.fails(sql).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{sql}: {error:?}");
    assert!(error.message().starts_with("policy unavailable for table 'lake.s."), "{sql}: {error:?}");
    let hint = error.hint().unwrap_or_default().to_owned();
    assert!(hint.starts_with("the tags of the table's columns are not known"), "{sql}: {hint}");
}

#[tokio::test]
async fn while_tags_are_unknown_no_row_leaves_and_nothing_is_written() {
    let site = Site::open().await;
    let source = Arc::new(Breakable::default());
    let settings = EngineSettings { tag_source: Arc::clone(&source) as _, ..EngineSettings::default() };
    let engine = site.engine(settings);
    let root = Client::open(&engine, ADMIN).await;
    tables(&root).await;
    let ana = Client::open(&engine, "ana").await;
    let reads = [
        "SELECT * FROM s.t",
        "SELECT count(*) FROM s.t",
        "SELECT id FROM s.v",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM s.t)",
        "SELECT * FROM (VALUES (1)) x(id) JOIN s.u ON x.id = u.id",
    ];
    let writes = [
        "INSERT INTO s.t VALUES (2, 'x')",
        "INSERT INTO s.u SELECT id FROM s.t",
        "UPDATE s.t SET id = 5",
        "DELETE FROM s.t",
        "TRUNCATE TABLE s.t",
        "MERGE INTO s.t USING (VALUES (1)) x(id) ON t.id = x.id WHEN MATCHED THEN DELETE",
    ];
    for sql in reads {
        ana.ok(sql).await;
    }
    source.is_broken.store(true, Ordering::SeqCst);
    for sql in reads.into_iter().chain(writes) {
        unavailable(&ana, sql).await;
    }
    for sql in ["CREATE TABLE s.copy AS SELECT * FROM s.t", "CREATE OR REPLACE TABLE s.t AS SELECT 1 AS id"] {
        unavailable(&root, sql).await;
    }
    for sql in ["SHOW TAGS ON s.t", "SHOW STATS FOR s.t", "SELECT * FROM s.\"t$files\""] {
        let error = root.fails(sql).await;
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{sql}: {error:?}");
    }
    // What bears no tag at all is no better off: unknown is not untagged.
    unavailable(&ana, "SELECT * FROM s.u").await;
    source.is_broken.store(false, Ordering::SeqCst);
    assert_eq!(ana.rows("SELECT * FROM s.t").await, ["1|xxx-xx-3333"]);
    assert_eq!(root.rows("SELECT * FROM s.t").await, ["1|111-22-3333"], "nothing was written");
    assert_eq!(root.fails("SELECT * FROM s.copy").await.kind(), ErrorKind::TableNotFound);
}

#[tokio::test]
async fn a_property_that_cannot_be_read_is_no_empty_one() {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    tables(&root).await;
    let ana = site.client("ana").await;
    let catalog = &site.catalogs[0];
    let namespace = ["s".to_owned()];
    let set = |text: &str| {
        let set = [(COLUMN_TAGS.to_owned(), text.to_owned())].into();
        catalog.set_properties(&namespace, "t", set, Vec::new())
    };
    set("{\"ssn\": \"PII\"}").await.unwrap();
    unavailable(&ana, "SELECT id FROM s.t").await;
    unavailable(&root, "SELECT id FROM s.t").await;
    assert_eq!(root.fails("ALTER TABLE s.t UNSET TAGS (ssn)").await.kind(), ErrorKind::Unavailable);
    set("{\"SSN\": [\"PII\"]}").await.unwrap();
    assert_eq!(ana.rows("SELECT ssn FROM s.t").await, ["xxx-xx-3333"], "case does not unprotect");
}

#[tokio::test]
async fn a_table_whose_property_is_lost_is_still_tagged_by_the_store() {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    tables(&root).await;
    let ana = site.client("ana").await;
    let catalog = &site.catalogs[0];
    catalog.set_properties(&["s".to_owned()], "t", [].into(), vec![COLUMN_TAGS.to_owned()]).await.unwrap();
    assert_eq!(ana.rows("SELECT ssn FROM s.t").await, ["xxx-xx-3333"]);
    assert_eq!(
        root.rows("CALL system.reproject_column_tags(catalog => 'lake')").await,
        ["lake.s.t|projected|1|NULL", "lake.s.u|skipped|0|no column bears a tag"]
    );
    let table = catalog.load(&["s".to_owned()], "t").await.unwrap().unwrap();
    assert_eq!(table.properties[COLUMN_TAGS], r#"{"ssn":["PII"]}"#);
}

#[tokio::test]
async fn every_change_of_tags_leaves_a_line_in_the_audit() {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    tables(&root).await;
    let ana = site.client("ana").await;
    ana.fails("ALTER TABLE s.t UNSET TAGS (ssn)").await;
    root.ok("CREATE TABLE s.w (a VARCHAR)").await;
    root.ok("INSERT INTO s.w SELECT ssn FROM s.t").await;
    root.ok("ALTER TABLE s.t MODIFY COLUMN ssn UNSET TAG PII").await;
    root.ok("CALL system.reproject_column_tags(table => 's.w')").await;
    let of_tags = ["SET TAGS", "UNSET TAGS", "carry-tags", "reproject"];
    let mut told: Vec<String> = Vec::new();
    for _ in 0..20_000 {
        let records = site.records.records();
        told = records
            .iter()
            .filter(|record| of_tags.contains(&record.access.as_str()))
            .map(|r| format!("{} {} {} {:?}", r.user, r.access, r.resource, r.result))
            .collect();
        if told.len() == 5 {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(
        told,
        [
            "root SET TAGS lake.s.t Allowed",
            "ana UNSET TAGS  Denied",
            "root carry-tags lake.s.w Allowed",
            "root UNSET TAGS lake.s.t Allowed",
            "root reproject s.w Allowed",
        ]
    );
}

#[tokio::test]
async fn tags_set_by_several_at_once_are_all_kept() {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&["CREATE SCHEMA s", "CREATE TABLE s.t (a VARCHAR, b VARCHAR, c VARCHAR)"]).await;
    let others = [site.client(ADMIN).await, site.client(ADMIN).await];
    tokio::join!(
        root.ok("ALTER TABLE s.t SET TAGS (a = ('ONE'), b = ('ONE'))"),
        others[0].ok("ALTER TABLE s.t SET TAGS (b = ('TWO'))"),
        others[1].ok("ALTER TABLE s.t SET TAGS (c = ('THREE'), b = ('THREE'))"),
    );
    assert_eq!(root.rows("SHOW TAGS ON s.t").await, ["a|ONE", "b|ONE", "b|THREE", "b|TWO", "c|THREE"]);
    let store = site.store.current();
    assert_eq!(store.state().tags.len(), 5);
    assert_eq!(store.state().tagged_resources.len(), 3);
}
