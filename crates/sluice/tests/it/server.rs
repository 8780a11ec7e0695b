//! Starting, stopping, and what outlives a stop.

use sluice::server::FIRST_ADMIN;
use sluice::{Options, Running, Server, ServerError};
use stdx::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::NoTls;

use crate::config;

async fn connect(running: &Running, password: &str) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let mut config = tokio_postgres::Config::new();
    let addr = running.pg_addr.unwrap();
    config.host(addr.ip().to_string()).port(addr.port()).user(FIRST_ADMIN).password(password);
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn get(running: &Running, path: &str) -> String {
    let mut socket = tokio::net::TcpStream::connect(running.http_addr.unwrap()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_makes_a_password_and_later_ones_keep_everything() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let running = Server::start(&config, Options::default()).await.unwrap();
    let password = running.made_password.clone().unwrap();
    let client = connect(&running, password.reveal()).await.unwrap();
    client
        .batch_execute(
            "CREATE SCHEMA lake.s; CREATE TABLE lake.s.t (a BIGINT); INSERT INTO lake.s.t VALUES (1)",
        )
        .await
        .unwrap();
    drop(client);
    running.shutdown().await.unwrap();

    let running = Server::start(&config, Options::default()).await.unwrap();
    assert_eq!(running.made_password, None);
    let client = connect(&running, password.reveal()).await.unwrap();
    let row = client.query_one("SELECT a FROM lake.s.t", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 1);
    drop(client);
    running.shutdown().await.unwrap();
    let audit = std::fs::read_to_string(dir.path().join("audit.jsonl")).unwrap();
    assert!(audit.lines().count() >= 3, "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_one_folder_is_refused_until_the_first_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let running = Server::start(&config, Options::default()).await.unwrap();
    let refused = Server::start(&config, Options::default()).await;
    assert!(matches!(refused, Err(ServerError::InUse { .. })));
    running.shutdown().await.unwrap();
    Server::start(&config, Options::default()).await.unwrap().shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_refused_and_health_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { admin_password: Some(Secret::new("right and proper")), ..Options::default() };
    let running = Server::start(&config(dir.path()), options).await.unwrap();
    assert!(connect(&running, "wrong").await.is_err());
    assert!(connect(&running, "right and proper").await.is_ok());
    assert!(get(&running, "/healthz").await.starts_with("HTTP/1.1 200"));
    assert!(get(&running, "/readyz").await.starts_with("HTTP/1.1 200"));
    running.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_that_is_added_later_gets_a_policy_service_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    Server::start(&config, Options::default()).await.unwrap().shutdown().await.unwrap();
    let mut added = config.catalogs[0].clone();
    added.name = "added".to_owned();
    added.warehouse = dir.path().join("added");
    config.catalogs.push(added);
    let running = Server::start(&config, Options::default()).await.unwrap();
    assert!(running.open_embedded(FIRST_ADMIN, Some("added")).await.is_ok());
    running.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_session_is_for_users_whom_the_authority_knows() {
    let dir = tempfile::tempdir().unwrap();
    let running = Server::start(&config(dir.path()), Options::default()).await.unwrap();
    assert!(running.open_embedded(FIRST_ADMIN, None).await.is_ok());
    assert!(running.open_embedded("nobody", None).await.is_err());
    running.shutdown().await.unwrap();
}
