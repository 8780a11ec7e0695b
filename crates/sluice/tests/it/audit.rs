//! The audit file and the log: who did what, and no literal of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::process::{Process, rows};

/// Values that stand in statements and in rows, and may stand nowhere else.
const LITERALS: &[&str] = &["111-11-1111", "swordfish", "Atlantis", "987654321", "no-such-cast"];

/// Ranger's names for the fields of a record.
const FIELDS: &[&str] = &[
    "id",
    "seq_num",
    "logType",
    "event_count",
    "repoType",
    "repo",
    "reqUser",
    "evtTime",
    "access",
    "resource",
    "resType",
    "action",
    "result",
    "policy",
    "enforcer",
    "agent",
    "cliIP",
];

async fn history(process: &Process) {
    let client = process.connect("admin", &process.password().unwrap()).await;
    for sql in [
        "CREATE SCHEMA lake.s",
        "CREATE TABLE lake.s.orders (id BIGINT, region VARCHAR, ssn VARCHAR)",
        "INSERT INTO lake.s.orders VALUES (987654321, 'Atlantis', '111-11-1111')",
        "CREATE USER alice PASSWORD 'swordfish'",
        "CREATE ROLE analyst",
        "GRANT ROLE analyst TO USER alice",
        "GRANT SELECT ON lake.s.orders TO ROLE analyst",
        "CREATE POLICY f ON TABLE lake.s.orders ROW FILTER TO ROLE analyst USING (region = 'Atlantis')",
        "CREATE POLICY m ON TABLE lake.s.orders COLUMN MASK MASK_SHOW_LAST_4 TO ROLE analyst ON COLUMN ssn",
        "ALTER USER alice PASSWORD 'swordfish'",
        "SELECT * FROM lake.s.orders WHERE ssn = '111-11-1111' AND id = 987654321",
    ] {
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("`{sql}`: {error:?}"));
    }
    let alice = process.connect("alice", "swordfish").await;
    let seen = rows(&alice, "SELECT ssn FROM lake.s.orders WHERE region = 'Atlantis'").await.unwrap();
    assert_eq!(seen, [[Some("xxx-xx-1111".to_owned())]]);
    for wrong in [
        "INSERT INTO lake.s.orders VALUES (987654321, 'Atlantis', '111-11-1111')",
        "SELECT CAST('no-such-cast' AS BIGINT)",
        "SELECT * FROM lake.s.orders WHERE region = 'Atlantis",
        "SELECT 'Atlantis' FRM x",
        "CREATE USER bob PASSWORD 'swordfish'",
    ] {
        assert!(alice.batch_execute(wrong).await.is_err(), "{wrong}");
    }
    let parameter: &(dyn tokio_postgres::types::ToSql + Sync) = &"Atlantis";
    alice.query("SELECT id FROM lake.s.orders WHERE region = $1", &[parameter]).await.unwrap();
}

/// Runs a history at a level of logging, and gives back the audit file and the log.
async fn written(level: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = crate::process::serve(dir.path());
    command.env("SLUICE_SERVER__LOG_LEVEL", level);
    let process = Process::start_as(dir.path(), command);
    history(&process).await;
    let log = dir.path().join("log.txt");
    assert!(process.terminate().success());
    let audit = std::fs::read_to_string(dir.path().join("data").join("audit.jsonl")).unwrap();
    (audit, std::fs::read_to_string(log).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_decision_and_edit_is_one_record_in_ranger_s_words() {
    let (audit, _) = written("info").await;
    let records: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids = BTreeSet::new();
    for (n, record) in (1..).zip(&records) {
        for field in FIELDS {
            assert!(record.get(field).is_some(), "no `{field}` in {record}");
        }
        assert!(record["result"] == 0 || record["reqData"].is_string(), "no statement in {record}");
        assert!(ids.insert(record["id"].to_string()), "an id is there twice: {record}");
        assert_eq!(record["seq_num"], n, "{record}");
    }
    let of = |user: &str, result: i64, resource: &str| {
        let fits = |r: &&Value| r["reqUser"] == user && r["result"] == result && r["resource"] == resource;
        records.iter().filter(fits).collect::<Vec<_>>()
    };
    let allowed = of("alice", 1, "lake.s.orders").len();
    assert!(allowed >= 2, "{audit}");
    assert!(!of("alice", 0, "lake.s.orders").is_empty(), "a denial is recorded: {audit}");
    let masked = records.iter().find(|r| r["reqUser"] == "alice" && !r["masked_columns"].is_null()).unwrap();
    assert_eq!(masked["masked_columns"][0]["column"], "ssn", "{masked}");
    assert!(!masked["filters"].is_null(), "{masked}");
    for edit in ["CREATE USER", "CREATE ROLE", "GRANT", "CREATE POLICY", "ALTER USER"] {
        let is_there = records.iter().any(|r| r["reqData"].as_str().unwrap_or_default().starts_with(edit));
        assert!(is_there, "no record of {edit}: {audit}");
    }
}

async fn check_no_literals(level: &str) {
    let (audit, log) = written(level).await;
    for literal in LITERALS {
        for (name, text) in [("audit file", &audit), ("log", &log)] {
            let line = text.lines().find(|line| line.contains(literal));
            assert!(
                line.is_none(),
                "the {name} at `{level}` holds `{literal}`: {}",
                line.unwrap_or_default()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_literal_is_audited_or_logged() {
    check_no_literals("info").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_level_makes_the_log_hold_literals() {
    check_no_literals("trace").await;
}
