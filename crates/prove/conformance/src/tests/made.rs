//! Makes up definitions, policies, tags, zones, roles and requests, from few names so that they meet often.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use policy::model::{
    Access, AccessTypeDef, ConditionDef, FilterItem, Group, Item, MaskInfo, MaskItem, MaskTypeDef, Member,
    Policy, PolicyCondition, PolicyId, PolicyKind, Priority, ResourceDef, ResourceMap, ResourceValues, Role,
    Service, ServiceDef, State, Tag, TagId, TaggedResource, TaggedResourceId, User, ValiditySchedule, Zone,
    ZoneResources,
};
use proptest::collection::{btree_set, vec};
use proptest::option::{self, weighted as some};
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) const SERVICE: &str = "made_up";
pub(crate) const TAG_SERVICE: &str = "made_up_tags";
/// The name of the service's definition, which stands before access types in tag policies.
const COMPONENT: &str = "made";

/// Everything that is made up of a state.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) definition: DefinitionChoice,
    pub(crate) policies: Vec<Policy>,
    pub(crate) roles: Vec<Role>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) tagged: Vec<TaggedResource>,
    pub(crate) zones: Vec<Zone>,
}

/// Policies as Ranger writes them, since that is what a fault is told with.
impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.definition)?;
        for policy in &self.policies {
            writeln!(f, "policy {}", ranger_wire::Policy::from_model(policy).to_json().unwrap())?;
        }
        self.roles.iter().try_for_each(|role| writeln!(f, "{role:?}"))?;
        self.tags.iter().try_for_each(|tag| writeln!(f, "{tag:?}"))?;
        self.tagged.iter().try_for_each(|tagged| writeln!(f, "{:?} {:?}", tagged.resource, tagged.tags))?;
        self.zones
            .iter()
            .try_for_each(|zone| writeln!(f, "{} {:?} {:?}", zone.name, zone.services, zone.tag_services))
    }
}

/// What differs between made-up definitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefinitionChoice {
    has_denies: bool,
    is_case_ignored: bool,
    are_masks_wild: bool,
    is_table_leaf: bool,
    has_tag_service: bool,
}

impl Made {
    pub(crate) fn state(&self) -> State {
        let mut state = State::default();
        let (def, tag_def) = (self.definition.definition(), tag_definition());
        for (name, def, tag_service) in [
            (SERVICE, &def, self.definition.has_tag_service.then(|| TAG_SERVICE.to_owned())),
            (TAG_SERVICE, &tag_def, None),
        ] {
            let service = Service {
                name: name.to_owned(),
                service_def: def.name.clone(),
                tag_service,
                is_enabled: true,
                ..Service::default()
            };
            state.services.insert(name.to_owned(), service);
            state.service_defs.insert(def.name.clone(), def.clone());
        }
        state.policies = self.policies.iter().map(|policy| (policy.id, policy.clone())).collect();
        state.roles = self.roles.iter().map(|role| (role.name.clone(), role.clone())).collect();
        state.tags = self.tags.iter().map(|tag| (tag.id, tag.clone())).collect();
        state.tagged_resources = self.tagged.iter().map(|tagged| (tagged.id, tagged.clone())).collect();
        state.zones = self.zones.iter().map(|zone| (zone.name.clone(), zone.clone())).collect();
        let attributes = BTreeMap::from([("dept".to_owned(), "a".to_owned())]);
        for (id, name) in (1..).zip(USERS) {
            let user =
                User { id, name: (*name).to_owned(), credential: None, attributes: attributes.clone() };
            state.users.insert(user.name.clone(), user);
        }
        for (id, name) in (1..).zip(GROUPS) {
            let group =
                Group { id, name: (*name).to_owned(), users: Vec::new(), attributes: attributes.clone() };
            state.groups.insert(group.name.clone(), group);
        }
        state
    }
}

pub(crate) const USERS: &[&str] = &["u1", "u2", "a"];
pub(crate) const GROUPS: &[&str] = &["g1", "g2"];
pub(crate) const ROLES: &[&str] = &["r1", "r2", "r3"];
const ZONES: &[&str] = &["z1", "z2"];
pub(crate) const TAGS: &[&str] = &["T1", "T2"];
const PATTERNS: &[&str] =
    &["a", "b", "ab", "A", "*", "a*", "*b", "?", "a?b*", "{USER}", "{OWNER}x", "${{USER.dept}}"];
const PATHS: &[&str] = &["/a", "/a/b", "/a/", "/a/*", "/*/b", "/a/b/c?", "*", "/{USER}", "/A"];
pub(crate) const ACCESSES: &[&str] = &["select", "update", "create", "all"];

impl DefinitionChoice {
    fn definition(self) -> ServiceDef {
        let level = |name: &str, level: i64, parent: &str, matcher: &str| ResourceDef {
            name: name.to_owned(),
            level,
            parent: Some(parent.to_owned()).filter(|parent| !parent.is_empty()),
            is_recursive_supported: matcher.contains("Path"),
            is_excludes_supported: true,
            matcher: matcher.to_owned(),
            matcher_options: options(&[
                ("wildCard", "true"),
                ("ignoreCase", if self.is_case_ignored { "true" } else { "false" }),
            ]),
            is_valid_leaf: (name == "table" && self.is_table_leaf).then_some(true),
            ..ResourceDef::default()
        };
        let differing = |name: &str| ResourceDef {
            name: name.to_owned(),
            matcher_options: options(&[("wildCard", if self.are_masks_wild { "true" } else { "false" })]),
            ..ResourceDef::default()
        };
        ServiceDef {
            id: 1,
            name: COMPONENT.to_owned(),
            options: options(&[(
                "enableDenyAndExceptionsInPolicies",
                if self.has_denies { "true" } else { "false" },
            )]),
            resources: vec![
                level("db", 10, "", "RangerDefaultResourceMatcher"),
                level("table", 20, "db", "RangerDefaultResourceMatcher"),
                level("udf", 20, "db", "RangerDefaultResourceMatcher"),
                level("column", 30, "table", "RangerDefaultResourceMatcher"),
                level("path", 10, "", "RangerPathResourceMatcher"),
            ],
            access_types: access_types(""),
            conditions: condition_defs(),
            mask_types: ["MASK", "MASK_NULL", "CUSTOM", "MASK_NONE"].map(mask_type).into(),
            mask_access_types: vec!["select".to_owned()],
            mask_resources: ["db", "table", "column"].map(differing).into(),
            filter_access_types: vec!["select".to_owned()],
            filter_resources: ["db", "table"].map(differing).into(),
            ..ServiceDef::default()
        }
    }
}

fn options(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn mask_type(name: &str) -> MaskTypeDef {
    MaskTypeDef { name: name.to_owned(), ..MaskTypeDef::default() }
}

fn access_types(prefix: &str) -> Vec<AccessTypeDef> {
    let access = |(name, category): &(&str, &str)| AccessTypeDef {
        name: format!("{prefix}{name}"),
        category: Some((*category).to_owned()),
        implied_grants: match *name {
            "all" => ["select", "update", "create"].map(|implied| format!("{prefix}{implied}")).into(),
            _ => Vec::new(),
        },
        ..AccessTypeDef::default()
    };
    [("select", "READ"), ("update", "UPDATE"), ("create", "CREATE"), ("all", "MANAGE")]
        .iter()
        .map(access)
        .collect()
}

fn tag_definition() -> ServiceDef {
    let mut other = access_types("other:");
    other.truncate(1);
    let tag = ResourceDef {
        name: "tag".to_owned(),
        level: 1,
        matcher: "RangerDefaultResourceMatcher".to_owned(),
        matcher_options: options(&[("wildCard", "true"), ("ignoreCase", "false")]),
        ..ResourceDef::default()
    };
    ServiceDef {
        id: 2,
        name: "tag".to_owned(),
        mask_resources: vec![ResourceDef { name: "tag".to_owned(), ..ResourceDef::default() }],
        filter_resources: vec![ResourceDef { name: "tag".to_owned(), ..ResourceDef::default() }],
        resources: vec![tag],
        access_types: access_types(&format!("{COMPONENT}:")).into_iter().chain(other).collect(),
        mask_types: ["made:MASK", "made:MASK_NULL", "made:CUSTOM", "made:MASK_NONE"].map(mask_type).into(),
        conditions: condition_defs(),
        ..ServiceDef::default()
    }
}

fn condition_defs() -> Vec<ConditionDef> {
    let def = |name: &str, evaluator: &str, given: &[(&str, &str)]| ConditionDef {
        name: name.to_owned(),
        evaluator: format!("org.apache.ranger.plugin.conditionevaluator.{evaluator}"),
        evaluator_options: options(given),
    };
    vec![
        def("ip", "RangerIpMatcher", &[]),
        def("place", "RangerContextAttributeValueInCondition", &[("attributeName", "place")]),
        def("not-place", "RangerContextAttributeValueNotInCondition", &[("attributeName", "place")]),
        def("any-tag", "RangerAnyOfExpectedTagsPresentConditionEvaluator", &[]),
        def("no-tag", "RangerNoneOfExpectedTagsPresentConditionEvaluator", &[]),
        def("action", "RangerActionMatcher", &[]),
        def("script", "RangerScriptConditionEvaluator", &[]),
    ]
}

pub(crate) fn made() -> impl Strategy<Value = Made> {
    let policies = vec(policy(SERVICE), 0..7);
    let tag_policies = vec(policy(TAG_SERVICE), 0..4);
    (definition(), policies, tag_policies, roles(), tags(), vec(tagged(), 0..4), zones()).prop_map(
        |(definition, policies, tag_policies, roles, tags, tagged, zones)| {
            let policies = (1..).zip(policies.into_iter().chain(tag_policies)).map(|(id, mut policy)| {
                policy.id = PolicyId(id);
                policy.name = format!("p{id}");
                policy
            });
            let tagged =
                (1..).zip(tagged).map(|(id, tagged)| TaggedResource { id: TaggedResourceId(id), ..tagged });
            Made { definition, policies: policies.collect(), roles, tags, tagged: tagged.collect(), zones }
        },
    )
}

fn definition() -> impl Strategy<Value = DefinitionChoice> {
    (prop::bool::weighted(0.9), any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.7))
        .prop_map(|(has_denies, is_case_ignored, are_masks_wild, is_table_leaf, has_tag_service)| {
            DefinitionChoice { has_denies, is_case_ignored, are_masks_wild, is_table_leaf, has_tag_service }
        })
}

fn text(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(from).prop_map(str::to_owned)
}

fn texts(from: &'static [&'static str], n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    btree_set(select(from), n).prop_map(|texts| texts.into_iter().map(str::to_owned).collect())
}

fn values(from: &'static [&'static str], recursive: f64) -> impl Strategy<Value = ResourceValues> {
    (texts(from, 1..3), prop::bool::weighted(0.1), prop::bool::weighted(recursive)).prop_map(
        |(values, is_excludes, is_recursive)| {
            // What excludes everything matches nothing.
            let is_excludes = is_excludes && !values.iter().any(|value| value == "*");
            ResourceValues { values, is_excludes, is_recursive }
        },
    )
}

const SHAPES: &[&[&str]] = &[
    &["db"],
    &["db", "table"],
    &["db", "table", "column"],
    &["db", "table", "column"],
    &["db", "udf"],
    &["path"],
];

fn resources() -> impl Strategy<Value = ResourceMap> {
    let one = values(PATTERNS, 0.0);
    (select(SHAPES), vec(one, 3), values(PATHS, 0.6)).prop_map(|(shape, values, path)| {
        let of = |level: &str, at: usize| if level == "path" { path.clone() } else { values[at].clone() };
        shape.iter().enumerate().map(|(at, level)| ((*level).to_owned(), of(level, at))).collect()
    })
}

fn tag_resources() -> impl Strategy<Value = ResourceMap> {
    values(&["T1", "T2", "*", "T*"], 0.0).prop_map(|values| BTreeMap::from([("tag".to_owned(), values)]))
}

pub(crate) fn policy(service: &'static str) -> BoxedStrategy<Policy> {
    let is_tag = service == TAG_SERVICE;
    let maps = if is_tag { tag_resources().boxed() } else { resources().boxed() };
    let more = if is_tag { tag_resources().boxed() } else { resources().boxed() };
    let kind = prop_oneof![
        3 => Just(PolicyKind::Access),
        1 => Just(PolicyKind::Mask),
        1 => Just(PolicyKind::RowFilter),
    ];
    let flags = (
        prop::bool::weighted(0.25),
        prop::bool::weighted(0.95),
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.08),
    );
    let items = || vec(item(is_tag), 0..3);
    let lists = (items(), vec(item(is_tag), 0..2), vec(item(is_tag), 0..2), vec(item(is_tag), 0..2));
    let rules = (
        vec((item(is_tag), mask(is_tag)), 0..3),
        vec((item(is_tag), text(&["x = 1", "y = '${{USER.dept}}'"])), 0..3),
    );
    let rest = (some(0.1, more), conditions(0.15), some(0.15, validity()), some(0.25, text(ZONES)));
    (maps, kind, flags, lists, rules, rest)
        .prop_map(move |(resources, kind, flags, lists, rules, rest)| {
            let mut policy = Policy::new(service, "made up", kind);
            policy.resources = resources;
            policy.priority = if flags.0 { Priority::Override } else { Priority::Normal };
            (policy.is_enabled, policy.is_audit_enabled) = (flags.1, flags.2);
            match kind {
                PolicyKind::Access | PolicyKind::Audit => {
                    (policy.items, policy.deny_items, policy.allow_exceptions, policy.deny_exceptions) =
                        lists;
                    policy.is_deny_all_else = flags.3;
                }
                PolicyKind::Mask => {
                    policy.mask_items =
                        rules.0.into_iter().map(|(item, mask)| MaskItem { item, mask }).collect();
                    policy.resources = masked(policy.resources, &["db", "table", "column"], is_tag);
                }
                PolicyKind::RowFilter => {
                    let filter = |(item, filter_expr)| FilterItem { item, filter_expr };
                    policy.filter_items = rules.1.into_iter().map(filter).collect();
                    policy.resources = masked(policy.resources, &["db", "table"], is_tag);
                }
            }
            let (additional, conditions, validity, zone) = rest;
            if kind == PolicyKind::Access {
                policy.additional_resources = additional.into_iter().collect();
            }
            policy.conditions = conditions;
            policy.validity = validity.into_iter().collect();
            policy.zone = zone;
            policy
        })
        .boxed()
}

/// Masks and filters are about whole columns and whole tables.
fn masked(from: ResourceMap, levels: &[&str], is_tag: bool) -> ResourceMap {
    if is_tag {
        return from;
    }
    let any = || ResourceValues {
        values: vec!["a".to_owned(), "*".to_owned()],
        is_excludes: false,
        is_recursive: false,
    };
    let of = |level: &&str| ((*level).to_owned(), from.get(*level).cloned().unwrap_or_else(any));
    levels.iter().map(of).collect()
}

fn item(is_tag: bool) -> impl Strategy<Value = Item> {
    let names: &'static [&'static str] = if is_tag {
        &["made:select", "made:update", "made:create", "made:all", "other:select", "made:_READ"]
    } else {
        &["select", "update", "create", "all", "_READ", "_ALL"]
    };
    let who = (
        texts(&["u1", "u2", "a", "{USER}", "{OWNER}"], 0..2),
        texts(&["g1", "g2", "public"], 0..2),
        texts(ROLES, 0..2),
    );
    (texts(names, usize::from(is_tag)..3), who, conditions(0.15), prop::bool::weighted(0.2)).prop_map(
        |(accesses, (users, groups, roles), conditions, delegate_admin)| Item {
            accesses: accesses.into_iter().map(Access::new).collect(),
            users,
            groups,
            roles,
            conditions,
            delegate_admin,
        },
    )
}

fn conditions(share: f64) -> impl Strategy<Value = Vec<PolicyCondition>> {
    let one = |kind: &'static str, values: &'static [&'static str]| {
        texts(values, 1..3).prop_map(move |values| PolicyCondition { kind: kind.to_owned(), values })
    };
    let script = text(&[
        "IS_IN_ROLE('r1')",
        "TAG.level == 'high'",
        "if (ctx.isAccessedBefore('until')) ctx.result = true;",
        "USER.dept == 'a' && HAS_ANY_TAG",
        "UGNAMES.indexOf('g1') >= 0",
    ]);
    let any = prop_oneof![
        one("ip", &["10.0.0.*", "10.0.0.1", "*"]),
        one("place", &["x", "y"]),
        one("not-place", &["x"]),
        one("any-tag", TAGS),
        one("no-tag", TAGS),
        one("action", &["read", "get*"]),
        one("nothing-known", &["x"]),
        script.prop_map(|script| PolicyCondition { kind: "script".to_owned(), values: vec![script] }),
    ];
    some(share, any).prop_map(|condition| condition.into_iter().collect())
}

fn mask(is_tag: bool) -> impl Strategy<Value = MaskInfo> {
    let kind = text(&["MASK", "MASK_NULL", "CUSTOM", "MASK_NONE"]);
    (kind, option::of(Just("upper({col})".to_owned()))).prop_map(move |(kind, value_expr)| MaskInfo {
        mask_type: if is_tag { format!("{COMPONENT}:{kind}") } else { kind },
        condition_expr: None,
        value_expr,
    })
}

fn validity() -> impl Strategy<Value = ValiditySchedule> {
    let year = |from: i32| (from..2030).prop_map(|year| Some(format!("{year}/01/01 00:00:00")));
    (year(2020), option::of(year(2024))).prop_map(|(start_time, end_time)| ValiditySchedule {
        start_time,
        end_time: end_time.flatten(),
        ..ValiditySchedule::default()
    })
}

/// Also one that says nothing that could be read.
fn validity_of_tag() -> impl Strategy<Value = ValiditySchedule> {
    let broken = ValiditySchedule { start_time: Some("soon".to_owned()), ..ValiditySchedule::default() };
    prop_oneof![3 => validity(), 1 => Just(broken)]
}

fn roles() -> impl Strategy<Value = Vec<Role>> {
    let members = |from, n| {
        texts(from, n).prop_map(|names: Vec<String>| {
            names.into_iter().map(|name| Member { name, is_admin: false }).collect::<Vec<_>>()
        })
    };
    vec((members(USERS, 0..2), members(&["g1", "g2", "public"], 0..2), members(ROLES, 0..2)), 3).prop_map(
        |all| {
            let role = |(id, (name, (users, groups, roles)))| Role {
                id,
                name,
                users,
                groups,
                roles,
                ..Role::default()
            };
            (1..).zip(ROLES.iter().map(|name| (*name).to_owned()).zip(all)).map(role).collect()
        },
    )
}

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    vec((text(TAGS), option::of(text(&["high", "low"])), some(0.3, validity_of_tag())), 3).prop_map(|all| {
        let tag =
            |(id, (kind, level, validity)): (i64, (String, Option<String>, Option<ValiditySchedule>))| {
                let mut attributes = BTreeMap::from([("until".to_owned(), "2027/01/01".to_owned())]);
                attributes.extend(level.map(|level| ("level".to_owned(), level)));
                Tag {
                    id: TagId(id),
                    kind,
                    attributes,
                    validity: validity.into_iter().collect(),
                    ..Tag::default()
                }
            };
        (1..).zip(all).map(tag).collect()
    })
}

fn tagged() -> impl Strategy<Value = TaggedResource> {
    (resources(), btree_set(1_i64..4, 1..3)).prop_map(|(mut resource, tags)| {
        for values in resource.values_mut() {
            values.is_excludes = false;
        }
        TaggedResource {
            service: SERVICE.to_owned(),
            resource,
            tags: tags.into_iter().map(TagId).collect(),
            ..TaggedResource::default()
        }
    })
}

fn zones() -> impl Strategy<Value = Vec<Zone>> {
    let map = resources().prop_map(|map| {
        map.into_iter()
            .map(|(level, values)| (level, values.values))
            .collect::<BTreeMap<String, Vec<String>>>()
    });
    let zone = (some(0.4, vec(map, 1..3)), any::<bool>());
    vec(zone, ZONES.len()).prop_map(|all| {
        let zone = |(name, (maps, has_tags)): (&&str, (Option<ZoneResources>, bool))| Zone {
            name: (*name).to_owned(),
            services: maps.into_iter().map(|maps| (SERVICE.to_owned(), maps)).collect(),
            tag_services: has_tags.then(|| TAG_SERVICE.to_owned()).into_iter().collect::<BTreeSet<_>>(),
            ..Zone::default()
        };
        ZONES.iter().zip(all).map(zone).collect()
    })
}
