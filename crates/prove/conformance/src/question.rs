//! A request of a test file, owned, and as each evaluator wants it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use anyhow::{Context as _, Result};
use policy::{
    AttributeValue, ElementScope, InlineGrant, InlineMode, InlinePolicy, LevelValue, MatchType,
    MatchingScope, Membership, Request, RequestContext, RequestTag, Resource,
};
use ranger_wire::parse_lenient;
use serde_json::Value;
use stdx::Timestamp;

use crate::scene::{Scene, flag, text, texts};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) service: String,
    pub(crate) levels: Vec<(String, Values)>,
    pub(crate) owner: Option<String>,
    pub(crate) access: String,
    pub(crate) user: String,
    pub(crate) groups: BTreeSet<String>,
    /// As the request names them; none: those that the user has.
    pub(crate) roles: Option<BTreeSet<String>>,
    pub(crate) now: Timestamp,
    pub(crate) context: RequestContext,
}

/// The value of one level.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    One(String),
    Any(Vec<String>),
}

impl Question {
    pub(crate) fn new(service: &str, levels: Vec<(String, Values)>, access: &str, now: Timestamp) -> Self {
        Self {
            service: service.to_owned(),
            levels,
            owner: None,
            access: access.to_owned(),
            user: String::new(),
            groups: BTreeSet::new(),
            roles: None,
            now,
            context: RequestContext::new(),
        }
    }

    /// From a test's `request`.
    pub(crate) fn read(scene: &Scene, json: &Value, now: Timestamp) -> Result<Self> {
        let member = |name: &str| json.get(name).and_then(text);
        let resource = json.get("resource").unwrap_or(&Value::Null);
        let at = member("accessTime").map(|text| time(&text)).transpose()?;
        let mut question = Self::new(
            &scene.downloaded.service,
            levels(resource),
            &member("accessType").unwrap_or_default(),
            at.unwrap_or(now),
        );
        question.owner = resource.get("ownerUser").and_then(text).or_else(|| {
            resource.get("elements").and_then(|elements| elements.get("ownerUser")).and_then(text)
        });
        question.user = member("user").unwrap_or_default();
        question.groups = texts(json.get("userGroups")).into_iter().collect();
        let roles: BTreeSet<String> = texts(json.get("userRoles")).into_iter().collect();
        question.roles = Some(roles).filter(|roles| !roles.is_empty());
        question.read_circumstances(json);
        question.read_context(json.get("context"))?;
        question.locate(scene);
        Ok(question)
    }

    fn read_circumstances(&mut self, json: &Value) {
        let member = |name: &str| json.get(name).and_then(text);
        let context = &mut self.context;
        context.client_addr_text = member("clientIPAddress");
        context.remote_addr = member("remoteIPAddress");
        context.forwarded_addrs = texts(json.get("forwardedAddresses"));
        context.client_type = member("clientType");
        context.action = member("action");
        context.request_data = member("requestData");
        context.session_id = member("sessionId");
        if carries_lists(json) {
            return;
        }
        context.cluster_name = member("clusterName");
        context.cluster_type = member("clusterType");
        if member("resourceMatchingScope").as_deref() == Some("SELF_OR_DESCENDANTS") {
            context.scope = MatchingScope::ItselfOrBelow;
        }
        context.element_scopes = element_scopes(json.get("resourceElementMatchingScopes"));
        context.ignores_denials_below = flag(json.get("isDescendantDenyIgnored")).unwrap_or(true);
        context.inline_policy = json.get("inlinePolicy").filter(|inline| inline.is_object()).map(inline);
    }

    fn read_context(&mut self, json: Option<&Value>) -> Result<()> {
        let Some(members) = json.and_then(Value::as_object) else { return Ok(()) };
        for (name, value) in members {
            match name.as_str() {
                "TAGS" => self.context.tags = Some(tags(value)?),
                "REQUESTED_RESOURCES" => self.context.requested_resources = Some(requested(value)?),
                "ALLACCESSTYPES" => self.context.access_types = texts(Some(value)).into_iter().collect(),
                "ALLACCESSTYPEGROUPS" => {
                    let groups = value.as_array().into_iter().flatten();
                    self.context.access_groups =
                        groups.map(|group| texts(Some(group)).into_iter().collect()).collect();
                }
                "IGNOREIFNOTDENIEDACCESSTYPES" => {
                    self.context.ignored_if_not_denied = texts(Some(value)).into_iter().collect();
                }
                _ => {
                    let attribute = match value {
                        Value::Array(_) => AttributeValue::List(texts(Some(value))),
                        other => AttributeValue::Text(text(other).unwrap_or_default()),
                    };
                    self.context.attributes.insert(name.clone(), attribute);
                }
            }
        }
        if self.context.tags.is_some() || self.context.requested_resources.is_some() {
            self.roles = None;
        }
        Ok(())
    }

    /// What geolocation enrichers add.
    fn locate(&mut self, scene: &Scene) {
        let addr = self.with_nobody(|request| crate::obvious::client_addr(request, &scene.settings));
        let Some(addr) = addr.and_then(|addr| addr.parse::<IpAddr>().ok()) else { return };
        for location in scene.locations.iter().filter_map(|table| table.locate(addr)) {
            for (name, value) in location.all() {
                self.context.attributes.insert(name.to_owned(), AttributeValue::Text(value.to_owned()));
            }
        }
    }

    fn with_nobody<T>(&self, ask: impl FnOnce(&Request<'_>) -> T) -> T {
        let who = Membership::default();
        ask(&self.request(&who))
    }

    pub(crate) fn request<'a>(&'a self, who: &'a Membership) -> Request<'a> {
        let level = |(name, values): &'a (String, Values)| {
            let value = match values {
                Values::One(value) => LevelValue::One(Cow::Borrowed(value.as_str())),
                Values::Any(values) => LevelValue::Any(Cow::Borrowed(values.as_slice())),
            };
            (Cow::Borrowed(name.as_str()), value)
        };
        Request {
            service: &self.service,
            resource: Resource::of_values(self.levels.iter().map(level)),
            owner: self.owner.as_deref(),
            access: &self.access,
            who,
            now: self.now,
            client_addr: self.context.client_addr_text.as_ref().and_then(|addr| addr.parse().ok()),
            context: &self.context,
        }
    }
}

/// With lists in the context Ranger's driver builds the request anew, and forgets half of it.
fn carries_lists(json: &Value) -> bool {
    let has = |name: &str| json.get("context").and_then(|context| context.get(name)).is_some();
    has("TAGS") || has("REQUESTED_RESOURCES")
}

/// `elements`, without nulls.
pub(crate) fn levels(resource: &Value) -> Vec<(String, Values)> {
    let elements = resource.get("elements").and_then(Value::as_object);
    let level = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::Array(_) => Some((name.clone(), Values::Any(texts(Some(value))))),
        other => Some((name.clone(), Values::One(text(other)?))),
    };
    elements.into_iter().flatten().filter_map(level).collect()
}

pub(crate) fn element_scopes(json: Option<&Value>) -> BTreeMap<String, ElementScope> {
    let scopes = json.and_then(Value::as_object).into_iter().flatten();
    scopes
        .filter_map(|(level, scope)| match scope.as_str()? {
            "SELF_OR_CHILD" => Some((level.clone(), ElementScope::ItselfOrChild)),
            "SELF_OR_PREFIX" => Some((level.clone(), ElementScope::ItselfOrPrefix)),
            _ => None,
        })
        .collect()
}

fn inline(json: &Value) -> InlinePolicy {
    let set = |json: &Value, name: &str| texts(json.get(name)).into_iter().collect::<BTreeSet<_>>();
    let grants = json.get("grants").and_then(Value::as_array).into_iter().flatten().filter(|g| g.is_object());
    InlinePolicy {
        grantor: json.get("grantor").and_then(text),
        mode: match json.get("mode").and_then(Value::as_str) {
            Some("RANGER_AND_INLINE") => InlineMode::And,
            Some("RANGER_OR_INLINE") => InlineMode::Or,
            _ => InlineMode::Alone,
        },
        grants: grants
            .map(|grant| InlineGrant {
                principals: set(grant, "principals"),
                resources: set(grant, "resources"),
                permissions: set(grant, "permissions"),
                actions: set(grant, "actions"),
            })
            .collect(),
    }
}

/// A list of tags, as JSON inside a text.
fn tags(value: &Value) -> Result<Vec<RequestTag>> {
    let list = inner(value)?;
    let tags = list.as_array().into_iter().flatten().filter(|tag| tag.is_object());
    tags.map(|json| {
        let mut wire = ranger_wire::Tag::from_value(json.clone()).context("a tag")?;
        wire.id = Some(1);
        let tag = wire.to_model().context("a tag")?;
        let found = match json.get("matchType").and_then(Value::as_str) {
            Some("SELF_AND_ALL_DESCENDANTS") => MatchType::ItselfAndAllBelow,
            Some("DESCENDANT") => MatchType::Below,
            Some("ANCESTOR") => MatchType::Above,
            _ => MatchType::Itself,
        };
        Ok(RequestTag { kind: tag.kind, attributes: tag.attributes, validity: tag.validity, found })
    })
    .collect()
}

/// `{requestedResources: [{elements}]}`, as JSON inside a text.
fn requested(value: &Value) -> Result<Vec<BTreeMap<String, String>>> {
    let whole = inner(value)?;
    let list = whole.get("requestedResources").and_then(Value::as_array);
    let elements = |json: &Value| {
        let levels = levels(json).into_iter().filter_map(|(level, values)| match values {
            Values::One(value) => Some((level, value)),
            Values::Any(values) => values.into_iter().next().map(|value| (level, value)),
        });
        levels.collect()
    };
    Ok(list.into_iter().flatten().filter(|json| json.is_object()).map(elements).collect())
}

fn inner(value: &Value) -> Result<Value> {
    match value {
        Value::String(text) => Ok(parse_lenient(text)?),
        other => Ok(other.clone()),
    }
}

/// `20180801-19:30:00.000-0700`, also with one more `-` before the offset, or milliseconds.
pub(crate) fn time(text: &str) -> Result<Timestamp> {
    if let Ok(millis) = text.parse() {
        return Ok(Timestamp::from_millis(millis));
    }
    let formats = ["%Y%m%d-%H:%M:%S%.3f%z", "%Y%m%d-%H:%M:%S%.3f-%z"];
    let read = formats.iter().find_map(|format| chrono::DateTime::parse_from_str(text, format).ok());
    let read = read.with_context(|| format!("`{text}` is not a time"))?;
    Ok(Timestamp::from_millis(read.timestamp_millis()))
}
