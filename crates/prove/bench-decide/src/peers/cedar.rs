//! Cedar: policies with a principal, an action and a resource in their scope; groups and roles as parents.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result, anyhow};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, Policy, PolicyId,
    PolicySet, Request,
};
use policy::model::State;

use super::{Grant, Named, grants, memberships};
use crate::contenders::{Answer, Contender};
use govgen::Asked;

/// How Cedar's policies are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slices {
    /// All in one set, every one of which the authorizer looks at.
    One,
    /// One set for each table, found by a map of ours: what Cedar's guide calls slicing.
    ByTable,
}

pub(crate) struct Cedar {
    slices: Slices,
    authorizer: Authorizer,
    entities: Entities,
    all: PolicySet,
    by_table: HashMap<EntityUid, PolicySet>,
    requests: Vec<(Request, EntityUid)>,
    n_requests: usize,
}

impl Cedar {
    /// # Errors
    /// Something that Cedar does not take.
    pub(crate) fn new(state: &State, asked: &[Asked], slices: Slices, n_requests: usize) -> Result<Self> {
        let (mut all, mut by_table) = (PolicySet::new(), HashMap::<_, PolicySet>::new());
        for grant in grants(state) {
            let policy = Policy::parse(Some(PolicyId::new(grant.id.to_string())), text(&grant))?;
            let set = match slices {
                Slices::One => &mut all,
                Slices::ByTable => by_table.entry(resource(grant.database, grant.table)?).or_default(),
            };
            set.add(policy)?;
        }
        let requests = asked.iter().map(request).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            slices,
            authorizer: Authorizer::new(),
            entities: entities(state)?,
            all,
            by_table,
            n_requests: n_requests.min(requests.len()),
            requests,
        })
    }
}

fn text(grant: &Grant<'_>) -> String {
    format!(
        "{}(principal {} {}::\"{}\", action == Action::\"{}\", resource == Table::\"{}.{}\");",
        if grant.is_denial { "forbid" } else { "permit" },
        if matches!(grant.principal, Named::User(_)) { "==" } else { "in" },
        grant.principal.kind(),
        grant.principal.name(),
        grant.access,
        grant.database,
        grant.table,
    )
}

fn uid(kind: &str, name: &str) -> Result<EntityUid> {
    let kind: EntityTypeName = kind.parse().with_context(|| format!("`{kind}` is no type to Cedar"))?;
    Ok(EntityUid::from_type_name_and_id(kind, EntityId::new(name)))
}

fn resource(database: &str, table: &str) -> Result<EntityUid> {
    uid("Table", &format!("{database}.{table}"))
}

fn entities(state: &State) -> Result<Entities> {
    let mut parents: HashMap<EntityUid, HashSet<EntityUid>> = HashMap::new();
    for name in state.users.keys() {
        parents.entry(uid("User", name)?).or_default();
    }
    for (member, of) in memberships(state) {
        let of = uid(of.kind(), of.name())?;
        parents.entry(of.clone()).or_default();
        parents.entry(uid(member.kind(), member.name())?).or_default().insert(of);
    }
    let entities = parents.into_iter().map(|(uid, parents)| Entity::new_no_attrs(uid, parents));
    Ok(Entities::from_entities(entities, None)?)
}

fn request(asked: &Asked) -> Result<(Request, EntityUid)> {
    let resource = uid("Table", &asked.object())?;
    let (principal, action) = (uid("User", &asked.user)?, uid("Action", asked.access)?);
    Ok((Request::new(principal, action, resource.clone(), Context::empty(), None)?, resource))
}

impl Contender for Cedar {
    fn name(&self) -> &str {
        match self.slices {
            Slices::One => "cedar, one set",
            Slices::ByTable => "cedar, a set for each table",
        }
    }

    fn n_requests(&self) -> usize {
        self.n_requests
    }

    fn ask(&mut self, request: usize) -> Result<Answer> {
        let (request, resource) = self.requests.get(request).ok_or_else(|| anyhow!("no such request"))?;
        let policies = match self.slices {
            Slices::One => &self.all,
            Slices::ByTable => match self.by_table.get(resource) {
                Some(policies) => policies,
                None => return Ok(Answer::Undetermined),
            },
        };
        let response = self.authorizer.is_authorized(request, policies, &self.entities);
        Ok(match response.decision() {
            Decision::Allow => Answer::Allowed,
            Decision::Deny if response.diagnostics().reason().next().is_some() => Answer::Denied,
            Decision::Deny => Answer::Undetermined,
        })
    }
}
