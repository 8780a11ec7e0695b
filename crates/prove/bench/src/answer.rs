//! A query's answer in a form in which answers of different engines can be held against each other.

use anyhow::{Context, Result};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use sha2::{Digest, Sha256};

/// How far two floats may lie apart, as a part of the greater.
const TOLERANCE: f64 = 1e-6;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    /// A text, whole number or date, in its usual form.
    Text(String),
    /// With all the digits that its engine gave it.
    Decimal(String),
    Float(f64),
}

/// Rows without an order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    rows: Vec<Vec<Cell>>,
}

impl Answer {
    pub(crate) fn new(rows: Vec<Vec<Cell>>) -> Self {
        Self { rows }
    }

    pub(crate) fn of_batches(batches: &[RecordBatch]) -> Result<Self> {
        let options = FormatOptions::default();
        let mut rows = Vec::new();
        for batch in batches {
            let columns = batch
                .columns()
                .iter()
                .map(|column| Ok((column, ArrayFormatter::try_new(column.as_ref(), &options)?)))
                .collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                let cells = columns.iter().map(|(column, formatter)| {
                    if column.is_null(row) {
                        return Ok(Cell::Null);
                    }
                    Cell::read(column.data_type(), formatter.value(row).try_to_string()?)
                });
                rows.push(cells.collect::<Result<Vec<_>>>()?);
            }
        }
        Ok(Self { rows })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Equal for equal answers, whatever the order of their rows.
    pub(crate) fn hash(&self) -> String {
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(row)).collect();
        lines.sort_unstable();
        let mut hasher = Sha256::new();
        for line in lines {
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        }
        let mut hash = hex::encode(hasher.finalize());
        hash.truncate(16);
        hash
    }

    /// Whether another engine gave the same rows, as far as the types of the two allow to tell.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        if self.hash() == other.hash() {
            return true;
        }
        // Two floats that hardly differ may still be rounded apart, and one engine's decimal is another's float.
        if self.rows.len() != other.rows.len() {
            return false;
        }
        let (ours, theirs) = (self.sorted_beside(other), other.sorted_beside(self));
        ours.iter().zip(theirs).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_near(b)))
    }

    /// The rows ordered first by the columns that neither side has as floats, then by the others as numbers.
    fn sorted_beside(&self, other: &Self) -> Vec<&[Cell]> {
        let is_float = |column: usize| {
            [self, other]
                .iter()
                .flat_map(|answer| &answer.rows)
                .any(|row| matches!(row.get(column), Some(Cell::Float(_))))
        };
        let n_columns = self.rows.first().map_or(0, Vec::len);
        let floats: Vec<bool> = (0..n_columns).map(is_float).collect();
        let key = |row: &&[Cell]| -> (String, Vec<f64>) {
            let exact = row.iter().zip(&floats).filter(|(_, is_float)| !**is_float);
            let numbers = row.iter().zip(&floats).filter(|(_, is_float)| **is_float);
            let exact: Vec<String> = exact.map(|(cell, _)| cell.text()).collect();
            (exact.join("\u{1f}"), numbers.map(|(cell, _)| cell.number().unwrap_or(f64::MIN)).collect())
        };
        let mut keyed: Vec<_> = self.rows.iter().map(|row| (key(&row.as_slice()), row.as_slice())).collect();
        keyed.sort_by(|(a, _), (b, _)| {
            let numbers = || a.1.iter().zip(&b.1).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
            a.0.cmp(&b.0).then_with(|| numbers().unwrap_or(std::cmp::Ordering::Equal))
        });
        keyed.into_iter().map(|(_, row)| row).collect()
    }
}

fn line(row: &[Cell]) -> String {
    row.iter().map(Cell::text).collect::<Vec<_>>().join("\u{1f}")
}

impl Cell {
    fn read(data_type: &DataType, text: String) -> Result<Self> {
        Ok(match data_type {
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Self::Decimal(text),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                Self::Float(text.parse().with_context(|| format!("`{text}` is no float"))?)
            }
            _ => Self::Text(text),
        })
    }

    /// Of equal values one text: floats to six digits, decimals without zeros at the end.
    fn text(&self) -> String {
        match self {
            Self::Null => "\u{0}".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Decimal(text) => match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text.clone(),
            },
            Self::Float(value) => format!("{value:.5e}"),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Null => None,
            Self::Text(text) | Self::Decimal(text) => text.parse().ok(),
            Self::Float(value) => Some(*value),
        }
    }

    /// One step of a decimal's last digit, for its engine has cut off what stood behind it.
    fn step(&self) -> f64 {
        match self {
            Self::Decimal(text) => {
                let n_digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
                i32::try_from(n_digits).map_or(0.0, |n| 10_f64.powi(-n))
            }
            _ => 0.0,
        }
    }

    fn is_near(&self, other: &Self) -> bool {
        if self.text() == other.text() {
            return true;
        }
        let has_float = matches!(self, Self::Float(_)) || matches!(other, Self::Float(_));
        match (self.number(), other.number()) {
            (Some(a), Some(b)) if has_float => {
                (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()) + self.step().max(other.step())
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    fn decimal(text: &str) -> Cell {
        Cell::Decimal(text.to_owned())
    }

    fn check(a: &[&[Cell]], b: &[&[Cell]], agree: bool) {
        let answer = |rows: &[&[Cell]]| Answer::new(rows.iter().map(|row| row.to_vec()).collect());
        assert_eq!(answer(a).agrees_with(&answer(b)), agree, "{a:?} {b:?}");
        assert_eq!(answer(b).agrees_with(&answer(a)), agree, "{b:?} {a:?}");
    }

    #[test]
    fn the_order_of_rows_does_not_count_and_their_number_does() {
        check(&[&[text("a")], &[text("b")]], &[&[text("b")], &[text("a")]], true);
        check(&[&[text("a")]], &[&[text("a")], &[text("a")]], false);
    }

    #[test]
    fn decimals_are_equal_by_value_and_to_the_last_digit() {
        check(&[&[decimal("1.50")]], &[&[decimal("1.5000")]], true);
        check(&[&[decimal("1.50")]], &[&[decimal("1.5001")]], false);
        check(&[&[decimal("1.00")]], &[&[text("1")]], true);
    }

    #[test]
    fn floats_are_equal_to_a_millionth() {
        check(&[&[Cell::Float(123_456.50)]], &[&[Cell::Float(123_456.51)]], true);
        check(&[&[Cell::Float(123_456.5)]], &[&[Cell::Float(123_457.5)]], false);
        check(&[&[Cell::Float(0.999_999_499)]], &[&[Cell::Float(0.999_999_501)]], true);
    }

    #[test]
    fn a_decimal_that_was_cut_off_equals_the_float_it_stands_for() {
        check(&[&[decimal("0.050094")]], &[&[Cell::Float(0.050_094_7)]], true);
        check(&[&[decimal("0.050094")]], &[&[Cell::Float(0.050_096)]], false);
    }

    #[test]
    fn floats_do_not_change_which_rows_are_compared() {
        check(
            &[&[text("a"), Cell::Float(2.0)], &[text("b"), Cell::Float(1.0)]],
            &[&[text("b"), Cell::Float(1.000_000_1)], &[text("a"), Cell::Float(2.0)]],
            true,
        );
    }

    #[test]
    fn null_is_no_empty_text() {
        check(&[&[Cell::Null]], &[&[text("")]], false);
        check(&[&[Cell::Null]], &[&[Cell::Float(0.0)]], false);
    }
}
