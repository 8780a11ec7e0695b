//! What must come of a step, as the file says it.

use regex::Regex;

use super::{FileError, Lines, fault};

/// Everything that is expected of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) kind: Kind,
    pub(crate) columns: Option<Vec<String>>,
    /// Each must be among the notices.
    pub(crate) notices: Vec<Text>,
    /// Nothing may be told beside the result.
    pub(crate) is_silent: bool,
    pub(crate) hint: Option<Text>,
}

/// The main thing that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ok,
    /// So many rows were written.
    Count(u64),
    Rows(Vec<Vec<Cell>>),
    /// In any order.
    Sorted(Vec<Vec<Cell>>),
    /// These are among the rows.
    Has(Vec<Vec<Cell>>),
    /// None of these is among the rows.
    Lacks(Vec<Vec<Cell>>),
    Error {
        sqlstate: String,
        /// Counted in characters from 1.
        position: Option<usize>,
        message: Option<Text>,
    },
    /// The error of another statement, but for the words in which the two differ.
    SameErrorAs(String),
    /// Refused, for the reason that is told.
    NotYet(String),
}

/// A text that is given, or described.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    Exactly(String),
    Matches(Regex),
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Text {}

impl Text {
    /// `/…/` is a regular expression for the whole text.
    fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('/').and_then(|text| text.strip_suffix('/')) {
            None => Ok(Self::Exactly(text.to_owned())),
            Some(pattern) => Regex::new(&format!("^(?s:{pattern})$"))
                .map(Self::Matches)
                .map_err(|error| format!("`{pattern}` is no regular expression: {error}")),
        }
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Exactly(expected) => expected == text,
            Self::Matches(pattern) => pattern.is_match(text),
        }
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(text) => f.write_str(text),
            Self::Matches(pattern) => write!(f, "/{pattern}/"),
        }
    }
}

/// One value of an expected row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Any,
    Text(Text),
}

impl Cell {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "NULL" => Self::Null,
            "<any>" => Self::Any,
            "''" => Self::Text(Text::Exactly(String::new())),
            _ => Self::Text(Text::parse(text)?),
        })
    }

    pub(crate) fn fits(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Self::Any, _) | (Self::Null, None) => true,
            (Self::Text(expected), Some(value)) => expected.fits(value),
            (Self::Null, Some(_)) | (Self::Text(_), None) => false,
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Any => f.write_str("<any>"),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Whether a line says what is expected.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("expect ") || line.starts_with("not yet:")
}

/// Reads the expectations of a block, which ends at an empty line.
pub(super) fn read(lines: &mut Lines<'_>, block: usize) -> Result<Expected, FileError> {
    let mut kind = None;
    let mut expected =
        Expected { kind: Kind::Ok, columns: None, notices: Vec::new(), is_silent: false, hint: None };
    while let Some((number, line)) = lines.next() {
        if line.is_empty() {
            break;
        }
        let wrong = |reason: String| fault(number, reason);
        if let Some(reason) = line.strip_prefix("not yet:") {
            let reason = reason.trim();
            if reason.is_empty() {
                return Err(fault(number, "`not yet:` gives a reason"));
            }
            put(&mut kind, Kind::NotYet(reason.to_owned()), number)?;
            continue;
        }
        let Some(words) = line.strip_prefix("expect ") else {
            return Err(fault(number, format!("expected an expectation or an empty line, found `{line}`")));
        };
        if let Some(columns) = words.strip_prefix("columns ") {
            expected.columns = Some(columns.split('|').map(str::to_owned).collect());
        } else if let Some(notice) = words.strip_prefix("notice ") {
            expected.notices.push(Text::parse(notice).map_err(wrong)?);
        } else if words == "no notice" {
            expected.is_silent = true;
        } else if let Some(hint) = words.strip_prefix("hint ") {
            expected.hint = Some(Text::parse(hint).map_err(wrong)?);
        } else {
            put(&mut kind, main_kind(lines, number, words)?, number)?;
        }
    }
    expected.kind = kind.ok_or_else(|| fault(block, "the block expects nothing"))?;
    Ok(expected)
}

fn put(kind: &mut Option<Kind>, new: Kind, line: usize) -> Result<(), FileError> {
    match kind.replace(new) {
        None => Ok(()),
        Some(_) => Err(fault(line, "the block expects two things")),
    }
}

fn main_kind(lines: &mut Lines<'_>, number: usize, words: &str) -> Result<Kind, FileError> {
    if let Some(error) = words.strip_prefix("error ") {
        return error_kind(error).map_err(|reason| fault(number, reason));
    }
    if let Some(other) = words.strip_prefix("same error as ") {
        let other = other.strip_prefix('`').and_then(|other| other.strip_suffix('`'));
        let other = other.ok_or_else(|| fault(number, "the other statement stands in backticks"))?;
        return Ok(Kind::SameErrorAs(other.to_owned()));
    }
    if let Some(n) = words.strip_prefix("count ") {
        return n.parse().map(Kind::Count).map_err(|_| fault(number, format!("`{n}` is no number of rows")));
    }
    match words {
        "ok" => Ok(Kind::Ok),
        "no rows" => Ok(Kind::Rows(Vec::new())),
        "rows" => Ok(Kind::Rows(rows(lines, number)?)),
        "rows sorted" => Ok(Kind::Sorted(rows(lines, number)?)),
        "rows has" => Ok(Kind::Has(rows(lines, number)?)),
        "rows lack" => Ok(Kind::Lacks(rows(lines, number)?)),
        _ => Err(fault(number, format!("there is no `expect {words}`"))),
    }
}

/// `42601 at 8 the message`, of which only the code must be there.
fn error_kind(text: &str) -> Result<Kind, String> {
    let (sqlstate, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_code = sqlstate.len() == 5 && sqlstate.chars().all(|c| matches!(c, '0'..='9' | 'A'..='Z'));
    if !is_code {
        return Err(format!("`{sqlstate}` is no SQLSTATE"));
    }
    let (position, rest) = match rest.strip_prefix("at ") {
        None => (None, rest),
        Some(rest) => {
            let (position, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (Some(position.parse().map_err(|_| format!("`{position}` is no position"))?), rest)
        }
    };
    let message = if rest.is_empty() { None } else { Some(Text::parse(rest)?) };
    Ok(Kind::Error { sqlstate: sqlstate.to_owned(), position, message })
}

fn rows(lines: &mut Lines<'_>, number: usize) -> Result<Vec<Vec<Cell>>, FileError> {
    let mut rows = Vec::new();
    while let Some((at, line)) = lines.peek() {
        if line.is_empty() {
            break;
        }
        lines.next();
        let cells = cut(line).iter().map(|cell| Cell::parse(cell)).collect::<Result<_, _>>();
        rows.push(cells.map_err(|reason| fault(at, reason))?);
    }
    match rows.is_empty() {
        true => Err(fault(number, "there is no row; `expect no rows` says that there is none")),
        false => Ok(rows),
    }
}

/// Cuts a row at its bars; `\|` is a bar, `\n` a new line and `\\` a backslash within a value.
fn cut(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '|' {
            cells.push(String::new());
            continue;
        }
        let c = match (c, chars.clone().next()) {
            ('\\', Some(escaped @ ('|' | '\\' | 'n'))) => {
                chars.next();
                if escaped == 'n' { '\n' } else { escaped }
            }
            _ => c,
        };
        if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
    }
    cells
}
