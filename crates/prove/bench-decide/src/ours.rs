//! Our own engine as a contender.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use policy::model::PolicyKind;
use policy::{Decision, Membership, NO_CONTEXT, Principal, Request, Resource, Snapshot};
use stdx::Timestamp;

use crate::contenders::{Answer, Contender};
use govgen::{Asked, SERVICE};

/// When the requests are made: 2026-06-01T12:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_780_315_200_000);

pub(crate) struct Ours<'w> {
    name: String,
    snapshot: &'w Snapshot,
    requests: Vec<(PolicyKind, Request<'w>)>,
}

/// Every user of the requests with all her groups and roles, as a caller has them at hand.
pub(crate) fn memberships(snapshot: &Snapshot, asked: &[Asked]) -> BTreeMap<String, Membership> {
    let member =
        |asked: &Asked| (asked.user.clone(), snapshot.membership(&Principal::user(asked.user.clone())));
    asked.iter().map(member).collect()
}

impl<'w> Ours<'w> {
    pub(crate) fn new(
        name: impl Into<String>,
        snapshot: &'w Snapshot,
        asked: &'w [Asked],
        who: &'w BTreeMap<String, Membership>,
    ) -> Result<Self> {
        Ok(Self { name: name.into(), snapshot, requests: requests_of(asked, who)? })
    }

    fn decide(&self, request: usize) -> Answer {
        let Some((kind, request)) = self.requests.get(request) else { return Answer::Undetermined };
        match self.snapshot.decide_for(*kind, request).access {
            Decision::Allowed => Answer::Allowed,
            Decision::Denied => Answer::Denied,
            Decision::Undetermined => Answer::Undetermined,
        }
    }
}

/// # Errors
/// Somebody who asks is nobody.
pub(crate) fn requests_of<'w>(
    asked: &'w [Asked],
    who: &'w BTreeMap<String, Membership>,
) -> Result<Vec<(PolicyKind, Request<'w>)>> {
    asked.iter().map(|asked| Ok((asked.kind, request(asked, who)?))).collect()
}

fn request<'w>(asked: &'w Asked, who: &'w BTreeMap<String, Membership>) -> Result<Request<'w>> {
    let Some(who) = who.get(&asked.user) else { bail!("nobody is `{}`", asked.user) };
    let levels = [
        ("database", Some(&asked.database)),
        ("table", asked.table.as_ref()),
        ("column", asked.column.as_ref()),
    ];
    let levels = levels.into_iter().filter_map(|(level, value)| Some((level, value?.as_str())));
    let client = if asked.is_inside { [10, 1, 2, 3] } else { [192, 168, 1, 1] };
    Ok(Request {
        service: SERVICE,
        resource: Resource::new(levels),
        owner: None,
        access: asked.access,
        who,
        now: NOW,
        client_addr: Some(client.into()),
        context: &NO_CONTEXT,
    })
}

impl Contender for Ours<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn n_requests(&self) -> usize {
        self.requests.len()
    }

    fn ask(&mut self, request: usize) -> Result<Answer> {
        Ok(self.decide(request))
    }

    fn describe(&self, request: usize) -> String {
        let Some((kind, request)) = self.requests.get(request) else { return String::new() };
        format!("{kind:?} {:?} {} by {:?}", request.resource, request.access, request.who)
    }
}
