//! Reads the conditions of policies, each by the evaluator that its definition names.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono_tz::Tz;

use super::{AddressList, Condition, Held, HourRange, Kind, TogetherMatchers, Wanted};
use crate::evaluate::ConditionErrors;
use crate::json::Json;
use crate::model::{
    PolicyCondition, Recurrence, RecurrenceInterval, RecurrenceSchedule, ServiceDef, ValiditySchedule,
};
use crate::schedule::{Schedule, ScheduleReading};
use crate::script::{PlainData, ScriptEngine};

/// What the conditions of one service are read with.
#[derive(Clone, Copy, Debug)]
pub struct ConditionCompiler<'a> {
    pub def: &'a ServiceDef,
    pub scripts: Option<&'a Arc<dyn ScriptEngine>>,
    pub schedules: ScheduleReading,
}

impl ScheduleReading {
    /// Ranger's where its answer to conditions is asked for.
    pub fn of(errors: ConditionErrors, server: Tz) -> Self {
        match errors {
            ConditionErrors::AgainstUser => Self::OwnZone,
            ConditionErrors::Ranger => Self::Ranger { server },
        }
    }
}

type Read = Result<Kind, (Held, String)>;

impl ConditionCompiler<'_> {
    pub fn all(&self, conditions: &[PolicyCondition]) -> Vec<Condition> {
        conditions.iter().map(|condition| self.compile(condition)).collect()
    }

    /// A condition that cannot be evaluated says so by [`Condition::fault`].
    pub fn compile(&self, condition: &PolicyCondition) -> Condition {
        match self.read(condition) {
            Ok(kind) => Condition { kind, fault: None },
            Err((in_ranger, fault)) => {
                Condition { kind: Kind::Broken(in_ranger), fault: Some(fault.into_boxed_str()) }
            }
        }
    }

    fn read(&self, condition: &PolicyCondition) -> Read {
        let name = &condition.kind;
        let Some(def) = self.def.conditions.iter().find(|def| def.name == *name) else {
            return Err((Held::Met, format!("no such condition `{name}`")));
        };
        let options = &def.evaluator_options;
        let values = &condition.values;
        let class = def.evaluator.rsplit('.').next().unwrap_or_default();
        match class {
            "RangerIpMatcher" => Ok(AddressList::new(values).map_or(Kind::Always, Kind::Address)),
            "RangerTimeOfDayMatcher" => hours(values),
            "RangerValidityScheduleConditionEvaluator" => self.schedules(values),
            "RangerScriptConditionEvaluator" => {
                let script = values.first().map_or("", |value| value.trim());
                self.script(script, options, Wanted::In)
            }
            "RangerScriptTemplateConditionEvaluator" => self.template(values, options),
            "RangerTagsAllPresentConditionEvaluator" => Ok(Kind::AllTags(trimmed(values).collect())),
            "RangerAnyOfExpectedTagsPresentConditionEvaluator" => Ok(Kind::AnyTag(trimmed(values).collect())),
            "RangerNoneOfExpectedTagsPresentConditionEvaluator" => Ok(Kind::NoTag(trimmed(values).collect())),
            "RangerHiveResourcesAccessedTogetherCondition" => self.together(values, Wanted::In),
            "RangerHiveResourcesNotAccessedTogetherCondition" => self.together(values, Wanted::NotIn),
            "RangerAccessedFromClusterCondition" => Ok(list(values, |v| Kind::Cluster(Wanted::In, v))),
            "RangerAccessedNotFromClusterCondition" => Ok(list(values, |v| Kind::Cluster(Wanted::NotIn, v))),
            "RangerAccessedFromClusterTypeCondition" => {
                Ok(list(values, |v| Kind::ClusterType(Wanted::In, v)))
            }
            "RangerAccessedNotFromClusterTypeCondition" => {
                Ok(list(values, |v| Kind::ClusterType(Wanted::NotIn, v)))
            }
            "RangerContextAttributeValueInCondition" => attribute(values, options, Wanted::In),
            "RangerContextAttributeValueNotInCondition" => attribute(values, options, Wanted::NotIn),
            "RangerActionMatcher" => Ok(actions(values)),
            "RangerSimpleMatcher" => attribute_like(values, options),
            _ => Err((Held::Met, format!("the condition `{name}` has the unknown evaluator `{class}`"))),
        }
    }

    fn schedules(&self, values: &[String]) -> Read {
        let mut schedules = Vec::new();
        let mut fault = None;
        for value in values {
            let read = Json::read(value).and_then(|json| schedule(&json));
            match read
                .ok_or_else(|| "it is no JSON".to_owned())
                .and_then(|s| Schedule::new(&s, self.schedules))
            {
                Ok(schedule) => schedules.push(schedule),
                Err(why) => fault = Some(format!("`{value}` is not a validity schedule: {why}")),
            }
        }
        match (schedules.is_empty(), fault, self.schedules) {
            (true, None, _) => Ok(Kind::Always),
            (true, Some(fault), _) => Err((Held::Met, fault)),
            // Ranger goes on with those that it can read.
            (false, _, ScheduleReading::Ranger { .. }) | (false, None, ScheduleReading::OwnZone) => {
                Ok(Kind::Schedules(schedules))
            }
            (false, Some(fault), ScheduleReading::OwnZone) => Err((Held::Met, fault)),
        }
    }

    fn template(&self, values: &[String], options: &BTreeMap<String, String>) -> Read {
        let value = values.first().map_or("", String::as_str);
        let is_reversed = value.eq_ignore_ascii_case("false") || value.eq_ignore_ascii_case("no");
        let wanted = if is_reversed { Wanted::NotIn } else { Wanted::In };
        let template = options.get("scriptTemplate").map_or("", |text| text.trim());
        self.script(if value.trim().is_empty() { "" } else { template }, options, wanted)
    }

    fn script(&self, source: &str, options: &BTreeMap<String, String>, wanted: Wanted) -> Read {
        if source.is_empty() {
            return Err((wanted.held(true), "the condition has no script".to_owned()));
        }
        let Some(engine) = self.scripts else {
            return Err((wanted.held(true), "nothing here runs scripts".to_owned()));
        };
        let data = match options.get("enableJsonCtx").map(String::as_str) {
            None | Some("") => PlainData::IfNamed,
            Some(text) if text.eq_ignore_ascii_case("true") => PlainData::Always,
            Some(_) => PlainData::Never,
        };
        match engine.compile(source, data) {
            Ok(script) => Ok(Kind::Script(script, wanted)),
            Err(error) => Err((wanted.held(false), error.to_string())),
        }
    }

    fn together(&self, values: &[String], wanted: Wanted) -> Read {
        match TogetherMatchers::new(self.def, values) {
            Some(matchers) => Ok(Kind::Together(wanted, matchers)),
            None if values.is_empty() => Ok(Kind::Always),
            None => Err((Held::Met, "its values name no resources of a `hive` service".to_owned())),
        }
    }
}

fn trimmed(values: &[String]) -> impl Iterator<Item = String> {
    values.iter().map(|value| value.trim().to_owned())
}

fn list(values: &[String], kind: impl FnOnce(Vec<String>) -> Kind) -> Kind {
    if values.is_empty() { Kind::Always } else { kind(values.to_vec()) }
}

fn hours(values: &[String]) -> Read {
    let given: Vec<&String> = values.iter().filter(|value| !value.is_empty()).collect();
    let ranges: Vec<HourRange> = given.iter().filter_map(|value| HourRange::parse(value)).collect();
    match (ranges.is_empty(), given.first()) {
        (false, _) => Ok(Kind::Hours(ranges)),
        (true, None) => Ok(Kind::Always),
        (true, Some(value)) => Err((Held::Met, format!("`{value}` is not a range of times of day"))),
    }
}

fn attribute(values: &[String], options: &BTreeMap<String, String>, wanted: Wanted) -> Read {
    match options.get("attributeName") {
        _ if values.is_empty() => Ok(Kind::Always),
        Some(name) => Ok(Kind::Attribute { name: name.clone(), wanted, values: values.to_vec() }),
        None => Err((Held::Met, "its definition names no attribute".to_owned())),
    }
}

fn attribute_like(values: &[String], options: &BTreeMap<String, String>) -> Read {
    match options.get("CONTEXT_NAME").filter(|name| !name.is_empty()) {
        _ if values.is_empty() => Ok(Kind::Always),
        Some(name) => Ok(Kind::AttributeLike { name: name.clone(), patterns: values.to_vec() }),
        None => Err((Held::Met, "its definition names no attribute".to_owned())),
    }
}

fn actions(values: &[String]) -> Kind {
    let (mut exact, mut prefixes) = (Vec::new(), Vec::new());
    for value in values.iter().map(|value| value.trim()).filter(|value| !value.is_empty()) {
        match value.strip_suffix('*').map(str::trim) {
            Some("") => return Kind::Always,
            Some(prefix) => prefixes.push(prefix.to_lowercase()),
            None => exact.push(value.to_lowercase()),
        }
    }
    match exact.is_empty() && prefixes.is_empty() {
        true => Kind::Always,
        false => Kind::Action { exact, prefixes },
    }
}

/// RangerValiditySchedule; `None`: it is no object.
fn schedule(json: &Json) -> Option<ValiditySchedule> {
    let Json::Object(_) = json else { return None };
    let text = |json: &Json, name: &str| json.get(name).and_then(Json::text).map(str::to_owned);
    let recurrence = |json: &Json| {
        let fields = json.get("schedule").unwrap_or(&Json::Null);
        let interval = json.get("interval").unwrap_or(&Json::Null);
        let number = |name: &str| interval.get(name).and_then(Json::integer).unwrap_or(0);
        Recurrence {
            schedule: RecurrenceSchedule {
                minute: text(fields, "minute"),
                hour: text(fields, "hour"),
                day_of_month: text(fields, "dayOfMonth"),
                day_of_week: text(fields, "dayOfWeek"),
                month: text(fields, "month"),
                year: text(fields, "year"),
            },
            interval: RecurrenceInterval {
                days: number("days"),
                hours: number("hours"),
                minutes: number("minutes"),
            },
        }
    };
    let recurrences = json.get("recurrences").unwrap_or(&Json::Null).items();
    Some(ValiditySchedule {
        start_time: text(json, "startTime"),
        end_time: text(json, "endTime"),
        time_zone: text(json, "timeZone"),
        recurrences: recurrences.iter().filter(|r| **r != Json::Null).map(recurrence).collect(),
    })
}
