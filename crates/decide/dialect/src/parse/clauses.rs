//! Clauses that several statements share: who, on what, and how long.

use sqlparser::tokenizer::Token;

use crate::ast::{GrantObject, Grantee, Ident, PolicyCall, PolicyTarget, PrivilegeText, Span, Validity};
use crate::cursor::{Cursor, Parsed};
use crate::error::SyntaxError;

/// Words of a privilege; the longest has three (`CREATE TABLE …` two).
const PRIVILEGE_WORDS_MAX: usize = 4;

/// `SELECT`, `INSERT (a, b)`, `CREATE TABLE`.
pub(super) fn privilege(cursor: &mut Cursor<'_>) -> Parsed<PrivilegeText> {
    let start = cursor.position();
    let mut words: Vec<String> = Vec::new();
    while let Some(Token::Word(word)) = cursor.peek(0).map(|lexeme| &lexeme.token.token) {
        let ends = word.quote_style.is_some() || cursor.is_one_of_at(0, &["ON", "TO", "FROM"]);
        if ends || words.len() == PRIVILEGE_WORDS_MAX {
            break;
        }
        words.push(word.value.to_uppercase());
        cursor.skip(1);
    }
    if words.is_empty() {
        return Err(cursor.expected_a("a privilege"));
    }
    let columns =
        if cursor.is_token_at(0, &Token::LParen) { cursor.parenthesized(column)? } else { Vec::new() };
    Ok(PrivilegeText { name: words.join(" "), columns, span: cursor.span_from(start) })
}

/// A column, or a part of one with dots between: one name for policies.
pub(super) fn column(cursor: &mut Cursor<'_>) -> Parsed<Ident> {
    let name = cursor.name("a column name")?;
    let is_quoted = name.parts.iter().any(|part| part.is_quoted);
    let words: Vec<String> = name.parts.into_iter().map(|part| part.value).collect();
    Ok(Ident { value: words.join("."), is_quoted, span: name.span })
}

/// One or more privileges up to `ON`.
pub(super) fn privileges_on(cursor: &mut Cursor<'_>) -> Parsed<Vec<PrivilegeText>> {
    let privileges = cursor.list(privilege)?;
    if cursor.eat("ON") { Ok(privileges) } else { Err(cursor.expected(&["ON"])) }
}

/// `TABLE t`, `ALL TABLES IN SCHEMA s`; a bare name is a table.
pub(super) fn object(cursor: &mut Cursor<'_>) -> Parsed<GrantObject> {
    if cursor.is_one_of_at(0, &["ALL", "FUTURE"]) && cursor.is_one_of_at(1, &["TABLES", "VIEWS", "DATASETS"])
    {
        return objects_in_schema(cursor);
    }
    // A keyword with no name behind it is a name itself: `ON schema`.
    let has_keyword = cursor.is_name_at(1);
    let make: fn(_) -> GrantObject = match cursor.peek(0) {
        Some(lexeme) if has_keyword && lexeme.is_word("TABLE") => GrantObject::Table,
        Some(lexeme) if has_keyword && lexeme.is_word("VIEW") => GrantObject::View,
        Some(lexeme) if has_keyword && lexeme.is_word("SCHEMA") => GrantObject::Schema,
        Some(lexeme) if has_keyword && (lexeme.is_word("DATABASE") || lexeme.is_word("CATALOG")) => {
            GrantObject::Catalog
        }
        Some(lexeme) if has_keyword && lexeme.is_word("FUNCTION") => GrantObject::Function,
        _ => return cursor.name("the name of a table").map(GrantObject::Table),
    };
    cursor.skip(1);
    cursor.name("a name").map(make)
}

fn objects_in_schema(cursor: &mut Cursor<'_>) -> Parsed<GrantObject> {
    let is_future = cursor.is_word_at(0, "FUTURE");
    cursor.skip(1);
    let is_tables = cursor.is_word_at(0, "TABLES");
    let is_views = cursor.is_word_at(0, "VIEWS");
    if is_future && !is_tables && !is_views {
        return Err(cursor.expected(&["TABLES", "VIEWS"]));
    }
    cursor.skip(1);
    cursor.expect_all(&["IN", "SCHEMA"])?;
    let schema = cursor.name("the name of a schema")?;
    Ok(match (is_future, is_tables, is_views) {
        (true, true, _) => GrantObject::FutureTables { schema },
        (true, false, _) => GrantObject::FutureViews { schema },
        (false, true, _) => GrantObject::AllTables { schema },
        (false, false, true) => GrantObject::AllViews { schema },
        (false, false, false) => GrantObject::AllDatasets { schema },
    })
}

/// One or more objects.
///
/// A bare name is a table, but after `SCHEMA a` PostgreSQL takes it for a schema; who means what cannot be known,
/// so the statement is refused.
pub(super) fn objects(cursor: &mut Cursor<'_>) -> Parsed<Vec<GrantObject>> {
    let mut previous_keyword: Option<String> = None;
    cursor.list(|cursor| {
        let first = cursor.peek(0);
        let start = cursor.position();
        let object = object(cursor)?;
        let is_bare = match &object {
            GrantObject::Table(name) => name.span.start == start,
            _ => false,
        };
        if let (true, Some(keyword)) = (is_bare, &previous_keyword) {
            return Err(SyntaxError::new(format!("name without a kind after `{keyword}`"), start)
                .with_hint(format!("write `{keyword}` or `TABLE` before it")));
        }
        let keyword = match object {
            GrantObject::Table(_) => None,
            _ => first.and_then(|lexeme| cursor.text.get(lexeme.start..lexeme.end)).map(str::to_uppercase),
        };
        // `ALL TABLES IN SCHEMA a, b` reads like two schemas as well.
        previous_keyword = keyword.map(|keyword| match keyword.as_str() {
            "ALL" | "FUTURE" => format!("{keyword} … IN SCHEMA"),
            _ => keyword,
        });
        Ok(object)
    })
}

/// `USER u`, `ROLE r`, `GROUP g`, `DATABASE ROLE r`, `PUBLIC`; a bare name is a user.
pub(super) fn grantee(cursor: &mut Cursor<'_>) -> Parsed<Grantee> {
    if cursor.is_word_at(0, "PUBLIC") && !cursor.is_token_at(1, &Token::Period) {
        cursor.skip(1);
        return Ok(Grantee::Public);
    }
    if cursor.are_words_at(0, &["DATABASE", "ROLE"]) && cursor.is_name_at(2) {
        cursor.skip(2);
        return cursor.ident("a role name").map(Grantee::Role);
    }
    // A keyword with no name behind it is a name itself: a user called `role`.
    let has_keyword = cursor.is_name_at(1) || !is_end_of_name(cursor, 1);
    if has_keyword && cursor.is_one_of_at(0, &["USER", "ROLE", "GROUP"]) {
        let is_user = cursor.is_word_at(0, "USER");
        let is_role = cursor.is_word_at(0, "ROLE");
        cursor.skip(1);
        return match (is_user, is_role) {
            (true, _) => cursor.ident("a user name").map(Grantee::User),
            // Everyone, under the names that Dremio and Ranger have for it.
            (false, _) if cursor.eat("PUBLIC") => Ok(Grantee::Public),
            (false, true) => cursor.ident("a role name").map(Grantee::Role),
            (false, false) => cursor.ident("a group name").map(Grantee::Group),
        };
    }
    cursor.ident("`USER`, `ROLE`, `GROUP` or `PUBLIC` and a name").map(Grantee::User)
}

fn is_end_of_name(cursor: &Cursor<'_>, n: usize) -> bool {
    match cursor.peek(n) {
        None => true,
        Some(lexeme) => lexeme.token.token == Token::Comma || lexeme.is_any_word(),
    }
}

/// One or more grantees.
///
/// A bare name is a user, which after `ROLE a` is easily meant otherwise; so it is refused there.
pub(super) fn grantees(cursor: &mut Cursor<'_>) -> Parsed<Vec<Grantee>> {
    let mut previous: Option<&'static str> = None;
    cursor.list(|cursor| {
        let start = cursor.position();
        let grantee = grantee(cursor)?;
        let is_bare = match &grantee {
            Grantee::User(name) => name.span.start == start,
            Grantee::Role(_) | Grantee::Group(_) | Grantee::Public => false,
        };
        if let (true, Some(keyword)) = (is_bare, previous) {
            return Err(SyntaxError::new(format!("name without a kind after `{keyword}`"), start)
                .with_hint(format!("write `{keyword}` or `USER` before it")));
        }
        previous = match grantee {
            Grantee::Role(_) => Some("ROLE"),
            Grantee::Group(_) => Some("GROUP"),
            Grantee::User(_) | Grantee::Public => None,
        };
        Ok(grantee)
    })
}

/// `VALID` is read; `FROM 't' [UNTIL 't']` or `UNTIL 't'` follows.
pub(super) fn validity(cursor: &mut Cursor<'_>) -> Parsed<Validity> {
    let mut validity = Validity::default();
    if cursor.eat("FROM") {
        validity.from = Some(timestamp(cursor)?);
    }
    if cursor.eat("UNTIL") {
        validity.until = Some(timestamp(cursor)?);
    }
    if validity == Validity::default() {
        return Err(cursor.expected(&["FROM", "UNTIL"]));
    }
    Ok(validity)
}

fn timestamp(cursor: &mut Cursor<'_>) -> Parsed<String> {
    cursor.eat("TIMESTAMP");
    cursor.string("a time in single quotes")
}

/// `f(c, …)`.
pub(super) fn policy_call(cursor: &mut Cursor<'_>) -> Parsed<PolicyCall> {
    let function = cursor.name("the name of a function")?;
    let start = function.span.start;
    let columns = cursor.parenthesized(|cursor| cursor.ident("a column name"))?;
    Ok(PolicyCall { function, columns, span: cursor.span_from(start) })
}

/// `TABLE t`, `VIEW v` or `TAG T`, after `ON`.
pub(super) fn policy_target(cursor: &mut Cursor<'_>) -> Parsed<Option<PolicyTarget>> {
    if !cursor.is_name_at(1) {
        return Ok(None);
    }
    if cursor.eat("TABLE") {
        return cursor.name("the name of a table").map(|name| Some(PolicyTarget::Table(name)));
    }
    if cursor.eat("VIEW") {
        return cursor.name("the name of a view").map(|name| Some(PolicyTarget::View(name)));
    }
    if cursor.eat("TAG") {
        return tag(cursor).map(|name| Some(PolicyTarget::Tag(name)));
    }
    Ok(None)
}

/// A tag, in quotes of either kind or in none; its case counts, as in Ranger.
pub(super) fn tag(cursor: &mut Cursor<'_>) -> Parsed<Ident> {
    let span =
        cursor.peek(0).map_or_else(Span::default, |lexeme| Span { start: lexeme.start, end: lexeme.end });
    match cursor.peek(0).map(|lexeme| &lexeme.token.token) {
        Some(Token::SingleQuotedString(value)) if !value.is_empty() => {
            cursor.skip(1);
            Ok(Ident { value: value.clone(), is_quoted: true, span })
        }
        _ => cursor.ident_as_written("a tag"),
    }
}

/// Sets a clause that may stand once.
pub(super) fn once<T>(slot: &mut Option<T>, value: T, clause: &str, position: usize) -> Parsed<()> {
    if slot.is_some() {
        return Err(SyntaxError::new(format!("`{clause}` stands twice"), position));
    }
    *slot = Some(value);
    Ok(())
}
