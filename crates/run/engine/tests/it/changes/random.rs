//! Random tables, filters, masks and changes against an oracle in memory: what is stored afterwards, hidden rows included.

use std::fmt::Write;

use testkit::{ADMIN, Client, Site};

/// Small numbers from a seed, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn maybe(&mut self) -> bool {
        self.roll(2) == 0
    }
}

/// `id BIGINT, a BIGINT, b VARCHAR`; `id` never null, never masked and without meaning for filters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    id: i64,
    a: Option<i64>,
    b: Option<String>,
}

#[derive(Clone, Debug)]
enum Test {
    AOver(i64),
    AIs(i64),
    BIs(&'static str),
    ANull,
    BNull,
    IdUnder(i64),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

const WORDS: [&str; 4] = ["x", "y", "mx", "z"];

impl Test {
    fn roll(dice: &mut Dice, depth: u64, with_id: bool) -> Self {
        let n = dice.roll(4) as i64;
        match dice.roll(if depth == 0 { 6 } else { 9 }) {
            0 => Self::AOver(n),
            1 => Self::AIs(n),
            2 => Self::BIs(WORDS[dice.roll(4) as usize]),
            3 => Self::ANull,
            4 => Self::BNull,
            5 if with_id => Self::IdUnder(n * 3),
            5 => Self::AOver(n - 1),
            6 => Self::Not(Box::new(Self::roll(dice, depth - 1, with_id))),
            7 => Self::And(
                Box::new(Self::roll(dice, depth - 1, with_id)),
                Box::new(Self::roll(dice, depth - 1, with_id)),
            ),
            _ => Self::Or(
                Box::new(Self::roll(dice, depth - 1, with_id)),
                Box::new(Self::roll(dice, depth - 1, with_id)),
            ),
        }
    }

    fn holds(&self, row: &Row) -> Option<bool> {
        match self {
            Self::AOver(n) => row.a.map(|a| a > *n),
            Self::AIs(n) => row.a.map(|a| a == *n),
            Self::BIs(word) => row.b.as_ref().map(|b| b == word),
            Self::ANull => Some(row.a.is_none()),
            Self::BNull => Some(row.b.is_none()),
            Self::IdUnder(n) => Some(row.id < *n),
            Self::Not(inner) => inner.holds(row).map(|holds| !holds),
            Self::And(left, right) => match (left.holds(row), right.holds(row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(left, right) => match (left.holds(row), right.holds(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    fn sql(&self, table: &str) -> String {
        match self {
            Self::AOver(n) => format!("{table}a > {n}"),
            Self::AIs(n) => format!("{table}a = {n}"),
            Self::BIs(word) => format!("{table}b = '{word}'"),
            Self::ANull => format!("{table}a IS NULL"),
            Self::BNull => format!("{table}b IS NULL"),
            Self::IdUnder(n) => format!("{table}id < {n}"),
            Self::Not(inner) => format!("NOT ({})", inner.sql(table)),
            Self::And(left, right) => format!("({} AND {})", left.sql(table), right.sql(table)),
            Self::Or(left, right) => format!("({} OR {})", left.sql(table), right.sql(table)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mask {
    No,
    Null,
    /// `a + 1`, or `'m' || b`.
    Other,
}

#[derive(Debug)]
struct Rules {
    filter: Option<Test>,
    a: Mask,
    b: Mask,
}

impl Rules {
    fn sees(&self, row: &Row) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.holds(row) == Some(true))
    }

    fn masked(&self, row: &Row) -> Row {
        Row {
            id: row.id,
            a: match self.a {
                Mask::No => row.a,
                Mask::Null => None,
                Mask::Other => row.a.map(|a| a + 1),
            },
            b: match self.b {
                Mask::No => row.b.clone(),
                Mask::Null => None,
                Mask::Other => row.b.as_ref().map(|b| format!("m{b}")),
            },
        }
    }
}

/// What is assigned.
#[derive(Clone, Copy, Debug)]
enum Value {
    Number(i64),
    IdPlus(i64),
    APlus(i64),
    Null,
}

impl Value {
    fn roll(dice: &mut Dice) -> Self {
        let n = dice.roll(4) as i64;
        [Self::Number(n), Self::IdPlus(n), Self::APlus(n), Self::Null][dice.roll(4) as usize]
    }

    fn of(self, row: &Row) -> Option<i64> {
        match self {
            Self::Number(n) => Some(n),
            Self::IdPlus(n) => Some(row.id + n),
            Self::APlus(n) => row.a.map(|a| a + n),
            Self::Null => None,
        }
    }

    fn sql(self) -> String {
        match self {
            Self::Number(n) => n.to_string(),
            Self::IdPlus(n) => format!("t.id + {n}"),
            Self::APlus(n) => format!("t.a + {n}"),
            Self::Null => "NULL".to_owned(),
        }
    }
}

#[derive(Debug)]
enum Change {
    Delete(Test),
    SetA(Value, Test),
    SetB(&'static str, Test),
    Truncate,
    Overwrite(Vec<Row>),
    /// On `t.id = s.k`: DELETE where the test holds, else SET a, else nothing; the others are inserted.
    Merge {
        source: Vec<(i64, i64)>,
        delete: Test,
        set: Value,
        word: &'static str,
    },
}

fn literal(row: &Row) -> String {
    let a = row.a.map_or("NULL".to_owned(), |a| a.to_string());
    let b = row.b.as_ref().map_or("NULL".to_owned(), |b| format!("'{b}'"));
    format!("({}, CAST({a} AS BIGINT), CAST({b} AS VARCHAR))", row.id)
}

fn literals(rows: &[Row]) -> String {
    rows.iter().map(literal).collect::<Vec<_>>().join(", ")
}

impl Change {
    fn roll(dice: &mut Dice) -> Self {
        match dice.roll(9) {
            0..=1 => Self::Delete(Test::roll(dice, 2, true)),
            2..=3 => Self::SetA(Value::roll(dice), Test::roll(dice, 2, true)),
            4 => Self::SetB(WORDS[dice.roll(4) as usize], Test::roll(dice, 2, true)),
            5 => Self::Truncate,
            6 => Self::Overwrite((0..dice.roll(3) as i64 + 1).map(|i| row(dice, 100 + i)).collect()),
            _ => {
                let source =
                    (0..dice.roll(4) + 1).map(|_| (dice.roll(12) as i64, dice.roll(4) as i64)).collect();
                let delete = Test::roll(dice, 1, true);
                Self::Merge { source, delete, set: Value::roll(dice), word: WORDS[dice.roll(4) as usize] }
            }
        }
    }

    fn sql(&self, table: &str) -> String {
        match self {
            Self::Delete(test) => format!("DELETE FROM {table} AS t WHERE {}", test.sql("t.")),
            Self::SetA(value, test) => {
                format!("UPDATE {table} AS t SET a = {} WHERE {}", value.sql(), test.sql("t."))
            }
            Self::SetB(word, test) => {
                format!("UPDATE {table} AS t SET b = '{word}' WHERE {}", test.sql("t."))
            }
            Self::Truncate => format!("TRUNCATE TABLE {table}"),
            Self::Overwrite(rows) => format!("INSERT OVERWRITE {table} VALUES {}", literals(rows)),
            Self::Merge { source, delete, set, word } => {
                let rows: Vec<String> = source.iter().map(|(k, v)| format!("({k}, {v})")).collect();
                format!(
                    "MERGE INTO {table} AS t USING (SELECT column1 AS k, column2 AS v FROM (VALUES {})) AS s \
                     ON t.id = s.k WHEN MATCHED AND {} THEN DELETE WHEN MATCHED THEN UPDATE SET a = {} \
                     WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (k, v, '{word}')",
                    rows.join(", "),
                    delete.sql("t."),
                    set.sql()
                )
            }
        }
    }

    /// The rows stored afterwards and how many the statement counts; `None`: it is refused.
    fn apply(&self, stored: &[Row], rules: &Rules) -> Option<(Vec<Row>, Option<u64>)> {
        let reads_masked = |value: &Value| rules.a != Mask::No && matches!(value, Value::APlus(_));
        let mut after = Vec::new();
        let mut n = 0;
        let chosen = |row: &Row, test: &Test| rules.sees(row) && test.holds(&rules.masked(row)) == Some(true);
        match self {
            Self::Delete(test) => after.extend(stored.iter().filter(|row| !chosen(row, test)).cloned()),
            Self::SetA(value, _) if reads_masked(value) => return None,
            Self::SetA(value, test) => {
                for row in stored {
                    after.push(match chosen(row, test) {
                        true => Row { a: value.of(&rules.masked(row)), ..row.clone() },
                        false => row.clone(),
                    });
                    let is_hidden = chosen(row, test) && after.last().is_some_and(|row| !rules.sees(row));
                    n += u64::from(chosen(row, test));
                    if is_hidden {
                        return None;
                    }
                }
                return Some((after, Some(n)));
            }
            Self::SetB(word, test) => {
                for row in stored {
                    let is_chosen = chosen(row, test);
                    let new = Row { b: Some((*word).to_owned()), ..row.clone() };
                    if is_chosen && !rules.sees(&new) {
                        return None;
                    }
                    n += u64::from(is_chosen);
                    after.push(if is_chosen { new } else { row.clone() });
                }
                return Some((after, Some(n)));
            }
            Self::Truncate => {
                after.extend(stored.iter().filter(|row| !rules.sees(row)).cloned());
                return Some((after, None));
            }
            Self::Overwrite(rows) => {
                if !rows.iter().all(|row| rules.sees(row)) {
                    return None;
                }
                after.extend(stored.iter().filter(|row| !rules.sees(row)).cloned());
                after.extend(rows.iter().cloned());
                return Some((after, Some(rows.len() as u64)));
            }
            Self::Merge { source, delete, set, word } => {
                if reads_masked(set) {
                    return None;
                }
                for row in stored {
                    let matches = source.iter().filter(|(k, _)| *k == row.id).count();
                    if matches == 0 || !rules.sees(row) {
                        after.push(row.clone());
                        continue;
                    }
                    n += 1;
                    let new = Row { a: set.of(&rules.masked(row)), ..row.clone() };
                    let goes = delete.holds(&rules.masked(row)) == Some(true);
                    if matches > 1 || (!goes && !rules.sees(&new)) {
                        return None;
                    }
                    if !goes {
                        after.push(new);
                    }
                }
                for (k, v) in source {
                    if !stored.iter().any(|row| rules.sees(row) && row.id == *k) {
                        let new = Row { id: *k, a: Some(*v), b: Some((*word).to_owned()) };
                        if !rules.sees(&new) {
                            return None;
                        }
                        n += 1;
                        after.push(new);
                    }
                }
                return Some((after, Some(n)));
            }
        }
        n += (stored.len() - after.len()) as u64;
        Some((after, Some(n)))
    }
}

fn row(dice: &mut Dice, id: i64) -> Row {
    let a = dice.roll(5) as i64;
    let b = dice.roll(5) as usize;
    Row { id, a: (a < 4).then_some(a), b: WORDS.get(b).map(|word| (*word).to_owned()) }
}

fn shown(rows: &[Row]) -> Vec<String> {
    let null = || "NULL".to_owned();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let a = row.a.map_or_else(null, |a| a.to_string());
            format!("{}|{a}|{}", row.id, row.b.clone().unwrap_or_else(null))
        })
        .collect();
    lines.sort();
    lines
}

async fn make(root: &Client, table: &str, rules: &Rules, stored: &[Row], dice: &mut Dice) {
    let parts = if dice.maybe() { " PARTITION BY (b)" } else { "" };
    root.ok(&format!("CREATE TABLE {table} (id BIGINT, a BIGINT, b VARCHAR){parts}")).await;
    let n_files = dice.roll(3) as usize + 1;
    for rows in stored.chunks(stored.len().div_ceil(n_files).max(1)) {
        root.ok(&format!("INSERT INTO {table} VALUES {}", literals(rows))).await;
    }
    root.ok(&format!("GRANT SELECT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE ON {table} TO USER ana")).await;
    let name = table.replace('.', "_");
    if let Some(filter) = &rules.filter {
        let sql = format!(
            "CREATE POLICY {name}_f ON TABLE {table} ROW FILTER TO USER ana USING ({})",
            filter.sql("")
        );
        root.ok(&sql).await;
    }
    for (column, mask, other) in [("a", rules.a, "{col} + 1"), ("b", rules.b, "'m' || {col}")] {
        let kind = match mask {
            Mask::No => continue,
            Mask::Null => "MASK_NULL TO USER ana ON COLUMN".to_owned(),
            Mask::Other => "CUSTOM TO USER ana ON COLUMN".to_owned(),
        };
        let mut sql = format!("CREATE POLICY {name}_{column} ON TABLE {table} COLUMN MASK {kind} {column}");
        if mask == Mask::Other {
            let _ = write!(sql, " USING ({other})");
        }
        root.ok(&sql).await;
    }
}

async fn check(seed: u64, root: &Client, ana: &Client) -> bool {
    let dice = &mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let masks = [Mask::No, Mask::Null, Mask::Other];
    let rules = Rules {
        filter: (dice.roll(4) > 0).then(|| Test::roll(dice, 1, false)),
        a: masks[dice.roll(3) as usize],
        b: masks[dice.roll(3) as usize],
    };
    let n = dice.roll(10) as i64;
    let mut stored: Vec<Row> = (0..n).map(|id| row(dice, id)).collect();
    let table = format!("s.r{seed}");
    make(root, &table, &rules, &stored, dice).await;
    let mut n_done = 0;
    for _ in 0..3 {
        let change = Change::roll(dice);
        let sql = change.sql(&table);
        let told = ana.run(&sql).await;
        let context = || format!("seed {seed}: {sql}\nunder {rules:?}\nover {stored:?}");
        match change.apply(&stored, &rules) {
            Some((after, n_rows)) => {
                let told = told.unwrap_or_else(|error| panic!("{error:?}\n{}", context()));
                assert_eq!(told.n_written, n_rows, "{}", context());
                assert_eq!(
                    root.ok(&format!("SELECT * FROM {table}")).await.sorted().rows,
                    shown(&after),
                    "{}",
                    context()
                );
                n_done += u64::from(after != stored);
                stored = after;
            }
            None => {
                assert!(told.is_err(), "{}", context());
                let left = root.ok(&format!("SELECT * FROM {table}")).await.sorted().rows;
                assert_eq!(left, shown(&stored), "{}", context());
            }
        }
        let seen: Vec<Row> =
            stored.iter().filter(|row| rules.sees(row)).map(|row| rules.masked(row)).collect();
        assert_eq!(
            ana.ok(&format!("SELECT * FROM {table}")).await.sorted().rows,
            shown(&seen),
            "seed {seed}"
        );
    }
    n_done > 0
}

#[tokio::test]
async fn random_changes_agree_with_an_oracle() {
    let site = Site::open().await;
    let root = site.client(ADMIN).await;
    root.all(&["CREATE SCHEMA s", "CREATE USER ana"]).await;
    let ana = site.client("ana").await;
    let n_cases = 60;
    let mut n_changed = 0;
    for seed in 0..n_cases {
        n_changed += u64::from(check(seed, &root, &ana).await);
    }
    // Cases in which nothing happens prove little.
    assert!(n_changed * 2 > n_cases, "{n_changed} of {n_cases} changed something");
}
