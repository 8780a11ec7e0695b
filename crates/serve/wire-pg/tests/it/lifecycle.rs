//! Cancelling, leaving and stopping.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio_postgres::NoTls;

use crate::door::{Raw, assert_told, field, message, open};

/// A bound for what must happen soon; it is only ever reached by a failure.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("nothing happened")
}

#[tokio::test]
async fn cancel_reaches_the_statement_of_its_own_connection_only() {
    let door = open().await;
    let (mine, other) = (door.connect().await, door.connect().await);
    let token = mine.cancel_token();
    let engine = std::sync::Arc::clone(&door.engine);
    let cancel = async {
        engine.waiting.notified().await;
        engine.waiting.notified().await;
        token.cancel_query(NoTls).await.unwrap();
    };
    let waiting_other = other.simple_query("WAIT");
    tokio::pin!(waiting_other);
    let (cancelled, ()) = soon(async {
        tokio::select! {
            both = async { tokio::join!(mine.simple_query("WAIT"), cancel) } => both,
            _ = &mut waiting_other => panic!("the other connection was cancelled"),
        }
    })
    .await;
    assert_told(cancelled, "57014", "canceling statement due to user request");
    assert!(soon(mine.simple_query("COUNT 1")).await.is_ok());
    other.cancel_token().cancel_query(NoTls).await.unwrap();
    assert!(soon(waiting_other).await.is_err());
}

#[tokio::test]
async fn a_cancelled_statement_that_does_not_stop_is_dropped() {
    let door = open().await;
    let client = door.connect().await;
    let token = client.cancel_token();
    let cancel = async {
        door.engine.waiting.notified().await;
        token.cancel_query(NoTls).await.unwrap();
    };
    let (cancelled, ()) = soon(async { tokio::join!(client.simple_query("WORK"), cancel) }).await;
    assert_told(cancelled, "57014", "canceling statement due to user request");
    assert!(soon(client.simple_query("COUNT 1")).await.is_ok());
}

#[tokio::test]
async fn cancel_with_a_wrong_key_or_while_idle_does_nothing() {
    let door = open().await;
    let client = door.connect().await;
    client.cancel_token().cancel_query(NoTls).await.unwrap();
    let mut stranger = TcpStream::connect(door.addr).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stranger, b"\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\x01abcd")
        .await
        .unwrap();
    assert_eq!(Raw::new(stranger).next().await, None);
    assert!(client.simple_query("COUNT 1").await.is_ok());
}

#[tokio::test]
async fn a_client_that_leaves_ends_her_statement() {
    let mut door = open().await;
    let mut raw = door.raw().await;
    raw.send(&message(b'Q', b"WORK\0")).await;
    soon(door.engine.waiting.notified()).await;
    drop(raw);
    // Nobody releases the statement, so the server could not stop before its bound if it still ran.
    let stopped = door.server.take().unwrap().join;
    let left = soon(async {
        while std::sync::Arc::strong_count(&door.engine.release) > 1 {
            tokio::task::yield_now().await;
        }
    });
    left.await;
    door.shutdown.cancel();
    soon(stopped).await.unwrap();
}

#[tokio::test]
async fn an_idle_client_is_told_when_the_server_stops() {
    let mut door = open().await;
    let mut raw = door.raw().await;
    door.shutdown.cancel();
    let (kind, body) = soon(raw.next()).await.unwrap();
    assert_eq!((kind, field(&body, 'S'), field(&body, 'C')), ('E', "FATAL".to_owned(), "57P01".to_owned()));
    assert_eq!(raw.next().await, None);
    soon(door.server.take().unwrap().join).await.unwrap();
    assert!(TcpStream::connect(door.addr).await.is_err());
}

#[tokio::test]
async fn a_running_statement_may_end_when_the_server_stops() {
    let mut door = open().await;
    let (mut raw, mut idle) = (door.raw().await, door.raw().await);
    raw.send(&message(b'Q', b"WORK\0")).await;
    soon(door.engine.waiting.notified()).await;
    door.shutdown.cancel();
    // The idle client is told first, so the server does know by now.
    assert_eq!(soon(idle.next()).await.unwrap().0, 'E');
    door.engine.release.notify_one();
    assert_eq!(soon(raw.kinds()).await, "CZ");
    let (kind, body) = soon(raw.next()).await.unwrap();
    assert_eq!((kind, field(&body, 'C')), ('E', "57P01".to_owned()));
    soon(door.server.take().unwrap().join).await.unwrap();
}

#[tokio::test]
async fn a_statement_that_does_not_end_is_cancelled_when_the_time_to_stop_is_over() {
    let mut door = open().await;
    let mut raw = door.raw().await;
    raw.send(&message(b'Q', b"WAIT\0")).await;
    soon(door.engine.waiting.notified()).await;
    door.shutdown.cancel();
    let (kind, body) = soon(raw.next()).await.unwrap();
    assert_eq!((kind, field(&body, 'C')), ('E', "57014".to_owned()));
    assert_eq!(soon(raw.kinds()).await, "Z");
    soon(door.server.take().unwrap().join).await.unwrap();
}
