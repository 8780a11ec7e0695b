//! SIGKILL while edits and writes run loses nothing that was acknowledged, and the folder opens again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::process::{Process, rows};

const N_WORKERS: u64 = 3;

/// Rows of the table that the others are made from: a copy has all of them, or is not there.
const N_SOURCE_ROWS: u64 = 300;

/// Something that a statement makes or takes away, by its kind and its name.
type Fact = (&'static str, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    There,
    Gone,
    /// The statement was sent and not answered: either may be.
    Open,
}

#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<Fact, Known>>>);

impl Ledger {
    fn set(&self, facts: &[Fact], known: Known) {
        let mut ledger = self.0.lock().unwrap();
        ledger.extend(facts.iter().map(|fact| (fact.clone(), known)));
    }

    /// What is there must agree with what was acknowledged; what was open is known from now on.
    fn settle(&self, seen: &BTreeSet<Fact>, round: u64) {
        let mut ledger = self.0.lock().unwrap();
        for (fact, known) in ledger.iter_mut() {
            let is_there = seen.contains(fact);
            match known {
                Known::There => assert!(is_there, "round {round}: {fact:?} was acknowledged and is lost"),
                Known::Gone => assert!(!is_there, "round {round}: {fact:?} was dropped and is back"),
                Known::Open => *known = if is_there { Known::There } else { Known::Gone },
            }
        }
        for fact in seen {
            assert!(ledger.contains_key(fact), "round {round}: nobody made {fact:?}");
        }
    }
}

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn n_rounds() -> u64 {
    if std::env::var_os("SLUICE_LONG").is_some_and(|value| value == "1") { 50 } else { 6 }
}

/// The statements of one worker's turn, each with what it makes (`true`) or takes away.
fn turn(worker: u64, round: u64, n: u64) -> Vec<(String, Vec<Fact>, bool)> {
    let id = format!("{worker}_{round}_{n}");
    let (user, role, policy) = (format!("u{id}"), format!("r{id}"), format!("p{id}"));
    let fact = |kind: &'static str, name: &str| vec![(kind, name.to_owned())];
    vec![
        (format!("CREATE USER {user} PASSWORD 'secret {id}'"), fact("user", &user), true),
        (format!("CREATE ROLE {role}"), fact("role", &role), true),
        (format!("GRANT ROLE {role} TO USER {user}"), fact("member", &format!("{role} {user}")), true),
        (format!("GRANT SELECT ON lake.s.source TO USER {user}"), fact("grant", &user), true),
        (format!("DENY INSERT ON lake.s.source TO USER {user}"), fact("denial", &user), true),
        (
            format!(
                "CREATE POLICY {policy} ON TABLE lake.s.source ROW FILTER TO USER {user} USING (a > {n})"
            ),
            fact("policy", &policy),
            true,
        ),
        (format!("INSERT INTO lake.s.rows{worker} VALUES ('{id}')"), fact("row", &id), true),
        (
            format!("CREATE TABLE lake.s.copy{id} AS SELECT * FROM lake.s.source"),
            fact("table", &format!("copy{id}")),
            true,
        ),
        (format!("DROP POLICY {policy}"), fact("policy", &policy), false),
        (format!("REVOKE ROLE {role} FROM USER {user}"), fact("member", &format!("{role} {user}")), false),
        (format!("DROP ROLE {role}"), fact("role", &role), false),
        (format!("DROP TABLE lake.s.copy{id}"), fact("table", &format!("copy{id}")), false),
    ]
}

/// Runs turns until the server is gone; every acknowledgement is told.
async fn work(client: Client, worker: u64, round: u64, ledger: Ledger, acknowledged: mpsc::Sender<()>) {
    // A worker begins elsewhere in its turn in every round, and leaves some things standing.
    for n in 0.. {
        let statements = turn(worker, round, n);
        let n_kept = if (n + worker).is_multiple_of(2) { statements.len() - 4 } else { statements.len() };
        for (sql, facts, makes) in statements.into_iter().take(n_kept) {
            ledger.set(&facts, Known::Open);
            if let Err(error) = client.batch_execute(&sql).await {
                assert!(error.as_db_error().is_none(), "`{sql}`: {error:?}");
                return;
            }
            ledger.set(&facts, if makes { Known::There } else { Known::Gone });
            if acknowledged.send(()).await.is_err() {
                return;
            }
        }
    }
}

/// Everything that a restarted server has of what the workers make.
async fn seen(client: &Client) -> BTreeSet<Fact> {
    let mut seen = BTreeSet::new();
    let ours = |name: &str| name.contains('_');
    let all = |sql: &'static str| async move { rows(client, sql).await.unwrap() };
    let text = |row: &[Option<String>], i: usize| row[i].clone().unwrap();
    for (kind, sql) in
        [("user", "SHOW USERS"), ("role", "SHOW ROLES"), ("policy", "SHOW POLICIES ON lake.s.source")]
    {
        seen.extend(all(sql).await.iter().map(|row| (kind, text(row, 0))));
    }
    for row in all("SHOW ROLE GRANTS").await {
        seen.insert(("member", format!("{} {}", text(&row, 0), text(&row, 2))));
    }
    for row in all("SHOW GRANTS ON lake.s.source").await {
        let (privilege, grantee, effect) = (text(&row, 0), text(&row, 3), text(&row, 4));
        match (privilege.as_str(), effect.as_str()) {
            ("table-data-read", "ALLOW") => seen.insert(("grant", grantee)),
            ("table-data-write", "DENY") => seen.insert(("denial", grantee)),
            _ => false,
        };
    }
    for worker in 0..N_WORKERS {
        let found = rows(client, &format!("SELECT id FROM lake.s.rows{worker}")).await.unwrap();
        let n_found = found.len();
        let before = seen.len();
        seen.extend(found.iter().map(|row| ("row", text(row, 0))));
        assert_eq!(seen.len() - before, n_found, "a row is there twice");
    }
    for row in
        all("SELECT table_name FROM lake.information_schema.tables WHERE table_name LIKE 'copy%'").await
    {
        let name = text(&row, 0);
        let count = rows(client, &format!("SELECT count(*), sum(a) FROM lake.s.{name}")).await.unwrap();
        let whole = [N_SOURCE_ROWS, N_SOURCE_ROWS * (N_SOURCE_ROWS - 1) / 2].map(|n| Some(n.to_string()));
        assert_eq!(count, [whole], "`{name}` is half a table");
        seen.insert(("table", name));
    }
    seen.retain(|(_, name)| ours(name));
    seen
}

async fn set_up(client: &Client) {
    let values: Vec<String> = (0..N_SOURCE_ROWS).map(|n| format!("({n})")).collect();
    let mut script = "CREATE SCHEMA lake.s; CREATE TABLE lake.s.source (a BIGINT);".to_owned();
    script += &format!("INSERT INTO lake.s.source VALUES {};", values.join(","));
    for worker in 0..N_WORKERS {
        script += &format!("CREATE TABLE lake.s.rows{worker} (id VARCHAR);");
    }
    client.batch_execute(&script).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_edit_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::default();
    let mut chance = Chance(7);
    let mut process = Process::start(dir.path());
    let password = process.password().unwrap();
    set_up(&process.connect("admin", &password).await).await;
    let mut n_acknowledged = 0;
    for round in 0..n_rounds() {
        let (sender, mut acknowledged) = mpsc::channel(1);
        let mut workers = tokio::task::JoinSet::new();
        for worker in 0..N_WORKERS {
            let client = process.connect("admin", &password).await;
            workers.spawn(work(client, worker, round, ledger.clone(), sender.clone()));
        }
        drop(sender);
        let n_wanted = 1 + chance.below(60);
        for _ in 0..n_wanted {
            acknowledged.recv().await.expect("the workers ended before the server");
            n_acknowledged += 1;
        }
        // And then somewhere inside of what is under way, with the workers going on.
        let moment = Duration::from_micros(chance.below(20_000));
        let drained = async { while acknowledged.recv().await.is_some() {} };
        let _ = tokio::time::timeout(moment, drained).await;
        process.kill();
        drop(acknowledged);
        while let Some(ended) = workers.join_next().await {
            ended.unwrap();
        }

        process = Process::start(dir.path());
        assert_eq!(process.password(), None, "a restart makes no new administrator");
        let client = process.connect("admin", &password).await;
        ledger.settle(&seen(&client).await, round);
    }
    assert!(n_acknowledged >= n_rounds());
    assert!(process.terminate().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_is_killed_can_be_done_again() {
    let mut chance = Chance(11);
    for _ in 0..n_rounds().min(10) {
        let dir = tempfile::tempdir().unwrap();
        let mut command = crate::process::serve(dir.path());
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let until = Duration::from_millis(chance.below(400));
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let _ = receiver.recv_timeout(until);
        drop(sender);
        child.kill().unwrap();
        child.wait().unwrap();
        let process = Process::start(dir.path());
        let health = crate::serve::get(&process, "/readyz").await;
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    }
}
