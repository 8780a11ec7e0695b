//! Which columns of a relation somebody's grants give her (L10).

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use stdx::Timestamp;

use super::Snapshot;
use crate::Membership;
use crate::edit::{Change, ColumnRef, is_column, is_of_columns, pins};
use crate::model::{Item, Policy, PolicyKind};
use crate::operation::{Object, Operation};
use crate::schedule::{Schedule, ScheduleReading};

/// A snapshot without grants of columns, made when it is first asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct WithoutColumns(Arc<OnceLock<Option<Arc<Snapshot>>>>);

/// The columns that grants give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedColumns {
    All,
    Only(Vec<ColumnRef>),
}

impl GrantedColumns {
    /// Whether a column is given: by field id where the grant and the column have one, else by name.
    pub fn has(&self, name: &str, field_id: Option<i32>) -> bool {
        match self {
            Self::All => true,
            Self::Only(columns) => columns.iter().any(|granted| is_column(granted, name, field_id)),
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
        let lists: Vec<&Policy> = self
            .state
            .policies
            .values()
            .filter(|policy| policy.kind == PolicyKind::Access && is_of_columns(policy) && policy.is_enabled)
            .filter(|policy| names(policy, object) && policy.items.iter().any(|item| reaches(item, who)))
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
        let others = self.without_columns.0.get_or_init(|| self.without_column_grants());
        let is_whole = others
            .as_ref()
            .is_some_and(|others| others.may(operation, object, who, owner, now, client_addr).is_allowed());
        if is_whole {
            return GrantedColumns::All;
        }
        // One list that has run out gives nothing more, even where another still opens the relation.
        let in_force = lists.iter().filter(|policy| is_in_force(policy, now));
        GrantedColumns::Only(in_force.flat_map(|policy| pins(policy).columns).collect())
    }

    fn without_column_grants(&self) -> Option<Arc<Self>> {
        let lists = self.state.policies.values().filter(|policy| is_of_columns(policy));
        let change = Change { delete_policies: lists.map(|policy| policy.id).collect(), ..Change::default() };
        self.apply(&change, self.version()).ok().map(Arc::new)
    }
}

fn names(policy: &Policy, object: &Object) -> bool {
    let (catalog, namespace, relation) = match object {
        Object::Table { catalog, namespace, table } => (catalog, namespace.join("."), table),
        Object::View { catalog, namespace, view } => (catalog, namespace.join("."), view),
        Object::Catalog { .. } | Object::Namespace { .. } => return false,
    };
    std::iter::once(&policy.resources).chain(&policy.additional_resources).any(|map| {
        [("catalog", catalog.as_str()), ("namespace", &namespace), ("table", relation)].iter().all(
            |(level, name)| {
                map.get(*level).is_some_and(|named| named.values.iter().any(|value| value == name))
            },
        )
    })
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
