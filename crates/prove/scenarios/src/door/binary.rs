//! PostgreSQL's binary values in the texts that it has for them, read here by the protocol's own rules.

use tokio_postgres::types::{FromSql, Type};

/// The bytes of a value, whatever its type.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> FromSql<'a> for Bytes<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

const MICROS_PER_DAY: i64 = 86_400_000_000;
/// Days from 0000-03-01 to 2000-01-01.
const DAYS_TO_2000: i64 = 730_425;

pub(super) fn text(kind: &Type, bytes: &[u8]) -> Result<String, String> {
    let text = match *kind {
        Type::BOOL => (bytes == [1]).to_string(),
        Type::INT2 => i16::from_be_bytes(fixed(bytes)?).to_string(),
        Type::INT4 => i32::from_be_bytes(fixed(bytes)?).to_string(),
        Type::OID => u32::from_be_bytes(fixed(bytes)?).to_string(),
        Type::INT8 => i64::from_be_bytes(fixed(bytes)?).to_string(),
        Type::FLOAT4 => f32::from_be_bytes(fixed(bytes)?).to_string(),
        Type::FLOAT8 => f64::from_be_bytes(fixed(bytes)?).to_string(),
        Type::NUMERIC => numeric(bytes)?,
        Type::DATE => date(i64::from(i32::from_be_bytes(fixed(bytes)?))),
        Type::TIMESTAMP => timestamp(i64::from_be_bytes(fixed(bytes)?)),
        Type::TIMESTAMPTZ => format!("{}+00", timestamp(i64::from_be_bytes(fixed(bytes)?))),
        Type::TIME => time(i64::from_be_bytes(fixed(bytes)?)),
        Type::BYTEA => bytes.iter().fold("\\x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
        Type::TEXT | Type::VARCHAR | Type::NAME | Type::BPCHAR | Type::UNKNOWN | Type::JSON | Type::CHAR => {
            String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())?
        }
        _ => return Err(format!("a binary value of type `{kind}` is not read by this runner")),
    };
    Ok(text)
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], String> {
    bytes.try_into().map_err(|_| format!("expected {N} bytes, got {}", bytes.len()))
}

/// Groups of four decimal digits, the first of them worth 10000 to the power `weight`.
fn numeric(bytes: &[u8]) -> Result<String, String> {
    let words: Vec<i16> =
        bytes.chunks_exact(2).map(|word| fixed(word).map(i16::from_be_bytes)).collect::<Result<_, _>>()?;
    let [n_groups, weight, sign, scale, groups @ ..] = words.as_slice() else {
        return Err("a numeric is too short".to_owned());
    };
    if usize::try_from(*n_groups) != Ok(groups.len()) {
        return Err("a numeric has another number of digits than it says".to_owned());
    }
    // 0x4000 is the minus sign; whatever else is not 0 has no digits.
    match sign.cast_unsigned() {
        0 | 0x4000 => {}
        _ => return Ok("NaN".to_owned()),
    }
    let group = |power: i16| {
        let at = usize::try_from(i32::from(*weight) - i32::from(power)).ok();
        at.and_then(|at| groups.get(at)).copied().unwrap_or(0)
    };
    let mut text = String::new();
    for power in (0..=(*weight).max(0)).rev() {
        text = format!("{text}{:04}", group(power));
    }
    let whole = text.trim_start_matches('0');
    let mut text = if whole.is_empty() { "0".to_owned() } else { whole.to_owned() };
    let scale = usize::try_from(*scale).unwrap_or(0);
    if scale > 0 {
        let mut fraction = String::new();
        let mut power = -1;
        while fraction.len() < scale {
            fraction = format!("{fraction}{:04}", group(power));
            power -= 1;
        }
        fraction.truncate(scale);
        text = format!("{text}.{fraction}");
    }
    Ok(if *sign == 0 { text } else { format!("-{text}") })
}

/// A day counted from 2000-01-01, in the proleptic Gregorian calendar.
fn date(day: i64) -> String {
    let days = day + DAYS_TO_2000;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

fn timestamp(micros: i64) -> String {
    format!("{} {}", date(micros.div_euclid(MICROS_PER_DAY)), time(micros.rem_euclid(MICROS_PER_DAY)))
}

fn time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let text = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match micros % 1_000_000 {
        0 => text,
        fraction => format!("{text}.{fraction:06}").trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_numeric(words: &[i16], expected: &str) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(numeric(&bytes).unwrap(), expected);
    }

    #[test]
    fn numerics_have_the_digits_that_their_scale_says() {
        check_numeric(&[2, 0, 0, 2, 12, 3400], "12.34");
        check_numeric(&[1, 0, 0x4000, 2, 5], "-5.00");
        check_numeric(&[0, 0, 0, 2], "0.00");
        check_numeric(&[1, 1, 0, 0, 1], "10000");
        check_numeric(&[1, -1, 0, 2, 500], "0.05");
        check_numeric(&[3, 1, 0, 1, 1, 2345, 6000], "12345.6");
    }

    #[test]
    fn days_are_counted_from_the_year_2000() {
        for (day, expected) in [
            (0, "2000-01-01"),
            (-1, "1999-12-31"),
            (59, "2000-02-29"),
            (7794, "2021-05-04"),
            (-10_957, "1970-01-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }

    #[test]
    fn a_time_has_no_more_fraction_than_it_needs() {
        assert_eq!(timestamp(3_661_500_000), "2000-01-01 01:01:01.5");
        assert_eq!(timestamp(-1_000_000), "1999-12-31 23:59:59");
    }
}
