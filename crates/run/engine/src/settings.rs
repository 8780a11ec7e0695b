//! What `SET` may change and `SHOW` tells: the settings that are honoured, and no others.

use query_api::QueryError;
use stdx::ErrorKind;

use crate::session::SessionVars;

/// How a setting's value is checked.
enum Takes {
    Any,
    /// Only these, compared without case; others would be a promise not kept.
    OneOf(&'static [&'static str]),
    Millis,
    TimeZone,
}

struct Setting {
    name: &'static str,
    default: &'static str,
    takes: Takes,
}

const SETTINGS: [Setting; 15] = [
    Setting { name: "application_name", default: "", takes: Takes::Any },
    Setting { name: "bytea_output", default: "hex", takes: Takes::OneOf(&["hex"]) },
    Setting { name: "client_encoding", default: "UTF8", takes: Takes::OneOf(&["utf8", "utf-8", "unicode"]) },
    Setting {
        name: "client_min_messages",
        default: "notice",
        takes: Takes::OneOf(&["debug5", "debug1", "log", "notice", "warning", "error"]),
    },
    Setting {
        name: "datestyle",
        default: "ISO, MDY",
        takes: Takes::OneOf(&["iso", "iso, mdy", "iso, ymd", "iso, dmy"]),
    },
    Setting { name: "extra_float_digits", default: "1", takes: Takes::OneOf(&["1", "2", "3"]) },
    Setting { name: "integer_datetimes", default: "on", takes: Takes::OneOf(&["on"]) },
    Setting { name: "intervalstyle", default: "postgres", takes: Takes::OneOf(&["postgres"]) },
    Setting {
        name: "password_encryption",
        default: "scram-sha-256",
        takes: Takes::OneOf(&["scram-sha-256"]),
    },
    Setting { name: "server_encoding", default: "UTF8", takes: Takes::OneOf(&["utf8"]) },
    Setting { name: "server_version", default: SERVER_VERSION, takes: Takes::OneOf(&[SERVER_VERSION]) },
    Setting { name: "standard_conforming_strings", default: "on", takes: Takes::OneOf(&["on"]) },
    Setting { name: "statement_timeout", default: "0", takes: Takes::Millis },
    Setting { name: "timezone", default: "UTC", takes: Takes::TimeZone },
    Setting {
        name: "transaction_isolation",
        default: "read committed",
        takes: Takes::OneOf(&["read committed"]),
    },
];

/// The PostgreSQL version whose protocol and catalog clients may expect.
pub(crate) const SERVER_VERSION: &str = "16.0";

/// A setting's value as `SHOW` tells it.
pub(crate) fn value(vars: &SessionVars, user: &str, name: &str) -> Option<String> {
    let name = name.to_lowercase();
    match name.as_str() {
        "search_path" => return Some(vars.path.namespace.join(".")),
        "session_authorization" | "role" => return Some(user.to_owned()),
        "is_superuser" => return Some("off".to_owned()),
        _ => {}
    }
    let setting = SETTINGS.iter().find(|setting| setting.name == name)?;
    Some(vars.settings.get(setting.name).cloned().unwrap_or_else(|| setting.default.to_owned()))
}

/// Every setting with its value, for `SHOW ALL`.
pub(crate) fn all(vars: &SessionVars, user: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        SETTINGS.iter().filter_map(|s| Some((s.name.to_owned(), value(vars, user, s.name)?))).collect();
    all.push(("search_path".to_owned(), vars.path.namespace.join(".")));
    all.sort();
    all
}

/// `SET name = value`, `search_path` excepted; `None` is `DEFAULT`.
pub(crate) fn set(vars: &mut SessionVars, name: &str, new: Option<&str>) -> Result<(), QueryError> {
    let lower = name.to_lowercase();
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == lower) else {
        return Err(QueryError::new(ErrorKind::ObjectNotFound, format!("no such setting `{name}`"))
            .with_hint("`SHOW ALL` lists the settings"));
    };
    let Some(new) = new else {
        vars.settings.remove(setting.name);
        return Ok(());
    };
    let checked = setting.takes.check(setting.name, new)?;
    vars.settings.insert(setting.name, checked);
    Ok(())
}

impl Takes {
    fn check(&self, name: &str, new: &str) -> Result<String, QueryError> {
        match self {
            Self::Any => Ok(new.to_owned()),
            Self::OneOf(allowed) if allowed.iter().any(|value| value.eq_ignore_ascii_case(new)) => {
                Ok(new.to_owned())
            }
            Self::OneOf(allowed) => Err(QueryError::new(
                ErrorKind::Invalid,
                format!("`{name}` cannot be `{new}`; it takes: {}", allowed.join(", ")),
            )),
            Self::Millis => match millis(new) {
                Some(millis) => Ok(millis.to_string()),
                None => Err(QueryError::new(
                    ErrorKind::Invalid,
                    format!("`{name}` takes milliseconds, or a number with ms, s or min; not `{new}`"),
                )),
            },
            Self::TimeZone => {
                let known = new.parse::<chrono_tz::Tz>().map(|zone| zone.name().to_owned()).ok();
                let offset = new.starts_with(['+', '-']).then(|| new.to_owned());
                known
                    .or(offset)
                    .ok_or_else(|| QueryError::new(ErrorKind::Invalid, format!("no such time zone `{new}`")))
            }
        }
    }
}

fn millis(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, factor) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1)
    } else if let Some(number) = text.strip_suffix("min") {
        (number, 60_000)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1_000)
    } else {
        (text, 1)
    };
    number.trim().parse::<u64>().ok()?.checked_mul(factor)
}

/// The statement time-out in force, in milliseconds; `None`: none.
pub(crate) fn statement_timeout_ms(vars: &SessionVars) -> Option<u64> {
    vars.settings.get("statement_timeout").and_then(|value| value.parse().ok()).filter(|millis| *millis > 0)
}

/// Whether the client wants to read notices.
pub(crate) fn wants_notices(vars: &SessionVars) -> bool {
    !matches!(vars.settings.get("client_min_messages").map(String::as_str), Some("warning" | "error"))
}
