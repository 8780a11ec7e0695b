//! Turns Arrow values into PostgreSQL's text and binary forms, a row at a time.
//!
//! `arrow-pg` is not used for this: its numerics stop at 28 digits, it takes some array kinds for others, and it writes
//! structs as records, which no client library reads.

mod binary;
mod calendar;
mod json;
mod numeric;
mod text;
mod types;
mod values;

pub(crate) use binary::{EPOCH_DAYS, EPOCH_MICROS};
pub(crate) use calendar::{Zone, parse_date, parse_time, parse_timestamp};
pub(crate) use numeric::{Numeric, parse_numeric, read_numeric};
pub(crate) use text::{hex_of, write_uuid};
pub(crate) use types::{Column, arrow_of, columns_of, pg_type_of_parameter};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use bytes::{BufMut, BytesMut};
use pgwire::messages::data::{FORMAT_CODE_BINARY, FORMAT_CODE_TEXT};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::limits::ROW_BYTES_MAX;

use values::{Scalar, Values};

/// The form a column is sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Binary,
}

impl Format {
    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Text => FORMAT_CODE_TEXT,
            Self::Binary => FORMAT_CODE_BINARY,
        }
    }

    fn of_code(code: i16) -> Result<Self, Refusal> {
        match code {
            FORMAT_CODE_TEXT => Ok(Self::Text),
            FORMAT_CODE_BINARY => Ok(Self::Binary),
            other => Err(Refusal::protocol(format!("unsupported format code: {other}"))),
        }
    }

    /// One code for each of `n_items`: none given means text, a single one holds for all.
    pub(crate) fn spread(codes: &[i16], n_items: usize) -> Result<Vec<Self>, Refusal> {
        match codes {
            [] => Ok(vec![Self::Text; n_items]),
            [code] => Ok(vec![Self::of_code(*code)?; n_items]),
            codes if codes.len() == n_items => codes.iter().map(|code| Self::of_code(*code)).collect(),
            codes => {
                Err(Refusal::protocol(format!("{} format codes were given for {n_items} items", codes.len())))
            }
        }
    }
}

/// A batch, opened so that its rows can be written one by one.
pub(crate) struct BatchWriter<'a> {
    columns: Vec<(Values<'a>, &'a Column, Format)>,
    zone: &'a Zone,
}

impl<'a> BatchWriter<'a> {
    /// `schema` is the result's, by which the client was told the columns; a batch's own may lack marks.
    pub(crate) fn new(
        batch: &'a RecordBatch,
        schema: &'a Schema,
        columns: &'a [Column],
        formats: &[Format],
        zone: &'a Zone,
    ) -> Result<Self, Refusal> {
        if batch.num_columns() != columns.len()
            || columns.len() != formats.len()
            || columns.len() != schema.fields().len()
        {
            return Err(Refusal::internal());
        }
        let columns = batch
            .columns()
            .iter()
            .zip(schema.fields())
            .zip(columns.iter().zip(formats))
            .map(|((array, field), (column, format))| Ok((Values::new(array, field)?, column, *format)))
            .collect::<Result<_, Refusal>>()?;
        Ok(Self { columns, zone })
    }

    /// Appends a `DataRow` message; on failure nothing is appended.
    pub(crate) fn write_row(&self, row: usize, out: &mut BytesMut) -> Result<(), Refusal> {
        let start = out.len();
        let written = self.try_write_row(row, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn try_write_row(&self, row: usize, out: &mut BytesMut) -> Result<(), Refusal> {
        out.put_u8(b'D');
        let frame = Sized::begin(out);
        let n_columns = u16::try_from(self.columns.len()).map_err(|_| too_large())?;
        out.put_u16(n_columns);
        for (values, column, format) in &self.columns {
            match values.scalar(row)? {
                Scalar::Null => out.put_i32(-1),
                scalar => {
                    let field = Sized::begin(out);
                    match format {
                        Format::Text => text::write(&scalar, &column.pg_type, self.zone, out)?,
                        Format::Binary => binary::write(&scalar, &column.pg_type, self.zone, out)?,
                    }
                    field.end(out, 0)?;
                }
            }
        }
        frame.end(out, 4)
    }
}

/// A length that is known only once what it measures is written.
struct Sized {
    at: usize,
}

impl Sized {
    fn begin(out: &mut BytesMut) -> Self {
        let at = out.len();
        out.put_i32(0);
        Self { at }
    }

    /// Fills in the length of what was written since, plus `extra`.
    fn end(self, out: &mut BytesMut, extra: usize) -> Result<(), Refusal> {
        let body = self.at + 4;
        let length = out.len().checked_sub(body).ok_or_else(Refusal::internal)?;
        if length > ROW_BYTES_MAX {
            return Err(too_large());
        }
        let length = i32::try_from(length + extra).map_err(|_| too_large())?;
        out.get_mut(self.at..body).ok_or_else(Refusal::internal)?.copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

fn too_large() -> Refusal {
    Refusal::of(ErrorKind::Limit, format!("a row is over the limit of {ROW_BYTES_MAX} bytes"))
}

#[cfg(test)]
mod tests;
