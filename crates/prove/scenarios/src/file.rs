//! Reads a scenario file: who says what, in order, and what must come of it.

mod expected;

#[cfg(test)]
pub(crate) use expected::Text;
pub(crate) use expected::{Cell, Expected, Kind};

use crate::door::DoorName;

/// One scenario file, read whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) laws: Vec<String>,
    /// Users who are there before the first step.
    pub(crate) users: Vec<String>,
    pub(crate) catalogs: Vec<String>,
    /// Settings of the server, by name.
    pub(crate) config: Vec<(String, String)>,
    pub(crate) doors: Vec<DoorName>,
    pub(crate) claims: Vec<Claim>,
    /// Why the whole file is left out, where it is.
    pub(crate) skip: Option<String>,
    pub(crate) steps: Vec<Step>,
}

/// A role that a login would bring along; only a session in this process can have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) user: String,
    pub(crate) role: String,
}

/// One block: statements of one user, the last of which is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) user: String,
    pub(crate) does: Does,
    pub(crate) expected: Expected,
}

/// What the user does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Runs the statements; all but the last must succeed.
    Says(Vec<String>),
    Prepares {
        name: String,
        statement: String,
    },
    Runs {
        name: String,
        arguments: Vec<Argument>,
    },
}

/// A parameter's value as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// As SQL.
    pub(crate) literal: String,
    /// As a text; `None` is NULL.
    pub(crate) text: Option<String>,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct FileError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

fn fault(line: usize, reason: impl Into<String>) -> FileError {
    FileError { line, reason: reason.into() }
}

/// Lines with their numbers, comments left out.
struct Lines<'a> {
    rest: std::iter::Peekable<std::vec::IntoIter<(usize, &'a str)>>,
    last: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let line = self.rest.next();
        if let Some((number, _)) = line {
            self.last = number;
        }
        line
    }

    fn peek(&mut self) -> Option<(usize, &'a str)> {
        self.rest.peek().copied()
    }
}

/// Reads the text of one file.
pub(crate) fn parse(text: &str) -> Result<Scenario, FileError> {
    let mut scenario = Scenario { doors: DoorName::ALL.to_vec(), ..Scenario::default() };
    let mut lines = Vec::new();
    let mut in_header = true;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        match line.strip_prefix('#') {
            Some(comment) if in_header => header(&mut scenario, number, comment.trim())?,
            Some(_) => {}
            None => {
                in_header &= line.trim().is_empty();
                lines.push((number, line.trim_end()));
            }
        }
    }
    if scenario.name.is_empty() {
        return Err(fault(1, "the header lacks `# name: …`"));
    }
    if !scenario.claims.is_empty() && scenario.doors != [DoorName::InProcess] {
        return Err(fault(1, "a scenario with claims needs `# doors: in-process`"));
    }
    if scenario.catalogs.is_empty() {
        scenario.catalogs.push("lake".to_owned());
    }
    let mut lines = Lines { rest: lines.into_iter().peekable(), last: 1 };
    while let Some((number, line)) = lines.next() {
        if !line.is_empty() {
            let step = step(&mut lines, number, line, scenario.steps.last())?;
            scenario.steps.push(step);
        }
    }
    match scenario.steps.is_empty() {
        true => Err(fault(lines.last, "the file has no step")),
        false => Ok(scenario),
    }
}

fn header(scenario: &mut Scenario, line: usize, comment: &str) -> Result<(), FileError> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let value = value.trim();
    let list =
        || value.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    match key.trim() {
        "name" => value.clone_into(&mut scenario.name),
        "law" => scenario.laws = list(),
        "users" => scenario.users = list(),
        "catalogs" => scenario.catalogs = list(),
        "skip" => scenario.skip = Some(value.to_owned()),
        "config" => {
            let (name, value) = value
                .split_once('=')
                .ok_or_else(|| fault(line, "`# config:` takes `section.key = value`"))?;
            scenario.config.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        "doors" => {
            let names: Vec<String> = list();
            let door = |name: &String| {
                DoorName::parse(name).ok_or_else(|| fault(line, format!("there is no door `{name}`")))
            };
            scenario.doors = names.iter().map(door).collect::<Result<_, _>>()?;
        }
        "claims" => {
            let (user, role) =
                value.split_once(' ').ok_or_else(|| fault(line, "`# claims:` takes a user and a role"))?;
            scenario.claims.push(Claim { user: user.to_owned(), role: role.trim().to_owned() });
        }
        // Any other comment may have a colon in it.
        _ => {}
    }
    Ok(())
}

fn step(lines: &mut Lines<'_>, number: usize, line: &str, before: Option<&Step>) -> Result<Step, FileError> {
    let head = line
        .strip_prefix("as ")
        .and_then(|rest| rest.strip_suffix(':'))
        .ok_or_else(|| fault(number, format!("expected `as USER:`, found `{line}`")))?;
    let (user, how) = head.split_once(' ').unwrap_or((head, ""));
    let statements = statements(lines)?;
    let one = |statements: Vec<String>| match <[String; 1]>::try_from(statements) {
        Ok([statement]) => Ok(statement),
        Err(_) => Err(fault(number, "expected one statement")),
    };
    let does = match how.split_once(' ').unwrap_or((how, "")) {
        ("", "") if statements.is_empty() => return Err(fault(number, "there is no statement")),
        ("", "") => Does::Says(statements),
        ("again", "") => match before.map(|step| &step.does) {
            _ if !statements.is_empty() => {
                return Err(fault(number, "`again` takes no statement of its own"));
            }
            Some(Does::Says(said)) => Does::Says(said.last().cloned().into_iter().collect()),
            Some(Does::Runs { name, arguments }) => {
                Does::Runs { name: name.clone(), arguments: arguments.clone() }
            }
            _ => return Err(fault(number, "there is nothing to say again")),
        },
        ("prepare", name) => Does::Prepares { name: name.to_owned(), statement: one(statements)? },
        ("run", call) => {
            if !statements.is_empty() {
                return Err(fault(number, "`run` takes no statement"));
            }
            let (name, arguments) = call.split_once('(').unwrap_or((call, ")"));
            let arguments = arguments
                .trim()
                .strip_suffix(')')
                .ok_or_else(|| fault(number, "the arguments lack a bracket"))?;
            Does::Runs { name: name.trim().to_owned(), arguments: parse_arguments(number, arguments)? }
        }
        (word, _) => return Err(fault(number, format!("there is no `as {user} {word}`"))),
    };
    let expected = expected::read(lines, number)?;
    Ok(Step { line: number, user: user.to_owned(), does, expected })
}

/// The statements up to the expectation; one ends with a line that ends in `;`.
fn statements(lines: &mut Lines<'_>) -> Result<Vec<String>, FileError> {
    let mut statements = Vec::new();
    let mut text = String::new();
    while let Some((number, line)) = lines.peek() {
        if expected::begins(line) {
            break;
        }
        if line.starts_with("as ") && line.ends_with(':') {
            return Err(fault(number, "the statement before this block has no expectation"));
        }
        lines.next();
        if line.is_empty() && text.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        match line.strip_suffix(';') {
            Some(end) => {
                text.push_str(end);
                statements.push(std::mem::take(&mut text));
            }
            None => text.push_str(line),
        }
    }
    if !text.is_empty() {
        return Err(fault(lines.last, "the statement does not end in `;`"));
    }
    Ok(statements)
}

fn parse_arguments(line: usize, text: &str) -> Result<Vec<Argument>, FileError> {
    let mut arguments = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.find('\'').map(|at| at + 2),
            None => Some(rest.find(',').unwrap_or(rest.len())),
        };
        let (literal, after) = end
            .and_then(|end| rest.split_at_checked(end))
            .ok_or_else(|| fault(line, "an argument's quote does not end"))?;
        let literal = literal.trim();
        let text = match literal {
            "NULL" => None,
            _ => Some(literal.trim_matches('\'').to_owned()),
        };
        arguments.push(Argument { literal: literal.to_owned(), text });
        rest = match after.trim_start() {
            "" => "",
            after => after
                .strip_prefix(',')
                .ok_or_else(|| fault(line, "arguments are parted by commas"))?
                .trim_start(),
        };
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests;
