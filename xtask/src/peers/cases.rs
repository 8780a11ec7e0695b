//! The cases: statements in files, each under a head that says what it shows and who is asked.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Sluice,
    Postgres,
    Duckdb,
}

/// A case that cannot be equal, and says why in its head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Sluice does not offer it, and gives an error of this code.
    Refused(String),
    /// Sluice answers otherwise than its peers.
    Differs,
}

/// One or more statements that every user says to every database.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Who says it; everybody where none is named.
    pub(crate) users: Vec<String>,
    pub(crate) peers: Vec<Peer>,
    /// The table that it changes, which is looked at afterwards and put back.
    pub(crate) changes: Option<String>,
    /// The error that the first user gets, where the case is about one.
    pub(crate) fails: Option<String>,
    /// What keeps Sluice's answer from being the peers'.
    pub(crate) known: Option<Known>,
    text: String,
    /// What a database is told instead.
    instead: Vec<(Peer, String)>,
}

impl Case {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            users: Vec::new(),
            peers: vec![Peer::Postgres, Peer::Duckdb],
            changes: None,
            fails: None,
            known: None,
            text: String::new(),
            instead: Vec::new(),
        }
    }

    pub(crate) fn text(&self, peer: Peer) -> &str {
        let own = self.instead.iter().find(|(other, _)| *other == peer);
        own.map_or(self.text.as_str(), |(_, text)| text).trim()
    }

    pub(crate) fn statements(&self, peer: Peer) -> Vec<String> {
        statements(self.text(peer))
    }

    /// Of each statement, whether its rows have an order.
    pub(crate) fn marks(&self) -> Vec<bool> {
        self.statements(Peer::Sluice).iter().map(|statement| has_order(statement)).collect()
    }

    /// Takes a line `-- WORD: text` of its head.
    fn take(&mut self, word: &str, text: &str) -> Result<()> {
        match word {
            "users" => self.users = text.split_whitespace().map(str::to_owned).collect(),
            "peers" => self.peers = text.split_whitespace().map(peer).collect::<Result<_>>()?,
            "changes" => self.changes = Some(text.to_owned()),
            "fails" => self.fails = Some(text.to_owned()),
            "refused" => {
                let (code, _) = text.split_once(' ').context("`refused` takes a code and a reason")?;
                self.known = Some(Known::Refused(code.to_owned()));
            }
            "differs" => {
                ensure!(!text.is_empty(), "`differs` takes a reason");
                self.known = Some(Known::Differs);
            }
            other => match other.strip_prefix("in ") {
                Some(name) => self.instead.push((peer(name)?, text.to_owned())),
                None => bail!("`{other}` is no word of a head"),
            },
        }
        Ok(())
    }
}

fn peer(name: &str) -> Result<Peer> {
    match name {
        "sluice" => Ok(Peer::Sluice),
        "postgres" => Ok(Peer::Postgres),
        "duckdb" => Ok(Peer::Duckdb),
        other => bail!("`{other}` is no peer"),
    }
}

/// All cases of a folder, file by file.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Case>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("`{}`", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).with_context(|| format!("`{}`", path.display()))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        cases.extend(read(&stem, &text).with_context(|| format!("`{}`", path.display()))?);
    }
    ensure!(!cases.is_empty(), "there are no cases");
    Ok(cases)
}

fn read(stem: &str, text: &str) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let head = line.strip_prefix("-- ").and_then(|head| head.split_once(':'));
        match (head, cases.last_mut()) {
            (Some(("case", name)), _) => cases.push(Case::new(&format!("{stem}: {}", name.trim()))),
            (Some((word, text)), Some(case)) => {
                case.take(word, text.trim()).with_context(|| format!("`{}`", case.name))?;
            }
            (None, Some(case)) => {
                case.text.push_str(line);
                case.text.push('\n');
            }
            (_, None) => {
                ensure!(line.trim().is_empty() || line.starts_with("--"), "`{line}` stands under no case")
            }
        }
    }
    for case in &cases {
        ensure!(!case.statements(Peer::Sluice).is_empty(), "`{}` says nothing", case.name);
    }
    Ok(cases)
}

/// Cuts a text at each `;` that ends a line. Lines that are a comment are left out.
pub(crate) fn statements(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut statement = String::new();
    for line in text.lines().filter(|line| !line.starts_with("--") && !line.trim().is_empty()) {
        statement.push_str(line);
        statement.push('\n');
        if line.trim_end().ends_with(';') {
            found.push(std::mem::take(&mut statement).trim_end().trim_end_matches(';').to_owned());
        }
    }
    let rest = statement.trim();
    if !rest.is_empty() {
        found.push(rest.to_owned());
    }
    found
}

/// Whether `ORDER BY` stands outside of all brackets.
fn has_order(statement: &str) -> bool {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for c in statement.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(if c.is_whitespace() { ' ' } else { c.to_ascii_uppercase() }),
            _ => {}
        }
    }
    outside.contains(" ORDER BY ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_with_its_head() {
        let text = "-- About joins.\n\n-- case: one\nSELECT 1;\n\n-- case: two\n-- users: bo cy\n-- peers: postgres\n\
                    -- in postgres: SELECT 3\nSELECT\n  2;\nSELECT 4;\n";
        let cases = read("joins", text).unwrap();
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[0].name, "joins: one");
        assert_eq!(cases[0].peers, [Peer::Postgres, Peer::Duckdb]);
        assert_eq!(cases[1].users, ["bo", "cy"]);
        assert_eq!(cases[1].peers, [Peer::Postgres]);
        assert_eq!(cases[1].statements(Peer::Sluice), ["SELECT\n  2", "SELECT 4"]);
        assert_eq!(cases[1].statements(Peer::Postgres), ["SELECT 3"]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(read("x", "SELECT 1;").is_err());
        assert!(read("x", "-- case: a\n-- peers: mysql\nSELECT 1;").is_err());
        assert!(read("x", "-- case: a\n-- odd: b\nSELECT 1;").is_err());
        assert!(read("x", "-- case: a\n").is_err());
        assert!(read("x", "-- case: a\n-- differs:\nSELECT 1;").is_err());
    }

    #[test]
    fn only_an_order_of_the_whole_counts() {
        assert!(has_order("SELECT a FROM t\nORDER BY a"));
        assert!(!has_order("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1) s"));
        assert!(!has_order("SELECT sum(a) OVER (ORDER BY b) FROM t"));
    }
}
