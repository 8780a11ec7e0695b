//! The table under attack, and tables that hold nothing but what two of its readers may see.

use std::sync::Arc;

use engine::{Engine, EngineSettings};
use testkit::{ADMIN, Client, Site};

const FILES: u64 = 6;
const ROWS_IN_FILE: u64 = 500;

/// What the hidden rows of `t`, and the values behind its masks, are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// One row in ten makes whatever divides, casts or parses it fail, and one file holds nothing else.
    Hostile,
    /// There is no hidden row, and other values stand behind the masks.
    None,
}

/// A reader of `raw.t` with the namespace whose `t` is exactly what she may see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) user: &'static str,
    pub(crate) copy: &'static str,
    filter: &'static str,
}

pub(crate) const READERS: [Reader; 2] = [
    Reader { user: "ana", copy: "eu", filter: "region = 'EU'" },
    Reader { user: "abe", copy: "abc", filter: "s <> 'abc'" },
];

/// Settings under which each attack is run.
pub(crate) fn all_settings() -> Vec<EngineSettings> {
    let mut all = Vec::new();
    for target_partitions in [1, 4] {
        for pushdown_filters in [false, true] {
            for reorder_filters in [false, true] {
                all.push(EngineSettings {
                    target_partitions: Some(target_partitions),
                    pushdown_filters,
                    reorder_filters,
                    // Small batches, so that TopK and join filters are there before the last batch is read.
                    batch_rows: 256,
                    ..EngineSettings::default()
                });
            }
        }
    }
    all
}

/// The rows `from..=to` of the table.
fn rows(secrets: Secrets, from: u64, to: u64) -> String {
    let (hidden, kept, secret) = match secrets {
        Secrets::Hostile => (format!("(value % 10 = 5 OR value > {})", FILES * ROWS_IN_FILE), "", "tel"),
        Secrets::None => ("FALSE".to_owned(), "WHERE value % 10 <> 5", "fax"),
    };
    let age = match secrets {
        Secrets::Hostile => "value",
        Secrets::None => "-value",
    };
    format!(
        "SELECT value AS id,
            CASE WHEN {hidden} THEN 5 ELSE 10 + value % 3 END AS x,
            CASE WHEN {hidden} THEN 'abc' WHEN value % 100 = 7 THEN NULL ELSE CAST(value AS VARCHAR) END AS s,
            CASE WHEN {hidden} THEN 'US' ELSE 'EU' END AS region,
            CAST({age} AS VARCHAR) AS ssn,
            CASE WHEN {hidden} THEN 1e300 ELSE CAST(value AS DOUBLE) END AS amount,
            concat('{secret}-', lpad(CAST(value AS VARCHAR), 8, '0')) AS phone,
            named_struct('name', concat('{secret}', CAST(value AS VARCHAR)), 'age', {age}) AS who,
            CASE WHEN {hidden} THEN make_array(0, 0, 0) ELSE make_array(value, value + 1) END AS tags,
            CASE WHEN {hidden} THEN 'abc' ELSE '2024-02-03' END AS born,
            CASE WHEN {hidden} THEN '(' ELSE '^1' END AS pat,
            CASE WHEN {hidden} THEN 9223372036854775807 ELSE value END AS big
         FROM generate_series({from}, {to}) {kept}"
    )
}

/// What a mask must make of each column of `t`, written by hand and not by the engine.
const AS_SEEN: &str = "id, x, s, region, CAST(NULL AS VARCHAR) AS ssn, amount,
    concat('xxx-', 'xxxx', substr(phone, 9)) AS phone,
    CASE WHEN FALSE THEN who END AS who, tags, born, pat, big";

pub(crate) async fn site(secrets: Secrets) -> Site {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&["CREATE SCHEMA raw", "CREATE USER ana", "CREATE USER abe"]).await;
    root.ok(&format!("CREATE TABLE raw.t AS {}", rows(secrets, 1, ROWS_IN_FILE))).await;
    for file in 1..FILES {
        let (from, to) = (file * ROWS_IN_FILE + 1, (file + 1) * ROWS_IN_FILE);
        root.ok(&format!("INSERT INTO raw.t {}", rows(secrets, from, to))).await;
    }
    if secrets == Secrets::Hostile {
        let last = FILES * ROWS_IN_FILE;
        root.ok(&format!("INSERT INTO raw.t {}", rows(secrets, last + 1, last + 100))).await;
    }
    surround(&root, "raw").await;
    for Reader { user, copy, filter } in READERS {
        root.ok(&format!("CREATE SCHEMA {copy}")).await;
        root.ok(&format!("CREATE TABLE {copy}.t AS SELECT {AS_SEEN} FROM raw.t WHERE {filter}")).await;
        surround(&root, copy).await;
        for object in ["raw.t", "raw.u", "VIEW raw.v", "VIEW raw.w"] {
            root.ok(&format!("GRANT SELECT ON {object} TO USER {user}")).await;
        }
        root.ok(&format!(
            "CREATE POLICY rows_{user} ON TABLE raw.t ROW FILTER TO USER {user} USING ({filter})"
        ))
        .await;
        for (column, mask) in [("ssn", "MASK_NULL"), ("who", "MASK_NULL"), ("phone", "MASK_SHOW_LAST_4")] {
            root.ok(&format!(
                "CREATE POLICY {column}_{user} ON TABLE raw.t COLUMN MASK {mask} TO USER {user} ON COLUMN {column}"
            ))
            .await;
        }
    }
    site
}

/// What stands beside each `t`: a table that is free, a view, and a view on the view.
async fn surround(root: &Client, namespace: &str) {
    root.ok(&format!(
        "CREATE TABLE {namespace}.u AS SELECT value AS id, value % 5 AS x,
            CASE WHEN value % 2 = 0 THEN 'EU' ELSE 'US' END AS region FROM generate_series(1, 100)"
    ))
    .await;
    let there = client_of(root, namespace).await;
    there.ok(&format!("CREATE VIEW {namespace}.v AS SELECT id, x, s, ssn, region FROM t")).await;
    there
        .ok(&format!("CREATE VIEW {namespace}.w (i, q, r) AS SELECT id, x, region FROM v WHERE id > 2"))
        .await;
}

async fn client_of(client: &Client, namespace: &str) -> Client {
    client.ok(&format!("SET search_path = {namespace}")).await;
    client.clone()
}

/// A user's session that stands in a namespace.
pub(crate) async fn in_namespace(engine: &Arc<Engine>, user: &str, namespace: &str) -> Client {
    client_of(&Client::open(engine, user).await, namespace).await
}
