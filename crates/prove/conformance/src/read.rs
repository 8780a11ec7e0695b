//! Ranger's JSON into the model, through the wire's types and with what test files leave out filled in.

use policy::model;

pub(crate) fn schedule(from: &ranger_wire::ValiditySchedule) -> model::ValiditySchedule {
    let text = |text: &Option<String>| text.clone();
    model::ValiditySchedule {
        start_time: text(&from.start_time),
        end_time: text(&from.end_time),
        time_zone: text(&from.time_zone),
        recurrences: from
            .recurrences
            .iter()
            .map(|recurrence| {
                let schedule = recurrence.schedule.clone().unwrap_or_default();
                let interval = recurrence.interval.clone().unwrap_or_default();
                model::Recurrence {
                    schedule: model::RecurrenceSchedule {
                        minute: schedule.minute,
                        hour: schedule.hour,
                        day_of_month: schedule.day_of_month,
                        day_of_week: schedule.day_of_week,
                        month: schedule.month,
                        year: schedule.year,
                    },
                    interval: model::RecurrenceInterval {
                        days: interval.days.unwrap_or(0),
                        hours: interval.hours.unwrap_or(0),
                        minutes: interval.minutes.unwrap_or(0),
                    },
                }
            })
            .collect(),
    }
}
