//! `sluice serve` as its operator meets it: what it tells, refuses and logs, and how it ends.

use std::process::{Output, Stdio};
use std::sync::Arc;

use futures::StreamExt;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

use crate::process::{Process, rows, serve};

pub(crate) async fn get(process: &Process, path: &str) -> String {
    let mut socket = tokio::net::TcpStream::connect(process.http_addr).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Runs a server that is expected not to start.
fn refused(mut command: std::process::Command) -> (Output, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    (output, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_told_once_and_never_logged() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::start(dir.path());
    let password = process.password().unwrap();
    assert_eq!(process.told.matches(&password).count(), 1);
    process.connect("admin", &password).await;
    assert!(process.terminate().success());
    let process = Process::start(dir.path());
    assert!(!process.told.contains("password"), "{}", process.told);
    process.connect("admin", &password).await;
    let log = process.log();
    assert!(log.contains("policy store opened") && !log.contains(&password), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_password_is_replaced_from_the_folder_itself() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Process::start(dir.path()).terminate().success());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
    command.current_dir(dir.path()).args([
        "sql",
        "--data-dir",
        "data",
        "-c",
        "ALTER USER admin PASSWORD 'found again'",
    ]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let process = Process::start(dir.path());
    process.connect("admin", "found again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_on_the_folder_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::start(dir.path());
    let (_, told) = refused(serve(dir.path()));
    assert!(told.contains(&format!("is in use by process {}", process.id())), "{told}");
    assert!(told.contains("stop it first") && told.contains(&dir.path().display().to_string()), "{told}");
    assert!(get(&process, "/readyz").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_with_zero_and_idle_clients_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::start(dir.path());
    let password = process.password().unwrap();
    let (client, connection) = process.config("admin", &password).connect(NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    rows(&client, "SELECT 1").await.unwrap();
    assert!(get(&process, "/healthz").await.starts_with("HTTP/1.1 200"));
    assert!(get(&process, "/nowhere").await.starts_with("HTTP/1.1 404"));
    assert_eq!(process.terminate().code(), Some(0));
    let told = connection.await.unwrap().unwrap_err();
    assert_eq!(told.code(), Some(&SqlState::ADMIN_SHUTDOWN), "{told:?}");
}

#[test]
fn an_unknown_key_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    std::fs::write(&file, "[server]\nlog_format = \"json\"\n\n[postgres]\n  lissten = \"off\"\n").unwrap();
    let mut command = serve(dir.path());
    command.arg("--config").arg(&file);
    let (_, told) = refused(command);
    assert!(told.contains("mine.toml:5:3: unknown key `lissten`"), "{told}");
    assert!(!dir.path().join("data").exists(), "nothing is made before the configuration is right");
}

#[test]
fn an_unknown_variable_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = serve(dir.path());
    command.env("SLUICE_SERVER__LOG_FORMATT", "json");
    let (_, told) = refused(command);
    assert!(told.contains("SLUICE_SERVER__LOG_FORMATT"), "{told}");
}

#[test]
fn the_environment_wins_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sluice.toml"), "[server]\nlog_format = \"text\"\n").unwrap();
    let mut command = serve(dir.path());
    command.env("SLUICE_SERVER__LOG_FORMAT", "json");
    let process = Process::start_as(dir.path(), command);
    let log = process.log();
    assert!(log.lines().count() > 0);
    for line in log.lines() {
        assert!(line.starts_with("{\"timestamp\":") && line.ends_with('}'), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_an_unknown_user_get_one_answer() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::start(dir.path());
    let mut answers = Vec::new();
    for user in ["admin", "nobody"] {
        let error = process.config(user, "wrong").connect(NoTls).await.err().unwrap();
        let told = error.as_db_error().unwrap();
        assert_eq!(told.code(), &SqlState::INVALID_PASSWORD);
        answers.push(told.message().replace(user, "…"));
    }
    assert_eq!(answers[0], answers[1]);
    assert!(!process.log().contains("wrong"), "{}", process.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_spoken_when_configured_and_clear_text_refused_when_required() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(dir.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(dir.path().join("key.pem"), made.key_pair.serialize_pem()).unwrap();
    let settings = "[postgres]\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\nrequire_tls = true\n";
    std::fs::write(dir.path().join("sluice.toml"), settings).unwrap();
    let process = Process::start(dir.path());
    let password = process.password().unwrap();
    assert!(process.config("admin", &password).connect(NoTls).await.is_err());

    let mut socket = tokio::net::TcpStream::connect(process.pg_addr).await.unwrap();
    // A request for TLS: its length, and the protocol's number for it.
    socket.write_all(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]).await.unwrap();
    assert_eq!(socket.read_u8().await.unwrap(), b'S');
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut socket = tokio_rustls::TlsConnector::from(Arc::new(client)).connect(name, socket).await.unwrap();
    let parameters = b"user\0admin\0\0";
    socket.write_u32(u32::try_from(8 + parameters.len()).unwrap()).await.unwrap();
    socket.write_u32(196_608).await.unwrap();
    socket.write_all(parameters).await.unwrap();
    socket.flush().await.unwrap();
    assert_eq!(socket.read_u8().await.unwrap(), b'R', "it asks for the password inside of TLS");
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let settings = "[postgres]\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\n";
    std::fs::write(dir.path().join("sluice.toml"), settings).unwrap();
    let (_, told) = refused(serve(dir.path()));
    assert!(told.contains("cert.pem` cannot be used for TLS"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_statement_is_cancelled_by_its_client() {
    let dir = tempfile::tempdir().unwrap();
    let process = Process::start(dir.path());
    let client = process.connect("admin", &process.password().unwrap()).await;
    let nothing: [i64; 0] = [];
    let endless = "SELECT value FROM generate_series(1, 1000000000000)";
    let found = client.query_raw(endless, nothing).await.unwrap();
    let mut found = std::pin::pin!(found);
    // With its first row the statement is surely under way: a cancel that comes before is lost, as in PostgreSQL.
    assert_eq!(found.next().await.unwrap().unwrap().get::<_, i64>(0), 1);
    client.cancel_token().cancel_query(NoTls).await.unwrap();
    let error = loop {
        match found.next().await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("the statement came to its end"),
        }
    };
    assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED));
    assert_eq!(rows(&client, "SELECT 1").await.unwrap().len(), 1);
}
