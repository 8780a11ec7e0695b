//! From a parsed statement to an edit: names resolved, passwords made into verifiers, expressions checked.

use dialect::ast::{self, AlterPolicyAction, Governance, GrantObject, Grantee as Written, PrivilegeText};
use policy::edit::{
    ColumnDenial, ColumnGrant, ColumnRef, DenyEdit, Discovery, Edit, GrantEdit, GrantOption, Grantee,
    PolicyAction, PrivilegeSpec, RevokeEdit, RevokeWhat, Scope, Validity,
};
use policy::model::Priority;
use policy::privilege::WriteSet;
use query_api::QueryError;
use stdx::{ErrorKind, Secret};

use super::objects::{grantee_of, scope_of};
use super::policies;
use crate::error::unsupported;
use crate::names::parts_of_name;
use crate::running::Running;

pub(crate) async fn edit_of(running: &Running, statement: Governance) -> Result<Edit, QueryError> {
    Ok(match statement {
        Governance::CreateUser { name, if_not_exists, password } => {
            let credential = password.map(|password| verifier(running, &password)).transpose()?;
            Edit::CreateUser { name: name.value, credential, if_not_exists }
        }
        Governance::AlterUserPassword { name, password } => {
            Edit::AlterUser { name: name.value, credential: verifier(running, &password)? }
        }
        Governance::DropUser { name, if_exists } => Edit::DropUser { name: name.value, if_exists },
        Governance::CreateRole { name, if_not_exists, is_external } => {
            Edit::CreateRole { name: name.value, is_external, if_not_exists }
        }
        Governance::DropRole { name, if_exists } => Edit::DropRole { name: name.value, if_exists },
        Governance::GrantRole { roles, to, with_admin_option } => {
            Edit::GrantRole { roles: values(roles), to: grantees(&to), with_admin_option }
        }
        Governance::RevokeRole { roles, from, admin_option_only } => {
            Edit::RevokeRole { roles: values(roles), from: grantees(&from), admin_option_only }
        }
        Governance::CreateGroup { name, if_not_exists } => {
            Edit::CreateGroup { name: name.value, if_not_exists }
        }
        Governance::DropGroup { name, if_exists } => Edit::DropGroup { name: name.value, if_exists },
        Governance::AlterGroup { name, add, users } => {
            let (add, drop) = if add { (values(users), Vec::new()) } else { (Vec::new(), values(users)) };
            Edit::AlterGroup { name: name.value, add, drop }
        }
        Governance::Grant(grant) if has_columns(&grant.privileges) => {
            Edit::GrantColumns(column_grant(running, grant).await?)
        }
        Governance::Grant(grant) => Edit::Grant(grant_of(running, grant).await?),
        Governance::Revoke(revoke) if has_columns(&revoke.privileges) => {
            if revoke.grant_option_only {
                return Err(unsupported("GRANT OPTION FOR with a column list"));
            }
            let denial =
                column_denial(running, &revoke.privileges, &revoke.objects, &revoke.grantees).await?;
            Edit::RevokeColumns(denial)
        }
        Governance::Deny(deny) if has_columns(&deny.privileges) => {
            Edit::DenyColumns(column_denial(running, &deny.privileges, &deny.objects, &deny.grantees).await?)
        }
        Governance::Revoke(revoke) => Edit::Revoke(RevokeEdit {
            what: if revoke.grant_option_only { RevokeWhat::GrantOption } else { RevokeWhat::Privilege },
            privileges: privileges(&revoke.privileges)?,
            scopes: scopes(running, &revoke.objects).await?,
            grantees: grantees(&revoke.grantees),
        }),
        Governance::Deny(deny) => Edit::Deny(DenyEdit {
            privileges: privileges(&deny.privileges)?,
            scopes: scopes(running, &deny.objects).await?,
            grantees: grantees(&deny.grantees),
        }),
        Governance::CreatePolicy(create) => Edit::CreatePolicy(policies::create(running, create).await?),
        Governance::DropPolicy { name, if_exists } => Edit::DropPolicy { name: name.value, if_exists },
        Governance::AlterPolicy { name, action } => {
            let action = action_of(running, &name.value, action).await?;
            Edit::AlterPolicy { name: name.value, action }
        }
        Governance::RollbackPolicy { name, version } => {
            let policy = policies::earlier(running, &name.value, version).await?;
            Edit::RestorePolicy { policy: Box::new(policy) }
        }
        _ => return Err(crate::error::internal()),
    })
}

fn verifier(running: &Running, password: &Secret) -> Result<Secret, QueryError> {
    (running.engine.make_verifier)(password).map_err(|why| QueryError::new(ErrorKind::Invalid, why))
}

fn values(idents: Vec<ast::Ident>) -> Vec<String> {
    idents.into_iter().map(|ident| ident.value).collect()
}

fn grantees(written: &[Written]) -> Vec<Grantee> {
    written.iter().map(grantee_of).collect()
}

fn privileges(written: &[PrivilegeText]) -> Result<Vec<PrivilegeSpec>, QueryError> {
    written
        .iter()
        .map(|privilege| {
            if privilege.columns.is_empty() {
                Ok(PrivilegeSpec::new(privilege.name.clone()))
            } else {
                Err(unsupported("a column list in GRANT").with_position(privilege.span.start))
            }
        })
        .collect()
}

fn has_columns(privileges: &[PrivilegeText]) -> bool {
    privileges.iter().any(|privilege| !privilege.columns.is_empty())
}

/// `SELECT (a, b) ON t`: columns of one table or view.
struct Listed {
    scope: Scope,
    service: String,
    database: String,
    table: String,
    uuid: String,
    columns: Vec<ColumnRef>,
}

async fn listed(
    running: &Running,
    privileges: &[PrivilegeText],
    objects: &[GrantObject],
    find: impl Fn(&policies::Governable, &str) -> Option<ColumnRef>,
) -> Result<Listed, QueryError> {
    let ([privilege], [object @ (GrantObject::Table(name) | GrantObject::View(name))]) =
        (privileges, objects)
    else {
        return Err(unsupported("a column list beside other privileges or objects"));
    };
    if privilege.name != "SELECT" {
        return Err(
            unsupported(format!("a column list for {}", privilege.name)).with_position(privilege.span.start)
        );
    }
    let scope = scope_of(running, object).await?.scope;
    let name = running.path.relation(&parts_of_name(name))?;
    let table = policies::table(running, &name).await?;
    let columns = privilege
        .columns
        .iter()
        .map(|column| {
            find(&table, &column.value)
                .ok_or_else(|| policies::no_column(&table, &column.value).with_position(column.span.start))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Listed {
        scope,
        service: running.snapshot.gate_two_service(&name.catalog).to_owned(),
        database: name.database(),
        table: name.name.clone(),
        uuid: table.uuid.clone(),
        columns,
    })
}

async fn column_denial(
    running: &Running,
    privileges: &[PrivilegeText],
    objects: &[GrantObject],
    written: &[Written],
) -> Result<ColumnDenial, QueryError> {
    let Listed { scope, service, database, table, uuid, columns } =
        listed(running, privileges, objects, policies::column_or_part).await?;
    Ok(ColumnDenial {
        scope,
        service,
        database,
        table,
        uuid: Some(uuid),
        columns,
        grantees: grantees(written),
    })
}

async fn column_grant(running: &Running, grant: ast::Grant) -> Result<ColumnGrant, QueryError> {
    if grant.with_grant_option {
        return Err(unsupported("WITH GRANT OPTION with a column list"));
    }
    let Listed { scope, uuid, columns, .. } =
        listed(running, &grant.privileges, &grant.objects, policies::column_ref).await?;
    Ok(ColumnGrant {
        scope,
        uuid: Some(uuid),
        columns,
        grantees: grantees(&grant.grantees),
        discovery: if grant.without_discovery { Discovery::Without } else { Discovery::With },
        validity: validity(grant.validity.as_ref())?,
    })
}

async fn scopes(running: &Running, objects: &[GrantObject]) -> Result<Vec<Scope>, QueryError> {
    let mut scopes = Vec::with_capacity(objects.len());
    for object in objects {
        scopes.push(scope_of(running, object).await?.scope);
    }
    Ok(scopes)
}

async fn grant_of(running: &Running, grant: ast::Grant) -> Result<GrantEdit, QueryError> {
    Ok(GrantEdit {
        privileges: privileges(&grant.privileges)?,
        scopes: scopes(running, &grant.objects).await?,
        grantees: grantees(&grant.grantees),
        grant_option: if grant.with_grant_option { GrantOption::With } else { GrantOption::Without },
        discovery: if grant.without_discovery { Discovery::Without } else { Discovery::With },
        validity: validity(grant.validity.as_ref())?,
        writes: if running.engine.settings.write_implies_read {
            WriteSet::WithRead
        } else {
            WriteSet::WithoutRead
        },
    })
}

pub(crate) fn validity(written: Option<&ast::Validity>) -> Result<Option<Validity>, QueryError> {
    written
        .map(|validity| Validity::parse(validity.from.as_deref(), validity.until.as_deref()))
        .transpose()
        .map_err(|error| QueryError::new(ErrorKind::Invalid, error.to_string()))
}

async fn action_of(
    running: &Running,
    policy: &str,
    action: AlterPolicyAction,
) -> Result<PolicyAction, QueryError> {
    Ok(match action {
        AlterPolicyAction::Enable => PolicyAction::Enable,
        AlterPolicyAction::Disable => PolicyAction::Disable,
        AlterPolicyAction::RenameTo(name) => PolicyAction::RenameTo(name.value),
        AlterPolicyAction::SetComment(text) => PolicyAction::SetComment(text),
        AlterPolicyAction::SetPriority { is_override } => {
            PolicyAction::SetPriority(if is_override { Priority::Override } else { Priority::Normal })
        }
        AlterPolicyAction::SetUsing(expr) => {
            PolicyAction::SetUsing(policies::recheck(running, policy, &expr).await?)
        }
        AlterPolicyAction::ForgetName(name) => {
            let parts = parts_of_name(&name);
            PolicyAction::ForgetName { table: parts.last().cloned().unwrap_or_default() }
        }
        AlterPolicyAction::Rebind => policies::rebind(running, policy).await?,
    })
}
