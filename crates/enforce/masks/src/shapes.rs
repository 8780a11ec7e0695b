//! Masks of texts that have a form of their own: addresses and card numbers.

use crate::text::stays;

/// Stands for what is before the `@`, of whatever length.
const HIDDEN: &str = "****";
/// How many digits numbers of payment cards have.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
const CARD_SHOWN: usize = 4;

/// Only the domain stays; a text that is no address is hidden whole.
pub(crate) fn email(text: &str, out: &mut String) {
    out.push_str(HIDDEN);
    if let Some((name, domain)) = text.rsplit_once('@')
        && !name.is_empty()
        && is_domain(domain)
    {
        out.push('@');
        out.push_str(domain);
    }
}

fn is_domain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '-')
}

/// The last four digits of a card number stay; a text with fewer digits, or more, shows none.
pub(crate) fn card(text: &str, out: &mut String) {
    let n_digits = text.chars().filter(char::is_ascii_digit).count();
    let n_hidden = if CARD_DIGITS.contains(&n_digits) { n_digits - CARD_SHOWN } else { n_digits };
    let mut nth = 0;
    for c in text.chars() {
        let is_digit = c.is_ascii_digit();
        let is_shown = if is_digit { nth >= n_hidden } else { stays(c) };
        nth += usize::from(is_digit);
        out.push(if is_shown { c } else { 'X' });
    }
}
