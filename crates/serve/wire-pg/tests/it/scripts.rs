//! The simple protocol: scripts, tags, notices, errors, and what a panic leaves standing.

use tokio_postgres::SimpleQueryMessage;

use crate::door::{assert_told, field, message, open};

fn query(script: &str) -> Vec<u8> {
    message(b'Q', format!("{script}\0").as_bytes())
}

#[tokio::test]
async fn a_script_runs_until_its_first_error() {
    let door = open().await;
    let mut raw = door.raw().await;
    raw.send(&query("COUNT 2; INSERT 3; GRANT hello; SELECT x; INSERT 9")).await;
    let mut seen = Vec::new();
    loop {
        let (kind, body) = raw.next().await.unwrap();
        let text = match kind {
            'C' => String::from_utf8_lossy(&body[..body.len() - 1]).into_owned(),
            'E' | 'N' => format!("{} {}", field(&body, 'S'), field(&body, 'M')),
            'Z' => char::from(body[0]).to_string(),
            _ => String::new(),
        };
        seen.push(format!("{kind} {text}"));
        if kind == 'Z' {
            break;
        }
    }
    let expected = [
        "T ",
        "D ",
        "D ",
        "C SELECT 2",
        "C INSERT 0 3",
        "N NOTICE hello",
        "C GRANT",
        "E ERROR no such column `x`",
        "Z I",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn an_error_has_code_hint_and_position_in_characters_of_the_whole_script() {
    let door = open().await;
    let mut raw = door.raw().await;
    raw.send(&query("GRANT 'äöü😀'; SELECT x")).await;
    let body = loop {
        let (kind, body) = raw.next().await.unwrap();
        if kind == 'E' {
            break body;
        }
    };
    let told: Vec<String> = "SVCMHP".chars().map(|kind| field(&body, kind)).collect();
    assert_eq!(told, ["ERROR", "ERROR", "42703", "no such column `x`", "there is `y`", "22"]);
    assert_eq!(raw.kinds().await, "Z");
}

#[tokio::test]
async fn nothing_gives_an_empty_response() {
    let door = open().await;
    let mut raw = door.raw().await;
    for script in ["", " ;; "] {
        raw.send(&query(script)).await;
        assert_eq!(raw.kinds().await, "IZ");
    }
}

#[tokio::test]
async fn the_transaction_is_told_with_each_ready() {
    let door = open().await;
    let mut raw = door.raw().await;
    for (script, status) in [("BEGIN", b'T'), ("SELECT x", b'E'), ("ROLLBACK", b'I'), ("BEGIN;COMMIT", b'I')]
    {
        raw.send(&query(script)).await;
        let last = loop {
            let (kind, body) = raw.next().await.unwrap();
            if kind == 'Z' {
                break body[0];
            }
        };
        assert_eq!(last, status, "{script}");
    }
}

#[tokio::test]
async fn copy_is_refused() {
    let door = open().await;
    let client = door.connect().await;
    assert_told(client.simple_query("/* c */ COPY t FROM STDIN").await, "0A000", "`COPY` is not supported");
    assert_told(client.prepare("copy t to stdout").await, "0A000", "`COPY` is not supported");
}

#[tokio::test]
async fn a_panic_ends_its_statement_alone_and_tells_nothing() {
    let door = open().await;
    let client = door.connect().await;
    for script in ["PANIC", "PANIC LATE"] {
        assert_told(client.simple_query(script).await, "XX000", "internal error");
        assert!(client.simple_query("COUNT 1").await.is_ok());
    }
    assert_told(client.execute("PANIC", &[]).await, "XX000", "internal error");
    assert!(client.query("COUNT 1", &[]).await.is_ok());
}

#[tokio::test]
async fn rows_before_a_late_error_are_sent() {
    let door = open().await;
    let mut raw = door.raw().await;
    raw.send(&query("BROKEN")).await;
    assert_eq!(raw.kinds().await, "TDDDEZ");
}

#[tokio::test]
async fn a_long_result_is_streamed_and_not_gathered() {
    let door = open().await;
    let client = door.connect().await;
    let n_rows = client.simple_query("COUNT 50000").await.unwrap();
    let n_rows = n_rows.iter().filter(|m| matches!(m, SimpleQueryMessage::Row(_))).count();
    assert_eq!(n_rows, 50_000);
}

#[tokio::test]
async fn a_changed_setting_is_told() {
    let door = open().await;
    let mut raw = door.raw().await;
    raw.send(&query("SET application_name = 'psql'")).await;
    let (kind, _) = raw.next().await.unwrap();
    let (status, body) = raw.next().await.unwrap();
    assert_eq!((kind, status, body.as_slice()), ('C', 'S', &b"application_name\0psql\0"[..]));
    assert_eq!(raw.kinds().await, "Z");
}

#[tokio::test]
async fn function_calls_are_refused_and_stray_copy_messages_dropped() {
    let door = open().await;
    let mut raw = door.raw().await;
    raw.send(&message(b'F', b"\0\0\0\0")).await;
    assert_eq!(raw.kinds().await, "EZ");
    raw.send(&[message(b'c', b""), query("")].concat()).await;
    assert_eq!(raw.kinds().await, "IZ");
}

#[tokio::test]
async fn a_message_that_breaks_the_protocol_ends_the_connection() {
    let door = open().await;
    for bytes in [message(b'?', b""), message(b'B', b"\0\0\xff\xff"), b"Q\x7f\xff\xff\xff".to_vec()] {
        let mut raw = door.raw().await;
        raw.send(&bytes).await;
        let (kind, body) = raw.next().await.unwrap();
        assert_eq!((kind, field(&body, 'S').as_str()), ('E', "FATAL"));
        assert_eq!(raw.next().await, None);
    }
}
