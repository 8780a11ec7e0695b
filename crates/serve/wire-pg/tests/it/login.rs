//! Who gets in, over what, and what those who do not are told.

use std::sync::Arc;

use rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_postgres::NoTls;
use tokio_postgres::config::SslMode;
use wire_pg::{PgConfig, PgDoorError, bind};

use crate::door::{Raw, assert_told, config, field, message, open, open_with};
use crate::engine::Engine;

const REFUSED: &str = "password authentication failed for user";

#[tokio::test]
async fn right_password_opens_a_session_for_that_user() {
    let door = open().await;
    let client = door.connect().await;
    let row = client.query_one("WHO", &[]).await.unwrap();
    assert_eq!(row.get::<_, &str>(0), "alice");
    let context = door.engine.contexts.lock().unwrap()[0].clone();
    assert_eq!(context.door, query_api::Door::Postgres);
    assert_eq!(context.client_addr, Some([127, 0, 0, 1].into()));
}

#[tokio::test]
async fn wrong_password_and_unknown_user_are_told_alike() {
    let door = open().await;
    let wrong = door.try_connect(door.config().password("wander")).await;
    assert_told(wrong, "28P01", &format!("{REFUSED} \"alice\""));
    let unknown = door.try_connect(door.config().user("ghost")).await;
    assert_told(unknown, "28P01", &format!("{REFUSED} \"ghost\""));
}

/// Everything the server sends to a user whose proof is wrong, with what must differ left out.
async fn failed_login(user: &str) -> Vec<(char, usize, String)> {
    let door = open().await;
    let mut raw = Raw::new(TcpStream::connect(door.addr).await.unwrap());
    let mut startup = b"\0\0\0\0\0\x03\0\0user\0".to_vec();
    startup.extend_from_slice(user.as_bytes());
    startup.extend_from_slice(b"\0database\0lake\0\0");
    startup[3] = u8::try_from(startup.len()).unwrap();
    raw.send(&startup).await;
    let mut seen = Vec::new();
    let (kind, body) = raw.next().await.unwrap();
    seen.push((kind, body.len(), String::from_utf8_lossy(&body[4..]).into_owned()));
    let first = b"n,,n=,r=abcdefgh";
    let mut initial = b"SCRAM-SHA-256\0\0\0\0".to_vec();
    initial.push(u8::try_from(first.len()).unwrap());
    initial.extend_from_slice(first);
    raw.send(&message(b'p', &initial)).await;
    let (kind, body) = raw.next().await.unwrap();
    seen.push((kind, body.len(), String::new()));
    let server_first = String::from_utf8(body[4..].to_vec()).unwrap();
    let nonce = server_first.split(',').next().unwrap();
    let proof = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    raw.send(&message(b'p', format!("c=biws,{nonce},p={proof}").as_bytes())).await;
    while let Some((kind, body)) = raw.next().await {
        seen.push((kind, body.len(), field(&body, 'C')));
    }
    seen
}

#[tokio::test]
async fn the_message_flow_does_not_tell_who_exists() {
    let known = failed_login("alice").await;
    assert_eq!(known, failed_login("ghost").await);
    assert_eq!(known.iter().map(|(kind, ..)| *kind).collect::<String>(), "RRE");
    assert_eq!(known[0].2, "SCRAM-SHA-256\0\0");
    assert_eq!(known[2].2, "28P01");
}

#[tokio::test]
async fn a_catalog_that_does_not_exist_is_told_after_login_only() {
    let door = open().await;
    let result = door.try_connect(door.config().dbname("nope")).await;
    assert_told(result, "3D000", "database \"nope\" does not exist");
    let result = door.try_connect(door.config().dbname("nope").password("wander")).await;
    assert_told(result, "28P01", &format!("{REFUSED} \"alice\""));
}

#[tokio::test]
async fn startup_settings_are_taken_or_refused() {
    let door = open().await;
    let client =
        door.try_connect(door.config().application_name("app").options("-c timezone=Europe/Berlin")).await;
    let client = client.unwrap();
    for (name, value) in [("application_name", "app"), ("timezone", "Europe/Berlin")] {
        assert_eq!(client.query_one(&format!("SHOW {name}"), &[]).await.unwrap().get::<_, &str>(0), value);
    }
    assert_eq!(door.engine.contexts.lock().unwrap()[0].application.as_deref(), Some("app"));
    assert_told(door.try_connect(door.config().options("-c unknown=1")).await, "42704", "no such setting");
}

#[tokio::test]
async fn tls_is_offered_only_with_a_certificate_and_can_be_required() {
    let (tls, client_config) = certificate();
    let door = open_with(PgConfig { tls: Some(tls), require_tls: true, ..config() }, Engine::default()).await;
    let plain = door.try_connect(door.config().ssl_mode(SslMode::Disable)).await;
    assert_told(plain, "28000", "this server takes connections with TLS only");

    let mut socket = TcpStream::connect(door.addr).await.unwrap();
    assert_eq!(ask(&mut socket, b"\0\0\0\x08\x04\xd2\x16\x30").await, b'N');
    assert_eq!(ask(&mut socket, b"\0\0\0\x08\x04\xd2\x16\x2f").await, b'S');
    let connector = tokio_rustls::TlsConnector::from(client_config);
    let secured = connector.connect(ServerName::try_from("localhost").unwrap(), socket).await.unwrap();
    let (client, connection) =
        door.config().ssl_mode(SslMode::Disable).connect_raw(secured, NoTls).await.unwrap();
    tokio::spawn(connection);
    assert_eq!(client.query_one("WHO", &[]).await.unwrap().get::<_, &str>(0), "alice");

    let without = open().await;
    let mut socket = TcpStream::connect(without.addr).await.unwrap();
    assert_eq!(ask(&mut socket, b"\0\0\0\x08\x04\xd2\x16\x2f").await, b'N');
}

#[tokio::test]
async fn bytes_smuggled_in_before_the_handshake_are_refused() {
    let (tls, _) = certificate();
    let door = open_with(PgConfig { tls: Some(tls), ..config() }, Engine::default()).await;
    let mut socket = TcpStream::connect(door.addr).await.unwrap();
    socket.write_all(b"\0\0\0\x08\x04\xd2\x16\x2f\0\0\0\x08").await.unwrap();
    let mut seen = Vec::new();
    let _ = socket.read_to_end(&mut seen).await;
    let told = String::from_utf8_lossy(&seen).into_owned();
    assert!(told.contains("received unencrypted data"), "{told}");
}

async fn ask(socket: &mut TcpStream, request: &[u8]) -> u8 {
    socket.write_all(request).await.unwrap();
    socket.read_u8().await.unwrap()
}

fn certificate() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let cert = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.key_pair.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.clone()], key)
        .unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), Arc::new(client))
}

#[tokio::test]
async fn a_connection_beyond_the_limit_is_refused_until_one_leaves() {
    let door = open_with(PgConfig { connections_max: 1, ..config() }, Engine::default()).await;
    let (client, connection) = door.halves().await;
    let first = tokio::spawn(connection);
    let refused = door.try_connect(&door.config()).await;
    assert_told(refused, "53300", "sorry, too many clients already");
    drop(client);
    first.await.unwrap().unwrap();
    // The seat is given back once the server has seen the leaving.
    let again = async {
        loop {
            if let Ok(client) = door.try_connect(&door.config()).await {
                return client;
            }
        }
    };
    assert!(tokio::time::timeout(std::time::Duration::from_secs(20), again).await.is_ok());
}

#[tokio::test]
async fn a_door_that_could_let_nobody_in_does_not_open() {
    let check = async |config: PgConfig, expected: &str| {
        let door = open().await;
        let identity = door.identity();
        let opened = bind(config, Arc::clone(&door.engine) as _, identity, door.shutdown.clone()).await;
        assert_eq!(opened.map(|_| ()).unwrap_err().to_string(), expected);
    };
    check(PgConfig { require_tls: true, ..config() }, &PgDoorError::NoCertificate.to_string()).await;
    check(PgConfig { connections_max: 0, ..config() }, &PgDoorError::NoConnections.to_string()).await;
}

#[tokio::test]
async fn messages_over_the_limit_and_old_protocols_are_refused() {
    let check = async |bytes: &[u8], code: &str| {
        let door = open().await;
        let mut raw = Raw::new(TcpStream::connect(door.addr).await.unwrap());
        raw.send(bytes).await;
        let (kind, body) = raw.next().await.unwrap();
        assert_eq!((kind, field(&body, 'C').as_str()), ('E', code));
        assert_eq!(raw.next().await, None);
    };
    check(b"\x7f\xff\xff\xff\0\x03\0\0", "54000").await;
    check(b"\0\0\0\x09\0\x02\0\0\0", "0A000").await;
    check(b"\0\0\0\x09\0\x03\0\0\0", "28000").await;
    check(b"GET / HTTP/1.1\r\n\r\n", "54000").await;
}

#[tokio::test]
async fn a_newer_protocol_is_led_back_to_the_newest_known() {
    let door = open().await;
    let mut raw = Raw::new(TcpStream::connect(door.addr).await.unwrap());
    raw.send(b"\0\0\0\x1d\0\x03\0\x09user\0alice\0_pq_.x\0\x31\0\0").await;
    assert_eq!(raw.next().await, Some(('v', b"\0\x03\0\x02\0\0\0\x01_pq_.x\0".to_vec())));
    assert_eq!(raw.next().await.unwrap().0, 'R');
}
