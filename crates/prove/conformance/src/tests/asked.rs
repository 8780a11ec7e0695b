//! Makes up requests, and the settings of the plug-in that asks.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use policy::{
    AttributeValue, AuditMode, ConditionErrors, ElementScope, InlineGrant, InlineMode, InlinePolicy,
    LevelValue, MatchType, MatchingScope, Membership, PluginSettings, Request, RequestContext, RequestTag,
    Resource,
};
use proptest::collection::{btree_set, vec};
use proptest::option::{self, weighted as some};
use proptest::prelude::*;
use proptest::sample::select;
use stdx::Timestamp;

use super::made::{ACCESSES, GROUPS, ROLES, SERVICE, TAGS, USERS};

/// 2026-01-15T12:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_768_478_400_000);

/// A request, owned.
#[derive(Clone)]
pub(crate) struct Asked {
    levels: Vec<(&'static str, Vec<String>)>,
    owner: Option<String>,
    pub(crate) access: String,
    pub(crate) user: String,
    pub(crate) groups: BTreeSet<String>,
    pub(crate) roles: Option<BTreeSet<String>>,
    client_addr: Option<String>,
    pub(crate) context: RequestContext,
}

/// On one line, and only what is out of the ordinary of the context.
impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { levels, owner, access, user, groups, roles, client_addr, context } = self;
        write!(
            f,
            "`{user}` of {groups:?}, {roles:?} asks `{access}` on {levels:?} of {owner:?} from {client_addr:?}"
        )?;
        let (given, plain) = (format!("{context:#?}"), format!("{:#?}", RequestContext::new()));
        let plain: BTreeSet<&str> = plain.lines().collect();
        let different = given.lines().filter(|line| !plain.contains(line)).map(str::trim);
        write!(f, " with [{}]", different.collect::<Vec<_>>().join(" "))
    }
}

impl Asked {
    /// With the roles that were found, unless the request names its own.
    pub(crate) fn who(&self, found: Membership) -> Membership {
        let roles = self.roles.clone().map_or(found.roles, Into::into);
        Membership::new(self.user.clone(), self.groups.clone(), roles)
    }

    pub(crate) fn request<'a>(&'a self, who: &'a Membership) -> Request<'a> {
        let level = |(name, values): &'a (&'static str, Vec<String>)| {
            let value = match values.as_slice() {
                [one] => LevelValue::One(Cow::Borrowed(one.as_str())),
                several => LevelValue::Any(Cow::Borrowed(several)),
            };
            (Cow::Borrowed(*name), value)
        };
        Request {
            service: SERVICE,
            resource: Resource::of_values(self.levels.iter().map(level)),
            owner: self.owner.as_deref(),
            access: &self.access,
            who,
            now: NOW,
            client_addr: self.client_addr.as_ref().and_then(|addr| addr.parse().ok()),
            context: &self.context,
        }
    }

    /// Whether a table, or a path, is asked for by name, so that a policy about another has nothing to do with it.
    pub(crate) fn names_a_place(&self) -> bool {
        let is_name = |text: &String| !text.is_empty() && text != "*";
        self.levels.iter().any(|(_, values)| !values.is_empty() && values.iter().all(is_name))
    }

    /// Whether one access type is asked for, so that one policy is the one that decided.
    pub(crate) fn is_single(&self) -> bool {
        let context = &self.context;
        self.access != "_any" && context.access_types.is_empty() && context.access_groups.is_empty()
    }
}

fn text(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(from).prop_map(str::to_owned)
}

fn names(
    from: &'static [&'static str],
    n: std::ops::Range<usize>,
) -> impl Strategy<Value = BTreeSet<String>> {
    btree_set(text(from), n)
}

const SHAPES: &[&[&str]] = &[
    &[],
    &["db"],
    &["db", "table"],
    &["db", "table", "column"],
    &["db", "table", "column"],
    &["db", "udf"],
    &["path"],
    &["table"],
];

fn levels() -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let one = || {
        prop_oneof![
            9 => text(&["a", "b", "ab", "A", "axb", "u1", "c"]).prop_map(|value| vec![value]),
            1 => text(&["", "*"]).prop_map(|value| vec![value]),
            1 => vec(text(&["a", "b", "c"]), 0..3),
        ]
    };
    let path = prop_oneof![
        9 => text(&["/a", "/a/b", "/a/b/c1", "/a/", "/x/b", "/u1", "/A/b", "/"]).prop_map(|value| vec![value]),
        1 => text(&["", "*"]).prop_map(|value| vec![value]),
    ];
    (select(SHAPES), vec(one(), 3), path).prop_map(|(shape, values, path)| {
        let of = |level: &str, at: usize| if level == "path" { path.clone() } else { values[at].clone() };
        shape.iter().enumerate().map(|(at, level)| (*level, of(level, at))).collect()
    })
}

pub(crate) fn asked() -> impl Strategy<Value = Asked> {
    let access = prop_oneof![
        6 => text(ACCESSES),
        2 => Just("_any".to_owned()),
        1 => text(&["_admin", "zzz", "_super_user", "_READ"]),
    ];
    let who = (text(&["u1", "u2", "a", ""]), names(GROUPS, 0..3), some(0.2, names(ROLES, 1..3)));
    let from = (option::of(text(USERS)), option::of(text(&["10.0.0.1", "10.0.0.7", "11.0.0.1"])));
    (levels(), access, who, from, context()).prop_map(
        |(levels, access, (user, groups, roles), (owner, client_addr), context)| Asked {
            levels,
            owner,
            access,
            user,
            groups,
            roles,
            client_addr,
            context,
        },
    )
}

fn context() -> impl Strategy<Value = RequestContext> {
    let several = (some(0.15, names(ACCESSES, 1..3)), some(0.1, vec(names(ACCESSES, 1..3), 1..3)));
    let scopes = (prop::bool::weighted(0.15), prop::bool::weighted(0.05), prop::bool::weighted(0.9));
    let place = (option::of(text(&["x", "z"])), option::of(text(&["read", "get-it"])));
    (several, scopes, place, some(0.15, given_tags()), some(0.1, inline())).prop_map(
        |(
            (access_types, access_groups),
            (is_below, is_parent, ignores_denials_below),
            (place, action),
            tags,
            inline_policy,
        )| {
            let mut context = RequestContext::new();
            context.access_types = access_types.unwrap_or_default();
            context.access_groups = access_groups.unwrap_or_default();
            if !context.access_groups.is_empty() {
                context.access_types = context.access_groups.iter().flatten().cloned().collect();
            }
            context.scope = if is_below { MatchingScope::ItselfOrBelow } else { MatchingScope::Itself };
            if is_parent {
                context.element_scopes.insert("path".to_owned(), ElementScope::ItselfOrChild);
            }
            context.ignores_denials_below = ignores_denials_below;
            context.action = action;
            context.attributes.extend(place.map(|place| ("place".to_owned(), AttributeValue::Text(place))));
            context.tags = tags;
            context.inline_policy = inline_policy;
            context
        },
    )
}

fn given_tags() -> impl Strategy<Value = Vec<RequestTag>> {
    let found =
        select(&[MatchType::Itself, MatchType::ItselfAndAllBelow, MatchType::Above, MatchType::Below][..]);
    vec((text(TAGS), found), 0..3).prop_map(|tags| {
        let tag =
            |(kind, found)| RequestTag { kind, attributes: Default::default(), validity: Vec::new(), found };
        tags.into_iter().map(tag).collect()
    })
}

fn inline() -> impl Strategy<Value = InlinePolicy> {
    let grant = (
        names(&["u:u1", "g:g1", "r:r1", "g:public"], 0..2),
        names(&["column:a/a/a", "table:a/b", "db:*", "path:/a", "nonsense"], 0..2),
        names(&["select", "all", "_any"], 0..2),
        names(&["read", "get*"], 0..2),
    )
        .prop_map(|(principals, resources, permissions, actions)| InlineGrant {
            principals,
            resources,
            permissions,
            actions,
        });
    let mode = select(&[InlineMode::Alone, InlineMode::And, InlineMode::Or][..]);
    (option::of(text(&["u:u1", "g:g1", "r:r2"])), mode, vec(grant, 0..3))
        .prop_map(|(grantor, mode, grants)| InlinePolicy { grantor, mode, grants })
}

/// Settings as Ranger's plug-ins have them.
pub(crate) fn settings(condition_errors: ConditionErrors) -> impl Strategy<Value = PluginSettings> {
    let audit = select(&[AuditMode::ByPolicy, AuditMode::ByPolicy, AuditMode::All, AuditMode::Nothing][..]);
    (audit, any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.1)).prop_map(
        move |(audit_mode, has_fallback, is_super, is_excluded)| PluginSettings {
            audit_mode,
            has_fallback,
            super_users: is_super.then(|| "u2".to_owned()).into_iter().collect(),
            audit_excluded_groups: is_excluded.then(|| "g2".to_owned()).into_iter().collect(),
            condition_errors,
            ..PluginSettings::default()
        },
    )
}
