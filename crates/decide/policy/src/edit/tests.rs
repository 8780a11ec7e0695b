//! Edits against their laws: a small world, and one file of laws for each family of edits.

mod governed;
mod grants;
mod identities;
mod policies;
mod renames;
mod shown;
mod tags;
mod valid;

use stdx::{ErrorKind, Secret, Timestamp};

use super::*;
use crate::bootstrap::initial_state;
use crate::evaluate::Request;
use crate::model::{Policy, Version};
use crate::privilege::{Privilege, WriteSet};
use crate::{Membership, Principal, Snapshot};

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// Two catalogs; carol is admin; alice is an analyst, bob an engineer, dave nothing, erin in the group staff.
pub(super) struct World {
    pub(super) snapshot: Snapshot,
}

impl World {
    pub(super) fn new() -> Self {
        let state = initial_state(&["sales_wh", "other"], "carol", Some(Secret::new("verifier")));
        let mut world = Self { snapshot: Snapshot::build(state).unwrap() };
        for user in ["alice", "bob", "dave", "erin"] {
            world.ok(Edit::CreateUser { name: user.to_owned(), credential: None, if_not_exists: false });
        }
        for role in ["analyst", "engineer"] {
            world.ok(create_role(role));
        }
        world.ok(Edit::CreateGroup { name: "staff".to_owned(), if_not_exists: false });
        world.ok(Edit::AlterGroup {
            name: "staff".to_owned(),
            add: vec!["erin".to_owned()],
            drop: Vec::new(),
        });
        world.ok(grant_role("analyst", user("alice")));
        world.ok(grant_role("engineer", user("bob")));
        world
    }

    pub(super) fn who(&self, user: &str) -> Membership {
        self.snapshot.membership(&Principal::user(user))
    }

    pub(super) fn try_as(&mut self, user: &str, edit: Edit) -> Result<Change, EditError> {
        let actor = Actor::new(self.who(user));
        let change = apply(&self.snapshot, &edit, &actor, NOW)?;
        let next = Version(self.snapshot.version().0 + 1);
        self.snapshot = self.snapshot.apply(&change, next).unwrap();
        Ok(change)
    }

    pub(super) fn ok_as(&mut self, user: &str, edit: Edit) -> Change {
        self.try_as(user, edit).unwrap_or_else(|e| panic!("{e}"))
    }

    /// As the admin.
    pub(super) fn ok(&mut self, edit: Edit) -> Change {
        self.ok_as("carol", edit)
    }

    #[track_caller]
    pub(super) fn refused(&mut self, user: &str, edit: Edit, kind: ErrorKind, message: &str) -> EditError {
        let before = self.snapshot.state().clone();
        let error = self.try_as(user, edit).expect_err("the edit is refused");
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
        assert_eq!(*self.snapshot.state(), before);
        error
    }

    pub(super) fn may(&self, user: &str, access: &str, scope: &Scope) -> bool {
        let who = self.who(user);
        let resource = scope.resource();
        let request = Request {
            service: GATE_ONE,
            resource,
            owner: None,
            access,
            who: &who,
            now: NOW,
            client_addr: None,
            context: &crate::NO_CONTEXT,
        };
        self.snapshot.access(&request).is_allowed()
    }

    pub(super) fn check(&self, user: &str, privilege: Privilege, scope: &Scope) -> (bool, String) {
        check_access(&self.snapshot, privilege, scope, &self.who(user), None, NOW, None)
    }

    pub(super) fn policy(&self, name: &str) -> &Policy {
        let found = self.snapshot.state().policies.values().find(|p| p.name == name);
        found.unwrap_or_else(|| panic!("no policy `{name}`"))
    }

    pub(super) fn policy_names(&self) -> Vec<String> {
        // The two that a new authority begins with are left out.
        self.snapshot.state().policies.values().skip(2).map(|p| p.name.clone()).collect()
    }
}

pub(super) fn create_role(name: &str) -> Edit {
    Edit::CreateRole { name: name.to_owned(), is_external: false, if_not_exists: false }
}

pub(super) fn grant_role(role: &str, to: Grantee) -> Edit {
    Edit::GrantRole { roles: vec![role.to_owned()], to: vec![to], with_admin_option: false }
}

pub(super) fn user(name: &str) -> Grantee {
    Grantee::User(name.to_owned())
}

pub(super) fn role(name: &str) -> Grantee {
    Grantee::Role(name.to_owned())
}

pub(super) fn group(name: &str) -> Grantee {
    Grantee::Group(name.to_owned())
}

pub(super) fn catalog() -> Scope {
    Scope::Catalog { catalog: "sales_wh".to_owned() }
}

pub(super) fn schema() -> Scope {
    Scope::Namespace { catalog: "sales_wh".to_owned(), namespace: "acdemo".to_owned() }
}

pub(super) fn table(name: &str) -> Scope {
    Scope::Table { catalog: "sales_wh".to_owned(), namespace: "acdemo".to_owned(), table: name.to_owned() }
}

pub(super) fn view(name: &str) -> Scope {
    Scope::View { catalog: "sales_wh".to_owned(), namespace: "acdemo".to_owned(), view: name.to_owned() }
}

pub(super) fn all_tables() -> Scope {
    Scope::AllTables { catalog: "sales_wh".to_owned(), namespace: "acdemo".to_owned() }
}

pub(super) fn specs(privileges: &str) -> Vec<PrivilegeSpec> {
    privileges.split(", ").map(PrivilegeSpec::new).collect()
}

pub(super) fn grant_edit(privileges: &str, scope: Scope, to: Grantee) -> GrantEdit {
    GrantEdit {
        privileges: specs(privileges),
        scopes: vec![scope],
        grantees: vec![to],
        grant_option: GrantOption::Without,
        discovery: Discovery::With,
        validity: None,
        writes: WriteSet::WithoutRead,
    }
}

pub(super) fn grant(privileges: &str, scope: Scope, to: Grantee) -> Edit {
    Edit::Grant(grant_edit(privileges, scope, to))
}

pub(super) fn revoke(privileges: &str, scope: Scope, from: Grantee) -> Edit {
    let (scopes, grantees) = (vec![scope], vec![from]);
    Edit::Revoke(RevokeEdit { what: RevokeWhat::Privilege, privileges: specs(privileges), scopes, grantees })
}

pub(super) fn revoke_option(privileges: &str, scope: Scope, from: Grantee) -> Edit {
    let (scopes, grantees) = (vec![scope], vec![from]);
    Edit::Revoke(RevokeEdit {
        what: RevokeWhat::GrantOption,
        privileges: specs(privileges),
        scopes,
        grantees,
    })
}

pub(super) fn deny(privileges: &str, scope: Scope, to: Grantee) -> Edit {
    Edit::Deny(DenyEdit { privileges: specs(privileges), scopes: vec![scope], grantees: vec![to] })
}
