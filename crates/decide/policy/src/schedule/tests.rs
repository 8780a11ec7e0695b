//! The laws of validity schedules.

use chrono::{DateTime, Utc};
use stdx::Timestamp;

use super::{Schedule, ScheduleReading};
use crate::model::{Recurrence, RecurrenceInterval, RecurrenceSchedule, ValiditySchedule};

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<DateTime<Utc>>().unwrap().timestamp_millis())
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn span(start: &str, end: &str, zone: &str) -> ValiditySchedule {
    ValiditySchedule {
        start_time: some(start),
        end_time: some(end),
        time_zone: some(zone),
        recurrences: vec![],
    }
}

/// `minute hour day-of-month day-of-week month year`, `-` for none, and an interval of days, hours and minutes.
fn recurring(fields: &str, interval: (i64, i64, i64)) -> ValiditySchedule {
    let mut fields = fields.split_whitespace().map(|f| some(f.trim_start_matches('-')));
    let mut next = || fields.next().unwrap();
    let schedule = RecurrenceSchedule {
        minute: next(),
        hour: next(),
        day_of_month: next(),
        day_of_week: next(),
        month: next(),
        year: next(),
    };
    let (days, hours, minutes) = interval;
    let interval = RecurrenceInterval { days, hours, minutes };
    ValiditySchedule { recurrences: vec![Recurrence { schedule, interval }], ..span("", "", "") }
}

fn check(schedule: &ValiditySchedule, yes: &[&str], no: &[&str]) {
    let compiled = Schedule::new(schedule, ScheduleReading::OwnZone).unwrap();
    for (times, expected) in [(yes, true), (no, false)] {
        for time in times {
            assert_eq!(compiled.holds(at(time)), expected, "{schedule:?} at {time}");
        }
    }
}

#[test]
fn start_and_end_both_belong_to_the_schedule() {
    let schedule = span("2026/01/10 00:00:00", "2026/01/20 00:00:00", "");
    let yes = ["2026-01-10T00:00:00Z", "2026-01-15T00:00:00Z", "2026-01-20T00:00:00Z"];
    check(&schedule, &yes, &["2026-01-09T23:59:59.999Z", "2026-01-20T00:00:00.001Z"]);
    check(&span("", "2026/01/20 00:00:00", ""), &["1999-01-01T00:00:00Z"], &["2026-01-20T00:00:01Z"]);
    check(&span("", "", ""), &["1999-01-01T00:00:00Z"], &[]);
}

#[test]
fn texts_are_read_on_the_clock_of_their_zone() {
    let schedule = span("2026/01/10 12:00:00", "", "Asia/Kolkata");
    check(&schedule, &["2026-01-10T06:30:00Z"], &["2026-01-10T06:29:59Z"]);
    check(
        &span("2026/01/10 12:00:00", "", "GMT-05:30"),
        &["2026-01-10T17:30:00Z"],
        &["2026-01-10T17:29:59Z"],
    );
    check(&span("2026/01/10 12:00:00", "", "GMT+1"), &["2026-01-10T11:00:00Z"], &["2026-01-10T10:59:59Z"]);
}

#[test]
fn a_wall_clock_that_is_set_forward_or_back_still_gives_one_moment() {
    // Berlin skips 02:30 on 29 March 2026 and shows it twice on 25 October 2026.
    check(
        &span("2026/03/29 02:30:00", "", "Europe/Berlin"),
        &["2026-03-29T01:30:00Z"],
        &["2026-03-29T01:29:59Z"],
    );
    check(
        &span("2026/10/25 02:30:00", "", "Europe/Berlin"),
        &["2026-10-25T01:30:00Z"],
        &["2026-10-25T01:29:59Z"],
    );
}

#[test]
fn a_recurrence_holds_from_each_scheduled_minute_for_its_interval() {
    let schedule = recurring("0,30 9-17 * - * *", (0, 0, 10));
    let yes = ["2026-01-15T09:00:00Z", "2026-01-15T09:10:00Z", "2026-01-15T17:39:00Z"];
    check(&schedule, &yes, &["2026-01-15T09:10:01Z", "2026-01-15T08:59:59Z", "2026-01-15T17:45:00Z"]);
}

#[test]
fn a_recurrence_looks_back_over_days_months_and_years() {
    check(&recurring("0 22 * - * *", (0, 8, 0)), &["2026-01-01T05:59:00Z"], &["2026-01-01T06:00:01Z"]);
    let last_day = recurring("0 12 31 - * *", (1, 0, 0));
    check(&last_day, &["2026-04-01T11:00:00Z"], &["2026-05-01T11:00:00Z", "2026-06-30T13:00:00Z"]);
    check(&recurring("0 0 29 - 2 *", (1, 0, 0)), &["2024-02-29T10:00:00Z"], &["2026-02-28T10:00:00Z"]);
    check(
        &recurring("0 0 * - * 2024", (3, 0, 0)),
        &["2025-01-02T00:00:00Z"],
        &["2025-01-05T00:00:00Z", "2023-12-31T00:00:00Z"],
    );
}

#[test]
fn the_later_of_day_of_month_and_day_of_week_counts() {
    // 15 January 2026 is a Thursday; day 5 of the week.
    let schedule = recurring("0 0 1 5 * *", (1, 0, 0));
    check(&schedule, &["2026-01-15T12:00:00Z", "2026-02-01T12:00:00Z"], &["2026-01-13T12:00:00Z"]);
}

#[test]
fn an_interval_of_nothing_holds_always() {
    check(&recurring("0 0 1 - 1 2000", (0, 0, 0)), &["2026-01-15T12:00:00Z"], &[]);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |schedule: &ValiditySchedule| {
        assert!(Schedule::new(schedule, ScheduleReading::OwnZone).is_err(), "{schedule:?}")
    };
    refused(&span("2026-01-10", "", ""));
    refused(&span("", "", "Moon"));
    refused(&span("", "", "GMT+25"));
    refused(&recurring("61 0 1 - * *", (1, 0, 0)));
    refused(&recurring("0 0 - - * *", (1, 0, 0)));
    refused(&recurring("0 0 5-1 - * *", (1, 0, 0)));
    refused(&recurring("0 0 1 - * *", (-1, 0, 0)));
    refused(&recurring("- 0 1 - * *", (1, 0, 0)));
}
