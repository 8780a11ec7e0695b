//! The condition on the caller's address (RangerIpMatcher).

use std::fmt::Write;

use super::ClientAddr;

/// Exact addresses, and beginnings of addresses.
#[derive(Clone, Debug)]
pub(super) struct AddressList {
    exact: Vec<String>,
    prefixes: Vec<String>,
}

impl AddressList {
    /// `None`: every address is meant.
    pub(super) fn new(values: &[String]) -> Option<Self> {
        let mut list = Self { exact: Vec::new(), prefixes: Vec::new() };
        for value in values {
            match digested(value) {
                digested if digested.is_empty() => return None,
                digested if digested == *value => list.exact.push(digested),
                digested => list.prefixes.push(digested),
            }
        }
        (!values.is_empty()).then_some(list)
    }

    pub(super) fn has(&self, addr: ClientAddr<'_>) -> bool {
        let mut written = AddressText { bytes: [0; ADDRESS_BYTES_MAX], len: 0 };
        let text = match addr {
            ClientAddr::Missing => return false,
            ClientAddr::Text(text) => text,
            ClientAddr::Ip(addr) => match write!(written, "{addr}") {
                Ok(()) => written.as_str(),
                Err(std::fmt::Error) => return false,
            },
        };
        self.prefixes.iter().any(|prefix| starts_folded(text, prefix))
            || self.exact.iter().any(|exact| match text.contains('.') {
                true => exact == text,
                false => exact.len() == text.len() && starts_folded(text, exact),
            })
    }
}

fn starts_folded(text: &str, start: &str) -> bool {
    let Some(found) = text.get(..start.len()) else { return false };
    found == start || found.bytes().map(|b| b.to_ascii_lowercase()).eq(start.bytes())
}

/// `10.1.*` and `10.1.*.*` are the beginning `10.1.`; `*`, `*.*` and their like are nothing. A `*` inside is a plain
/// character, and such a value matches no address.
fn digested(value: &str) -> String {
    let separator = if value.contains('.') { '.' } else { ':' };
    if value.split(separator).all(|part| part == "*") {
        return String::new();
    }
    let mut rest = value;
    while let Some(shorter) = rest.strip_suffix('*').and_then(|text| text.strip_suffix(separator)) {
        rest = shorter;
    }
    let mut text = rest.to_owned();
    if rest.len() < value.len() {
        text.push(separator);
    }
    if separator == ':' { text.to_lowercase() } else { text }
}

/// An address as text, without memory of its own.
struct AddressText {
    bytes: [u8; ADDRESS_BYTES_MAX],
    len: usize,
}

/// The longest address is an IPv6 one with an IPv4 address in it.
const ADDRESS_BYTES_MAX: usize = 46;

impl AddressText {
    fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Write for AddressText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let free = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
