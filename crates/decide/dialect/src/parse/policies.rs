//! `CREATE`, `ALTER` and `ROLLBACK` of a policy.

use sqlparser::tokenizer::Token;

use super::clauses::{column, grantees, once, policy_target, validity};
use crate::ast::{AlterPolicyAction, CreatePolicy, Governance, PolicyBody, PolicyTarget, Span};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;
use crate::expr::{Placeholders, parenthesized_expr};

/// The clauses after the grantees, which may stand in any order.
#[derive(Default)]
struct Clauses {
    except: Option<Vec<crate::ast::Grantee>>,
    columns: Option<(Vec<crate::ast::Ident>, usize)>,
    using: Option<crate::ast::ExprText>,
    is_override: Option<bool>,
    validity: Option<crate::ast::Validity>,
    comment: Option<String>,
}

/// `POLICY` is read.
pub(super) fn create_policy(cursor: &mut Cursor<'_>, or_replace: bool) -> Parsed<Governance> {
    let at = cursor.position();
    let if_not_exists = cursor.if_not_exists();
    if or_replace && if_not_exists {
        return Err(SyntaxError::new("`OR REPLACE` and `IF NOT EXISTS` exclude each other", at));
    }
    let name = cursor.ident("the name of a policy")?;
    cursor.expect("ON")?;
    let Some(target) = policy_target(cursor)? else {
        return Err(cursor.expected(&["TABLE", "VIEW", "TAG"]));
    };
    if cursor.eat_all(&["COLUMN", "MASK"]) {
        let (mask_type, mask_type_span) = mask_type(cursor)?;
        cursor.expect("TO")?;
        let grantees = grantees(cursor)?;
        let clauses = clauses(cursor, Placeholders::MacrosAndColumn)?;
        let columns = clauses.columns.map(|(columns, _)| columns).unwrap_or_default();
        let body = PolicyBody::ColumnMask { mask_type, mask_type_span, columns, using: clauses.using };
        return Ok(Governance::CreatePolicy(CreatePolicy {
            name,
            or_replace,
            if_not_exists,
            target,
            body,
            grantees,
            except: clauses.except.unwrap_or_default(),
            is_override: clauses.is_override.unwrap_or_default(),
            validity: clauses.validity,
            comment: clauses.comment,
        }));
    }
    if !cursor.eat_all(&["ROW", "FILTER"]) {
        return Err(cursor.expected(&["COLUMN MASK", "ROW FILTER"]));
    }
    cursor.expect("TO")?;
    let grantees = grantees(cursor)?;
    let clauses = clauses(cursor, Placeholders::Macros)?;
    if let Some((_, position)) = clauses.columns {
        return Err(SyntaxError::new("a row filter has no `ON COLUMN`", position));
    }
    let Some(using) = clauses.using else { return Err(cursor.expected(&["USING"])) };
    Ok(Governance::CreatePolicy(CreatePolicy {
        name,
        or_replace,
        if_not_exists,
        target,
        body: PolicyBody::RowFilter { using },
        grantees,
        except: clauses.except.unwrap_or_default(),
        is_override: clauses.is_override.unwrap_or_default(),
        validity: clauses.validity,
        comment: clauses.comment,
    }))
}

/// `MASK_NULL`, or with the prefix of a component `hive:MASK_NULL`.
fn mask_type(cursor: &mut Cursor<'_>) -> Parsed<(String, Span)> {
    let first = cursor.ident_as_written("a mask type")?;
    let start = first.span.start;
    let text = if cursor.eat_token(&Token::Colon) {
        let second = cursor.ident_as_written("a mask type after `:`")?;
        format!("{}:{}", first.value, second.value.to_uppercase())
    } else {
        match first.value.split_once(':') {
            Some((component, kind)) => format!("{component}:{}", kind.to_uppercase()),
            None => first.value.to_uppercase(),
        }
    };
    Ok((text, cursor.span_from(start)))
}

fn clauses(cursor: &mut Cursor<'_>, placeholders: Placeholders) -> Parsed<Clauses> {
    let mut clauses = Clauses::default();
    while !cursor.is_at_end() {
        let at = cursor.position();
        if cursor.eat("EXCEPT") {
            let value = grantees(cursor)?;
            once(&mut clauses.except, value, "EXCEPT", at)?;
        } else if cursor.eat("ON") {
            if !cursor.eat("COLUMN") && !cursor.eat("COLUMNS") {
                return Err(cursor.expected(&["COLUMN"]));
            }
            let value = columns(cursor)?;
            once(&mut clauses.columns, (value, at), "ON COLUMN", at)?;
        } else if cursor.eat("USING") {
            let value = parenthesized_expr(cursor, placeholders)?;
            once(&mut clauses.using, value, "USING", at)?;
        } else if cursor.eat("WITH") {
            cursor.expect("PRIORITY")?;
            let value = priority(cursor)?;
            once(&mut clauses.is_override, value, "WITH PRIORITY", at)?;
        } else if cursor.eat("VALID") {
            let value = validity(cursor)?;
            once(&mut clauses.validity, value, "VALID", at)?;
        } else if cursor.eat("COMMENT") {
            let value = cursor.string("a comment in single quotes")?;
            once(&mut clauses.comment, value, "COMMENT", at)?;
        } else {
            return Err(cursor.expected(&[
                ",",
                "EXCEPT",
                "ON COLUMN",
                "USING",
                "WITH PRIORITY",
                "VALID",
                "COMMENT",
            ]));
        }
    }
    Ok(clauses)
}

fn columns(cursor: &mut Cursor<'_>) -> Parsed<Vec<crate::ast::Ident>> {
    if cursor.is_token_at(0, &Token::LParen) {
        return cursor.parenthesized(column);
    }
    cursor.list(column)
}

/// Whether it is `OVERRIDE`.
fn priority(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    if cursor.eat("OVERRIDE") {
        return Ok(true);
    }
    if cursor.eat("NORMAL") { Ok(false) } else { Err(cursor.expected(&["NORMAL", "OVERRIDE"])) }
}

/// `ALTER POLICY` is read.
pub(super) fn alter_policy(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let name = cursor.ident("the name of a policy")?;
    let action = if cursor.eat("ENABLE") {
        AlterPolicyAction::Enable
    } else if cursor.eat("DISABLE") {
        AlterPolicyAction::Disable
    } else if cursor.eat_all(&["RENAME", "TO"]) {
        AlterPolicyAction::RenameTo(cursor.ident("the new name")?)
    } else if cursor.eat_all(&["FORGET", "NAME"]) {
        AlterPolicyAction::ForgetName(cursor.name("the name of a table")?)
    } else if cursor.eat("REBIND") {
        AlterPolicyAction::Rebind
    } else if cursor.eat("SET") {
        policy_setting(cursor)?
    } else {
        return Err(cursor.expected(&["ENABLE", "DISABLE", "RENAME TO", "SET", "FORGET NAME", "REBIND"]));
    };
    Ok(Governance::AlterPolicy { name, action })
}

fn policy_setting(cursor: &mut Cursor<'_>) -> Parsed<AlterPolicyAction> {
    if cursor.eat("COMMENT") {
        return cursor.string("a comment in single quotes").map(AlterPolicyAction::SetComment);
    }
    if cursor.eat("USING") {
        return parenthesized_expr(cursor, Placeholders::MacrosAndColumn).map(AlterPolicyAction::SetUsing);
    }
    if cursor.eat("PRIORITY") {
        return Ok(AlterPolicyAction::SetPriority { is_override: priority(cursor)? });
    }
    Err(cursor.expected(&["COMMENT", "USING", "PRIORITY"]))
}

/// `ROLLBACK POLICY p TO VERSION n`; a plain `ROLLBACK` is SQL.
pub(super) fn rollback(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    if !cursor.eat_all(&["ROLLBACK", "POLICY"]) {
        return Ok(None);
    }
    let name = cursor.ident("the name of a policy")?;
    cursor.expect_all(&["TO", "VERSION"])?;
    let version = match cursor.peek(0).map(|lexeme| &lexeme.token.token) {
        Some(Token::Number(digits, _)) => digits.parse::<i64>().ok(),
        _ => None,
    };
    let Some(version) = version else { return Err(cursor.expected_a("the number of a version")) };
    cursor.skip(1);
    Ok(Some(Governance::RollbackPolicy { name, version }))
}

/// `ON t` of `SHOW POLICIES`: a bare name is a table.
pub(super) fn shown_target(cursor: &mut Cursor<'_>) -> Parsed<PolicyTarget> {
    match policy_target(cursor)? {
        Some(target) => Ok(target),
        None => cursor.name("the name of a table").map(PolicyTarget::Table),
    }
}
