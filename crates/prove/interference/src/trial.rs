//! One lake, twice with other secrets, and many statements over both and over the oracle.

use anyhow::Result;

use crate::about;
use crate::ask::{Told, ask, ask_all, describe};
use crate::dice::Dice;
use crate::excluded;
use crate::findings::{Finding, Tally};
use crate::install::Installation;
use crate::lake::{FREE, Lake, OTHER, READER, Secrets};
use crate::oracle::{Answer, Oracle};
use crate::reach::Reach;
use crate::shrink;
use crate::statement::{Maker, write};
use crate::tree::{Part, Reader, Sort, Tree};

/// How many statements are said over one lake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) n_statements: usize,
    /// Statements that are tried to make one that fails smaller.
    pub(crate) n_shrinks: usize,
    /// A lake is left after so many findings.
    pub(crate) n_findings_max: usize,
}

/// What came of one lake.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) tally: Tally,
    pub(crate) reach: Reach,
}

pub(crate) struct Trial {
    pub(crate) lake: Lake,
    pub(crate) one: Installation,
    pub(crate) other: Installation,
    of_reader: Oracle,
    of_other: Oracle,
    budget: Budget,
    report: Report,
    dice: Dice,
    writes: Vec<String>,
}

pub(crate) async fn run(seed: u64, budget: Budget) -> Result<Report> {
    let lake = Lake::roll(seed);
    let one = Installation::open(&lake, Secrets::One).await;
    let other = Installation::open(&lake, Secrets::Other).await;
    let of_reader = Oracle::open(&lake, Secrets::One, READER, &one.admin).await?;
    let of_other = Oracle::open(&lake, Secrets::One, OTHER, &one.admin).await?;
    let mut trial = Trial {
        dice: Dice::new(seed ^ 0x5eed),
        lake,
        one,
        other,
        of_reader,
        of_other,
        budget,
        report: Report::default(),
        writes: Vec::new(),
    };
    for _ in 0..budget.n_statements {
        trial.step().await?;
        if trial.report.findings.len() >= budget.n_findings_max {
            break;
        }
    }
    Ok(trial.report)
}

/// What one statement tells the reader over both lakes of a seed, and what the oracle says of it.
pub(crate) async fn say(seed: u64, user: &str, statement: &str) -> Result<String> {
    let lake = Lake::roll(seed);
    let mut told = Vec::new();
    for secrets in [Secrets::One, Secrets::Other] {
        let side = Installation::open(&lake, secrets).await;
        told.push(format!("told: {}", ask(side.client(user), statement).await));
        let oracle = Oracle::open(&lake, secrets, user, &side.admin).await?;
        let expected = match oracle.plan(statement).await {
            Ok(plan) => oracle.run(plan).await,
            Err(answer) => answer,
        };
        told.push(format!("oracle: {expected:?}"));
    }
    Ok(told.join("\n"))
}

impl Trial {
    async fn step(&mut self) -> Result<()> {
        let seed = self.dice.seed();
        match self.dice.roll(100) {
            0..=52 => self.query(seed).await,
            53..=62 => self.query_of_other(seed).await,
            63..=70 => self.explained(seed).await,
            71..=75 => self.described(seed).await,
            76..=81 => self.prepared(seed).await,
            82..=90 => self.about().await,
            _ => self.written(seed).await,
        }
    }

    async fn query(&mut self, seed: u64) -> Result<()> {
        let mut maker = Maker::new(&self.lake, seed);
        let tree = maker.query();
        let (one, other) = self.both(&tree).await;
        self.report.tally.count("query", &one);
        if one != other {
            return self.differs("query", tree).await;
        }
        self.against_oracle(READER, &tree, &one, maker.is_failing()).await
    }

    /// What the reader is told of a query over both lakes.
    pub(crate) async fn both(&self, tree: &Tree) -> (Told, Told) {
        let sql = tree.text(Reader::Engine);
        let (one, other) = futures::join!(ask(&self.one.reader, &sql), ask(&self.other.reader, &sql));
        let (one, other) = (self.settled(one), self.settled(other));
        if tree.is_ordered() { (one, other) } else { (one.sorted(), other.sorted()) }
    }

    /// Which of several failing values comes first is open, as the order of rows is.
    fn settled(&self, told: Told) -> Told {
        told.without_values()
    }

    async fn query_of_other(&mut self, seed: u64) -> Result<()> {
        let mut maker = Maker::new(&self.lake, seed);
        let tree = maker.query();
        let sql = tree.text(Reader::Engine);
        let told = ask(&self.one.other, &sql).await;
        let told = if tree.is_ordered() { told } else { told.sorted() };
        self.report.tally.count("query of another", &told);
        self.against_oracle(OTHER, &tree, &told, maker.is_failing()).await
    }

    async fn against_oracle(
        &mut self,
        user: &'static str,
        tree: &Tree,
        told: &Told,
        may_fail: bool,
    ) -> Result<()> {
        let expected = self.expected(user, tree).await;
        if let Told::Rows { .. } = told
            && let Ok(plan) = self.oracle(user).plan(&tree.text(Reader::Oracle)).await
        {
            self.report.reach.see(&plan)?;
        }
        match shrink::judged(told, &expected, may_fail) {
            shrink::Judged::Agrees => self.report.tally.n_agreed += 1,
            shrink::Judged::Open(why) => self.report.tally.open(why),
            shrink::Judged::Differs => {
                let tree = shrink::against_oracle(self, user, tree.clone(), may_fail).await;
                let told = self.told(user, &tree).await;
                let expected = self.expected(user, &tree).await;
                let sql = tree.text(Reader::Engine);
                match excluded::why(&sql) {
                    Some(why) => self.report.tally.open(why),
                    None => self.find("oracle", user, vec![sql], told.to_string(), expected.to_string()),
                }
            }
        }
        Ok(())
    }

    fn oracle(&self, user: &str) -> &Oracle {
        if user == OTHER { &self.of_other } else { &self.of_reader }
    }

    pub(crate) async fn told(&self, user: &str, tree: &Tree) -> Told {
        let told = ask(self.one.client(user), &tree.text(Reader::Engine)).await;
        if tree.is_ordered() { told } else { told.sorted() }
    }

    pub(crate) async fn expected(&self, user: &str, tree: &Tree) -> Answer {
        let oracle = self.oracle(user);
        let answer = match oracle.plan(&tree.text(Reader::Oracle)).await {
            Ok(plan) => oracle.run(plan).await,
            Err(answer) => answer,
        };
        match answer {
            Answer::Rows(mut rows) if !tree.is_ordered() => {
                rows.sort();
                Answer::Rows(rows)
            }
            other => other,
        }
    }

    async fn explained(&mut self, seed: u64) -> Result<()> {
        let query = Maker::new(&self.lake, seed).query();
        if self.dice.once_in(4) {
            let word = if self.dice.once_in(3) { "EXPLAIN POLICY " } else { "EXPLAIN " };
            let told = ask(self.one.client(FREE), &format!("{word}{}", query.text(Reader::Engine))).await;
            if let Told::Rows { rows, .. } = &told {
                self.report.reach.see_operators(&rows.join("\n"));
            }
        }
        let word = if self.dice.once_in(4) { "EXPLAIN POLICY " } else { "EXPLAIN " };
        let tree = Tree::new(Sort::Statement, vec![Part::from(word), Part::from(query)]);
        let (one, other) = self.both(&tree).await;
        self.report.tally.count("explain", &one);
        if one == other { Ok(()) } else { self.differs("explain", tree).await }
    }

    async fn described(&mut self, seed: u64) -> Result<()> {
        let sql = Maker::new(&self.lake, seed).query().text(Reader::Engine);
        let (one, other) = (describe(&self.one.reader, &sql).await, describe(&self.other.reader, &sql).await);
        self.report.tally.count("describe", &one);
        if one != other {
            self.find("describe", READER, vec![sql], one.to_string(), other.to_string());
        }
        Ok(())
    }

    async fn prepared(&mut self, seed: u64) -> Result<()> {
        let query = Maker::new(&self.lake, seed).query();
        let mut parameters = Vec::new();
        let tree = with_parameters(&query, &mut self.dice, &mut parameters);
        let (types, values): (Vec<_>, Vec<_>) = parameters.into_iter().unzip();
        let list = |items: &[String]| match items {
            [] => String::new(),
            items => format!(" ({})", items.join(", ")),
        };
        let statements = vec![
            format!("PREPARE p{} AS {}", list(&types), tree.text(Reader::Engine)),
            format!("EXECUTE p{}", list(&values)),
        ];
        let sides = [&self.one.reader, &self.other.reader];
        let mut told = Vec::new();
        for side in sides {
            let answer = self.settled(ask_all(side, &statements).await);
            told.push(if tree.is_ordered() { answer } else { answer.sorted() });
            ask(side, "DEALLOCATE p").await;
        }
        self.report.tally.count("prepared", &told[0]);
        let known = excluded::why(&statements[0]);
        if told[0] != told[1] && known.is_some() {
            known.into_iter().for_each(|why| self.report.tally.open(why));
        } else if told[0] != told[1] {
            self.find("prepared", READER, statements, told[0].to_string(), told[1].to_string());
        }
        Ok(())
    }

    async fn about(&mut self) -> Result<()> {
        let sql = about::statement(&mut self.dice);
        let (one, other) =
            (ask(&self.one.reader, &sql).await.sorted(), ask(&self.other.reader, &sql).await.sorted());
        self.report.tally.count("about", &one);
        if one != other {
            self.find("about", READER, vec![sql], one.to_string(), other.to_string());
        }
        Ok(())
    }

    async fn written(&mut self, seed: u64) -> Result<()> {
        let sql = write(&mut Maker::new(&self.lake, seed)).text(Reader::Engine);
        self.writes.push(sql.clone());
        let before = [self.hidden(&self.one).await, self.hidden(&self.other).await];
        let (one, other) = (ask(&self.one.reader, &sql).await, ask(&self.other.reader, &sql).await);
        let (one, other) = (self.settled(one), self.settled(other));
        self.report.tally.count("write", &one);
        let seen = "SELECT * FROM g.d";
        let (left, right) =
            (ask(&self.one.reader, seen).await.sorted(), ask(&self.other.reader, seen).await.sorted());
        if (&one, &left) != (&other, &right) {
            let (one, other) = (format!("{one}\n      then {left}"), format!("{other}\n      then {right}"));
            self.find("write", READER, self.writes.clone(), one, other);
        }
        let after = [self.hidden(&self.one).await, self.hidden(&self.other).await];
        for (before, after) in before.into_iter().zip(after) {
            if before != after {
                self.find("hidden rows", READER, self.writes.clone(), before.to_string(), after.to_string());
            }
        }
        Ok(())
    }

    /// The rows of `d` that are hidden from the reader, as they are stored.
    async fn hidden(&self, installation: &Installation) -> Told {
        let table = self.lake.table("d");
        let tests: Vec<String> =
            table.reader.filters.iter().map(|filter| format!("({})", filter.sql(&table.columns))).collect();
        let condition = if tests.is_empty() { "TRUE".to_owned() } else { tests.join(" AND ") };
        ask(&installation.admin, &format!("SELECT * FROM g.d WHERE ({condition}) IS NOT TRUE")).await.sorted()
    }

    async fn differs(&mut self, what: &'static str, tree: Tree) -> Result<()> {
        let tree = shrink::between(self, tree).await;
        let sql = tree.text(Reader::Engine);
        if let Some(why) = excluded::why(&sql) {
            self.report.tally.open(why);
            return Ok(());
        }
        let (one, other) = self.both(&tree).await;
        self.find(what, READER, vec![sql], one.to_string(), other.to_string());
        Ok(())
    }

    fn find(&mut self, what: &'static str, user: &str, statements: Vec<String>, one: String, other: String) {
        let finding = Finding::new(&self.lake, what, user, statements, one, other);
        self.report.findings.push(finding);
    }

    pub(crate) fn n_shrinks(&self) -> usize {
        self.budget.n_shrinks
    }
}

/// Puts parameters in the place of some literals, and says of what type and value each is.
fn with_parameters(tree: &Tree, dice: &mut Dice, found: &mut Vec<(String, String)>) -> Tree {
    use crate::lake::Kind;
    let mut copy = tree.clone();
    if let (Sort::Value(kind @ (Kind::Int | Kind::Str)), [Part::Text(text)]) =
        (&tree.sort, tree.parts.as_slice())
    {
        let is_literal = text.starts_with('\'') || text.parse::<i64>().is_ok();
        if is_literal && dice.once_in(2) {
            let sql_type = if *kind == Kind::Int { "BIGINT" } else { "VARCHAR" };
            found.push((sql_type.to_owned(), text.clone()));
            copy.parts = vec![Part::Either { governed: format!("${}", found.len()), plain: text.clone() }];
        }
        return copy;
    }
    for part in &mut copy.parts {
        if let Part::Tree(inner) = part {
            *inner = with_parameters(inner, dice, found);
        }
    }
    copy
}
