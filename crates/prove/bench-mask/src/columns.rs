//! Columns of made-up values, the same in every run.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Date32Array, DictionaryArray, Int32Array, Int64Array, StringViewArray};
use arrow_cast::cast;
use arrow_schema::DataType;

/// Rows of one batch, as the engine passes them on.
pub(crate) const BATCH: usize = 8_192;
/// One row in so many has a value of its own in a dictionary column.
const ROWS_PER_DISTINCT: usize = 100;
/// As in `4012-8888 Ann xZ`, so that every class of characters comes in turn.
const TEXT_CHARS: usize = 16;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789- ";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// 16 ASCII characters, as the engine reads texts.
    Views,
    /// The same texts with offsets.
    Offsets,
    /// The same texts, but every second ends in a letter beyond ASCII.
    Foreign,
    /// The same texts, of which each stands a hundred times, as a dictionary.
    Dictionary,
    /// The rows of that dictionary, each with its own text.
    Repeated,
    Emails,
    Cards,
    Numbers,
    Dates,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Views => "texts",
            Self::Offsets => "texts with offsets",
            Self::Foreign => "texts beyond ASCII",
            Self::Dictionary => "dictionary, 1 % distinct",
            Self::Repeated => "the same without dictionary",
            Self::Emails => "addresses",
            Self::Cards => "card numbers",
            Self::Numbers => "64-bit integers",
            Self::Dates => "dates",
        }
    }

    /// As many rows as asked for, in batches.
    pub(crate) fn batches(self, n_rows: usize) -> Result<Vec<ArrayRef>> {
        let mut rng = Rng(20_261_130);
        let mut batches = Vec::new();
        let mut left = n_rows;
        while left > 0 {
            let n = left.min(BATCH);
            batches.push(self.batch(n, &mut rng)?);
            left -= n;
        }
        Ok(batches)
    }

    fn batch(self, n: usize, rng: &mut Rng) -> Result<ArrayRef> {
        let views = |rng: &mut Rng, make: fn(&mut Rng, usize) -> String| -> ArrayRef {
            Arc::new(StringViewArray::from_iter_values((0..n).map(|row| make(rng, row))))
        };
        Ok(match self {
            Self::Views => views(rng, |rng, _| text(rng)),
            Self::Offsets => cast(&views(rng, |rng, _| text(rng)), &DataType::Utf8)?,
            Self::Foreign => views(rng, |rng, row| {
                let mut text = text(rng);
                if row % 2 == 0 {
                    text.pop();
                    text.push('é');
                }
                text
            }),
            Self::Dictionary => dictionary(n, rng)?,
            Self::Repeated => cast(&dictionary(n, rng)?, &DataType::Utf8View)?,
            Self::Emails => views(rng, |rng, _| format!("{:x}@example.org", rng.next() >> 20)),
            Self::Cards => views(rng, |rng, _| {
                let n = rng.next() % 1_000_000_000_000;
                format!("4012-{:04}-{:04}-{:04}", n / 100_000_000, n / 10_000 % 10_000, n % 10_000)
            }),
            Self::Numbers => {
                Arc::new(Int64Array::from_iter_values((0..n).map(|_| (rng.next() >> 24).cast_signed())))
            }
            Self::Dates => Arc::new(Date32Array::from_iter_values(
                (0..n).map(|_| i32::try_from(rng.next() % 40_000).unwrap_or_default() - 20_000),
            )),
        })
    }
}

fn dictionary(n: usize, rng: &mut Rng) -> Result<ArrayRef> {
    let n_distinct = n.div_ceil(ROWS_PER_DISTINCT);
    let values: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..n_distinct).map(|_| text(rng))));
    let keys = Int32Array::from_iter_values(
        (0..n).map(|_| i32::try_from(rng.next() % n_distinct as u64).unwrap_or_default()),
    );
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values)?))
}

fn text(rng: &mut Rng) -> String {
    let (high, low) = (rng.next(), rng.next());
    let bits = u128::from(high) << 64 | u128::from(low);
    (0..TEXT_CHARS)
        .map(|at| ALPHABET.get((bits >> (6 * at)) as usize % ALPHABET.len()).map_or('x', |b| char::from(*b)))
        .collect()
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
