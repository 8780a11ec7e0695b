//! The extended protocol: names, portals, pipelines, and skipping until `Sync`.

use std::sync::atomic::Ordering;

use futures::future::join_all;

use crate::door::{Raw, assert_told, field, message, open};

fn parse(name: &str, text: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{text}\0\0\0").as_bytes())
}

fn bind(portal: &str, statement: &str) -> Vec<u8> {
    message(b'B', format!("{portal}\0{statement}\0\0\0\0\0\0\0").as_bytes())
}

fn describe(target: char, name: &str) -> Vec<u8> {
    message(b'D', format!("{target}{name}\0").as_bytes())
}

fn execute(portal: &str, rows_max: u8) -> Vec<u8> {
    message(b'E', &[portal.as_bytes(), &[0, 0, 0, 0, rows_max]].concat())
}

fn close(target: char, name: &str) -> Vec<u8> {
    message(b'C', format!("{target}{name}\0").as_bytes())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

fn begin() -> Vec<u8> {
    message(b'Q', b"BEGIN\0")
}

/// Sends a pipeline and gives the kinds of the answers, with tags and codes spelled out.
async fn answers(raw: &mut Raw, pipeline: &[Vec<u8>]) -> Vec<String> {
    raw.send(&pipeline.concat()).await;
    let mut seen = Vec::new();
    while let Some((kind, body)) = raw.next().await {
        match kind {
            'C' => seen.push(format!("C:{}", String::from_utf8_lossy(&body[..body.len() - 1]))),
            'E' => seen.push(format!("E:{}", field(&body, 'C'))),
            kind => seen.push(kind.to_string()),
        }
        if kind == 'Z' {
            break;
        }
    }
    seen
}

async fn check(pipeline: &[Vec<u8>], expected: &[&str]) {
    let door = open().await;
    let mut raw = door.raw().await;
    assert_eq!(answers(&mut raw, pipeline).await, expected);
}

#[tokio::test]
async fn statements_and_portals_have_names() {
    check(
        &[
            parse("s", "COUNT 1"),
            describe('S', "s"),
            bind("p", "s"),
            describe('P', "p"),
            execute("p", 0),
            execute("p", 0),
            close('P', "p"),
            close('P', "never"),
            close('S', "s"),
            sync(),
        ],
        &["1", "t", "T", "2", "T", "D", "C:SELECT 1", "C:SELECT 0", "3", "3", "3", "Z"],
    )
    .await;
}

#[tokio::test]
async fn a_statement_without_rows_says_so() {
    check(
        &[parse("", "INSERT 2"), describe('S', ""), bind("", ""), execute("", 0), sync()],
        &["1", "t", "n", "2", "C:INSERT 0 2", "Z"],
    )
    .await;
    check(
        &[parse("", " ; "), bind("", ""), describe('P', ""), execute("", 0), sync()],
        &["1", "2", "n", "I", "Z"],
    )
    .await;
}

#[tokio::test]
async fn after_an_error_all_is_skipped_until_sync() {
    check(
        &[parse("s", "UNPLANNED t"), bind("", "s"), execute("", 0), message(b'Q', b"COUNT 1\0"), sync()],
        &["E:42P01", "Z"],
    )
    .await;
    check(
        &[parse("", "SELECT x"), bind("", ""), execute("", 0), execute("", 0), sync()],
        &["1", "2", "E:42703", "Z"],
    )
    .await;
}

#[tokio::test]
async fn misuse_of_names_is_told_apart() {
    check(&[bind("", "nope"), sync()], &["E:26000", "Z"]).await;
    check(&[execute("nope", 0), sync()], &["E:34000", "Z"]).await;
    check(&[describe('P', "nope"), sync()], &["E:34000", "Z"]).await;
    check(&[describe('?', ""), sync()], &["E:08P01", "Z"]).await;
    check(&[parse("s", "COUNT 1"), parse("s", "COUNT 1"), sync()], &["1", "E:42P05", "Z"]).await;
    check(&[parse("", "COUNT 1"), bind("p", ""), bind("p", ""), sync()], &["1", "2", "E:42P03", "Z"]).await;
    check(&[parse("", "COUNT 1; COUNT 2"), sync()], &["E:42601", "Z"]).await;
    check(&[parse("", "ECHO int4"), bind("", ""), sync()], &["1", "E:08P01", "Z"]).await;
    check(
        &[parse("", "INSERT 1"), bind("p", ""), execute("p", 0), execute("p", 0), sync()],
        &["1", "2", "C:INSERT 0 1", "E:55000", "Z"],
    )
    .await;
}

#[tokio::test]
async fn a_result_of_other_columns_than_described_is_refused() {
    check(&[parse("", "CHANGED"), bind("", ""), execute("", 0), sync()], &["1", "2", "E:0A000", "Z"]).await;
}

#[tokio::test]
async fn a_suspended_portal_goes_on_from_the_same_stream() {
    let door = open().await;
    let mut raw = door.raw().await;
    answers(&mut raw, &[begin()]).await;
    let first = answers(&mut raw, &[parse("", "COUNT 35"), bind("p", ""), execute("p", 12), sync()]).await;
    assert_eq!(first.last().unwrap(), "Z");
    assert_eq!(first.iter().filter(|kind| *kind == "D").count(), 12);
    assert_eq!(first[first.len() - 2], "s");
    // Twelve rows need two batches of ten, and no more are taken ahead of need.
    assert_eq!(door.engine.n_batches.load(Ordering::SeqCst), 2);
    let second = answers(&mut raw, &[execute("p", 23), sync()]).await;
    assert_eq!(second.iter().filter(|kind| *kind == "D").count(), 23);
    assert_eq!(second[second.len() - 2], "s");
    assert_eq!(answers(&mut raw, &[execute("p", 1), sync()]).await, ["C:SELECT 0", "Z"]);
    assert_eq!(door.engine.n_batches.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_portal_ends_with_its_transaction() {
    let door = open().await;
    let mut raw = door.raw().await;
    answers(&mut raw, &[parse("", "COUNT 5"), bind("p", ""), execute("p", 1), sync()]).await;
    assert_eq!(answers(&mut raw, &[execute("p", 1), sync()]).await, ["E:34000", "Z"]);
}

#[tokio::test]
async fn a_client_library_reads_a_portal_in_pieces() {
    let door = open().await;
    let mut client = door.connect().await;
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("COUNT 25", &[]).await.unwrap();
    let mut seen: Vec<i64> = Vec::new();
    loop {
        let rows = transaction.query_portal(&portal, 10).await.unwrap();
        if rows.is_empty() {
            break;
        }
        seen.extend(rows.iter().map(|row| row.get::<_, i64>(0)));
    }
    assert_eq!(seen, (0..25).collect::<Vec<_>>());
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let door = open().await;
    let client = door.connect().await;
    let statement = client.prepare("ECHO int8").await.unwrap();
    let values: Vec<i64> = (0..200).collect();
    let one = async |value: &i64| client.query_one(&statement, &[value]).await.unwrap().get::<_, i64>(0);
    let seen = join_all(values.iter().map(one)).await;
    assert_eq!(seen, values);
    assert_told(client.query("SELECT x", &[]).await, "42703", "no such column `x`");
    assert!(client.query("COUNT 1", &[]).await.is_ok());
}

#[tokio::test]
async fn a_position_counts_in_the_text_that_was_parsed() {
    let door = open().await;
    let client = door.connect().await;
    let error = client.prepare("  UNPLANNED t").await.unwrap_err();
    let position = error.as_db_error().unwrap().position().cloned();
    assert_eq!(position, Some(tokio_postgres::error::ErrorPosition::Original(13)));
}
