//! Everything that a test file sets up before it asks: services, policies, tags, zones, roles and the plug-in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use policy::geolocation::LocationTable;
use policy::model::{Member, Role};
use policy::{AuditMode, PluginSettings};
use ranger_wire::download::{Download, Downloaded, state};
use ranger_wire::{Roles, ServicePolicies, ServiceTags, UserStore};
use serde_json::{Map, Value, json};

use crate::corpus::{Corpus, DataFile};
use crate::locations;

/// What a file sets up.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) downloaded: Downloaded,
    pub(crate) settings: PluginSettings,
    pub(crate) locations: Vec<LocationTable>,
    /// Files that enrichers name and that are not there; Ranger's enrichers then add nothing.
    pub(crate) missing: Vec<String>,
}

/// What stands beside the policies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    pub(crate) tags: Option<Value>,
    pub(crate) roles: Option<Value>,
    pub(crate) user_store: Option<Value>,
}

impl Scene {
    /// Of a file whose policies stand in the members of a policy engine's test.
    pub(crate) fn of_engine_test(
        corpus: &Corpus,
        file: &DataFile,
        mut settings: PluginSettings,
    ) -> Result<Self> {
        let json = &file.json;
        settings.super_users.extend(names(json, "superUsers"));
        settings.super_groups.extend(names(json, "superGroups"));
        settings.audit_excluded_users.extend(names(json, "auditExcludedUsers"));
        settings.audit_excluded_groups.extend(names(json, "auditExcludedGroups"));
        settings.audit_excluded_roles.extend(names(json, "auditExcludedRoles"));
        let mut scene = Self::of_download(corpus, file, engine_policies(json), &Beside::default(), settings)?;
        for (name, role) in roles(json) {
            scene.downloaded.state.roles.insert(name, role);
        }
        Ok(scene)
    }

    /// Of a whole download, with what its definitions' enrichers add.
    pub(crate) fn of_download(
        corpus: &Corpus,
        file: &DataFile,
        mut policies: Value,
        beside: &Beside,
        mut settings: PluginSettings,
    ) -> Result<Self> {
        let enrichers = enrichers(&policies);
        let mut tags = beside.tags.clone();
        let mut locations = Vec::new();
        let mut missing = Vec::new();
        for enricher in &enrichers {
            let option = |name: &str| {
                enricher.pointer("/enricherOptions").and_then(|o| o.get(name)).and_then(Value::as_str)
            };
            let class = enricher.get("enricher").and_then(Value::as_str).unwrap_or("");
            if class.ends_with("RangerTagEnricher")
                && let Some(name) = option("serviceTagsFileName")
            {
                if tags.is_none() && is_at_hand(corpus, file, name, &mut missing) {
                    tags = Some(corpus.class_path_json(name, file)?);
                }
            } else if class.ends_with("RangerFileBasedGeolocationProvider")
                && let Some(name) = option("FilePath")
                && is_at_hand(corpus, file, name, &mut missing)
            {
                let text = corpus.class_path_text(name, file)?;
                let prefix = option("geolocation.meta.prefix").unwrap_or("");
                locations.push(locations::read(&text, prefix).with_context(|| format!("`{name}`"))?);
            }
        }
        fill_in_definitions(corpus, file, &mut policies)?;
        let mut policies = ServicePolicies::from_value(policies).context("the policies")?;
        policies.service_name.get_or_insert_with(|| "the service".to_owned());
        let tags = tags.map(ServiceTags::from_value).transpose().context("the tags")?;
        let roles = beside.roles.clone().map(Roles::from_value).transpose().context("the roles")?;
        let users = beside.user_store.clone().map(UserStore::from_value).transpose().context("the users")?;
        let download = Download {
            tags: tags.as_ref(),
            roles: roles.as_ref(),
            user_store: users.as_ref(),
            ..Download::new(&policies)
        };
        let downloaded = state(&download).context("the state")?;
        settings.audit_mode = match downloaded.audit_mode.as_deref() {
            Some("audit-all") => AuditMode::All,
            Some("audit-none") => AuditMode::Nothing,
            _ => AuditMode::ByPolicy,
        };
        Ok(Self { downloaded, settings, locations, missing })
    }

    /// The number that a policy has in the file; Ranger's -1 for none.
    pub(crate) fn number(&self, id: Option<policy::model::PolicyId>) -> i64 {
        id.and_then(|id| self.downloaded.number(id)).unwrap_or(-1)
    }
}

/// The members of a policy engine's test as a download.
fn engine_policies(json: &Value) -> Value {
    let mut policies = Map::new();
    for name in ["serviceName", "serviceDef", "policies", "auditMode", "securityZones", "serviceConfig"] {
        if let Some(value) = json.get(name) {
            policies.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(tags) = json.get("tagPolicyInfo").filter(|tags| tags.is_object()) {
        let member = |name: &str| tags.get(name).cloned().unwrap_or(Value::Null);
        let tags = json!({
            "serviceName": member("serviceName"),
            "serviceDef": member("serviceDef"),
            "serviceConfig": member("serviceConfig"),
            "policies": member("tagPolicies"),
        });
        policies.insert("tagPolicies".to_owned(), tags);
    }
    Value::Object(policies)
}

/// Whether a file that an enricher names can be read; it is noted where it cannot.
fn is_at_hand(corpus: &Corpus, file: &DataFile, name: &str, missing: &mut Vec<String>) -> bool {
    let is_there = corpus.class_path_text(name, file).is_ok();
    if !is_there {
        missing.push(name.to_owned());
    }
    is_there
}

/// A definition that the file leaves out is the one that Ranger ships.
fn fill_in_definitions(corpus: &Corpus, file: &DataFile, policies: &mut Value) -> Result<()> {
    if let Some(tags) = policies.get_mut("tagPolicies").and_then(Value::as_object_mut)
        && tags.get("serviceDef").is_none_or(Value::is_null)
    {
        tags.insert("serviceDef".to_owned(), corpus.shipped_definition("tag")?);
    }
    if policies.get("serviceDef").is_none_or(Value::is_null)
        && let Some(kind) = kind_of_service(policies, &file.json)
        && let Some(policies) = policies.as_object_mut()
    {
        policies.insert("serviceDef".to_owned(), corpus.shipped_definition(&kind)?);
    }
    Ok(())
}

/// Of which type the service is: its policies say so, or else the file or a request of it.
fn kind_of_service(policies: &Value, file: &Value) -> Option<String> {
    let named = |json: &Value| json.get("serviceType").and_then(Value::as_str).map(str::to_owned);
    let zones = policies.get("securityZones").and_then(Value::as_object).into_iter().flatten();
    let in_zones = zones.flat_map(|(_, zone)| objects(zone.get("policies")));
    let by_policy = objects(policies.get("policies")).chain(in_zones).find_map(named);
    let requests = || file.as_array().into_iter().flatten();
    let contexts =
        || requests().filter_map(|test| test.pointer("/request/context").or_else(|| test.get("context")));
    by_policy.or_else(|| named(policies)).or_else(|| named(file)).or_else(|| contexts().find_map(named))
}

/// Of both definitions.
fn enrichers(policies: &Value) -> Vec<Value> {
    ["/serviceDef/contextEnrichers", "/tagPolicies/serviceDef/contextEnrichers"]
        .iter()
        .filter_map(|place| policies.pointer(place).and_then(Value::as_array))
        .flatten()
        .cloned()
        .collect()
}

/// `userRoles`, `groupRoles` and `roleRoles`: member to the roles that it is in.
fn roles(json: &Value) -> BTreeMap<String, Role> {
    let mut roles: BTreeMap<String, Role> = BTreeMap::new();
    type Members = fn(&mut Role) -> &mut Vec<Member>;
    let kinds: [(&str, Members); 3] =
        [("userRoles", |r| &mut r.users), ("groupRoles", |r| &mut r.groups), ("roleRoles", |r| &mut r.roles)];
    for (key, members) in kinds {
        let Some(by_member) = json.get(key).and_then(Value::as_object) else { continue };
        for (member, of_member) in by_member {
            for name in texts(Some(of_member)) {
                let n_roles = roles.len();
                let role = roles.entry(name.clone()).or_insert_with(|| Role {
                    id: i64::try_from(n_roles + 1).unwrap_or(i64::MAX),
                    name,
                    ..Role::default()
                });
                members(role).push(Member { name: member.clone(), is_admin: false });
            }
        }
    }
    for (_, role) in roles.clone() {
        for member in role.roles {
            let id = i64::try_from(roles.len() + 1).unwrap_or(i64::MAX);
            roles.entry(member.name.clone()).or_insert_with(|| Role {
                id,
                name: member.name,
                ..Role::default()
            });
        }
    }
    roles
}

fn names(json: &Value, key: &str) -> BTreeSet<String> {
    texts(json.get(key)).into_iter().collect()
}

/// The texts of a list, nulls left out; a number or a truth value is a text too.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(text).collect()
}

pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A whole number, which may be written as a text.
pub(crate) fn number(value: &Value) -> Option<i64> {
    text(value)?.trim().parse().ok()
}

/// The objects of a list; what a comma too many made is left out.
pub(crate) fn objects(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten().filter(|element| element.is_object())
}

pub(crate) fn flag(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => Some(text.eq_ignore_ascii_case("true")),
        Value::Number(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
