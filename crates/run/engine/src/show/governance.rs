//! Questions about grants, policies and identities.

use datafusion::arrow::datatypes::Schema;
use dialect::ast::{Governance, GrantObject, Grantee as Written, Ident, Name, PolicyTarget};
use policy::edit::{GrantRow, Grantee, Reach, Scope};
use policy::model::{Policy, PolicyKind};
use policy::privilege::Privilege;
use policy::{ColumnRule, Membership, TableRules};
use query_api::{Outcome, QueryError};
use stdx::ErrorKind;

use super::{policy_text, text_rows};
use crate::error::{from_store, table_not_found, unsupported};
use crate::governance::{columns, grantee_of, scope_of};
use crate::names::{RelationName, parts_of_name};
use crate::resolve::{Found, find};
use crate::rules::{rules_for, rules_of_view};
use crate::running::Running;
use crate::statement::Call;

pub(crate) type Lines = Vec<Vec<Option<String>>>;

pub(crate) async fn run(
    running: &Running,
    statement: Governance,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let Some(schema) = columns(&statement) else {
        return Err(crate::error::internal());
    };
    let lines = answer(running, statement, call).await;
    match &lines {
        Ok(_) => running.audit_change("show", "", "policy", call.text, None),
        Err(error) => running.audit_refused("show", call.text, error),
    }
    text_rows(&schema, &lines?)
}

async fn answer(running: &Running, statement: Governance, call: &Call<'_>) -> Result<Lines, QueryError> {
    match statement {
        Governance::ShowUsers => Ok(users(running)),
        Governance::ShowRoles => Ok(role_lines(running)),
        Governance::ShowCurrentRoles => Ok(running.who.roles.iter().map(|role| vec![text(role)]).collect()),
        Governance::ShowGroups => Ok(groups(running)),
        Governance::ShowRoleGrants { role } => Ok(role_grants(running, role.as_ref())),
        Governance::ShowGrantsOn { object } => grants_on(running, &object).await,
        Governance::ShowGrantsTo { grantee } => grants_to(running, &grantee),
        Governance::ShowEffectiveGrants { user } => {
            self_or_admin(running, &user.value, "SHOW EFFECTIVE GRANTS")?;
            Ok(grant_lines(policy::edit::effective_grants(&running.snapshot, &user.value)))
        }
        Governance::CheckAccess { privilege, object, user } => {
            check_access(running, &privilege.name, &object, user.as_ref()).await
        }
        Governance::ShowEffectivePolicy { user, table } => {
            effective_policy(running, user.as_ref(), &table).await
        }
        Governance::ShowPolicies { on, grantee } => show_policies(running, on.as_ref(), grantee.as_ref()),
        Governance::DescribePolicy { name } => describe(running, &name.value),
        Governance::ShowCreatePolicy { name } => {
            let policy = policy(running, &name.value)?;
            let statement = policy_text::create_statement(policy, catalog_of(running, policy))
                .ok_or_else(|| unsupported("writing this policy as one statement"))?;
            Ok(vec![vec![text(&policy.name), Some(statement)]])
        }
        Governance::ShowPolicyHistory { name } => history(running, &name.value).await,
        Governance::ShowMaskingPolicies { name } => masking_policies(running, name.as_ref()),
        Governance::ShowRowFilters => row_filters(running),
        Governance::ShowTags { table } => crate::tags::show(running, &table, call).await,
        Governance::ShowTagsWithoutPolicy => {
            admin(running, "SHOW TAGS WITHOUT POLICY")?;
            Ok(crate::tags::without_policy(running))
        }
        _ => Err(crate::error::internal()),
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

pub(crate) fn admin(running: &Running, what: &str) -> Result<(), QueryError> {
    if running.is_admin() {
        Ok(())
    } else {
        Err(QueryError::new(ErrorKind::Denied, format!("permission denied to run {what}")))
    }
}

pub(crate) fn self_or_admin(running: &Running, user: &str, what: &str) -> Result<(), QueryError> {
    if running.who.user == user { Ok(()) } else { admin(running, &format!("{what} for another user")) }
}

pub(crate) fn known_user(running: &Running, user: &str) -> Result<(), QueryError> {
    if running.snapshot.state().users.contains_key(user) {
        Ok(())
    } else {
        Err(QueryError::new(ErrorKind::ObjectNotFound, format!("no such user `{user}`")))
    }
}

fn users(running: &Running) -> Lines {
    let names = running.snapshot.state().users.keys();
    names
        .filter(|name| running.is_admin() || **name == running.who.user)
        .map(|name| vec![text(name)])
        .collect()
}

pub(crate) fn role_lines(running: &Running) -> Lines {
    running
        .snapshot
        .state()
        .roles
        .values()
        .filter(|role| running.is_admin() || running.who.roles.contains(&role.name))
        .map(|role| vec![text(&role.name), text(if role.is_external { "true" } else { "false" })])
        .collect()
}

fn groups(running: &Running) -> Lines {
    running
        .snapshot
        .state()
        .groups
        .values()
        .filter(|group| running.is_admin() || running.who.groups.contains(&group.name))
        .map(|group| {
            // Who else is in a group is not for its members to know.
            let members = if running.is_admin() { group.users.join(", ") } else { running.who.user.clone() };
            vec![text(&group.name), Some(members)]
        })
        .collect()
}

pub(crate) fn role_grants(running: &Running, only: Option<&Ident>) -> Lines {
    let mut lines = Vec::new();
    for role in running.snapshot.state().roles.values() {
        if only.is_some_and(|only| only.value != role.name) {
            continue;
        }
        let members = [("USER", &role.users), ("GROUP", &role.groups), ("ROLE", &role.roles)];
        for (kind, members) in members {
            for member in members {
                if running.is_admin() || is_mine(&running.who, kind, &member.name) {
                    let admin = if member.is_admin { "true" } else { "false" };
                    lines.push(vec![text(&role.name), text(kind), text(&member.name), text(admin)]);
                }
            }
        }
    }
    lines
}

fn is_mine(who: &Membership, kind: &str, name: &str) -> bool {
    match kind {
        "USER" => who.user == name,
        "GROUP" => who.groups.contains(name),
        "ROLE" => who.roles.contains(name),
        _ => name == policy::edit::PUBLIC,
    }
}

/// Every grant to an admin; to others, those that reach themselves.
async fn grants_on(running: &Running, object: &GrantObject) -> Result<Lines, QueryError> {
    let named = scope_of(running, object).await?;
    let rows = policy::edit::show_grants_on(&running.snapshot, &named.scope, Reach::Covering);
    let rows = rows.into_iter().filter(|row| is_of(&named.scope, &row.privilege)).filter(|row| {
        running.is_admin()
            || row.grantee_type == "PUBLIC"
            || is_mine(&running.who, row.grantee_type, &row.grantee_name)
    });
    Ok(grant_lines(rows.collect()))
}

/// Whether an access type says anything of an object: a table's types say nothing of a view, which stands in the
/// same slot, and a view's nothing of a table.
fn is_of(scope: &Scope, access: &str) -> bool {
    match scope {
        Scope::Table { .. } | Scope::AllTables { .. } => !access.starts_with("view-"),
        Scope::View { .. } | Scope::AllViews { .. } => !access.starts_with("table-"),
        Scope::Catalog { .. } | Scope::Namespace { .. } => true,
    }
}

fn grants_to(running: &Running, written: &Written) -> Result<Lines, QueryError> {
    let grantee = grantee_of(written);
    let is_own = match &grantee {
        Grantee::User(name) => running.who.user == *name,
        Grantee::Role(name) => running.who.roles.contains(name),
        Grantee::Group(name) => running.who.groups.contains(name),
        Grantee::Public => true,
    };
    if !is_own {
        admin(running, "SHOW GRANTS for another grantee")?;
    }
    Ok(grant_lines(policy::edit::show_grants_to(&running.snapshot, &grantee)))
}

/// Every grant to an admin; to others, those that reach themselves.
pub(crate) fn privilege_lines(running: &Running) -> Lines {
    if !running.is_admin() {
        return grant_lines(policy::edit::effective_grants(&running.snapshot, &running.who.user));
    }
    grant_lines(policy::edit::all_grants(&running.snapshot))
}

fn grant_lines(rows: Vec<GrantRow>) -> Lines {
    rows.into_iter()
        .map(|row| {
            vec![
                Some(row.privilege),
                Some(row.resource),
                text(row.grantee_type),
                Some(row.grantee_name),
                text(row.effect.word()),
                row.granted_by,
                row.granted_at.map(stdx::Timestamp::to_rfc3339),
            ]
        })
        .collect()
}

async fn check_access(
    running: &Running,
    privilege: &str,
    object: &GrantObject,
    user: Option<&Ident>,
) -> Result<Lines, QueryError> {
    if let Some(user) = user {
        self_or_admin(running, &user.value, "CHECK ACCESS")?;
        known_user(running, &user.value)?;
    }
    let parsed = Privilege::parse(privilege)
        .map_err(|error| QueryError::new(ErrorKind::Invalid, error.to_string()))?;
    let named = scope_of(running, object).await?;
    let who = match user {
        Some(user) => running.as_user(&user.value).who,
        None => running.who.clone(),
    };
    let (allowed, reason) = policy::edit::check_access(
        &running.snapshot,
        parsed,
        &named.scope,
        &who,
        named.owner.as_deref(),
        running.now,
        running.context.client_addr,
    );
    Ok(vec![vec![text(if allowed { "true" } else { "false" }), Some(reason)]])
}

/// Filter, masks and restrictions of one user on one table; texts and names of policies for admins only.
async fn effective_policy(
    running: &Running,
    user: Option<&Ident>,
    table: &Name,
) -> Result<Lines, QueryError> {
    if let Some(user) = user {
        self_or_admin(running, &user.value, "SHOW EFFECTIVE POLICY")?;
        known_user(running, &user.value)?;
    }
    let name = running.path.relation(&parts_of_name(table))?;
    let found = if running.is_admin() {
        find(running, &name).await?
    } else {
        crate::ddl::visible(running, &name).await?
    };
    let asked = match user {
        Some(user) => running.as_user(&user.value),
        None => running.clone(),
    };
    let handle = match found {
        Found::Table(handle) => handle,
        Found::View(view) => {
            let Some(schema) = crate::visible::view_schema(running, &name).await else {
                return Err(table_not_found(&name.to_string()));
            };
            let rules = rules_of_view(&asked, &name, &view, &schema);
            return Ok(effective_lines(running.is_admin(), &names_of(&schema), &rules));
        }
        Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    let rules = rules_for(&asked, &name, &handle);
    Ok(effective_lines(running.is_admin(), &names_of(&handle.schema), &rules))
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// The very rules that a read is made of, a line each; `is_admin` is whether texts and names are told.
pub(crate) fn effective_lines(is_admin: bool, columns: &[String], rules: &TableRules) -> Lines {
    let told = |value: &str| told(value, is_admin);
    let mut lines = Vec::new();
    for filter in &rules.filters {
        lines.push(vec![
            text("row_filter"),
            None,
            told(&filter.expr),
            told(&filter.policy_name),
            told(&filter.policy_version.to_string()),
            filter.broken.as_deref().and_then(told).or_else(|| unbound(&filter.expressions, is_admin)),
        ]);
    }
    for (column, tags) in columns.iter().zip(&rules.tags).filter(|(_, tags)| !tags.is_empty()) {
        lines.push(vec![text("tag"), text(column), Some(tags.join(", ")), None, None, None]);
    }
    for (column, rule) in columns.iter().zip(&rules.columns) {
        match rule {
            ColumnRule::Parts(parts) => {
                lines.extend(
                    parts.iter().filter_map(|part| column_line(&part.name(column), &part.rule, is_admin)),
                );
            }
            whole => lines.extend(column_line(column, whole, is_admin)),
        }
    }
    if is_admin {
        lines.extend(rules.passed_over.iter().map(|passed| {
            vec![
                text("passed_over"),
                passed.column.clone(),
                None,
                text(&passed.policy_name),
                Some(passed.policy_version.to_string()),
                Some(passed.reason.to_string()),
            ]
        }));
    }
    lines
}

/// What only policy admins are told.
fn told(value: &str, is_admin: bool) -> Option<String> {
    if is_admin { text(value) } else { None }
}

fn unbound(values: &[(String, Option<String>)], is_admin: bool) -> Option<String> {
    let missing = values.iter().find(|(_, value)| value.is_none());
    missing.and_then(|(expr, _)| told(&format!("`{expr}` stands for nothing"), is_admin))
}

fn column_line(column: &str, rule: &ColumnRule, is_admin: bool) -> Option<Vec<Option<String>>> {
    let told = |value: &str| told(value, is_admin);
    Some(match rule {
        ColumnRule::Raw | ColumnRule::Parts(_) => return None,
        ColumnRule::Masked(mask) => {
            let detail = match (&mask.value_expr, is_admin) {
                (Some(expr), true) => format!("{}: {expr}", mask.mask_type),
                _ => mask.mask_type.clone(),
            };
            vec![
                text("column_mask"),
                text(column),
                Some(detail),
                told(&mask.policy_name),
                told(&mask.policy_version.to_string()),
                unbound(&mask.expressions, is_admin),
            ]
        }
        ColumnRule::Restricted(restriction) => vec![
            text("column_restriction"),
            text(column),
            text("NULL"),
            restriction.policy_name.as_deref().and_then(told),
            None,
            told(&restriction.reason),
        ],
    })
}

fn policy<'a>(running: &'a Running, name: &str) -> Result<&'a Policy, QueryError> {
    admin(running, "statements about policies")?;
    running
        .snapshot
        .state()
        .policies
        .values()
        .find(|policy| policy.name == name)
        .ok_or_else(|| QueryError::new(ErrorKind::ObjectNotFound, format!("no such policy `{name}`")))
}

fn catalog_of<'a>(running: &'a Running, policy: &Policy) -> &'a str {
    let mut catalogs = running.engine.catalog_order.iter();
    catalogs
        .find(|catalog| running.snapshot.gate_two_service(catalog) == policy.service)
        .map_or("", String::as_str)
}

fn show_policies(
    running: &Running,
    on: Option<&PolicyTarget>,
    grantee: Option<&Written>,
) -> Result<Lines, QueryError> {
    admin(running, "SHOW POLICIES")?;
    let tag = match on {
        Some(PolicyTarget::Tag(tag)) => Some(tag.value.as_str()),
        Some(PolicyTarget::Table(_) | PolicyTarget::View(_)) | None => None,
    };
    let on: Option<RelationName> = match on {
        None | Some(PolicyTarget::Tag(_)) => None,
        Some(PolicyTarget::Table(name) | PolicyTarget::View(name)) => {
            Some(running.path.relation(&parts_of_name(name))?)
        }
    };
    let names_it = |policy: &Policy| match &on {
        None => tag.is_none_or(|tag| policy::edit::speaks_of(&running.snapshot, policy, tag)),
        Some(name) => {
            let service = running.snapshot.gate_two_service(&name.catalog);
            policy::edit::policies_on(&running.snapshot, service, &name.database(), &name.name)
                .iter()
                .any(|on| on.id == policy.id)
        }
    };
    let wanted = grantee.map(grantee_of);
    let reaches = |policy: &Policy| match &wanted {
        None => true,
        Some(grantee) => policy_text::all_grantees(policy).contains(&grantee_text(grantee)),
    };
    Ok(policy_lines(running, |policy| names_it(policy) && reaches(policy)))
}

pub(crate) fn policy_lines(running: &Running, is_wanted: impl Fn(&Policy) -> bool) -> Lines {
    let policies = running.snapshot.state().policies.values();
    policies
        .filter(|policy| is_wanted(policy))
        .map(|policy| {
            vec![
                text(&policy.name),
                text(policy_text::kind_name(policy.kind)),
                text(&policy.service),
                Some(policy_text::resource(policy)),
                Some(policy_text::all_grantees(policy)),
                text(if policy.is_enabled { "true" } else { "false" }),
                Some(policy.version.to_string()),
            ]
        })
        .collect()
}

fn grantee_text(grantee: &Grantee) -> String {
    match grantee {
        Grantee::Public => "PUBLIC".to_owned(),
        other => format!("{} \"{}\"", other.type_name(), other.name().replace('"', "\"\"")),
    }
}

fn describe(running: &Running, name: &str) -> Result<Lines, QueryError> {
    let policy = policy(running, name)?;
    let mut lines = vec![
        vec![text("name"), text(&policy.name)],
        vec![text("id"), Some(policy.id.0.to_string())],
        vec![text("kind"), text(policy_text::kind_name(policy.kind))],
        vec![text("service"), text(&policy.service)],
        vec![text("resource"), Some(policy_text::resource(policy))],
        vec![text("enabled"), text(if policy.is_enabled { "true" } else { "false" })],
        vec![text("version"), Some(policy.version.to_string())],
        vec![text("comment"), text(&policy.description)],
        vec![text("labels"), Some(policy.labels.join(", "))],
        vec![text("created_by"), text(&policy.created_by)],
        vec![text("created_at"), Some(policy.created_at.to_rfc3339())],
        vec![text("updated_by"), text(&policy.updated_by)],
        vec![text("updated_at"), Some(policy.updated_at.to_rfc3339())],
    ];
    let accesses = |item: &policy::model::Item| {
        let kinds: Vec<&str> = item.accesses.iter().map(|access| access.kind.as_str()).collect();
        format!("{} to {}", kinds.join(", "), policy_text::grantees(item))
    };
    lines.extend(policy.items.iter().map(|item| vec![text("allow"), Some(accesses(item))]));
    lines.extend(policy.deny_items.iter().map(|item| vec![text("deny"), Some(accesses(item))]));
    lines.extend(policy.mask_items.iter().map(|item| {
        let expr = item.mask.value_expr.as_ref().map(|expr| format!(" ({expr})")).unwrap_or_default();
        let to = policy_text::grantees(&item.item);
        vec![text("mask"), Some(format!("{}{expr} to {to}", item.mask.mask_type))]
    }));
    lines.extend(policy.filter_items.iter().map(|item| {
        let to = policy_text::grantees(&item.item);
        vec![text("filter"), Some(format!("({}) to {to}", item.filter_expr))]
    }));
    lines.extend(policy.validity.iter().map(|validity| {
        let end = |time: &Option<String>| time.clone().unwrap_or_else(|| "any time".to_owned());
        let zone = validity.time_zone.as_deref().unwrap_or("UTC");
        vec![
            text("valid"),
            Some(format!("{} to {} {zone}", end(&validity.start_time), end(&validity.end_time))),
        ]
    }));
    Ok(lines)
}

async fn history(running: &Running, name: &str) -> Result<Lines, QueryError> {
    let policy = policy(running, name)?;
    let catalog = catalog_of(running, policy).to_owned();
    let entries = running.engine.store.history(policy.id).await.map_err(|error| from_store(&error))?;
    let mut lines: Lines = Vec::new();
    for entry in entries {
        let change = match (&entry.policy, lines.is_empty()) {
            (None, _) => "delete",
            (Some(_), true) => "create",
            (Some(_), false) => "update",
        };
        let statement =
            entry.policy.as_ref().and_then(|policy| policy_text::create_statement(policy, &catalog));
        lines.push(vec![
            entry.policy.as_ref().map(|policy| policy.version.to_string()),
            Some(entry.at.to_rfc3339()),
            Some(entry.by),
            text(change),
            statement,
        ]);
    }
    Ok(lines)
}

fn masking_policies(running: &Running, only: Option<&Ident>) -> Result<Lines, QueryError> {
    admin(running, "SHOW MASKING POLICIES")?;
    let mut lines = Vec::new();
    for policy in running.snapshot.state().policies.values() {
        if policy.kind != PolicyKind::Mask || only.is_some_and(|only| only.value != policy.name) {
            continue;
        }
        for item in &policy.mask_items {
            lines.push(vec![
                text(&policy.name),
                policy_text::level(policy, "tag"),
                policy_text::level(policy, "database"),
                policy_text::level(policy, "table"),
                policy_text::level(policy, "column"),
                text(&item.mask.mask_type),
                item.mask.value_expr.clone(),
                Some(policy_text::grantees(&item.item)),
                text(if policy.is_enabled { "true" } else { "false" }),
            ]);
        }
    }
    Ok(lines)
}

fn row_filters(running: &Running) -> Result<Lines, QueryError> {
    admin(running, "SHOW ROW FILTERS")?;
    let mut lines = Vec::new();
    for policy in
        running.snapshot.state().policies.values().filter(|policy| policy.kind == PolicyKind::RowFilter)
    {
        for item in &policy.filter_items {
            lines.push(vec![
                text(&policy.name),
                policy_text::level(policy, "database"),
                policy_text::level(policy, "table"),
                text(&item.filter_expr),
                Some(policy_text::grantees(&item.item)),
                text(if policy.is_enabled { "true" } else { "false" }),
            ]);
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests;
