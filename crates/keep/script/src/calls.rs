//! The methods of `ctx`, by which a script asks about the request.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use policy::LevelValue;
use policy::condition::{AttributeRef, ClientAddr, ConditionContext, TagFacts};
use policy::date_format::{DateFormat, Leniency};
use stdx::Timestamp;

use crate::data::{NAME, match_type_name, tags_by_kind};

/// What a method gives.
#[derive(Clone, Debug)]
pub(crate) enum Answer<'a> {
    Null,
    Bool(bool),
    Text(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
    Map(&'a BTreeMap<String, String>),
    Maps(Vec<&'a BTreeMap<String, String>>),
    Tag(TagFacts<'a>),
    Date(Timestamp),
}

/// What a method is given; texts and numbers are texts, anything else is nothing.
pub(crate) type Arg<'v> = Option<Cow<'v, str>>;

/// Every method, and whether it is a property besides, as the getters of a Java object are.
pub(crate) const METHODS: [&str; 83] = [
    "getResource",
    "getResourceZone",
    "getResourceZones",
    "getRequestContextAttribute",
    "isAccessTypeAny",
    "isAccessTypeDelegatedAdmin",
    "getUser",
    "getUserGroups",
    "getUserRoles",
    "getAccessTime",
    "getClientIPAddress",
    "getClientType",
    "getAction",
    "getRequestData",
    "getSessionId",
    "getCurrentTag",
    "getCurrentTagType",
    "getAllTagTypes",
    "getTagAttributes",
    "getTagAttributesForAllMatchingTags",
    "getAttributeNames",
    "getAttributeValue",
    "getAttributeValueForAllMatchingTags",
    "getAsDate",
    "getTagAttributeAsDate",
    "isAccessedAfter",
    "isAccessedBefore",
    "tagNames",
    "tagNamesQ",
    "tagNamesCsv",
    "tagNamesCsvQ",
    "tagAttrNames",
    "tagAttrNamesQ",
    "tagAttrNamesCsv",
    "tagAttrNamesCsvQ",
    "tagAttr",
    "tagAttrQ",
    "tagAttrCsv",
    "tagAttrCsvQ",
    "ugNames",
    "ugNamesQ",
    "ugNamesCsv",
    "ugNamesCsvQ",
    "ugAttrNames",
    "ugAttrNamesQ",
    "ugAttrNamesCsv",
    "ugAttrNamesCsvQ",
    "ugAttr",
    "ugAttrQ",
    "ugAttrCsv",
    "ugAttrCsvQ",
    "urNames",
    "urNamesQ",
    "urNamesCsv",
    "urNamesCsvQ",
    "userAttrNames",
    "userAttrNamesQ",
    "userAttrNamesCsv",
    "userAttrNamesCsvQ",
    "userAttr",
    "userAttrQ",
    "hasTag",
    "hasAnyTag",
    "hasUserAttr",
    "hasUgAttr",
    "hasTagAttr",
    "isInGroup",
    "isInRole",
    "isInAnyGroup",
    "isInAnyRole",
    "isAccessTimeAfter",
    "isAccessTimeBefore",
    "isAccessTimeBetween",
    "logDebug",
    "logInfo",
    "logWarn",
    "logError",
    "logFatal",
    // Texts of the circumstances that other versions of Ranger have besides.
    "getClusterName",
    "getClusterType",
    "getRemoteIPAddress",
    "getOwner",
    "getAccessType",
];

/// Formats of the times that `isAccessTimeAfter` and its like take.
const TIME_FORMATS: [&str; 3] = ["yyyy/MM/dd HH:mm:ss", "yyyy/MM/dd HH:mm", "yyyy/MM/dd"];

/// What `method` gives; `None`: there is no such method.
pub(crate) fn call<'a>(context: &ConditionContext<'a>, method: &str, args: &[Arg<'_>]) -> Option<Answer<'a>> {
    let request = context.request;
    let arg = |at: usize| args.get(at).and_then(|arg| arg.as_deref());
    let first = || arg(0).unwrap_or_default();
    Some(match method {
        "getResource" => text(resource_text(context)),
        "getResourceZone" => match context.zones {
            [zone] => Answer::Text(Cow::Borrowed(zone)),
            _ => Answer::Text(Cow::Borrowed("")),
        },
        "getResourceZones" => list(context.zones.iter().copied()),
        "getRequestContextAttribute" => match arg(0).and_then(|name| context.attribute(name)) {
            None => Answer::Null,
            Some(AttributeRef::Text(text)) => Answer::Text(Cow::Borrowed(text)),
            Some(AttributeRef::List(values)) => text(Some(format!("[{}]", values.join(", ")))),
        },
        "isAccessTypeAny" => Answer::Bool(context.access.is_empty() || context.access == "_any"),
        "isAccessTypeDelegatedAdmin" => Answer::Bool(context.access == "_admin"),
        "getAccessType" => Answer::Text(Cow::Borrowed(context.access)),
        "getUser" => borrowed(context.user()),
        "getOwner" => borrowed(context.owner),
        "getUserGroups" => list(context.who.groups.iter().map(String::as_str)),
        "getUserRoles" => list(context.who.roles.iter().map(String::as_str)),
        "getAccessTime" => Answer::Date(context.now),
        "getClientIPAddress" => addr_text(context.client_addr).map_or(Answer::Null, Answer::Text),
        "getRemoteIPAddress" => borrowed(request.remote_addr.as_deref()),
        "getClientType" => borrowed(request.client_type.as_deref()),
        "getAction" => borrowed(request.action.as_deref()),
        "getRequestData" => borrowed(request.request_data.as_deref()),
        "getSessionId" => borrowed(request.session_id.as_deref()),
        "getClusterName" => borrowed(context.cluster_name),
        "getClusterType" => borrowed(context.cluster_type),
        "hasTag" => Answer::Bool(context.has_tag(first())),
        "hasAnyTag" => Answer::Bool(!context.tags.is_empty()),
        "hasUserAttr" => Answer::Bool(first() == NAME || context.user_attributes().contains_key(first())),
        "hasUgAttr" => {
            let mut groups = context.who.groups.iter();
            let has = |name: &String| first() == NAME || context.group_attributes(name).contains_key(first());
            Answer::Bool(groups.any(has))
        }
        "hasTagAttr" => Answer::Bool(context.tags.iter().any(|tag| tag.attributes.contains_key(first()))),
        "isInGroup" => Answer::Bool(context.who.groups.contains(first())),
        "isInRole" => Answer::Bool(context.who.roles.contains(first())),
        "isInAnyGroup" => Answer::Bool(!context.who.groups.is_empty()),
        "isInAnyRole" => Answer::Bool(!context.who.roles.is_empty()),
        "isAccessTimeAfter" => Answer::Bool(is_between(context, arg(0), None, arg(1))),
        "isAccessTimeBefore" => Answer::Bool(is_between(context, None, arg(0), arg(1))),
        "isAccessTimeBetween" => Answer::Bool(is_between(context, arg(0), arg(1), arg(2))),
        "logDebug" | "logInfo" | "logWarn" | "logError" | "logFatal" => Answer::Null,
        _ => return of_tags(context, method, args).or_else(|| joined(context, method, args)),
    })
}

pub(crate) fn addr_text(addr: ClientAddr<'_>) -> Option<Cow<'_, str>> {
    match addr {
        ClientAddr::Missing => None,
        ClientAddr::Ip(addr) => Some(Cow::Owned(addr.to_string())),
        ClientAddr::Text(text) => Some(Cow::Borrowed(text)),
    }
}

fn text<'a>(text: Option<String>) -> Answer<'a> {
    text.map_or(Answer::Null, |text| Answer::Text(Cow::Owned(text)))
}

fn borrowed(text: Option<&str>) -> Answer<'_> {
    text.map_or(Answer::Null, |text| Answer::Text(Cow::Borrowed(text)))
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> Answer<'a> {
    Answer::List(items.map(Cow::Borrowed).collect())
}

fn resource_text(context: &ConditionContext<'_>) -> Option<String> {
    let value = |(_, value): &(Cow<'_, str>, LevelValue<'_>)| match value {
        LevelValue::One(value) => value.clone().into_owned(),
        LevelValue::Any(values) => format!("[{}]", values.join(", ")),
    };
    let values: Vec<String> = context.levels.iter().map(value).collect();
    (!values.is_empty()).then(|| values.join("/"))
}

fn is_between(
    context: &ConditionContext<'_>,
    from: Option<&str>,
    to: Option<&str>,
    zone: Option<&str>,
) -> bool {
    let read = |text: Option<&str>| {
        let text = text.filter(|text| !text.trim().is_empty())?;
        let date =
            TIME_FORMATS.iter().find_map(|format| DateFormat::new(format)?.read(text, Leniency::Carries))?;
        Some(context.settings.instant(&date, zone))
    };
    match (read(from), read(to)) {
        // A text that is no time is before everything.
        (from, None) => from.is_none_or(|from| context.now > from),
        (None, Some(to)) => context.now < to,
        (Some(from), Some(to)) => from <= context.now && context.now < to,
    }
}

fn of_tags<'a>(context: &ConditionContext<'a>, method: &str, args: &[Arg<'_>]) -> Option<Answer<'a>> {
    let arg = |at: usize| args.get(at).and_then(|arg| arg.as_deref());
    let tag = || context.tags.iter().find(|tag| Some(tag.kind) == arg(0));
    // With one name the attribute is that of the current tag.
    let value = || match (arg(0), args.len()) {
        (Some(name), 1) => context.current_tag.and_then(|tag| tag.attributes.get(name)),
        _ => tag().and_then(|tag| tag.attributes.get(arg(1)?)),
    };
    let date = || context.settings.date_formats.read(value()?);
    Some(match method {
        "getCurrentTag" => context.current_tag.map_or(Answer::Null, Answer::Tag),
        "getCurrentTagType" => borrowed(context.current_tag.map(|tag| tag.kind)),
        "getAllTagTypes" if context.tags.is_empty() => Answer::Null,
        "getAllTagTypes" => {
            let kinds: BTreeSet<&str> = context.tags.iter().map(|tag| tag.kind).collect();
            list(kinds.into_iter())
        }
        "getTagAttributes" => tag().map_or(Answer::Null, |tag| Answer::Map(tag.attributes)),
        "getTagAttributesForAllMatchingTags" => {
            tag().map_or(Answer::Null, |tag| Answer::Maps(vec![tag.attributes]))
        }
        "getAttributeNames" => {
            tag().map_or(Answer::Null, |tag| list(tag.attributes.keys().map(String::as_str)))
        }
        "getAttributeValue" => borrowed(value().map(String::as_str)),
        "getAttributeValueForAllMatchingTags" => {
            value().map_or(Answer::Null, |value| list(std::iter::once(value.as_str())))
        }
        "getAsDate" => {
            let date = arg(0).and_then(|text| context.settings.date_formats.read(text));
            date.map_or(Answer::Null, Answer::Date)
        }
        "getTagAttributeAsDate" => date().map_or(Answer::Null, Answer::Date),
        "isAccessedAfter" => Answer::Bool(date().is_none_or(|date| context.now >= date)),
        "isAccessedBefore" => Answer::Bool(date().is_some_and(|date| context.now <= date)),
        _ => return None,
    })
}

/// The methods that join a list into a text.
fn joined<'a>(context: &ConditionContext<'a>, method: &str, args: &[Arg<'_>]) -> Option<Answer<'a>> {
    let (stem, is_csv, is_quoted) = match method.strip_suffix('Q') {
        Some(stem) => (stem.strip_suffix("Csv").unwrap_or(stem), stem.ends_with("Csv"), true),
        None => (method.strip_suffix("Csv").unwrap_or(method), method.ends_with("Csv"), false),
    };
    let takes_name = matches!(stem, "tagAttr" | "ugAttr" | "userAttr");
    let name = args.first().and_then(|arg| arg.as_deref()).unwrap_or_default();
    let options = if takes_name { args.get(1..) } else { Some(args) }.unwrap_or_default();
    let values = values(context, stem, name)?;
    let join = if is_csv { Join::default() } else { Join::of(options) };
    Some(text(Some(join.text(&values, is_quoted))))
}

fn values<'a>(context: &ConditionContext<'a>, stem: &str, name: &str) -> Option<Vec<&'a str>> {
    let groups = || context.who.groups.iter().map(String::as_str);
    let names = |maps: &mut dyn Iterator<Item = &'a BTreeMap<String, String>>, hidden: &[&str]| {
        let names: BTreeSet<&str> = maps.flat_map(|map| map.keys().map(String::as_str)).collect();
        names.into_iter().filter(|name| !hidden.contains(name)).collect()
    };
    Some(match stem {
        "tagNames" => tags_by_kind(context).into_keys().collect(),
        "ugNames" => groups().collect(),
        "urNames" => context.who.roles.iter().map(String::as_str).collect(),
        "tagAttrNames" => names(
            &mut tags_by_kind(context).into_values().map(|tag| tag.attributes),
            &["_type", "_matchType"],
        ),
        "ugAttrNames" => names(&mut groups().map(|name| context.group_attributes(name)), &[NAME]),
        "userAttrNames" => names(&mut std::iter::once(context.user_attributes()), &[NAME]),
        "tagAttr" => {
            let value = |tag: TagFacts<'a>| match name {
                "_type" => Some(tag.kind),
                "_matchType" => Some(match_type_name(tag.found)),
                name => tag.attributes.get(name).map(String::as_str),
            };
            tags_by_kind(context).into_values().filter_map(value).collect()
        }
        "ugAttr" if name == NAME => groups().collect(),
        "ugAttr" => groups()
            .filter_map(|group| context.group_attributes(group).get(name).map(String::as_str))
            .collect(),
        "userAttr" if name == NAME => context.user().into_iter().collect(),
        "userAttr" => context.user_attributes().get(name).map(String::as_str).into_iter().collect(),
        _ => return None,
    })
}

/// How a list becomes a text.
struct Join<'v> {
    if_empty: Option<&'v str>,
    separator: &'v str,
    open: &'v str,
    close: &'v str,
}

impl Default for Join<'_> {
    fn default() -> Self {
        Self { if_empty: None, separator: ",", open: "'", close: "'" }
    }
}

impl<'v> Join<'v> {
    /// Default value, separator, and quotes before and after each item; one that is given as nothing is empty.
    fn of(args: &'v [Arg<'_>]) -> Self {
        let or = |at: usize, default| match args.get(at) {
            None => default,
            Some(arg) => arg.as_deref().unwrap_or_default(),
        };
        let open = or(2, "'");
        Self {
            if_empty: args.first().and_then(|arg| arg.as_deref()),
            separator: or(1, ","),
            open,
            close: args.get(3).and_then(|arg| arg.as_deref()).unwrap_or(open),
        }
    }

    fn text(&self, values: &[&str], is_quoted: bool) -> String {
        let (open, close) = if is_quoted { (self.open, self.close) } else { ("", "") };
        let mut text = String::new();
        for value in values {
            if !text.is_empty() {
                text.push_str(self.separator);
            }
            text.extend([open, value, close]);
        }
        if let (true, Some(value)) = (text.is_empty(), self.if_empty) {
            text.extend([open, value, close]);
        }
        text
    }
}
