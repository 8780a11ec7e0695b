//! Where an address is: a table of ranges of addresses, with attributes of each.

use std::net::IpAddr;

/// The table of a geolocation enricher (RangerFileBasedGeolocationProvider).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationTable {
    /// `LOCATION_`, the enricher's own prefix, and each column's name, as attributes are named.
    names: Vec<String>,
    /// Sorted by the first address. INVARIANT: they do not overlap.
    ranges: Vec<LocationRange>,
}

/// A range of addresses, both ends included, with a value for each of the table's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationRange {
    pub from: u128,
    pub to: u128,
    pub values: Vec<String>,
}

/// What begins the name of every attribute that a table gives.
const NAME_PREFIX: &str = "LOCATION_";

impl LocationTable {
    /// Of ranges that overlap the one that begins first stays, and of two that begin together the first given.
    pub fn new(prefix: &str, columns: &[String], mut ranges: Vec<LocationRange>) -> Self {
        ranges.sort_by_key(|range| range.from);
        let mut kept: Vec<LocationRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            if range.from <= range.to && kept.last().is_none_or(|last| last.to < range.from) {
                kept.push(range);
            }
        }
        let names = columns.iter().map(|column| format!("{NAME_PREFIX}{prefix}{column}")).collect();
        Self { names, ranges: kept }
    }

    pub fn locate(&self, addr: IpAddr) -> Option<Location<'_>> {
        let number = address_number(addr);
        let behind = self.ranges.partition_point(|range| range.from <= number);
        let range = self.ranges.get(behind.checked_sub(1)?)?;
        (number <= range.to).then_some(Location { names: &self.names, values: &range.values })
    }
}

/// The number by which addresses are compared; that of an IPv4 address is what it is written as without dots.
pub fn address_number(addr: IpAddr) -> u128 {
    match addr.to_canonical() {
        IpAddr::V4(addr) => u128::from(addr.to_bits()),
        IpAddr::V6(addr) => addr.to_bits(),
    }
}

/// The attributes of one address.
#[derive(Clone, Copy, Debug)]
pub struct Location<'t> {
    names: &'t [String],
    values: &'t [String],
}

impl<'t> Location<'t> {
    /// Every name with its value.
    pub fn all(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.names.iter().map(String::as_str).zip(self.values.iter().map(String::as_str))
    }

    pub fn value(&self, name: &str) -> Option<&'t str> {
        let at = self.names.iter().position(|known| known == name)?;
        self.values.get(at).map(String::as_str)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&'t str, &'t str)> + use<'t> {
        self.names.iter().map(String::as_str).zip(self.values.iter().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u128, to: u128, country: &str) -> LocationRange {
        LocationRange { from, to, values: vec![country.to_owned()] }
    }

    #[test]
    fn an_address_has_the_attributes_of_the_range_that_holds_it() {
        let ranges = vec![range(16_777_472, 16_778_239, "CN"), range(16_777_216, 16_777_471, "AU")];
        let table = LocationTable::new("TEST_", &["COUNTRY_CODE".to_owned()], ranges);
        let country = |addr: &str| {
            table.locate(addr.parse().unwrap()).and_then(|l| l.value("LOCATION_TEST_COUNTRY_CODE"))
        };
        assert_eq!(country("1.0.0.0"), Some("AU"));
        assert_eq!(country("1.0.0.255"), Some("AU"));
        assert_eq!(country("::ffff:1.0.1.0"), Some("CN"));
        assert_eq!(country("1.0.4.0"), None);
        assert_eq!(country("0.255.255.255"), None);
        let found = table.locate("1.0.0.1".parse().unwrap()).unwrap();
        assert_eq!(found.value("LOCATION_COUNTRY_CODE"), None);
    }
}
