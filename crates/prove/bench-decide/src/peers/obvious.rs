//! The second evaluator of the conformance run, which looks at every policy and every tagged resource.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};
use conformance::obvious::World;
use policy::model::{PolicyKind, State};
use policy::{Membership, PluginSettings, Request};

use crate::contenders::{Answer, Contender};
use crate::ours::requests_of;
use govgen::Asked;

pub(crate) struct Obvious<'w> {
    world: World,
    requests: Vec<(PolicyKind, Request<'w>)>,
}

impl<'w> Obvious<'w> {
    /// # Errors
    /// Somebody who asks is nobody.
    pub(crate) fn new(
        state: &State,
        asked: &'w [Asked],
        who: &'w BTreeMap<String, Membership>,
        n_requests: usize,
    ) -> Result<Self> {
        let mut requests = requests_of(asked, who)?;
        requests.truncate(n_requests);
        Ok(Self { world: World::new(state.clone(), PluginSettings::default(), None), requests })
    }
}

impl Contender for Obvious<'_> {
    fn name(&self) -> &str {
        "our second evaluator"
    }

    fn n_requests(&self) -> usize {
        self.requests.len()
    }

    fn ask(&mut self, request: usize) -> Result<Answer> {
        let (kind, request) = self.requests.get(request).ok_or_else(|| anyhow!("no such request"))?;
        let answer = self.world.evaluate(*kind, request);
        Ok(match (answer.is_allowed, answer.policy) {
            (true, _) => Answer::Allowed,
            (false, Some(_)) => Answer::Denied,
            (false, None) => Answer::Undetermined,
        })
    }
}
