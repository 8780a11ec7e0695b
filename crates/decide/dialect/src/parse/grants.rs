//! `GRANT`, `REVOKE` and `DENY`, of privileges and of roles.

use super::clauses::{grantees, objects, once, privileges_on, validity};
use crate::ast::{Deny, Governance, Grant, GrantObject, Grantee, Ident, Revoke};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;

pub(super) fn grant(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect("GRANT")?;
    if cursor.is_word_at(0, "ROLE") && cursor.is_name_at(1) {
        return grant_role(cursor);
    }
    if cursor.eat_all(&["OWNERSHIP", "ON"]) {
        return grant_ownership(cursor);
    }
    let privileges = privileges_on(cursor).map_err(|error| hint_role(error, "GRANT", "TO"))?;
    let objects = objects(cursor)?;
    cursor.expect("TO")?;
    let grantees = grantees(cursor)?;
    let mut with_grant_option = None;
    let mut without_discovery = None;
    let mut validity_clause = None;
    while !cursor.is_at_end() {
        let at = cursor.position();
        if cursor.eat("WITH") {
            cursor.expect_all(&["GRANT", "OPTION"])?;
            once(&mut with_grant_option, (), "WITH GRANT OPTION", at)?;
        } else if cursor.eat("WITHOUT") {
            cursor.expect("DISCOVERY")?;
            once(&mut without_discovery, (), "WITHOUT DISCOVERY", at)?;
        } else if cursor.eat("VALID") {
            let value = validity(cursor)?;
            once(&mut validity_clause, value, "VALID", at)?;
        } else {
            return Err(cursor.expected(&[",", "WITH GRANT OPTION", "WITHOUT DISCOVERY", "VALID"]));
        }
    }
    Ok(Governance::Grant(Grant {
        privileges,
        objects,
        grantees,
        with_grant_option: with_grant_option.is_some(),
        without_discovery: without_discovery.is_some(),
        validity: validity_clause,
    }))
}

pub(super) fn revoke(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect("REVOKE")?;
    let admin_option_only = cursor.eat_all(&["ADMIN", "OPTION", "FOR"]);
    if admin_option_only || (cursor.is_word_at(0, "ROLE") && cursor.is_name_at(1)) {
        return revoke_role(cursor, admin_option_only);
    }
    let grant_option_only = cursor.eat_all(&["GRANT", "OPTION", "FOR"]);
    let privileges = privileges_on(cursor).map_err(|error| hint_role(error, "REVOKE", "FROM"))?;
    let objects = objects(cursor)?;
    cursor.expect("FROM")?;
    let grantees = grantees(cursor)?;
    end_of_list(cursor)?;
    Ok(Governance::Revoke(Revoke { grant_option_only, privileges, objects, grantees }))
}

pub(super) fn deny(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect("DENY")?;
    let privileges = privileges_on(cursor)?;
    let objects = objects(cursor)?;
    cursor.expect("TO")?;
    let grantees = grantees(cursor)?;
    end_of_list(cursor)?;
    Ok(Governance::Deny(Deny { privileges, objects, grantees }))
}

fn grant_role(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let roles = roles(cursor)?;
    cursor.expect("TO")?;
    let to = members(cursor)?;
    let with_admin_option = cursor.eat("WITH");
    if with_admin_option {
        cursor.expect_all(&["ADMIN", "OPTION"])?;
    } else if !cursor.is_at_end() {
        return Err(cursor.expected(&[",", "WITH ADMIN OPTION"]));
    }
    Ok(Governance::GrantRole { roles, to, with_admin_option })
}

fn revoke_role(cursor: &mut Cursor<'_>, admin_option_only: bool) -> Parsed<Governance> {
    let roles = roles(cursor)?;
    cursor.expect("FROM")?;
    let from = members(cursor)?;
    end_of_list(cursor)?;
    Ok(Governance::RevokeRole { roles, from, admin_option_only })
}

/// `ROLE a[, [ROLE] b]`.
fn roles(cursor: &mut Cursor<'_>) -> Parsed<Vec<Ident>> {
    if !cursor.is_word_at(0, "ROLE") {
        return Err(cursor.expected(&["ROLE"]));
    }
    cursor.list(|cursor| {
        if cursor.is_word_at(0, "ROLE") && cursor.is_name_at(1) {
            cursor.skip(1);
        }
        cursor.ident("a role name")
    })
}

/// Who gets a role; everyone cannot.
fn members(cursor: &mut Cursor<'_>) -> Parsed<Vec<Grantee>> {
    let start = cursor.position();
    let members = grantees(cursor)?;
    if members.contains(&Grantee::Public) {
        return Err(SyntaxError::new("`PUBLIC` cannot be a member of a role", start)
            .with_hint("grant the privileges to `PUBLIC` instead"));
    }
    Ok(members)
}

fn grant_ownership(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let start = cursor.position();
    if !cursor.is_one_of_at(0, &["TABLE", "VIEW", "FUNCTION", "SCHEMA"]) {
        return Err(cursor.expected(&["TABLE", "VIEW", "FUNCTION", "SCHEMA"]));
    }
    let object = super::clauses::object(cursor)?;
    match object {
        GrantObject::Table(_) | GrantObject::View(_) | GrantObject::Function(_) | GrantObject::Schema(_) => {}
        GrantObject::Catalog(_)
        | GrantObject::AllTables { .. }
        | GrantObject::AllViews { .. }
        | GrantObject::FutureTables { .. }
        | GrantObject::FutureViews { .. }
        | GrantObject::AllDatasets { .. } => {
            return Err(SyntaxError::new("ownership is of one table, view, function or schema", start));
        }
    }
    cursor.expect("TO")?;
    let at = cursor.position();
    match super::clauses::grantee(cursor)? {
        to @ (Grantee::User(_) | Grantee::Role(_)) => Ok(Governance::GrantOwnership { object, to }),
        Grantee::Group(_) | Grantee::Public => Err(SyntaxError::new("an owner is a user or a role", at)),
    }
}

fn end_of_list(cursor: &Cursor<'_>) -> Parsed<()> {
    if cursor.is_at_end() { Ok(()) } else { Err(cursor.expected_a("`,` or end of statement")) }
}

/// `GRANT analyst TO bob` is how PostgreSQL grants a role.
fn hint_role(error: SyntaxError, verb: &str, preposition: &str) -> SyntaxError {
    if error.message.ends_with(&format!("found `{preposition}`")) {
        return error.with_hint(format!("a role is granted with `{verb} ROLE r {preposition} …`"));
    }
    error
}
