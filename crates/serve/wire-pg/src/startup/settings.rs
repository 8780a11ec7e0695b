//! The startup message's parameters: those that this door answers for, and those that are the session's.

use stdx::ErrorKind;

use crate::answer::{Refusal, code};

/// What a client asked for when she connected.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) user: String,
    pub(crate) database: Option<String>,
    pub(crate) application_name: Option<String>,
    /// Settings for the session to take, or to refuse.
    pub(crate) for_session: Vec<(String, String)>,
    /// Options of the protocol itself that are not known here, to be named to the client.
    pub(crate) unknown_options: Vec<String>,
}

impl Settings {
    pub(crate) fn read(parameters: Vec<(String, String)>) -> Result<Self, Refusal> {
        let mut settings = Self::default();
        for (name, value) in parameters {
            match name.as_str() {
                "user" => settings.user = value,
                "database" => settings.database = (!value.is_empty()).then_some(value),
                "options" => {
                    for (name, value) in options(&value)? {
                        settings.take(&name, value)?;
                    }
                }
                "replication" if is_off(&value) => {}
                "replication" => {
                    return Err(Refusal::of(
                        ErrorKind::Unsupported,
                        "replication connections are not supported",
                    ));
                }
                name if name.starts_with("_pq_.") => settings.unknown_options.push(name.to_owned()),
                name => settings.take(name, value)?,
            }
        }
        if settings.user.is_empty() {
            return Err(Refusal::new(
                code::INVALID_AUTHORIZATION,
                "no user name was given in the startup message",
            ));
        }
        Ok(settings)
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), Refusal> {
        match name.to_ascii_lowercase().as_str() {
            "application_name" => self.application_name = Some(value),
            "client_encoding" => accept(name, &value, is_utf8(&value))?,
            "datestyle" => accept(name, &value, value.trim().to_ascii_lowercase().starts_with("iso"))?,
            "intervalstyle" => accept(name, &value, value.eq_ignore_ascii_case("postgres"))?,
            // Floats are always written with the digits that read back exactly, which is what 1 to 3 ask for.
            "extra_float_digits" => accept(name, &value, matches!(value.trim(), "1" | "2" | "3"))?,
            "standard_conforming_strings" => accept(name, &value, value.eq_ignore_ascii_case("on"))?,
            _ if is_name(name) => self.for_session.push((name.to_owned(), value)),
            _ => return Err(Refusal::of(ErrorKind::Invalid, format!("`{name}` is no name of a setting"))),
        }
        Ok(())
    }
}

/// The statement by which the session takes a setting.
pub(crate) fn set_statement(name: &str, value: &str) -> String {
    format!("SET {name} = '{}'", value.replace('\'', "''"))
}

fn accept(name: &str, value: &str, is_accepted: bool) -> Result<(), Refusal> {
    if is_accepted {
        return Ok(());
    }
    Err(Refusal::of(ErrorKind::Invalid, format!("invalid value for parameter `{name}`: `{value}`")))
}

fn is_utf8(value: &str) -> bool {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    ["utf8", "unicode"].contains(&plain.to_ascii_lowercase().as_str())
}

fn is_off(value: &str) -> bool {
    ["false", "off", "no", "0"].contains(&value.to_ascii_lowercase().as_str())
}

/// Letters, digits, underscores and points: what can stand in a statement without quotes.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// The settings in `-c name=value --name=value`, where a backslash keeps a blank.
fn options(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    let bad = || {
        Refusal::of(
            ErrorKind::Invalid,
            "the options of the startup message are not of the form `-c name=value`",
        )
    };
    let mut words = words(text).into_iter();
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let assignment = if word == "-c" {
            words.next().ok_or_else(bad)?
        } else {
            word.strip_prefix("--").or_else(|| word.strip_prefix("-c")).ok_or_else(bad)?.to_owned()
        };
        let (name, value) = assignment.split_once('=').ok_or_else(bad)?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            c if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parameters: &[(&str, &str)]) -> Result<Settings, Refusal> {
        Settings::read(
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        )
    }

    #[test]
    fn what_a_driver_sends_is_taken_or_passed_on() {
        let settings = read(&[
            ("user", "alice"),
            ("database", "lake"),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO"),
            ("extra_float_digits", "2"),
            ("TimeZone", "Europe/Berlin"),
            ("options", "-c search_path=a\\ b --application-name=x"),
            ("_pq_.new", "1"),
        ]);
        let expected = Settings {
            user: "alice".to_owned(),
            database: Some("lake".to_owned()),
            application_name: Some("x".to_owned()),
            for_session: vec![
                ("TimeZone".to_owned(), "Europe/Berlin".to_owned()),
                ("search_path".to_owned(), "a b".to_owned()),
            ],
            unknown_options: vec!["_pq_.new".to_owned()],
        };
        assert_eq!(settings, Ok(expected));
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let check = |name: &str, value: &str, expected: &str| {
            assert_eq!(
                read(&[("user", "alice"), (name, value)]).map_err(|r| r.code),
                Err(expected),
                "{name}={value}"
            );
        };
        check("client_encoding", "LATIN1", "22023");
        check("DateStyle", "German", "22023");
        check("extra_float_digits", "0", "22023");
        check("replication", "true", "0A000");
        check("a; DROP TABLE t", "1", "22023");
        check("options", "-d", "22023");
        check("user", "", "28000");
    }

    #[test]
    fn a_value_cannot_leave_its_quotes() {
        assert_eq!(
            set_statement("TimeZone", "a'; DROP TABLE t; --"),
            "SET TimeZone = 'a''; DROP TABLE t; --'"
        );
    }
}
