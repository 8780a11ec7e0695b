//! Row filters and masks of one reader over one table: as statements, and evaluated in the obvious way.

use std::cmp::Ordering;

use super::values::Mood;
use super::{Column, Kind, Mask, OTHER, READER, Row, Value};
use crate::dice::Dice;

/// A row filter over stored values.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// `column op literal`; the column by its position.
    Compares(usize, &'static str, Value),
    IsNull(usize),
    Holds(usize),
    IdModulo(i64, i64),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

impl Test {
    fn roll(columns: &[Column], depth: usize, dice: &mut Dice) -> Self {
        let is_plain = |i: &usize| !matches!(columns[*i].kind, Kind::List | Kind::Who);
        let plain: Vec<usize> = (0..columns.len()).filter(is_plain).collect();
        let at = *dice.pick(&plain);
        match dice.roll(if depth == 0 { 4 } else { 8 }) {
            0 => Self::IdModulo(dice.between(2, 4), dice.between(0, 1)),
            1 if columns[at].kind == Kind::Bool => Self::Holds(at),
            2 if dice.once_in(3) => Self::IsNull(at),
            4 => Self::Not(Box::new(Self::roll(columns, depth - 1, dice))),
            5 | 6 => Self::And(
                Box::new(Self::roll(columns, depth - 1, dice)),
                Box::new(Self::roll(columns, depth - 1, dice)),
            ),
            7 => Self::Or(
                Box::new(Self::roll(columns, depth - 1, dice)),
                Box::new(Self::roll(columns, depth - 1, dice)),
            ),
            _ => {
                let column = &columns[at];
                let literal = loop {
                    let value = Value::roll(column.kind, column.is_digits, Mood::Tame, dice);
                    if value != Value::Null {
                        break value;
                    }
                };
                let op = dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
                Self::Compares(at, op, literal)
            }
        }
    }

    pub(crate) fn sql(&self, columns: &[Column]) -> String {
        match self {
            Self::Compares(at, op, value) => format!("{} {op} {}", columns[*at].name, value.literal()),
            Self::IsNull(at) => format!("{} IS NULL", columns[*at].name),
            Self::Holds(at) => columns[*at].name.to_owned(),
            Self::IdModulo(n, rest) => format!("id % {n} = {rest}"),
            Self::Not(inner) => format!("NOT ({})", inner.sql(columns)),
            Self::And(left, right) => format!("({} AND {})", left.sql(columns), right.sql(columns)),
            Self::Or(left, right) => format!("({} OR {})", left.sql(columns), right.sql(columns)),
        }
    }

    fn holds(&self, row: &Row) -> Option<bool> {
        match self {
            Self::Compares(at, op, value) => row[*at].compare(value).map(|order| match *op {
                "=" => order == Ordering::Equal,
                "<>" => order != Ordering::Equal,
                "<" => order == Ordering::Less,
                "<=" => order != Ordering::Greater,
                ">" => order == Ordering::Greater,
                _ => order != Ordering::Less,
            }),
            Self::IsNull(at) => Some(row[*at] == Value::Null),
            Self::Holds(at) => match row[*at] {
                Value::Bool(value) => Some(value),
                _ => None,
            },
            Self::IdModulo(n, rest) => match row[0] {
                Value::Int(id) => Some(id % n == *rest),
                _ => None,
            },
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
}

/// Everything that is hidden of one table from one reader. Filters narrow each other.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    user: &'static str,
    pub(crate) filters: Vec<Test>,
    /// One for each column.
    pub(crate) masks: Vec<Option<Mask>>,
}

impl Rules {
    pub(crate) fn none(columns: &[Column]) -> Self {
        Self { user: READER, filters: Vec::new(), masks: vec![None; columns.len()] }
    }

    pub(crate) fn roll(columns: &[Column], user: &'static str, dice: &mut Dice) -> Self {
        let n_filters = *dice.pick(&[0, 1, 1, 1, 2]);
        let filters = (0..n_filters).map(|_| Test::roll(columns, 2, dice)).collect();
        let mut masks: Vec<Option<Mask>> = columns
            .iter()
            .map(|column| {
                (!dice.once_in(3)).then(|| Mask::roll(column, dice)).filter(|_| column.name != "id")
            })
            .collect();
        // Something is hidden in every governed table.
        if n_filters == 0 && masks.iter().all(Option::is_none) {
            let last = columns.len() - 1;
            masks[last] = Some(Mask::Null);
        }
        Self { user, filters, masks }
    }

    pub(crate) fn sees(&self, row: &Row) -> bool {
        self.filters.iter().all(|filter| filter.holds(row) == Some(true))
    }

    pub(crate) fn image(&self, columns: &[Column], row: &Row) -> Row {
        let one = |at: usize| match &self.masks[at] {
            Some(mask) => mask.image(&columns[at], &row[at], &row[0]),
            None => row[at].clone(),
        };
        (0..columns.len()).map(one).collect()
    }

    /// The statements that make them. Each names its reader in one of the ways there are.
    pub(crate) fn statements(&self, table: &str, columns: &[Column]) -> Vec<String> {
        let user = self.user;
        let (to, by_role) = match user {
            OTHER => (format!("USER {user}"), "ROLE clerk".to_owned()),
            _ => (format!("USER {user}"), "ROLE staff".to_owned()),
        };
        let mut statements = Vec::new();
        for (n, filter) in self.filters.iter().enumerate() {
            let to = if n == 0 { &to } else { &by_role };
            statements.push(format!(
                "CREATE POLICY rows_{table}_{user}_{n} ON TABLE g.{table} ROW FILTER TO {to} USING ({})",
                filter.sql(columns)
            ));
        }
        for (at, mask) in self.masks.iter().enumerate() {
            let Some(mask) = mask else { continue };
            let column = &columns[at];
            let policy = format!("mask_{table}_{user}_{}", column.name);
            let to = if at % 2 == 0 { &to } else { &by_role };
            statements.push(mask.statement(&policy, table, column, to));
        }
        statements
    }
}
