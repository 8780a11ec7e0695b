//! `ALTER` of users, groups and policies, and what governance adds to `ALTER TABLE`.

use sqlparser::tokenizer::Token;

use super::clauses::{policy_call, tag};
use super::{create, policies};
use crate::ast::{Governance, Ident, Name};
use crate::cursor::{Cursor, Parsed};

pub(super) fn alter(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    if cursor.eat_all(&["ALTER", "POLICY"]) {
        return policies::alter_policy(cursor).map(Some);
    }
    if cursor.eat_all(&["ALTER", "USER"]) {
        let name = cursor.ident("a user name")?;
        cursor.eat("SET");
        return Ok(Some(Governance::AlterUserPassword { name, password: create::password(cursor)? }));
    }
    if cursor.eat_all(&["ALTER", "GROUP"]) {
        return alter_group(cursor).map(Some);
    }
    if cursor.is_one_of_at(1, &["TABLE", "VIEW", "DATASET", "VDS", "PDS"]) {
        return alter_dataset(cursor);
    }
    Ok(None)
}

fn alter_group(cursor: &mut Cursor<'_>) -> Parsed<Governance> {
    let name = cursor.ident("a group name")?;
    let add = cursor.eat("ADD");
    if !add && !cursor.eat("DROP") {
        return Err(cursor.expected(&["ADD", "DROP"]));
    }
    cursor.expect("USER")?;
    let users = cursor.list(|cursor| {
        if cursor.is_word_at(0, "USER") && cursor.is_name_at(1) {
            cursor.skip(1);
        }
        cursor.ident("a user name")
    })?;
    Ok(Governance::AlterGroup { name, add, users })
}

/// What follows the name decides whether the statement is ours; sqlparser reads `TABLE` and `VIEW` otherwise.
fn alter_dataset(cursor: &mut Cursor<'_>) -> Parsed<Option<Governance>> {
    let start = cursor.position();
    let is_only_ours = !cursor.is_one_of_at(1, &["TABLE", "VIEW"]);
    let mut ahead = Cursor::new(cursor.text, cursor.rest());
    ahead.skip(2);
    let if_exists = ahead.if_exists();
    let object = match ahead.name("the name of a table or view") {
        Ok(object) => object,
        Err(error) if is_only_ours => return Err(error),
        Err(_) => return Ok(None),
    };
    let governance = match action(&mut ahead, start, object, if_exists)? {
        Some(governance) => governance,
        None if is_only_ours => {
            return Err(ahead.expected_a("a row access policy, masking policy, tag or reflection clause"));
        }
        None => return Ok(None),
    };
    ahead.expect_end()?;
    cursor.skip_to_end();
    Ok(Some(governance))
}

fn action(
    cursor: &mut Cursor<'_>,
    start: usize,
    object: Name,
    if_exists: bool,
) -> Parsed<Option<Governance>> {
    if cursor.eat_all(&["ADD", "ROW", "ACCESS", "POLICY"]) {
        return Ok(Some(Governance::AddRowAccessPolicy { object, if_exists, call: policy_call(cursor)? }));
    }
    if cursor.eat_all(&["DROP", "ROW", "ACCESS", "POLICY"]) {
        return Ok(Some(Governance::DropRowAccessPolicy { object, if_exists, call: policy_call(cursor)? }));
    }
    if is_reflection(cursor) {
        return Ok(Some(Governance::Reflection { span: cursor.span_to_end(start) }));
    }
    let governance = if cursor.is_one_of_at(0, &["MODIFY", "ALTER", "CHANGE"]) {
        match column_action(cursor, &object)? {
            Some(governance) => governance,
            None => return Ok(None),
        }
    } else if cursor.eat_all(&["SET", "TAGS"]) {
        Governance::SetTags { table: object, tags: cursor.parenthesized(tags_of_column)? }
    } else if cursor.eat_all(&["UNSET", "TAGS"]) {
        let columns = cursor.parenthesized(|cursor| cursor.ident("a column name"))?;
        Governance::UnsetTags { table: object, columns }
    } else if cursor.eat_all(&["SET", "MASKING", "POLICY"]) {
        masking_policy_of_first_argument(cursor, object)?
    } else if cursor.are_words_at(0, &["UNSET", "MASKING", "POLICY"]) {
        return Err(cursor.expected(&["MODIFY COLUMN"]).with_hint("a masking policy is unset on a column"));
    } else {
        return Ok(None);
    };
    if if_exists {
        // Only the row access policies have it in the grammar, and an option that is read is obeyed.
        let at = cursor.position();
        return Err(crate::error::SyntaxError::new("`IF EXISTS` is for row access policies", at)
            .with_hint("leave `IF EXISTS` out"));
    }
    Ok(Some(governance))
}

/// Dremio's short form, whose target is the first argument.
fn masking_policy_of_first_argument(cursor: &mut Cursor<'_>, object: Name) -> Parsed<Governance> {
    let call = policy_call(cursor)?;
    match call.columns.first().cloned() {
        Some(column) => Ok(Governance::SetMaskingPolicy { object, column, call }),
        None => Err(cursor.expected_a("a column name")),
    }
}

/// `MODIFY [COLUMN] c {SET|UNSET} {MASKING POLICY|TAG} …`, with nothing read where it is something else.
fn column_action(cursor: &mut Cursor<'_>, object: &Name) -> Parsed<Option<Governance>> {
    // `COLUMN` is a keyword where a column and its action follow, and else a column of that name.
    let has_keyword = cursor.is_word_at(1, "COLUMN") && cursor.is_one_of_at(3, &["SET", "UNSET"]);
    let n_lead = if has_keyword { 2 } else { 1 };
    if !cursor.is_one_of_at(n_lead + 1, &["SET", "UNSET"])
        || !cursor.is_one_of_at(n_lead + 2, &["MASKING", "TAG"])
    {
        return Ok(None);
    }
    cursor.skip(n_lead);
    let column = cursor.ident("a column name")?;
    let is_set = cursor.is_word_at(0, "SET");
    cursor.skip(1);
    if cursor.eat("TAG") {
        let tags = cursor.list(tag)?;
        let table = object.clone();
        return Ok(Some(match is_set {
            true => Governance::SetColumnTags { table, column, tags },
            false => Governance::UnsetColumnTags { table, column, tags },
        }));
    }
    cursor.expect_all(&["MASKING", "POLICY"])?;
    let object = object.clone();
    if is_set {
        return Ok(Some(Governance::SetMaskingPolicy { object, column, call: policy_call(cursor)? }));
    }
    let function = match cursor.is_at_end() {
        true => None,
        false => Some(cursor.name("the name of a function")?),
    };
    Ok(Some(Governance::UnsetMaskingPolicy { object, column, function }))
}

/// `c = ('T', …)`, or `c = 'T'` for one.
fn tags_of_column(cursor: &mut Cursor<'_>) -> Parsed<(Ident, Vec<Ident>)> {
    let column = cursor.ident("a column name")?;
    cursor.expect_token(&Token::Eq)?;
    let tags =
        if cursor.is_token_at(0, &Token::LParen) { cursor.parenthesized(tag)? } else { vec![tag(cursor)?] };
    Ok((column, tags))
}

fn is_reflection(cursor: &Cursor<'_>) -> bool {
    let is_create = cursor.is_word_at(0, "CREATE")
        && cursor.is_one_of_at(1, &["RAW", "AGGREGATE", "EXTERNAL"])
        && cursor.is_word_at(2, "REFLECTION");
    // `DROP reflection` alone drops a column of that name.
    let is_drop = cursor.are_words_at(0, &["DROP", "REFLECTION"])
        && cursor.is_name_at(2)
        && !cursor.is_one_of_at(2, &["CASCADE", "RESTRICT"]);
    let is_refresh = cursor.are_words_at(0, &["REFRESH", "REFLECTIONS"]);
    let is_route = cursor.are_words_at(0, &["ROUTE", "REFLECTIONS"])
        || cursor.are_words_at(0, &["ROUTE", "ALL", "REFLECTIONS"]);
    let is_switch = cursor.is_one_of_at(0, &["ENABLE", "DISABLE"])
        && cursor.is_one_of_at(1, &["RAW", "AGGREGATE"])
        && cursor.is_word_at(2, "ACCELERATION");
    is_create || is_drop || is_refresh || is_route || is_switch
}
