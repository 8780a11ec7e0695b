//! Two databases that differ only in what a reader may not see look the same to her (L2).

use engine::EngineSettings;
use testkit::Client;

use super::lake::{READERS, Secrets, in_namespace, site};
use super::list;
use super::{Told, ask};

/// Whether these fail depends on the order in which DataFusion tries their parts, and on nothing hidden.
const ORDER_OF_PARTS: &[&str] = &[
    "SELECT count(*) FROM t WHERE 1/0 = 1",
    "SELECT count(*) FROM t WHERE 1/0 = 1 AND x = 5",
    "SELECT count(*) FROM t WHERE 1/0 = 1 OR region = 'US'",
    "SELECT count(*) FROM t WHERE (SELECT 1/0) = 1 AND region = 'US'",
    "SELECT 1/(x-11) FROM t WHERE id < 20",
    "SELECT CAST(concat(s, 'x') AS INT) FROM t WHERE id = 4",
    "SELECT id FROM t WHERE no_such_column = 1",
    "SELECT count(*) FROM t WHERE CAST(phone AS INT) > 0 AND id = 42",
];

/// Everything that is about the table and not its rows.
const ABOUT: &[&str] = &[
    "DESCRIBE raw.t",
    "SHOW TABLES",
    "SHOW COLUMNS FROM raw.t",
    "SELECT * FROM information_schema.tables ORDER BY 1, 2, 3",
    "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns ORDER BY 1, 2",
    "SELECT relname, reltuples, relpages FROM pg_catalog.pg_class WHERE relname IN ('t', 'u', 'v', 'w') ORDER BY 1",
    "SHOW EFFECTIVE POLICY ON raw.t",
];

async fn differing(a: &Client, b: &Client, sql: &str, faults: &mut Vec<String>) -> bool {
    let (one, other) = (ask(a, sql).await, ask(b, sql).await);
    if one != other {
        faults.push(format!("{sql}\n  with secrets    {one:?}\n  without secrets {other:?}"));
    }
    matches!(one, Told::Rows(_))
}

#[tokio::test]
async fn two_databases_that_differ_in_secrets_look_the_same() {
    let (hostile, none) = (site(Secrets::Hostile).await, site(Secrets::None).await);
    let mut faults = Vec::new();
    for (target_partitions, is_pushing, reader) in [(1, false, READERS[0]), (4, true, READERS[1])] {
        let settings = EngineSettings {
            target_partitions: Some(target_partitions),
            pushdown_filters: is_pushing,
            reorder_filters: is_pushing,
            batch_rows: 256,
            ..EngineSettings::default()
        };
        let (one, other) = (hostile.engine(settings.clone()), none.engine(settings));
        let a = in_namespace(&one, reader.user, "raw").await;
        let b = in_namespace(&other, reader.user, "raw").await;
        for (_, sql) in list::ALL.iter().copied().flatten() {
            differing(&a, &b, sql, &mut faults).await;
            let explained = differing(&a, &b, &format!("EXPLAIN {sql}"), &mut faults).await;
            assert!(explained, "EXPLAIN {sql}");
        }
        for sql in ORDER_OF_PARTS {
            differing(&a, &b, sql, &mut faults).await;
        }
        for sql in ABOUT {
            assert!(differing(&a, &b, sql, &mut faults).await, "{sql}");
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test]
async fn explain_names_no_policy_and_no_file() {
    let site = site(Secrets::Hostile).await;
    let ana = in_namespace(&site.engine(EngineSettings::default()), "ana", "raw").await;
    for (_, sql) in list::FIRST {
        let plan = ana.rows(&format!("EXPLAIN {sql}")).await.join("\n");
        for word in ["'EU'", "\"EU\"", "Utf8(\"EU\")", "parquet", "Barrier", "statistics", "rows="] {
            assert!(!plan.contains(word), "{word} in the plan of {sql}:\n{plan}");
        }
    }
    for sql in ["EXPLAIN ANALYZE SELECT * FROM t", "EXPLAIN VERBOSE SELECT * FROM t"] {
        assert_eq!(ana.fails(sql).await.kind().sqlstate(), "0A000", "{sql}");
    }
}
