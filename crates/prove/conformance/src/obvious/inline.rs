//! Asks the policy that a session brings along, after all others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use policy::model::{PolicyKind, ResourceMap, ResourceValues};
use policy::{
    ElementScope, InlineGrant, InlineMode, InlinePolicy, LevelValue, Membership, Request, RequestContext,
    Resource,
};

use super::World;
use super::asking::Asking;
use super::definition::Definition;
use super::level_match::LevelMatcher;
use crate::answer::{Answer, Rank};

impl World {
    pub(crate) fn inline(&self, kind: PolicyKind, asking: &Asking<'_, '_>, answer: &mut Answer) {
        let Some(inline) = &asking.request.context.inline_policy else { return };
        let is_asked = match inline.mode {
            InlineMode::Alone => true,
            InlineMode::And => answer.is_allowed,
            InlineMode::Or => !answer.is_allowed,
        };
        if !is_asked {
            return;
        }
        let has_grant =
            inline.grants.is_empty() || inline.grants.iter().any(|grant| self.is_granted(grant, asking));
        answer.is_allowed = self.may_grantor(kind, inline, asking) && has_grant;
        answer.is_determined = true;
        answer.policy = None;
        answer.policy_version = None;
        answer.priority = Rank::Normal;
        answer.reason = Some("inline-policy".to_owned());
    }

    /// Nobody can give what she does not have.
    fn may_grantor(&self, kind: PolicyKind, inline: &InlinePolicy, asking: &Asking<'_, '_>) -> bool {
        let Some(grantor) = inline.grantor.as_deref().filter(|grantor| !grantor.is_empty()) else {
            return true;
        };
        let one = |name: &str| BTreeSet::from([name.to_owned()]);
        let who = match grantor.split_once(':') {
            Some(("u", name)) => self.membership(name, &BTreeSet::new()),
            Some(("g", name)) => self.membership("", &one(name)),
            Some(("r", name)) => Membership::new("", BTreeSet::new(), one(name)),
            _ => return false,
        };
        let context = RequestContext { inline_policy: None, ..asking.request.context.clone() };
        let asked = asking.request;
        let levels = asked.resource.levels().iter().map(|(level, value)| {
            let value = match value {
                LevelValue::One(value) => LevelValue::One(Cow::Borrowed(value.as_ref())),
                LevelValue::Any(values) => LevelValue::Any(Cow::Borrowed(values.as_ref())),
            };
            (Cow::Borrowed(level.as_ref()), value)
        });
        let request = Request {
            service: asked.service,
            resource: Resource::of_values(levels),
            owner: asked.owner,
            access: asked.access,
            who: &who,
            now: asked.now,
            client_addr: asked.client_addr,
            context: &context,
        };
        let Some(asking) = self.prepare(&request) else { return false };
        let answer = self.in_zones(kind, &asking);
        answer.is_allowed && answer.is_determined
    }

    fn is_granted(&self, grant: &InlineGrant, asking: &Asking<'_, '_>) -> bool {
        let Some(service) = self.service(asking.request.service) else { return false };
        let Some(def) = self.state.service_defs.get(&service.service_def) else { return false };
        let definition = Definition::of(def);
        is_principal(grant, asking.request.who)
            && is_permitted(grant, &asking.access, &definition)
            && is_action(grant, asking.request.context.action.as_deref())
            && (grant.resources.is_empty()
                || grant.resources.iter().any(|name| is_resource(name, &definition, asking)))
    }
}

fn is_principal(grant: &InlineGrant, who: &Membership) -> bool {
    let names = |mark: &str, name: &str| grant.principals.contains(&format!("{mark}:{name}"));
    grant.principals.is_empty()
        || names("g", "public")
        || names("u", &who.user)
        || who.groups.iter().any(|group| names("g", group))
        || who.roles.iter().any(|role| names("r", role))
}

/// Permissions, and what they imply, letter by letter.
fn is_permitted(grant: &InlineGrant, access: &str, definition: &Definition) -> bool {
    grant.permissions.iter().any(|named| named == access || definition.implied(named).contains(access))
}

fn is_action(grant: &InlineGrant, action: Option<&str>) -> bool {
    let named: Vec<&String> = grant.actions.iter().filter(|named| !named.trim().is_empty()).collect();
    let action = action.unwrap_or("").to_lowercase();
    named.is_empty()
        || named.iter().any(|named| {
            let named = named.to_lowercase();
            named.strip_suffix('*').map_or(action == named, |start| action.starts_with(start))
        })
}

/// `type:a/b/c`: the names of the levels down to `type`; the last takes the rest.
fn is_resource(name: &str, definition: &Definition, asking: &Asking<'_, '_>) -> bool {
    let Some(map) = parse(name, definition) else { return false };
    let hierarchies = definition.hierarchies(PolicyKind::Access);
    let Some(hierarchy) = hierarchies
        .iter()
        .find(|hierarchy| map.keys().all(|key| hierarchy.iter().any(|def| def.name == *key)))
    else {
        return false;
    };
    let fillings = asking.fillings(None);
    let requested = asking.resource().levels();
    // What is asked for may not go deeper than the name, and every value of every level must lie in it.
    !requested.is_empty()
        && requested.iter().all(|(level, _)| map.contains_key(level.as_ref()))
        && hierarchy.iter().all(|def| {
            let Some(values) = map.get(&def.name) else { return true };
            let matcher = LevelMatcher::new(def, values);
            let wanted: Vec<&str> =
                asking.resource().level(&def.name).into_iter().flat_map(LevelValue::values).collect();
            let holds = |value: &&str| {
                let value = LevelValue::One(Cow::Borrowed(*value));
                matcher.is_match(Some(&value), ElementScope::Itself, &fillings)
            };
            if wanted.is_empty() { matcher.is_any() } else { wanted.iter().all(holds) }
        })
}

/// None where the name cannot be read.
pub(crate) fn parse(name: &str, definition: &Definition) -> Option<ResourceMap> {
    let (last, rest) = name.split_once(':')?;
    let hierarchies = definition.hierarchies(PolicyKind::Access);
    let mut levels = hierarchies.iter().find_map(|hierarchy| {
        let idx = hierarchy.iter().position(|def| def.name == last)?;
        Some(hierarchy.iter().take(idx + 1).copied().collect::<Vec<_>>())
    })?;
    let n_levels = levels.len();
    let parts = split(rest, n_levels);
    if parts.len() != n_levels || parts.iter().any(String::is_empty) {
        return None;
    }
    let named = levels.drain(..).zip(parts);
    Some(
        named
            .map(|(def, value)| {
                let values = ResourceValues {
                    values: vec![value],
                    is_excludes: false,
                    is_recursive: def.is_recursive_supported,
                };
                (def.name.clone(), values)
            })
            .collect(),
    )
}

/// At `/`, where no `\` stands before it; the last part takes the rest.
fn split(text: &str, n_parts: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_full = parts.len() == n_parts;
        if c == '\\' && chars.peek().is_some_and(|next| *next == '/' || *next == '\\') {
            let escaped = chars.next();
            parts.last_mut().into_iter().for_each(|part| part.extend(escaped));
        } else if c == '/' && !is_full {
            parts.push(String::new());
        } else {
            parts.last_mut().into_iter().for_each(|part| part.push(c));
        }
    }
    parts
}
