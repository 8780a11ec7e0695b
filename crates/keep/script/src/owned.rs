//! The circumstances of a request with everything that they borrow, so that another thread can hold them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use policy::condition::{ClientAddr, ConditionContext, ConditionSettings, TagFacts};
use policy::{AttributeValue, LevelValue, MatchType, Membership, Request, RequestContext, Resource};
use stdx::Timestamp;

pub(crate) struct OwnedContext {
    levels: Vec<(String, LevelValue<'static>)>,
    owner: Option<String>,
    access: String,
    who: Membership,
    now: Timestamp,
    client_addr: Option<String>,
    cluster_name: Option<String>,
    cluster_type: Option<String>,
    request: RequestContext,
    zones: Vec<String>,
    tags: Vec<OwnedTag>,
    current_tag: Option<OwnedTag>,
    settings: ConditionSettings,
}

struct OwnedTag {
    kind: String,
    attributes: BTreeMap<String, String>,
    found: MatchType,
}

impl OwnedContext {
    pub(crate) fn new(context: &ConditionContext<'_>) -> Self {
        let mut request = context.request.clone();
        for (name, value) in context.locations.iter().flat_map(|location| location.entries()) {
            request.attributes.insert(name.to_owned(), AttributeValue::Text(value.to_owned()));
        }
        let user = (context.who.user.clone(), context.user_attributes().clone());
        request.user_attributes = Some(BTreeMap::from([user]));
        let group = |name: &String| (name.clone(), context.group_attributes(name).clone());
        request.group_attributes = Some(context.who.groups.iter().map(group).collect());
        request.tags = None;
        request.inline_policy = None;
        let level = |(name, value): &(Cow<'_, str>, LevelValue<'_>)| {
            let value = match value {
                LevelValue::One(value) => LevelValue::One(Cow::Owned(value.clone().into_owned())),
                LevelValue::Any(values) => LevelValue::Any(Cow::Owned(values.clone().into_owned())),
            };
            (name.clone().into_owned(), value)
        };
        Self {
            levels: context.levels.iter().map(level).collect(),
            owner: context.owner.map(str::to_owned),
            access: context.access.to_owned(),
            who: context.who.clone(),
            now: context.now,
            client_addr: match context.client_addr {
                ClientAddr::Missing => None,
                ClientAddr::Ip(addr) => Some(addr.to_string()),
                ClientAddr::Text(text) => Some(text.to_owned()),
            },
            cluster_name: context.cluster_name.map(str::to_owned),
            cluster_type: context.cluster_type.map(str::to_owned),
            request,
            zones: context.zones.iter().map(|zone| (*zone).to_owned()).collect(),
            tags: context.tags.iter().map(OwnedTag::new).collect(),
            current_tag: context.current_tag.as_ref().map(OwnedTag::new),
            settings: context.settings.clone(),
        }
    }

    pub(crate) fn with<T>(&self, ask: impl FnOnce(&ConditionContext<'_>) -> T) -> T {
        let levels = self.levels.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), value.clone()));
        let request = Request {
            service: "",
            resource: Resource::of_values(levels),
            owner: self.owner.as_deref(),
            access: &self.access,
            who: &self.who,
            now: self.now,
            client_addr: None,
            context: &self.request,
        };
        let zones: Vec<&str> = self.zones.iter().map(String::as_str).collect();
        let tags: Vec<TagFacts<'_>> = self.tags.iter().map(OwnedTag::facts).collect();
        ask(&ConditionContext {
            client_addr: self.client_addr.as_deref().map_or(ClientAddr::Missing, ClientAddr::Text),
            cluster_name: self.cluster_name.as_deref(),
            cluster_type: self.cluster_type.as_deref(),
            zones: &zones,
            tags: &tags,
            current_tag: self.current_tag.as_ref().map(OwnedTag::facts),
            ..ConditionContext::new(&request, &self.settings)
        })
    }
}

impl OwnedTag {
    fn new(tag: &TagFacts<'_>) -> Self {
        Self { kind: tag.kind.to_owned(), attributes: tag.attributes.clone(), found: tag.found }
    }

    fn facts(&self) -> TagFacts<'_> {
        TagFacts { kind: &self.kind, attributes: &self.attributes, found: self.found }
    }
}
