//! Names of databases, tables and columns by number.

use crate::rng::mixed;
use crate::shape::Shape;

pub(crate) fn database(number: u32) -> String {
    format!("db{number:06}")
}

/// A table's name has an ending by which policies of all databases find it.
pub(crate) fn table(shape: &Shape, database: u32, number: u32) -> String {
    format!("t{number:02}_s{:05}", ending(shape, database, number))
}

pub(crate) fn ending(shape: &Shape, database: u32, table: u32) -> u32 {
    let all = u64::from(database) * 1_000 + u64::from(table);
    u32::try_from(mixed(all) % u64::from(shape.n_endings())).unwrap_or_default()
}

pub(crate) fn column(number: u32) -> String {
    format!("c{number:02}")
}

pub(crate) fn user(number: u32) -> String {
    format!("user{number:05}")
}

pub(crate) fn group(number: u32) -> String {
    format!("group{number:03}")
}

pub(crate) fn role(number: u32) -> String {
    format!("role{number:03}")
}

pub(crate) fn zone(number: u32) -> String {
    format!("zone{number}")
}

pub(crate) fn tag(number: u32) -> String {
    format!("TAG{number:03}")
}
