//! `pg_roles`, `pg_user` and `pg_auth_members`: the users and roles that SHOW USERS and SHOW ROLES list, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, StringArray, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use query_api::QueryError;

use super::{Columns, VirtualTable};
use crate::running::Running;

/// A user, a role, or both under one name: PostgreSQL knows no difference.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    can_login: bool,
    is_super: bool,
}

/// One of these tables; `None`: the name is another one's.
pub(crate) fn table(running: &Running, name: &str) -> Result<Option<VirtualTable>, QueryError> {
    let columns = match name {
        "pg_roles" | "pg_authid" => roles(&listed(running)),
        "pg_user" => users(&listed(running)),
        "pg_auth_members" => members(running, &listed(running)),
        _ => return Ok(None),
    };
    VirtualTable::of_columns(columns).map(Some)
}

fn listed(running: &Running) -> BTreeMap<String, Listed> {
    let state = running.snapshot.state();
    let mut all: BTreeMap<String, Listed> = BTreeMap::new();
    for user in state.users.keys().filter(|name| running.is_admin() || **name == running.who.user) {
        all.entry(user.clone()).or_default().can_login = true;
    }
    for role in state.roles.keys().filter(|name| running.is_admin() || running.who.roles.contains(*name)) {
        all.entry(role.clone()).or_default();
    }
    for (name, listed) in &mut all {
        listed.is_super = listed.can_login && running.as_user(name).is_admin();
    }
    all
}

/// A number that stays with a name, beyond those that PostgreSQL keeps for itself.
fn number(name: &str) -> i32 {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    i32::try_from((hash & 0x3fff_ffff) | 0x4000_0000).unwrap_or(i32::MAX)
}

fn texts<'a>(values: impl Iterator<Item = &'a String>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<StringArray>())
}

fn truths(values: impl Iterator<Item = bool>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<BooleanArray>())
}

fn numbers(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(values.map(Some).collect::<Int32Array>())
}

fn until(n: usize) -> ArrayRef {
    new_null_array(&DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), n)
}

fn text_list(n: usize) -> ArrayRef {
    new_null_array(&DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))), n)
}

fn roles(all: &BTreeMap<String, Listed>) -> Columns {
    let n = all.len();
    let no = || truths(std::iter::repeat_n(false, n));
    let is_super = || truths(all.values().map(|listed| listed.is_super));
    vec![
        ("oid", numbers(all.keys().map(|name| number(name)))),
        ("rolname", texts(all.keys())),
        ("rolsuper", is_super()),
        ("rolinherit", truths(std::iter::repeat_n(true, n))),
        ("rolcreaterole", is_super()),
        ("rolcreatedb", no()),
        ("rolcanlogin", truths(all.values().map(|listed| listed.can_login))),
        ("rolreplication", no()),
        ("rolconnlimit", numbers(std::iter::repeat_n(-1, n))),
        ("rolpassword", new_null_array(&DataType::Utf8, n)),
        ("rolvaliduntil", until(n)),
        ("rolbypassrls", no()),
        ("rolconfig", text_list(n)),
    ]
}

fn users(all: &BTreeMap<String, Listed>) -> Columns {
    let all: Vec<(&String, &Listed)> = all.iter().filter(|(_, listed)| listed.can_login).collect();
    let n = all.len();
    let no = || truths(std::iter::repeat_n(false, n));
    vec![
        ("usename", texts(all.iter().map(|(name, _)| *name))),
        ("usesysid", numbers(all.iter().map(|(name, _)| number(name)))),
        ("usecreatedb", no()),
        ("usesuper", truths(all.iter().map(|(_, listed)| listed.is_super))),
        ("userepl", no()),
        ("usebypassrls", no()),
        ("passwd", new_null_array(&DataType::Utf8, n)),
        ("valuntil", until(n)),
        ("useconfig", text_list(n)),
    ]
}

/// Direct memberships whose both sides are listed.
fn members(running: &Running, all: &BTreeMap<String, Listed>) -> Columns {
    let mut pairs = Vec::new();
    for role in running.snapshot.state().roles.values().filter(|role| all.contains_key(&role.name)) {
        for member in role.users.iter().chain(&role.roles) {
            // A role and a user of one name are one here, and nobody is a member of herself.
            if all.contains_key(&member.name) && member.name != role.name {
                pairs.push((number(&role.name), number(&member.name), member.is_admin));
            }
        }
    }
    vec![
        ("roleid", numbers(pairs.iter().map(|(role, _, _)| *role))),
        ("member", numbers(pairs.iter().map(|(_, member, _)| *member))),
        ("grantor", new_null_array(&DataType::Int32, pairs.len())),
        ("admin_option", truths(pairs.iter().map(|(_, _, is_admin)| *is_admin))),
    ]
}
