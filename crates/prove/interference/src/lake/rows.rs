//! Rows of two lakes that differ only in what is hidden from the reader.

use super::values::Mood;
use super::{Column, Rules, Value};
use crate::dice::Dice;

pub(crate) type Row = Vec<Value>;

/// Which of the two lakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    One,
    Other,
}

/// A table's rows in the order of its commits, for each of the two lakes.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    one: Vec<Vec<Row>>,
    other: Vec<Vec<Row>>,
}

/// How many commits a table is made of.
pub(crate) const COMMITS: usize = 3;

impl Content {
    pub(crate) fn of(&self, secrets: Secrets) -> &[Vec<Row>] {
        match secrets {
            Secrets::One => &self.one,
            Secrets::Other => &self.other,
        }
    }

    /// `None` where the rules hide too much or too little for rows to be found.
    pub(crate) fn roll(columns: &[Column], rules: &Rules, is_large: bool, dice: &mut Dice) -> Option<Self> {
        let n = if is_large { 8 } else { 4 };
        let mut content = Self { one: Vec::new(), other: Vec::new() };
        let hides_rows = !rules.filters.is_empty();
        for _ in 0..COMMITS {
            let visible = draw(columns, n, Mood::Tame, dice, &|row| rules.sees(row))?;
            let (mut one, mut other) = (visible.clone(), visible);
            if hides_rows {
                // Nothing hidden at all is the strongest contrast.
                let n_other = *dice.pick(&[0, 0, 2, 5]);
                one.extend(draw(columns, 2 * n, Mood::Hostile, dice, &|row| !rules.sees(row))?);
                other.extend(draw(columns, n_other, Mood::Hostile, dice, &|row| !rules.sees(row))?);
            }
            for row in &mut other {
                disguise(columns, rules, row, dice);
            }
            content.one.push(one);
            content.other.push(other);
        }
        Some(content)
    }
}

fn draw(
    columns: &[Column],
    n: usize,
    mood: Mood,
    dice: &mut Dice,
    is_wanted: &dyn Fn(&Row) -> bool,
) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    for _ in 0..400 {
        if rows.len() == n {
            return Some(rows);
        }
        let row = columns
            .iter()
            .map(|column| match column.name {
                "id" => Value::Int(dice.between(1, 24)),
                _ => Value::roll(column.kind, column.is_digits, mood, dice),
            })
            .collect();
        if is_wanted(&row) {
            rows.push(row);
        }
    }
    None
}

/// Puts other values behind the masks of a row, as far as nothing of it is seen.
fn disguise(columns: &[Column], rules: &Rules, row: &mut Row, dice: &mut Dice) {
    let (is_seen, image) = (rules.sees(row), rules.image(columns, row));
    for at in 1..columns.len() {
        if rules.masks[at].is_none() {
            continue;
        }
        for _ in 0..12 {
            let column = &columns[at];
            let mut changed = row.clone();
            changed[at] =
                near(&row[at], Value::roll(column.kind, column.is_digits, Mood::Hostile, dice), dice);
            if rules.sees(&changed) == is_seen && rules.image(columns, &changed) == image && changed != *row {
                *row = changed;
                break;
            }
        }
    }
}

/// A value of the same looks, or else one of another.
fn near(value: &Value, fresh: Value, dice: &mut Dice) -> Value {
    match value {
        Value::Str(text) if dice.once_in(2) => {
            let at = dice.roll(text.chars().count());
            let turned = |(i, c): (usize, char)| match c {
                _ if i != at => c,
                'a'..='y' | 'A'..='Y' | '0'..='8' => char::from(c as u8 + 1),
                'z' => 'a',
                'Z' => 'A',
                '9' => '0',
                other => other,
            };
            Value::Str(text.chars().enumerate().map(turned).collect())
        }
        Value::Int(n) if dice.once_in(2) && n.abs() < 1000 => Value::Int(n / 10 * 10 + dice.between(0, 9)),
        Value::Date(days) if dice.once_in(2) => Value::Date(days + dice.between(-40, 40) as i32),
        Value::Ts(seconds) if dice.once_in(2) => Value::Ts(seconds + dice.between(-4_000_000, 4_000_000)),
        _ => fresh,
    }
}
