//! Asks the authorisation API, as TestEmbeddedAuthorizer does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use policy::authz::{
    AuthzAccess, AuthzAnswer, AuthzContext, AuthzDecision, DecidedBy, Evaluated, MultiAuthzAnswer, NameScope,
    PermissionAnswer, PermissionsByPrincipal, ResourcePermissions,
};
use policy::model::PolicyKind;
use policy::{AttributeValue, Membership, RequestContext, Snapshot, resource_name};
use serde_json::{Map, Value, json};
use stdx::Timestamp;

use super::Setup;
use super::acls::fast;
use crate::corpus::{Corpus, DataFile};
use crate::engines::Engine;
use crate::question::Question;
use crate::report::{Case, Outcome};
use crate::scene::{Beside, Scene, number, text, texts};

/// Why the second evaluator is not asked.
const FAST_ONLY: &str = "the second evaluator has no authorisation API";
/// Why a case is not judged.
const SHARED: &str = "governed data sharing is not offered, and a policy of a dataset decides this";

/// One service with what was downloaded for it.
struct Service {
    scene: Scene,
    engine: Option<Engine>,
    /// The numbers of the policies of its datasets.
    of_datasets: BTreeSet<i64>,
}

pub(crate) fn drive(corpus: &Corpus, file: &DataFile, setup: &Setup) -> Result<Vec<Case>> {
    let tests = file.json.as_array().context("no list of tests")?;
    let mut services: BTreeMap<String, Arc<Service>> = BTreeMap::new();
    let mut cases = Vec::new();
    for test in tests.iter().filter(|test| test.get("request").or(test.get("resource")).is_some()) {
        let context = test.pointer("/request/context").or(test.get("context")).context("no context")?;
        let name = context.get("serviceName").and_then(text).context("no service")?;
        let service = match services.get(&name) {
            Some(service) => Arc::clone(service),
            None => {
                let service = Arc::new(Service::read(corpus, file, setup, &name)?);
                services.insert(name.clone(), Arc::clone(&service));
                service
            }
        };
        let outcome = service
            .judge(test, context, setup.now)
            .unwrap_or_else(|error| Outcome::Failed(vec![format!("{error:#}")]));
        let name = test.pointer("/request/requestId").or(test.pointer("/resource/name")).and_then(text);
        cases.push(Case { number: cases.len() + 1, name: name.unwrap_or_default(), outcome });
    }
    Ok(cases)
}

impl Service {
    fn read(corpus: &Corpus, file: &DataFile, setup: &Setup, name: &str) -> Result<Self> {
        let other = |suffix: &str| corpus.json_beside(file, &format!("{name}{suffix}.json"));
        let policies = other("")?.with_context(|| format!("there is no `{name}.json` beside it"))?;
        let beside =
            Beside { tags: other("_tag")?, roles: other("_roles")?, user_store: other("_userstore")? };
        let mut of_datasets = BTreeSet::new();
        if let Some(shared) = other("_gds")? {
            for kind in ["datasets", "projects"] {
                let list = shared.get(kind).and_then(Value::as_array).into_iter().flatten();
                let policies = list.filter_map(|dataset| dataset.get("policies")?.as_array()).flatten();
                of_datasets.extend(policies.filter_map(|policy| number(policy.get("id")?)));
            }
        }
        let scene = Scene::of_download(corpus, file, policies, &beside, setup.settings.clone())?;
        let engine = fast(setup, &scene)?;
        Ok(Self { scene, engine, of_datasets })
    }

    fn judge(&self, test: &Value, context: &Value, now: Timestamp) -> Result<Outcome> {
        let Some(engine @ Engine::Fast(snapshot)) = &self.engine else {
            return Ok(Outcome::Skipped(FAST_ONLY.to_owned()));
        };
        let expected = test.get("result").or(test.get("permissions")).unwrap_or(&Value::Null);
        if self.names_dataset(expected) {
            return Ok(Outcome::Skipped(SHARED.to_owned()));
        }
        let request = test.get("request").unwrap_or(&Value::Null);
        let who = self.who(engine, request.get("user").unwrap_or(&Value::Null));
        let info = context.get("additionalInfo").unwrap_or(&Value::Null);
        let mut request_context = request_context(context, info);
        request_context.user_attributes = attributes(request.get("user").unwrap_or(&Value::Null));
        let at = context.get("accessTime").and_then(number).filter(|at| *at > 0);
        let asking = AuthzContext {
            service: &self.scene.downloaded.service,
            who: &who,
            now: at.map_or(now, Timestamp::from_millis),
            client_addr: context.get("clientIpAddress").and_then(text).and_then(|addr| addr.parse().ok()),
            context: &request_context,
        };
        let mut lines = Vec::new();
        let found = if let Some(resource) = test.get("resource") {
            let name = resource.get("name").and_then(text).context("no resource name")?;
            self.permissions(resource, &snapshot.resource_permissions(&asking, &name)?)
        } else if let Some(accesses) = request.get("accesses").and_then(Value::as_array) {
            let accesses: Vec<Access> = accesses.iter().map(Access::read).collect::<Result<_>>()?;
            let asked: Vec<AuthzAccess<'_>> = accesses.iter().map(Access::asked).collect();
            let answer = snapshot.authorize_several(&asking, &asked)?;
            let evaluated = answer.accesses.iter().flat_map(evaluated).collect::<Vec<_>>();
            self.audits(test, snapshot, &who, &evaluated, &mut lines);
            self.several(request, &answer)
        } else {
            let access = Access::read(request.get("access").context("no access")?)?;
            let answer = snapshot.authorize(&asking, &access.asked())?;
            self.audits(test, snapshot, &who, &evaluated(&answer), &mut lines);
            self.answer(request.get("requestId"), &answer)
        };
        let (expected, found) = (without_nulls(expected), without_nulls(&found));
        if expected != found {
            lines.push(format!("expected {expected}"));
            lines.push(format!("found    {found}"));
        }
        Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
    }

    /// Whether some policy in what is expected is one of a dataset.
    fn names_dataset(&self, json: &Value) -> bool {
        let here = json.pointer("/policy/id").and_then(number);
        here.is_some_and(|id| self.of_datasets.contains(&id))
            || match json {
                Value::Object(members) => members.values().any(|member| self.names_dataset(member)),
                Value::Array(list) => list.iter().any(|entry| self.names_dataset(entry)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            }
    }

    fn who(&self, engine: &Engine, user: &Value) -> Membership {
        let set = |key: &str| texts(user.get(key)).into_iter().collect::<BTreeSet<_>>();
        let name = user.get("name").and_then(text).unwrap_or_default();
        let mut question =
            Question::new(&self.scene.downloaded.service, Vec::new(), "", Timestamp::default());
        question.user = name;
        question.groups = set("groups");
        question.roles = Some(set("roles")).filter(|roles| !roles.is_empty());
        engine.membership(&question)
    }

    fn answer(&self, id: Option<&Value>, answer: &AuthzAnswer) -> Value {
        let permissions: Map<String, Value> = answer
            .permissions
            .iter()
            .map(|(name, answer)| (name.clone(), self.permission(name, answer, true)))
            .collect();
        json!({"requestId": id, "decision": decision(answer.decision), "permissions": permissions})
    }

    fn several(&self, request: &Value, answer: &MultiAuthzAnswer) -> Value {
        let accesses: Vec<Value> = answer.accesses.iter().map(|answer| self.answer(None, answer)).collect();
        json!({
            "requestId": request.get("requestId"),
            "decision": decision(answer.decision),
            "accesses": accesses,
        })
    }

    fn permission(&self, name: &str, answer: &PermissionAnswer, is_whole: bool) -> Value {
        let parts: Map<String, Value> = answer
            .sub_resources
            .iter()
            .map(|(part, answer)| (part.clone(), self.permission(name, answer, false)))
            .collect();
        let mask = answer
            .mask
            .as_ref()
            .map(|(kind, value, by)| json!({"maskType": kind, "maskedValue": value, "policy": self.by(by)}));
        let filter =
            answer.filter.as_ref().map(|(text, by)| json!({"filterExpr": text, "policy": self.by(by)}));
        json!({
            "permission": is_whole.then_some(name),
            "access": {"decision": decision(answer.decision), "policy": self.by(&answer.by)},
            "dataMask": mask,
            "rowFilter": filter,
            "subResources": (!parts.is_empty()).then_some(parts),
        })
    }

    fn by(&self, by: &DecidedBy) -> Value {
        json!({"id": self.scene.number(by.policy), "version": by.version})
    }

    fn permissions(&self, resource: &Value, found: &ResourcePermissions) -> Value {
        let listed = |by_principal: &PermissionsByPrincipal| {
            let listed: Map<String, Value> = by_principal
                .iter()
                .map(|(name, permissions)| {
                    let permissions: Map<String, Value> = permissions
                        .iter()
                        .map(|(permission, (answer, by))| {
                            let access = json!({"decision": decision(*answer), "policy": self.by(by)});
                            (permission.clone(), json!({"permission": permission, "access": access}))
                        })
                        .collect();
                    (name.clone(), Value::Object(permissions))
                })
                .collect();
            (!listed.is_empty()).then_some(listed)
        };
        json!({
            "resource": resource,
            "users": listed(&found.users),
            "groups": listed(&found.groups),
            "roles": listed(&found.roles),
        })
    }

    /// Events as the embedded authoriser logs them: from the first denial on, only that one.
    fn audits(
        &self,
        test: &Value,
        snapshot: &Snapshot,
        who: &Membership,
        evaluated: &[(String, &Evaluated)],
        lines: &mut Vec<String>,
    ) {
        let Some(expected) = test.get("audits").and_then(Value::as_array) else { return };
        let state = snapshot.state();
        let service = state.services.get(&self.scene.downloaded.service);
        let def = service.and_then(|service| state.service_defs.get(&service.service_def));
        let Some(def) = def else { return lines.push("no definition".to_owned()) };
        let mut events: Vec<Value> = Vec::new();
        for (permission, evaluated) in evaluated {
            let result = &evaluated.result;
            if !result.is_audited {
                continue;
            }
            let is_denied = result.is_determined && !result.is_allowed();
            if is_denied && evaluated.kind == PolicyKind::Access {
                events.clear();
            }
            let values = evaluated.levels.iter().map(|(_, value)| value.as_str());
            events.push(json!({
                "reqUser": who.user,
                "access": permission,
                "action": permission,
                "repo": self.scene.downloaded.service,
                "resType": evaluated.levels.last().map(|(level, _)| level),
                "resource": resource_name::write(def, values),
                "result": i64::from(result.is_allowed()),
                "policy": self.scene.number(result.policy),
                "agent": "test",
                "enforcer": "ranger-acl",
            }));
            if is_denied {
                break;
            }
        }
        let expected: Vec<Value> =
            expected.iter().filter(|event| !event.is_null()).map(compared_of_event).collect();
        if expected != events {
            lines.push(format!("audits: expected {}", Value::from(expected)));
            lines.push(format!("audits: found    {}", Value::from(events)));
        }
    }
}

/// What Ranger's driver compares of an event; the rest of it is not looked at.
fn compared_of_event(event: &Value) -> Value {
    const COMPARED: [&str; 10] = [
        "reqUser", "access", "action", "repo", "resType", "resource", "result", "policy", "agent", "enforcer",
    ];
    let member = |name: &&str| {
        let value = event.get(*name).unwrap_or(&Value::Null);
        let read = match *name {
            "result" | "policy" => number(value).map_or(Value::Null, Value::from),
            _ => value.clone(),
        };
        ((*name).to_owned(), read)
    };
    Value::Object(COMPARED.iter().map(member).collect())
}

/// Permissions on one resource, owned.
struct Access {
    resource: String,
    scope: NameScope,
    owner: Option<String>,
    sub_resources: Vec<String>,
    action: Option<String>,
    permissions: Vec<String>,
}

impl Access {
    fn read(json: &Value) -> Result<Self> {
        let resource = json.get("resource").context("no resource")?;
        let scope = match resource.get("nameMatchScope").and_then(Value::as_str) {
            None | Some("SELF") => NameScope::Itself,
            Some("SELF_OR_ANY_CHILD") => NameScope::ItselfOrChild,
            Some("SELF_OR_ANY_DESCENDANT") => NameScope::ItselfOrBelow,
            Some(other) => bail!("`{other}` is no scope"),
        };
        Ok(Self {
            resource: resource.get("name").and_then(text).unwrap_or_default(),
            scope,
            owner: resource.pointer("/attributes/OWNER").and_then(text),
            sub_resources: texts(resource.get("subResources")),
            action: json.get("action").and_then(text),
            permissions: texts(json.get("permissions")),
        })
    }

    fn asked(&self) -> AuthzAccess<'_> {
        AuthzAccess {
            resource: &self.resource,
            scope: self.scope,
            owner: self.owner.as_deref(),
            sub_resources: &self.sub_resources,
            action: self.action.as_deref(),
            permissions: &self.permissions,
        }
    }
}

fn request_context(context: &Value, info: &Value) -> RequestContext {
    let mut found = RequestContext::new();
    found.forwarded_addrs = texts(context.get("forwardedIpAddresses"));
    found.client_type = info.get("clientType").and_then(text);
    found.cluster_name = info.get("clusterName").and_then(text);
    found.cluster_type = info.get("clusterType").and_then(text);
    found.request_data = info.get("requestData").and_then(text);
    for (key, value) in info.as_object().into_iter().flatten() {
        let value = match value {
            Value::Array(_) => AttributeValue::List(texts(Some(value))),
            other => AttributeValue::Text(text(other).unwrap_or_default()),
        };
        found.attributes.insert(key.clone(), value);
    }
    found
}

/// The attributes that a request gives its user, in place of those that are known of her.
fn attributes(user: &Value) -> Option<BTreeMap<String, BTreeMap<String, String>>> {
    let given = user.get("attributes").and_then(Value::as_object).filter(|given| !given.is_empty())?;
    let given = given.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect();
    Some(BTreeMap::from([(user.get("name").and_then(text)?, given)]))
}

fn evaluated(answer: &AuthzAnswer) -> Vec<(String, &Evaluated)> {
    let of_permission = answer.permissions.iter();
    of_permission
        .flat_map(|(name, answer)| answer.evaluated.iter().map(move |evaluated| (name.clone(), evaluated)))
        .collect()
}

fn decision(decision: AuthzDecision) -> &'static str {
    match decision {
        AuthzDecision::Allow => "ALLOW",
        AuthzDecision::Deny => "DENY",
        AuthzDecision::NotDetermined => "NOT_DETERMINED",
        AuthzDecision::Partial => "PARTIAL",
    }
}

/// A member that is null is the same as one that is missing, and a policy's number may be written as a text.
fn without_nulls(json: &Value) -> Value {
    match json {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, member)| !member.is_null());
            let plain = |key: &str, member: &Value| match key {
                "id" | "version" => number(member).map_or_else(|| without_nulls(member), Value::from),
                _ => without_nulls(member),
            };
            Value::Object(members.map(|(key, member)| (key.clone(), plain(key, member))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{compared_of_event, without_nulls};

    #[test]
    fn of_an_event_only_what_ranger_compares_counts() {
        let event = json!({
            "reqUser": "u", "access": "read", "action": "read", "repo": "s", "resType": "path", "resource": "a/b",
            "result": 1, "policy": 7, "agent": "test", "enforcer": "ranger-acl",
        });
        let mut more = event.clone();
        more["logType"] = json!("RangerAudit");
        (more["result"], more["policy"]) = (json!("1"), json!("7"));
        assert_eq!(compared_of_event(&more), event);
        more["policy"] = json!("8");
        assert_ne!(compared_of_event(&more), event);
        assert_eq!(compared_of_event(&event), event);
    }

    #[test]
    fn numbers_of_policies_are_read_from_texts_and_names_are_not() {
        let expected = json!({"requestId": "5", "policy": {"id": "7", "version": "2"}, "dataMask": null});
        let found = json!({"requestId": "5", "policy": {"id": 7, "version": 2}});
        assert_eq!(without_nulls(&expected), found);
    }
}
