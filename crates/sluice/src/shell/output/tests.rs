//! Rows in every output format: NULL is told from text, numbers keep their digits, and no value moves the cursor.

use super::*;

fn column(name: &str, kind: ValueKind) -> Column {
    Column { name: name.to_owned(), kind }
}

fn show(format: Format, rows: &[&[Option<&str>]]) -> String {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, format, false);
    writer
        .columns(vec![
            column("id", ValueKind::Number),
            column("name", ValueKind::Other),
            column("ok", ValueKind::Flag),
        ])
        .unwrap();
    for row in rows {
        writer.row(row.iter().map(|value| value.map(str::to_owned)).collect()).unwrap();
    }
    writer.end().unwrap();
    String::from_utf8(out).unwrap()
}

const ROWS: &[&[Option<&str>]] = &[
    &[Some("1"), Some("Ann \"A\", Lee"), Some("t")],
    &[Some("10"), None, None],
    &[Some("3"), Some(""), Some("f")],
];

#[test]
fn a_table_aligns_numbers_right_and_counts_rows() {
    assert_eq!(
        show(Format::Table, ROWS),
        " id | name         | ok\n----+--------------+------\n  1 | Ann \"A\", Lee | t\n 10 | NULL         | NULL\n  3 |              | f\n(3 rows)\n\n"
    );
}

#[test]
fn a_null_differs_from_the_text_null() {
    let shown = show(Format::Table, &[&[None, Some("NULL"), None]]);
    assert!(shown.contains(" NULL | \"NULL\" | NULL"), "{shown}");
}

#[test]
fn csv_keeps_null_and_empty_text_apart() {
    assert_eq!(show(Format::Csv, ROWS), "id,name,ok\n1,\"Ann \"\"A\"\", Lee\",t\n10,,\n3,\"\",f\n");
}

#[test]
fn json_has_numbers_flags_and_nulls() {
    let text = show(Format::Json, ROWS);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value,
        serde_json::json!([
            {"id": 1, "name": "Ann \"A\", Lee", "ok": true},
            {"id": 10, "name": null, "ok": null},
            {"id": 3, "name": "", "ok": false},
        ])
    );
    assert_eq!(show(Format::Json, &[]), "[]\n");
    let odd = show(Format::Json, &[&[Some("NaN"), None, None]]);
    assert!(odd.contains("\"NaN\""), "{odd}");
}

#[test]
fn json_keeps_every_digit() {
    let text = show(Format::Json, &[&[Some("12345678901234567890.123456789"), None, None]]);
    assert!(text.contains(":12345678901234567890.123456789,"), "{text}");
}

#[test]
fn vertical_shows_one_value_a_line() {
    assert_eq!(
        show(Format::Vertical, &[&[Some("1"), Some("a\nb"), None]]),
        "-[ row 1 ]-\nid   | 1\nname | a\n     | b\nok   | NULL\n(1 row)\n\n"
    );
}

#[test]
fn a_value_cannot_move_the_cursor() {
    assert!(!show(Format::Table, &[&[None, Some("\u{1b}[31mred"), None]]).contains('\u{1b}'));
}
