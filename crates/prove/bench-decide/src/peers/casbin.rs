//! Casbin: role-based access with denials, one policy line for each grant.

use anyhow::{Result, anyhow};
use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};
use policy::model::State;
use tokio::runtime::Runtime;

use super::{Named, grants, memberships};
use crate::contenders::{Answer, Contender};
use govgen::Asked;

/// The resource is compared first, so that almost every line is left at once.
const MODEL: &str = "\
[request_definition]
r = sub, obj, act

[policy_definition]
p = sub, obj, act, eft

[role_definition]
g = _, _

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = r.obj == p.obj && r.act == p.act && g(r.sub, p.sub)
";

pub(crate) struct Casbin {
    enforcer: Enforcer,
    requests: Vec<(String, String, &'static str)>,
    n_requests: usize,
}

impl Casbin {
    /// # Errors
    /// Something that Casbin does not take.
    pub(crate) fn new(state: &State, asked: &[Asked], n_requests: usize) -> Result<Self> {
        let lines: Vec<Vec<String>> = grants(state)
            .map(|grant| {
                let effect = if grant.is_denial { "deny" } else { "allow" };
                let object = format!("{}.{}", grant.database, grant.table);
                vec![name(grant.principal), object, grant.access.to_owned(), effect.to_owned()]
            })
            .collect();
        let members: Vec<Vec<String>> =
            memberships(state).into_iter().map(|(member, of)| vec![name(member), name(of)]).collect();
        let enforcer = Runtime::new()?.block_on(async {
            let mut enforcer =
                Enforcer::new(DefaultModel::from_str(MODEL).await?, MemoryAdapter::default()).await?;
            enforcer.add_policies(lines).await?;
            enforcer.add_grouping_policies(members).await?;
            Ok::<_, casbin::Error>(enforcer)
        })?;
        let requests = asked.iter().map(|asked| {
            let object = asked.object();
            (name(Named::User(&asked.user)), object, asked.access)
        });
        let requests: Vec<_> = requests.collect();
        Ok(Self { enforcer, n_requests: n_requests.min(requests.len()), requests })
    }
}

/// Users, groups and roles are one kind of thing to Casbin, so that the name has to tell them apart.
fn name(named: Named<'_>) -> String {
    format!("{}:{}", named.kind(), named.name())
}

impl Contender for Casbin {
    fn name(&self) -> &str {
        "casbin"
    }

    fn n_requests(&self) -> usize {
        self.n_requests
    }

    fn tells_denials(&self) -> bool {
        false
    }

    fn ask(&mut self, request: usize) -> Result<Answer> {
        let (user, object, access) = self.requests.get(request).ok_or_else(|| anyhow!("no such request"))?;
        let is_allowed = self.enforcer.enforce((user.as_str(), object.as_str(), *access))?;
        Ok(if is_allowed { Answer::Allowed } else { Answer::Undetermined })
    }
}
