//! `sluice sql` as a process: what it prints, and with what it ends.

use std::path::Path;
use std::process::{Command, Output};

use sluice::{Options, Server};
use stdx::Secret;

use crate::config;

fn sluice() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.env_remove("PGPASSWORD").env_remove("SLUICE_CONFIG");
    command
}

/// Runs statements on a data folder, as its first administrator.
fn embedded(data_dir: &Path, arguments: &[&str]) -> Output {
    // The folder's own configuration names no catalog; the default one is meant.
    let dir = data_dir.display().to_string();
    sluice().current_dir(data_dir).args(["sql", "--data-dir", &dir]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn data_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let running = Server::start(&config(dir.path()), Options::default()).await.unwrap();
    running.shutdown().await.unwrap();
    dir
}

#[tokio::test(flavor = "multi_thread")]
async fn results_come_in_every_format() {
    let dir = data_dir().await;
    for (format, expected) in [
        ("table", " a | b\n---+------\n 1 | NULL\n(1 row)\n\n"),
        ("csv", "a,b\n1,\n"),
        ("json", "[{\"a\":1,\"b\":null}]\n"),
        ("vertical", "-[ row 1 ]-\na | 1\nb | NULL\n(1 row)\n\n"),
    ] {
        let output =
            embedded(dir.path(), &["--format", format, "-c", "SELECT 1 AS a, CAST(NULL AS VARCHAR) AS b"]);
        assert_eq!(text(&output.stdout), expected, "{format}: {}", text(&output.stderr));
        assert!(output.status.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_goes_to_stderr_and_ends_with_one() {
    let dir = data_dir().await;
    let output = embedded(dir.path(), &["-q", "-c", "SELECT * FROM nowhere; SELECT 2 AS a"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("[42P01]"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains('2'), "a script goes on after an error");
    let output =
        embedded(dir.path(), &["-q", "-v", "ON_ERROR_STOP=1", "-c", "SELECT * FROM nowhere; SELECT 2 AS a"]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(1), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_describe_what_is_there() {
    let dir = data_dir().await;
    let script = dir.path().join("script.sql");
    let made = "CREATE SCHEMA lake.s; CREATE TABLE lake.s.t (a BIGINT, b VARCHAR);\n\\dt\n\\dn\n\\l\n\\d s.t\n\\du\n\\d s.no\n";
    std::fs::write(&script, made).unwrap();
    let output = embedded(dir.path(), &["-f", &script.display().to_string(), "--format", "csv"]);
    let told = text(&output.stdout);
    let problems = text(&output.stderr);
    assert!(output.status.success(), "{problems}");
    for part in ["s,t,BASE TABLE", "catalog\nlake\n", "s,a,", "s,b,", "admin"] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    assert!(problems.contains("no such table or view `s.no`"), "{problems}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_connects_over_the_wire() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { admin_password: Some(Secret::new("open sesame")), ..Options::default() };
    let running = Server::start(&config(dir.path()), options).await.unwrap();
    let port = running.pg_addr.unwrap().port().to_string();
    let run = move |password: &str, statement: &str| {
        let mut command = sluice();
        command.env("PGPASSWORD", password);
        command.args(["sql", "-p", &port, "--format", "json", "-c", statement]).output().unwrap()
    };
    let outputs = tokio::task::spawn_blocking(move || {
        [
            run("open sesame", "SELECT 1 AS a, true AS b, 'x' AS c"),
            run("open sesame", "SELEC 1"),
            run("wrong", "SELECT 1"),
        ]
    });
    let [right, syntax, wrong] = outputs.await.unwrap();
    assert_eq!(text(&right.stdout), "[{\"a\":1,\"b\":true,\"c\":\"x\"}]\n", "{}", text(&right.stderr));
    assert_eq!(syntax.status.code(), Some(1));
    assert!(text(&syntax.stderr).contains("[42601]"), "{}", text(&syntax.stderr));
    assert!(text(&wrong.stderr).contains("cannot connect"), "{}", text(&wrong.stderr));
    running.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_connects_with_tls_to_a_server_that_it_can_verify() {
    let dir = tempfile::tempdir().unwrap();
    let certificate = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let file = dir.path().join(name);
        std::fs::write(&file, made.cert.pem()).unwrap();
        (file, made.key_pair.serialize_pem())
    };
    let (cert, key_text) = certificate("cert.pem");
    let (other, _) = certificate("other.pem");
    let key = dir.path().join("key.pem");
    std::fs::write(&key, key_text).unwrap();
    let mut config = config(&dir.path().join("data"));
    config.postgres.tls = Some(sluice::config::TlsFiles { cert: cert.clone(), key });
    config.postgres.require_tls = true;
    let options = Options { admin_password: Some(Secret::new("open sesame")), ..Options::default() };
    let running = Server::start(&config, options).await.unwrap();
    let port = running.pg_addr.unwrap().port().to_string();
    let run = move |ca: Option<&Path>| {
        let mut command = sluice();
        command.env("PGPASSWORD", "open sesame").args([
            "sql",
            "-H",
            "localhost",
            "-p",
            &port,
            "-c",
            "SELECT 1",
        ]);
        if let Some(ca) = ca {
            command.arg("--tls-ca").arg(ca);
        }
        command.output().unwrap()
    };
    let ran = tokio::task::spawn_blocking(move || [run(Some(&cert)), run(Some(&other)), run(None)]);
    let [verified, unknown, clear] = ran.await.unwrap();
    assert!(verified.status.success(), "{}", text(&verified.stderr));
    assert!(!unknown.status.success() && !clear.status.success());
    running.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_a_server_holds_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let running = Server::start(&config(dir.path()), Options::default()).await.unwrap();
    let path = dir.path().to_owned();
    let output = tokio::task::spawn_blocking(move || embedded(&path, &["-c", "SELECT 1"])).await.unwrap();
    let told = text(&output.stderr);
    assert!(told.contains("in use by") && told.contains("stop it first"), "{told}");
    running.shutdown().await.unwrap();
}

#[test]
fn a_configuration_is_checked_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sluice.toml");
    std::fs::write(&file, "[http]\nlisten = \"off\"\nport = 1\n").unwrap();
    let run = |verb: &str, file: &Path| {
        let mut command = sluice();
        command.current_dir(dir.path()).args(["config", verb]);
        if verb == "show" {
            command.arg("--config");
        }
        command.arg(file).output().unwrap()
    };
    let wrong = run("check", &file);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("sluice.toml:3:1: unknown key `port`"), "{}", text(&wrong.stderr));
    std::fs::write(&file, "[http]\nlisten = \"off\"\n").unwrap();
    assert!(run("check", &file).status.success());
    let shown = text(&run("show", &file).stdout);
    assert!(shown.contains("\"off\"") && shown.contains("sluice.toml:2:1"), "{shown}");
}
