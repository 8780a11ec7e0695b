//! Conditions of policies and items: every evaluator that Ranger has built in.

mod address;
mod compile;
mod context;
mod hours;
mod together;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use compile::ConditionCompiler;
pub use context::{ClientAddr, ConditionContext, ConditionSettings, DateFormats, TagFacts};

use crate::evaluate::{AttributeValue, ConditionErrors};
use crate::schedule::Schedule;
use crate::script::{Script, ScriptError};
use address::AddressList;
use hours::HourRange;
use together::TogetherMatchers;

/// What a condition says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Met,
    NotMet,
    /// It cannot be evaluated.
    Unknown,
}

impl Held {
    /// Both must be met.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotMet, _) | (_, Self::NotMet) => Self::NotMet,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Met, Self::Met) => Self::Met,
        }
    }

    fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }
}

/// Whether what a condition looks for has to be there, or must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    In,
    NotIn,
}

impl Wanted {
    fn held(self, is_in: bool) -> Held {
        Held::of(is_in == (self == Self::In))
    }
}

/// A condition, read once so that each request only compares.
#[derive(Clone, Debug)]
pub struct Condition {
    kind: Kind,
    fault: Option<Box<str>>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// It says nothing, as Ranger's do without values.
    Always,
    /// It asks for something that cannot be evaluated; Ranger takes it for this.
    Broken(Held),
    Address(AddressList),
    Hours(Vec<HourRange>),
    Schedules(Vec<Schedule>),
    AllTags(BTreeSet<String>),
    AnyTag(BTreeSet<String>),
    NoTag(BTreeSet<String>),
    Together(Wanted, TogetherMatchers),
    Cluster(Wanted, Vec<String>),
    ClusterType(Wanted, Vec<String>),
    Attribute {
        name: String,
        wanted: Wanted,
        values: Vec<String>,
    },
    AttributeLike {
        name: String,
        patterns: Vec<String>,
    },
    Action {
        exact: Vec<String>,
        prefixes: Vec<String>,
    },
    Script(Arc<dyn Script>, Wanted),
}

impl Condition {
    /// What is wrong with it, if it cannot be evaluated whatever is asked.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Whether a script is run for it.
    pub fn is_script(&self) -> bool {
        matches!(self.kind, Kind::Script(..))
    }

    /// All of them must be met.
    pub fn all_held(conditions: &[Self], context: &ConditionContext<'_>) -> Held {
        let mut all = Held::Met;
        for condition in conditions {
            all = all.and(condition.held(context));
            if all == Held::NotMet {
                break;
            }
        }
        all
    }

    pub fn held(&self, context: &ConditionContext<'_>) -> Held {
        // Where Ranger has an answer to what cannot be evaluated it is given second.
        let unknown = |in_ranger: Held| match context.settings.errors {
            ConditionErrors::AgainstUser => Held::Unknown,
            ConditionErrors::Ranger => in_ranger,
        };
        match &self.kind {
            Kind::Always => Held::Met,
            Kind::Broken(in_ranger) => unknown(*in_ranger),
            Kind::Address(list) => match context.client_addr {
                ClientAddr::Missing => unknown(Held::Met),
                addr => Held::of(list.has(addr)),
            },
            Kind::Hours(ranges) => match context.minute_of_day() {
                Some(minute) => Held::of(ranges.iter().any(|range| range.has(minute))),
                None => unknown(Held::Met),
            },
            Kind::Schedules(schedules) => {
                Held::of(schedules.iter().any(|schedule| schedule.holds(context.now)))
            }
            Kind::AllTags(tags) => Held::of(tags.iter().all(|tag| context.has_tag(tag))),
            Kind::AnyTag(tags) => Held::of(tags.iter().any(|tag| context.has_tag(tag))),
            Kind::NoTag(tags) => Held::of(!tags.iter().any(|tag| context.has_tag(tag))),
            Kind::Together(wanted, matchers) => match &context.request.requested_resources {
                Some(resources) => wanted.held(matchers.are_together(resources, context)),
                None => unknown(wanted.held(false)),
            },
            Kind::Cluster(wanted, names) => is_one_of(names, context.cluster_name, *wanted, unknown),
            Kind::ClusterType(wanted, names) => is_one_of(names, context.cluster_type, *wanted, unknown),
            Kind::Attribute { name, wanted, values } => match context.attribute(name) {
                Some(AttributeRef::Text(text)) => wanted.held(values.iter().any(|value| value == text)),
                Some(AttributeRef::List(_)) => wanted.held(false),
                None => unknown(Held::Met),
            },
            Kind::AttributeLike { name, patterns } => match context.attribute(name) {
                Some(AttributeRef::Text(text)) => {
                    Held::of(patterns.iter().any(|pattern| is_like(text, pattern)))
                }
                Some(AttributeRef::List(_)) => Held::NotMet,
                None => unknown(Held::NotMet),
            },
            Kind::Action { exact, prefixes } => {
                Held::of(context.request.action.as_deref().is_some_and(|action| {
                    exact.iter().any(|name| is_lower_case_of(name, action, Extent::Whole))
                        || prefixes.iter().any(|name| is_lower_case_of(name, action, Extent::Start))
                }))
            }
            Kind::Script(script, wanted) => match script.is_met(context) {
                Ok(is_met) => wanted.held(is_met),
                Err(ScriptError::NotParsable(_) | ScriptError::Failed(_) | ScriptError::OverLimit(_)) => {
                    unknown(wanted.held(false))
                }
            },
        }
    }
}

/// A context attribute, wherever it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeRef<'a> {
    Text(&'a str),
    List(&'a [String]),
}

impl<'a> From<&'a AttributeValue> for AttributeRef<'a> {
    fn from(value: &'a AttributeValue) -> Self {
        match value {
            AttributeValue::Text(text) => Self::Text(text),
            AttributeValue::List(list) => Self::List(list),
        }
    }
}

fn is_one_of(
    names: &[String],
    name: Option<&str>,
    wanted: Wanted,
    unknown: impl FnOnce(Held) -> Held,
) -> Held {
    match name {
        Some(name) => wanted.held(names.iter().any(|known| known == name)),
        None => unknown(wanted.held(false)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Start,
}

/// Whether `lower`, which is in lower case, is `text` in lower case or the beginning of it.
fn is_lower_case_of(lower: &str, text: &str, extent: Extent) -> bool {
    let mut folded = text.chars().flat_map(char::to_lowercase);
    let starts = lower.chars().all(|c| folded.next() == Some(c));
    starts && (extent == Extent::Start || folded.next().is_none())
}

/// `*` stands for any text and `?` for one character.
fn is_like(text: &str, pattern: &str) -> bool {
    let (mut text_at, mut pattern_at) = (text.chars(), pattern.chars());
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = pattern_at.clone();
        match (ahead.next(), text_at.clone().next()) {
            (Some('*'), _) => {
                retry = Some((text_at.clone(), ahead.clone()));
                pattern_at = ahead;
                continue;
            }
            (None, None) => return true,
            (Some(wanted), Some(c)) if wanted == '?' || wanted == c => {
                pattern_at = ahead;
                text_at.next();
                continue;
            }
            _ => {}
        }
        // The last `*` takes one character more.
        let Some((text_from, pattern_from)) = &mut retry else { return false };
        if text_from.next().is_none() {
            return false;
        }
        text_at = text_from.clone();
        pattern_at = pattern_from.clone();
    }
}

#[cfg(test)]
mod tests;
