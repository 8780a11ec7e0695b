//! Which columns of a relation somebody's grants give her (L10).

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use stdx::Timestamp;

use super::Snapshot;
use crate::edit::{Change, ColumnRef, is_column, is_of_columns, pins};
use crate::model::{Item, Policy, PolicyId, PolicyKind, State};
use crate::operation::{Object, Operation};
use crate::schedule::{Schedule, ScheduleReading};
use crate::{FieldOf, Membership};

/// Catalog, namespace and relation, as policies name them.
type RelationKey = (String, String, String);

/// The grants of columns among the policies.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnGrants {
    /// By the relation that they are of, so that asking about one costs nothing for the others.
    by_relation: Arc<HashMap<RelationKey, BTreeSet<PolicyId>>>,
    /// The snapshot without them, made when it is first asked.
    others: Arc<OnceLock<Option<Arc<Snapshot>>>>,
}

impl ColumnGrants {
    pub(crate) fn of(state: &State) -> Self {
        let mut grants = Self::default();
        for policy in state.policies.values() {
            grants.change(policy, true);
        }
        grants
    }

    /// Those of the state that a change leads to.
    pub(crate) fn after(&self, change: &Change, old: &State) -> Self {
        let mut grants = Self { by_relation: Arc::clone(&self.by_relation), ..Self::default() };
        let put = change.put_policies.iter().map(|policy| policy.id);
        for id in put.chain(change.delete_policies.iter().copied()) {
            if let Some(policy) = old.policies.get(&id) {
                grants.change(policy, false);
            }
        }
        for policy in &change.put_policies {
            grants.change(policy, true);
        }
        grants
    }

    fn change(&mut self, policy: &Policy, is_there: bool) {
        if !is_of_columns(policy) {
            return;
        }
        let by_relation = Arc::make_mut(&mut self.by_relation);
        for key in relations_of(policy) {
            if is_there {
                by_relation.entry(key).or_default().insert(policy.id);
            } else if let Some(of_relation) = by_relation.get_mut(&key) {
                of_relation.remove(&policy.id);
                if of_relation.is_empty() {
                    by_relation.remove(&key);
                }
            }
        }
    }

    fn all(&self) -> BTreeSet<PolicyId> {
        self.by_relation.values().flatten().copied().collect()
    }
}

/// A column that a grant gives, of the table that it was granted of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedColumn {
    table_uuid: Option<String>,
    column: ColumnRef,
}

/// The columns that grants give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedColumns {
    All,
    Only(Vec<GrantedColumn>),
}

impl GrantedColumns {
    /// Whether a column is given: by field id in the table that the grant was made for, else by name.
    pub fn has(&self, name: &str, field: Option<FieldOf<'_>>) -> bool {
        let is_it =
            |granted: &GrantedColumn| is_column(&granted.column, granted.table_uuid.as_deref(), name, field);
        match self {
            Self::All => true,
            Self::Only(columns) => columns.iter().any(is_it),
        }
    }
}

impl Snapshot {
    /// The columns of a table or view that somebody may read, provided that she may read it at all.
    ///
    /// Lists of columns add up, and whoever may read the relation without any of them reads all of it.
    pub fn granted_columns(
        &self,
        object: &Object,
        who: &Membership,
        owner: Option<&str>,
        now: Timestamp,
        client_addr: Option<IpAddr>,
    ) -> GrantedColumns {
        if self.column_grants.by_relation.is_empty() {
            return GrantedColumns::All;
        }
        let of_relation = key_of(object).and_then(|key| self.column_grants.by_relation.get(&key));
        let lists: Vec<&Policy> = of_relation
            .into_iter()
            .flatten()
            .filter_map(|id| self.state.policies.get(id))
            .filter(|policy| policy.kind == PolicyKind::Access && policy.is_enabled)
            .filter(|policy| policy.items.iter().any(|item| reaches(item, who)))
            .collect();
        if lists.is_empty() {
            return GrantedColumns::All;
        }
        let operation = match object {
            Object::View { .. } => Operation::SelectView,
            Object::Table { .. } | Object::Namespace { .. } | Object::Catalog { .. } => {
                Operation::SelectTable
            }
        };
        // Where it cannot be known what the other grants give, they give nothing.
        let others = self.column_grants.others.get_or_init(|| self.without_column_grants());
        let is_whole = others
            .as_ref()
            .is_some_and(|others| others.may(operation, object, who, owner, now, client_addr).is_allowed());
        if is_whole {
            return GrantedColumns::All;
        }
        // One list that has run out gives nothing more, even where another still opens the relation.
        let in_force = lists.iter().filter(|policy| is_in_force(policy, now));
        let given = in_force.flat_map(|policy| {
            let pins = pins(policy);
            let table_uuid = pins.table_uuid;
            pins.columns
                .into_iter()
                .map(move |column| GrantedColumn { table_uuid: table_uuid.clone(), column })
        });
        GrantedColumns::Only(given.collect())
    }

    fn without_column_grants(&self) -> Option<Arc<Self>> {
        let delete_policies = self.column_grants.all().into_iter().collect();
        let change = Change { delete_policies, ..Change::default() };
        self.apply(&change, self.version()).ok().map(Arc::new)
    }
}

fn key_of(object: &Object) -> Option<RelationKey> {
    match object {
        Object::Table { catalog, namespace, table: name }
        | Object::View { catalog, namespace, view: name } => {
            Some((catalog.clone(), namespace.join("."), name.clone()))
        }
        Object::Catalog { .. } | Object::Namespace { .. } => None,
    }
}

fn relations_of(policy: &Policy) -> Vec<RelationKey> {
    let mut keys = Vec::new();
    for map in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
        let values = |level: &str| map.get(level).into_iter().flat_map(|level| &level.values);
        for catalog in values("catalog") {
            for namespace in values("namespace") {
                keys.extend(values("table").map(|table| (catalog.clone(), namespace.clone(), table.clone())));
            }
        }
    }
    keys
}

fn reaches(item: &Item, who: &Membership) -> bool {
    item.users.contains(&who.user)
        || item.groups.iter().any(|group| group == crate::edit::PUBLIC || who.groups.contains(group))
        || item.roles.iter().any(|role| who.roles.contains(role))
}

fn is_in_force(policy: &Policy, now: Timestamp) -> bool {
    policy.validity.is_empty()
        || policy.validity.iter().any(|schedule| {
            Schedule::new(schedule, ScheduleReading::OwnZone).is_ok_and(|schedule| schedule.holds(now))
        })
}
