//! The engine on a runtime of one thread, as the shell and other embedders start it.

use testkit::{ADMIN, Site};

#[test]
fn a_runtime_of_one_thread_is_enough() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let site = Site::open().await;
        let root = site.client(ADMIN).await;
        root.all(&[
            "CREATE SCHEMA s",
            "CREATE TABLE s.a AS SELECT value AS id FROM generate_series(1, 5000)",
            "CREATE VIEW s.v AS SELECT id FROM s.a WHERE id > 10",
            "CREATE USER ana",
            "GRANT SELECT ON s.a TO USER ana",
            "GRANT SELECT ON VIEW s.v TO USER ana",
            "CREATE POLICY p ON TABLE s.a ROW FILTER TO USER ana USING (id <= 20)",
        ])
        .await;
        let ana = site.client("ana").await;
        // Two statements of two sessions, neither of which may keep the thread from the other.
        let sql = "SELECT count(*), sum(x.id) FROM s.v x JOIN s.a y ON x.id = y.id";
        let (hers, all) = tokio::join!(ana.rows(sql), root.rows(sql));
        assert_eq!(hers, ["10|155"]);
        assert_eq!(all, ["4990|12502445"]);
        assert_eq!(
            ana.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 's'").await.len(),
            2
        );
        root.ok("INSERT INTO s.a SELECT id + 5000 FROM s.a").await;
        assert_eq!(root.rows("SELECT count(*) FROM s.a").await, ["10000"]);
    });
}
