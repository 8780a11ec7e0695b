//! The plain data that a request is spread out as for scripts: `REQ`, `USER`, `TAG` and the rest.

use std::borrow::Cow;
use std::collections::BTreeMap;

use policy::condition::{ConditionContext, TagFacts};
use policy::{LevelValue, MatchType, MatchingScope};

use crate::calls::addr_text;
use crate::json::JsonText;

/// What holds the name of the user and of a group among their attributes.
pub(crate) const NAME: &str = "_name";

type Attributes = BTreeMap<String, String>;

/// `{request, tags, tagNames, tag}`; what is not known is left out.
pub(crate) fn plain_data(context: &ConditionContext<'_>) -> String {
    let mut json = JsonText::default();
    json.raw("{\"request\":");
    request(&mut json, context);
    let tags = tags_by_kind(context);
    json.raw(",\"tags\":");
    json.object(tags.iter().map(|(kind, tag)| (*kind, tag)), tag);
    json.raw(",\"tagNames\":");
    json.list(tags.keys(), |json, kind| json.text(kind));
    json.raw(",\"tag\":");
    match &context.current_tag {
        Some(current) if !context.tags.is_empty() => tag(&mut json, current),
        _ => json.raw("{}"),
    }
    json.raw("}");
    json.into_text()
}

/// Of two tags of a kind the later.
pub(crate) fn tags_by_kind<'a>(context: &ConditionContext<'a>) -> BTreeMap<&'a str, TagFacts<'a>> {
    context.tags.iter().map(|tag| (tag.kind, *tag)).collect()
}

pub(crate) fn match_type_name(found: MatchType) -> &'static str {
    match found {
        MatchType::Nothing => "NONE",
        MatchType::Itself => "SELF",
        MatchType::ItselfAndAllBelow => "SELF_AND_ALL_DESCENDANTS",
        MatchType::Above => "ANCESTOR",
        MatchType::Below => "DESCENDANT",
    }
}

fn tag(json: &mut JsonText, tag: &TagFacts<'_>) {
    let own = [("_type", tag.kind), ("_matchType", match_type_name(tag.found))];
    let attributes = tag.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    json.object(attributes.chain(own), JsonText::text);
}

fn request(json: &mut JsonText, context: &ConditionContext<'_>) {
    let request = context.request;
    let scope = match request.scope {
        MatchingScope::Itself => "SELF",
        MatchingScope::ItselfOrBelow => "SELF_OR_DESCENDANTS",
    };
    let addr = addr_text(context.client_addr);
    let texts = [
        ("accessType", Some(context.access)),
        ("action", request.action.as_deref()),
        ("clientIPAddress", addr.as_deref()),
        ("clientType", request.client_type.as_deref()),
        ("clusterName", context.cluster_name),
        ("clusterType", context.cluster_type),
        ("remoteIPAddress", request.remote_addr.as_deref()),
        ("requestData", request.request_data.as_deref()),
        ("resourceMatchingScope", Some(scope)),
        ("user", context.user()),
    ];
    json.raw("{\"accessTime\":");
    json.raw(&context.now.millis().to_string());
    for (name, text) in texts.iter().filter_map(|(name, text)| text.map(|text| (name, text))) {
        json.raw(",");
        json.text(name);
        json.raw(":");
        json.text(text);
    }
    if !request.forwarded_addrs.is_empty() {
        json.raw(",\"forwardedAddresses\":");
        json.list(&request.forwarded_addrs, |json, addr| json.text(addr));
    }
    json.raw(",\"resource\":");
    resource(json, context);
    json.raw(",\"userGroups\":");
    json.list(&context.who.groups, |json, name| json.text(name));
    json.raw(",\"userRoles\":");
    json.list(&context.who.roles, |json, name| json.text(name));
    json.raw(",\"userAttributes\":");
    attributes(json, context.user_attributes(), context.user());
    let groups = context.who.groups.iter().map(|name| (name.as_str(), name.as_str()));
    json.raw(",\"userGroupAttributes\":");
    json.object(groups, |json, name| attributes(json, context.group_attributes(name), Some(name)));
    json.raw(",\"uga\":");
    group_values(json, context);
    json.raw("}");
}

/// The requested resource; for the policy of a tag, that tag.
fn resource(json: &mut JsonText, context: &ConditionContext<'_>) {
    let one = |value| (value, None);
    let owner = context.owner.map(|owner| ("_ownerUser", one(owner)));
    let current = context.current_tag.as_ref().map(|tag| ("tag", one(tag.kind)));
    let levels = context.levels.iter().filter(|_| current.is_none()).map(|(level, value)| match value {
        LevelValue::One(value) => (level.as_ref(), (value.as_ref(), None)),
        LevelValue::Any(values) => (level.as_ref(), ("", Some(values))),
    });
    let fields = current.into_iter().chain(levels).chain(owner);
    json.object(fields, |json, (one, many): (&str, Option<&Cow<'_, [String]>>)| match many {
        None => json.text(one),
        Some(values) => json.list(values.iter(), |json, value| json.text(value)),
    });
}

fn attributes(json: &mut JsonText, given: &Attributes, name: Option<&str>) {
    let given = given.iter().filter(|(key, _)| *key != NAME);
    let given = given.map(|(key, value)| (key.as_str(), value.as_str()));
    json.object(given.chain(name.map(|name| (NAME, name))), JsonText::text);
}

/// Every attribute of the user's groups, with its first value (`sVal`) and with all of them (`mVal`).
fn group_values(json: &mut JsonText, context: &ConditionContext<'_>) {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in &context.who.groups {
        for (name, value) in context.group_attributes(group).iter().filter(|(name, _)| *name != NAME) {
            values.entry(name).or_default().push(value);
        }
        values.entry(NAME).or_default().push(group);
    }
    let first = values.iter().filter_map(|(name, values)| Some((*name, *values.first()?)));
    json.raw("{\"sVal\":");
    json.object(first, JsonText::text);
    json.raw(",\"mVal\":");
    json.object(values.iter().map(|(name, values)| (*name, values)), |json, values| {
        json.list(values, |json, value| json.text(value));
    });
    json.raw("}");
}
