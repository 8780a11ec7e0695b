//! Edits of the authority's state: who may make them, what they change, and what stands written afterwards.
//!
//! Every door makes an [`Edit`] and hands it to [`apply`], which is pure: a snapshot, an edit, who makes it and the
//! time go in, a [`Change`] or every fault at once comes out.

mod change;
mod columns;
mod cover;
mod deny;
mod draft;
mod error;
mod governed;
mod grant;
mod identity;
mod items;
mod named;
mod names;
mod pins;
mod policy;
mod record;
mod rename;
mod restrict;
mod revoke;
mod scope;
mod show;
#[cfg(test)]
mod tests;
mod valid;

use std::collections::BTreeSet;

use stdx::{Secret, Timestamp};

pub use change::{Action, Change, Described};
pub use columns::ColumnGrant;
pub(crate) use columns::{is_column, is_of_columns};
pub use error::{EditError, EditFault, FaultKind};
pub use governed::{ColumnTags, ColumnTagsEdit, GovernedEdit, OtherTags, TagSpec, TagsEdit, UnsetColumnTags};
pub use grant::{DenyEdit, Discovery, GrantEdit, GrantOption, PrivilegeSpec, RevokeEdit, RevokeWhat};
pub use named::{policies_on, protects, speaks_of};
pub use pins::{Pins, author, needs_column, needs_function, needs_relation, pins, read_line, reads_column};
pub use policy::{
    CheckedExpr, ColumnRef, CreateMode, PolicyAction, PolicyBody, PolicyEdit, PolicyTarget,
    may_write_policies,
};
pub use record::{ORIGIN, ORIGIN_COLUMNS, ORIGIN_GRANT, ORIGIN_POLICY, ORIGIN_RESTRICTION};
pub use restrict::ColumnDenial;
pub use scope::{ADMIN, GATE_ONE, Grantee, PUBLIC, Scope, Validity, ValidityError};
pub use show::{
    Effect, GrantRow, Reach, access_verdicts, all_grants, check_access, effective_grants, show_grants_on,
    show_grants_to,
};

use crate::model::Policy;
use crate::{Membership, Snapshot};
use draft::Draft;
use error::Faults;

/// Who makes an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    pub membership: Membership,
    /// Of the objects that the edit names, those that the actor owns.
    pub owned: BTreeSet<Scope>,
}

impl Actor {
    pub fn new(membership: Membership) -> Self {
        Self { membership, owned: BTreeSet::new() }
    }

    /// Whether the actor may make every edit.
    pub fn is_admin(&self) -> bool {
        self.membership.roles.contains(ADMIN)
    }
}

/// Something to change, its names resolved and its expressions checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    CreateUser {
        name: String,
        credential: Option<Secret>,
        if_not_exists: bool,
    },
    /// A user may change her own.
    AlterUser {
        name: String,
        credential: Secret,
    },
    DropUser {
        name: String,
        if_exists: bool,
    },
    CreateRole {
        name: String,
        is_external: bool,
        if_not_exists: bool,
    },
    DropRole {
        name: String,
        if_exists: bool,
    },
    GrantRole {
        roles: Vec<String>,
        to: Vec<Grantee>,
        with_admin_option: bool,
    },
    RevokeRole {
        roles: Vec<String>,
        from: Vec<Grantee>,
        admin_option_only: bool,
    },
    CreateGroup {
        name: String,
        if_not_exists: bool,
    },
    DropGroup {
        name: String,
        if_exists: bool,
    },
    AlterGroup {
        name: String,
        add: Vec<String>,
        drop: Vec<String>,
    },
    Grant(GrantEdit),
    /// `GRANT SELECT (c, …)`: every other column reads as typed NULL, unless another grant gives it.
    GrantColumns(ColumnGrant),
    Revoke(RevokeEdit),
    Deny(DenyEdit),
    /// `DENY SELECT (c, …)`: the columns read as typed NULL.
    DenyColumns(ColumnDenial),
    RevokeColumns(ColumnDenial),
    CreatePolicy(PolicyEdit),
    DropPolicy {
        name: String,
        if_exists: bool,
    },
    AlterPolicy {
        name: String,
        action: PolicyAction,
    },
    /// Puts an earlier version of a policy back (`ROLLBACK POLICY`).
    RestorePolicy {
        policy: Box<Policy>,
    },
    /// Zones, tags, services and definitions.
    Governed(GovernedEdit),
    /// A column of a table has a new name, by whichever door.
    RenameColumn {
        service: String,
        database: String,
        table: String,
        from: String,
        to: String,
        field_id: Option<i32>,
        /// The table's, so that tags which are bound to another table under its name are told from its own.
        uuid: Option<String>,
    },
    /// A table or view has a new name, by whichever door. Both names are in the catalog that `service` is for.
    RenameTable {
        service: String,
        catalog: String,
        from: (String, String),
        to: (String, String),
        uuid: Option<String>,
    },
}

/// What an edit would change.
///
/// # Errors
/// The actor may not make it, or something in it is wrong; nothing is changed then.
pub fn apply(snapshot: &Snapshot, edit: &Edit, actor: &Actor, now: Timestamp) -> Result<Change, EditError> {
    let mut draft = Draft::new(snapshot, &actor.membership.user, now);
    let mut faults = Faults::default();
    match edit {
        Edit::CreateUser { .. }
        | Edit::AlterUser { .. }
        | Edit::DropUser { .. }
        | Edit::CreateRole { .. }
        | Edit::DropRole { .. }
        | Edit::GrantRole { .. }
        | Edit::RevokeRole { .. }
        | Edit::CreateGroup { .. }
        | Edit::DropGroup { .. }
        | Edit::AlterGroup { .. } => identity::apply(&mut draft, edit, actor, &mut faults),
        Edit::Grant(grant) => grant::apply(&mut draft, grant, actor, &mut faults),
        Edit::GrantColumns(grant) => columns::grant(&mut draft, grant, actor, &mut faults),
        Edit::Revoke(revoke) => revoke::apply(&mut draft, revoke, actor, &mut faults),
        Edit::Deny(deny) => deny::apply(&mut draft, deny, actor, &mut faults),
        Edit::DenyColumns(denial) => restrict::deny(&mut draft, denial, actor, &mut faults),
        Edit::RevokeColumns(denial) => restrict::revoke(&mut draft, denial, actor, &mut faults),
        Edit::CreatePolicy(policy) => policy::create(&mut draft, policy, actor, &mut faults),
        Edit::DropPolicy { name, if_exists } => {
            policy::drop(&mut draft, name, *if_exists, actor, &mut faults)
        }
        Edit::AlterPolicy { name, action } => policy::alter(&mut draft, name, action, actor, &mut faults),
        Edit::RestorePolicy { policy } => policy::restore(&mut draft, policy, actor, &mut faults),
        Edit::Governed(edit) => governed::apply(&mut draft, edit, actor, &mut faults),
        Edit::RenameColumn { service, database, table, from, to, field_id, uuid } => {
            let (field_id, uuid) = (*field_id, uuid.as_deref());
            let column = rename::Column { service, database, table, from, to, field_id, uuid };
            rename::column(&mut draft, &column, actor, &mut faults);
        }
        Edit::RenameTable { service, catalog, from, to, uuid } => {
            let table = rename::Table { service, catalog, from, to, uuid: uuid.as_deref() };
            rename::table(&mut draft, &table, actor, &mut faults);
        }
    }
    faults.into_result()?;
    let change = draft.finish();
    valid::check(snapshot, &change, actor, now)?;
    Ok(change)
}
