//! Reads the tables of the geolocation enricher that Ranger's tests use.

use std::net::IpAddr;

use anyhow::{Context as _, Result};
use policy::geolocation::{LocationRange, LocationTable, address_number};

/// `#` opens a comment; the first other line names the columns, of which the first two are the ends of a range.
pub(crate) fn read(text: &str, prefix: &str) -> Result<LocationTable> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let heading = lines.next().context("the table has no heading")?;
    let columns: Vec<String> = heading.split(',').skip(2).map(|name| name.trim().to_owned()).collect();
    let ranges = lines.filter_map(|line| {
        let mut fields = line.split(',').map(|field| field.trim().trim_matches('"').to_owned());
        let from = number(&fields.next()?)?;
        let to = number(&fields.next()?)?;
        Some(LocationRange { from, to, values: fields.collect() })
    });
    Ok(LocationTable::new(prefix, &columns, ranges.collect()))
}

/// An address, with or without dots.
fn number(text: &str) -> Option<u128> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(address_number))
}
