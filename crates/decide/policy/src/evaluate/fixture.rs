//! Small policies written as text, for tests.

use std::collections::BTreeSet;

use stdx::Timestamp;

use crate::evaluate::{ColumnName, GateTwoSettings, Request, Resource, TableRequest, TableRules, Verdict};
use crate::model::{
    Access, FilterItem, Group, Item, MaskInfo, MaskItem, Member, Policy, PolicyCondition, PolicyId,
    PolicyKind, Priority, ResourceMap, ResourceValues, Role, State, ValiditySchedule,
};
use crate::{Membership, Snapshot, bootstrap};

/// 2026-01-15T12:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_768_478_400_000);

/// `database=sales,hr table=!orders`: levels with values; `!` excludes them.
pub(crate) fn resources(text: &str) -> ResourceMap {
    text.split_whitespace()
        .map(|level| {
            let (name, values) = level.split_once('=').unwrap();
            let is_excludes = values.starts_with('!');
            let values = values.trim_start_matches('!').split(',').map(str::to_owned).collect();
            (name.to_owned(), ResourceValues { values, is_excludes, is_recursive: false })
        })
        .collect()
}

/// `database=sales table=orders` as a request.
pub(crate) fn resource(text: &str) -> Resource<'_> {
    Resource::new(text.split_whitespace().map(|level| level.split_once('=').unwrap()))
}

/// `alice`, `group:staff`, `role:analyst`, several of them, and after a `/` the access types.
pub(crate) fn item(text: &str) -> Item {
    let (who, accesses) = text.split_once('/').unwrap_or((text, "select"));
    let mut item =
        Item { accesses: accesses.split_whitespace().map(Access::new).collect(), ..Item::default() };
    for name in who.split_whitespace() {
        match name.split_once(':') {
            Some(("group", name)) => item.groups.push(name.to_owned()),
            Some(("role", name)) => item.roles.push(name.to_owned()),
            Some((kind, _)) => panic!("no such kind of grantee: {kind}"),
            None => item.users.push(name.to_owned()),
        }
    }
    item
}

/// Builds one policy of the service `query`.
#[derive(Clone, Debug)]
pub(crate) struct Draft(pub(crate) Policy);

impl Draft {
    fn new(id: i64, kind: PolicyKind, on: &str) -> Self {
        let mut policy = Policy::new("query", format!("p{id}"), kind);
        policy.id = PolicyId(id);
        policy.resources = resources(on);
        Self(policy)
    }

    pub(crate) fn access(id: i64, on: &str) -> Self {
        Self::new(id, PolicyKind::Access, on)
    }

    pub(crate) fn mask(id: i64, on: &str) -> Self {
        Self::new(id, PolicyKind::Mask, on)
    }

    pub(crate) fn filter(id: i64, on: &str) -> Self {
        Self::new(id, PolicyKind::RowFilter, on)
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.0);
        self
    }

    pub(crate) fn allow(self, who: &str) -> Self {
        self.with(|p| p.items.push(item(who)))
    }

    pub(crate) fn deny(self, who: &str) -> Self {
        self.with(|p| p.deny_items.push(item(who)))
    }

    pub(crate) fn allow_except(self, who: &str) -> Self {
        self.with(|p| p.allow_exceptions.push(item(who)))
    }

    pub(crate) fn deny_except(self, who: &str) -> Self {
        self.with(|p| p.deny_exceptions.push(item(who)))
    }

    /// `MASK_HASH`, or `CUSTOM` with an expression after a blank.
    pub(crate) fn masked(self, who: &str, mask: &str) -> Self {
        let (mask_type, value_expr) = match mask.split_once(' ') {
            Some((mask_type, expr)) => (mask_type, Some(expr.to_owned())),
            None => (mask, None),
        };
        let mask = MaskInfo { mask_type: mask_type.to_owned(), condition_expr: None, value_expr };
        self.with(|p| p.mask_items.push(MaskItem { item: item(who), mask }))
    }

    pub(crate) fn filtered(self, who: &str, filter_expr: &str) -> Self {
        self.with(|p| {
            p.filter_items.push(FilterItem { item: item(who), filter_expr: filter_expr.to_owned() })
        })
    }

    pub(crate) fn over(self) -> Self {
        self.with(|p| p.priority = Priority::Override)
    }

    pub(crate) fn all_else(self) -> Self {
        self.with(|p| p.is_deny_all_else = true)
    }

    pub(crate) fn gate_one(self) -> Self {
        self.with(|p| p.service = "polaris".to_owned())
    }

    pub(crate) fn valid(self, start: &str, end: &str) -> Self {
        let text = |t: &str| (!t.is_empty()).then(|| t.to_owned());
        self.with(|p| {
            p.validity.push(ValiditySchedule {
                start_time: text(start),
                end_time: text(end),
                ..ValiditySchedule::default()
            });
        })
    }
}

/// A condition that no evaluator understands.
pub(crate) fn unknown_condition() -> Vec<PolicyCondition> {
    vec![PolicyCondition { kind: "phase-of-moon".to_owned(), values: vec!["full".to_owned()] }]
}

/// The bootstrap state with more policies; `bob` is in the group `staff` and holds the role `analyst`.
pub(crate) fn state(policies: impl IntoIterator<Item = Draft>) -> State {
    let mut state = bootstrap::initial_state(&["wh"], "root", None);
    for Draft(policy) in policies {
        let id = PolicyId(policy.id.0 + 100);
        state.policies.insert(id, Policy { id, ..policy });
    }
    let staff = Group { id: 1, name: "staff".to_owned(), users: vec!["bob".to_owned()], ..Group::default() };
    state.groups.insert(staff.name.clone(), staff);
    let bob = Member { name: "bob".to_owned(), is_admin: false };
    let analyst = Role { id: 9, name: "analyst".to_owned(), users: vec![bob], ..Role::default() };
    state.roles.insert(analyst.name.clone(), analyst);
    state
}

pub(crate) fn snapshot(policies: impl IntoIterator<Item = Draft>) -> Snapshot {
    Snapshot::build(state(policies)).unwrap()
}

pub(crate) fn who(snapshot: &Snapshot, user: &str) -> Membership {
    snapshot.membership(&crate::Principal::user(user))
}

pub(crate) fn ask(snapshot: &Snapshot, user: &str, on: &str, access: &str, owner: Option<&str>) -> Verdict {
    let who = who(snapshot, user);
    snapshot.access(&Request {
        service: "query",
        resource: resource(on),
        owner,
        access,
        who: &who,
        now: NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
    })
}

/// The rules of `sales.orders (id, ssn, region)` for a user.
pub(crate) fn rules(snapshot: &Snapshot, user: &str, settings: &GateTwoSettings) -> TableRules {
    let columns = ["id", "ssn", "region"].map(ColumnName::new);
    rules_of_columns(snapshot, user, settings, &columns)
}

pub(crate) fn rules_of_columns(
    snapshot: &Snapshot,
    user: &str,
    settings: &GateTwoSettings,
    columns: &[ColumnName<'_>],
) -> TableRules {
    let who = who(snapshot, user);
    snapshot.table_rules(&TableRequest {
        service: "query",
        database: "sales",
        table: "orders",
        columns,
        owner: None,
        who: &who,
        now: NOW,
        client_addr: None,
        context: &crate::NO_CONTEXT,
        settings,
    })
}

pub(crate) fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
