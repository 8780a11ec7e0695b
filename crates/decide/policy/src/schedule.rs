//! When a policy counts: start, end and recurrences of its validity schedules.

mod borrow;
mod recurring;
mod validate;
pub(crate) mod zone;

use chrono::NaiveDateTime;
use chrono_tz::Tz;
use stdx::Timestamp;

use crate::date_format::{DateFormat, Leniency};
use crate::model::ValiditySchedule;
use borrow::BorrowRecurrence;
use recurring::Recurring;
pub use validate::{ScheduleFault, validate};
use zone::Zone;

/// How a schedule is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ScheduleReading {
    /// Everything in the zone of the schedule itself; what cannot be read is a fault.
    #[default]
    OwnZone,
    /// Ranger's: recurrences on the server's clock, its way of looking back (which misses, among others, nights that
    /// began on a day of the month), and start or end that cannot be read are none.
    Ranger { server: Tz },
}

/// A schedule whose texts have been read.
#[derive(Clone, Debug)]
pub struct Schedule {
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    recurrences: Recurrences,
}

#[derive(Clone, Debug)]
enum Recurrences {
    Own(Zone, Vec<Recurring>),
    Ranger(Zone, Vec<BorrowRecurrence>),
}

impl Schedule {
    /// # Errors
    /// A text that is no time, zone, field or interval.
    pub fn new(schedule: &ValiditySchedule, reading: ScheduleReading) -> Result<Self, String> {
        match reading {
            ScheduleReading::OwnZone => Self::own(schedule),
            ScheduleReading::Ranger { server } => Self::ranger(schedule, Zone::Named(server)),
        }
    }

    fn own(schedule: &ValiditySchedule) -> Result<Self, String> {
        let zone = Zone::parse(schedule.time_zone.as_deref().unwrap_or_default())?;
        let at = |text: &Option<String>| match text.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
            None => Ok(None),
            Some(text) => wall_clock(text).map(|local| Some(zone.instant(local))),
        };
        let recurrences = schedule.recurrences.iter().map(Recurring::new).collect::<Result<_, _>>()?;
        Ok(Self {
            start: at(&schedule.start_time)?,
            end: at(&schedule.end_time)?,
            recurrences: Recurrences::Own(zone, recurrences),
        })
    }

    fn ranger(schedule: &ValiditySchedule, server: Zone) -> Result<Self, String> {
        let target = match schedule.time_zone.as_deref() {
            Some(id) if !id.trim().is_empty() => Zone::parse_as_java(id),
            _ => Zone::Named(Tz::UTC),
        };
        // The text is read on the server's clock and then moved by what both zones differ at that moment, not at the
        // moment meant; it matters in the hours around a change of clocks.
        let at = |text: &Option<String>| {
            let local = java_wall_clock(text.as_deref()?, Leniency::Carries)?;
            let read = server.instant(local);
            let moved = server.offset_millis(read).saturating_sub(target.offset_millis(read));
            match read.millis() {
                0 => None,
                ..0 => Some(read),
                millis => Some(Timestamp::from_millis(millis.saturating_add(moved))),
            }
        };
        let recurrences = schedule.recurrences.iter().map(BorrowRecurrence::new).collect::<Result<_, _>>()?;
        Ok(Self {
            start: at(&schedule.start_time),
            end: at(&schedule.end_time),
            recurrences: Recurrences::Ranger(server, recurrences),
        })
    }

    /// Start and end both belong to the schedule; of several recurrences one is enough.
    pub fn holds(&self, now: Timestamp) -> bool {
        if self.start.is_some_and(|start| now < start) || self.end.is_some_and(|end| now > end) {
            return false;
        }
        match &self.recurrences {
            Recurrences::Own(zone, recurrences) => {
                recurrences.is_empty()
                    || zone.wall_clock(now).is_some_and(|local| recurrences.iter().any(|r| r.holds(local)))
            }
            Recurrences::Ranger(zone, recurrences) => {
                recurrences.is_empty() || recurrences.iter().any(|r| r.holds(*zone, now))
            }
        }
    }
}

fn wall_clock(text: &str) -> Result<NaiveDateTime, String> {
    java_wall_clock(text, Leniency::Refuses)
        .ok_or_else(|| format!("`{text}` is not a time as `yyyy/MM/dd HH:mm:ss`"))
}

fn java_wall_clock(text: &str, leniency: Leniency) -> Option<NaiveDateTime> {
    Some(DateFormat::new("yyyy/MM/dd HH:mm:ss")?.read(text, leniency)?.local)
}

#[cfg(test)]
mod tests;
