//! What was found, told so that anybody can try it, and how often what was tried.

use std::collections::BTreeMap;
use std::fmt;

use crate::ask::Told;
use crate::install::{definers, views};
use crate::lake::Lake;

/// How many sorts of errors are told.
const REFUSALS_SHOWN: usize = 16;

/// A statement that shows more than it should, or another answer than the oracle's.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) what: &'static str,
    seed: u64,
    user: String,
    settings: String,
    statements: Vec<String>,
    one: String,
    other: String,
    policies: Vec<String>,
}

impl Finding {
    pub(crate) fn new(
        lake: &Lake,
        what: &'static str,
        user: &str,
        statements: Vec<String>,
        one: String,
        other: String,
    ) -> Self {
        let said = statements.join(" ");
        let is_named = |name: &str| said.contains(&format!("g.{name} "));
        let has_view = is_named("v") || is_named("j");
        let mut policies = if has_view { views(lake, definers(lake)) } else { Vec::new() };
        for table in &lake.tables {
            if let Some(rules) = table.rules(user)
                && (is_named(table.name) || has_view && matches!(table.name, "t" | "s"))
            {
                policies.extend(rules.statements(table.name, &table.columns));
            }
        }
        Self {
            what,
            seed: lake.seed,
            user: user.to_owned(),
            settings: format!("{:?}", lake.settings),
            statements,
            one,
            other,
            policies,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "FAILED {} of `{}`, seed {}, {}", self.what, self.user, self.seed, self.settings)?;
        for policy in &self.policies {
            writeln!(f, "    {policy};")?;
        }
        for statement in &self.statements {
            writeln!(f, "  {statement};")?;
        }
        writeln!(f, "    one:   {}", self.one)?;
        write!(f, "    other: {}", self.other)
    }
}

/// How many statements were said, of which sort, and what came of them.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// By sort: all, and those that failed.
    said: BTreeMap<&'static str, (usize, usize)>,
    /// Why the oracle said nothing.
    open: BTreeMap<&'static str, usize>,
    /// Codes and words of what failed.
    refusals: BTreeMap<String, usize>,
    pub(crate) n_agreed: usize,
}

impl Tally {
    pub(crate) fn count(&mut self, sort: &'static str, told: &Told) {
        let (all, failed) = self.said.entry(sort).or_default();
        *all += 1;
        *failed += usize::from(told.is_failure());
        if let Told::Failed { sqlstate, message, .. } = told {
            let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphabetic() || c == ',');
            let words: Vec<&str> = message.split(' ').filter(is_word).take(12).collect();
            *self.refusals.entry(format!("{sqlstate} {}", words.join(" "))).or_default() += 1;
        }
    }

    pub(crate) fn open(&mut self, why: &'static str) {
        *self.open.entry(why).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (sort, (all, failed)) in other.said {
            let sum = self.said.entry(sort).or_default();
            sum.0 += all;
            sum.1 += failed;
        }
        for (why, n) in other.open {
            *self.open.entry(why).or_default() += n;
        }
        for (words, n) in other.refusals {
            *self.refusals.entry(words).or_default() += n;
        }
        self.n_agreed += other.n_agreed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sort, (all, failed)) in &self.said {
            writeln!(f, "{sort}: {all} said, {failed} of them errors")?;
        }
        writeln!(f, "the oracle agreed {} times", self.n_agreed)?;
        for (why, n) in &self.open {
            writeln!(f, "left open {n} times: {why}")?;
        }
        let mut refusals: Vec<_> = self.refusals.iter().collect();
        refusals.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        write!(f, "what errors said most often:")?;
        refusals.iter().take(REFUSALS_SHOWN).try_for_each(|(words, n)| write!(f, "\n  {n} × {words}"))
    }
}
