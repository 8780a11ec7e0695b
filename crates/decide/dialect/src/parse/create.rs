//! `CREATE` and `DROP` of what only governance knows.

use super::{clauses, functions, inline, policies};
use crate::ast::Governance;
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;

pub(super) fn create(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    let start = cursor.position();
    let or_replace = cursor.are_words_at(1, &["OR", "REPLACE"]);
    let n_lead = if or_replace { 3 } else { 1 };
    if !cursor.is_one_of_at(n_lead, &["POLICY", "USER", "ROLE", "GROUP", "FUNCTION", "TAG"]) {
        return inline::create_with_policies(cursor);
    }
    let or_at = cursor.peek(1).map_or(start, |lexeme| lexeme.start);
    cursor.skip(n_lead);
    if cursor.eat("POLICY") {
        return policies::create_policy(cursor, or_replace).map(Some);
    }
    if cursor.eat("FUNCTION") {
        return functions::create_function(cursor, start, or_replace).map(Some);
    }
    if or_replace {
        return Err(SyntaxError::new("`OR REPLACE` is for policies and functions", or_at));
    }
    let governance = if cursor.eat("USER") {
        create_user(cursor)?
    } else if cursor.eat("ROLE") {
        create_role(cursor)?
    } else if cursor.eat("GROUP") {
        let if_not_exists = cursor.if_not_exists();
        Governance::CreateGroup { name: cursor.ident("a group name")?, if_not_exists }
    } else {
        cursor.expect("TAG")?;
        let if_not_exists = cursor.if_not_exists();
        Governance::CreateTag { name: clauses::tag(cursor)?, if_not_exists }
    };
    Ok(Some(governance))
}

fn create_user(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let if_not_exists = cursor.if_not_exists();
    let name = cursor.ident("a user name")?;
    let password = match cursor.is_at_end() {
        true => None,
        false => Some(password(cursor)?),
    };
    Ok(Governance::CreateUser { name, if_not_exists, password })
}

fn create_role(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let if_not_exists = cursor.if_not_exists();
    let name = cursor.ident("a role name")?;
    let is_external = cursor.eat("EXTERNAL");
    Ok(Governance::CreateRole { name, if_not_exists, is_external })
}

/// `[WITH] PASSWORD 'p'`.
pub(super) fn password(cursor: &mut Cursor<'_>) -> Parsed<stdx::Secret> {
    cursor.eat("WITH");
    if !cursor.eat("PASSWORD") {
        return Err(unspoken(cursor, "`PASSWORD`"));
    }
    match cursor.string("a password in single quotes") {
        Ok(text) => Ok(stdx::Secret::new(text)),
        Err(_) => Err(unspoken(cursor, "a password in single quotes")),
    }
}

/// An error that does not say what was found, which may be a password without its quotes.
fn unspoken(cursor: &Cursor<'_>, what: &str) -> SyntaxError {
    SyntaxError::new(format!("expected {what}"), cursor.position())
}

pub(super) fn drop(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    if !cursor.is_one_of_at(1, &["POLICY", "USER", "ROLE", "GROUP", "FUNCTION", "TAG"]) {
        return Ok(None);
    }
    cursor.skip(1);
    let Some(kind) = cursor.bump() else { return Ok(None) };
    let if_exists = cursor.if_exists();
    let governance = if kind.is_word("POLICY") {
        Governance::DropPolicy { name: cursor.ident("the name of a policy")?, if_exists }
    } else if kind.is_word("USER") {
        Governance::DropUser { name: cursor.ident("a user name")?, if_exists }
    } else if kind.is_word("ROLE") {
        Governance::DropRole { name: cursor.ident("a role name")?, if_exists }
    } else if kind.is_word("GROUP") {
        Governance::DropGroup { name: cursor.ident("a group name")?, if_exists }
    } else if kind.is_word("FUNCTION") {
        Governance::DropFunction { name: cursor.name("the name of a function")?, if_exists }
    } else {
        Governance::DropTag { name: clauses::tag(cursor)?, if_exists }
    };
    Ok(Some(governance))
}
