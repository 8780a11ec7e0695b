//! Regorus: grants as data that a Rego rule finds by resource, access and principal.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, anyhow, bail};
use policy::model::State;
use policy::{Principal, Snapshot};
use regorus::{Engine, Value};
use serde_json::{Map, json};

use super::{Named, grants};
use crate::contenders::{Answer, Contender};
use govgen::Asked;

const RULES: &str = "\
package decide

import rego.v1

default answer := \"undetermined\"

answer := \"denied\" if {
    denied
} else := \"allowed\" if {
    allowed
}

denied if {
    some name in data.principals[input.user]
    data.deny[input.object][input.access][name]
}

allowed if {
    some name in data.principals[input.user]
    data.allow[input.object][input.access][name]
}
";

pub(crate) struct Regorus {
    engine: Engine,
    requests: Vec<Value>,
    n_requests: usize,
}

impl Regorus {
    /// What each user is, her roles of roles included, is worked out before, as Rego would take long to do it.
    ///
    /// # Errors
    /// Something that Regorus does not take.
    pub(crate) fn new(
        state: &State,
        snapshot: &Snapshot,
        asked: &[Asked],
        n_requests: usize,
    ) -> Result<Self> {
        let users: BTreeSet<&str> = asked.iter().map(|asked| asked.user.as_str()).collect();
        let mut principals = Map::new();
        for user in users {
            let member = snapshot.membership(&Principal::user(user));
            let groups = member.groups.iter().map(|group| name(Named::Group(group)));
            let roles = member.roles.iter().map(|role| name(Named::Role(role)));
            let all: Vec<String> =
                std::iter::once(name(Named::User(user))).chain(groups).chain(roles).collect();
            principals.insert(user.to_owned(), json!(all));
        }
        let (mut allow, mut deny) = (Lines::new(), Lines::new());
        for grant in grants(state) {
            let lines = if grant.is_denial { &mut deny } else { &mut allow };
            let object = lines.entry(format!("{}.{}", grant.database, grant.table)).or_default();
            object.entry(grant.access.to_owned()).or_default().insert(name(grant.principal), true);
        }
        let mut engine = Engine::new();
        engine.add_policy("decide.rego".to_owned(), RULES.to_owned())?;
        let data = json!({ "principals": principals, "allow": allow, "deny": deny });
        engine.add_data(Value::from_json_str(&data.to_string())?)?;
        let requests = asked.iter().take(n_requests).map(|asked| {
            let object = asked.object();
            let input = json!({ "user": asked.user, "object": object, "access": asked.access });
            Value::from_json_str(&input.to_string())
        });
        let requests: Vec<Value> = requests.collect::<Result<_>>()?;
        Ok(Self { engine, n_requests: requests.len(), requests })
    }
}

/// By object and access: who.
type Lines = BTreeMap<String, BTreeMap<String, BTreeMap<String, bool>>>;

fn name(named: Named<'_>) -> String {
    format!("{}:{}", named.kind(), named.name())
}

impl Contender for Regorus {
    fn name(&self) -> &str {
        "regorus"
    }

    fn n_requests(&self) -> usize {
        self.n_requests
    }

    fn ask(&mut self, request: usize) -> Result<Answer> {
        let input = self.requests.get(request).ok_or_else(|| anyhow!("no such request"))?;
        self.engine.set_input(input.clone());
        let answer = self.engine.eval_rule("data.decide.answer".to_owned())?;
        Ok(match answer.as_string()?.as_ref() {
            "allowed" => Answer::Allowed,
            "denied" => Answer::Denied,
            "undetermined" => Answer::Undetermined,
            other => bail!("no such answer `{other}`"),
        })
    }
}
