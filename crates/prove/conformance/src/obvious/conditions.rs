//! Whether conditions hold, each kind read as Ranger's evaluator of that name reads it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveTime;
use policy::model::{ConditionDef, PolicyCondition};
use policy::{AttributeValue, ConditionErrors};

use super::World;
use super::one_policy::Place;
use super::text_match::glob;

/// What conditions say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    Yes,
    No,
    /// They would hold but for some that cannot be evaluated.
    Unknown,
}

/// What one condition says; `None` where it cannot be evaluated.
type Held = Option<bool>;

impl World {
    /// All of them must hold.
    pub(crate) fn conditions(&self, place: &Place<'_, '_>, conditions: &[PolicyCondition]) -> Met {
        let mut together = Met::Yes;
        for condition in conditions {
            let held = match place.definition.condition(&condition.kind) {
                Some(def) => self.condition(place, def, condition),
                None => None.or(self.in_ranger(true)),
            };
            match held.or(self.in_ranger(false)) {
                Some(true) => {}
                Some(false) => return Met::No,
                None => together = Met::Unknown,
            }
        }
        together
    }

    /// What Ranger takes something for that cannot be evaluated; nothing in our own settings.
    fn in_ranger(&self, held: bool) -> Held {
        (self.settings.condition_errors == ConditionErrors::Ranger).then_some(held)
    }

    fn condition(&self, place: &Place<'_, '_>, def: &ConditionDef, condition: &PolicyCondition) -> Held {
        let values = &condition.values;
        let request = place.asking.request;
        let class = def.evaluator.rsplit('.').next().unwrap_or("");
        match class {
            "RangerIpMatcher" => {
                is_address(values, place.asking.client_addr.as_deref()).or(self.in_ranger(true))
            }
            "RangerTimeOfDayMatcher" => Some(self.is_time_of_day(values, request.now)),
            "RangerValidityScheduleConditionEvaluator" => Some(self.is_any_schedule(values, request.now)),
            "RangerScriptConditionEvaluator" => {
                self.script(place, def, values.first().map_or("", String::as_str))
            }
            "RangerScriptTemplateConditionEvaluator" => {
                let template = def.evaluator_options.get("scriptTemplate").map_or("", String::as_str);
                let value = values.first().map_or("", String::as_str);
                let is_inverted = value.eq_ignore_ascii_case("false") || value.eq_ignore_ascii_case("no");
                // Without a value the template is never looked at.
                let template = if value.trim().is_empty() { "" } else { template };
                self.script(place, def, template).map(|held| held != is_inverted)
            }
            "RangerTagsAllPresentConditionEvaluator" => {
                let carried = carried(place);
                Some(values.iter().all(|wanted| carried.contains(wanted.as_str())))
            }
            "RangerAnyOfExpectedTagsPresentConditionEvaluator" => Some(has_any(place, values)),
            "RangerNoneOfExpectedTagsPresentConditionEvaluator" => Some(!has_any(place, values)),
            "RangerHiveResourcesAccessedTogetherCondition" => Some(is_accessed_with(place, values)),
            "RangerHiveResourcesNotAccessedTogetherCondition" => Some(!is_accessed_with(place, values)),
            "RangerAccessedFromClusterCondition" => {
                Some(is_one_of(values, place.asking.cluster_name.as_deref()))
            }
            "RangerAccessedNotFromClusterCondition" => {
                Some(!is_one_of(values, place.asking.cluster_name.as_deref()))
            }
            "RangerAccessedFromClusterTypeCondition" => {
                Some(is_one_of(values, place.asking.cluster_type.as_deref()))
            }
            "RangerAccessedNotFromClusterTypeCondition" => {
                Some(!is_one_of(values, place.asking.cluster_type.as_deref()))
            }
            "RangerContextAttributeValueInCondition" => {
                is_attribute_in(place, def, values).or(self.in_ranger(true))
            }
            "RangerContextAttributeValueNotInCondition" => {
                is_attribute_in(place, def, values).map(|is_in| !is_in).or(self.in_ranger(true))
            }
            "RangerActionMatcher" => Some(is_action(values, request.context.action.as_deref())),
            "RangerSimpleMatcher" => Some(is_simple_match(place, def, values)),
            _ => self.in_ranger(true),
        }
    }

    fn is_time_of_day(&self, ranges: &[String], now: stdx::Timestamp) -> bool {
        let ranges: Vec<(NaiveTime, NaiveTime)> =
            ranges.iter().filter_map(|range| time_range(range)).collect();
        let Some(utc) = now.to_utc() else { return true };
        let time = utc.with_timezone(&self.settings.time_zone).time();
        let is_in = |(from, to): &(NaiveTime, NaiveTime)| {
            if from <= to { *from <= time && time <= *to } else { *from <= time || time <= *to }
        };
        ranges.is_empty() || ranges.iter().any(is_in)
    }

    fn is_any_schedule(&self, values: &[String], now: stdx::Timestamp) -> bool {
        let schedules = values.iter().filter_map(|text| {
            let value = ranger_wire::parse_lenient(text).ok()?;
            ranger_wire::ValiditySchedule::from_value(value).ok()
        });
        let schedules: Vec<_> = schedules.map(|schedule| crate::read::schedule(&schedule)).collect();
        self.is_valid_at(&schedules, now)
    }
}

/// Exact, or what begins with the text before a last `*`.
fn is_address(values: &[String], addr: Option<&str>) -> Held {
    if values.is_empty() || values.iter().any(|value| value == "*") {
        return Some(true);
    }
    let addr = addr?;
    let is_found = values.iter().any(|value| {
        if value == "*" {
            return true;
        }
        // A `*` stands for whole parts, so that `10.1.*` begins with `10.1.`.
        match value.strip_suffix(".*").or_else(|| value.strip_suffix(":*")) {
            Some(start) => {
                let mark = if value.ends_with(".*") { '.' } else { ':' };
                let start = strip_wildcards(start, mark);
                addr.to_lowercase().starts_with(&format!("{start}{mark}").to_lowercase())
            }
            None => value.eq_ignore_ascii_case(addr),
        }
    });
    Some(is_found)
}

/// `10.*.*` is `10.*`.
fn strip_wildcards(start: &str, mark: char) -> &str {
    let mut start = start;
    while let Some(shorter) = start.strip_suffix('*').and_then(|rest| rest.strip_suffix(mark)) {
        start = shorter;
    }
    start
}

/// `9am - 5:30pm`.
fn time_range(text: &str) -> Option<(NaiveTime, NaiveTime)> {
    let (from, to) = text.split_once('-')?;
    Some((time_of_day(from)?, time_of_day(to)?))
}

fn time_of_day(text: &str) -> Option<NaiveTime> {
    let text: String = text.to_lowercase().chars().filter(|c| !c.is_whitespace() && *c != '.').collect();
    let (digits, is_afternoon) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(rest), _) => (rest, false),
        (_, Some(rest)) => (rest, true),
        _ => return None,
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour: u32 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    NaiveTime::from_hms_opt(hour % 12 + if is_afternoon { 12 } else { 0 }, minute.parse().ok()?, 0)
}

fn carried<'a>(place: &'a Place<'_, '_>) -> BTreeSet<&'a str> {
    place.asking.tags.iter().map(|tag| tag.kind.as_str()).collect()
}

fn has_any(place: &Place<'_, '_>, wanted: &[String]) -> bool {
    let carried = carried(place);
    wanted.iter().any(|wanted| carried.contains(wanted.as_str()))
}

fn is_one_of(values: &[String], name: Option<&str>) -> bool {
    name.is_some_and(|name| values.iter().any(|value| value == name))
}

/// None where the request does not have the attribute.
fn is_attribute_in(place: &Place<'_, '_>, def: &ConditionDef, values: &[String]) -> Option<bool> {
    let name = def.evaluator_options.get("attributeName")?;
    let attribute = place.asking.request.context.attributes.get(name)?;
    Some(texts(attribute).iter().any(|text| values.contains(text)))
}

fn texts(value: &AttributeValue) -> &[String] {
    match value {
        AttributeValue::Text(text) => std::slice::from_ref(text),
        AttributeValue::List(texts) => texts,
    }
}

/// Exact, or a beginning as `get*`; no values, or `*`, is any action.
fn is_action(values: &[String], action: Option<&str>) -> bool {
    if values.is_empty() {
        return true;
    }
    let action = action.unwrap_or("").to_lowercase();
    values.iter().any(|value| {
        let value = value.to_lowercase();
        match value.strip_suffix('*') {
            Some(start) => action.starts_with(start),
            None => action == value,
        }
    })
}

/// A matcher that only Ranger's tests use: an attribute of the context against patterns.
fn is_simple_match(place: &Place<'_, '_>, def: &ConditionDef, values: &[String]) -> bool {
    let Some(name) = def.evaluator_options.get("CONTEXT_NAME").filter(|_| !values.is_empty()) else {
        return true;
    };
    let attribute = place.asking.request.context.attributes.get(name);
    attribute.is_some_and(|attribute| {
        texts(attribute).iter().any(|text| values.iter().any(|pattern| glob(text, pattern)))
    })
}

/// Whether the same query touches at least two things that the values, each as `db.table.column`, name.
fn is_accessed_with(place: &Place<'_, '_>, values: &[String]) -> bool {
    let Some(requested) = &place.asking.request.context.requested_resources else { return false };
    let n_named: usize =
        requested.iter().map(|touched| values.iter().filter(|value| is_named(touched, value)).count()).sum();
    requested.len() > 1 && n_named > 1
}

fn is_named(touched: &BTreeMap<String, String>, value: &str) -> bool {
    let mut parts = value.splitn(3, '.');
    ["database", "table", "column"].iter().all(|level| match (parts.next(), touched.get(*level)) {
        (Some(pattern), Some(name)) => glob(&name.to_lowercase(), &pattern.to_lowercase()),
        (Some(pattern), None) => pattern == "*",
        (None, touched) => touched.is_none(),
    })
}
