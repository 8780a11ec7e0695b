//! Time zones of schedules: names, offsets from GMT and Java's old three-letter names.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;
use stdx::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Zone {
    Named(Tz),
    Fixed(FixedOffset),
}

/// Names that Java still understands, and that the validator refuses because they are ambiguous.
const ALIASES: [(&str, Tz); 26] = [
    ("JST", Tz::Asia__Tokyo),
    ("IST", Tz::Asia__Kolkata),
    ("BET", Tz::America__Sao_Paulo),
    ("ACT", Tz::Australia__Darwin),
    ("AET", Tz::Australia__Sydney),
    ("AGT", Tz::America__Argentina__Buenos_Aires),
    ("VST", Tz::Asia__Ho_Chi_Minh),
    ("CNT", Tz::America__St_Johns),
    ("NET", Tz::Asia__Yerevan),
    ("PLT", Tz::Asia__Karachi),
    ("CST", Tz::America__Chicago),
    ("SST", Tz::Pacific__Guadalcanal),
    ("CTT", Tz::Asia__Shanghai),
    ("PNT", Tz::America__Phoenix),
    ("BST", Tz::Asia__Dhaka),
    ("MIT", Tz::Pacific__Apia),
    ("ART", Tz::Africa__Cairo),
    ("AST", Tz::America__Anchorage),
    ("PRT", Tz::America__Puerto_Rico),
    ("PST", Tz::America__Los_Angeles),
    ("IET", Tz::America__Indiana__Indianapolis),
    ("NST", Tz::Pacific__Auckland),
    ("EAT", Tz::Africa__Addis_Ababa),
    ("ECT", Tz::Europe__Paris),
    ("CAT", Tz::Africa__Harare),
    // Names that both sides know, but that the time zone database moved.
    ("UCT", Tz::UTC),
];

impl Zone {
    /// Blank is UTC.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::Named(Tz::UTC));
        }
        if let Ok(zone) = text.parse::<Tz>() {
            return Ok(Self::Named(zone));
        }
        fixed_offset(text).map(Self::Fixed).ok_or_else(|| format!("no such time zone `{text}`"))
    }

    /// As Java reads an id: it knows old names besides, and takes what it does not know for GMT.
    pub(crate) fn parse_as_java(text: &str) -> Self {
        let alias = ALIASES.iter().find(|(name, _)| *name == text).map(|(_, zone)| Self::Named(*zone));
        alias.or_else(|| Self::parse(text).ok()).unwrap_or(Self::Named(Tz::UTC))
    }

    /// Whether Ranger's validator takes the id.
    pub(crate) fn is_valid_id(text: &str) -> bool {
        text.trim().is_empty() || text.parse::<Tz>().is_ok()
    }

    /// A wall clock that was set forward past `local` counts on from before; one that shows `local` twice means the
    /// later time.
    pub(crate) fn instant(self, local: NaiveDateTime) -> Timestamp {
        let offset = match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => match zone.offset_from_local_datetime(&local) {
                LocalResult::Single(offset) | LocalResult::Ambiguous(_, offset) => offset.fix(),
                LocalResult::None => {
                    let before = local.checked_sub_signed(TimeDelta::hours(24)).unwrap_or(local);
                    zone.offset_from_local_datetime(&before).latest().map_or_else(utc, |o| o.fix())
                }
            },
        };
        let offset_millis = i64::from(offset.local_minus_utc()).saturating_mul(1000);
        Timestamp::from_millis(local.and_utc().timestamp_millis().saturating_sub(offset_millis))
    }

    pub(crate) fn wall_clock(self, now: Timestamp) -> Option<NaiveDateTime> {
        let utc = now.to_utc()?;
        Some(match self {
            Self::Named(zone) => utc.with_timezone(&zone).naive_local(),
            Self::Fixed(offset) => utc.with_timezone(&offset).naive_local(),
        })
    }

    /// Milliseconds that the zone's clock is ahead of UTC at `at`.
    pub(crate) fn offset_millis(self, at: Timestamp) -> i64 {
        let Some(utc) = DateTime::from_timestamp_millis(at.millis()) else { return 0 };
        let offset = match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => zone.offset_from_utc_datetime(&utc.naive_utc()).fix(),
        };
        i64::from(offset.local_minus_utc()).saturating_mul(1000)
    }
}

fn utc() -> FixedOffset {
    chrono::Utc.fix()
}

/// `GMT+5`, `GMT-08:00`, `UTC+0530`.
fn fixed_offset(text: &str) -> Option<FixedOffset> {
    let rest = text.strip_prefix("GMT").or_else(|| text.strip_prefix("UTC")).unwrap_or(text);
    let sign = match rest.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = rest.chars().skip(1).filter(|c| *c != ':').collect();
    if !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
    if hours > 23 || minutes > 59 || digits.len() > 4 {
        return None;
    }
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}
