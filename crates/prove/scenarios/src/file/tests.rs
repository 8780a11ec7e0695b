//! Tests of the file format.

use super::*;

fn steps(body: &str) -> Vec<Step> {
    parse(&format!("# name: t\n\n{body}")).unwrap().steps
}

fn reason(text: &str) -> String {
    parse(text).err().unwrap().to_string()
}

fn body_reason(body: &str) -> String {
    reason(&format!("# name: t\n\n{body}"))
}

#[test]
fn a_header_gives_name_laws_users_and_settings() {
    let text = "# name: a thing\n# law: L1, L8\n# users: ana, bo\n# config: engine.restricted_columns = error\n\n\
                as ana:\nSELECT 1;\nexpect ok\n";
    let scenario = parse(text).unwrap();
    assert_eq!(scenario.name, "a thing");
    assert_eq!(scenario.laws, ["L1", "L8"]);
    assert_eq!(scenario.users, ["ana", "bo"]);
    assert_eq!(scenario.catalogs, ["lake"]);
    assert_eq!(scenario.config, [("engine.restricted_columns".to_owned(), "error".to_owned())]);
    assert_eq!(scenario.doors, DoorName::ALL);
}

#[test]
fn a_block_has_statements_up_to_its_expectation() {
    let steps = steps(
        "as ana:\nSELECT 1;\nSELECT\n  ';' AS x;\nexpect ok\n\n# a remark: or two\nas bo:\nSELECT 2;\nexpect no rows\n",
    );
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].does, Does::Says(vec!["SELECT 1".to_owned(), "SELECT\n  ';' AS x".to_owned()]));
    assert_eq!((steps[1].line, steps[1].user.as_str()), (10, "bo"));
}

#[test]
fn again_says_the_last_statement_again() {
    let steps = steps("as ana:\nSELECT 1;\nSELECT 2;\nexpect ok\n\nas bo again:\nexpect error 42501\n");
    assert_eq!(steps[1].does, Does::Says(vec!["SELECT 2".to_owned()]));
}

#[test]
fn a_prepared_statement_is_run_with_arguments() {
    let steps = steps(
        "as ana prepare q:\nSELECT $1;\nexpect ok\n\nas ana run q (5, 'a, b', NULL):\nexpect no rows\n",
    );
    let Does::Runs { name, arguments } = &steps[1].does else { panic!("not a run") };
    assert_eq!(name, "q");
    let texts: Vec<Option<&str>> = arguments.iter().map(|argument| argument.text.as_deref()).collect();
    assert_eq!(texts, [Some("5"), Some("a, b"), None]);
}

#[test]
fn an_error_has_a_code_and_may_have_a_position_and_a_text() {
    let kind = |text: &str| steps(&format!("as ana:\nSELECT 1;\n{text}\n"))[0].expected.kind.clone();
    let error = |position, message: Option<&str>| Kind::Error {
        sqlstate: "42601".to_owned(),
        position,
        message: message.map(|message| Text::Exactly(message.to_owned())),
    };
    assert_eq!(kind("expect error 42601"), error(None, None));
    assert_eq!(kind("expect error 42601 at 8"), error(Some(8), None));
    assert_eq!(kind("expect error 42601 at 8 bad word"), error(Some(8), Some("bad word")));
    assert_eq!(kind("expect error 42601 bad word"), error(None, Some("bad word")));
}

#[test]
fn rows_end_at_an_empty_line_and_bars_can_be_escaped() {
    let steps = steps(
        "as ana:\nSELECT 1;\nexpect columns a|b\nexpect rows\n1|x\\|y\nNULL|''\n\nas ana:\nSELECT 1;\nexpect ok\n",
    );
    let Kind::Rows(rows) = &steps[0].expected.kind else { panic!("not rows") };
    let text = |text: &str| Cell::Text(Text::Exactly(text.to_owned()));
    assert_eq!(*rows, [vec![text("1"), text("x|y")], vec![Cell::Null, text("")]]);
    assert_eq!(steps[0].expected.columns.as_deref(), Some(&["a".to_owned(), "b".to_owned()][..]));
}

#[test]
fn what_is_not_understood_is_a_fault_with_its_line() {
    assert!(reason("as ana:\nSELECT 1;\nexpect ok\n").contains("# name"));
    assert!(reason("# name: t\n").contains("no step"));
    assert_eq!(body_reason("as ana:\nSELECT 1\nexpect ok\n"), "line 4: the statement does not end in `;`");
    assert!(body_reason("as ana:\nSELECT 1;\n").contains("expects nothing"));
    assert!(body_reason("as ana:\nSELECT 1;\n\nas bo:\nSELECT 2;\nexpect ok\n").contains("line 6: "));
    assert!(body_reason("as ana:\nexpect ok\n").contains("no statement"));
    assert!(body_reason("as ana:\nSELECT 1;\nexpect rows\n").contains("no row"));
    assert!(body_reason("as ana:\nSELECT 1;\nexpect nothing\n").contains("no `expect nothing`"));
    assert!(body_reason("as ana:\nSELECT 1;\nexpect error 4260\n").contains("no SQLSTATE"));
    assert!(body_reason("as ana:\nSELECT 1;\nexpect ok\nexpect ok\n").contains("two things"));
    assert!(body_reason("as ana:\nSELECT 1;\nnot yet:\n").contains("reason"));
    assert!(body_reason("as ana sings:\nSELECT 1;\nexpect ok\n").contains("sings"));
    assert!(body_reason("hello\n").contains("expected `as USER:`"));
    assert!(reason("# name: t\n# claims: ana r\n\nas ana:\nSELECT 1;\nexpect ok\n").contains("in-process"));
}
