//! What a statement came to, as texts that a test can compare.

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// A statement's rows, or how many rows it wrote, with what the client was told besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub columns: Vec<String>,
    /// One text for each row, values apart by `|`, in the order in which they came.
    pub rows: Vec<String>,
    pub n_written: Option<u64>,
    pub notices: Vec<String>,
}

impl Answer {
    /// The rows in an order of their own, for questions that have none.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.rows.sort();
        self
    }
}

/// The rows of a batch, a NULL as `NULL`.
pub(crate) fn rows_of(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let columns: Vec<_> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join("|"))
        .collect()
}
