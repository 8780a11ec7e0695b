//! The circumstances of one request, as conditions and their scripts see them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use chrono::Timelike;
use chrono_tz::Tz;

use super::AttributeRef;
use crate::Membership;
use crate::date_format::{DateFormat, Leniency, ReadDate};
use crate::evaluate::{ConditionErrors, LevelValue, MatchType, Request, RequestContext};
use crate::geolocation::Location;
use crate::model::{Group, Table, User};
use crate::schedule::zone::Zone;
use crate::snapshot::PluginSettings;
use stdx::Timestamp;

/// Everything that a condition may ask for. It only borrows, so that making one costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct ConditionContext<'a> {
    /// The requested resource, level by level.
    pub levels: &'a [(Cow<'a, str>, LevelValue<'a>)],
    pub owner: Option<&'a str>,
    pub access: &'a str,
    pub who: &'a Membership,
    pub now: Timestamp,
    /// The peer's address, or the first that it forwards for if its word is taken.
    pub client_addr: ClientAddr<'a>,
    /// The request's own, or else that of the settings.
    pub cluster_name: Option<&'a str>,
    pub cluster_type: Option<&'a str>,
    /// What the request brings along.
    pub request: &'a RequestContext,
    /// Zones of the requested resource.
    pub zones: &'a [&'a str],
    /// Every tag of the requested resource.
    pub tags: &'a [TagFacts<'a>],
    /// The tag whose policy is being evaluated.
    pub current_tag: Option<TagFacts<'a>>,
    pub users: &'a Table<String, User>,
    pub groups: &'a Table<String, Group>,
    /// Where the client is, by each of the service's geolocation tables.
    pub locations: &'a [Location<'a>],
    pub settings: &'a ConditionSettings,
}

/// A tag of the requested resource.
#[derive(Clone, Copy, Debug)]
pub struct TagFacts<'a> {
    pub kind: &'a str,
    pub attributes: &'a BTreeMap<String, String>,
    pub found: MatchType,
}

/// Where the caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddr<'a> {
    Missing,
    Ip(IpAddr),
    Text(&'a str),
}

/// How conditions are evaluated.
#[derive(Clone, Debug, Default)]
pub struct ConditionSettings {
    pub errors: ConditionErrors,
    /// The clock by which times of day are read.
    pub time_zone: Tz,
    pub date_formats: DateFormats,
    /// Addresses whose word about forwarded addresses is taken; `None` or nobody: everybody's.
    pub trusted_proxies: Option<Vec<String>>,
    pub uses_forwarded_addr: bool,
    pub cluster_name: Option<String>,
    pub cluster_type: Option<String>,
}

impl ConditionSettings {
    pub fn of(plugin: &PluginSettings) -> Self {
        Self {
            errors: plugin.condition_errors,
            time_zone: plugin.time_zone,
            date_formats: DateFormats::new(&plugin.extra_date_formats),
            trusted_proxies: plugin.trusted_proxies.clone(),
            uses_forwarded_addr: plugin.uses_forwarded_addr,
            cluster_name: plugin.cluster_name.clone(),
            cluster_type: plugin.cluster_type.clone(),
        }
    }

    fn client_addr<'a>(&self, context: &'a RequestContext, known: Option<IpAddr>) -> ClientAddr<'a> {
        let own = match (&context.remote_addr, &context.client_addr_text, known) {
            (Some(text), _, _) | (None, Some(text), None) => ClientAddr::Text(text),
            (None, _, Some(addr)) => ClientAddr::Ip(addr.to_canonical()),
            (None, None, None) => ClientAddr::Missing,
        };
        let is_trusted = match &self.trusted_proxies {
            None => true,
            Some(proxies) if proxies.is_empty() => true,
            Some(proxies) => match own {
                ClientAddr::Missing => false,
                ClientAddr::Text(text) => proxies.iter().any(|proxy| proxy == text),
                ClientAddr::Ip(addr) => proxies.iter().any(|proxy| proxy.parse() == Ok(addr)),
            },
        };
        match context.forwarded_addrs.first() {
            Some(first) if self.uses_forwarded_addr && is_trusted => ClientAddr::Text(first),
            _ => own,
        }
    }

    /// The moment of a local time in a zone named as Java does, or in the settings' own; of no zone's name.
    pub fn instant(&self, date: &ReadDate, zone: Option<&str>) -> Timestamp {
        if let Some(offset) = date.offset_secs {
            let millis = date.local.and_utc().timestamp_millis();
            return Timestamp::from_millis(millis.saturating_sub(offset.saturating_mul(1000)));
        }
        match zone.filter(|zone| !zone.trim().is_empty()) {
            Some(zone) => Zone::parse_as_java(zone).instant(date.local),
            None => Zone::Named(self.time_zone).instant(date.local),
        }
    }
}

/// The patterns of dates in tag attributes, longest first.
#[derive(Clone, Debug)]
pub struct DateFormats(Vec<DateFormat>);

/// Ranger's own, and Apache Atlas's.
const OWN_DATE_FORMATS: [&str; 2] = ["yyyy/MM/dd", ATLAS_DATE_FORMAT];
const ATLAS_DATE_FORMAT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";
/// By which the pattern above can be named.
const ATLAS_DATE_FORMAT_NAME: &str = "ATLAS_DATE_FORMAT";

impl DateFormats {
    /// What is no pattern is left out, as Ranger does.
    pub fn new(extra: &[String]) -> Self {
        let mut patterns: Vec<&str> = OWN_DATE_FORMATS.to_vec();
        patterns.extend(extra.iter().map(String::as_str).filter(|pattern| !pattern.trim().is_empty()));
        // Atlas's pattern takes its turn by the length of its name.
        let turn = |pattern: &&str| match *pattern {
            ATLAS_DATE_FORMAT => ATLAS_DATE_FORMAT_NAME.len(),
            pattern => pattern.len(),
        };
        patterns.sort_by_key(|pattern| std::cmp::Reverse(turn(pattern)));
        let pattern = |name: &str| match name.eq_ignore_ascii_case(ATLAS_DATE_FORMAT_NAME) {
            true => DateFormat::new(ATLAS_DATE_FORMAT),
            false => DateFormat::new(name),
        };
        Self(patterns.into_iter().filter_map(pattern).collect())
    }

    /// The moment that a text says, taken for UTC.
    pub fn read(&self, text: &str) -> Option<Timestamp> {
        if text.trim().is_empty() {
            return None;
        }
        let date = self.0.iter().find_map(|format| format.read(text, Leniency::Refuses))?;
        let offset = date.offset_secs.unwrap_or(0).saturating_mul(1000);
        Some(Timestamp::from_millis(date.local.and_utc().timestamp_millis().saturating_sub(offset)))
    }
}

impl Default for DateFormats {
    fn default() -> Self {
        Self::new(&[])
    }
}

static NO_ATTRIBUTES: BTreeMap<String, String> = BTreeMap::new();
static NO_USERS: LazyLock<Table<String, User>> = LazyLock::new(Table::new);
static NO_GROUPS: LazyLock<Table<String, Group>> = LazyLock::new(Table::new);

impl<'a> ConditionContext<'a> {
    /// The circumstances that the request itself gives: no zones and tags, and no users and groups with attributes.
    pub fn new(r: &'a Request<'_>, settings: &'a ConditionSettings) -> Self {
        let context = r.context;
        let given = |own: &'a Option<String>| own.as_deref().filter(|name| !name.is_empty());
        Self {
            levels: r.resource.levels(),
            owner: r.owner,
            access: r.access,
            who: r.who,
            now: r.now,
            client_addr: settings.client_addr(context, r.client_addr),
            cluster_name: given(&context.cluster_name).or(settings.cluster_name.as_deref()),
            cluster_type: given(&context.cluster_type).or(settings.cluster_type.as_deref()),
            request: context,
            zones: &[],
            tags: &[],
            current_tag: None,
            users: &NO_USERS,
            groups: &NO_GROUPS,
            locations: &[],
            settings,
        }
    }

    pub fn has_tag(&self, kind: &str) -> bool {
        self.tags.iter().any(|tag| tag.kind == kind)
    }

    /// An attribute of the request, or of the place that it comes from.
    pub fn attribute(&self, name: &str) -> Option<AttributeRef<'a>> {
        let located =
            || self.locations.iter().rev().find_map(|location| location.value(name)).map(AttributeRef::Text);
        located().or_else(|| self.request.attributes.get(name).map(AttributeRef::from))
    }

    /// The user's name; `None`: nobody asks.
    pub fn user(&self) -> Option<&'a str> {
        Some(self.who.user.as_str()).filter(|name| !name.is_empty())
    }

    /// The attributes of the user who asks.
    pub fn user_attributes(&self) -> &'a BTreeMap<String, String> {
        let name = self.who.user.as_str();
        match &self.request.user_attributes {
            Some(users) => users.get(name),
            None => self.users.get(name).map(|user| &user.attributes),
        }
        .unwrap_or(&NO_ATTRIBUTES)
    }

    /// The attributes of a group, whoever is in it.
    pub fn group_attributes(&self, name: &str) -> &'a BTreeMap<String, String> {
        match &self.request.group_attributes {
            Some(groups) => groups.get(name),
            None => self.groups.get(name).map(|group| &group.attributes),
        }
        .unwrap_or(&NO_ATTRIBUTES)
    }

    /// Minutes since midnight by the settings' clock.
    pub(super) fn minute_of_day(&self) -> Option<u32> {
        let local = Zone::Named(self.settings.time_zone).wall_clock(self.now)?;
        Some(local.hour() * 60 + local.minute())
    }
}
