//! UPDATE, DELETE, MERGE and their like touch visible rows through masked eyes, and leave every other cell alone (L9).

mod random;

use stdx::ErrorKind;
use testkit::{ADMIN, Client, Site};

/// `ana` sees the rows of the EU, of `ssn` nothing but NULL, of `note` the last four, and of `pay` nothing at all.
async fn site() -> (Site, Client, Client) {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id BIGINT, region VARCHAR, ssn VARCHAR, note VARCHAR, pay DOUBLE)",
        "INSERT INTO s.t VALUES (1, 'EU', '111', 'abcd-1234', 10.5), (2, 'US', '222', 'efgh-5678', 20.5), \
         (3, 'EU', '333', NULL, 30.5), (4, NULL, '444', 'x', 40.5), (5, 'EU', NULL, 'yyyy-9999', NULL)",
        "CREATE TABLE s.src (k BIGINT, v VARCHAR)",
        "INSERT INTO s.src VALUES (1, 'one'), (2, 'two'), (9, 'nine'), (NULL, 'null')",
        "CREATE USER ana",
        "GRANT SELECT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE ON s.t TO USER ana",
        "GRANT SELECT ON s.src TO USER ana",
        "CREATE POLICY f ON TABLE s.t ROW FILTER TO USER ana USING (region = 'EU')",
        "CREATE POLICY m ON TABLE s.t COLUMN MASK MASK_NULL TO USER ana ON COLUMN ssn",
        "CREATE POLICY n ON TABLE s.t COLUMN MASK MASK_SHOW_LAST_4 TO USER ana ON COLUMN note",
        "DENY SELECT (pay) ON s.t TO USER ana",
    ])
    .await;
    let ana = site.client("ana").await;
    (site, root, ana)
}

const ALL: &str = "SELECT * FROM s.t ORDER BY id";

const BEFORE: [&str; 5] = [
    "1|EU|111|abcd-1234|10.5",
    "2|US|222|efgh-5678|20.5",
    "3|EU|333|NULL|30.5",
    "4|NULL|444|x|40.5",
    "5|EU|NULL|yyyy-9999|NULL",
];

/// One statement of hers on fresh data: how many rows it says, and what is stored afterwards.
async fn check(sql: &str, n: u64, after: &[&str]) {
    let (_site, root, ana) = site().await;
    assert_eq!(ana.ok(sql).await.n_written, Some(n), "{sql}");
    assert_eq!(root.rows(ALL).await, after, "{sql}");
}

async fn check_refused(sql: &str, kind: ErrorKind) {
    let (_site, root, ana) = site().await;
    let error = ana.fails(sql).await;
    assert_eq!(error.kind(), kind, "{sql}: {error:?}");
    for secret in ["111", "222", "333", "444", "abcd", "10.5", "US"] {
        assert!(!error.message().contains(secret), "{sql}: {error:?}");
    }
    assert_eq!(root.rows(ALL).await, BEFORE, "{sql}");
}

#[tokio::test]
async fn delete_takes_visible_rows_whose_masked_values_fit() {
    check("DELETE FROM s.t WHERE id <= 3", 2, &[BEFORE[1], BEFORE[3], BEFORE[4]]).await;
    check("DELETE FROM s.t", 3, &[BEFORE[1], BEFORE[3]]).await;
    check("DELETE FROM s.t WHERE region <> 'EU' OR region IS NULL", 0, &BEFORE).await;
    // Masked to NULL, compared to anything, is neither true nor false.
    check("DELETE FROM s.t WHERE ssn = '111'", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE NOT ssn = '111'", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE pay > 0 OR NULL", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE NULL", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE note = 'abcd-1234'", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE note = 'xxxx-1234'", 1, &BEFORE[1..]).await;
    check("DELETE FROM s.t AS x WHERE x.id = 1", 1, &BEFORE[1..]).await;
    check("DELETE FROM s.t WHERE t.id = 1 AND s.t.id = 1", 1, &BEFORE[1..]).await;
    check("DELETE FROM s.t WHERE id IN (SELECT k FROM s.src)", 1, &BEFORE[1..]).await;
    check("DELETE FROM s.t WHERE EXISTS (SELECT 1 FROM s.src WHERE k = t.id AND v = 'one')", 1, &BEFORE[1..])
        .await;
    check("DELETE FROM s.t USING s.src WHERE id = k", 1, &BEFORE[1..]).await;
    check("DELETE FROM s.t WHERE id < (SELECT max(id) FROM s.t) AND 1/(id-2) = 1", 1, &{
        [BEFORE[0], BEFORE[1], BEFORE[3], BEFORE[4]]
    })
    .await;
    // What a sub-query reads is governed, too: she sees three rows.
    check("DELETE FROM s.t WHERE (SELECT count(*) FROM s.t) = 5", 0, &BEFORE).await;
}

#[tokio::test]
async fn update_leaves_what_it_does_not_assign_bit_for_bit() {
    check(
        "UPDATE s.t SET id = id + 100",
        3,
        &[
            BEFORE[1],
            BEFORE[3],
            "101|EU|111|abcd-1234|10.5",
            "103|EU|333|NULL|30.5",
            "105|EU|NULL|yyyy-9999|NULL",
        ],
    )
    .await;
    check(
        "UPDATE s.t SET ssn = 'new' WHERE id = 1",
        1,
        &["1|EU|new|abcd-1234|10.5", BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4]],
    )
    .await;
    check(
        "UPDATE s.t SET pay = 7, note = NULL WHERE note LIKE '%1234'",
        1,
        &["1|EU|111|NULL|7.0", BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4]],
    )
    .await;
    check("UPDATE s.t SET id = 8 WHERE ssn IS NOT NULL", 0, &BEFORE).await;
    check(
        "UPDATE s.t AS x SET (id, ssn) = (x.id + 1, v) FROM s.src WHERE k = x.id",
        1,
        &["2|EU|one|abcd-1234|10.5", BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4]],
    )
    .await;
    check(
        "UPDATE s.t SET ssn = (SELECT max(v) FROM s.src WHERE k = t.id) WHERE id = 1",
        1,
        &["1|EU|one|abcd-1234|10.5", BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4]],
    )
    .await;
    check(
        "UPDATE s.t SET id = (SELECT count(*) FROM s.t) WHERE id = 5",
        1,
        &[BEFORE[0], BEFORE[1], BEFORE[2], "3|EU|NULL|yyyy-9999|NULL", BEFORE[3]],
    )
    .await;
}

#[tokio::test]
async fn a_change_may_not_hide_a_row_from_its_writer() {
    check_refused("UPDATE s.t SET region = 'AS' WHERE id = 1", ErrorKind::Denied).await;
    check_refused("UPDATE s.t SET region = NULL", ErrorKind::Denied).await;
    let merge =
        "MERGE INTO s.t USING s.src ON id = k WHEN NOT MATCHED THEN INSERT (id, region) VALUES (k, v)";
    check_refused(merge, ErrorKind::Denied).await;
    let merge = "MERGE INTO s.t USING s.src ON id = k WHEN MATCHED THEN UPDATE SET region = v";
    check_refused(merge, ErrorKind::Denied).await;
}

#[tokio::test]
async fn what_a_mask_shows_is_not_written_back() {
    for sql in [
        "UPDATE s.t SET region = ssn",
        "UPDATE s.t SET note = note",
        "UPDATE s.t SET ssn = upper(note) WHERE id = 1",
        "UPDATE s.t SET ssn = CASE WHEN id = 1 THEN 'a' ELSE note END",
        "UPDATE s.t SET id = CAST(pay AS BIGINT)",
        "UPDATE s.t SET ssn = (SELECT max(note) FROM s.t)",
        "UPDATE s.t SET ssn = (SELECT max(region) FROM s.t x WHERE x.note LIKE '%9')",
        "UPDATE s.t SET ssn = (SELECT max(t.note) FROM s.src WHERE k = t.id)",
        "UPDATE s.t SET ssn = x.y FROM (SELECT note AS y, id AS i FROM s.t) x WHERE x.i = t.id",
        "MERGE INTO s.t USING s.src ON id = k WHEN MATCHED THEN UPDATE SET region = t.ssn",
        "MERGE INTO s.t USING (SELECT id AS k, note FROM s.t) q ON t.id = q.k WHEN MATCHED THEN UPDATE SET ssn = q.note",
        "MERGE INTO s.t USING (WITH c AS (SELECT * FROM s.t) SELECT * FROM c) q ON t.id = q.id + 50 \
         WHEN NOT MATCHED THEN INSERT (id, region, note) VALUES (q.id, 'EU', q.note)",
        "INSERT INTO s.t SELECT id, region, note, 'n', NULL FROM s.t",
    ] {
        check_refused(sql, ErrorKind::Denied).await;
    }
    // Reading another column of the same table is no reading of a masked one.
    check(
        "UPDATE s.t SET ssn = region WHERE id = 1",
        1,
        &["1|EU|EU|abcd-1234|10.5", BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4]],
    )
    .await;
    check(
        "INSERT INTO s.t (id, region) SELECT id + 10, region FROM s.t WHERE note LIKE '%1234'",
        1,
        &[BEFORE[0], BEFORE[1], BEFORE[2], BEFORE[3], BEFORE[4], "11|EU|NULL|NULL|NULL"],
    )
    .await;
}

#[tokio::test]
async fn merge_acts_by_its_first_clause_that_holds() {
    let merge = "MERGE INTO s.t USING s.src ON t.id = src.k \
                 WHEN MATCHED AND v = 'zero' THEN DELETE \
                 WHEN MATCHED AND v = 'one' THEN UPDATE SET ssn = src.v, id = t.id + 50 \
                 WHEN MATCHED THEN DELETE \
                 WHEN NOT MATCHED AND v = 'nine' THEN INSERT (id, region, note) VALUES (k, 'EU', v) \
                 WHEN NOT MATCHED AND k = 2 THEN INSERT VALUES (k, 'EU', v, v, 1)";
    // Row 2 is hidden from her, so that it is not matched, and stays.
    check(
        merge,
        3,
        &[
            BEFORE[1],
            "2|EU|two|two|1.0",
            BEFORE[2],
            BEFORE[3],
            BEFORE[4],
            "9|EU|NULL|nine|NULL",
            "51|EU|one|abcd-1234|10.5",
        ],
    )
    .await;
    let merge = "MERGE INTO s.t USING s.src ON t.id = src.k WHEN MATCHED THEN DELETE";
    check(merge, 1, &BEFORE[1..]).await;
    let merge = "MERGE INTO s.t AS x USING (SELECT k, v FROM s.src) AS y ON x.id = y.k AND 1/(x.id-2) < 5 \
                 WHEN NOT MATCHED BY SOURCE AND x.id = 5 THEN DELETE \
                 WHEN NOT MATCHED BY SOURCE THEN UPDATE SET ssn = 'gone' \
                 WHEN NOT MATCHED AND y.k = 9 THEN INSERT (id, region) VALUES (y.k, 'EU')";
    check(merge, 3, &[BEFORE[0], BEFORE[1], "3|EU|gone|NULL|30.5", BEFORE[3], "9|EU|NULL|NULL|NULL"]).await;
    // Masked values are what ON compares.
    let merge = "MERGE INTO s.t USING (SELECT '111' AS s) q ON t.ssn = q.s WHEN MATCHED THEN DELETE";
    check(merge, 0, &BEFORE).await;
}

#[tokio::test]
async fn merge_refuses_two_rows_for_one() {
    let merge = "MERGE INTO s.t USING (SELECT 1 AS k FROM s.src) q ON t.id = q.k WHEN MATCHED THEN DELETE";
    check_refused(merge, ErrorKind::Cardinality).await;
    // Two rows that meet with no clause are none.
    let merge = "MERGE INTO s.t USING (SELECT 1 AS k, v FROM s.src) q ON t.id = q.k \
                 WHEN MATCHED AND v = 'one' THEN DELETE";
    check(merge, 1, &BEFORE[1..]).await;
    // A hidden row is no match, however often.
    let merge = "MERGE INTO s.t USING (SELECT 2 AS k FROM s.src) q ON t.id = q.k WHEN MATCHED THEN DELETE";
    check(merge, 0, &BEFORE).await;
}

#[tokio::test]
async fn truncate_takes_what_its_writer_sees() {
    let (_site, root, ana) = site().await;
    assert_eq!(ana.ok("TRUNCATE TABLE s.t").await.n_written, None);
    assert_eq!(root.rows(ALL).await, [BEFORE[1], BEFORE[3]]);
    root.ok("TRUNCATE s.t").await;
    assert_eq!(root.rows(ALL).await.len(), 0);
    root.ok("INSERT INTO s.t (id) VALUES (1)").await;
    assert_eq!(root.rows(ALL).await.len(), 1);
}

#[tokio::test]
async fn rights_come_before_everything_else() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.own (id BIGINT)",
        "INSERT INTO s.own VALUES (1)",
        "GRANT SELECT ON s.own TO USER ana",
        "CREATE TABLE s.blind (id BIGINT)",
        "INSERT INTO s.blind VALUES (1)",
        "GRANT INSERT ON s.blind TO USER ana",
        "CREATE TABLE s.shut (id BIGINT)",
    ])
    .await;
    let verbs = [
        "DELETE FROM {}",
        "UPDATE {} SET id = 1",
        "MERGE INTO {} t USING s.src ON t.id = k WHEN MATCHED THEN DELETE",
    ];
    for verb in verbs {
        // Reading or writing alone is not enough; and what is not seen is not there.
        for (table, kind) in [
            ("s.own", ErrorKind::Denied),
            ("s.blind", ErrorKind::Denied),
            ("s.shut", ErrorKind::TableNotFound),
            ("s.none", ErrorKind::TableNotFound),
        ] {
            let sql = verb.replace("{}", table);
            let error = ana.fails(&sql).await;
            assert_eq!(error.kind(), kind, "{sql}: {error:?}");
        }
        let sql = verb.replace("{}", "s.t").replace("s.src", "s.shut");
        if sql.contains("shut") {
            assert_eq!(ana.fails(&sql).await.kind(), ErrorKind::TableNotFound, "{sql}");
        }
    }
    assert_eq!(ana.fails("TRUNCATE s.own").await.kind(), ErrorKind::Denied);
    assert_eq!(ana.fails("TRUNCATE s.shut").await.kind(), ErrorKind::TableNotFound);
    ana.ok("TRUNCATE s.blind").await;
    let shut = "DELETE FROM s.t WHERE id IN (SELECT id FROM s.shut)";
    assert_eq!(ana.fails(shut).await.kind(), ErrorKind::TableNotFound);
    assert_eq!(root.rows(ALL).await, BEFORE);
}

#[tokio::test]
async fn an_expression_that_fails_tells_of_visible_rows_only_and_changes_nothing() {
    check_refused("UPDATE s.t SET id = 1/(id-3)", ErrorKind::DivisionByZero).await;
    check_refused("DELETE FROM s.t WHERE 1/(id-3) = 0", ErrorKind::DivisionByZero).await;
    // Row 2 and what is behind the masks would fail.
    check("DELETE FROM s.t WHERE 1/(id-2) = 100", 0, &BEFORE).await;
    check("DELETE FROM s.t WHERE CAST(ssn AS INT) > 0", 0, &BEFORE).await;
    check("UPDATE s.t SET id = 1/(id-2) + id WHERE id = 5", 1, &BEFORE).await;
}

#[tokio::test]
async fn unknown_clauses_and_columns_are_refused_by_name() {
    for sql in [
        "DELETE FROM s.t WHERE id = 1 RETURNING ssn",
        "UPDATE s.t SET id = 1 RETURNING ssn",
        "DELETE FROM s.t ORDER BY id LIMIT 1",
        "UPDATE s.t SET (id, ssn) = (SELECT k, v FROM s.src)",
        "UPDATE s.t SET id = DEFAULT",
        "TRUNCATE s.t, s.src",
        "TRUNCATE s.t CASCADE",
        "MERGE INTO s.t USING s.src ON id = k WHEN NOT MATCHED THEN INSERT ROW",
    ] {
        let (_site, root, ana) = site().await;
        let error = ana.fails(sql).await;
        assert!(matches!(error.kind().sqlstate(), "0A000" | "42601"), "{sql}: {error:?}");
        assert_eq!(root.rows(ALL).await, BEFORE);
    }
    check_refused("UPDATE s.t SET nope = 1", ErrorKind::ColumnNotFound).await;
    check_refused("UPDATE s.t SET id = 1, id = 2", ErrorKind::Invalid).await;
    check_refused("UPDATE s.t SET id = max(id)", ErrorKind::Invalid).await;
    check_refused("DELETE FROM s.t WHERE id", ErrorKind::TypeMismatch).await;
    check_refused("DELETE FROM s.t WHERE \"\u{0}row\" = 1", ErrorKind::ColumnNotFound).await;
}

#[tokio::test]
async fn many_files_partitions_and_older_schemas_are_rewritten_in_place() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.p (id BIGINT, region VARCHAR, secret VARCHAR) PARTITION BY (region)",
        "INSERT INTO s.p SELECT value, CASE WHEN value % 2 = 0 THEN 'EU' ELSE 'US' END, 's' || value \
         FROM generate_series(1, 100)",
        "ALTER TABLE s.p ADD COLUMN extra INT",
        "INSERT INTO s.p VALUES (101, 'US', 's101', 5), (102, 'EU', 's102', 6)",
        "ALTER TABLE s.p RENAME COLUMN secret TO hidden",
        "GRANT SELECT, UPDATE, DELETE, MERGE ON s.p TO USER ana",
        "CREATE POLICY pf ON TABLE s.p ROW FILTER TO USER ana USING (region = 'EU' OR id > 90)",
        "CREATE POLICY pm ON TABLE s.p COLUMN MASK MASK_NULL TO USER ana ON COLUMN hidden",
    ])
    .await;
    assert_eq!(ana.ok("UPDATE s.p SET region = 'US' WHERE id IN (92, 102)").await.n_written, Some(2));
    assert_eq!(ana.ok("DELETE FROM s.p WHERE id BETWEEN 1 AND 10").await.n_written, Some(5));
    assert_eq!(ana.ok("UPDATE s.p SET extra = id WHERE id > 98").await.n_written, Some(4));
    let stored =
        root.rows("SELECT id, region, hidden, extra FROM s.p WHERE id < 12 OR id > 90 ORDER BY id").await;
    assert_eq!(
        stored,
        [
            "1|US|s1|NULL",
            "3|US|s3|NULL",
            "5|US|s5|NULL",
            "7|US|s7|NULL",
            "9|US|s9|NULL",
            "11|US|s11|NULL",
            "91|US|s91|NULL",
            "92|US|s92|NULL",
            "93|US|s93|NULL",
            "94|EU|s94|NULL",
            "95|US|s95|NULL",
            "96|EU|s96|NULL",
            "97|US|s97|NULL",
            "98|EU|s98|NULL",
            "99|US|s99|99",
            "100|EU|s100|100",
            "101|US|s101|101",
            "102|US|s102|102",
        ]
    );
    assert_eq!(root.rows("SELECT count(*) FROM s.p").await, ["97"]);
    assert_eq!(root.rows("SELECT count(*) FROM s.p WHERE region = 'US'").await, ["53"]);
}

#[tokio::test]
async fn two_writers_at_once_lose_nothing() {
    let (site, root, ana) = site().await;
    let (ada, bob) = (site.client(ADMIN).await, site.client("ana").await);
    for round in 0..4_i64 {
        let mine = format!("UPDATE s.t SET ssn = 'r{round}' WHERE id = 1");
        let hers = format!("UPDATE s.t SET note = 'n{round}' WHERE id IN (1, 3)");
        let more = format!("INSERT INTO s.t (id, region) VALUES ({}, 'EU')", 100 + round);
        let (a, b, c) = tokio::join!(ada.run(&mine), bob.run(&hers), ana.run(&more));
        for done in [a, b, c] {
            done.unwrap();
        }
        let stored = root.rows("SELECT ssn, note FROM s.t WHERE id = 1").await;
        assert_eq!(stored, [format!("r{round}|n{round}")]);
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.t").await, ["9"]);
}

#[tokio::test]
async fn prepared_changes_take_parameters() {
    let (_site, root, ana) = site().await;
    ana.all(&[
        "PREPARE d AS DELETE FROM s.t WHERE id = $1",
        "PREPARE u AS UPDATE s.t SET ssn = $1, pay = $2 WHERE id = $3",
        "PREPARE m AS MERGE INTO s.t USING (SELECT CAST($1 AS BIGINT) AS k) q ON t.id = q.k \
         WHEN MATCHED THEN UPDATE SET note = $2 WHEN NOT MATCHED THEN INSERT (id, region) VALUES (k, 'EU')",
        "EXECUTE d(3)",
        "EXECUTE d(2)",
        "EXECUTE u('p', 1.5, 1)",
        "EXECUTE m(1, 'noted')",
        "EXECUTE m(7, 'noted')",
    ])
    .await;
    assert_eq!(
        root.rows(ALL).await,
        ["1|EU|p|noted|1.5", BEFORE[1], BEFORE[3], BEFORE[4], "7|EU|NULL|NULL|NULL",]
    );
    let session = ana.session();
    let described = session.describe("UPDATE s.t SET pay = $1 WHERE id = $2", &[]).await.unwrap();
    assert_eq!(format!("{:?}", described.parameters), "[Float64, Int64]");
    assert!(described.columns.is_none());
}

#[tokio::test]
async fn the_check_option_can_be_turned_off() {
    let (site, root, _ana) = site().await;
    let settings = engine::EngineSettings { check_option: false, ..Default::default() };
    let ana = Client::open(&site.engine(settings), "ana").await;
    assert_eq!(ana.ok("UPDATE s.t SET region = 'AS' WHERE id = 1").await.n_written, Some(1));
    assert_eq!(ana.ok("INSERT INTO s.t (id, region) VALUES (6, 'AS')").await.n_written, Some(1));
    assert_eq!(root.rows("SELECT id FROM s.t WHERE region = 'AS' ORDER BY id").await, ["1", "6"]);
    assert_eq!(ana.rows("SELECT id FROM s.t ORDER BY id").await, ["3", "5"]);
}

#[tokio::test]
async fn a_filter_that_cannot_be_evaluated_lets_nothing_be_written() {
    let (site, root, ana) = site().await;
    root.all(&[
        "CREATE TABLE s.b (id BIGINT, code VARCHAR)",
        "INSERT INTO s.b VALUES (1, '10'), (2, 'secret')",
        "GRANT SELECT, UPDATE, DELETE ON s.b TO USER ana",
        "CREATE POLICY bf ON TABLE s.b ROW FILTER TO USER ana USING (CAST(code AS INT) > 5)",
    ])
    .await;
    for sql in ["DELETE FROM s.b", "UPDATE s.b SET id = 3", "TRUNCATE s.b"] {
        let error = ana.run(sql).await.err();
        let Some(error) = error else { continue };
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{sql}: {error:?}");
        assert!(!error.message().contains("secret"));
    }
    assert_eq!(root.rows("SELECT count(*) FROM s.b").await, ["2"]);
    drop(site);
}

#[tokio::test]
async fn every_change_leaves_its_record() {
    let (site, _root, ana) = site().await;
    ana.ok("UPDATE s.t SET note = 'secret-text' WHERE id = 1").await;
    ana.ok("DELETE FROM s.t WHERE id = 1").await;
    ana.ok("TRUNCATE s.t").await;
    ana.fails("DELETE FROM s.src").await;
    let mut found = Vec::new();
    for _ in 0..2_000 {
        found = site.records.records();
        if found.iter().any(|record| record.access == "delete-from") {
            break;
        }
        tokio::task::yield_now().await;
    }
    let accesses: Vec<&str> = found.iter().map(|record| record.access.as_str()).collect();
    for access in ["update", "delete", "truncate", "delete-from"] {
        assert!(accesses.contains(&access), "{access} in {accesses:?}");
    }
    let all = format!("{found:?}");
    assert!(!all.contains("secret-text"));
}

#[tokio::test]
async fn overwrite_takes_visible_rows_and_puts_others() {
    let (_site, root, ana) = site().await;
    let sql = "INSERT OVERWRITE s.t SELECT k, 'EU', v, v AS w, 1 FROM s.src WHERE k > 1";
    assert_eq!(ana.ok(sql).await.n_written, Some(2));
    let after = ["2|EU|two|two|1.0", BEFORE[1], BEFORE[3], "9|EU|nine|nine|1.0"];
    assert_eq!(root.ok("SELECT * FROM s.t").await.sorted().rows, after);
    let error = ana.fails("INSERT OVERWRITE s.t SELECT k, 'AS', v, v AS w, 1 FROM s.src").await;
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    let error = ana.fails("INSERT OVERWRITE s.t SELECT id, region, note, 'n', NULL FROM s.t").await;
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    let error = ana.fails("INSERT OVERWRITE s.t SELECT 1/(id-9), region, 's', 'n', NULL FROM s.t").await;
    assert_eq!(error.kind(), ErrorKind::DivisionByZero, "{error:?}");
    assert_eq!(root.ok("SELECT * FROM s.t").await.sorted().rows, after);
    // A table may be overwritten by what is read from it.
    assert_eq!(root.ok("INSERT OVERWRITE TABLE s.t SELECT * FROM s.t WHERE id = 9").await.n_written, Some(1));
    assert_eq!(root.rows(ALL).await, [after[3]]);
}

#[tokio::test]
async fn a_replaced_table_keeps_its_protections() {
    let (_site, root, ana) = site().await;
    root.all(&[
        "ALTER TABLE s.t RENAME COLUMN note TO remark",
        "CREATE USER dan",
        "GRANT SELECT, DROP, ALTER ON s.t TO USER dan",
        "GRANT CREATE TABLE ON SCHEMA s TO USER dan, ana",
        "GRANT DROP ON s.t TO USER ana",
    ])
    .await;
    let new = "SELECT 7 AS id, 'EU' AS region, 's7' AS ssn, 'n-7777' AS remark, 1.5 AS pay, true AS more";
    // A row filter applies to her.
    let sql = format!("CREATE OR REPLACE TABLE s.t AS {new}");
    assert_eq!(ana.fails(&sql).await.kind(), ErrorKind::Denied);
    // A column that a policy needs is gone.
    let without = "CREATE OR REPLACE TABLE s.t (id BIGINT, ssn VARCHAR)";
    assert_eq!(root.fails(without).await.kind(), ErrorKind::Dependent);
    let failing = format!("CREATE OR REPLACE TABLE s.t AS {new}, 1/(k-9) AS bad FROM s.src");
    assert_eq!(root.fails(&failing).await.kind(), ErrorKind::DivisionByZero);
    assert_eq!(root.rows("SELECT * FROM s.t ORDER BY id").await, BEFORE);
    assert_eq!(root.ok(&sql).await.n_written, Some(1));
    assert_eq!(root.rows("SELECT * FROM s.t").await, ["7|EU|s7|n-7777|1.5|true"]);
    // The mask was written for the name that the column had.
    assert_eq!(ana.rows("SELECT * FROM s.t").await, ["7|EU|NULL|x-7777|NULL|true"]);
    root.ok("INSERT INTO s.t VALUES (8, 'US', 's8', 'n', 1, false)").await;
    assert_eq!(ana.rows("SELECT count(*) FROM s.t").await, ["1"]);
    // From itself, as whoever sees all of it.
    root.ok("CREATE OR REPLACE TABLE s.t PARTITION BY (region) AS SELECT * FROM s.t WHERE id = 8").await;
    assert_eq!(root.rows("SELECT * FROM s.t").await, ["8|US|s8|n|1.0|false"]);
    root.ok("CREATE OR REPLACE TABLE s.t (pay DOUBLE, remark VARCHAR, ssn VARCHAR, region VARCHAR)").await;
    assert_eq!(root.rows("SELECT * FROM s.t").await.len(), 0);
    root.ok("INSERT INTO s.t VALUES (1, 'rrrr-rrrr', 's', 'EU')").await;
    assert_eq!(ana.rows("SELECT * FROM s.t").await, ["NULL|xxxx-rrrr|NULL|EU"]);
    let dan = _site.client("dan").await;
    assert_eq!(dan.fails("CREATE OR REPLACE TABLE s.src (id BIGINT)").await.kind(), ErrorKind::Denied);
    dan.ok("CREATE OR REPLACE TABLE s.t (region VARCHAR, ssn VARCHAR, remark VARCHAR, pay DOUBLE)").await;
    root.ok("CREATE OR REPLACE TABLE s.fresh AS SELECT 1 AS one").await;
    assert_eq!(root.rows("SELECT * FROM s.fresh").await, ["1"]);
}

#[tokio::test]
async fn a_replaced_table_is_not_made_of_what_a_mask_shows() {
    let (_site, root, _ana) = site().await;
    root.all(&[
        "CREATE USER eve",
        "GRANT SELECT, DROP ON s.t TO USER eve",
        "GRANT CREATE TABLE ON SCHEMA s TO USER eve",
        "CREATE POLICY e ON TABLE s.t COLUMN MASK MASK_NULL TO USER eve ON COLUMN ssn WITH PRIORITY OVERRIDE",
    ])
    .await;
    let eve = _site.client("eve").await;
    let error = eve.fails("CREATE OR REPLACE TABLE s.t AS SELECT * FROM s.t").await;
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    assert_eq!(root.rows(ALL).await, BEFORE);
}
