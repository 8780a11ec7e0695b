//! Every record arrives, in order, and a failing sink is told of.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use policy::model::{PolicyId, Version};
use serde_json::{Value, json};
use stdx::Timestamp;

use crate::{
    AppliedFilter, AuditError, AuditLog, AuditRecord, AuditResult, AuditSink, FileSink, MaskedColumn,
    MemorySink, QUEUE_RECORDS_MAX, Redacted,
};

fn record(user: &str) -> AuditRecord {
    AuditRecord::new(Timestamp::from_millis(1_785_585_600_123), user, "SELECT", AuditResult::Allowed)
}

#[test]
fn records_arrive_in_order_with_numbers() {
    let sink = MemorySink::default();
    let log = AuditLog::start(vec![Box::new(sink.clone())]).unwrap();
    let n_records = QUEUE_RECORDS_MAX * 3;
    for n in 0..n_records {
        let mut record = record(&format!("u{n}"));
        record.query_id = "q".to_owned();
        log.record(record).unwrap();
    }
    log.flush().unwrap();
    let records = sink.records();
    assert_eq!(records.len(), n_records);
    for (n, record) in records.iter().enumerate() {
        assert_eq!((record.user.as_str(), record.sequence), (format!("u{n}").as_str(), n as u64 + 1));
        assert_eq!(record.id, format!("q-{}", n + 1));
    }
}

#[test]
fn dropping_the_log_writes_what_is_queued() {
    let sink = MemorySink::default();
    let log = AuditLog::start(vec![Box::new(sink.clone())]).unwrap();
    for _ in 0..100 {
        log.record(record("alice")).unwrap();
    }
    drop(log);
    assert_eq!(sink.records().len(), 100);
}

#[test]
fn lines_of_a_file_carry_rangers_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/audit.jsonl");
    let log = AuditLog::start(vec![Box::new(FileSink::open(&path).unwrap())]).unwrap();
    let mut full = record("alice");
    full.repo = "query".to_owned();
    full.repo_type = 3;
    full.access = "select".to_owned();
    full.resource = "sales/orders".to_owned();
    full.resource_type = "table".to_owned();
    full.policy = Some(PolicyId(7));
    full.policy_version = Some(2);
    full.client_ip = Some("10.0.0.1".to_owned());
    full.query_id = "q1".to_owned();
    full.door = "postgres".to_owned();
    full.snapshot_version = Version(12);
    full.statement = Some(Redacted::statement("SELECT * FROM orders WHERE id = 'x'"));
    full.filters = vec![AppliedFilter { table: "orders".to_owned(), policy: PolicyId(8), policy_version: 1 }];
    full.masked_columns = vec![MaskedColumn {
        table: "orders".to_owned(),
        column: "ssn".to_owned(),
        mask_type: "RESTRICTED".to_owned(),
        policy: None,
        policy_version: None,
    }];
    full.rows = Some(3);
    log.record(full).unwrap();
    let mut denied = record("bob");
    denied.result = AuditResult::Denied;
    log.record_durably(denied).unwrap();

    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        json!({
            "id": "q1-1", "repoType": 3, "repo": "query", "reqUser": "alice", "evtTime": "2026-08-01T12:00:00.123Z",
            "access": "select", "resource": "sales/orders", "resType": "table", "action": "SELECT", "result": 1,
            "policy": 7, "policy_version": 2, "enforcer": "sluice-acl", "agent": "sluice", "cliIP": "10.0.0.1",
            "reqData": "SELECT * FROM orders WHERE id = ?", "logType": "RangerAudit", "seq_num": 1, "event_count": 1,
            "event_dur_ms": 0, "query_id": "q1", "door": "postgres", "snapshot_version": 12,
            "filters": [{"table": "orders", "policy": 8, "policy_version": 1}],
            "masked_columns": [{"table": "orders", "column": "ssn", "mask_type": "RESTRICTED"}], "rows": 3
        })
    );
    assert_eq!((&lines[1]["result"], &lines[1]["policy"]), (&json!(0), &json!(-1)));
}

#[cfg(unix)]
#[test]
fn a_new_file_can_be_read_by_its_owner_alone_and_an_old_one_is_appended_to() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    for n_lines in [1, 2] {
        let mut sink = FileSink::open(&path).unwrap();
        sink.write(&record("alice")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), n_lines);
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_is_no_audit_file() {
    let folder = tempfile::tempdir().unwrap();
    let refused = FileSink::open(folder.path());
    assert!(matches!(refused, Err(AuditError::Open { .. })), "{refused:?}");
}

/// Fails while the switch is on.
struct Flaky {
    is_broken: Arc<AtomicBool>,
    inner: MemorySink,
}

impl AuditSink for Flaky {
    fn write(&mut self, record: &AuditRecord) -> io::Result<()> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(io::Error::other("disk full"));
        }
        self.inner.write(record)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn while_a_sink_fails_records_are_refused_and_none_is_lost_or_doubled() {
    let is_broken = Arc::new(AtomicBool::new(true));
    let (flaky, steady) = (MemorySink::default(), MemorySink::default());
    let sink = Flaky { is_broken: Arc::clone(&is_broken), inner: flaky.clone() };
    let log = AuditLog::start(vec![Box::new(steady.clone()), Box::new(sink)]).unwrap();

    assert!(matches!(log.record_durably(record("first")), Err(AuditError::Unavailable)));
    assert!(log.is_failing());
    assert!(matches!(log.record(record("refused")), Err(AuditError::Unavailable)));

    is_broken.store(false, Ordering::SeqCst);
    while log.is_failing() {
        std::thread::yield_now();
    }
    log.record_durably(record("second")).unwrap();
    for sink in [flaky, steady] {
        let users: Vec<_> = sink.records().into_iter().map(|record| record.user).collect();
        assert_eq!(users, ["first", "second"]);
    }
}

/// Takes a record only when the test lets it.
struct Gated {
    open: Receiver<()>,
    inner: MemorySink,
}

impl AuditSink for Gated {
    fn write(&mut self, record: &AuditRecord) -> io::Result<()> {
        self.open.recv().ok();
        self.inner.write(record)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_queue_blocks_and_drops_nothing() {
    let (gate, open) = sync_channel(0);
    let inner = MemorySink::default();
    let log = AuditLog::start(vec![Box::new(Gated { open, inner: inner.clone() })]).unwrap();
    let n_records = QUEUE_RECORDS_MAX * 2;
    std::thread::scope(|scope| {
        scope.spawn(|| (0..n_records).for_each(|_| log.record(record("alice")).unwrap()));
        (0..n_records).for_each(|_| gate.send(()).unwrap());
    });
    drop(gate);
    log.flush().unwrap();
    assert_eq!(inner.records().len(), n_records);
}
