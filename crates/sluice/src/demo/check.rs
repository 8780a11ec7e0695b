//! Compares what came of a statement with what was expected.

use stdx::ErrorKind;

use super::steps::Expect;

/// What came of a statement, in texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Column names and rows; both empty for a statement without rows.
    Rows {
        columns: Vec<String>,
        rows: Vec<Vec<Option<String>>>,
    },
    Failed {
        sqlstate: String,
        message: String,
    },
}

impl Expect {
    /// Whether a row is one of those that the expectation is about.
    pub(crate) fn is_about(&self, row: &[Option<String>]) -> bool {
        match self {
            Self::Has(expected) | Self::HasNot(expected) => {
                expected.iter().any(|expected| begins(row, expected))
            }
            Self::Done | Self::Rows(_) | Self::NotFound | Self::Fails(_) | Self::NotYet => true,
        }
    }

    /// Says what is wrong, if anything is.
    pub fn check(&self, came: &Came) -> Result<(), String> {
        match (self, came) {
            (
                Self::Done | Self::Rows(_) | Self::Has(_) | Self::HasNot(_),
                Came::Failed { sqlstate, message },
            ) => Err(format!("expected no error, got {sqlstate}: {message}")),
            (Self::Done, Came::Rows { .. }) => Ok(()),
            (Self::Rows(expected), Came::Rows { rows, .. }) => exactly(expected, rows),
            (Self::Has(expected), Came::Rows { rows, .. }) => {
                match expected.iter().find(|row| !has(rows, row)) {
                    None => Ok(()),
                    Some(missing) => Err(format!("expected a row `{missing}` among the {} rows", rows.len())),
                }
            }
            (Self::HasNot(unwanted), Came::Rows { rows, .. }) => {
                match unwanted.iter().find(|row| has(rows, row)) {
                    None => Ok(()),
                    Some(found) => Err(format!("expected no row `{found}`")),
                }
            }
            (Self::NotFound | Self::Fails(_) | Self::NotYet, Came::Rows { rows, .. }) => {
                Err(format!("expected an error, got {} rows", rows.len()))
            }
            (Self::NotFound, Came::Failed { sqlstate, message }) => {
                let not_found =
                    [ErrorKind::TableNotFound, ErrorKind::SchemaNotFound, ErrorKind::CatalogNotFound];
                match not_found.iter().any(|kind| kind.sqlstate() == sqlstate) {
                    true => Ok(()),
                    false => Err(format!("expected not found, got {sqlstate}: {message}")),
                }
            }
            (Self::Fails(expected), Came::Failed { sqlstate, message }) => match sqlstate == expected {
                true => Ok(()),
                false => Err(format!("expected {expected}, got {sqlstate}: {message}")),
            },
            (Self::NotYet, Came::Failed { sqlstate, message }) => {
                match sqlstate == ErrorKind::Internal.sqlstate() {
                    true => Err(format!("expected a plain refusal, got {sqlstate}: {message}")),
                    false => Ok(()),
                }
            }
        }
    }
}

fn exactly(expected: &[&str], rows: &[Vec<Option<String>>]) -> Result<(), String> {
    if expected.len() != rows.len() {
        return Err(format!("expected {} rows, got {}", expected.len(), rows.len()));
    }
    for (expected, row) in expected.iter().zip(rows) {
        if expected.split('|').count() != row.len() || !begins(row, expected) {
            return Err(format!("expected `{expected}`, got `{}`", told(row)));
        }
    }
    Ok(())
}

fn has(rows: &[Vec<Option<String>>], expected: &str) -> bool {
    rows.iter().any(|row| begins(row, expected))
}

/// Whether a row begins with the expected values.
fn begins(row: &[Option<String>], expected: &str) -> bool {
    let cells: Vec<&str> = expected.split('|').collect();
    cells.len() <= row.len()
        && cells.iter().zip(row).all(|(expected, value)| is_cell(expected, value.as_deref()))
}

fn is_cell(expected: &str, value: Option<&str>) -> bool {
    let Some(value) = value else { return expected == "NULL" };
    match expected {
        "<hex64>" => value.len() == 64 && value.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')),
        // The protocol writes flags as one letter.
        "true" => matches!(value, "t" | "true"),
        "false" => matches!(value, "f" | "false"),
        _ => value == expected || is_same_number(expected, value),
    }
}

fn is_same_number(expected: &str, value: &str) -> bool {
    match (expected.parse::<f64>(), value.parse::<f64>()) {
        (Ok(expected), Ok(value)) => expected.total_cmp(&value).is_eq(),
        _ => false,
    }
}

fn told(row: &[Option<String>]) -> String {
    let cells: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
    cells.join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[Option<&str>]]) -> Came {
        let rows =
            rows.iter().map(|row| row.iter().map(|value| value.map(str::to_owned)).collect()).collect();
        Came::Rows { columns: Vec::new(), rows }
    }

    fn failed(sqlstate: &str) -> Came {
        Came::Failed { sqlstate: sqlstate.to_owned(), message: "no".to_owned() }
    }

    #[test]
    fn rows_must_be_exactly_those_in_order() {
        let came = rows(&[&[Some("1"), Some("EU")], &[Some("2"), None]]);
        assert!(Expect::Rows(&["1|EU", "2|NULL"]).check(&came).is_ok());
        assert!(Expect::Rows(&["2|NULL", "1|EU"]).check(&came).is_err());
        assert!(Expect::Rows(&["1|EU"]).check(&came).is_err());
        assert!(Expect::Rows(&["1", "2"]).check(&came).is_err());
        assert!(Expect::Rows(&["1.0|EU", "2|NULL"]).check(&came).is_ok());
    }

    #[test]
    fn a_null_is_no_text_and_a_hash_is_64_digits() {
        assert!(Expect::Rows(&["NULL"]).check(&rows(&[&[Some("null")]])).is_err());
        assert!(Expect::Rows(&["<hex64>"]).check(&rows(&[&[Some(&"0a".repeat(32))]])).is_ok());
        assert!(Expect::Rows(&["<hex64>"]).check(&rows(&[&[Some(&"0A".repeat(32))]])).is_err());
    }

    #[test]
    fn a_row_among_others_may_go_on() {
        let came = rows(&[&[Some("t"), Some("why"), None]]);
        assert!(Expect::Has(&["true|why"]).check(&came).is_ok());
        assert!(Expect::Has(&["false"]).check(&came).is_err());
        assert!(Expect::HasNot(&["false"]).check(&came).is_ok());
        assert!(Expect::HasNot(&["true"]).check(&came).is_err());
    }

    #[test]
    fn an_error_counts_only_where_it_is_expected_and_as_it_is_expected() {
        assert!(Expect::NotFound.check(&failed("42P01")).is_ok());
        assert!(Expect::NotFound.check(&failed("42501")).is_err());
        assert!(Expect::Fails("42501").check(&failed("42501")).is_ok());
        assert!(Expect::NotYet.check(&failed("0A000")).is_ok());
        assert!(Expect::NotYet.check(&failed("XX000")).is_err());
        for expect in [Expect::Done, Expect::Rows(&[]), Expect::Has(&[]), Expect::HasNot(&[])] {
            assert!(expect.check(&failed("42P01")).is_err());
        }
        for expect in [Expect::NotFound, Expect::Fails("42501"), Expect::NotYet] {
            assert!(expect.check(&rows(&[])).is_err());
        }
    }
}
