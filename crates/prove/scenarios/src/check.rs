//! Compares what came of a step with what the file expects.

use crate::answer::{Answer, Failure, Outcome, told};
use crate::file::{Cell, Expected, Kind};

/// Says what is wrong, if anything is. `other` is the answer to the statement that the error must be alike to.
pub(crate) fn check(
    expected: &Expected,
    answer: &Answer,
    other: Option<&Compared<'_>>,
) -> Result<(), String> {
    main_thing(&expected.kind, &answer.outcome, other)?;
    if let Some(columns) = &expected.columns {
        let got = match &answer.outcome {
            Outcome::Rows { columns, .. } => columns.as_slice(),
            Outcome::Done { .. } | Outcome::Failed(_) => &[],
        };
        if got != columns {
            return Err(format!("expected columns {}\ngot columns {}", columns.join("|"), got.join("|")));
        }
    }
    for notice in &expected.notices {
        if !answer.notices.iter().any(|told| notice.fits(told)) {
            return Err(format!("expected notice {notice}\ngot notices {:?}", answer.notices));
        }
    }
    if expected.is_silent && !answer.notices.is_empty() {
        return Err(format!("expected no notice\ngot notices {:?}", answer.notices));
    }
    if let Some(hint) = &expected.hint {
        let got = match &answer.outcome {
            Outcome::Failed(failure) => failure.hint.as_deref(),
            Outcome::Rows { .. } | Outcome::Done { .. } => None,
        };
        if !got.is_some_and(|got| hint.fits(got)) {
            return Err(format!("expected hint {hint}\ngot hint {}", got.unwrap_or("none")));
        }
    }
    Ok(())
}

/// Two statements whose errors are to be alike.
pub(crate) struct Compared<'a> {
    pub(crate) statement: &'a str,
    pub(crate) other_statement: &'a str,
    pub(crate) other: &'a Answer,
}

fn main_thing(kind: &Kind, outcome: &Outcome, other: Option<&Compared<'_>>) -> Result<(), String> {
    let wrong = |expected: String| Err(format!("expected {expected}\ngot {outcome}"));
    match (kind, outcome) {
        (Kind::Ok, Outcome::Rows { .. } | Outcome::Done { .. }) => Ok(()),
        (Kind::Count(expected), Outcome::Done { n_rows: Some(n) }) if n == expected => Ok(()),
        (Kind::Rows(expected), Outcome::Rows { rows, .. }) => match is_same(expected, rows) {
            true => Ok(()),
            false => wrong(shown(expected)),
        },
        (Kind::Sorted(expected), Outcome::Rows { rows, .. }) => match is_same_unordered(expected, rows) {
            true => Ok(()),
            false => wrong(format!("in any order {}", shown(expected))),
        },
        (Kind::Has(expected), Outcome::Rows { rows, .. }) => {
            match expected.iter().find(|wanted| !rows.iter().any(|row| fits(wanted, row))) {
                None => Ok(()),
                Some(missing) => wrong(format!("a row {}", row_shown(missing))),
            }
        }
        (Kind::Lacks(unwanted), Outcome::Rows { rows, .. }) => {
            match rows.iter().find(|row| unwanted.iter().any(|unwanted| fits(unwanted, row))) {
                None => Ok(()),
                Some(found) => wrong(format!("no row {}", told(found))),
            }
        }
        (Kind::Error { sqlstate, position, message }, Outcome::Failed(failure)) => {
            let is_it = *sqlstate == failure.sqlstate
                && position.is_none_or(|position| failure.position == Some(position))
                && message.as_ref().is_none_or(|message| message.fits(&failure.message));
            match is_it {
                true => Ok(()),
                false => wrong(error_shown(kind)),
            }
        }
        (Kind::SameErrorAs(_), Outcome::Failed(failure)) => same_error(failure, other),
        (Kind::NotYet(_), Outcome::Failed(failure))
            if matches!(failure.sqlstate.as_str(), "0A000" | "42601") =>
        {
            Ok(())
        }
        (Kind::NotYet(reason), _) => wrong(format!("a refusal with 0A000 or 42601 ({reason})")),
        (Kind::SameErrorAs(other), _) => wrong(format!("the error of `{other}`")),
        (Kind::Ok, _) => wrong("ok".to_owned()),
        (Kind::Count(n), _) => wrong(format!("count {n}")),
        (Kind::Rows(rows) | Kind::Sorted(rows) | Kind::Has(rows), _) => wrong(shown(rows)),
        (Kind::Lacks(_), _) => wrong("rows".to_owned()),
        (Kind::Error { .. }, _) => wrong(error_shown(kind)),
    }
}

fn error_shown(kind: &Kind) -> String {
    let Kind::Error { sqlstate, position, message } = kind else { return String::new() };
    let position = position.map_or(String::new(), |position| format!(" at {position}"));
    let message = message.as_ref().map_or(String::new(), |message| format!(" {message}"));
    format!("error {sqlstate}{position}{message}")
}

/// The two statements differ in some words; in the errors those words, and nothing else, may differ.
fn same_error(failure: &Failure, other: Option<&Compared<'_>>) -> Result<(), String> {
    let Some(Compared { statement, other_statement, other }) = other else {
        return Err("there is nothing to compare with".to_owned());
    };
    let Outcome::Failed(other) = &other.outcome else {
        return Err(format!("expected an error of `{other_statement}`\ngot {}", other.outcome));
    };
    let mut wanted = other.clone();
    for (word, other_word) in different_words(statement, other_statement)? {
        wanted.message = wanted.message.replace(&other_word, &word);
        wanted.hint = wanted.hint.map(|hint| hint.replace(&other_word, &word));
    }
    let mut got = failure.clone();
    if statement.len() != other_statement.len() {
        (got.position, wanted.position) = (None, None);
    }
    match got == wanted {
        true => Ok(()),
        false => Err(format!("expected the error of `{other_statement}`:\n{wanted}\ngot {got}")),
    }
}

fn different_words(one: &str, other: &str) -> Result<Vec<(String, String)>, String> {
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (one_words, other_words) = (words(one), words(other));
    if one_words.len() != other_words.len() {
        return Err(format!("`{one}` and `{other}` differ in more than words"));
    }
    Ok(one_words.into_iter().zip(other_words).filter(|(one, other)| one != other).collect())
}

fn is_same(expected: &[Vec<Cell>], rows: &[Vec<Option<String>>]) -> bool {
    expected.len() == rows.len() && expected.iter().zip(rows).all(|(expected, row)| fits(expected, row))
}

fn is_same_unordered(expected: &[Vec<Cell>], rows: &[Vec<Option<String>>]) -> bool {
    let mut left: Vec<&Vec<Option<String>>> = rows.iter().collect();
    expected.len() == rows.len()
        && expected.iter().all(|expected| match left.iter().position(|row| fits(expected, row)) {
            Some(at) => {
                left.swap_remove(at);
                true
            }
            None => false,
        })
}

fn fits(expected: &[Cell], row: &[Option<String>]) -> bool {
    expected.len() == row.len()
        && expected.iter().zip(row).all(|(expected, value)| expected.fits(value.as_deref()))
}

fn row_shown(row: &[Cell]) -> String {
    row.iter().map(ToString::to_string).collect::<Vec<_>>().join("|")
}

fn shown(rows: &[Vec<Cell>]) -> String {
    match rows.is_empty() {
        true => "no rows".to_owned(),
        false => format!("rows\n{}", rows.iter().map(|row| row_shown(row)).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(outcome: Outcome) -> Answer {
        Answer { outcome, notices: Vec::new() }
    }

    fn rows(rows: &[&[Option<&str>]]) -> Answer {
        let rows =
            rows.iter().map(|row| row.iter().map(|value| value.map(str::to_owned)).collect()).collect();
        answer(Outcome::Rows { columns: vec!["a".to_owned()], rows })
    }

    fn failed(sqlstate: &str, message: &str) -> Answer {
        let failure = Failure { sqlstate: sqlstate.to_owned(), ..Failure::of_runner(message) };
        answer(Outcome::Failed(failure))
    }

    fn holds(expectation: &str, answer: &Answer) -> bool {
        let text = format!("# name: t\n\nas ana:\nSELECT 1;\n{expectation}\n");
        let scenario = crate::file::parse(&text).unwrap();
        check(&scenario.steps[0].expected, answer, None).is_ok()
    }

    #[test]
    fn rows_are_exactly_those_and_null_is_no_text() {
        let came = rows(&[&[Some("1"), None], &[Some(""), Some("x|y")]]);
        assert!(holds("expect rows\n1|NULL\n''|x\\|y", &came));
        assert!(!holds("expect rows\n''|x\\|y\n1|NULL", &came));
        assert!(holds("expect rows sorted\n''|x\\|y\n1|NULL", &came));
        assert!(!holds("expect rows\n1|NULL", &came));
        assert!(holds("expect rows has\n1|NULL", &came));
        assert!(!holds("expect rows lack\n1|NULL", &came));
        assert!(!holds("expect rows\nNULL", &rows(&[&[Some("NULL!")]])));
        assert!(!holds("expect no rows", &came));
    }

    #[test]
    fn equal_expected_rows_need_as_many_rows() {
        assert!(!holds("expect rows sorted\n1\n1", &rows(&[&[Some("1")], &[Some("2")]])));
        assert!(holds("expect rows sorted\n1\n1", &rows(&[&[Some("1")], &[Some("1")]])));
    }

    #[test]
    fn an_error_is_compared_as_far_as_it_is_told() {
        let came = failed("42P01", "table 'x' not found");
        assert!(holds("expect error 42P01", &came));
        assert!(holds("expect error 42P01 table 'x' not found", &came));
        assert!(holds("expect error 42P01 /table '.' not found/", &came));
        assert!(!holds("expect error 42P01 table 'y' not found", &came));
        assert!(!holds("expect error 42501", &came));
        assert!(!holds("expect ok", &came));
        assert!(!holds("expect error 42P01 at 3", &came));
    }

    #[test]
    fn not_yet_is_a_refusal_and_never_a_result() {
        assert!(holds("not yet: later", &failed("0A000", "no")));
        assert!(holds("not yet: later", &failed("42601", "no")));
        assert!(!holds("not yet: later", &failed("XX000", "no")));
        assert!(!holds("not yet: later", &rows(&[])));
        assert!(!holds("not yet: later", &answer(Outcome::Done { n_rows: None })));
    }

    fn same(message: &str, other: &str) -> bool {
        let other = failed("42P01", other);
        let compared = Compared {
            statement: "SELECT * FROM g.t",
            other_statement: "SELECT * FROM g.nope",
            other: &other,
        };
        main_thing(&Kind::SameErrorAs(String::new()), &failed("42P01", message).outcome, Some(&compared))
            .is_ok()
    }

    #[test]
    fn errors_are_alike_but_for_the_words_in_which_the_statements_differ() {
        assert!(same("table 'g.t' not found", "table 'g.nope' not found"));
        assert!(!same("table 'g.t' not found", "schema 'g.nope' not found"));
        assert!(!same("permission denied for table g.t", "table 'g.nope' not found"));
    }
}
