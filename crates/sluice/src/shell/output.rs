//! Shows results: as a table, one value a line, CSV or JSON.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use comfy_table::{Cell, CellAlignment, Row, Table};

/// How results look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Table,
    Vertical,
    Csv,
    /// One array per result, one object per row.
    Json,
}

/// What a column's values are, as far as showing them goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Number,
    Flag,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ValueKind,
}

/// Values as text; `None` is NULL.
pub(crate) type Values = Vec<Option<String>>;

/// Takes a result row by row. CSV and JSON are written as rows come; tables when the last one is there.
pub(crate) struct Writer<'a> {
    out: &'a mut dyn Write,
    format: Format,
    quiet: bool,
    columns: Vec<Column>,
    held: Vec<Values>,
    n_rows: u64,
    /// Rows so far, for whoever shows progress meanwhile.
    progress: Arc<AtomicU64>,
}

/// Header rule `-+-` and `|` between columns, no frame.
const PLAIN_TABLE: &str = "     -+ |          ";

impl<'a> Writer<'a> {
    /// `quiet` leaves out row counts.
    pub(crate) fn new(out: &'a mut dyn Write, format: Format, quiet: bool) -> Self {
        Self {
            out,
            format,
            quiet,
            columns: Vec::new(),
            held: Vec::new(),
            n_rows: 0,
            progress: Arc::default(),
        }
    }

    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Begins a result.
    pub(crate) fn columns(&mut self, columns: Vec<Column>) -> io::Result<()> {
        self.n_rows = 0;
        self.held.clear();
        self.columns = columns;
        match self.format {
            Format::Csv => {
                let names: Vec<String> = self.columns.iter().map(|column| csv_field(&column.name)).collect();
                writeln!(self.out, "{}", names.join(","))
            }
            Format::Json => write!(self.out, "["),
            Format::Table | Format::Vertical => Ok(()),
        }
    }

    pub(crate) fn row(&mut self, values: Values) -> io::Result<()> {
        self.n_rows += 1;
        self.progress.store(self.n_rows, Ordering::Relaxed);
        match self.format {
            Format::Csv => {
                let fields: Vec<String> =
                    values.iter().map(|value| value.as_deref().map_or_else(String::new, csv_field)).collect();
                writeln!(self.out, "{}", fields.join(","))
            }
            Format::Json => {
                let before = if self.n_rows == 1 { "" } else { ",\n " };
                write!(self.out, "{before}{}", json_object(&self.columns, &values))
            }
            Format::Vertical => vertical(self.out, &self.columns, &values, self.n_rows),
            Format::Table => {
                self.held.push(values);
                Ok(())
            }
        }
    }

    /// Ends the result.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.format {
            Format::Csv => {}
            Format::Json => writeln!(self.out, "]")?,
            Format::Table => {
                write_table(self.out, &self.columns, &self.held)?;
                self.count()?;
            }
            Format::Vertical => self.count()?,
        }
        self.held.clear();
        self.out.flush()
    }

    /// Says that a statement without rows is done.
    pub(crate) fn done(&mut self, tag: &str) -> io::Result<()> {
        if self.quiet || matches!(self.format, Format::Csv | Format::Json) {
            return Ok(());
        }
        writeln!(self.out, "{tag}")?;
        self.out.flush()
    }

    fn count(&mut self) -> io::Result<()> {
        match (self.quiet, self.n_rows) {
            (true, _) => Ok(()),
            (false, 1) => writeln!(self.out, "(1 row)\n"),
            (false, n) => writeln!(self.out, "({n} rows)\n"),
        }
    }
}

/// Shows a NULL so that it differs from every text: the text `NULL` itself gets quotes.
pub(crate) fn shown(value: Option<&str>) -> String {
    match value {
        None => "NULL".to_owned(),
        Some("NULL") => "\"NULL\"".to_owned(),
        Some(text) => text.chars().map(visible).collect(),
    }
}

/// Control characters could move the cursor or change colours; a value must not.
fn visible(c: char) -> char {
    match c {
        '\n' => '\n',
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

pub(crate) fn write_table(out: &mut dyn Write, columns: &[Column], rows: &[Values]) -> io::Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_preset(PLAIN_TABLE).force_no_tty();
    table.set_header(Row::from(
        columns.iter().map(|column| Cell::new(shown(Some(&column.name)))).collect::<Vec<_>>(),
    ));
    for values in rows {
        let cells = columns.iter().zip(values).map(|(column, value)| {
            let cell = Cell::new(shown(value.as_deref()));
            match column.kind {
                ValueKind::Number => cell.set_alignment(CellAlignment::Right),
                ValueKind::Flag | ValueKind::Other => cell,
            }
        });
        table.add_row(Row::from(cells.collect::<Vec<_>>()));
    }
    writeln!(out, "{}", table.trim_fmt())
}

fn vertical(out: &mut dyn Write, columns: &[Column], values: &Values, n_row: u64) -> io::Result<()> {
    writeln!(out, "-[ row {n_row} ]-")?;
    let width = columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for (column, value) in columns.iter().zip(values) {
        let padding = " ".repeat(width - column.name.chars().count().min(width));
        let text = shown(value.as_deref()).replace('\n', &format!("\n{} | ", " ".repeat(width)));
        writeln!(out, "{}{padding} | {text}", shown(Some(&column.name)))?;
    }
    Ok(())
}

/// As COPY writes it: NULL is nothing, an empty text is `""`.
fn csv_field(text: &str) -> String {
    let needs_quotes = text.is_empty() || text.contains([',', '"', '\n', '\r']) || text.trim() != text;
    if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn json_object(columns: &[Column], values: &Values) -> String {
    let fields: Vec<String> = columns
        .iter()
        .zip(values)
        .map(|(column, value)| {
            format!("{}:{}", json_text(&column.name), json_value(column.kind, value.as_deref()))
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn json_value(kind: ValueKind, value: Option<&str>) -> String {
    match (kind, value) {
        (_, None) => "null".to_owned(),
        // A number keeps all its digits; NaN and infinities are no JSON numbers.
        (ValueKind::Number, Some(text)) if serde_json::from_str::<serde_json::Number>(text).is_ok() => {
            text.to_owned()
        }
        (ValueKind::Flag, Some("t" | "true")) => "true".to_owned(),
        (ValueKind::Flag, Some("f" | "false")) => "false".to_owned(),
        (_, Some(text)) => json_text(text),
    }
}

fn json_text(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
