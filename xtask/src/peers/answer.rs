//! What a statement came to, in the form in which three databases' answers can be compared.

use std::fmt;

/// How psql shows what is not there, in no text of the rows.
pub(crate) const NULL: &str = "∅";

/// The code under which a DuckDB says that there is no such relation or column.
pub(crate) const NOT_THERE: &str = "not there";

/// What a statement gave: lines of values (or the line that tells how many rows were written), or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Lines(Vec<String>),
    Error { code: String, message: String },
}

impl Answer {
    /// Of what psql shows; what follows an error belongs to it.
    pub(crate) fn of_psql(said: &[String]) -> Self {
        let error = said.iter().find_map(|line| {
            let (_, rest) = line.split_once("ERROR:  ").or_else(|| line.split_once("FATAL:  "))?;
            rest.split_once(": ")
        });
        if let Some((code, message)) = error {
            return Self::Error { code: code.to_owned(), message: message.to_owned() };
        }
        // Notices with what follows them, and what is said of a statement that gives neither rows nor a count.
        let is_aside = |line: &&String| {
            ["NOTICE:", "WARNING:", "LOCATION:", "HINT:", "DETAIL:"].iter().any(|word| line.starts_with(word))
                || ["PREPARE", "DEALLOCATE"].contains(&line.as_str())
        };
        Self::Lines(said.iter().filter(|line| !is_aside(line)).map(|line| normal(line)).collect())
    }

    pub(crate) fn is_any_error(&self) -> bool {
        matches!(self, Self::Error { .. })
    }

    pub(crate) fn is_error(&self, expected: &str) -> bool {
        matches!(self, Self::Error { code, .. } if code == expected)
    }

    /// Whether it was refused because a relation or column is hidden or not there. Sluice says of what is hidden that it
    /// is not found, PostgreSQL that permission is denied, and in DuckDB there is no such view.
    fn is_denied(&self) -> bool {
        matches!(self, Self::Error { code, .. } if ["42501", "42P01", NOT_THERE].contains(&code.as_str()))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(lines) => write!(f, "{}", lines.join(" / ")),
            Self::Error { code, message } => write!(f, "error {code}: {message}"),
        }
    }
}

/// The only place where answers are made alike: zeros at the end of a fraction (`1.50`, `1.5` and `2.0`, `2`) go, as
/// each database gives results of arithmetic another scale.
pub(crate) fn normal(line: &str) -> String {
    line.split('|').map(number).collect::<Vec<_>>().join("|")
}

fn number(value: &str) -> &str {
    let Some((whole, fraction)) = value.split_once('.') else { return value };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole.trim_start_matches('-')) || !is_digits(fraction) {
        return value;
    }
    value.trim_end_matches('0').trim_end_matches('.')
}

/// How two answers to the same statements differ. Rows are compared in order where the statement gives one.
pub(crate) fn fault(is_ordered: &[bool], ours: &[Answer], theirs: &[Answer]) -> Option<String> {
    for (nth, (our, their)) in ours.iter().zip(theirs).enumerate() {
        if !is_same(is_ordered.get(nth).copied().unwrap_or_default(), our, their) {
            return Some(format!("\n  Sluice: {our}\n  peer:   {their}"));
        }
    }
    (ours.len() != theirs.len()).then(|| format!("{} answers and {}", ours.len(), theirs.len()))
}

fn is_same(is_ordered: bool, ours: &Answer, theirs: &Answer) -> bool {
    match (ours, theirs) {
        (Answer::Lines(ours), Answer::Lines(theirs)) if is_ordered => ours == theirs,
        (Answer::Lines(ours), Answer::Lines(theirs)) => {
            let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
            ours.sort();
            theirs.sort();
            ours == theirs
        }
        (Answer::Error { code: our, .. }, Answer::Error { code: their, .. }) => {
            our == their || (ours.is_denied() && theirs.is_denied())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Answer {
        Answer::of_psql(&text.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn only_zeros_that_say_nothing_go() {
        assert_eq!(normal("1.50|2.00|-0.10|100|10.0x|a.b0|1.2.0"), "1.5|2|-0.1|100|10.0x|a.b0|1.2.0");
    }

    #[test]
    fn rows_are_compared_in_order_where_there_is_one() {
        let (one, other) = ([lines(&["a", "b"])], [lines(&["b", "a"])]);
        assert_eq!(fault(&[false], &one, &other), None);
        assert!(fault(&[true], &one, &other).is_some());
        assert!(fault(&[false], &one, &[lines(&["a", "b", "b"])]).is_some());
    }

    #[test]
    fn what_is_hidden_is_denied_or_not_there_and_no_other_error_is_like_it() {
        let not_found = lines(&["ERROR:  42P01: table 't' not found", "LOCATION:  x"]);
        let denied = lines(&["psql: ERROR:  42501: permission denied for table t"]);
        let by_zero = lines(&["ERROR:  22012: division by zero"]);
        assert_eq!(fault(&[false], std::slice::from_ref(&not_found), &[denied]), None);
        assert!(fault(&[false], std::slice::from_ref(&not_found), &[by_zero]).is_some());
        assert!(fault(&[false], &[not_found], &[lines(&[])]).is_some());
    }
}
