//! Statements that ask: `SHOW`, `DESCRIBE`, `CHECK ACCESS`, `EXPLAIN POLICY`, `SIMULATE`; and `CALL`.

use sqlparser::tokenizer::Token;

use super::clauses::{grantee, object, privilege};
use super::policies::shown_target;
use crate::ast::{Governance, Ident, QueryText};
use crate::cursor::{Cursor, Parsed};

/// What is not listed here, such as `SHOW TABLES` or `SHOW role`, is SQL.
pub(super) fn show(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    cursor.skip(1);
    let governance = if cursor.eat("USERS") {
        Governance::ShowUsers
    } else if cursor.eat("ROLES") {
        Governance::ShowRoles
    } else if cursor.eat("GROUPS") {
        Governance::ShowGroups
    } else if cursor.eat_all(&["ROLE", "GRANTS"]) {
        Governance::ShowRoleGrants { role: role(cursor)? }
    } else if cursor.eat_all(&["CURRENT", "ROLES"]) {
        Governance::ShowCurrentRoles
    } else if cursor.eat("GRANTS") {
        grants(cursor)?
    } else if cursor.eat("POLICIES") {
        policies(cursor)?
    } else if cursor.eat("EFFECTIVE") {
        effective(cursor)?
    } else if cursor.eat_all(&["CREATE", "POLICY"]) {
        Governance::ShowCreatePolicy { name: cursor.ident("the name of a policy")? }
    } else if cursor.eat_all(&["POLICY", "HISTORY"]) {
        Governance::ShowPolicyHistory { name: cursor.ident("the name of a policy")? }
    } else if cursor.eat_all(&["MASKING", "POLICIES"]) {
        Governance::ShowMaskingPolicies { name: None }
    } else if cursor.eat_all(&["MASKING", "POLICY"]) {
        let name = match cursor.is_at_end() {
            true => None,
            false => Some(cursor.ident("the name of a policy")?),
        };
        Governance::ShowMaskingPolicies { name }
    } else if cursor.eat_all(&["ROW", "FILTERS"]) {
        Governance::ShowRowFilters
    } else if cursor.eat("FUNCTIONS") {
        let like = match cursor.eat("LIKE") {
            true => Some(cursor.string("a pattern in single quotes")?),
            false => None,
        };
        Governance::ShowFunctions { like }
    } else if cursor.eat("TAGS") {
        if cursor.eat_all(&["WITHOUT", "POLICY"]) {
            Governance::ShowTagsWithoutPolicy
        } else {
            cursor.expect("ON")?;
            skip_kind(cursor, &["TABLE", "VIEW"]);
            Governance::ShowTags { table: cursor.name("the name of a table")? }
        }
    } else {
        return Ok(None);
    };
    Ok(Some(governance))
}

fn grants(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    if cursor.eat("ON") {
        return Ok(Governance::ShowGrantsOn { object: object(cursor)? });
    }
    if cursor.eat("TO") {
        return Ok(Governance::ShowGrantsTo { grantee: grantee(cursor)? });
    }
    Err(cursor.expected(&["ON", "TO"]))
}

fn policies(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    if cursor.eat("ON") {
        return Ok(Governance::ShowPolicies { on: Some(shown_target(cursor)?), grantee: None });
    }
    if cursor.eat("FOR") {
        return Ok(Governance::ShowPolicies { on: None, grantee: Some(grantee(cursor)?) });
    }
    if cursor.is_at_end() {
        return Ok(Governance::ShowPolicies { on: None, grantee: None });
    }
    Err(cursor.expected(&["ON", "FOR"]))
}

fn effective(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    if cursor.eat("GRANTS") {
        cursor.expect_all(&["FOR", "USER"])?;
        return Ok(Governance::ShowEffectiveGrants { user: cursor.ident("a user name")? });
    }
    if !cursor.eat("POLICY") {
        return Err(cursor.expected(&["GRANTS", "POLICY"]));
    }
    let user = for_user(cursor)?;
    if !cursor.eat("ON") {
        return Err(if user.is_some() {
            cursor.expected(&["ON"])
        } else {
            cursor.expected(&["ON", "FOR USER"])
        });
    }
    skip_kind(cursor, &["TABLE", "VIEW"]);
    Ok(Governance::ShowEffectivePolicy { user, table: cursor.name("the name of a table or view")? })
}

/// `SHOW ROLE GRANTS [[FOR] ROLE r]`.
fn role(cursor: &mut Cursor<'_>) -> Parsed<Option<Ident>> {
    if cursor.is_at_end() {
        return Ok(None);
    }
    cursor.eat("FOR");
    skip_kind(cursor, &["ROLE"]);
    cursor.ident("a role name").map(Some)
}

/// `FOR USER u`.
fn for_user(cursor: &mut Cursor<'_>) -> Parsed<Option<Ident>> {
    if !cursor.eat("FOR") {
        return Ok(None);
    }
    cursor.expect("USER")?;
    cursor.ident("a user name").map(Some)
}

/// Reads a keyword that a name follows, so that a table may be called `view`.
fn skip_kind(cursor: &mut Cursor<'_>, kinds: &[&str]) {
    if cursor.is_one_of_at(0, kinds) && cursor.is_name_at(1) {
        cursor.skip(1);
    }
}

/// `DESCRIBE policy` and `DESCRIBE policy.t` describe tables.
pub(super) fn describe(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    if !cursor.is_name_at(2) {
        return Ok(None);
    }
    if cursor.is_word_at(1, "POLICY") {
        cursor.skip(2);
        return Ok(Some(Governance::DescribePolicy { name: cursor.ident("the name of a policy")? }));
    }
    if cursor.is_word_at(1, "FUNCTION") {
        cursor.skip(2);
        return Ok(Some(Governance::DescribeFunction { name: cursor.name("the name of a function")? }));
    }
    Ok(None)
}

pub(super) fn check_access(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect_all(&["CHECK", "ACCESS"])?;
    let privilege = privilege(cursor)?;
    cursor.expect("ON")?;
    let object = object(cursor)?;
    let user = for_user(cursor)?;
    if user.is_none() && !cursor.is_at_end() {
        return Err(cursor.expected(&["FOR USER"]));
    }
    Ok(Governance::CheckAccess { privilege, object, user })
}

/// `EXPLAIN policy` alone describes a table, as it does in other systems.
pub(super) fn explain_policy(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    let is_query = cursor.is_token_at(2, &Token::LParen)
        || cursor.is_one_of_at(
            2,
            &[
                "SELECT", "WITH", "VALUES", "TABLE", "FROM", "FOR", "INSERT", "UPDATE", "DELETE", "MERGE",
                "CREATE", "EXECUTE",
            ],
        );
    if !cursor.is_word_at(1, "POLICY") || !is_query {
        return Ok(None);
    }
    cursor.skip(2);
    let n_query = match cursor.rest().len().checked_sub(3) {
        Some(n) if n > 0 && cursor.are_words_at(n, &["FOR", "USER"]) && cursor.is_name_at(n + 2) => n,
        _ => cursor.rest().len(),
    };
    let query = query_text(cursor, n_query);
    Ok(Some(Governance::ExplainPolicy { query, user: for_user(cursor)? }))
}

/// The next tokens as they are written.
pub(super) fn query_text(cursor: &mut Cursor<'_>, n_tokens: usize) -> QueryText {
    let start = cursor.position();
    cursor.skip(n_tokens);
    let span = cursor.span_from(start);
    QueryText { text: cursor.text.get(span.start..span.end).unwrap_or_default().to_owned(), span }
}

/// `SIMULATE [AS USER u] [ROLES (r, …)] [WITH POLICIES $bundle$ … $bundle$] query`; a text in plain quotes is no less
/// a bundle.
pub(super) fn simulate(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect("SIMULATE")?;
    let user = match cursor.eat_all(&["AS", "USER"]) {
        true => Some(cursor.ident("the name of a user")?),
        false => None,
    };
    let roles = match cursor.eat("ROLES") {
        true if cursor.is_token_at(0, &Token::LParen) && cursor.is_token_at(1, &Token::RParen) => {
            cursor.skip(2);
            Some(Vec::new())
        }
        true => Some(cursor.parenthesized(|cursor| cursor.ident("the name of a role"))?),
        false => None,
    };
    // `WITH policies AS (…)` begins a query.
    let has_bundle = cursor.are_words_at(0, &["WITH", "POLICIES"])
        && !cursor.is_word_at(2, "AS")
        && !cursor.is_token_at(2, &Token::LParen);
    let bundle = match has_bundle {
        true => {
            cursor.skip(2);
            Some(cursor.string("a text between `$bundle$` and `$bundle$`")?)
        }
        false => None,
    };
    if cursor.is_at_end() {
        return Err(cursor.expected_a("a query"));
    }
    let n_tokens = cursor.rest().len();
    Ok(Governance::Simulate { user, roles, bundle, query: query_text(cursor, n_tokens) })
}

/// `CALL name([argument =>] value, …)`.
pub(super) fn call(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    cursor.expect("CALL")?;
    let name = cursor.name("the name of a procedure")?;
    let arguments = if cursor.is_token_at(0, &Token::LParen) && cursor.is_token_at(1, &Token::RParen) {
        cursor.skip(2);
        Vec::new()
    } else {
        cursor.parenthesized(argument)?
    };
    Ok(Governance::Call { name, arguments })
}

fn argument(cursor: &mut Cursor<'_>) -> Parsed<(Option<Ident>, String)> {
    let is_named = cursor.is_token_at(1, &Token::RArrow) || cursor.is_token_at(1, &Token::Assignment);
    let name = match is_named {
        true => Some(cursor.ident("the name of an argument")?),
        false => None,
    };
    if is_named {
        cursor.skip(1);
    }
    let is_negative = cursor.eat_token(&Token::Minus);
    let sign = if is_negative { "-" } else { "" };
    let value = match cursor.peek(0) {
        Some(lexeme) => match &lexeme.token.token {
            Token::Number(digits, _) => Some(format!("{sign}{digits}")),
            Token::Word(word) if !is_negative && word.quote_style.is_none() => match () {
                () if lexeme.is_word("TRUE") => Some("true".to_owned()),
                () if lexeme.is_word("FALSE") => Some("false".to_owned()),
                () => None,
            },
            _ => None,
        },
        None => None,
    };
    match value {
        Some(value) => {
            cursor.skip(1);
            Ok((name, value))
        }
        None if is_negative => Err(cursor.expected_a("a number")),
        None => cursor.string("a literal").map(|value| (name, value)),
    }
}
