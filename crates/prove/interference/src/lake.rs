//! A made-up lake: tables, rows, the policies over them, and what one reader may see of it.

mod masks;
mod rows;
mod rules;
mod values;

pub(crate) use masks::Mask;
pub(crate) use rows::{Content, Row, Secrets};
pub(crate) use rules::Rules;
pub(crate) use values::{Kind, Value};

use crate::dice::Dice;

/// The reader from whom things are hidden, and whom two lakes must look the same to.
pub(crate) const READER: &str = "ana";
/// Another reader, with other rules.
pub(crate) const OTHER: &str = "bo";
/// A reader from whom nothing is hidden.
pub(crate) const FREE: &str = "eve";

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) sql_type: &'static str,
    pub(crate) kind: Kind,
    /// Whether its texts are digits, so that a cast of what is visible does not fail.
    pub(crate) is_digits: bool,
}

const fn column(name: &'static str, sql_type: &'static str, kind: Kind) -> Column {
    Column { name, sql_type, kind, is_digits: false }
}

/// Every column that a table may have beside its `id`.
const COLUMNS: [Column; 12] = [
    column("a", "INT", Kind::Int),
    column("b", "BIGINT", Kind::Int),
    column("m", "DECIMAL(10, 2)", Kind::Dec),
    column("w", "DOUBLE", Kind::Dbl),
    column("s", "VARCHAR", Kind::Str),
    Column { name: "n", sql_type: "VARCHAR", kind: Kind::Str, is_digits: true },
    column("d", "DATE", Kind::Date),
    column("z", "TIMESTAMP", Kind::Ts),
    column("f", "BOOLEAN", Kind::Bool),
    column("l", "INT[]", Kind::List),
    column("p", "STRUCT<nm VARCHAR, yr INT>", Kind::Who),
    column("x", "INT", Kind::Int),
];

const ID: Column = column("id", "INT", Kind::Int);

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The first is `id`, which no mask covers.
    pub(crate) columns: Vec<Column>,
    pub(crate) partition: Option<&'static str>,
    pub(crate) reader: Rules,
    pub(crate) other: Rules,
    pub(crate) content: Content,
}

impl Table {
    pub(crate) fn rules(&self, user: &str) -> Option<&Rules> {
        match user {
            READER => Some(&self.reader),
            OTHER => Some(&self.other),
            _ => None,
        }
    }

    pub(crate) fn is_governed(&self) -> bool {
        self.name != "free"
    }
}

/// `t` and `s` are governed, `d` is governed and written to, `free` is not governed.
#[derive(Clone, Debug)]
pub(crate) struct Lake {
    pub(crate) seed: u64,
    pub(crate) tables: Vec<Table>,
    pub(crate) settings: Settings,
}

/// How the engines over the lake run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) target_partitions: usize,
    pub(crate) batch_rows: usize,
    pub(crate) is_pushing: bool,
    pub(crate) is_reordering: bool,
}

impl Lake {
    pub(crate) fn roll(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let settings = Settings {
            target_partitions: *dice.pick(&[1, 3]),
            batch_rows: *dice.pick(&[4, 16, 8192]),
            is_pushing: dice.once_in(2),
            is_reordering: dice.once_in(2),
        };
        let tables = ["t", "s", "d", "free"].map(|name| table(name, &mut dice)).to_vec();
        Self { seed, tables, settings }
    }

    pub(crate) fn table(&self, name: &str) -> &Table {
        self.tables.iter().find(|table| table.name == name).unwrap_or(&self.tables[0])
    }
}

fn table(name: &'static str, dice: &mut Dice) -> Table {
    let mut columns = vec![ID];
    let one_in = if name == "t" { 6 } else { 2 };
    for column in &COLUMNS {
        // What cannot be written as a plain literal stays out of what is written to.
        let is_nested = matches!(column.kind, Kind::List | Kind::Who);
        let is_left_out = dice.once_in(one_in) || name == "d" && is_nested;
        if !is_left_out {
            columns.push(column.clone());
        }
    }
    if columns.len() < 3 {
        for at in [0, 4] {
            let column = &COLUMNS[at];
            if columns.iter().all(|own| own.name != column.name) {
                columns.push(column.clone());
            }
        }
    }
    let may_part = |column: &&Column| matches!(column.name, "f" | "a");
    let partition =
        if dice.once_in(3) { columns.iter().find(may_part).map(|column| column.name) } else { None };
    loop {
        let (reader, other) = match name {
            "free" => (Rules::none(&columns), Rules::none(&columns)),
            _ => (Rules::roll(&columns, READER, dice), Rules::roll(&columns, OTHER, dice)),
        };
        if let Some(content) = Content::roll(&columns, &reader, name == "t", dice) {
            return Table { name, columns, partition, reader, other, content };
        }
    }
}
