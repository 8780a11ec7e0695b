//! What changes in a download: zones put in place, and policies by their differences (RangerPolicyDelta).

use std::collections::BTreeMap;

use policy::edit::Change;
use policy::model::{self, PolicyId};

use super::{Downloaded, PolicyDelta, ZoneInfo};
use crate::fault::{Faults, Path};
use crate::{WireError, convert};

/// The type of tag services, by which a difference is told to be theirs.
pub const SERVICE_TYPE_TAG: &str = "tag";

const CREATE: i64 = 0;
const UPDATE: i64 = 1;
const DELETE: i64 = 2;

/// The zones of a download: of each only what concerns the one service.
pub fn zones(
    from: &BTreeMap<String, ZoneInfo>,
    service: &str,
    tag_service: Option<&str>,
) -> model::Table<String, model::Zone> {
    let zone = |(id, (name, info)): (i64, (&String, &ZoneInfo))| {
        let has_tags = info.contains_associated_tag_service == Some(true);
        let zone = model::Zone {
            id,
            name: name.clone(),
            services: BTreeMap::from([(service.to_owned(), info.resources.clone())]),
            tag_services: tag_service.filter(|_| has_tags).into_iter().map(str::to_owned).collect(),
            ..model::Zone::default()
        };
        (name.clone(), zone)
    };
    (1..).zip(from).map(zone).collect()
}

impl Downloaded {
    /// Takes differences in, and tells them as a change for the snapshot.
    ///
    /// # Errors
    /// A difference that says that everything must be downloaded again, or one that does not read. Then nothing was
    /// taken in.
    pub fn take(&mut self, deltas: &[PolicyDelta]) -> Result<Change, WireError> {
        let mut faults = Faults::default();
        let mut next = self.clone();
        let mut put: BTreeMap<PolicyId, model::Policy> = BTreeMap::new();
        let mut delete: Vec<PolicyId> = Vec::new();
        let root = Path::Root;
        let list_at = Path::Member(&root, "policyDeltas");
        for (idx, delta) in deltas.iter().enumerate() {
            let at = Path::Element(&list_at, idx);
            let Some(kind @ (CREATE | UPDATE | DELETE)) = delta.change_type else {
                let problem = "it is not about one policy: everything must be downloaded again";
                faults.add(&Path::Member(&at, "changeType"), problem);
                continue;
            };
            let Some(from) = &delta.policy else {
                faults.add(&Path::Member(&at, "policy"), "missing");
                continue;
            };
            let mut from = from.clone();
            let is_tags = from.service_type.as_deref() == Some(SERVICE_TYPE_TAG);
            let service = next.tag_service.clone().filter(|_| is_tags).unwrap_or(next.service.clone());
            let known = next.known(&service, from.id);
            if kind == DELETE {
                if let Some(id) = known {
                    next.state.policies.remove(&id);
                    next.numbers.remove(&id);
                    put.remove(&id);
                    delete.push(id);
                }
                continue;
            }
            let number = from.id;
            let id = known.unwrap_or_else(|| next.free(number));
            from.id = Some(id.0);
            from.service = Some(service);
            let policy_at = Path::Member(&at, "policy");
            let policy = convert::policy(&from, &policy_at, &mut faults);
            if number != Some(id.0) {
                next.numbers.insert(id, number);
            }
            next.state.next_policy_id = next.state.next_policy_id.max(id.0.saturating_add(1));
            next.state.policies.insert(id, policy.clone());
            put.insert(id, policy);
        }
        let change = Change {
            put_policies: put.into_values().collect(),
            delete_policies: delete,
            ..Change::default()
        };
        let change = faults.unless_any(change)?;
        *self = next;
        Ok(change)
    }

    /// The policy of a service that came with a number.
    fn known(&self, service: &str, number: Option<i64>) -> Option<PolicyId> {
        let is_it = |policy: &&model::Policy| policy.service == service && self.number(policy.id) == number;
        self.state.policies.values().find(is_it).map(|policy| policy.id)
    }

    /// The number itself, unless another policy has it.
    fn free(&self, number: Option<i64>) -> PolicyId {
        let own = number.map(PolicyId).filter(|id| !self.state.policies.contains_key(id));
        own.unwrap_or(PolicyId(self.state.next_policy_id))
    }
}
