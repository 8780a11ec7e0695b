//! DENY and REVOKE on a column list: restrictions, which are denials on columns in the query service.

use super::Actor;
use super::columns;
use super::draft::Draft;
use super::error::{FaultKind, Faults};
use super::items::{self, Delegation, Taking};
use super::names::check_grantee;
use super::pins::{self, Pins};
use super::policy::{ColumnRef, may_write};
use super::record::{ORIGIN, ORIGIN_RESTRICTION};
use super::scope::{Grantee, Scope};
use crate::model::{Policy, PolicyKind, ResourceMap, ResourceValues};

/// The access type by which the query service reads.
const SELECT: &str = "select";

/// Columns of one table that grantees may not read, or may read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDenial {
    pub scope: Scope,
    pub service: String,
    /// The full dotted namespace.
    pub database: String,
    pub table: String,
    pub uuid: Option<String>,
    pub columns: Vec<ColumnRef>,
    pub grantees: Vec<Grantee>,
}

/// `DENY SELECT (c, …)`: each column gets a policy of its own, so that each can be taken back by itself.
pub(crate) fn deny(draft: &mut Draft<'_>, denial: &ColumnDenial, actor: &Actor, faults: &mut Faults) {
    if !check(draft, denial, actor, faults) {
        return;
    }
    for column in &denial.columns {
        let mut policy = existing(draft, denial, column).unwrap_or_else(|| fresh(draft, denial, column));
        for grantee in &denial.grantees {
            items::add(&mut policy.deny_items, &grantee.normal(), &[SELECT], Delegation::None);
        }
        draft.put_policy(policy);
    }
}

/// `REVOKE SELECT (c, …)`: takes the restriction back.
pub(crate) fn revoke(draft: &mut Draft<'_>, denial: &ColumnDenial, actor: &Actor, faults: &mut Faults) {
    if !check(draft, denial, actor, faults) {
        return;
    }
    for column in &denial.columns {
        for grantee in &denial.grantees {
            // What GRANT gave of the column goes as well as what DENY took.
            let of = (&denial.scope, denial.uuid.as_deref());
            let is_taken = columns::take(draft, of, column, &grantee.normal(), actor, faults);
            if !lift(draft, denial, column, &grantee.normal()) && !is_taken {
                draft.notice(format!(
                    "column `{}` is neither granted to {grantee} nor restricted",
                    column.name
                ));
            }
        }
    }
}

/// Takes the restriction of a column from a grantee; `true` if there was one.
fn lift(draft: &mut Draft<'_>, denial: &ColumnDenial, column: &ColumnRef, grantee: &Grantee) -> bool {
    let Some(mut policy) = existing(draft, denial, column) else { return false };
    if items::take(&mut policy.deny_items, grantee, Taking::All).is_empty() {
        return false;
    }
    policy.deny_items.retain(|item| !item.accesses.is_empty());
    if policy.deny_items.is_empty() {
        draft.delete_policy(policy.id);
    } else {
        draft.put_policy(policy);
    }
    true
}

fn check(draft: &Draft<'_>, denial: &ColumnDenial, actor: &Actor, faults: &mut Faults) -> bool {
    let columns: Vec<&str> = denial.columns.iter().map(|column| column.name.as_str()).collect();
    if !may_write(draft, actor, &denial.service, &denial.database, &denial.table, &columns) {
        faults.denied(format!("restrict columns of `{}.{}`", denial.database, denial.table));
        return false;
    }
    if draft.def(&denial.service).is_none() {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", denial.service));
    }
    for grantee in &denial.grantees {
        check_grantee(draft, &grantee.normal(), faults);
    }
    faults.is_empty()
}

fn resources(denial: &ColumnDenial, column: &ColumnRef) -> ResourceMap {
    ResourceMap::from([
        ("database".to_owned(), ResourceValues::one(&denial.database)),
        ("table".to_owned(), ResourceValues::one(&denial.table)),
        ("column".to_owned(), ResourceValues::one(&column.name)),
    ])
}

/// The restriction of a column that is there, under whatever names the column bears by now.
fn existing(draft: &Draft<'_>, denial: &ColumnDenial, column: &ColumnRef) -> Option<Policy> {
    let exact = resources(denial, column);
    let is_it = |policy: &&Policy| {
        policy.service == denial.service
            && policy.kind == PolicyKind::Access
            && policy.options.get(ORIGIN).is_some_and(|origin| origin == ORIGIN_RESTRICTION)
            && ["database", "table"].iter().all(|level| policy.resources.get(*level) == exact.get(*level))
            && (policy.resources == exact
                || pins::pins(policy).columns.iter().any(|pinned| pinned.is(&column.name, column.field_id)))
    };
    draft.policies().find(is_it).cloned()
}

fn fresh(draft: &mut Draft<'_>, denial: &ColumnDenial, column: &ColumnRef) -> Policy {
    let name = format!("restrict {}.{}.{}", denial.database, denial.table, column.name);
    let mut policy = draft.new_policy(&denial.service, &name, PolicyKind::Access);
    policy.resources = resources(denial, column);
    policy.options.insert(ORIGIN.to_owned(), ORIGIN_RESTRICTION.to_owned());
    let pinned = Pins { table_uuid: denial.uuid.clone(), columns: vec![column.clone()], ..Pins::default() };
    pins::set_pins(&mut policy, &pinned);
    policy
}

#[cfg(test)]
mod tests {
    //! Restrictions come and go one column and grantee at a time.

    use stdx::Timestamp;

    use super::*;
    use crate::edit::{Edit, apply};
    use crate::model::Version;
    use crate::{ColumnName, ColumnRule, GateTwoSettings, Principal, Snapshot, TableRequest, bootstrap};

    fn now() -> Timestamp {
        Timestamp::from_millis(1_000)
    }

    fn with(snapshot: &Snapshot, edit: &Edit) -> Snapshot {
        let admin = Actor::new(snapshot.membership(&Principal::user("admin")));
        let change = apply(snapshot, edit, &admin, now()).unwrap();
        snapshot.apply(&change, Version(snapshot.version().0 + 1)).unwrap()
    }

    fn denial(columns: &[&str]) -> ColumnDenial {
        let column = |name: &&str| ColumnRef { name: (*name).to_owned(), field_id: None };
        ColumnDenial {
            scope: Scope::Table {
                catalog: "c".to_owned(),
                namespace: "hr".to_owned(),
                table: "sal".to_owned(),
            },
            service: "query".to_owned(),
            database: "hr".to_owned(),
            table: "sal".to_owned(),
            uuid: None,
            columns: columns.iter().map(column).collect(),
            grantees: vec![Grantee::User("ana".to_owned())],
        }
    }

    fn is_restricted(snapshot: &Snapshot, user: &str, column: &str) -> bool {
        let who = snapshot.membership(&Principal::user(user));
        let rules = snapshot.table_rules(&TableRequest {
            service: "query",
            database: "hr",
            table: "sal",
            columns: &[ColumnName::new(column)],
            owner: None,
            who: &who,
            now: now(),
            client_addr: None,
            context: &crate::NO_CONTEXT,
            settings: &GateTwoSettings::default(),
        });
        matches!(rules.columns.as_slice(), [ColumnRule::Restricted(_)])
    }

    #[test]
    fn a_denied_column_is_restricted_until_it_is_revoked() {
        let snapshot = Snapshot::build(bootstrap::initial_state(&["c"], "admin", None)).unwrap();
        let create =
            |name: &str| Edit::CreateUser { name: name.to_owned(), credential: None, if_not_exists: false };
        let snapshot = with(&with(&snapshot, &create("ana")), &create("bo"));
        let denied = with(&snapshot, &Edit::DenyColumns(denial(&["pay", "bonus"])));
        assert!(is_restricted(&denied, "ana", "pay") && is_restricted(&denied, "ana", "bonus"));
        assert!(!is_restricted(&denied, "bo", "pay") && !is_restricted(&denied, "ana", "id"));
        let again = with(&denied, &Edit::RevokeColumns(denial(&["pay"])));
        assert!(!is_restricted(&again, "ana", "pay") && is_restricted(&again, "ana", "bonus"));
    }

    #[test]
    fn only_who_may_write_policies_restricts() {
        let snapshot = Snapshot::build(bootstrap::initial_state(&["c"], "admin", None)).unwrap();
        let ana = Actor::new(snapshot.membership(&Principal::user("ana")));
        let refused = apply(&snapshot, &Edit::DenyColumns(denial(&["pay"])), &ana, now());
        assert_eq!(refused.unwrap_err().kind(), stdx::ErrorKind::Denied);
    }
}
