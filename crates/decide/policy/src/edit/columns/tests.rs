//! Granted columns are all that is read, until another grant gives the rest.

use stdx::Timestamp;

use super::*;
use crate::edit::{ColumnDenial, DenyEdit, Edit, RevokeEdit, RevokeWhat, apply, show_grants_on};
use crate::model::Version;
use crate::operation::Object;
use crate::{GrantedColumns, Principal, Snapshot, bootstrap};

fn now() -> Timestamp {
    Timestamp::from_millis(1_000)
}

fn with(snapshot: &Snapshot, edit: &Edit) -> Snapshot {
    let admin = Actor::new(snapshot.membership(&Principal::user("admin")));
    let change = apply(snapshot, edit, &admin, now()).unwrap();
    snapshot.apply(&change, Version(snapshot.version().0 + 1)).unwrap()
}

fn world() -> Snapshot {
    let mut snapshot = Snapshot::build(bootstrap::initial_state(&["c"], "admin", None)).unwrap();
    for name in ["ana", "bo"] {
        let user = Edit::CreateUser { name: name.to_owned(), credential: None, if_not_exists: false };
        snapshot = with(&snapshot, &user);
    }
    let role = Edit::CreateRole { name: "r".to_owned(), is_external: false, if_not_exists: false };
    let member = Edit::GrantRole {
        roles: vec!["r".to_owned()],
        to: vec![Grantee::User("ana".to_owned())],
        with_admin_option: false,
    };
    with(&with(&snapshot, &role), &member)
}

fn scope() -> Scope {
    Scope::Table { catalog: "c".to_owned(), namespace: "s".to_owned(), table: "t".to_owned() }
}

fn column(name: &str, id: i32) -> ColumnRef {
    ColumnRef { name: name.to_owned(), field_id: Some(id) }
}

fn columns(columns: &[ColumnRef], grantee: Grantee) -> Edit {
    Edit::GrantColumns(ColumnGrant {
        scope: scope(),
        uuid: Some("u".to_owned()),
        columns: columns.to_vec(),
        grantees: vec![grantee],
        discovery: Discovery::With,
        validity: None,
    })
}

fn whole(grantee: Grantee) -> GrantEdit {
    GrantEdit {
        privileges: vec![PrivilegeSpec::new("SELECT")],
        scopes: vec![scope()],
        grantees: vec![grantee],
        grant_option: GrantOption::Without,
        discovery: Discovery::With,
        validity: None,
        writes: WriteSet::WithoutRead,
    }
}

fn field(field_id: i32) -> FieldOf<'static> {
    FieldOf { table_uuid: "u", field_id }
}

fn granted(snapshot: &Snapshot, user: &str) -> GrantedColumns {
    let object =
        Object::Table { catalog: "c".to_owned(), namespace: vec!["s".to_owned()], table: "t".to_owned() };
    snapshot.granted_columns(&object, &snapshot.membership(&Principal::user(user)), None, now(), None)
}

fn reads(snapshot: &Snapshot, user: &str) -> Vec<&'static str> {
    let columns = [("a", 1), ("b", 2), ("d", 3)];
    let granted = granted(snapshot, user);
    columns.iter().filter(|(name, id)| granted.has(name, Some(field(*id)))).map(|(name, _)| *name).collect()
}

fn may_select(snapshot: &Snapshot, user: &str) -> bool {
    let select = crate::operation::Operation::SelectTable;
    let object =
        Object::Table { catalog: "c".to_owned(), namespace: vec!["s".to_owned()], table: "t".to_owned() };
    snapshot
        .may(select, &object, &snapshot.membership(&Principal::user(user)), None, now(), None)
        .is_allowed()
}

fn ana() -> Grantee {
    Grantee::User("ana".to_owned())
}

#[test]
fn only_listed_columns_are_granted() {
    let snapshot = with(&world(), &columns(&[column("a", 1)], ana()));
    assert_eq!(reads(&snapshot, "ana"), ["a"]);
    assert_eq!(reads(&snapshot, "admin"), ["a", "b", "d"]);
    // A renamed column keeps its grant, and a later one of its name has none.
    assert!(granted(&snapshot, "ana").has("renamed", Some(field(1))));
    assert!(!granted(&snapshot, "ana").has("a", Some(field(9))));
}

#[test]
fn grants_of_columns_add_up_and_a_grant_of_the_table_gives_all() {
    let snapshot = with(&world(), &columns(&[column("a", 1)], ana()));
    let both = with(&snapshot, &columns(&[column("b", 2)], Grantee::Role("r".to_owned())));
    assert_eq!(reads(&both, "ana"), ["a", "b"]);
    let all = with(&both, &Edit::Grant(whole(Grantee::Role("r".to_owned()))));
    assert_eq!(reads(&all, "ana"), ["a", "b", "d"]);
    let revoke = |grantee| {
        Edit::Revoke(RevokeEdit {
            what: RevokeWhat::Privilege,
            privileges: vec![PrivilegeSpec::new("SELECT")],
            scopes: vec![scope()],
            grantees: vec![grantee],
        })
    };
    let without = with(&all, &revoke(Grantee::Role("r".to_owned())));
    assert_eq!(reads(&without, "ana"), ["a"]);
    let nothing = with(&without, &revoke(ana()));
    assert!(!may_select(&nothing, "ana"));
}

#[test]
fn columns_are_taken_back_one_by_one() {
    let snapshot = with(&world(), &columns(&[column("a", 1), column("b", 2)], ana()));
    let taken = |column: ColumnRef| {
        Edit::RevokeColumns(ColumnDenial {
            scope: scope(),
            service: "query".to_owned(),
            database: "s".to_owned(),
            table: "t".to_owned(),
            uuid: Some("u".to_owned()),
            columns: vec![column],
            grantees: vec![ana()],
        })
    };
    let one = with(&snapshot, &taken(column("a", 1)));
    assert_eq!(reads(&one, "ana"), ["b"]);
    let none = with(&one, &taken(column("b", 2)));
    let rows = show_grants_on(&none, &scope(), Default::default());
    // What lets her find the schema stays, as it does when a grant of the whole table is taken back.
    let on_table = rows.iter().filter(|row| row.grantee_name == "ana" && row.resource == "c.s.t");
    assert_eq!(on_table.count(), 0);
    assert!(!may_select(&none, "ana"));
}

#[test]
fn a_denial_of_the_table_stands_above_granted_columns() {
    let snapshot = with(&world(), &columns(&[column("a", 1)], ana()));
    let deny = DenyEdit {
        privileges: vec![PrivilegeSpec::new("SELECT")],
        scopes: vec![scope()],
        grantees: vec![ana()],
    };
    let denied = with(&snapshot, &Edit::Deny(deny));
    let object =
        Object::Table { catalog: "c".to_owned(), namespace: vec!["s".to_owned()], table: "t".to_owned() };
    let who = denied.membership(&Principal::user("ana"));
    let select = crate::operation::Operation::SelectTable;
    assert!(!denied.may(select, &object, &who, None, now(), None).is_allowed());
}

#[test]
fn only_who_may_grant_the_table_grants_its_columns() {
    let snapshot = world();
    let bo = Actor::new(snapshot.membership(&Principal::user("bo")));
    let refused = apply(&snapshot, &columns(&[column("a", 1)], ana()), &bo, now());
    assert_eq!(refused.unwrap_err().kind(), stdx::ErrorKind::Denied);
}

#[test]
fn a_list_of_grants_names_the_columns() {
    let snapshot = with(&world(), &columns(&[column("a", 1), column("b", 2)], ana()));
    let rows = show_grants_on(&snapshot, &scope(), Default::default());
    assert!(rows.iter().any(|row| row.grantee_name == "ana" && row.resource == "c.s.t (a, b)"), "{rows:?}");
}

#[test]
fn another_table_of_the_name_has_numbers_of_its_own() {
    let snapshot = with(&world(), &columns(&[column("a", 1)], ana()));
    let other = |field_id| Some(FieldOf { table_uuid: "other", field_id });
    let given = granted(&snapshot, "ana");
    assert!(!given.has("pay", other(1)));
    assert!(given.has("a", other(2)));

    // Granted again, of the other one: what was granted before gives nothing by its number.
    let again = Edit::GrantColumns(ColumnGrant {
        scope: scope(),
        uuid: Some("other".to_owned()),
        columns: vec![column("b", 3)],
        grantees: vec![ana()],
        discovery: Discovery::With,
        validity: None,
    });
    let both = with(&snapshot, &again);
    let given = granted(&both, "ana");
    assert!(given.has("b", other(3)) && given.has("a", other(2)));
    assert!(!given.has("pay", other(1)));
    assert!(!given.has("pay", Some(field(1))));

    // And what is left of it is taken back by name.
    let taken = Edit::RevokeColumns(ColumnDenial {
        scope: scope(),
        service: "query".to_owned(),
        database: "s".to_owned(),
        table: "t".to_owned(),
        uuid: Some("other".to_owned()),
        columns: vec![column("a", 2)],
        grantees: vec![ana()],
    });
    assert!(!granted(&with(&both, &taken), "ana").has("a", other(2)));
}

#[test]
fn grants_of_columns_are_kept_with_every_change() {
    let snapshot = with(&world(), &columns(&[column("a", 1)], ana()));
    let both = with(&snapshot, &columns(&[column("b", 2)], Grantee::User("bo".to_owned())));
    for snapshot in [&snapshot, &both] {
        let rebuilt = Snapshot::build(snapshot.state().clone()).unwrap();
        for user in ["ana", "bo"] {
            assert_eq!(granted(snapshot, user), granted(&rebuilt, user), "{user}");
        }
    }
    let revoke = RevokeEdit {
        what: RevokeWhat::Privilege,
        privileges: vec![PrivilegeSpec::new("SELECT")],
        scopes: vec![scope()],
        grantees: vec![ana(), Grantee::User("bo".to_owned())],
    };
    let none = with(&both, &Edit::Revoke(revoke));
    assert_eq!(granted(&none, "ana"), GrantedColumns::All);
    assert!(!may_select(&none, "ana"));
}
